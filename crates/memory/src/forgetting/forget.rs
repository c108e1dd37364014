//! Deletion: from the ledger, the vault, the index, every search and the vault's history, for good.
//!
//! Owns: the order ledger, vault, index, record, history and files, which keeps deleted text from coming back. After
//! the sweep of the ledger no job can write it again; after the gate was held exclusively, no write of it is running.
//! Never: the meaning of a sweep (`ledger`).
//!
//! Every step can run again, so `unfinished` finishes a deletion that stopped midway. Entries removed from the vault
//! leave the index with the next sync in any case.

use std::collections::BTreeSet;

use model::{
    Doc, DocKey, DocKind, EntryId, EntryKind, Message, MessageId, Owner, OwnerKind, Scope, SessionKey,
};
use ports::{Edit, Forgotten, JobState, Sweep, Touching, VaultError, VersionQuery};

use super::by_words::{Owned, WordsPlan};
use super::{Forgetting, by_words, erasure};
use crate::api::{Forget, Forgot, WordsTarget};
use crate::base::Base;
use crate::derived::DeletionPlan;
use crate::error::EngineError;
use crate::files::history::Targets;
use crate::files::{edit, history, pages, removal, sync};
use crate::searching::list;
use crate::words::Words;
use crate::{derived, ids};

/// The result, and whether anything was deleted at all.
type Taken = Result<(Forgot, bool), EngineError>;

/// Carries out a deletion, without a note on disk.
pub(crate) async fn once(forgetting: &Forgetting, forget: Forget) -> Result<Forgot, EngineError> {
    let base = &forgetting.base;
    base.accepting()?;
    base.gauge.usable(&*base.parts.clock).await?;
    let scope = forget.scope().clone();
    let taken = async {
        let taken = match &forget {
            Forget::Session(session) | Forget::OwnerInSession(session, _) => {
                forget_session(forgetting, &forget, session).await
            }
            Forget::Owner(scope, owner) => forget_owner(base, scope, owner).await,
            Forget::Entries(scope, owner, ids) => forget_entries(base, scope, owner, ids).await,
            Forget::Words(target) => forget_words(forgetting, target).await,
        };
        // Also after a failure: no search may find swept messages.
        base.corpora.cache.let_go(&scope);
        base.jobs.forget_stuck();
        taken
    };
    removed_copies(base, async {
        let (forgot, old_history) = erasure::erased(base, &forgetting.erasing, Box::pin(taken)).await?;
        Ok(Forgot {
            old_history,
            ..forgot
        })
    })
    .await
}

/// Does a deletion and counts the copies of the ledger that it removed.
async fn removed_copies(
    base: &Base,
    deletion: impl Future<Output = Result<Forgot, EngineError>>,
) -> Result<Forgot, EngineError> {
    let count = async || base.parts.retention.copies().await.map_or(0, |days| days.len());
    let before = count().await;
    let mut forgot = deletion.await?;
    forgot.copies = before.saturating_sub(count().await);
    Ok(forgot)
}

/// Forgets a session, for one owner or for all.
async fn forget_session(forgetting: &Forgetting, forget: &Forget, session: &SessionKey) -> Taken {
    let (base, of) = (&forgetting.base, forget.owner());
    // No new segment of the session is cut meanwhile.
    let _held = forgetting.intake.sessions.lock(session).await;
    let swept = sweep(
        base,
        match of {
            Some(owner) => Sweep::OwnerInSession(session.clone(), owner.clone()),
            None => Sweep::Session(session.clone()),
        },
    );
    let swept = swept.await?;
    let _alone = base.alone_in(&session.scope).await;
    // Entries that are in the vault but not yet in the index must be found too.
    sync::tenant_alone(base, &session.scope).await?;
    history::purge_session(base, session, of).await?;
    let (owners, mut entries) = match of {
        Some(owner) => {
            let cases = forget_cases(base, &session.scope, |doc| forget.names(doc)).await?;
            ([owner.clone()].into(), cases)
        }
        None => (owners_of(base, &session.scope).await?, 0),
    };
    let mut paths = BTreeSet::new();
    for owner in owners {
        let rows = base.parts.index.load(&session.scope, &owner).await?;
        let rows: Vec<&Doc> = rows.iter().collect();
        let is_named = |doc: &&Doc| doc.kind != DocKind::Turn && forget.names(doc);
        let mut named: Vec<&Doc> = rows.iter().copied().filter(is_named).collect();
        for (doc, messages) in derived::orphans(&rows) {
            let kept = base.parts.transcripts.messages(&session.scope, &messages).await?;
            if kept.len() < messages.len() && !is_named(&doc) {
                named.push(doc);
            }
        }
        let plan = DeletionPlan::of(&rows, named);
        let (count, changed) = removal::take_out(base, (&session.scope, &owner), &rows, &plan).await?;
        entries += count;
        paths.extend(changed);
    }
    edit::follow(base, paths).await?;
    Ok(any(Forgot {
        entries,
        messages: swept.messages,
        conversations: swept.conversations,
        ..Forgot::default()
    }))
}

