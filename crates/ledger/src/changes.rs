//! The file-change ledger: the state of each vault file that the index shows.
//!
//! Owns: records of files and their entries' marks. Never: reading files.

use std::sync::Arc;

use async_trait::async_trait;
use model::{DocId, DocKey, EntryId, Name, Owner, OwnerKind, Scope};
use ports::{BrokenFile, FileAppend, FileChanges, FileMark, FileRecord, FileStat, LedgerError, VaultPath};
use rusqlite::{Connection, Row};

use crate::SqliteLedger;
use crate::failure::{Failure, LedgerResult};
use crate::port::port;
use crate::row::{counted, kind_number, name_at, owner_at, scope_at};
use crate::statement::Statements as _;

pub(crate) const STATS: &str = "SELECT path, bytes, modified_s, modified_ns FROM files ORDER BY path";

pub(crate) const COUNT: &str = "SELECT count(*) FROM files";

pub(crate) const STAT: &str = "SELECT path, bytes, modified_s, modified_ns FROM files WHERE path = ?1";

pub(crate) const RECORD: &str = "SELECT path, bytes, modified_s, modified_ns,
    id, app, project, owner_kind, owner, problem FROM files WHERE path = ?1";

pub(crate) const MARKS: &str =
    "SELECT entry, digest, docs, is_shared FROM file_marks WHERE file = ?1 ORDER BY entry";

pub(crate) const BROKEN: &str = "SELECT path, problem FROM files WHERE problem IS NOT NULL ORDER BY path";

/// The fifth part of a memory file's path names the kind of its entries (docs/format.md).
pub(crate) const FACTS: &str = "SELECT project, docs FROM files JOIN file_marks ON file = id
    WHERE app = ?1 AND owner_kind = ?2 AND owner = ?3 AND path GLOB '*/*/*/*/facts/*'";

pub(crate) const SHARING: &str = "SELECT path FROM files
    WHERE id IN (SELECT file FROM file_marks WHERE is_shared = 1) ORDER BY id";

pub(crate) const SHARING_OF: &str = "SELECT path FROM files
    WHERE app = ?1 AND owner_kind = ?2 AND owner = ?3 AND project = ?4
    AND EXISTS (SELECT 1 FROM file_marks WHERE file = id AND is_shared = 1) ORDER BY id";

pub(crate) const USERS: &str =
    "SELECT DISTINCT owner FROM files WHERE app = ?1 AND project = ?2 AND owner_kind = ?3 ORDER BY owner";

/// Nanoseconds since 1970 do not fit into a column of 64 bits for every year, so a time is seconds and
/// nanoseconds.
const SECOND_NS: i128 = 1_000_000_000;

pub(crate) fn stat_of(row: &Row<'_>) -> rusqlite::Result<FileStat> {
    let (seconds, rest): (i64, i64) = (row.get(2)?, row.get(3)?);
    Ok(FileStat {
        path: row.get::<_, String>(0)?.into(),
        bytes: row.get::<_, i64>(1)?.cast_unsigned(),
        modified_ns: i128::from(seconds) * SECOND_NS + i128::from(rest),
    })
}

fn record(connection: &Connection, path: &str) -> LedgerResult<Option<FileRecord>> {
    connection.one(RECORD, [path], |row| {
        Ok(FileRecord {
            stat: stat_of(row)?,
            scope: scope_at(row, 5)?,
            owner: owner_at(row, 7)?,
            marks: connection.all(MARKS, [row.get::<_, i64>(4)?], mark_of)?,
            problem: row.get(9)?,
        })
    })
}

fn mark_of(row: &Row<'_>) -> LedgerResult<FileMark> {
    let docs: Vec<String> = serde_json::from_str(&row.get::<_, String>(2)?)?;
    Ok(FileMark {
        entry: EntryId::new(row.get::<_, String>(0)?),
        digest: row.get::<_, i64>(1)?.cast_unsigned(),
        docs: docs.into_iter().map(DocId::from).collect(),
        is_shared: row.get(3)?,
    })
}

/// A time as two columns of 64 bits: seconds, and nanoseconds of the second.
pub(crate) fn time_of(stat: &FileStat) -> LedgerResult<(i64, i64)> {
    let seconds = i64::try_from(stat.modified_ns.div_euclid(SECOND_NS))
        .map_err(|_| Failure::Row("a time outside 64 bits of seconds".to_owned()))?;
    let rest = i64::try_from(stat.modified_ns.rem_euclid(SECOND_NS)).expect("below one second");
    Ok((seconds, rest))
}

fn put(connection: &Connection, record: &FileRecord) -> LedgerResult<()> {
    let (seconds, rest) = time_of(&record.stat)?;
    // The id stays: ids keep the order in which files were first recorded.
    let sql =
        "INSERT INTO files (path, bytes, modified_s, modified_ns, app, project, owner_kind, owner, problem)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
        ON CONFLICT (path) DO UPDATE SET bytes = excluded.bytes, modified_s = excluded.modified_s,
        modified_ns = excluded.modified_ns, app = excluded.app, project = excluded.project,
        owner_kind = excluded.owner_kind, owner = excluded.owner, problem = excluded.problem
        RETURNING id";
    let values = (
        &*record.stat.path,
        record.stat.bytes.cast_signed(),
        seconds,
        rest,
        record.scope.app.as_str(),
        record.scope.project.as_str(),
        kind_number(record.owner.kind),
        record.owner.id.as_str(),
        record.problem.as_deref(),
    );
    let file: i64 = connection.value(sql, values)?;
    connection.run("DELETE FROM file_marks WHERE file = ?1", [file])?;
    mark(connection, file, record)
}

