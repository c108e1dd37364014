//! The history of the memory files: changes, and the versions of entries and files that they made.
//!
//! Owns: the chain of the versions of one key, and what becomes of one that a crash left unsettled. Never: looking at
//! files, or deciding what is deleted.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use model::{EntryId, Owner, Scope, SessionId, Timestamp};
use ports::{
    Announced, By, Change, ChangeId, ChangeQuery, ChangeTarget, FileStat, History, LedgerError, NewVersion,
    Run, Touching, Version, VersionId, VersionKey, VersionQuery, VersionText,
};
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, OptionalExtension, Params, Row};

use crate::SqliteLedger;
use crate::changes::{stat_of, time_of};
use crate::failure::LedgerResult;
use crate::packing::{Packer, Unpacker};
use crate::row::{count, kind_number, name_of, owner_of};
use crate::sweep::erase_bytes;

const VERSION: &str = "SELECT versions.id, path, entry, app, project, owner_kind, owner, session, before, after,
    bytes, is_unsettled, body, changes.id, at, run, strategy, reason, undoes, is_open
    FROM versions JOIN versioned_files ON versioned_files.id = file LEFT JOIN changes ON changes.id = change ";

pub(crate) const LAST: &str =
    "SELECT id, before, after, is_unsettled FROM versions WHERE file = ?1 AND entry = ?2 ORDER BY id DESC LIMIT 1";

const CHANGE: &str = "SELECT id, at, run, strategy, reason, undoes, is_open FROM changes ";

pub(crate) const NEWEST: &str = "SELECT DISTINCT change FROM versions
    WHERE change IS NOT NULL AND is_unsettled = 0 ORDER BY change DESC LIMIT ?1";

pub(crate) const NEWEST_OF: &str = "SELECT DISTINCT change FROM versioned_files JOIN versions ON file = versioned_files.id
    WHERE app = ?2 AND project = ?3 AND (?4 IS NULL OR (owner_kind = ?4 AND owner = ?5))
    AND change IS NOT NULL AND is_unsettled = 0 ORDER BY change DESC LIMIT ?1";

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
    /// The change of what was found otherwise than recorded.
    found: Option<i64>,
}

