//! The history of the memory files: changes, and the versions of entries and files that they made.
//!
//! Owns: the chain of the versions of one key, and settling versions that a crash left open. Never: reading
//! files, or deciding on deletions.

pub(crate) mod reading;

use async_trait::async_trait;
use model::{EntryId, SessionId, Timestamp};
use ports::{
    Announced, By, ChangeId, ChangeQuery, ChangeTarget, FileStat, History, HistoryChange, LedgerError,
    NewVersion, VaultPath, Version, VersionId, VersionKey, VersionQuery, VersionText,
};
use rusqlite::Connection;
use rusqlite::types::Value;

use crate::SqliteLedger;
use crate::changes::{stat_of, time_of};
use crate::failure::LedgerResult;
use crate::packing::Packer;
use crate::port::port;
use crate::row::kind_number;
use crate::statement::Statements as _;
use crate::sweep::erase_bytes;

const OTHERS: &str = "SELECT path, bytes, modified_s, modified_ns FROM other_files ORDER BY path";

pub(crate) const LAST: &str = "SELECT id, before, after, is_unsettled FROM versions WHERE file = ?1 AND entry = ?2 ORDER BY id DESC LIMIT 1";

/// The newest version of a key.
struct Last {
    id: i64,
    before: Option<i64>,
    after: Option<i64>,
    is_unsettled: bool,
}

/// Records versions in one commit.
struct Recorder<'a> {
    connection: &'a Connection,
    packer: Packer,
    at: Timestamp,
    /// The change that records edits found in files; none before the first.
    found: Option<i64>,
    /// Changes that lost a version because its file does not have it.
    shrunk: Vec<i64>,
}

impl<'a> Recorder<'a> {
    fn new(connection: &'a Connection, at: Timestamp) -> LedgerResult<Self> {
        Ok(Self {
            connection,
            packer: Packer::new()?,
            at,
            found: None,
            shrunk: Vec::new(),
        })
    }

    /// Deletes the changes that lost all versions: their only write failed.
    fn end(&self) -> LedgerResult<()> {
        let mut shrunk = self.shrunk.iter();
        shrunk.try_for_each(|change| drop_if_empty(self.connection, Some(*change)))
    }

    fn known_file(&self, path: &str) -> LedgerResult<Option<i64>> {
        let sql = "SELECT id FROM versioned_files WHERE path = ?1";
        self.connection.first(sql, [path])
    }

    fn file(&self, version: &NewVersion) -> LedgerResult<i64> {
        let path = &*version.key.path;
        if let Some(file) = self.known_file(path)? {
            return Ok(file);
        }
        let owner = version.owner.as_ref();
        let sql =
            "INSERT INTO versioned_files (path, app, project, owner_kind, owner) VALUES (?1, ?2, ?3, ?4, ?5)";
        let values = (
            path,
            owner.map(|(scope, _)| scope.app.as_str()),
            owner.map(|(scope, _)| scope.project.as_str()),
            owner.map(|(_, owner)| kind_number(owner.kind)),
            owner.map(|(_, owner)| owner.id.as_str()),
        );
        self.connection.insert(sql, values)
    }

    fn last(&self, file: i64, entry: &str) -> LedgerResult<Option<Last>> {
        self.connection.one(LAST, (file, entry), |row| {
            Ok(Last {
                id: row.get(0)?,
                before: row.get(1)?,
                after: row.get(2)?,
                is_unsettled: row.get(3)?,
            })
        })
    }

    /// Makes the state found in the file the newest version, and returns whether there is a version.
    fn reconcile(
        &mut self,
        (file, version): (i64, &NewVersion),
        found: Option<&VersionText>,
    ) -> LedgerResult<bool> {
        let entry = entry_of(&version.key);
        let digest = found.map(|found| found.digest.cast_signed());
        let mut has_any = false;
        while let Some(last) = self.last(file, entry)? {
            let was_written = last.after == digest;
            if last.is_unsettled && !was_written && self.is_replaced(file, entry, digest)? {
                let sql = "DELETE FROM versions WHERE id = ?1 RETURNING change";
                let change: Option<i64> = self.connection.value(sql, [last.id])?;
                self.shrunk.extend(change);
                // If that was the first version, the file has no entry before and after it.
                has_any |= last.before.is_none();
                continue;
            }
            if last.is_unsettled {
                settle(self.connection, last.id)?;
            }
            if !was_written {
                let by = Some(self.found()?);
                self.insert((file, version), by, last.after, found, false)?;
            }
            return Ok(true);
        }
        Ok(has_any)
    }

