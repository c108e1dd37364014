//! The table of a generation: made, opened, with its indexes.
//!
//! Owns: where it is, and how its words are split. Never: its rows.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_schema::SchemaRef;
use lancedb::index::Index as Kind;
use lancedb::index::scalar::{BTreeIndexBuilder, FtsIndexBuilder};
use lancedb::{Connection, Session, Table};

use crate::rows::{OWNER, TERMS};

const TABLE: &str = "rows";
/// Decoded pages of the indexes; and footers of files, beside the list of files of every version that was written.
const INDEX_CACHE_BYTES: usize = 8 << 20;
const METADATA_CACHE_BYTES: usize = 4 << 20;

/// Where the table of a generation's folder is.
pub(crate) fn table_dir(dir: &Path) -> PathBuf {
    dir.join(format!("{TABLE}.lance"))
}

async fn connect(dir: &Path) -> lancedb::Result<Connection> {
    let uri = dir.to_str().ok_or_else(|| lancedb::Error::InvalidInput {
        message: "the index's folder has a name that is not UTF-8".to_owned(),
    })?;
    let session = Session::new(INDEX_CACHE_BYTES, METADATA_CACHE_BYTES, Arc::default());
    lancedb::connect(uri).session(Arc::new(session)).execute().await
}

pub(crate) async fn create_table(dir: &Path, schema: SchemaRef) -> lancedb::Result<Table> {
    let table = connect(dir)
        .await?
        .create_empty_table(TABLE, schema)
        .execute()
        .await?;
    create_indexes(&table).await?;
    Ok(table)
}

/// Makes indexes that cover nothing yet, in the place of those that are there.
pub(crate) async fn create_indexes(table: &Table) -> lancedb::Result<()> {
    // The column holds terms: the store must not analyse them again.
    let words = FtsIndexBuilder::default()
        .base_tokenizer("whitespace".to_owned())
        .max_token_length(None)
        .lower_case(false)
        .stem(false)
        .remove_stop_words(false)
        .ascii_folding(false);
    for (column, index) in [
        (OWNER, Kind::BTree(BTreeIndexBuilder::default())),
        (TERMS, Kind::FTS(words)),
    ] {
        table
            .create_index(&[column], index)
            .train(false)
            .execute()
            .await?;
    }
    Ok(())
}

pub(crate) async fn open_table(dir: &Path) -> lancedb::Result<Table> {
    connect(dir).await?.open_table(TABLE).execute().await
}
