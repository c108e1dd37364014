//! Preview: the result that a deletion would have.
//!
//! Owns: the memories to delete, and a person's messages that would stay with others. Never: deleting, or deciding what
//! to delete (`DeletionPlan` does).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::{Doc, DocKind, EntryKind, Message, MessageId, Owner, OwnerKind, SessionId};

use super::{by_words, forget};
use crate::api::{DeletionPreview, Forget, Staying, WordsTarget};
use crate::base::Base;
use crate::derived::DeletionPlan;
use crate::error::EngineError;
use crate::files::pages;
use crate::words::Words;

/// Looks at every owner of the tenant: those whose memory the deletion concerns, then all others.
pub(crate) async fn preview(base: &Base, forget: &Forget) -> Result<DeletionPreview, EngineError> {
    base.accepting()?;
    let mut doomed = DeletionPreview::default();
    if let Forget::Words(target) = forget {
        doomed = by_words(base, target).await?;
    }
    let mut others = Vec::new();
    for owner in forget::owners_of(base, forget.scope()).await? {
        let rows = base.corpora.all(forget.scope(), &owner).await?;
        if !forget.concerns(&owner) {
            others.push((owner, rows));
        } else if !matches!(forget, Forget::Words(_)) {
            let (named, entries, turns) = going(&rows, |doc| forget.names(doc));
            if matches!(forget, Forget::Entries(..)) {
                doomed.own_stays.extend(cited(&rows, &entries[..named], &turns));
            }
            let gone: BTreeSet<&str> = entries.iter().map(|doc| &*doc.key.id).collect();
            let rows: Vec<&Doc> = rows.iter().map(|doc| &**doc).collect();
            let lines = pages::going(base, (forget.scope(), &owner), &rows, &gone, None).await?;
            doomed.lines.extend(lines);
            // The targets of the request come before the entries that go with them.
            doomed
                .entries
                .splice(doomed.named..doomed.named, entries[..named].iter().cloned());
            doomed.entries.extend_from_slice(&entries[named..]);
            doomed.named += named;
            doomed.messages.extend(turns);
        }
    }
    doomed
        .messages
        .sort_by(|a, b| (a.time, &a.key.id).cmp(&(b.time, &b.key.id)));
    look_at_others(forget, &others, &mut doomed);
    Ok(doomed)
}

/// Adds the messages that stay with other users, and the entries to delete of agents.
fn look_at_others(forget: &Forget, others: &[(Owner, Vec<Arc<Doc>>)], doomed: &mut DeletionPreview) {
    let said: BTreeSet<Arc<str>> = doomed.messages.iter().map(|turn| turn.key.id.clone()).collect();
    let mut kept = BTreeSet::new();
    for (owner, rows) in others.iter().filter(|(owner, _)| owner.kind == OwnerKind::User) {
        let stays = |doc: &&Arc<Doc>| {
            doc.kind == DocKind::Turn
                && match forget {
                    Forget::Session(_) => false,
                    Forget::Owner(_, person) => doc.senders.contains(&person.id),
                    Forget::OwnerInSession(session, person) => {
                        doc.session.as_ref() == Some(&session.session) && doc.senders.contains(&person.id)
                    }
                    Forget::Entries(..) | Forget::Words(_) => said.contains(&doc.key.id),
                }
        };
        let words: Vec<Arc<Doc>> = rows.iter().filter(stays).cloned().collect();
        kept.extend(words.iter().map(|word| word.key.id.clone()));
        doomed.stays.extend(by_session(owner, words));
    }
    for (_, rows) in others.iter().filter(|(owner, _)| owner.kind == OwnerKind::Agent) {
        let is_gone = |source: &str| said.contains(source) && !kept.contains(source);
        let (_, entries, _) = going(rows, |doc| {
            doc.kind == DocKind::Entry(EntryKind::Case)
                && match forget {
                    Forget::Owner(_, person) => doc.senders.contains(&person.id),
                    _ => doc.sources.iter().any(|source| is_gone(source.as_str())),
                }
        });
        doomed.entries.extend(entries);
    }
}

