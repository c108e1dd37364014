//! Reading the history: rows as changes and versions.
//!
//! Owns: the queries, and that only requested texts are unpacked. Never: writing.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::{EntryId, SessionId, Timestamp};
use ports::{
    By, ChangeId, ChangeQuery, HistoryChange, Run, Touching, Version, VersionKey, VersionQuery, VersionText,
};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Params, Row};

use super::entry_of;
use crate::failure::LedgerResult;
use crate::packing::Unpacker;
use crate::row::{count, kind_number, owner_at, scope_at};
use crate::statement::Statements as _;

const VERSION: &str = "SELECT versions.id, path, entry, app, project, owner_kind, owner, session, before, after,
    bytes, is_unsettled, body, changes.id, at, run, strategy, reason, undoes, is_open
    FROM versions JOIN versioned_files ON versioned_files.id = file LEFT JOIN changes ON changes.id = change ";

const CHANGE: &str = "SELECT id, at, run, strategy, reason, undoes, is_open FROM changes ";

pub(crate) const NEWEST: &str = "SELECT DISTINCT change FROM versions
    WHERE change < ?2 AND is_unsettled = 0 ORDER BY change DESC LIMIT ?1";

pub(crate) const NEWEST_OF: &str =
    "SELECT DISTINCT change FROM versioned_files JOIN versions ON file = versioned_files.id
    WHERE app = ?3 AND project = ?4 AND (?5 IS NULL OR (owner_kind = ?5 AND owner = ?6))
    AND change < ?2 AND is_unsettled = 0 ORDER BY change DESC LIMIT ?1";

fn change_of(row: &Row<'_>, first: usize) -> LedgerResult<Option<HistoryChange>> {
    let Some(id) = row.get::<_, Option<i64>>(first)? else {
        return Ok(None);
    };
    let text = |at| row.get::<_, Option<String>>(first + at);
    let by = match text(2)? {
        None => By::Person,
        Some(run) => By::Run {
            run: Run {
                id: run.into(),
                strategy: text(3)?.unwrap_or_default(),
                reason: text(4)?.unwrap_or_default(),
            },
            undoes: text(5)?.map(Into::into),
        },
    };
    Ok(Some(HistoryChange {
        id: id.cast_unsigned(),
        at: Timestamp::from_millis(row.get(first + 1)?),
        by,
        is_open: row.get(first + 6)?,
    }))
}

/// Reads versions; each change is read once.
struct VersionReader<'a> {
    connection: &'a Connection,
    unpacker: Unpacker,
    changes: BTreeMap<ChangeId, Arc<HistoryChange>>,
    has_text: bool,
    versions: Vec<Version>,
}

impl VersionReader<'_> {
    fn read(&mut self, rest: &str, params: impl Params) -> LedgerResult<()> {
        let read = self
            .connection
            .all(&format!("{VERSION}{rest}"), params, |row| self.version(row))?;
        self.versions.extend(read);
        Ok(())
    }

    fn version(&mut self, row: &Row<'_>) -> LedgerResult<Version> {
        let text = |at| row.get::<_, Option<String>>(at);
        let entry: String = row.get(2)?;
        let owner = match row.get_ref(5)? {
            ValueRef::Null => None,
            _ => Some((scope_at(row, 3)?, owner_at(row, 5)?)),
        };
        let after = match row.get::<_, Option<i64>>(9)? {
            None => None,
            Some(digest) => {
                let text = match row.get_ref(12)? {
                    ValueRef::Null => None,
                    _ if !self.has_text => None,
                    packed => Some(self.unpacker.unpack(packed)?.to_owned()),
                };
                Some(VersionText {
                    digest: digest.cast_unsigned(),
                    bytes: row.get::<_, i64>(10)?.cast_unsigned(),
                    text,
                })
            }
        };
        let change = change_of(row, 13)?.map(|change| {
            let read = self.changes.entry(change.id);
            read.or_insert_with(|| Arc::new(change)).clone()
        });
        Ok(Version {
            id: row.get::<_, i64>(0)?.cast_unsigned(),
            key: VersionKey {
                path: row.get::<_, String>(1)?.into(),
                entry: (!entry.is_empty()).then(|| EntryId::new(entry)),
            },
            owner,
            session: text(7)?.map(SessionId::new),
            change,
            is_unsettled: row.get(11)?,
            before: row.get::<_, Option<i64>>(8)?.map(i64::cast_unsigned),
            after,
        })
    }
}

