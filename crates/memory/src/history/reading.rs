//! The history as it is read: what a tenant may see of it, and which run wrote what.
//!
//! Owns: the border between tenants in it. Never: changing it.

use std::collections::{BTreeMap, BTreeSet};

use model::{EntryId, Owner, Scope};
use ports::{By, History, HistoryError, RecordedChange, RunId, Touching, VaultPath};

use crate::api::EngineError;
use crate::world::World;

/// How many changes, from the newest on, are asked for who wrote a memory.
const ASKED_MAX: usize = 200;

/// The newest changes, of an owner or of all, and of a scope alone if there is one.
pub(crate) async fn log(
    world: &World,
    within: Option<&Scope>,
    owner: Option<&(Scope, Owner)>,
    limit: usize,
) -> Result<Vec<RecordedChange>, EngineError> {
    let history = world.history()?;
    let of_owner = owner.map(|(scope, owner)| Touching::Owner(scope.clone(), owner.clone()));
    let (Some(scope), Some(of_owner)) = (within, &of_owner) else {
        let alone = within.map(|scope| Touching::Alone(scope.clone()));
        let touching = of_owner.or(alone).unwrap_or_default();
        return Ok(history.log(&touching, limit).await?);
    };
    let visible = visible(&**history, scope).await?;
    let mut changes = history.log(of_owner, usize::MAX).await?;
    changes.retain(|change| visible.iter().any(|seen| seen.id == change.id));
    changes.truncate(limit);
    Ok(changes)
}

/// What a change changed, if it is of a scope alone where there is one; without an id, what is not recorded yet.
pub(crate) async fn diff(
    world: &World,
    within: Option<&Scope>,
    id: Option<&str>,
) -> Result<String, EngineError> {
    let history = world.history()?;
    let Some(scope) = within else {
        return Ok(history.diff(id).await?);
    };
    let id = id.unwrap_or_default();
    let visible = visible(&**history, scope).await?;
    let found = visible
        .iter()
        .find(|change| !id.is_empty() && change.id.starts_with(id));
    let found = found.ok_or_else(|| HistoryError::NoChange { id: id.to_owned() })?;
    Ok(history.diff(Some(&found.id)).await?)
}

/// Refuses a run that changed anything outside a scope, as one that is not there.
pub(super) async fn check_run(history: &dyn History, run: &str, scope: &Scope) -> Result<(), HistoryError> {
    let is_of_run =
        |change: &&RecordedChange| matches!(&change.by, By::Run { run: maker, .. } if *maker.id == *run);
    let all = history.log(&Touching::All, usize::MAX).await?;
    let visible = visible(history, scope).await?;
    if all.iter().filter(is_of_run).count() == visible.iter().filter(is_of_run).count() {
        Ok(())
    } else {
        Err(HistoryError::NoRun { run: run.into() })
    }
}

async fn visible(history: &dyn History, scope: &Scope) -> Result<Vec<RecordedChange>, HistoryError> {
    history.log(&Touching::Alone(scope.clone()), usize::MAX).await
}

/// The runs that wrote some entries, as far as the newest changes show.
pub(crate) async fn writers(
    history: &dyn History,
    within: Option<&Scope>,
    entries: impl Iterator<Item = (VaultPath, EntryId)>,
) -> Result<BTreeMap<(VaultPath, EntryId), RunId>, HistoryError> {
    let mut sought: BTreeMap<VaultPath, BTreeSet<EntryId>> = BTreeMap::new();
    for (path, id) in entries {
        sought.entry(path).or_default().insert(id);
    }
    let touching = within.map_or(Touching::All, |scope| Touching::Alone(scope.clone()));
    let mut found = BTreeMap::new();
    for change in history.log(&touching, ASKED_MAX).await? {
        let By::Run { run, .. } = change.by else { continue };
        if !change.files.iter().any(|path| sought.contains_key(path)) {
            continue;
        }
        let diff = history.diff(Some(&change.id)).await?;
        let begins = |line: &&str| line.starts_with("+#") || line.starts_with("+-");
        let added: Vec<&str> = diff.lines().filter(begins).collect();
        for path in change.files {
            for id in sought.get(&path).into_iter().flatten() {
                let marks = [format!("<!--{id} "), format!("{{#{id}}}")];
                if added
                    .iter()
                    .any(|line| marks.iter().any(|mark| line.contains(mark)))
                {
                    found
                        .entry((path.clone(), id.clone()))
                        .or_insert_with(|| run.id.clone());
                }
            }
        }
    }
    Ok(found)
}
