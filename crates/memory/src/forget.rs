//! Forgetting: gone from the ledger, the vault, the index, every search and the vault's history, and never back.
//!
//! Owns: the order ledger, vault, index, record, history and files, in which nothing can come back. After the sweep of
//! the ledger no job can write it again; after the gate was held alone, no write of it is running. Never: the meaning
//! of a sweep (`ledger`).
//!
//! Every step can run again, so `going` finishes a deletion that stopped midway. Entries removed from the vault leave the
//! index with the next sync in any case.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::{
    Doc, DocKey, DocKind, EntryId, EntryKind, Message, MessageId, Owner, OwnerKind, Scope, SessionKey,
};
use ports::{Edit, Forgotten, JobState, Sweep, Touching, VaultError, VaultPath, VersionQuery};

use crate::api::{Forget, Forgot, WordsTarget};
use crate::by_words::{Owned, WordsPlan};
use crate::error::EngineError;
use crate::history::Named;
use crate::words::Words;
use crate::world::World;
use crate::{by_words, copies, derived, edit, erase, going, history, ids, left, list, pages, sync};

/// The result, and whether anything was deleted at all.
type Taken = Result<(Forgot, bool), EngineError>;

/// Forgets, in the vault, the ledger and the index, and says what is left.
pub(crate) async fn forget(world: &World, forget: Forget) -> Result<Forgot, EngineError> {
    world.accepting()?;
    world.gauge.answering(&*world.parts.clock).await?;
    // Of a vault that is away nothing can be deleted: the ledger must not begin.
    world.parts.vault.is_present().await?;
    left::told(world, &forget, going::whole(world, forget.clone())).await
}

/// Forgets, without a note of it.
pub(crate) async fn once(world: &World, forget: Forget) -> Result<Forgot, EngineError> {
    world.accepting()?;
    world.gauge.usable(&*world.parts.clock).await?;
    let scope = forget.scope().clone();
    let taken = async {
        let taken = match forget {
            Forget::Session(session) => forget_session(world, &session).await,
            Forget::Owner(scope, owner) => forget_owner(world, &scope, &owner).await,
            Forget::OwnerInSession(session, owner) => forget_part(world, &session, &owner).await,
            Forget::Entries(scope, owner, ids) => forget_entries(world, &scope, &owner, ids).await,
            Forget::Words(target) => forget_words(world, &target).await,
        };
        // Also after a failure: no search may find swept messages.
        world.corpora.cache.let_go(&scope);
        world.bell.forget_stuck();
        taken
    };
    copies::removed_by(world, async {
        let (forgot, old_history) = erase::erased(world, Box::pin(taken)).await?;
        Ok(Forgot {
            old_history,
            ..forgot
        })
    })
    .await
}

async fn forget_session(world: &World, session: &SessionKey) -> Taken {
    // Nothing new of the session is cut meanwhile.
    let _held = world.sessions.lock(session).await;
    let swept = sweep(world, Sweep::Session(session.clone())).await?;
    let _alone = world.alone_in(&session.scope).await;
    // Entries that are in the vault but not yet in the index must be found too.
    sync::tenant_alone(world, &session.scope).await?;
    let owners = owners_of(world, &session.scope).await?;
    history::purge_session(world, session, None).await?;
    let forgot = told_of_session(world, session, owners, swept).await?;
    Ok(any(forgot))
}

/// With whether there was anything.
fn any(forgot: Forgot) -> (Forgot, bool) {
    let is_any = forgot.entries + forgot.messages + forgot.conversations > 0;
    (forgot, is_any)
}

async fn forget_part(world: &World, session: &SessionKey, owner: &Owner) -> Taken {
    let _held = world.sessions.lock(session).await;
    let swept = sweep(world, Sweep::OwnerInSession(session.clone(), owner.clone())).await?;
    let _alone = world.alone_in(&session.scope).await;
    sync::tenant_alone(world, &session.scope).await?;
    history::purge_session(world, session, Some(owner)).await?;
    let is_of_session = |doc: &Doc| doc.session.as_ref() == Some(&session.session);
    let cases = forget_cases(world, &session.scope, is_of_session).await?;
    let forgot = told_of_session(world, session, [owner.clone()].into(), swept).await?;
    Ok(any(Forgot {
        entries: forgot.entries + cases,
        ..forgot
    }))
}

