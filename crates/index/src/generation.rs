//! One generation: a LanceDB table, its indexes and who is reading it.
//!
//! Owns: every request to LanceDB. Never: which generation is live, or a lock that makes a reader wait for a writer.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use arrow_schema::SchemaRef;
use futures::TryStreamExt as _;
use futures::future::{try_join, try_join_all};
use lancedb::Table;
use lancedb::expr::{DfExpr, col, is_in, lit};
use lancedb::index::scalar::FullTextSearchQuery;
use lancedb::query::{ExecutableQuery, QueryBase, Select};
use lancedb::table::{CompactionOptions, Duration, OptimizeAction, OptimizeOptions};
use model::{Doc, DocKey, Owner, Scope, text};
use ports::{CandidateQuery, IndexError, IndexStats};
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::{OwnedRwLockReadGuard, RwLock};
use tokio::task::block_in_place;

use crate::current::{Current, bytes_below, generation_dir};
use crate::errors::{caught, judge, of_files};
use crate::rows::{self, KEY, OWNER, TERMS, VECTOR, row_key};
use crate::summary::{self, DataFile, Summary};
use crate::table::{create_indexes, create_table, open_table, table_dir};

/// Larger fragments are not rewritten by a compaction any more, so that a round costs what is new.
const FRAGMENT_ROWS: usize = 50_000;
/// A larger fragment is rewritten once more than this share of its rows was removed, but when they must be erased.
const REMOVED_MAX: f32 = 0.1;
/// How many rows a compaction has in memory at a time: some are long.
const COMPACTED_ROWS: usize = 256;
/// Maximum number of different terms of a query; more add nothing.
const QUERY_TERMS_MAX: usize = 200;
/// With more parts than that an index is merged into one.
const INDEX_PARTS_MAX: u32 = 6;

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
        let table = create_table(&dir, schema.clone()).await.map_err(judge)?;
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
        let table = caught(async { open_table(&dir).await.map_err(judge) }).await?;
        if table.schema().await.map_err(judge)? != schema {
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
            self.table.delete(&any_of(remove)).await.map_err(judge)?;
        }
        if !add.is_empty() {
            let batch = || rows::to_batch(add, &self.schema);
            // Analysing the words of many rows keeps a thread busy.
            let batch = match Handle::current().runtime_flavor() {
                RuntimeFlavor::CurrentThread => batch(),
                _ => block_in_place(batch),
            };
            let batch = batch.map_err(|error| IndexError::Store(Box::new(error)))?;
            self.table.add(batch).execute().await.map_err(judge)?;
        }
        Ok(())
    }

    /// Compacts, covers new rows by the indexes, drops what no reader needs any more.
    pub(crate) async fn maintain(&self) -> Result<(), IndexError> {
        self.met(self.tidy()).await
    }

    /// Purges removed rows from every file: each fragment with a removed row is rewritten, and the indexes are made
    /// again, because they contain the words of removed rows.
    pub(crate) async fn erase(&self) -> Result<(), IndexError> {
        self.met(async {
            create_indexes(&self.table).await.map_err(judge)?;
            self.optimize(0.0).await.map_err(judge)?;
            self.drop_older().await
        })
        .await
    }

    async fn tidy(&self) -> Result<(), IndexError> {
        self.optimize(REMOVED_MAX).await.map_err(judge)?;
        self.drop_older().await
    }

    /// Drops what no reader needs any more.
    async fn drop_older(&self) -> Result<(), IndexError> {
        self.drain().await;
        let prune = OptimizeAction::Prune {
            older_than: Some(Duration::zero()),
            delete_unverified: Some(true),
            error_if_tagged_old_versions: None,
        };
        self.table.optimize(prune).await.map_err(judge)?;
        let stats = self.read_stats().await?;
        self.sum_up(&stats).await
    }

    /// Writes down what the table holds now, so that the next process need not open it to know.
    async fn sum_up(&self, stats: &IndexStats) -> Result<(), IndexError> {
        let (version, files) = self.files().await?;
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
        Ok(())
    }

    /// Compacts, also fragments of which more than that share of rows was removed, and covers new rows by the indexes.
    async fn optimize(&self, removed_max: f32) -> lancedb::Result<()> {
        let options = CompactionOptions {
            target_rows_per_fragment: FRAGMENT_ROWS,
            materialize_deletions_threshold: removed_max,
            batch_size: Some(COMPACTED_ROWS),
            ..CompactionOptions::default()
        };
        let compact = OptimizeAction::Compact {
            options,
            remap_options: None,
        };
        self.table.optimize(compact).await?;
        for index in self.table.list_indices().await? {
            let Some(stats) = self.table.index_stats(&index.name).await? else {
                continue;
            };
            if stats.num_unindexed_rows == 0 {
                continue;
            }
            let parts = stats.num_indices.unwrap_or(0);
            let merged = if parts < INDEX_PARTS_MAX { 0 } else { parts };
            let options = OptimizeOptions::merge(merged as usize).index_names(vec![index.name]);
            self.table.optimize(OptimizeAction::Index(options)).await?;
        }
        Ok(())
    }

    pub(crate) async fn stats(&self) -> Result<IndexStats, IndexError> {
        self.met(self.read_stats()).await
    }

    async fn read_stats(&self) -> Result<IndexStats, IndexError> {
        let table = self.table.stats().await.map_err(judge)?;
        let mut unindexed_rows = 0;
        for index in self.table.list_indices().await.map_err(judge)? {
            if index.columns == [TERMS] {
                let stats = self.table.index_stats(&index.name).await.map_err(judge)?;
                unindexed_rows = stats.map_or(0, |stats| stats.num_unindexed_rows as u64);
            }
        }
        Ok(IndexStats {
            rows: table.num_rows as u64,
            fragments: table.fragment_stats.num_fragments as u64,
            unindexed_rows,
            bytes_on_disk: bytes_below(&self.dir),
            generation: self.current.generation,
        })
    }

    /// Whether every data file is there and as long as it was written, and no reader met damage.
    pub(crate) async fn check(&self) -> Result<(), IndexError> {
        self.met(self.compare_files()).await
    }

    async fn compare_files(&self) -> Result<(), IndexError> {
        if let Some(reason) = self.damage.get().cloned() {
            return Err(IndexError::Unusable { reason });
        }
        summary::check(&table_dir(&self.dir), &self.files().await?.1)
    }

    /// The newest version and its data files.
    async fn files(&self) -> Result<(u64, Vec<DataFile>), IndexError> {
        let native = self.table.as_native().expect("a table in a folder is native");
        let manifest = native.manifest().await.map_err(judge)?;
        let files = manifest.fragments.iter().flat_map(|fragment| &fragment.files);
        let files = files.filter_map(|file| {
            Some(DataFile {
                path: file.path.clone(),
                bytes: file.file_size_bytes.get()?.into(),
            })
        });
        Ok((manifest.version, files.collect()))
    }

    async fn rows_of(
        &self,
        query: impl ExecutableQuery,
        scope: &Scope,
        owner: &Owner,
    ) -> Result<Vec<Doc>, IndexError> {
        let mut docs = Vec::new();
        let mut batches = query.execute().await.map_err(judge)?;
        while let Some(batch) = batches.try_next().await.map_err(judge)? {
            rows::from_batch(&batch, scope, owner, &mut docs)?;
        }
        Ok(docs)
    }

    fn columns(&self) -> Select {
        Select::columns(&rows::READ)
    }
}