impl Recorder<'_> {
    fn known_file(&self, path: &str) -> LedgerResult<Option<i64>> {
        let known = self
            .connection
            .prepare_cached("SELECT id FROM versioned_files WHERE path = ?1")?
            .query_row([path], |row| row.get(0));
        Ok(known.optional()?)
    }

    fn file(&self, version: &NewVersion) -> LedgerResult<i64> {
        let path = &*version.key.path;
        if let Some(file) = self.known_file(path)? {
            return Ok(file);
        }
        let owner = version.owner.as_ref();
        Ok(self
            .connection
            .prepare_cached(
                "INSERT INTO versioned_files (path, app, project, owner_kind, owner) VALUES (?1, ?2, ?3, ?4, ?5)",
            )?
            .insert((
                path,
                owner.map(|(scope, _)| scope.app.as_str()),
                owner.map(|(scope, _)| scope.project.as_str()),
                owner.map(|(_, owner)| kind_number(owner.kind)),
                owner.map(|(_, owner)| owner.id.as_str()),
            ))?)
    }

    fn last(&self, file: i64, entry: &str) -> LedgerResult<Option<Last>> {
        let last = self
            .connection
            .prepare_cached(LAST)?
            .query_row((file, entry), |row| {
                Ok(Last {
                    id: row.get(0)?,
                    before: row.get(1)?,
                    after: row.get(2)?,
                    is_unsettled: row.get(3)?,
                })
            });
        Ok(last.optional()?)
    }

    /// Makes the newest version that of the state that was found, and returns whether there is any.
    fn reconcile(
        &mut self,
        (file, version): (i64, &NewVersion),
        found: Option<&VersionText>,
    ) -> LedgerResult<bool> {
        let entry = entry_of(&version.key);
        let digest = found.map(|found| found.digest.cast_signed());
        while let Some(last) = self.last(file, entry)? {
            let was_written = last.after == digest;
            if last.is_unsettled && !was_written && last.before == digest {
                let change = self
                    .connection
                    .prepare_cached("DELETE FROM versions WHERE id = ?1 RETURNING change")?
                    .query_row([last.id], |row| row.get(0))?;
                drop_if_empty(self.connection, change)?;
                if last.before.is_none() {
                    // Nothing was there, and nothing is.
                    return Ok(true);
                }
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
        Ok(false)
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
        Ok(self
            .connection
            .prepare_cached(
                "INSERT INTO versions (file, entry, change, session, before, after, bytes, body, is_unsettled)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            )?
            .insert((
                file,
                entry_of(&version.key),
                change,
                version.session.as_ref().map(SessionId::as_str),
                before,
                after.map(|after| after.digest.cast_signed()),
                after.map_or(0, |after| after.bytes.cast_signed()),
                body,
                is_unsettled,
            ))?)
    }
}

fn entry_of(key: &VersionKey) -> &str {
    key.entry.as_ref().map_or("", EntryId::as_str)
}

fn settle(connection: &Connection, id: i64) -> LedgerResult<()> {
    connection
        .prepare_cached("UPDATE versions SET is_unsettled = 0 WHERE id = ?1")?
        .execute([id])?;
    Ok(())
}

fn insert_change(connection: &Connection, by: &By, at: Timestamp, is_open: bool) -> LedgerResult<i64> {
    let (run, undoes) = match by {
        By::Person => (None, None),
        By::Run { run, undoes } => (Some(run), undoes.as_deref()),
    };
    Ok(connection
        .prepare_cached(
            "INSERT INTO changes (at, run, strategy, reason, undoes, is_open) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?
        .insert((
            at.millis(),
            run.map(|run| &*run.id),
            run.map(|run| run.strategy.as_str()),
            run.map(|run| run.reason.as_str()),
            undoes,
            is_open,
        ))?)
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
        Some(known) if is_there(connection, known)? => known,
        _ => insert_change(connection, &target.by, target.at, false)?,
    };
    let mut recorder = Recorder {
        connection,
        packer: Packer::new()?,
        at: target.at,
        found: None,
    };
    let mut ids = Vec::with_capacity(versions.len());
    for version in versions {
        let file = recorder.file(version)?;
        let before = version.before.as_ref();
        if !recorder.reconcile((file, version), before)? && before.is_some_and(|before| before.text.is_some()) {
            recorder.insert((file, version), None, None, before, false)?;
        }
        let before = before.map(|before| before.digest.cast_signed());
        let id = recorder.insert((file, version), Some(change), before, version.after.as_ref(), true)?;
        ids.push(id.cast_unsigned());
    }
    Ok(Announced {
        change: change.cast_unsigned(),
        versions: ids,
    })
}

fn is_there(connection: &Connection, change: i64) -> LedgerResult<bool> {
    let mut statement = connection.prepare_cached("SELECT 1 FROM changes WHERE id = ?1")?;
    Ok(statement.exists([change])?)
}

fn find(connection: &Connection, found: &[NewVersion], at: Timestamp) -> LedgerResult<Option<ChangeId>> {
    let mut recorder = Recorder {
        connection,
        packer: Packer::new()?,
        at,
        found: None,
    };
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
    Ok(recorder.found.map(i64::cast_unsigned))
}

fn change_of(row: &Row<'_>, first: usize) -> LedgerResult<Option<Change>> {
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
    Ok(Some(Change {
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
    changes: BTreeMap<ChangeId, Arc<Change>>,
    has_text: bool,
    versions: Vec<Version>,
}

impl VersionReader<'_> {
    fn read(&mut self, rest: &str, params: impl Params) -> LedgerResult<()> {
        let mut statement = self.connection.prepare_cached(&format!("{VERSION}{rest}"))?;
        let mut rows = statement.query(params)?;
        while let Some(row) = rows.next()? {
            let version = self.version(row)?;
            self.versions.push(version);
        }
        Ok(())
    }

    fn version(&mut self, row: &Row<'_>) -> LedgerResult<Version> {
        let text = |at| row.get::<_, Option<String>>(at);
        let entry: String = row.get(2)?;
        let owner = match (text(3)?, text(4)?, row.get::<_, Option<i64>>(5)?, text(6)?) {
            (Some(app), Some(project), Some(kind), Some(owner)) => Some((
                Scope::new(name_of(&app)?, name_of(&project)?),
                owner_of(kind, &owner)?,
            )),
            _ => None,
        };
        let after = match row.get::<_, Option<i64>>(9)? {
            None => None,
            Some(digest) => {
                let is_kept = self.has_text && !matches!(row.get_ref(12)?, ValueRef::Null);
                let text = if is_kept {
                    Some(self.unpacker.unpack(row.get_ref(12)?)?.to_owned())
                } else {
                    None
                };
                Some(VersionText {
                    digest: digest.cast_unsigned(),
                    bytes: row.get::<_, i64>(10)?.cast_unsigned(),
                    text,
                })
            }
        };
        let change = match change_of(row, 13)? {
            None => None,
            Some(change) => Some(
                self.changes
                    .entry(change.id)
                    .or_insert_with(|| Arc::new(change))
                    .clone(),
            ),
        };
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

fn versions(connection: &Connection, query: &VersionQuery) -> LedgerResult<Vec<Version>> {
    let mut reader = VersionReader {
        connection,
        unpacker: Unpacker::new()?,
        changes: BTreeMap::new(),
        has_text: !matches!(query, VersionQuery::Newest(..) | VersionQuery::Touching(_)),
        versions: Vec::new(),
    };
    let of_change = "WHERE change = ?1 AND is_unsettled = 0 ORDER BY versions.id";
    match query {
        VersionQuery::Newest(touching, changes_max) => {
            let max = count(*changes_max);
            for change in newest(connection, touching, max)?.into_iter().rev() {
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
        VersionQuery::Touching(touching) | VersionQuery::Texts(touching) => match touching {
            Touching::All => reader.read("ORDER BY versions.id", [])?,
            Touching::Scope(scope) => {
                let of_scope = "WHERE app = ?1 AND project = ?2 ORDER BY versions.id";
                reader.read(of_scope, (scope.app.as_str(), scope.project.as_str()))?;
            }
            Touching::Owner(scope, owner) => {
                let of_owner =
                    "WHERE app = ?1 AND project = ?2 AND owner_kind = ?3 AND owner = ?4 ORDER BY versions.id";
                reader.read(of_owner, owner_columns(scope, owner))?;
            }
        },
        VersionQuery::Unsettled => reader.read("WHERE is_unsettled = 1 ORDER BY versions.id", [])?,
    }
    Ok(reader.versions)
}

fn owner_columns<'a>(scope: &'a Scope, owner: &'a Owner) -> (&'a str, &'a str, i64, &'a str) {
    (
        scope.app.as_str(),
        scope.project.as_str(),
        kind_number(owner.kind),
        owner.id.as_str(),
    )
}

/// The newest changes that touch somebody's files, the newest first.
fn newest(connection: &Connection, touching: &Touching, max: i64) -> LedgerResult<Vec<i64>> {
    let (scope, owner) = match touching {
        Touching::All => return ids(connection, NEWEST, [max]),
        Touching::Scope(scope) => (scope, None),
        Touching::Owner(scope, owner) => (scope, Some(owner)),
    };
    let of = (
        max,
        scope.app.as_str(),
        scope.project.as_str(),
        owner.map(|owner| kind_number(owner.kind)),
        owner.map(|owner| owner.id.as_str()),
    );
    ids(connection, NEWEST_OF, of)
}

fn ids(connection: &Connection, sql: &str, params: impl Params) -> LedgerResult<Vec<i64>> {
    let mut statement = connection.prepare_cached(sql)?;
    let ids = statement.query_map(params, |row| row.get(0))?;
    Ok(ids.collect::<rusqlite::Result<_>>()?)
}

fn changes(connection: &Connection, query: &ChangeQuery) -> LedgerResult<Vec<Change>> {
    let (rest, run) = match query {
        ChangeQuery::Open => ("WHERE is_open = 1 AND ?1 IS NULL ORDER BY id", None),
        ChangeQuery::Run(run) => ("WHERE run = ?1 ORDER BY id", Some(run)),
        ChangeQuery::Undoing(run) => ("WHERE undoes = ?1 ORDER BY id", Some(run)),
    };
    let mut statement = connection.prepare_cached(&format!("{CHANGE}{rest}"))?;
    let mut rows = statement.query([run.map(|run| &**run)])?;
    let mut changes = Vec::new();
    while let Some(row) = rows.next()? {
        changes.extend(change_of(row, 0)?);
    }
    Ok(changes)
}

fn delete(connection: &Connection, versions: &[VersionId]) -> LedgerResult<()> {
    for id in versions {
        let touched: Option<(Option<i64>, i64)> = connection
            .prepare_cached("DELETE FROM versions WHERE id = ?1 RETURNING change, file")?
            .query_row([id.cast_signed()], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        if let Some((change, file)) = touched {
            drop_if_empty(connection, change)?;
            connection
                .prepare_cached(
                    "DELETE FROM versioned_files WHERE id = ?1
                     AND NOT EXISTS (SELECT 1 FROM versions WHERE file = ?1)",
                )?
                .execute([file])?;
        }
    }
    if !versions.is_empty() {
        erase_bytes(connection)?;
    }
    Ok(())
}

/// Deletes a change without versions, unless it is open.
fn drop_if_empty(connection: &Connection, change: Option<i64>) -> LedgerResult<()> {
    connection
        .prepare_cached(
            "DELETE FROM changes WHERE id = ?1 AND is_open = 0
             AND NOT EXISTS (SELECT 1 FROM versions WHERE change = ?1)",
        )?
        .execute([change])?;
    Ok(())
}

fn put_others(connection: &Connection, stats: &[FileStat]) -> LedgerResult<()> {
    connection.prepare_cached("DELETE FROM other_files")?.execute([])?;
    let mut insert = connection.prepare_cached(
        "INSERT INTO other_files (path, bytes, modified_s, modified_ns) VALUES (?1, ?2, ?3, ?4)",
    )?;
    for stat in stats {
        let (seconds, rest) = time_of(stat)?;
        insert.execute((&*stat.path, stat.bytes.cast_signed(), seconds, rest))?;
    }
    Ok(())
}

#[async_trait]
impl History for SqliteLedger {
    async fn announce(
        &self,
        target: ChangeTarget,
        versions: Vec<NewVersion>,
        settled: Vec<VersionId>,
    ) -> Result<Announced, LedgerError> {
        let work = move |c: &Connection| announce(c, &target, &versions, &settled);
        self.writer.write(work).await
    }

    async fn settle(&self, versions: Vec<VersionId>) -> Result<(), LedgerError> {
        let work = move |c: &Connection| versions.iter().try_for_each(|id| settle(c, id.cast_signed()));
        self.writer.write(work).await
    }

    async fn find(&self, found: Vec<NewVersion>, at: Timestamp) -> Result<Option<ChangeId>, LedgerError> {
        self.writer.write(move |c| find(c, &found, at)).await
    }

    async fn begin_undo(&self, by: By, at: Timestamp) -> Result<ChangeId, LedgerError> {
        let work = move |c: &Connection| Ok(insert_change(c, &by, at, true)?.cast_unsigned());
        self.writer.write(work).await
    }

    async fn close(&self, change: ChangeId) -> Result<(), LedgerError> {
        let work = move |c: &Connection| {
            c.prepare_cached("UPDATE changes SET is_open = 0 WHERE id = ?1")?
                .execute([change.cast_signed()])?;
            drop_if_empty(c, Some(change.cast_signed()))
        };
        self.writer.write(work).await
    }

    async fn changes(&self, query: &ChangeQuery) -> Result<Vec<Change>, LedgerError> {
        let query = query.clone();
        self.readers.read(move |c| changes(c, &query)).await
    }

    async fn versions(&self, query: &VersionQuery) -> Result<Vec<Version>, LedgerError> {
        let query = query.clone();
        self.readers.read(move |c| versions(c, &query)).await
    }

    async fn delete(&self, versions: Vec<VersionId>) -> Result<(), LedgerError> {
        self.writer.write(move |c| delete(c, &versions)).await
    }

    async fn erased(&self) -> Result<(), LedgerError> {
        self.writer.erase(|_| Ok(())).await
    }

    async fn others(&self) -> Result<Vec<FileStat>, LedgerError> {
        let work = |c: &Connection| {
            let mut statement =
                c.prepare_cached("SELECT path, bytes, modified_s, modified_ns FROM other_files ORDER BY path")?;
            let stats = statement.query_map([], stat_of)?;
            Ok(stats.collect::<rusqlite::Result<_>>()?)
        };
        self.readers.read(work).await
    }

    async fn put_others(&self, stats: Vec<FileStat>) -> Result<(), LedgerError> {
        self.writer.write(move |c| put_others(c, &stats)).await
    }
}
