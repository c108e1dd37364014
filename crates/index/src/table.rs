//! The table of a generation: a Lance dataset with its indexes, made, opened, written and tidied.
//!
//! Owns: its folder, its newest version, and how its words are split. Never: the meaning of its rows.
//!
//! Lance is the storage engine of LanceDB: a generation's folder is a LanceDB database, and LanceDB's own clients open it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use arrow_array::{RecordBatch, RecordBatchIterator};
use arrow_schema::SchemaRef;
use lance::dataset::builder::DatasetBuilder;
use lance::dataset::cleanup::CleanupPolicyBuilder;
use lance::dataset::optimize::{CompactionOptions, compact_files};
use lance::dataset::scanner::Scanner;
use lance::dataset::{DeleteBuilder, InsertBuilder, WriteMode, WriteParams};
use lance::deps::datafusion::prelude::{Expr, col, lit};
use lance::index::{DatasetIndexExt as _, IndexParams};
use lance::session::Session;
use lance::{Dataset, Result};
use lance_index::IndexType;
use lance_index::optimize::OptimizeOptions;
use lance_index::scalar::{BuiltinIndexType, InvertedIndexParams, ScalarIndexParams};

use crate::rows::{OWNER, TERMS};

const TABLE: &str = "rows";
/// Decoded pages of the indexes; and footers of files, beside the list of files of every version that was written.
const INDEX_CACHE_BYTES: usize = 8 << 20;
const METADATA_CACHE_BYTES: usize = 4 << 20;
/// How many rows a scan has in memory at a time.
const SCANNED_ROWS: usize = 1024;
/// A compaction does not rewrite larger fragments, so that its cost depends on new rows alone.
const FRAGMENT_ROWS: usize = 50_000;
/// How many rows a compaction has in memory at a time: some are long.
const COMPACTED_ROWS: usize = 256;
/// An index with so many parts or more is merged into one.
const INDEX_PARTS_MAX: usize = 6;

/// The newest version that this process wrote or opened. A reader keeps the version that it began with.
#[derive(Debug)]
pub(crate) struct Table(Mutex<Newest>);

#[derive(Debug)]
struct Newest {
    dataset: Arc<Dataset>,
    /// The owners of rows that the indexes may not cover; none if they are unknown.
    unindexed: Option<BTreeSet<String>>,
}

/// Where the table of a generation's folder is.
pub(crate) fn table_dir(dir: &Path) -> PathBuf {
    dir.join(format!("{TABLE}.lance"))
}

fn uri(dir: &Path) -> Result<String> {
    let uri = table_dir(dir).into_os_string().into_string();
    uri.map_err(|_| lance::Error::invalid_input("the index's folder has a name that is not UTF-8"))
}

fn session() -> Arc<Session> {
    Arc::new(Session::new(
        INDEX_CACHE_BYTES,
        METADATA_CACHE_BYTES,
        Arc::default(),
    ))
}

fn scan(dataset: &Dataset, condition: Expr, columns: &[&str]) -> Result<Scanner> {
    let mut scanner = dataset.scan();
    scanner.filter_expr(condition).prefilter(true);
    scanner.batch_size(SCANNED_ROWS).project(columns)?;
    Ok(scanner)
}

impl Table {
    /// Creates an empty table with empty indexes, which name the tokenizer for rows not yet indexed.
    pub(crate) async fn create(dir: &Path, schema: SchemaRef) -> Result<Self> {
        let params = WriteParams {
            session: Some(session()),
            ..WriteParams::default()
        };
        let nothing = RecordBatchIterator::new([], schema);
        let dataset = Dataset::write(nothing, uri(dir)?.as_str(), Some(params)).await?;
        let table = Self::of(dataset);
        table.create_indexes().await?;
        table.newest_and_owners().unindexed = Some(BTreeSet::new());
        Ok(table)
    }

    pub(crate) async fn open(dir: &Path) -> Result<Self> {
        let builder = DatasetBuilder::from_uri(uri(dir)?).with_session(session());
        Ok(Self::of(builder.load().await?))
    }

    fn of(dataset: Dataset) -> Self {
        let dataset = Arc::new(dataset);
        Self(Mutex::new(Newest {
            dataset,
            unindexed: None,
        }))
    }