    /// Whether an unsettled version was made to replace that state.
    fn is_replaced(&self, file: i64, entry: &str, digest: Option<i64>) -> LedgerResult<bool> {
        let sql =
            "SELECT 1 FROM versions WHERE file = ?1 AND entry = ?2 AND is_unsettled = 1 AND before IS ?3";
        self.connection.has(sql, (file, entry, digest))
    }

    fn found(&mut self) -> LedgerResult<i64> {
        if let Some(found) = self.found {
            return Ok(found);
        }
        let made = insert_change(self.connection, &By::Person, self.at, false)?;
        self.found = Some(made);
        Ok(made)
    }

    fn insert(
        &mut self,
        (file, version): (i64, &NewVersion),
        change: Option<i64>,
        before: Option<i64>,
        after: Option<&VersionText>,
        is_unsettled: bool,
    ) -> LedgerResult<i64> {
        let text = after.and_then(|after| after.text.clone());
        let body = text.map_or(Ok(Value::Null), |text| self.packer.pack(text))?;
        let sql =
            "INSERT INTO versions (file, entry, change, session, before, after, bytes, body, is_unsettled)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
        let values = (
            file,
            entry_of(&version.key),
            change,
            version.session.as_ref().map(SessionId::as_str),
            before,
            after.map(|after| after.digest.cast_signed()),
            after.map_or(0, |after| after.bytes.cast_signed()),
            body,
            is_unsettled,
        );
        self.connection.insert(sql, values)
    }
}

fn entry_of(key: &VersionKey) -> &str {
    key.entry.as_ref().map_or("", EntryId::as_str)
}

fn settle(connection: &Connection, id: i64) -> LedgerResult<()> {
    connection.run("UPDATE versions SET is_unsettled = 0 WHERE id = ?1", [id])
}

fn insert_change(connection: &Connection, by: &By, at: Timestamp, is_open: bool) -> LedgerResult<i64> {
    let (run, undoes) = match by {
        By::Person => (None, None),
        By::Run { run, undoes } => (Some(run), undoes.as_deref()),
    };
    let sql =
        "INSERT INTO changes (at, run, strategy, reason, undoes, is_open) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    let values = (
        at.millis(),
        run.map(|run| &*run.id),
        run.map(|run| run.strategy.as_str()),
        run.map(|run| run.reason.as_str()),
        undoes,
        is_open,
    );
    connection.insert(sql, values)
}

fn announce(
    connection: &Connection,
    target: &ChangeTarget,
    versions: &[NewVersion],
    settled: &[VersionId],
) -> LedgerResult<Announced> {
    settled
        .iter()
        .try_for_each(|id| settle(connection, id.cast_signed()))?;
    let change = match target.known.map(u64::cast_signed) {
        Some(known) if connection.has("SELECT 1 FROM changes WHERE id = ?1", [known])? => known,
        _ => insert_change(connection, &target.by, target.at, false)?,
    };
    let mut recorder = Recorder::new(connection, target.at)?;
    let mut ids = Vec::with_capacity(versions.len());
    for version in versions {
        let file = recorder.file(version)?;
        let before = version.before.as_ref();
        if !recorder.reconcile((file, version), before)? && before.is_some_and(|before| before.text.is_some())
        {
            recorder.insert((file, version), None, None, before, false)?;
        }
        let before = before.map(|before| before.digest.cast_signed());
        let id = recorder.insert(
            (file, version),
            Some(change),
            before,
            version.after.as_ref(),
            true,
        )?;
        ids.push(id.cast_unsigned());
    }
    recorder.end()?;
    Ok(Announced {
        change: change.cast_unsigned(),
        versions: ids,
    })
}

