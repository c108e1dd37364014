//! Undo: reverts a run, together with the memories that were made from its memories. It is finished even if the process
//! ends within it.
//!
//! Owns: the changes of an undo, and its follow-up. Never: a write past the history.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::{Doc, DocKey, DocKind, Entry, Owner, Page, Scope, warned};
use ports::{
    By, ChangeId, ChangeQuery, Edit, HistoryChange, Run, RunId, VaultPath, Version, VersionKey, VersionQuery,
    VersionText,
};

use super::history::log::{before, change, nets};
use super::{edit, history, removal, sync};
use crate::api::RecordedChange;
use crate::base::Base;
use crate::base::chronicle::as_run;
use crate::derived::DeletionPlan;
use crate::error::{EngineError, HistoryError};
use crate::ids;

/// How one entry or file must change to be as before a run.
struct Reversal {
    key: VersionKey,
    owner: Option<(Scope, Owner)>,
    /// The state that the run left.
    from: Option<VersionText>,
    to: Option<VersionText>,
    /// The undo did it before it was interrupted.
    is_done: bool,
}

/// Undoes a run, with a scope only a run that the scope may see; the result is searchable when this returns. None if
/// later changes left nothing to undo.
pub(crate) async fn undo(
    base: &Base,
    run: &str,
    within: Option<&Scope>,
) -> Result<Option<RecordedChange>, EngineError> {
    base.answering().await?;
    if !base.chronicle.is_recording {
        let off = "no history is written: set `history.enabled` to true and start again";
        return Err(EngineError::Unfit(off.to_owned()));
    }
    let run: RunId = run.into();
    let _turn = base.chronicle.turn.lock().await;
    let _alone = base.gate.alone().await;
    finish_all(base).await?;
    let reversals = plan(base, &run, within).await?;
    // Changes that a person made a moment ago count as the person's.
    sync::files(base, paths(&reversals)).await?;
    let reversals = plan(base, &run, within).await?;
    if reversals.is_empty() {
        return Ok(None);
    }
    let at = base.now();
    let undo = Run {
        id: ids::run_id(&*base.parts.ids, at, &base.settings.zone),
        strategy: "undo".to_owned(),
        reason: format!("`{run}` undone on request"),
    };
    let by = By::Run {
        run: undo.clone(),
        undoes: Some(run),
    };
    let history = base.chronicle.up_to_date().await?;
    let id = history.begin_undo(by.clone(), at).await?;
    finish(
        base,
        &HistoryChange {
            id,
            at,
            by,
            is_open: true,
        },
    )
    .await?;
    change(base, id).await
}

/// Finishes the undos that an earlier process began, then records changes beside memory until the engine stops.
pub(crate) async fn keep(base: Arc<Base>) {
    if base.work.unless_stopping(finish_open(&base)).await.is_some() {
        history::keep(base).await;
    }
}

/// Finishes the undos that an earlier process began, once the vault is served.
async fn finish_open(base: &Base) {
    if base.gauge.answering(&*base.parts.clock).await.is_err() {
        return;
    }
    let _turn = base.chronicle.turn.lock().await;
    let _alone = base.gate.alone().await;
    let finished = finish_all(base).await;
    warned!(finished, "cannot finish an undo; the next undo or start does");
}

/// Finishes open undos. The caller holds the turn, and the gate alone.
async fn finish_all(base: &Base) -> Result<(), EngineError> {
    let history = base.chronicle.up_to_date().await?;
    for open in history.changes(&ChangeQuery::Open).await? {
        finish(base, &open).await?;
    }
    Ok(())
}

/// Does the rest of an undo and its follow-up, and closes it.
async fn finish(base: &Base, undo: &HistoryChange) -> Result<(), EngineError> {
    if let By::Run {
        undoes: Some(run), ..
    } = &undo.by
    {
        let work = reverse(base, run, undo.id);
        as_run((undo.by.clone(), undo.at, Some(undo.id)), work).await.0?;
    }
    let history = base.chronicle.up_to_date().await?;
    Ok(history.close(undo.id).await?)
}

async fn reverse(base: &Base, run: &RunId, undo: ChangeId) -> Result<(), EngineError> {
    let reversals = reversals(base, run, &of(base, run).await?, Some(undo)).await?;
    let mut edits: BTreeMap<&VaultPath, Vec<Edit>> = BTreeMap::new();
    let mut gone: BTreeMap<&(Scope, Owner), Vec<Doc>> = BTreeMap::new();
    for reversal in &reversals {
        let VersionKey { path, entry } = &reversal.key;
        match entry {
            _ if reversal.is_done => {}
            None => put_page(base, reversal).await?,
            Some(id) => {
                let put = entry_of(base, path, reversal.to.as_ref());
                let edit = put.map_or(Edit::Remove(id.clone()), |entry| Edit::Put(Box::new(entry)));
                edits.entry(path).or_default().push(edit);
            }
        }
        if let (None, Some(owner)) = (&reversal.to, &reversal.owner)
            && let Some(entry) = entry_of(base, path, reversal.from.as_ref())
        {
            gone.entry(owner).or_default().extend(Doc::of_entry(&entry, path));
        }
    }
    for (path, edits) in edits {
        if base.parts.vault.stat(path).await?.is_some() {
            base.parts.vault_writer.edit(path, &edits).await?;
            continue;
        }
        let put = edits.into_iter().filter_map(|edit| match edit {
            Edit::Put(entry) | Edit::Replace(entry) => Some(*entry),
            Edit::Remove(_) => None,
        });
        let put: Vec<Entry> = put.collect();
        base.parts.vault_writer.append(&put, false).await?;
    }
    edit::follow(base, paths(&reversals)).await?;
    for ((scope, owner), docs) in gone {
        follow(base, (scope, owner), &docs).await?;
    }
    Ok(())
}

