//! Deletions in progress, noted on disk before they begin so that each one is finished.
//!
//! Owns: the note in the vault, and the list of stopped deletions. Never: deleting.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use model::{EntryId, Name, Owner, OwnerKind, Scope, SessionId, SessionKey};
use parking_lot::Mutex;
use ports::{Clock, Vault, VaultError};
use tokio::sync::Notify;

use crate::api::{Add, Forget, WordsTarget};
use crate::words::Words;

/// How long to wait before a deletion that stopped midway is tried again.
const AGAIN: Duration = Duration::from_mins(1);

/// Unfinished deletions.
#[derive(Debug)]
pub(crate) struct UnfinishedDeletions {
    vault: Arc<dyn Vault>,
    /// Lock of the note: one change at a time.
    note: tokio::sync::Mutex<()>,
    /// Deletions that stopped midway.
    stopped: Mutex<Vec<Forget>>,
    news: Notify,
    /// Lock of finishing: one task at a time.
    pub(super) finishing: tokio::sync::Mutex<()>,
}

impl UnfinishedDeletions {
    pub(super) fn new(vault: Arc<dyn Vault>) -> Self {
        Self {
            vault,
            note: tokio::sync::Mutex::default(),
            stopped: Mutex::default(),
            news: Notify::new(),
            finishing: tokio::sync::Mutex::default(),
        }
    }

    pub(super) fn stop(&self, forget: Forget) {
        self.stopped.lock().push(forget);
        self.news.notify_one();
    }

    pub(super) fn is_finished(&self, forget: &Forget) {
        self.stopped.lock().retain(|one| one != forget);
    }

    pub(super) fn next(&self, concerns: impl Fn(&Forget) -> bool) -> Option<Forget> {
        let stopped = self.stopped.lock();
        stopped.iter().find(|forget| concerns(forget)).cloned()
    }

    /// Reads the note of an earlier process.
    pub(crate) async fn begin(&self) -> Result<(), VaultError> {
        for line in self.vault.going().await? {
            if let Some(forget) = forget_of(&line) {
                self.stop(forget);
            } else {
                tracing::warn!("a deletion that a newer quipu began is not finished: start that one");
            }
        }
        Ok(())
    }

    /// Waits until it is time to try again.
    pub(crate) async fn due(&self, clock: &dyn Clock) {
        while self.next(|_| true).is_none() {
            self.news.notified().await;
        }
        clock.sleep(AGAIN).await;
    }

    /// Notes a deletion that begins.
    pub(super) async fn write(&self, forget: &Forget) -> Result<(), VaultError> {
        self.change(|note| note.push(line_of(forget))).await
    }

    /// Removes a deletion from the note.
    pub(super) async fn strike(&self, forget: &Forget) -> Result<(), VaultError> {
        let line = line_of(forget);
        self.change(|note| note.retain(|one| *one != line)).await
    }

    async fn change(&self, change: impl FnOnce(&mut Vec<String>)) -> Result<(), VaultError> {
        let _turn = self.note.lock().await;
        let mut note = self.vault.going().await?;
        change(&mut note);
        self.vault.set_going(&note).await
    }
}

/// Whether an unfinished deletion could delete a message of an add.
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

/// A deletion as a line: its kind, then its fields, separated by tabs.
fn line_of(forget: &Forget) -> String {
    let (kind, rest) = match forget {
        Forget::Session(key) => ("session", vec![key.session.to_string()]),
        Forget::Owner(..) => ("owner", Vec::new()),
        Forget::OwnerInSession(key, _) => ("part", vec![key.session.to_string()]),
        Forget::Entries(_, _, ids) => ("entries", ids.iter().map(ToString::to_string).collect()),
        Forget::Words(target) => {
            let mut rest = vec![target.words.clone(), target.keep.len().to_string()];
            rest.extend(target.keep.iter().chain(&target.also).cloned());
            ("words", rest)
        }
    };
    let Scope { app, project } = forget.scope();
    let owner = forget.owner().into_iter();
    let owner = owner.flat_map(|owner| [owner.kind.as_str(), owner.id.as_str()]);
    let fields = [kind, app.as_str(), project.as_str()].into_iter().chain(owner);
    let fields = fields.map(str::to_owned).chain(rest);
    let escaped = fields.map(|field| {
        ESCAPES
            .iter()
            .fold(field, |field, (plain, escaped)| field.replace(plain, escaped))
    });
    escaped.collect::<Vec<_>>().join("\t")
}

/// Escapes of these characters in a field of a line.
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
        kind: OwnerKind::parse(&next()?)?,
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