/// Deletes what agents learnt from deleted work: it quotes the people who asked for the work. Of the possible cases, it
/// deletes those with a message that is no longer in the ledger: another case can come from a lost ledger. Returns the
/// number of cases, with what follows them. The caller has the tenant alone.
async fn forget_cases(
    world: &World,
    scope: &Scope,
    may_be_of_it: impl Fn(&Doc) -> bool,
) -> Result<usize, EngineError> {
    let owners = owners_of(world, scope).await?.into_iter();
    let mut count = 0;
    for agent in owners.filter(|owner| owner.kind == OwnerKind::Agent) {
        let rows = world.corpora.entries(scope, &agent).await?;
        let rows: Vec<&Doc> = rows.iter().map(|doc| &**doc).collect();
        let mut told = Vec::new();
        for doc in rows
            .iter()
            .filter(|doc| doc.kind == DocKind::Entry(EntryKind::Case) && may_be_of_it(doc))
        {
            let kept = world.parts.transcripts.messages(scope, &doc.sources).await?;
            if kept.len() < doc.sources.len() {
                told.push(*doc);
            }
        }
        let (cases, paths) = forget_told(world, (scope, &agent), &rows, &told).await?;
        edit::follow(world, paths).await?;
        count += cases;
    }
    Ok(count)
}

/// Deletes from the vault the memories of some owners about a swept session.
async fn told_of_session(
    world: &World,
    session: &SessionKey,
    owners: BTreeSet<Owner>,
    swept: Forgotten,
) -> Result<Forgot, EngineError> {
    let mut entries = 0;
    let mut paths = BTreeSet::new();
    for owner in owners {
        let rows = world.parts.index.load(&session.scope, &owner).await?;
        let told = rows.iter().filter(|doc| doc.kind != DocKind::Turn);
        let mut told: Vec<&Doc> = told
            .filter(|doc| doc.session.as_ref() == Some(&session.session))
            .collect();
        let rows: Vec<&Doc> = rows.iter().collect();
        for (doc, messages) in derived::orphans(&rows) {
            let kept = world
                .parts
                .transcripts
                .messages(&session.scope, &messages)
                .await?;
            if kept.len() < messages.len() && !told.iter().any(|one| one.key == doc.key) {
                told.push(doc);
            }
        }
        let (count, changed) = forget_told(world, (&session.scope, &owner), &rows, &told).await?;
        entries += count;
        paths.extend(changed);
    }
    edit::follow(world, paths).await?;
    Ok(Forgot {
        entries,
        messages: swept.messages,
        conversations: swept.conversations,
        ..Forgot::default()
    })
}

async fn forget_owner(world: &World, scope: &Scope, owner: &Owner) -> Taken {
    let swept = sweep(world, Sweep::Owner(scope.clone(), owner.clone())).await?;
    let _alone = world.alone_in(scope).await;
    let is_of_theirs = |doc: &Doc| doc.senders.contains(&owner.id);
    let cases = forget_cases(world, scope, is_of_theirs).await?;
    let has_pages = pages::has_any(world, scope, owner).await?;
    let all = VersionQuery::Touching(Touching::Owner(scope.clone(), owner.clone()));
    history::purge(world, all, |_| true).await?;
    world.parts.pages.remove_pages(scope, owner).await?;
    let paths = world.parts.vault.remove(scope, Some(owner)).await?;
    let rows = world.parts.index.load(scope, owner).await?;
    let entries = cases + rows.iter().filter(|doc| doc.kind != DocKind::Turn).count();
    history::going(world, (scope, owner), rows.iter()).await?;
    let keys: Vec<DocKey> = rows.into_iter().map(|doc| doc.key).collect();
    let is_any = has_pages || !paths.is_empty() || !keys.is_empty();
    world.writer.apply(Vec::new(), keys).await?;
    world.records.drop_paths(&paths).await?;
    let (forgot, is_told) = any(Forgot {
        entries,
        messages: swept.messages,
        conversations: swept.conversations,
        ..Forgot::default()
    });
    Ok((forgot, is_any || is_told))
}