/// Updates the record of a file that is still as it was before the append; a file without a record gets one.
fn extend(connection: &Connection, append: &FileAppend) -> LedgerResult<()> {
    let record = &append.after;
    let Some(before) = &append.before else {
        return match stat(connection, &record.stat.path)? {
            Some(_) => Ok(()),
            None => put(connection, record),
        };
    };
    let (seconds, rest) = time_of(&record.stat)?;
    let (seconds_before, rest_before) = time_of(before)?;
    let sql = "UPDATE files SET bytes = ?2, modified_s = ?3, modified_ns = ?4
        WHERE path = ?1 AND bytes = ?5 AND modified_s = ?6 AND modified_ns = ?7 RETURNING id";
    let values = (
        &*record.stat.path,
        record.stat.bytes.cast_signed(),
        seconds,
        rest,
        before.bytes.cast_signed(),
        seconds_before,
        rest_before,
    );
    let file: Option<i64> = connection.first(sql, values)?;
    file.map_or(Ok(()), |file| mark(connection, file, record))
}

fn facts(connection: &Connection, app: &Name, owner: &Owner) -> LedgerResult<Vec<DocKey>> {
    let whose = (app.as_str(), kind_number(owner.kind), owner.id.as_str());
    let of_files = connection.all(FACTS, whose, |row| {
        let scope = Scope::new(app.clone(), name_at(row, 0)?);
        let docs: Vec<String> = serde_json::from_str(&row.get::<_, String>(1)?)?;
        Ok(docs.into_iter().map(move |id| DocKey::new(&scope, owner, id)))
    })?;
    Ok(of_files.into_iter().flatten().collect())
}

fn sharing(connection: &Connection, of: Option<&(Scope, Owner)>) -> LedgerResult<Vec<VaultPath>> {
    let path = |row: &Row<'_>| Ok(row.get::<_, String>(0)?.into());
    let Some((scope, owner)) = of else {
        return connection.all(SHARING, [], path);
    };
    let of_owner = (
        scope.app.as_str(),
        kind_number(owner.kind),
        owner.id.as_str(),
        scope.project.as_str(),
    );
    connection.all(SHARING_OF, of_owner, path)
}

fn users(connection: &Connection, scope: &Scope) -> LedgerResult<Vec<Owner>> {
    let user = kind_number(OwnerKind::User);
    let of = (scope.app.as_str(), scope.project.as_str(), user);
    connection.all(USERS, of, |row| Ok(Owner::user(name_at(row, 0)?)))
}

fn mark(connection: &Connection, file: i64, record: &FileRecord) -> LedgerResult<()> {
    let sql = "INSERT INTO file_marks (file, entry, digest, docs, is_shared) VALUES (?1, ?2, ?3, ?4, ?5)
        ON CONFLICT DO UPDATE SET digest = excluded.digest, docs = excluded.docs, is_shared = excluded.is_shared";
    for mark in &record.marks {
        let docs: Vec<&str> = mark.docs.iter().map(Arc::as_ref).collect();
        let (entry, digest) = (mark.entry.as_str(), mark.digest.cast_signed());
        let values = (file, entry, digest, serde_json::to_string(&docs)?, mark.is_shared);
        connection.run(sql, values)?;
    }
    Ok(())
}

fn stat(connection: &Connection, path: &str) -> LedgerResult<Option<FileStat>> {
    connection.one(STAT, [path], |row| Ok(stat_of(row)?))
}

fn drop_paths(connection: &Connection, paths: &[VaultPath]) -> LedgerResult<()> {
    for path in paths {
        connection.run("DELETE FROM files WHERE path = ?1", [&**path])?;
    }
    Ok(())
}

fn broken(connection: &Connection) -> LedgerResult<Vec<BrokenFile>> {
    connection.all(BROKEN, [], |row| {
        Ok(BrokenFile {
            path: row.get::<_, String>(0)?.into(),
            problem: row.get(1)?,
        })
    })
}

port! { FileChanges {
    read stats[]() -> Vec<FileStat> = |c| c.all(STATS, [], |row| Ok(stat_of(row)?));
    read stat[path: VaultPath]() -> Option<FileStat> = |c| stat(c, &path);
    read record[path: VaultPath]() -> Option<FileRecord> = |c| record(c, &path);
    write put[](record: FileRecord) -> () = |c| put(c, &record);
    write extend[](appends: Vec<FileAppend>) -> () = |c| appends.iter().try_for_each(|append| extend(c, append));
    read count[]() -> usize = |c| c.value(COUNT, []).map(counted);
    read facts[app: Name, owner: Owner]() -> Vec<DocKey> = |c| facts(c, &app, &owner);
    read users[scope: Scope]() -> Vec<Owner> = |c| users(c, &scope);
    write drop_paths[paths: [VaultPath]]() -> () = |c| drop_paths(c, &paths);
    read broken[]() -> Vec<BrokenFile> = |c| broken(c);
}
    async fn sharing(&self, of: Option<(&Scope, &Owner)>) -> Result<Vec<VaultPath>, LedgerError> {
        let of = of.map(|(scope, owner)| (scope.clone(), owner.clone()));
        self.database.read(move |c| sharing(c, of.as_ref())).await
    }
}