pub(super) fn versions(connection: &Connection, query: &VersionQuery) -> LedgerResult<Vec<Version>> {
    let mut reader = VersionReader {
        connection,
        unpacker: Unpacker::new()?,
        changes: BTreeMap::new(),
        has_text: !matches!(query, VersionQuery::Newest(..) | VersionQuery::Touching(_)),
        versions: Vec::new(),
    };
    let of_change = "WHERE change = ?1 AND is_unsettled = 0 ORDER BY versions.id";
    match query {
        VersionQuery::Newest(touching, before, changes_max) => {
            let before = before.map_or(i64::MAX, u64::cast_signed);
            for change in newest(connection, touching, (count(*changes_max), before))?
                .into_iter()
                .rev()
            {
                reader.read(of_change, [change])?;
            }
        }
        VersionQuery::Change(change) => reader.read(of_change, [change.cast_signed()])?,
        VersionQuery::Run(run) => reader.read("WHERE run = ?1 ORDER BY versions.id", [&**run])?,
        VersionQuery::Keys(keys) => {
            for key in keys {
                let of_key = "WHERE path = ?1 AND entry = ?2 ORDER BY versions.id";
                reader.read(of_key, (&*key.path, entry_of(key)))?;
            }
            reader.versions.sort_by_key(|version| version.id);
        }
        VersionQuery::File(path) => reader.read("WHERE path = ?1 ORDER BY versions.id", [&**path])?,
        VersionQuery::Touching(touching) | VersionQuery::Texts(touching) => {
            let of = "WHERE app = ?1 AND project = ?2 AND (?3 IS NULL OR (owner_kind = ?3 AND owner = ?4))
                ORDER BY versions.id";
            match touching {
                Touching::All => reader.read("ORDER BY versions.id", [])?,
                _ => reader.read(of, columns(touching))?,
            }
        }
        VersionQuery::Unsettled => reader.read("WHERE is_unsettled = 1 ORDER BY versions.id", [])?,
    }
    Ok(reader.versions)
}

/// The owner of the files as columns: app, project, kind and name.
fn columns(touching: &Touching) -> (Option<&str>, Option<&str>, Option<i64>, Option<&str>) {
    let (scope, owner) = match touching {
        Touching::All => return (None, None, None, None),
        Touching::Scope(scope) => (scope, None),
        Touching::Owner(scope, owner) => (scope, Some(owner)),
    };
    (
        Some(scope.app.as_str()),
        Some(scope.project.as_str()),
        owner.map(|owner| kind_number(owner.kind)),
        owner.map(|owner| owner.id.as_str()),
    )
}

/// The newest changes of an owner's files, newest first.
fn newest(connection: &Connection, touching: &Touching, (max, before): (i64, i64)) -> LedgerResult<Vec<i64>> {
    if *touching == Touching::All {
        return connection.numbers(NEWEST, [max, before]);
    }
    let (app, project, kind, owner) = columns(touching);
    connection.numbers(NEWEST_OF, (max, before, app, project, kind, owner))
}

pub(super) fn changes(connection: &Connection, query: &ChangeQuery) -> LedgerResult<Vec<HistoryChange>> {
    let (rest, run) = match query {
        ChangeQuery::Open => ("WHERE is_open = 1 AND ?1 IS NULL ORDER BY id", None),
        ChangeQuery::Undoing(run) => ("WHERE undoes = ?1 ORDER BY id", Some(run)),
    };
    let sql = format!("{CHANGE}{rest}");
    let changes = connection.all(&sql, [run.map(|run| &**run)], |row| change_of(row, 0))?;
    Ok(changes.into_iter().flatten().collect())
}