impl Reading {
    /// Which generation is read.
    pub(crate) fn current(&self) -> &Current {
        &self.generation.current
    }

    pub(crate) async fn count(&self, scope: &Scope, owner: &Owner) -> Result<usize, IndexError> {
        let generation = &self.generation;
        let query = generation
            .table
            .query()
            .only_if_expr(is_owner(scope, owner))
            .select(Select::columns(&[OWNER]));
        let count = async {
            let mut batches = query.execute().await.map_err(judge)?;
            let mut rows = 0;
            while let Some(batch) = batches.try_next().await.map_err(judge)? {
                rows += batch.num_rows();
            }
            Ok(rows)
        };
        generation.met(count).await
    }

    pub(crate) async fn load(&self, scope: &Scope, owner: &Owner) -> Result<Vec<Doc>, IndexError> {
        let generation = &self.generation;
        let query = generation
            .table
            .query()
            .only_if_expr(is_owner(scope, owner))
            .select(generation.columns());
        generation.met(generation.rows_of(query, scope, owner)).await
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
            let query = generation
                .table
                .query()
                .only_if_expr(any_of(&keys))
                .select(generation.columns());
            generation.met(generation.rows_of(query, scope, owner))
        });
        Ok(try_join_all(reads).await?.concat())
    }

    /// Rows by words first, then rows by vector that are not among them.
    pub(crate) async fn candidates(&self, query: &CandidateQuery) -> Result<Vec<Doc>, IndexError> {
        let both = try_join(self.by_words(query), self.by_vector(query));
        let (by_words, by_vector) = self.generation.met(both).await?;
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
        let words = words.map_err(|error| judge(error.into()))?;
        let Some(limit) = self.limit(query).await? else {
            return Ok(Vec::new());
        };
        let found = generation.table.query().full_text_search(words).limit(limit);
        let found = found
            .only_if_expr(is_owner(&query.scope, &query.owner))
            .select(generation.columns());
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
        let all = generation
            .table
            .query()
            .only_if_expr(is_owner(&query.scope, &query.owner))
            .select(Select::columns(&[KEY, VECTOR]));
        let mut batches = all.execute().await.map_err(judge)?;
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
        let found = generation
            .table
            .query()
            .only_if_expr(is_owner(&query.scope, &query.owner).and(is_in(col(KEY), keys)))
            .select(generation.columns());
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
        let rows = self.generation.table.count_rows(None).await.map_err(judge)?;
        Ok(Some(query.limit.min(rows)).filter(|limit| *limit > 0))
    }
}

fn is_owner(scope: &Scope, owner: &Owner) -> DfExpr {
    col(OWNER).eq(lit(rows::owner_key(scope, owner)))
}

/// A condition for exactly these rows: values, never text, so any id is safe. The keys are enough; the owners are added
/// because the scalar index is on them.
fn any_of(keys: &[DocKey]) -> DfExpr {
    let owners: BTreeSet<String> = keys
        .iter()
        .map(|key| rows::owner_key(&key.scope, &key.owner))
        .collect();
    let owners = owners.into_iter().map(lit).collect();
    let keys = keys.iter().map(|key| lit(rows::row_key(key))).collect();
    is_in(col(OWNER), owners).and(is_in(col(KEY), keys))
}