async fn forget_entries(world: &World, scope: &Scope, owner: &Owner, ids: Vec<EntryId>) -> Taken {
    for doc in asked_for(world, scope, owner, &ids).await? {
        finished_writing(world, scope, &doc).await?;
    }
    let _alone = world.alone_in(scope).await;
    let all = world.corpora.entries(scope, owner).await?;
    let all: Vec<&Doc> = all.iter().map(|doc| &**doc).collect();
    let asked: BTreeSet<&str> = ids.iter().map(EntryId::as_str).collect();
    let rows: Vec<&Doc> = all
        .iter()
        .copied()
        .filter(|doc| asked.contains(&*doc.key.id))
        .collect();
    let mut forgot = Forgot::default();
    let mut swept_cells = BTreeSet::new();
    for doc in rows
        .iter()
        .filter(|doc| doc.kind == DocKind::Entry(EntryKind::Episode))
    {
        if is_alone_with(world, scope, owner, doc).await? {
            let swept = sweep(world, Sweep::Messages(scope.clone(), doc.sources.clone())).await?;
            forgot.messages += swept.messages;
            swept_cells.extend(ids::cell_of_parent(doc.parent.as_ref()));
        }
    }
    if !swept_cells.is_empty() {
        let is_of_cell = |doc: &Doc| {
            ids::cell_of_parent(doc.parent.as_ref()).is_some_and(|cell| swept_cells.contains(&cell))
        };
        forgot.entries = forget_cases(world, scope, is_of_cell).await?;
    }
    let (entries, paths) = forget_told(world, (scope, owner), &all, &rows).await?;
    forgot.entries += entries;
    edit::follow(world, paths).await?;
    let found: BTreeSet<&str> = rows.iter().map(|doc| &*doc.key.id).collect();
    forgot.missing = ids
        .into_iter()
        .filter(|id| !found.contains(id.as_str()))
        .collect();
    Ok(any(forgot))
}

async fn forget_words(world: &World, target: &WordsTarget) -> Taken {
    let WordsTarget { scope, owner, .. } = target;
    let words = Words::parse(&target.words)?;
    let mut messages = by_words::write_shared(world, target, &words).await?;
    let _alone = world.alone_in(scope).await;
    sync::tenant_alone(world, scope).await?;
    let owned = by_words::owned(world, target, &words).await?;
    let plan = by_words::plan(&owned, &words, target, &world.settings.zone);
    let swept = erasable(world, target, &owned, &plan).await?;
    let mut is_any = !plan.rewritten.is_empty();
    is_any |= untitle(world, &owned, &words).await?;
    if !swept.is_empty() {
        let ids = swept.iter().cloned().collect();
        sweep(world, Sweep::Messages(scope.clone(), ids)).await?;
    }
    messages.extend(plan.messages.iter().map(|message| message.id.clone()));
    let is_swept = |doc: &Doc| doc.sources.iter().any(|source| swept.contains(source));
    let cases = forget_cases(world, scope, is_swept).await?;
    is_any |= pages::forget_words(world, (scope, owner), &words).await?;
    let rows: Vec<&Doc> = plan.rows.iter().collect();
    let told: Vec<&Doc> = plan
        .rows
        .iter()
        .filter(|row| plan.told.contains(&*row.key.id))
        .collect();
    let named = Named {
        messages: plan.messages.iter().map(|message| message.id.clone()).collect(),
        words: Some(&words),
        ..Named::default()
    };
    history::purge_owner(world, (scope, owner), named).await?;
    let (entries, mut paths) = forget_told(world, (scope, owner), &rows, &told).await?;
    // Last: until then a repetition finds in them which messages went.
    for (path, entry) in &plan.rewritten {
        let edit = Edit::Replace(Box::new(entry.clone()));
        match world.parts.vault.edit(path, &[edit]).await {
            // A person took it out meanwhile.
            Ok(_) | Err(VaultError::NoEntry { .. }) => paths.insert(path.clone()),
            Err(error) => return Err(error.into()),
        };
    }
    edit::follow(world, paths).await?;
    let (forgot, is_told) = any(Forgot {
        entries: entries + cases,
        messages: messages.len(),
        rewritten: plan.rewritten.len(),
        ..Forgot::default()
    });
    Ok((forgot, is_any || is_told))
}

