//! The history in memory.
//!
//! Owns: `History` of the fake. Never: reading files.

use std::sync::Arc;

use async_trait::async_trait;
use model::{Owner, Scope, SessionId, Timestamp};
use ports::{
    Announced, By, ChangeId, ChangeQuery, ChangeTarget, FileStat, History, HistoryChange, LedgerError,
    NewVersion, Touching, VaultPath, Version, VersionId, VersionKey, VersionQuery, VersionText,
};

use super::MemoryLedger;

/// All versions and changes.
#[derive(Debug, Default)]
pub(super) struct Kept {
    changes: Vec<HistoryChange>,
    versions: Vec<Row>,
    others: Vec<FileStat>,
    /// The last number used.
    given: u64,
}

#[derive(Debug, Clone)]
struct Row {
    id: VersionId,
    key: VersionKey,
    owner: Option<(Scope, Owner)>,
    session: Option<SessionId>,
    change: Option<ChangeId>,
    is_unsettled: bool,
    before: Option<u64>,
    after: Option<VersionText>,
}

fn digest(state: Option<&VersionText>) -> Option<u64> {
    state.map(|state| state.digest)
}

impl Kept {
    fn next(&mut self) -> u64 {
        self.given += 1;
        self.given
    }

    fn make(&mut self, by: By, at: Timestamp, is_open: bool) -> ChangeId {
        let id = self.next();
        self.changes.push(HistoryChange { id, at, by, is_open });
        id
    }

    fn push(
        &mut self,
        new: &NewVersion,
        change: Option<ChangeId>,
        (before, after): (Option<u64>, Option<&VersionText>),
        is_unsettled: bool,
    ) -> VersionId {
        let id = self.next();
        let of_file = self.versions.iter().find(|row| row.key.path == new.key.path);
        let owner = of_file.map_or(new.owner.clone(), |row| row.owner.clone());
        self.versions.push(Row {
            id,
            key: new.key.clone(),
            owner,
            session: new.session.clone(),
            change,
            is_unsettled,
            before,
            after: after.cloned(),
        });
        id
    }

    /// Makes the found state the newest version, as the port demands. False if there is no version.
    fn reconcile(
        &mut self,
        new: &NewVersion,
        found: Option<&VersionText>,
        person: &mut Option<ChangeId>,
        at: Timestamp,
    ) -> bool {
        let mut has_any = false;
        loop {
            let of_key = |row: &Row| row.key == new.key;
            let Some(last) = self.versions.iter().rposition(of_key) else {
                return has_any;
            };
            let replaces = |row: &Row| of_key(row) && row.is_unsettled && row.before == digest(found);
            let is_replaced = self.versions.iter().any(replaces);
            let row = &mut self.versions[last];
            let (was, is) = (row.before, digest(row.after.as_ref()));
            if row.is_unsettled && is != digest(found) && is_replaced {
                self.versions.remove(last);
                has_any |= was.is_none();
                continue;
            }
            row.is_unsettled = false;
            if is != digest(found) {
                let change = *person.get_or_insert_with(|| self.make(By::Person, at, false));
                self.push(new, Some(change), (is, found), false);
            }
            return true;
        }
    }

    fn settle(&mut self, ids: &[VersionId]) {
        for row in &mut self.versions {
            row.is_unsettled &= !ids.contains(&row.id);
        }
    }

    fn drop_empty(&mut self) {
        let versions = &self.versions;
        self.changes
            .retain(|change| change.is_open || versions.iter().any(|row| row.change == Some(change.id)));
    }

    fn read(&self, row: &Row, has_text: bool) -> Version {
        let change = self.changes.iter().find(|change| Some(change.id) == row.change);
        let after = row.after.clone().map(|after| VersionText {
            text: after.text.filter(|_| has_text),
            ..after
        });
        Version {
            id: row.id,
            key: row.key.clone(),
            owner: row.owner.clone(),
            session: row.session.clone(),
            change: change.cloned().map(Arc::new),
            is_unsettled: row.is_unsettled,
            before: row.before,
            after,
        }
    }
}

fn is_of(row: &Row, touching: &Touching) -> bool {
    match touching {
        Touching::All => true,
        Touching::Scope(scope) => row.owner.as_ref().is_some_and(|(of, _)| of == scope),
        Touching::Owner(scope, owner) => row.owner.as_ref() == Some(&(scope.clone(), owner.clone())),
    }
}

#[async_trait]
impl History for MemoryLedger {
    async fn announce(
        &self,
        target: ChangeTarget,
        versions: Vec<NewVersion>,
        settled: Vec<VersionId>,
    ) -> Result<Announced, LedgerError> {
        self.call(|state| {
            let kept = &mut state.history;
            kept.settle(&settled);
            let is_there = |id: &ChangeId| kept.changes.iter().any(|change| change.id == *id);
            let known = target.known.filter(is_there);
            let change = known.unwrap_or_else(|| kept.make(target.by, target.at, false));
            let (mut person, mut ids) = (None, Vec::new());
            for new in &versions {
                let before = new.before.as_ref();
                let has_any = kept.reconcile(new, before, &mut person, target.at);
                if !has_any && before.is_some_and(|before| before.text.is_some()) {
                    kept.push(new, None, (None, before), false);
                }
                let states = (digest(before), new.after.as_ref());
                ids.push(kept.push(new, Some(change), states, true));
            }
            kept.drop_empty();
            Ok(Announced {
                change,
                versions: ids,
            })
        })
    }