    fn newest_and_owners(&self) -> MutexGuard<'_, Newest> {
        self.0.lock().expect("nothing panics under this lock")
    }

    /// The newest version.
    pub(crate) fn newest(&self) -> Arc<Dataset> {
        self.newest_and_owners().dataset.clone()
    }

    /// Makes a written version the newest one, unless another writer was faster.
    fn written(&self, dataset: Arc<Dataset>) {
        self.written_for(dataset, []);
    }

    /// The same, with the owners of rows that no index covers.
    fn written_for(&self, dataset: Arc<Dataset>, owners: impl IntoIterator<Item = String>) {
        let mut newest = self.newest_and_owners();
        if let Some(unindexed) = &mut newest.unindexed {
            unindexed.extend(owners);
        }
        if dataset.version_id() >= newest.dataset.version_id() {
            newest.dataset = dataset;
        }
    }

    /// Rows that meet the condition, of the newest version.
    pub(crate) fn scan(&self, condition: Expr, columns: &[&str]) -> Result<Scanner> {
        scan(&self.newest(), condition, columns)
    }

    /// Rows of an owner, of the newest version. If the index has all of them, no other file is opened.
    pub(crate) fn scan_owner(&self, owner: &str, columns: &[&str]) -> Result<Scanner> {
        // Both at once: the next version may have another index.
        let (dataset, is_indexed) = {
            let newest = self.newest_and_owners();
            let unindexed = newest.unindexed.as_ref();
            let is_indexed = unindexed.is_some_and(|owners| !owners.contains(owner));
            (newest.dataset.clone(), is_indexed)
        };
        let mut scanner = scan(&dataset, col(OWNER).eq(lit(owner)), columns)?;
        if is_indexed {
            scanner.fast_search();
        }
        Ok(scanner)
    }

    /// Adds rows of these owners.
    pub(crate) async fn append(&self, batch: RecordBatch, owners: BTreeSet<String>) -> Result<()> {
        let params = WriteParams {
            mode: WriteMode::Append,
            ..WriteParams::default()
        };
        let insert = InsertBuilder::new(self.newest()).with_params(&params);
        self.written_for(Arc::new(insert.execute(vec![batch]).await?), owners);
        Ok(())
    }

    pub(crate) async fn delete(&self, condition: Expr) -> Result<()> {
        let deleted = DeleteBuilder::from_expr(self.newest(), condition);
        self.written(deleted.execute().await?.new_dataset);
        Ok(())
    }

    /// Creates empty indexes in place of the existing ones.
    pub(crate) async fn create_indexes(&self) -> Result<()> {
        self.newest_and_owners().unindexed = None;
        let owners = ScalarIndexParams::for_builtin(BuiltinIndexType::BTree);
        // The column holds terms: the store must not analyse them again.
        let words = InvertedIndexParams::default()
            .base_tokenizer("whitespace".to_owned())
            .max_token_length(None)
            .lower_case(false)
            .stem(false)
            .remove_stop_words(false)
            .ascii_folding(false);
        let indexes: [(_, _, &dyn IndexParams); 2] = [
            (OWNER, IndexType::BTree, &owners),
            (TERMS, IndexType::Inverted, &words),
        ];
        for (column, kind, params) in indexes {
            let mut dataset = Dataset::clone(&self.newest());
            dataset
                .create_index_builder(&[column], kind, params)
                .replace(true)
                .train(false)
                .await?;
            self.written(Arc::new(dataset));
        }
        Ok(())
    }

    /// Compacts, also fragments with more than this share of removed rows.
    pub(crate) async fn compact(&self, removed_max: f32) -> Result<()> {
        let options = CompactionOptions {
            target_rows_per_fragment: FRAGMENT_ROWS,
            materialize_deletions_threshold: removed_max,
            batch_size: Some(COMPACTED_ROWS),
            ..CompactionOptions::default()
        };
        let mut dataset = Dataset::clone(&self.newest());
        compact_files(&mut dataset, options, None).await?;
        self.written(Arc::new(dataset));
        Ok(())
    }

    /// Adds new rows to the indexes. The caller must not write rows meanwhile.
    pub(crate) async fn extend_indexes(&self) -> Result<()> {
        let rows = self.newest().count_rows(None).await? as u64;
        for index in self.newest().describe_indices(None).await? {
            if index.rows_indexed() >= rows {
                continue;
            }
            let parts = index.segments().len();
            let merged = if parts < INDEX_PARTS_MAX { 0 } else { parts };
            let options = OptimizeOptions::merge(merged).index_names(vec![index.name().to_owned()]);
            let mut dataset = Dataset::clone(&self.newest());
            dataset.optimize_indices(&options).await?;
            self.written(Arc::new(dataset));
        }
        // Nobody else writes meanwhile.
        self.newest_and_owners().unindexed = Some(BTreeSet::new());
        Ok(())
    }

    /// How many rows the index of words does not cover.
    pub(crate) async fn unindexed_rows(&self) -> Result<u64> {
        let dataset = self.newest();
        let rows = dataset.count_rows(None).await? as u64;
        let words = dataset.schema().field_id(TERMS)?.cast_unsigned();
        let indexes = dataset.describe_indices(None).await?;
        let indexes = indexes.iter().filter(|index| index.field_ids() == [words]);
        Ok(indexes.fold(0, |_, index| rows.saturating_sub(index.rows_indexed())))
    }

    /// Removes all versions but the newest, with every file that it does not need.
    pub(crate) async fn drop_older(&self) -> Result<()> {
        let dataset = self.newest();
        let policy = CleanupPolicyBuilder::default()
            .retain_n_versions(&dataset, 1)
            .await?
            .delete_unverified(true)
            .error_if_tagged_old_versions(false);
        dataset.cleanup_with_policy(policy.build()).await?;
        Ok(())
    }
}