/// The messages of a plan that the ledger need not keep for another owner.
async fn erasable(
    world: &World,
    target: &WordsTarget,
    owned: &Owned,
    plan: &WordsPlan,
) -> Result<BTreeSet<MessageId>, EngineError> {
    let is_told = |message: &&Message| plan.told.contains(message.id.as_str());
    let is_own = |message: &&Message| {
        message.sender == target.owner.id || !by_words::is_shared(owned, &message.session, &target.owner)
    };
    let tail = owned.tail.iter().filter(is_told).filter(is_own);
    let mut erasable: BTreeSet<MessageId> = tail.map(|message| message.id.clone()).collect();
    for (path, entry) in &owned.entries {
        let told: Vec<&Message> = entry.turns.iter().filter(is_told).collect();
        if told.is_empty() || ids::cell_of_parent(entry.parent.as_ref()).is_none() {
            continue;
        }
        if let Some(doc) = Doc::of_entry(entry, path).first()
            && is_alone_with(world, &target.scope, &target.owner, doc).await?
        {
            erasable.extend(told.into_iter().map(|message| message.id.clone()));
        }
    }
    Ok(erasable)
}

/// Removes the titles that have some words; whether there were any.
async fn untitle(world: &World, owned: &Owned, words: &Words) -> Result<bool, EngineError> {
    let titled = titles(world, owned, words).await?;
    for (session, _) in &titled {
        world
            .parts
            .transcripts
            .entitle(session, String::new(), false)
            .await?;
    }
    Ok(!titled.is_empty())
}

/// The titles that have some words, with their sessions.
pub(crate) async fn titles(
    world: &World,
    owned: &Owned,
    words: &Words,
) -> Result<Vec<(SessionKey, String)>, EngineError> {
    let mut titled = Vec::new();
    for session in by_words::sessions(owned) {
        let title = world.parts.transcripts.title(&session).await?;
        if let Some(title) = title.filter(|title| words.are_in([&**title])) {
            titled.push((session, title));
        }
    }
    Ok(titled)
}

/// Deletes entries of an owner from the vault, but first the memories that cite them or were made from them: after a
/// crash, a repetition still knows these. Returns the number of all these entries and the changed files.
pub(crate) async fn forget_told(
    world: &World,
    (scope, owner): (&Scope, &Owner),
    rows: &[&Doc],
    told: &[&Doc],
) -> Result<(usize, BTreeSet<VaultPath>), EngineError> {
    let mut gone: BTreeSet<&str> = told.iter().map(|doc| &*doc.key.id).collect();
    let going = derived::going_with(rows, &gone);
    gone.extend(going.iter().map(|doc| &*doc.key.id));
    let is_of_gone = |row: &&Doc| {
        let parent = row.parent.as_ref().map(|parent| parent.id.as_str());
        gone.contains(&*row.key.id) || parent.is_some_and(|parent| gone.contains(parent))
    };
    left::note(rows.iter().copied().filter(is_of_gone));
    let gone_rows = rows.iter().filter(|row| gone.contains(&*row.key.id));
    history::going(world, (scope, owner), gone_rows.copied()).await?;
    pages::forget(world, (scope, owner), rows, &gone).await?;
    pages::let_be_made(world, scope, owner, &going).await?;
    let mut paths = take_out(world, going.into_iter()).await?;
    paths.extend(take_out(world, told.iter().copied()).await?);
    let count = rows
        .iter()
        .filter(|row| row.kind != DocKind::Turn && gone.contains(&*row.key.id))
        .count();
    Ok((count, paths))
}

async fn sweep(world: &World, sweep: Sweep) -> Result<Forgotten, EngineError> {
    let swept = world.parts.transcripts.sweep(sweep).await;
    world.has_swept();
    let swept = swept?;
    let mut long_cells = world.turns.long_cells();
    long_cells.retain(|cell, _| !swept.cell_ids.contains(cell));
    Ok(swept)
}