/// A result, with whether anything was deleted.
fn any(forgot: Forgot) -> (Forgot, bool) {
    let is_any = forgot.entries + forgot.messages + forgot.conversations > 0;
    (forgot, is_any)
}

/// Deletes the cases and skills that agents learnt from deleted work, because they quote the people who asked for the
/// work. Of the possible cases, deletes those with a message that is no longer in the ledger: another case can come
/// from a lost ledger. Returns the number of deleted entries. The caller holds the tenant exclusively.
async fn forget_cases(
    base: &Base,
    scope: &Scope,
    may_be_of_it: impl Fn(&Doc) -> bool,
) -> Result<usize, EngineError> {
    let owners = owners_of(base, scope).await?.into_iter();
    let mut count = 0;
    for agent in owners.filter(|owner| owner.kind == OwnerKind::Agent) {
        let rows = base.corpora.entries(scope, &agent).await?;
        let rows: Vec<&Doc> = rows.iter().map(|doc| &**doc).collect();
        let mut named = Vec::new();
        for doc in rows
            .iter()
            .filter(|doc| doc.kind == DocKind::Entry(EntryKind::Case) && may_be_of_it(doc))
        {
            let kept = base.parts.transcripts.messages(scope, &doc.sources).await?;
            if kept.len() < doc.sources.len() {
                named.push(*doc);
            }
        }
        let plan = DeletionPlan::of(&rows, named);
        let (cases, paths) = removal::take_out(base, (scope, &agent), &rows, &plan).await?;
        edit::follow(base, paths).await?;
        count += cases;
    }
    Ok(count)
}

async fn forget_owner(base: &Base, scope: &Scope, owner: &Owner) -> Taken {
    let swept = sweep(base, Sweep::Owner(scope.clone(), owner.clone())).await?;
    let _alone = base.alone_in(scope).await;
    let is_of_theirs = |doc: &Doc| doc.senders.contains(&owner.id);
    let cases = forget_cases(base, scope, is_of_theirs).await?;
    let has_pages = pages::has_any(base, scope, owner).await?;
    let all = VersionQuery::Touching(Touching::Owner(scope.clone(), owner.clone()));
    history::purge(base, all, |_| true).await?;
    base.parts.pages.remove_pages(scope, owner).await?;
    let paths = base.parts.vault.remove(scope, Some(owner)).await?;
    let rows = base.parts.index.load(scope, owner).await?;
    let entries = cases + rows.iter().filter(|doc| doc.kind != DocKind::Turn).count();
    history::going(base, (scope, owner), rows.iter()).await?;
    let keys: Vec<DocKey> = rows.into_iter().map(|doc| doc.key).collect();
    let is_any = has_pages || !paths.is_empty() || !keys.is_empty();
    base.writer.apply(Vec::new(), keys).await?;
    base.records.drop_paths(&paths).await?;
    let (forgot, is_counted) = any(Forgot {
        entries,
        messages: swept.messages,
        conversations: swept.conversations,
        ..Forgot::default()
    });
    Ok((forgot, is_any || is_counted))
}

