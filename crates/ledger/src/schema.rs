//! The schema and its versions.
//!
//! Owns: the migrations, each a file that is never edited once released. Never: queries.

use ports::LedgerError;
use rusqlite::{Connection, TransactionBehavior};

use crate::failure::Failure;

/// Step `n` makes version `n + 1` of version `n`.
const MIGRATIONS: [&str; 5] = [
    include_str!("schema/v1.sql"),
    include_str!("schema/v2.sql"),
    include_str!("schema/v3.sql"),
    include_str!("schema/v4.sql"),
    include_str!("schema/v5.sql"),
];

/// Brings the file to this program's version; a file of a newer program is left as it is.
pub(crate) fn migrate(connection: &mut Connection) -> Result<(), LedgerError> {
    let known = u32::try_from(MIGRATIONS.len()).expect("a handful");
    let found = version(connection).map_err(Failure::Sql)?;
    if found > known {
        return Err(LedgerError::NewerVersion { found, known });
    }
    for next in found..known {
        let step = MIGRATIONS[next as usize];
        apply(connection, step, next + 1).map_err(Failure::Sql)?;
    }
    Ok(())
}

fn version(connection: &Connection) -> rusqlite::Result<u32> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// One step and its version number commit together.
fn apply(connection: &mut Connection, step: &str, version: u32) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute_batch(step)?;
    transaction.pragma_update(None, "user_version", version)?;
    transaction.commit()
}
