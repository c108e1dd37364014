//! One generation: a Lance table, its indexes and who is reading it.
//!
//! Owns: requests for rows, and their order. Never: which generation is live, or a lock that makes a reader wait for a writer.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use arrow_schema::SchemaRef;
use futures::TryStreamExt as _;
use futures::future::{try_join, try_join_all};
use lance::dataset::scanner::Scanner;
use lance::deps::arrow_schema::Schema;
use lance::deps::datafusion::prelude::{Expr, col, lit};
use lance_index::scalar::FullTextSearchQuery;
use model::{Doc, DocKey, Owner, Scope, text};
use ports::{CandidateQuery, IndexError, IndexStats};
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::{OwnedRwLockReadGuard, RwLock};
use tokio::task::block_in_place;

use crate::current::{Current, bytes_below, generation_dir};
use crate::errors::{caught, judge, of_files};
use crate::rows::{self, KEY, OWNER, TERMS, VECTOR, row_key};
use crate::summary::{self, DataFile, Summary};
use crate::table::{Table, table_dir};

/// A larger fragment is rewritten once more than this share of its rows was removed, but when they must be erased.
const REMOVED_MAX: f32 = 0.1;
/// Maximum number of different terms of a query; more add nothing.
const QUERY_TERMS_MAX: usize = 200;

#[derive(Debug)]
pub(crate) struct Generation {
    pub(crate) current: Current,
    dir: PathBuf,
    table: Table,
    schema: SchemaRef,
    damage: OnceLock<String>,
    /// Everyone who reads holds this; it is replaced when files are about to go, and the old one waited for.
    readers: Mutex<Arc<RwLock<()>>>,
}

/// A right to read: files that this reader may need stay.
#[derive(Debug)]
pub(crate) struct Reading {
    generation: Arc<Generation>,
    _guard: OwnedRwLockReadGuard<()>,
}

impl Generation {
    /// A new empty table with indexes that cover nothing yet: they name the tokenizer for rows not indexed.
    pub(crate) async fn create(root: &Path, current: Current) -> Result<Self, IndexError> {
        let dir = generation_dir(root, current.generation);
        // Remains of an attempt that failed.
        if dir.exists() {
            std::fs::remove_dir_all(&dir).map_err(of_files)?;
        }
        let schema = rows::schema(current.embedder.dims);
        let table = Table::create(&dir, schema.clone()).await.map_err(judge)?;
        Ok(Self::of(current, dir, table, schema))
    }

    /// The table as it was left.
    pub(crate) async fn open(root: &Path, current: Current) -> Result<Self, IndexError> {
        let dir = generation_dir(root, current.generation);
        if !dir.is_dir() {
            let reason = "its files are missing".to_owned();
            return Err(IndexError::Unusable { reason });
        }
        let schema = rows::schema(current.embedder.dims);
        let table = caught(async { Table::open(&dir).await.map_err(judge) }).await?;
        if Schema::from(table.newest().schema()) != *schema {
            let reason = "its table has other columns".to_owned();
            return Err(IndexError::Unusable { reason });
        }
        Ok(Self::of(current, dir, table, schema))
    }

    fn of(current: Current, dir: PathBuf, table: Table, schema: SchemaRef) -> Self {
        Self {
            current,
            dir,
            table,
            schema,
            damage: OnceLock::new(),
            readers: Mutex::default(),
        }
    }

    /// Begins to read.
    pub(crate) async fn reading(self: Arc<Self>) -> Reading {
        let readers = self
            .readers
            .lock()
            .expect("nothing panics under this lock")
            .clone();
        Reading {
            generation: self,
            _guard: readers.read_owned().await,
        }
    }

    /// Waits for all present readers; later readers neither block it nor wait for it.
    pub(crate) async fn drain(&self) {
        let before = std::mem::take(&mut *self.readers.lock().expect("nothing panics under this lock"));
        drop(before.write().await);
    }

    /// Does the work, and stores any damage that it finds, so that `health` reports it.
    async fn met<T>(&self, work: impl Future<Output = Result<T, IndexError>>) -> Result<T, IndexError> {
        let result = caught(work).await;
        if let Err(IndexError::Unusable { reason }) = &result {
            self.damage.get_or_init(|| reason.clone());
        }
        result
    }

    /// Removals first, in one commit, then additions in another.
    pub(crate) async fn apply(&self, add: &[Doc], remove: &[DocKey]) -> Result<(), IndexError> {
        self.met(self.write(add, remove)).await
    }

    async fn write(&self, add: &[Doc], remove: &[DocKey]) -> Result<(), IndexError> {
        if !remove.is_empty() {
            self.table.delete(any_of(remove)).await.map_err(judge)?;
        }
        if !add.is_empty() {
            let batch = || rows::to_batch(add, &self.schema);
            // Analysing the words of many rows keeps a thread busy.
            let batch = match Handle::current().runtime_flavor() {
                RuntimeFlavor::CurrentThread => batch(),
                _ => block_in_place(batch),
            };
            let batch = batch.map_err(|error| IndexError::Store(Box::new(error)))?;
            let owners = add
                .iter()
                .map(|doc| rows::owner_key(&doc.key.scope, &doc.key.owner));
            self.table.append(batch, owners.collect()).await.map_err(judge)?;
        }
        Ok(())
    }