/// Deletes the memories made from entries that an undo removed, given the rows of these entries.
async fn follow(base: &Base, (scope, owner): (&Scope, &Owner), removed: &[Doc]) -> Result<(), EngineError> {
    let left = base.parts.index.load(scope, owner).await?;
    let there: BTreeSet<&DocKey> = left.iter().map(|doc| &doc.key).collect();
    let lost: Vec<&Doc> = removed.iter().filter(|doc| !there.contains(&doc.key)).collect();
    let is_entry = |doc: &&&Doc| doc.kind != DocKind::Turn;
    let gone: Vec<&Doc> = lost.iter().filter(is_entry).copied().collect();
    if gone.is_empty() {
        return Ok(());
    }
    let rows: Vec<&Doc> = left.iter().chain(lost).collect();
    let plan = DeletionPlan::of(&rows, gone);
    let (_, paths) = removal::take_out(base, (scope, owner), &rows, &plan).await?;
    edit::follow(base, paths).await
}

fn entry_of(base: &Base, path: &VaultPath, state: Option<&VersionText>) -> Option<Entry> {
    base.parts.vault.entry_of(path, state?.text.as_deref()?)
}

/// Puts a page back, unless somebody changed it meanwhile.
async fn put_page(base: &Base, reversal: &Reversal) -> Result<(), EngineError> {
    let Some((scope, owner)) = &reversal.owner else {
        return Ok(());
    };
    let text = |state: &Option<VersionText>| state.as_ref().and_then(|state| state.text.clone());
    let pages = &base.parts.pages;
    for page in Page::ALL {
        if pages.path_of(scope, owner, page) == reversal.key.path {
            let (from, to) = (text(&reversal.from), text(&reversal.to));
            let to = to.unwrap_or_default();
            let writer = &base.parts.vault_writer;
            writer
                .replace_page(scope, owner, page, from.as_deref(), &to)
                .await?;
        }
    }
    Ok(())
}

fn paths(reversals: &[Reversal]) -> BTreeSet<VaultPath> {
    let entries = reversals.iter().filter(|reversal| reversal.key.entry.is_some());
    entries.map(|reversal| reversal.key.path.clone()).collect()
}

/// The changes of an undo of a run, if it can be undone.
async fn plan(base: &Base, run: &RunId, within: Option<&Scope>) -> Result<Vec<Reversal>, EngineError> {
    let versions = of(base, run).await?;
    let is_hidden = |version: &Version| {
        within.is_some_and(|scope| version.owner.as_ref().is_none_or(|(of, _)| of != scope))
    };
    if versions.is_empty() || versions.iter().any(is_hidden) {
        return Err(HistoryError::NoRun { run: run.clone() }.into());
    }
    if let Some(by) = undone_by(base, run).await? {
        return Err(HistoryError::Undone { run: run.clone(), by }.into());
    }
    reversals(base, run, &versions, None).await
}

/// The versions of a run.
async fn of(base: &Base, run: &RunId) -> Result<Vec<Version>, EngineError> {
    let history = base.chronicle.up_to_date().await?;
    let mut versions = history.versions(&VersionQuery::Run(run.clone())).await?;
    versions.retain(|version| !version.is_unsettled);
    Ok(versions)
}

/// The reversal of every change of a run; for an undo in progress, including those already done.
async fn reversals(
    base: &Base,
    run: &RunId,
    versions: &[Version],
    undo: Option<ChangeId>,
) -> Result<Vec<Reversal>, EngineError> {
    let history = base.chronicle.up_to_date().await?;
    let nets = nets(versions);
    let keys = nets.keys().map(|key| (*key).clone()).collect();
    let all = history.versions(&VersionQuery::Keys(keys)).await?;
    let digest = |state: Option<&VersionText>| state.map(|state| state.digest);
    let (mut reversals, mut conflicts) = (Vec::new(), BTreeSet::new());
    for (key, net) in nets {
        let Some(newest) = all.iter().rev().find(|version| version.key == *key) else {
            continue;
        };
        let is_done = undo.is_some() && newest.change.as_ref().map(|change| change.id) == undo;
        let now = digest(newest.after.as_ref());
        let is_done = is_done || now == net.first.before;
        if is_done && undo.is_none() {
            continue;
        }
        if !is_done && now != digest(net.last.after.as_ref()) {
            conflicts.insert(key.path.clone());
            continue;
        }
        let to = before(&all, key, net.first.id);
        if net.first.before.is_some() && to.is_none_or(|to| to.text.is_none()) {
            let (run, path) = (run.clone(), key.path.clone());
            return Err(HistoryError::Unkept { run, path }.into());
        }
        reversals.push(Reversal {
            key: key.clone(),
            owner: net.last.owner.clone(),
            from: net.last.after.clone(),
            to: net.first.before.and(to).cloned(),
            is_done,
        });
    }
    // A started undo is finished as far as possible: later changes by others stay.
    if !conflicts.is_empty() && undo.is_none() {
        let (run, paths) = (run.clone(), conflicts.into_iter().collect());
        return Err(HistoryError::Conflict { run, paths }.into());
    }
    Ok(reversals)
}

/// The run that undid a run and was not undone itself.
async fn undone_by(base: &Base, run: &RunId) -> Result<Option<RunId>, EngineError> {
    let history = base.chronicle.up_to_date().await?;
    let undos = history.changes(&ChangeQuery::Undoing(run.clone())).await?;
    for undo in undos {
        let Some(by) = undo.by.run() else { continue };
        if Box::pin(undone_by(base, &by.id)).await?.is_none() {
            return Ok(Some(by.id.clone()));
        }
    }
    Ok(None)
}