fn find(connection: &Connection, found: &[NewVersion], at: Timestamp) -> LedgerResult<Option<ChangeId>> {
    let mut recorder = Recorder::new(connection, at)?;
    for version in found {
        let known = recorder.known_file(&version.key.path)?;
        if let Some(file) = known
            && recorder.reconcile((file, version), version.after.as_ref())?
        {
            continue;
        }
        let [before, after] = [&version.before, &version.after]
            .map(|state| state.as_ref().map(|state| state.digest.cast_signed()));
        if before != after {
            let file = recorder.file(version)?;
            let by = Some(recorder.found()?);
            recorder.insert((file, version), by, before, version.after.as_ref(), false)?;
        }
    }
    recorder.end()?;
    Ok(recorder.found.map(i64::cast_unsigned))
}

fn delete(connection: &Connection, versions: &[VersionId]) -> LedgerResult<()> {
    for id in versions {
        let sql = "DELETE FROM versions WHERE id = ?1 RETURNING change, file";
        let touched: Option<(Option<i64>, i64)> =
            connection.one(sql, [id.cast_signed()], |row| Ok((row.get(0)?, row.get(1)?)))?;
        if let Some((change, file)) = touched {
            drop_if_empty(connection, change)?;
            let sql = "DELETE FROM versioned_files WHERE id = ?1
                AND NOT EXISTS (SELECT 1 FROM versions WHERE file = ?1)";
            connection.run(sql, [file])?;
        }
    }
    if !versions.is_empty() {
        erase_bytes(connection)?;
    }
    Ok(())
}

/// Deletes a change without versions, unless it is open.
fn drop_if_empty(connection: &Connection, change: Option<i64>) -> LedgerResult<()> {
    let sql = "DELETE FROM changes WHERE id = ?1 AND is_open = 0
        AND NOT EXISTS (SELECT 1 FROM versions WHERE change = ?1)";
    connection.run(sql, [change])
}

fn put_others(connection: &Connection, stats: &[FileStat]) -> LedgerResult<()> {
    connection.run("DELETE FROM other_files", [])?;
    for stat in stats {
        let (seconds, rest) = time_of(stat)?;
        let sql = "INSERT INTO other_files (path, bytes, modified_s, modified_ns) VALUES (?1, ?2, ?3, ?4)";
        connection.run(sql, (&*stat.path, stat.bytes.cast_signed(), seconds, rest))?;
    }
    Ok(())
}

fn close(connection: &Connection, change: i64) -> LedgerResult<()> {
    connection.run("UPDATE changes SET is_open = 0 WHERE id = ?1", [change])?;
    drop_if_empty(connection, Some(change))
}

fn drop_others(connection: &Connection, paths: &[VaultPath]) -> LedgerResult<()> {
    for path in paths {
        connection.run("DELETE FROM other_files WHERE path = ?1", [&**path])?;
    }
    erase_bytes(connection)
}

port! { History {
    write announce[](target: ChangeTarget, versions: Vec<NewVersion>, settled: Vec<VersionId>) -> Announced
        = |c| announce(c, &target, &versions, &settled);
    write settle[](versions: Vec<VersionId>) -> ()
        = |c| versions.iter().try_for_each(|id| settle(c, id.cast_signed()));
    write find[](found: Vec<NewVersion>, at: Timestamp) -> Option<ChangeId> = |c| find(c, &found, at);
    write begin_undo[](by: By, at: Timestamp) -> ChangeId = |c| Ok(insert_change(c, &by, at, true)?.cast_unsigned());
    write close[](change: ChangeId) -> () = |c| close(c, change.cast_signed());
    read changes[query: ChangeQuery]() -> Vec<HistoryChange> = |c| reading::changes(c, &query);
    read versions[query: VersionQuery]() -> Vec<Version> = |c| reading::versions(c, &query);
    write delete[](versions: Vec<VersionId>) -> () = |c| delete(c, &versions);
    erase erased[]() -> () = |_c| Ok(());
    read others[]() -> Vec<FileStat> = |c| c.all(OTHERS, [], |row| Ok(stat_of(row)?));
    write put_others[](stats: Vec<FileStat>) -> () = |c| put_others(c, &stats);
    write drop_others[](paths: Vec<VaultPath>) -> () = |c| drop_others(c, &paths);
} }