async fn forget_entries(base: &Base, scope: &Scope, owner: &Owner, ids: &[EntryId]) -> Taken {
    let keys = ids.iter().map(|id| DocKey::new(scope, owner, id.as_str()));
    for doc in base.corpora.get(keys.collect()).await? {
        finished_writing(base, scope, &doc).await?;
    }
    let _alone = base.alone_in(scope).await;
    let rows = base.corpora.entries(scope, owner).await?;
    let rows: Vec<&Doc> = rows.iter().map(|doc| &**doc).collect();
    let asked: BTreeSet<&str> = ids.iter().map(EntryId::as_str).collect();
    let is_named = |doc: &&Doc| asked.contains(&*doc.key.id);
    let plan = DeletionPlan::of(&rows, rows.iter().copied().filter(is_named).collect());
    let mut forgot = Forgot::default();
    let mut swept_cells = BTreeSet::new();
    let is_episode = |doc: &&&Doc| doc.kind == DocKind::Entry(EntryKind::Episode);
    for doc in plan.named.iter().filter(is_episode) {
        if is_alone_with(base, doc).await? {
            let swept = sweep(base, Sweep::Messages(scope.clone(), doc.sources.clone())).await?;
            forgot.messages += swept.messages;
            swept_cells.extend(ids::cell_of_parent(doc.parent.as_ref()));
        }
    }
    if !swept_cells.is_empty() {
        let is_of_cell = |doc: &Doc| {
            ids::cell_of_parent(doc.parent.as_ref()).is_some_and(|cell| swept_cells.contains(&cell))
        };
        forgot.entries = forget_cases(base, scope, is_of_cell).await?;
    }
    let (entries, paths) = removal::take_out(base, (scope, owner), &rows, &plan).await?;
    forgot.entries += entries;
    edit::follow(base, paths).await?;
    let is_missing = |id: &&EntryId| plan.named.iter().all(|doc| *doc.key.id != *id.as_str());
    forgot.missing = ids.iter().filter(is_missing).cloned().collect();
    Ok(any(forgot))
}

async fn forget_words(forgetting: &Forgetting, target: &WordsTarget) -> Taken {
    let base = &forgetting.base;
    let WordsTarget { scope, owner, .. } = target;
    let words = Words::parse(&target.words)?;
    let mut messages = by_words::write_shared(&forgetting.intake, target, &words).await?;
    let _alone = base.alone_in(scope).await;
    sync::tenant_alone(base, scope).await?;
    let owned = by_words::owned(base, target, &words).await?;
    let plan = by_words::plan(&owned, &words, target, &base.settings.zone);
    let swept = erasable(base, target, &owned, &plan).await?;
    let mut is_any = !plan.rewritten.is_empty();
    is_any |= untitle(base, &owned, &words).await?;
    if !swept.is_empty() {
        let ids = swept.iter().cloned().collect();
        sweep(base, Sweep::Messages(scope.clone(), ids)).await?;
    }
    messages.extend(plan.messages.iter().map(|message| message.id.clone()));
    let is_swept = |doc: &Doc| doc.sources.iter().any(|source| swept.contains(source));
    let cases = forget_cases(base, scope, is_swept).await?;
    is_any |= pages::forget_words(base, (scope, owner), &words).await?;
    let rows: Vec<&Doc> = plan.rows.iter().collect();
    let going = plan.deletion(&rows);
    let targets = Targets {
        messages: plan.messages.iter().map(|message| message.id.clone()).collect(),
        words: Some(&words),
        ..Targets::default()
    };
    history::purge_owner(base, (scope, owner), targets).await?;
    let (entries, mut paths) = removal::take_out(base, (scope, owner), &rows, &going).await?;
    // Last: until then a repetition finds the deleted messages in them.
    for (path, entry) in &plan.rewritten {
        let edit = Edit::Replace(Box::new(entry.clone()));
        match base.parts.vault_writer.edit(path, &[edit]).await {
            // A person removed it meanwhile.
            Ok(_) | Err(VaultError::NoEntry { .. }) => paths.insert(path.clone()),
            Err(error) => return Err(error.into()),
        };
    }
    edit::follow(base, paths).await?;
    let (forgot, is_counted) = any(Forgot {
        entries: entries + cases,
        messages: messages.len(),
        rewritten: plan.rewritten.len(),
        ..Forgot::default()
    });
    Ok((forgot, is_any || is_counted))
}

