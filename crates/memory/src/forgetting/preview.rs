//! What a deletion would do, before it does it.
//!
//! Owns: the memories that would go, and a person's words that would stay with others. Never: deleting; `forget` decides
//! again when it does.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::{Doc, DocKind, EntryKind, Message, MessageId, Owner, OwnerKind, SessionId};

use crate::api::{Doomed, Forget, Staying, WordsTarget};
use crate::base::Base;
use crate::derived;
use crate::error::EngineError;
use crate::files::pages;
use crate::forgetting::{by_words, forget};
use crate::words::Words;

/// Looks at every owner of the tenant: those whose memory the deletion concerns, then all others.
pub(crate) async fn preview(base: &Base, forget: &Forget) -> Result<Doomed, EngineError> {
    base.accepting()?;
    let mut doomed = Doomed::default();
    if let Forget::Words(target) = forget {
        doomed = by_words(base, target).await?;
    }
    let mut others = Vec::new();
    for owner in forget::owners_of(base, forget.scope()).await? {
        let rows = base.corpora.kept(forget.scope(), &owner, |_| true).await?;
        if !concerns(forget, &owner) {
            others.push((owner, rows));
        } else if !matches!(forget, Forget::Words(_)) {
            let (named, entries, turns) = going(&rows, |doc| is_told(forget, doc));
            if matches!(forget, Forget::Entries(..)) {
                doomed.own_stays.extend(cited(&rows, &entries[..named], &turns));
            }
            let gone: BTreeSet<&str> = entries.iter().map(|doc| &*doc.key.id).collect();
            let rows: Vec<&Doc> = rows.iter().map(|doc| &**doc).collect();
            let lines = pages::going(base, (forget.scope(), &owner), &rows, &gone, None).await?;
            doomed.lines.extend(lines);
            // Those named by a request come before all that goes with them.
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

/// What stays with other users, and what goes of agents.
fn look_at_others(forget: &Forget, others: &[(Owner, Vec<Arc<Doc>>)], doomed: &mut Doomed) {
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

/// What a deletion by words would do in the memory of its owner.
async fn by_words(base: &Base, target: &WordsTarget) -> Result<Doomed, EngineError> {
    let words = Words::parse(&target.words)?;
    let owned = by_words::owned(base, target, &words).await?;
    let plan = by_words::plan(&owned, &words, target, &base.settings.zone);
    let rows: Vec<&Doc> = plan.rows.iter().collect();
    let mut gone: BTreeSet<&str> = plan.told.iter().map(String::as_str).collect();
    let mut following = derived::going_with(&rows, &gone);
    following.retain(|doc| !gone.contains(&*doc.key.id));
    let is_told_entry = |doc: &&Doc| doc.kind != DocKind::Turn && plan.told.contains(&*doc.key.id);
    let mut told: Vec<&Doc> = plan.rows.iter().filter(is_told_entry).collect();
    told.sort_by_key(|doc| doc.time);
    gone.extend(following.iter().map(|doc| &*doc.key.id));
    let whose = (&target.scope, &target.owner);
    let arc = |doc: &Doc| Arc::new(doc.clone());
    let turn = |message: &Message| Arc::new(Doc::of_message(message, &target.owner));
    let beside = by_words::beside(&owned, &plan, &words, &target.owner);
    let rewritten = plan.rewritten.iter();
    let mut lines = pages::going(base, whose, &rows, &gone, Some(&words)).await?;
    let titles = forget::titles(base, &owned, &words).await?;
    lines.extend(titles.into_iter().map(|(_, title)| title));
    Ok(Doomed {
        named: told.len(),
        entries: told
            .into_iter()
            .chain(following.iter().copied())
            .map(arc)
            .collect(),
        lines,
        messages: plan.messages.iter().map(turn).collect(),
        beside: beside.into_iter().map(turn).collect(),
        rewritten: rewritten
            .filter(|(_, entry)| entry.kind == EntryKind::Episode)
            .flat_map(|(path, entry)| Doc::of_entry(entry, path).into_iter().take(1))
            .map(Arc::new)
            .collect(),
        ..Doomed::default()
    })
}

/// The messages of entries that go, which do not go themselves.
fn cited(rows: &[Arc<Doc>], entries: &[Arc<Doc>], turns: &[Arc<Doc>]) -> Vec<Arc<Doc>> {
    let going: BTreeSet<&str> = turns.iter().map(|turn| &*turn.key.id).collect();
    let sources: BTreeSet<&str> = entries
        .iter()
        .flat_map(|doc| &doc.sources)
        .map(MessageId::as_str)
        .collect();
    let stays = |doc: &&Arc<Doc>| {
        doc.kind == DocKind::Turn && sources.contains(&*doc.key.id) && !going.contains(&*doc.key.id)
    };
    let mut cited: Vec<Arc<Doc>> = rows.iter().filter(stays).cloned().collect();
    cited.sort_by(|a, b| (a.time, &a.key.id).cmp(&(b.time, &b.key.id)));
    // A merged episode repeats the messages of its parts.
    cited.dedup_by(|a, b| a.key.id == b.key.id);
    cited
}

/// Whether memory of this owner is the deletion's target.
fn concerns(forget: &Forget, owner: &Owner) -> bool {
    match forget {
        Forget::Session(_) => owner.kind != OwnerKind::Library,
        Forget::Owner(_, target) | Forget::OwnerInSession(_, target) | Forget::Entries(_, target, _) => {
            owner == target
        }
        Forget::Words(target) => *owner == target.owner,
    }
}

fn is_told(forget: &Forget, doc: &Doc) -> bool {
    match forget {
        Forget::Owner(..) => true,
        Forget::Session(session) | Forget::OwnerInSession(session, _) => {
            doc.session.as_ref() == Some(&session.session)
        }
        Forget::Entries(_, _, ids) => ids.iter().any(|id| id.as_str() == &*doc.key.id),
        Forget::Words(_) => false,
    }
}

/// The number of entries that are told, then these and the entries that go with them, and the messages of the episodes
/// among them.
fn going(rows: &[Arc<Doc>], is_told: impl Fn(&Doc) -> bool) -> (usize, Vec<Arc<Doc>>, Vec<Arc<Doc>>) {
    let entries: Vec<&Doc> = rows
        .iter()
        .map(|doc| &**doc)
        .filter(|doc| doc.kind != DocKind::Turn)
        .collect();
    let mut ids: BTreeSet<&str> = entries
        .iter()
        .filter(|doc| is_told(doc))
        .map(|doc| &*doc.key.id)
        .collect();
    let told = ids.clone();
    ids.extend(
        derived::going_with(&entries, &told)
            .iter()
            .map(|doc| &*doc.key.id),
    );
    let goes = |doc: &&Arc<Doc>| match doc.kind {
        DocKind::Entry(_) => ids.contains(&*doc.key.id),
        DocKind::Turn => match &doc.parent {
            Some(episode) => ids.contains(episode.id.as_str()),
            None => is_told(doc),
        },
    };
    let (turns, mut entries): (Vec<Arc<Doc>>, Vec<Arc<Doc>>) = rows
        .iter()
        .filter(goes)
        .cloned()
        .partition(|doc| doc.kind == DocKind::Turn);
    entries.sort_by_key(|doc| (!told.contains(&*doc.key.id), doc.time));
    (told.len(), entries, turns)
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