    /// Compacts, adds new rows to the indexes, and drops versions that no reader needs.
    pub(crate) async fn maintain(&self) -> Result<(), IndexError> {
        self.met(Box::pin(self.compact(REMOVED_MAX))).await
    }

    /// Purges removed rows from every file: each fragment with a removed row is rewritten, and the indexes are made
    /// again, because they contain the words of removed rows.
    pub(crate) async fn erase(&self) -> Result<(), IndexError> {
        let erase = async {
            self.table.create_indexes().await.map_err(judge)?;
            self.compact(0.0).await
        };
        self.met(Box::pin(erase)).await
    }

    /// Compacts all fragments with more than this share of removed rows, then does the rest of a maintenance.
    async fn compact(&self, removed_max: f32) -> Result<(), IndexError> {
        self.table.compact(removed_max).await.map_err(judge)?;
        self.table.extend_indexes().await.map_err(judge)?;
        self.drain().await;
        self.table.drop_older().await.map_err(judge)?;
        let stats = self.read_stats().await?;
        self.sum_up(&stats);
        Ok(())
    }

    /// Stores the counts and data files of the table, so that the next process need not open it for them.
    fn sum_up(&self, stats: &IndexStats) {
        let (version, files) = self.files();
        let summary = Summary {
            version,
            rows: stats.rows,
            fragments: stats.fragments,
            unindexed_rows: stats.unindexed_rows,
            files,
        };
        if let Err(error) = summary.write(&self.dir, &table_dir(&self.dir)) {
            tracing::warn!(%error, "cannot write the index summary; the next start opens the table instead");
        }
    }

    pub(crate) async fn stats(&self) -> Result<IndexStats, IndexError> {
        self.met(self.read_stats()).await
    }

    async fn read_stats(&self) -> Result<IndexStats, IndexError> {
        let newest = self.table.newest();
        Ok(IndexStats {
            rows: newest.count_rows(None).await.map_err(judge)? as u64,
            fragments: newest.count_fragments() as u64,
            unindexed_rows: self.table.unindexed_rows().await.map_err(judge)?,
            bytes_on_disk: bytes_below(&self.dir),
            generation: self.current.generation,
        })
    }

    /// Whether every data file is there and as long as it was written, and no reader met damage.
    pub(crate) async fn check(&self) -> Result<(), IndexError> {
        self.met(async {
            if let Some(reason) = self.damage.get().cloned() {
                return Err(IndexError::Unusable { reason });
            }
            summary::check(&table_dir(&self.dir), &self.files().1)
        })
        .await
    }

    /// The newest version and its data files.
    fn files(&self) -> (u64, Vec<DataFile>) {
        let newest = self.table.newest();
        let manifest = newest.manifest();
        let files = manifest.fragments.iter().flat_map(|fragment| &fragment.files);
        let files = files.filter_map(|file| {
            Some(DataFile {
                path: file.path.clone(),
                bytes: file.file_size_bytes.get()?.into(),
            })
        });
        (manifest.version, files.collect())
    }

    async fn rows_of(
        &self,
        scanner: lance::Result<Scanner>,
        scope: &Scope,
        owner: &Owner,
    ) -> Result<Vec<Doc>, IndexError> {
        let docs = self.some_rows_of(scanner, scope, owner, (usize::MAX, |_| true));
        Ok(docs.await?.unwrap_or_default())
    }

    /// The same for some of the rows; none if they are more than that many.
    async fn some_rows_of(
        &self,
        scanner: lance::Result<Scanner>,
        scope: &Scope,
        owner: &Owner,
        (rows_max, keep): (usize, fn(&Doc) -> bool),
    ) -> Result<Option<Vec<Doc>>, IndexError> {
        let mut docs = Vec::new();
        let scanner = scanner.map_err(judge)?;
        let mut batches = scanner.try_into_stream().await.map_err(judge)?;
        while let Some(batch) = batches.try_next().await.map_err(judge)? {
            if docs.len() + batch.num_rows() > rows_max {
                return Ok(None);
            }
            rows::from_batch(&batch, scope, owner, keep, &mut docs)?;
        }
        Ok(Some(docs))
    }
}

impl Reading {
    /// Which generation is read.
    pub(crate) fn current(&self) -> &Current {
        &self.generation.current
    }

    /// The rows of an owner that are kept, read from these columns; none if there are more than that many.
    pub(crate) async fn load(
        &self,
        scope: &Scope,
        owner: &Owner,
        columns: &[&str],
        (rows_max, keep): (usize, fn(&Doc) -> bool),
    ) -> Result<Option<Vec<Doc>>, IndexError> {
        let generation = &self.generation;
        let key = rows::owner_key(scope, owner);
        let scanner = generation.table.scan_owner(&key, columns);
        let load = generation.some_rows_of(scanner, scope, owner, (rows_max, keep));
        generation.met(load).await
    }