/// The preview of a deletion by words, in the memory of its owner.
async fn by_words(base: &Base, target: &WordsTarget) -> Result<DeletionPreview, EngineError> {
    let words = Words::parse(&target.words)?;
    let owned = by_words::owned(base, target, &words).await?;
    let plan = by_words::plan(&owned, &words, target, &base.settings.zone);
    let rows: Vec<&Doc> = plan.rows.iter().collect();
    let DeletionPlan {
        mut named,
        mut following,
        gone,
    } = plan.deletion(&rows);
    following.retain(|doc| named.iter().all(|one| one.key != doc.key));
    named.retain(|doc| doc.kind != DocKind::Turn);
    named.sort_by_key(|doc| doc.time);
    let whose = (&target.scope, &target.owner);
    let arc = |doc: &Doc| Arc::new(doc.clone());
    let turn = |message: &Message| Arc::new(Doc::of_message(message, &target.owner));
    let beside = by_words::nearby(&owned, &plan, &words, &target.owner);
    let rewritten = plan.rewritten.iter();
    let mut lines = pages::going(base, whose, &rows, &gone, Some(&words)).await?;
    let titles = forget::titles(base, &owned, &words).await?;
    lines.extend(titles.into_iter().map(|(_, title)| title));
    Ok(DeletionPreview {
        named: named.len(),
        entries: named.into_iter().chain(following).map(arc).collect(),
        lines,
        messages: plan.messages.iter().map(turn).collect(),
        beside: beside.into_iter().map(turn).collect(),
        rewritten: rewritten
            .filter(|(_, entry)| entry.kind == EntryKind::Episode)
            .flat_map(|(path, entry)| Doc::of_entry(entry, path).into_iter().take(1))
            .map(Arc::new)
            .collect(),
        ..DeletionPreview::default()
    })
}

/// The messages of deleted entries that stay.
fn cited(rows: &[Arc<Doc>], entries: &[Arc<Doc>], turns: &[Arc<Doc>]) -> Vec<Arc<Doc>> {
    let going: BTreeSet<&str> = turns.iter().map(|turn| &*turn.key.id).collect();
    let sources = entries.iter().flat_map(|doc| &doc.sources).map(MessageId::as_str);
    let sources: BTreeSet<&str> = sources.collect();
    let stays = |doc: &&Arc<Doc>| {
        doc.kind == DocKind::Turn && sources.contains(&*doc.key.id) && !going.contains(&*doc.key.id)
    };
    let mut cited: Vec<Arc<Doc>> = rows.iter().filter(stays).cloned().collect();
    cited.sort_by(|a, b| (a.time, &a.key.id).cmp(&(b.time, &b.key.id)));
    // A merged episode repeats the messages of its parts.
    cited.dedup_by(|a, b| a.key.id == b.key.id);
    cited
}

/// The number of targets, the entries to delete, targets first, and the messages of the episodes among them.
fn going(rows: &[Arc<Doc>], is_named: impl Fn(&Doc) -> bool) -> (usize, Vec<Arc<Doc>>, Vec<Arc<Doc>>) {
    let entries = rows.iter().map(|doc| &**doc);
    let entries: Vec<&Doc> = entries.filter(|doc| doc.kind != DocKind::Turn).collect();
    let named = entries.iter().copied().filter(|doc| is_named(doc)).collect();
    let DeletionPlan { named, gone, .. } = DeletionPlan::of(&entries, named);
    let goes = |doc: &&Arc<Doc>| match (doc.kind, &doc.parent) {
        (DocKind::Entry(_), _) => gone.contains(&*doc.key.id),
        (DocKind::Turn, Some(episode)) => gone.contains(episode.id.as_str()),
        (DocKind::Turn, None) => is_named(doc),
    };
    let going = rows.iter().filter(goes).cloned();
    let (turns, mut entries): (Vec<Arc<Doc>>, Vec<Arc<Doc>>) =
        going.partition(|doc| doc.kind == DocKind::Turn);
    entries.sort_by_key(|doc| (!is_named(doc), doc.time));
    (named.len(), entries, turns)
}

fn by_session(owner: &Owner, words: Vec<Arc<Doc>>) -> Vec<Staying> {
    let mut sessions: BTreeMap<Option<SessionId>, Vec<Arc<Doc>>> = BTreeMap::new();
    for word in words {
        sessions.entry(word.session.clone()).or_default().push(word);
    }
    let staying = sessions.into_iter().map(|(session, mut messages)| {
        messages.sort_by_key(|message| message.time);
        Staying {
            owner: owner.clone(),
            session,
            messages,
        }
    });
    staying.collect()
}
