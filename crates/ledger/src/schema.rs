//! The schema and its versions.
//!
//! Owns: the migrations, each a file that is never edited once released. Never: queries.

use rusqlite::{Connection, TransactionBehavior};

use crate::failure::{Failure, LedgerResult};

/// Step `n` upgrades version `n` to version `n + 1`.
const MIGRATIONS: [&str; 10] = [
    include_str!("schema/v1.sql"),
    include_str!("schema/v2.sql"),
    include_str!("schema/v3.sql"),
    include_str!("schema/v4.sql"),
    include_str!("schema/v5.sql"),
    include_str!("schema/v6.sql"),
    include_str!("schema/v7.sql"),
    include_str!("schema/v8.sql"),
    include_str!("schema/v9.sql"),
    include_str!("schema/v10.sql"),
];

/// Upgrades the file to this program's version; leaves a file of a newer program as it is.
pub(crate) fn migrate(connection: &mut Connection) -> LedgerResult<()> {
    for next in found(connection)?..known() {
        let step = MIGRATIONS[next as usize];
        apply(connection, step, next + 1)?;
    }
    Ok(())
}

/// Refuses a file that `migrate` would have to change first.
pub(crate) fn check(connection: &Connection) -> LedgerResult<()> {
    let (found, known) = (found(connection)?, known());
    if found < known {
        return Err(Failure::Row(format!(
            "the ledger has version {found} and must become {known} first"
        )));
    }
    Ok(())
}

fn known() -> u32 {
    u32::try_from(MIGRATIONS.len()).expect("a handful")
}

/// The file's version, if this program knows it. A database that has tables and none of ours is another
/// program's.
fn found(connection: &Connection) -> LedgerResult<u32> {
    let foreign = "SELECT count(*) > 0 AND NOT max(name = 'scopes') FROM sqlite_schema";
    if connection.query_row(foreign, [], |row| row.get(0))? {
        return Err(Failure::Foreign);
    }
    let (found, known) = (version(connection)?, known());
    if found > known {
        return Err(Failure::NewerVersion { found, known });
    }
    Ok(found)
}

fn version(connection: &Connection) -> rusqlite::Result<u32> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Commits one step together with its version number.
fn apply(connection: &mut Connection, step: &str, version: u32) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute_batch(step)?;
    transaction.pragma_update(None, "user_version", version)?;
    transaction.commit()
}