/// The messages of a plan that the ledger need not keep for another owner.
async fn erasable(
    base: &Base,
    target: &WordsTarget,
    owned: &Owned,
    plan: &WordsPlan,
) -> Result<BTreeSet<MessageId>, EngineError> {
    let is_target = |message: &&Message| plan.targets.contains(message.id.as_str());
    let is_own = |message: &&Message| {
        message.sender == target.owner.id || !by_words::is_shared(owned, &message.session, &target.owner)
    };
    let tail = owned.tail.iter().filter(is_target).filter(is_own);
    let mut erasable: BTreeSet<MessageId> = tail.map(|message| message.id.clone()).collect();
    for (path, entry) in &owned.entries {
        let targets: Vec<&Message> = entry.turns.iter().filter(is_target).collect();
        if targets.is_empty() || ids::cell_of_parent(entry.parent.as_ref()).is_none() {
            continue;
        }
        if let Some(doc) = Doc::of_entry(entry, path).first()
            && is_alone_with(base, doc).await?
        {
            erasable.extend(targets.into_iter().map(|message| message.id.clone()));
        }
    }
    Ok(erasable)
}

/// Removes the titles that contain some words; returns whether there were any.
async fn untitle(base: &Base, owned: &Owned, words: &Words) -> Result<bool, EngineError> {
    let titled = titles(base, owned, words).await?;
    for (session, _) in &titled {
        let transcripts = &base.parts.transcripts;
        transcripts.entitle(session, String::new(), false).await?;
    }
    Ok(!titled.is_empty())
}

/// The titles that contain some words, with their sessions.
pub(crate) async fn titles(
    base: &Base,
    owned: &Owned,
    words: &Words,
) -> Result<Vec<(SessionKey, String)>, EngineError> {
    let mut titled = Vec::new();
    for session in by_words::sessions(owned) {
        let title = base.parts.transcripts.title(&session).await?;
        if let Some(title) = title.filter(|title| words.are_in([&**title])) {
            titled.push((session, title));
        }
    }
    Ok(titled)
}

async fn sweep(base: &Base, sweep: Sweep) -> Result<Forgotten, EngineError> {
    let swept = base.parts.transcripts.sweep(sweep).await;
    base.has_swept();
    let swept = swept?;
    let mut long_cells = base.turns.long_cells.lock();
    long_cells.retain(|cell, _| !swept.cell_ids.contains(cell));
    Ok(swept)
}

/// Waits until the job that wrote an entry is over: a job that runs again would write it again.
async fn finished_writing(base: &Base, scope: &Scope, doc: &Doc) -> Result<(), EngineError> {
    let Some(cell) = ids::cell_of_parent(doc.parent.as_ref()) else {
        return Ok(());
    };
    let mut finished = base.jobs.watch();
    loop {
        finished.borrow_and_update();
        let job = base.parts.jobs.job(scope, &ids::job_of(&cell)).await?;
        let unfinished = job.filter(|job| matches!(job.state, JobState::Queued | JobState::Processing));
        let Some(job) = unfinished else { return Ok(()) };
        if base.jobs.stuck_sessions().0.contains(&job.session) {
            let reason = job.error.unwrap_or_default();
            return Err(EngineError::Invalid(format!(
                "`{}` is still being written: {reason}",
                doc.key.id
            )));
        }
        tokio::select! {
            biased;
            () = base.work.stopping() => return Err(EngineError::Stopping),
            _ = finished.changed() => {}
        }
    }
}

/// Whether no other owner has a memory of an episode's messages.
async fn is_alone_with(base: &Base, doc: &Doc) -> Result<bool, EngineError> {
    let Some(cell) = ids::cell_of_parent(doc.parent.as_ref()) else {
        return Ok(false);
    };
    let Some(cell) = base.parts.transcripts.cell(&cell).await? else {
        return Ok(true);
    };
    let DocKey { scope, owner, id } = &doc.key;
    let others = cell.owners.iter().filter(|other| *other != owner);
    let keys = others.map(|other| DocKey::new(scope, other, id.clone()));
    Ok(base.corpora.get(keys.collect()).await?.is_empty())
}

/// Every owner in a scope with a file in the vault.
pub(crate) async fn owners_of(base: &Base, scope: &Scope) -> Result<BTreeSet<Owner>, EngineError> {
    let all = list::holdings(base).await?.into_keys();
    let all = all.filter(|(of, _)| of == scope);
    Ok(all.map(|(_, owner)| owner).collect())
}
