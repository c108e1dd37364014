//! Texts that quote a conversation.
//!
//! Owns: recognising messages of an owner's newest conversations in a text. Never: the reaction.

use std::cmp::Reverse;
use std::sync::Arc;

use transcript::Role;

use super::{Shared, Store};
use crate::conversation::party::Party;
use crate::conversation::state::Conversation;

/// Maximum number of compared conversations, the last used ones.
const RECENT_MAX: usize = 16;
/// Maximum number of compared messages of each, the newest ones.
const NEWEST_MAX: usize = 64;
/// Number of characters of a message that are compared: clients shorten quotations.
const HEAD_CHARS: usize = 200;
/// Minimum bytes of a quotation from each side: people greet with the same words. Bytes, because a Chinese sentence has
/// a third of the characters.
const PROOF_BYTES: usize = 12;
/// Minimum bytes that make the user's newest message alone, in the conversation used last, a proof. A person may quote
/// an older one.
const PROOF_ALONE_BYTES: usize = 25;

impl Store {
    /// The frame of the owner's conversation that a request quotes, and whether the request's user text equals one of
    /// its messages. `all` is that text with the system text.
    pub async fn quoted(&self, party: &Party, user: &str, all: &str) -> Option<(String, bool)> {
        for (at, shared) in self.recent(party).into_iter().enumerate() {
            let conversation = shared.lock().await;
            if let Some(repeats) = quotes(&conversation, at == 0, user.trim(), all) {
                return Some((conversation.frame.clone(), repeats));
            }
        }
        None
    }

    /// Whether a text quotes both sides of one of the owner's conversations other than `own`.
    pub async fn quotes_both(&self, party: &Party, own: &Shared, all: &str) -> bool {
        let others = self
            .recent(party)
            .into_iter()
            .filter(|shared| !Arc::ptr_eq(shared, own));
        for shared in others {
            if has_both(&newest_texts(&*shared.lock().await), all) {
                return true;
            }
        }
        false
    }

    /// The owner's conversations, last used first.
    fn recent(&self, party: &Party) -> Vec<Shared> {
        let held = self.held.lock();
        let own = held
            .known
            .values()
            .filter(|known| known.party.scope == party.scope && known.party.owner == party.owner);
        let mut recent: Vec<(u64, Shared)> = own
            .filter_map(|known| Some((known.used, known.conversation.clone()?)))
            .collect();
        recent.sort_unstable_by_key(|(used, _)| Reverse(*used));
        let recent = recent.into_iter().take(RECENT_MAX);
        recent.map(|(_, shared)| shared).collect()
    }
}

/// The newest texts of a conversation, newest first.
fn newest_texts(conversation: &Conversation) -> Vec<(Role, String)> {
    let newest = conversation.shadow.entries().iter().rev().take(NEWEST_MAX);
    let said = newest.map(|entry| {
        let item = Conversation::read(&entry.bytes);
        (item.role, item.prose().trim().to_owned())
    });
    said.filter(|(_, said)| !said.is_empty()).collect()
}

fn is_quoted(said: &str, bytes: usize, all: &str) -> bool {
    let head = model::head(said, HEAD_CHARS);
    head.len() >= bytes && all.contains(head)
}

fn has_both(texts: &[(Role, String)], all: &str) -> bool {
    let of = |role: Role| texts.iter().filter(move |(by, _)| *by == role);
    [Role::User, Role::Assistant]
        .into_iter()
        .all(|role| of(role).any(|(_, said)| is_quoted(said, PROOF_BYTES, all)))
}

/// Whether the texts quote the conversation; the inner value is true if the user's text equals one of its messages.
fn quotes(conversation: &Conversation, is_newest: bool, user: &str, all: &str) -> Option<bool> {
    let texts = newest_texts(conversation);
    let repeats = texts.iter().any(|(_, said)| said == user);
    let is_about = || {
        let last = texts.iter().find(|(by, _)| *by == Role::User);
        is_newest && last.is_some_and(|(_, said)| is_quoted(said, PROOF_ALONE_BYTES, all))
    };
    (repeats || has_both(&texts, all) || is_about()).then_some(repeats)
}
