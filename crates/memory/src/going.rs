//! Deletions under way, written down before they begin so that each one comes to its end.
//!
//! Owns: the note of them in the vault, and finishing what an error or a crash stopped. Never: what a deletion deletes.
//!
//! A deletion that ends late must not take what is new: until it is finished, nothing is stored that it could take.

use std::collections::BTreeSet;
use std::time::Duration;

use model::{EntryId, Name, Owner, OwnerKind, Scope, SessionId, SessionKey};
use parking_lot::Mutex;
use text::chain;
use tokio::sync::Notify;

use crate::api::{Add, Forget, Forgot, WordsTarget};
use crate::error::EngineError;
use crate::forget;
use crate::words::Words;
use crate::world::World;

/// How long to wait before a deletion that stopped midway is tried again.
const AGAIN: Duration = Duration::from_mins(1);

/// What is known of deletions that are not finished.
#[derive(Debug, Default)]
pub(crate) struct UnfinishedDeletions {
    /// One at a time changes the note.
    note: tokio::sync::Mutex<()>,
    /// Those that stopped midway.
    stopped: Mutex<Vec<Forget>>,
    news: Notify,
    /// One at a time finishes them.
    finishing: tokio::sync::Mutex<()>,
}

impl UnfinishedDeletions {
    fn stop(&self, forget: Forget) {
        self.stopped.lock().push(forget);
        self.news.notify_one();
    }

    fn next(&self, concerns: impl Fn(&Forget) -> bool) -> Option<Forget> {
        self.stopped
            .lock()
            .iter()
            .find(|forget| concerns(forget))
            .cloned()
    }
}

/// Whether a deletion that ends late could take a message of an add.
pub(crate) fn could_take(forget: &Forget, add: &Add) -> bool {
    let mut messages = add.messages.iter().map(|new| &new.message);
    let is_taken = match forget {
        Forget::Session(key) | Forget::OwnerInSession(key, _) => *key == add.session,
        Forget::Owner(_, owner) => messages.any(|message| message.sender == owner.id),
        Forget::Words(target) => Words::parse(&target.words).is_ok_and(|words| {
            messages.any(|message| {
                let speaker = message.sender_name.as_deref().unwrap_or_default();
                words.are_in([&*message.text(), message.sender.as_str(), speaker])
            })
        }),
        Forget::Entries(..) => false,
    };
    is_taken && *forget.scope() == add.session.scope
}

/// Reads what an earlier process left.
pub(crate) async fn begin(world: &World) -> Result<(), EngineError> {
    for line in world.parts.vault.going().await? {
        if let Some(forget) = forget_of(&line) {
            world.going.stop(forget);
        } else {
            tracing::warn!("a deletion that a newer quipu began is not finished: start that one");
        }
    }
    Ok(())
}

/// Deletes, with a note that stays until it is done or refused.
pub(crate) async fn whole(world: &World, forget: Forget) -> Result<Forgot, EngineError> {
    change(world, |note| note.push(line_of(&forget))).await?;
    let done = Box::pin(forget::once(world, forget.clone())).await;
    if matches!(done, Ok(_) | Err(EngineError::Invalid(_))) && strike(world, &forget).await.is_ok() {
        return done;
    }
    world.going.stop(forget);
    done
}

/// Finishes those of the deletions that stopped midway.
pub(crate) async fn finish(world: &World, concerns: impl Fn(&Forget) -> bool) -> Result<(), EngineError> {
    if world.going.next(&concerns).is_none() {
        return Ok(());
    }
    let _turn = world.going.finishing.lock().await;
    while let Some(forget) = world.going.next(&concerns) {
        match Box::pin(forget::once(world, forget.clone())).await {
            // What the first attempt removed is no longer found: the old history goes in any case.
            Ok(_) => drop(world.parts.vault.delete_old_history().await?),
            Err(EngineError::Invalid(_)) => {}
            Err(error) => return Err(error),
        }
        strike(world, &forget).await?;
        world.going.stopped.lock().retain(|one| *one != forget);
        tracing::info!("finished a deletion that had stopped midway");
    }
    Ok(())
}

/// The same, where an error is only noted.
pub(crate) async fn try_to_finish(world: &World) {
    if let Err(error) = finish(world, |_| true).await {
        tracing::warn!(
            error = chain(&error),
            "cannot finish a deletion yet; trying again in a minute"
        );
    }
}