/// The entries among those asked for that are there.
async fn asked_for(
    world: &World,
    scope: &Scope,
    owner: &Owner,
    ids: &[EntryId],
) -> Result<Vec<Arc<Doc>>, EngineError> {
    let ids: BTreeSet<&str> = ids.iter().map(EntryId::as_str).collect();
    let mut rows = world.corpora.entries(scope, owner).await?;
    rows.retain(|doc| ids.contains(&*doc.key.id));
    Ok(rows)
}

/// Waits until the job that wrote an entry is over: one that runs again would write it again.
async fn finished_writing(world: &World, scope: &Scope, doc: &Doc) -> Result<(), EngineError> {
    let Some(cell) = ids::cell_of_parent(doc.parent.as_ref()) else {
        return Ok(());
    };
    let mut finished = world.bell.watch();
    loop {
        finished.borrow_and_update();
        let job = world.parts.jobs.job(scope, &ids::job_of(&cell)).await?;
        let unfinished = job.filter(|job| matches!(job.state, JobState::Queued | JobState::Processing));
        let Some(job) = unfinished else { return Ok(()) };
        if world.bell.stuck_sessions().0.contains(&job.session) {
            let reason = job.error.unwrap_or_default();
            return Err(EngineError::Invalid(format!(
                "`{}` is still being written: {reason}",
                doc.key.id
            )));
        }
        tokio::select! {
            biased;
            () = world.work.stopping() => return Err(EngineError::Stopping),
            _ = finished.changed() => {}
        }
    }
}

/// Whether no other owner has a memory of an episode's messages.
async fn is_alone_with(world: &World, scope: &Scope, owner: &Owner, doc: &Doc) -> Result<bool, EngineError> {
    let Some(cell) = ids::cell_of_parent(doc.parent.as_ref()) else {
        return Ok(false);
    };
    let Some(cell) = world.parts.transcripts.cell(&cell).await? else {
        return Ok(true);
    };
    for other in cell.owners.iter().filter(|other| *other != owner) {
        let rows = world.corpora.entries(scope, other).await?;
        if rows.iter().any(|row| row.key.id == doc.key.id) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Removes entries from every file of their owner that contains them; returns the changed files.
pub(crate) async fn take_out<'a>(
    world: &World,
    docs: impl Iterator<Item = &'a Doc>,
) -> Result<BTreeSet<VaultPath>, EngineError> {
    let mut by_owner: BTreeMap<(&Scope, &Owner), Vec<&Doc>> = BTreeMap::new();
    for doc in docs {
        let of_owner = by_owner.entry((&doc.key.scope, &doc.key.owner));
        of_owner.or_default().push(doc);
    }
    let mut changed = BTreeSet::new();
    for ((scope, owner), docs) in by_owner {
        let ids: BTreeSet<&str> = docs.iter().map(|doc| &*doc.key.id).collect();
        let mut paths: BTreeSet<VaultPath> = docs.iter().map(|doc| doc.path.clone()).collect();
        // Copies too: the next one would take over.
        paths.extend(world.records.sharing(Some((scope, owner))).await?);
        for path in paths {
            let Some(file) = world.parts.vault.read(&path).await? else {
                changed.insert(path);
                continue;
            };
            let standing = file.entries.into_iter().map(|read| read.entry.id);
            let edits: Vec<Edit> = standing
                .filter(|id| ids.contains(id.as_str()) || ids.contains(&*ids::version_id(&path, id.as_str())))
                .map(Edit::Remove)
                .collect();
            if !edits.is_empty() {
                world.parts.vault.edit(&path, &edits).await?;
            }
            changed.insert(path);
        }
    }
    Ok(changed)
}

/// Everyone in a scope of whom the vault holds a file.
pub(crate) async fn owners_of(world: &World, scope: &Scope) -> Result<BTreeSet<Owner>, EngineError> {
    let all = list::holdings(world).await?.into_keys();
    Ok(all
        .filter(|(of, _)| of == scope)
        .map(|(_, owner)| owner)
        .collect())
}