    /// One read for each owner: a row's record does not name its owner.
    pub(crate) async fn get(&self, keys: &[DocKey]) -> Result<Vec<Doc>, IndexError> {
        let generation = &self.generation;
        let mut of_owner: BTreeMap<(&Scope, &Owner), Vec<DocKey>> = BTreeMap::new();
        for key in keys {
            of_owner
                .entry((&key.scope, &key.owner))
                .or_default()
                .push(key.clone());
        }
        let reads = of_owner.into_iter().map(|((scope, owner), keys)| {
            let scanner = generation.table.scan(any_of(&keys), &rows::READ);
            generation.met(generation.rows_of(scanner, scope, owner))
        });
        Ok(try_join_all(reads).await?.concat())
    }

    /// Rows by words first, then rows by vector that are not among them.
    pub(crate) async fn candidates(&self, query: &CandidateQuery) -> Result<Vec<Doc>, IndexError> {
        let both = try_join(self.by_words(query), self.by_vector(query));
        let (by_words, by_vector) = self.generation.met(Box::pin(both)).await?;
        let mut docs = by_words;
        let mut seen: BTreeSet<_> = docs.iter().map(|doc| doc.key.id.clone()).collect();
        docs.extend(
            by_vector
                .into_iter()
                .filter(|doc| seen.insert(doc.key.id.clone())),
        );
        Ok(docs)
    }

    async fn by_words(&self, query: &CandidateQuery) -> Result<Vec<Doc>, IndexError> {
        let mut terms = text::query_terms(&query.text);
        terms.truncate(QUERY_TERMS_MAX);
        if terms.is_empty() {
            return Ok(Vec::new());
        }
        let generation = &self.generation;
        let words = FullTextSearchQuery::new(terms.join(" ")).with_column(TERMS.to_owned());
        let words = words.map_err(judge)?;
        let Some(limit) = self.limit(query).await? else {
            return Ok(Vec::new());
        };
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let found = generation
            .table
            .scan(is_owner(&query.scope, &query.owner), &rows::READ)
            .and_then(|mut scanner| {
                scanner.full_text_search(words)?.limit(Some(limit), None)?;
                Ok(scanner)
            });
        generation.rows_of(found, &query.scope, &query.owner).await
    }

    async fn by_vector(&self, query: &CandidateQuery) -> Result<Vec<Doc>, IndexError> {
        let Some(vector) = query
            .vector
            .as_deref()
            .filter(|vector| vector.iter().any(|x| *x != 0.0))
        else {
            return Ok(Vec::new());
        };
        let Some(limit) = self.limit(query).await? else {
            return Ok(Vec::new());
        };
        let generation = &self.generation;
        // The store compares no bytes, so the owner's vectors are compared here; only the nearest rows are read whole.
        let owner = is_owner(&query.scope, &query.owner);
        let all = generation.table.scan(owner.clone(), &[KEY, VECTOR]);
        let mut batches = all.map_err(judge)?.try_into_stream().await.map_err(judge)?;
        let mut nearest = Vec::new();
        while let Some(batch) = batches.try_next().await.map_err(judge)? {
            rows::cosines(&batch, vector, &mut nearest)?;
            nearest.sort_by(|(one, _), (other, _): &(f32, String)| other.total_cmp(one));
            nearest.truncate(limit);
        }
        if nearest.is_empty() {
            return Ok(Vec::new());
        }
        let keys = nearest.iter().map(|(_, key)| lit(key.clone())).collect();
        let found = owner.and(col(KEY).in_list(keys, false));
        let found = generation.table.scan(found, &rows::READ);
        let mut docs = generation.rows_of(found, &query.scope, &query.owner).await?;
        let places: HashMap<&str, usize> = nearest
            .iter()
            .enumerate()
            .map(|(at, (_, key))| (key.as_str(), at))
            .collect();
        docs.sort_by_key(|doc| places.get(row_key(&doc.key).as_str()).copied());
        Ok(docs)
    }

    /// No more than there are rows, since the store makes room for as many as it is asked for.
    async fn limit(&self, query: &CandidateQuery) -> Result<Option<usize>, IndexError> {
        let newest = self.generation.table.newest();
        let rows = newest.count_rows(None).await.map_err(judge)?;
        Ok(Some(query.limit.min(rows)).filter(|limit| *limit > 0))
    }
}

fn is_owner(scope: &Scope, owner: &Owner) -> Expr {
    col(OWNER).eq(lit(rows::owner_key(scope, owner)))
}

/// A condition for exactly these rows: values, never text, so any id is safe. The keys are enough; the owners are added
/// because the scalar index is on them.
fn any_of(keys: &[DocKey]) -> Expr {
    let owners: BTreeSet<String> = keys
        .iter()
        .map(|key| rows::owner_key(&key.scope, &key.owner))
        .collect();
    let owners = owners.into_iter().map(lit).collect();
    let keys = keys.iter().map(|key| lit(rows::row_key(key))).collect();
    col(OWNER)
        .in_list(owners, false)
        .and(col(KEY).in_list(keys, false))
}