/// Waits until it is time to try again.
pub(crate) async fn due(world: &World) {
    while world.going.next(|_| true).is_none() {
        world.going.news.notified().await;
    }
    world.parts.clock.sleep(AGAIN).await;
}

async fn strike(world: &World, forget: &Forget) -> Result<(), EngineError> {
    let line = line_of(forget);
    change(world, |note| note.retain(|one| *one != line)).await
}

async fn change(world: &World, change: impl FnOnce(&mut Vec<String>)) -> Result<(), EngineError> {
    let _turn = world.going.note.lock().await;
    let mut note = world.parts.vault.going().await?;
    change(&mut note);
    Ok(world.parts.vault.set_going(&note).await?)
}

/// A deletion as a line: its kind, then its fields, separated by tabs.
fn line_of(forget: &Forget) -> String {
    let scope = forget.scope();
    let mut fields = vec![scope.app.as_str().to_owned(), scope.project.as_str().to_owned()];
    let mut owned = |owner: &Owner| {
        let kind = KINDS.iter().find(|(kind, _)| *kind == owner.kind);
        let word = kind.map_or("", |(_, word)| *word);
        fields.extend([word.to_owned(), owner.id.to_string()]);
    };
    let (kind, rest) = match forget {
        Forget::Session(key) => ("session", vec![key.session.as_str().to_owned()]),
        Forget::Owner(_, owner) => {
            owned(owner);
            ("owner", Vec::new())
        }
        Forget::OwnerInSession(key, owner) => {
            owned(owner);
            ("part", vec![key.session.as_str().to_owned()])
        }
        Forget::Entries(_, owner, ids) => {
            owned(owner);
            ("entries", ids.iter().map(ToString::to_string).collect())
        }
        Forget::Words(target) => {
            owned(&target.owner);
            let mut rest = vec![target.words.clone(), target.keep.len().to_string()];
            rest.extend(target.keep.iter().chain(&target.also).cloned());
            ("words", rest)
        }
    };
    let fields = [kind.to_owned()].into_iter().chain(fields).chain(rest);
    let escaped = fields.map(|field| {
        ESCAPES
            .iter()
            .fold(field, |field, (plain, escaped)| field.replace(plain, escaped))
    });
    escaped.collect::<Vec<_>>().join("\t")
}

const KINDS: [(OwnerKind, &str); 3] = [
    (OwnerKind::User, "user"),
    (OwnerKind::Agent, "agent"),
    (OwnerKind::Library, "library"),
];

/// What a field of a line has in the place of these.
const ESCAPES: [(&str, &str); 4] = [("%", "%25"), ("\t", "%09"), ("\n", "%0A"), ("\r", "%0D")];

fn forget_of(line: &str) -> Option<Forget> {
    let fields = line.split('\t').map(|field| {
        let escapes = ESCAPES.iter().rev();
        escapes.fold(field.to_owned(), |field, (plain, escaped)| {
            field.replace(escaped, plain)
        })
    });
    let mut fields = fields.collect::<Vec<_>>().into_iter();
    let mut next = || fields.next();
    let kind = next()?;
    let mut name = || Name::parse(&next()?).ok();
    let scope = Scope::new(name()?, name()?);
    if kind == "session" {
        let session = SessionId::parse(&next()?).ok()?;
        return Some(Forget::Session(SessionKey { scope, session }));
    }
    let owner = Owner {
        kind: next()
            .and_then(|word| KINDS.iter().find(|(_, of)| *of == word))?
            .0,
        id: Name::parse(&next()?).ok()?,
    };
    Some(match &*kind {
        "owner" => Forget::Owner(scope, owner),
        "part" => {
            let session = SessionId::parse(&next()?).ok()?;
            Forget::OwnerInSession(SessionKey { scope, session }, owner)
        }
        "entries" => Forget::Entries(scope, owner, fields.map(EntryId::new).collect()),
        "words" => {
            let (words, kept) = (next()?, next()?.parse().ok()?);
            let keep: BTreeSet<String> = fields.by_ref().take(kept).collect();
            Forget::Words(WordsTarget {
                scope,
                owner,
                words,
                keep,
                also: fields.collect(),
            })
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