    async fn settle(&self, versions: Vec<VersionId>) -> Result<(), LedgerError> {
        self.call(|state| {
            state.history.settle(&versions);
            Ok(())
        })
    }

    async fn find(&self, found: Vec<NewVersion>, at: Timestamp) -> Result<Option<ChangeId>, LedgerError> {
        self.call(|state| {
            let kept = &mut state.history;
            let mut person = None;
            for new in &found {
                let states = (digest(new.before.as_ref()), new.after.as_ref());
                if !kept.reconcile(new, new.after.as_ref(), &mut person, at) && states.0 != digest(states.1) {
                    let change = *person.get_or_insert_with(|| kept.make(By::Person, at, false));
                    kept.push(new, Some(change), states, false);
                }
            }
            kept.drop_empty();
            Ok(person)
        })
    }

    async fn begin_undo(&self, by: By, at: Timestamp) -> Result<ChangeId, LedgerError> {
        self.call(|state| Ok(state.history.make(by, at, true)))
    }

    async fn close(&self, change: ChangeId) -> Result<(), LedgerError> {
        self.call(|state| {
            let kept = &mut state.history;
            let open = kept.changes.iter_mut().filter(|one| one.id == change);
            open.for_each(|one| one.is_open = false);
            kept.drop_empty();
            Ok(())
        })
    }

    async fn changes(&self, query: &ChangeQuery) -> Result<Vec<HistoryChange>, LedgerError> {
        self.call(|state| {
            let is_asked = |change: &&HistoryChange| match (query, &change.by) {
                (ChangeQuery::Open, _) => change.is_open,
                (ChangeQuery::Undoing(run), By::Run { undoes, .. }) => undoes.as_ref() == Some(run),
                (_, By::Person) => false,
            };
            Ok(state.history.changes.iter().filter(is_asked).cloned().collect())
        })
    }

    async fn versions(&self, query: &VersionQuery) -> Result<Vec<Version>, LedgerError> {
        self.call(|state| {
            let kept = &state.history;
            let newest: Vec<ChangeId> = match query {
                VersionQuery::Newest(touching, before, max) => {
                    let settled = kept.versions.iter().filter(|row| !row.is_unsettled);
                    let mut ids: Vec<ChangeId> = settled
                        .filter(|row| is_of(row, touching))
                        .filter_map(|row| row.change)
                        .filter(|change| before.is_none_or(|before| *change < before))
                        .collect();
                    ids.sort_unstable();
                    ids.dedup();
                    ids.split_off(ids.len().saturating_sub(*max))
                }
                _ => Vec::new(),
            };
            let run_of = |row: &Row| {
                let mut changes = kept.changes.iter();
                let change = changes.find(|change| Some(change.id) == row.change)?;
                change.by.run().map(|run| run.id.clone())
            };
            let is_asked = |row: &&Row| match query {
                VersionQuery::Newest(..) => {
                    !row.is_unsettled && row.change.is_some_and(|change| newest.contains(&change))
                }
                VersionQuery::Change(id) => !row.is_unsettled && row.change == Some(*id),
                VersionQuery::Run(run) => run_of(row).as_ref() == Some(run),
                VersionQuery::Keys(keys) => keys.contains(&row.key),
                VersionQuery::File(path) => row.key.path == *path,
                VersionQuery::Touching(touching) | VersionQuery::Texts(touching) => is_of(row, touching),
                VersionQuery::Unsettled => row.is_unsettled,
            };
            let has_text = !matches!(query, VersionQuery::Newest(..) | VersionQuery::Touching(_));
            let rows = kept.versions.iter().filter(is_asked);
            let mut versions: Vec<Version> = rows.map(|row| kept.read(row, has_text)).collect();
            if matches!(query, VersionQuery::Newest(..)) {
                versions.sort_by_key(|version| (version.change.as_ref().map(|change| change.id), version.id));
            }
            Ok(versions)
        })
    }

    async fn delete(&self, versions: Vec<VersionId>) -> Result<(), LedgerError> {
        self.call(|state| {
            let kept = &mut state.history;
            kept.versions.retain(|row| !versions.contains(&row.id));
            kept.drop_empty();
            Ok(())
        })
    }

    async fn erased(&self) -> Result<(), LedgerError> {
        self.call(|_| Ok(()))
    }

    async fn others(&self) -> Result<Vec<FileStat>, LedgerError> {
        self.call(|state| Ok(state.history.others.clone()))
    }

    async fn put_others(&self, stats: Vec<FileStat>) -> Result<(), LedgerError> {
        self.call(|state| {
            state.history.others = stats;
            Ok(())
        })
    }

    async fn drop_others(&self, paths: Vec<VaultPath>) -> Result<(), LedgerError> {
        self.call(|state| {
            state.history.others.retain(|stat| !paths.contains(&stat.path));
            Ok(())
        })
    }
}
