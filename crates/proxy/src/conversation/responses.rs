//! The conversation of each response, for clients that send only their new messages.
//!
//! Owns: the newest responses, in memory. After a restart, a client that does not name its conversation begins a new
//! one. Never: the messages (`conversation`).

use std::collections::{BTreeMap, VecDeque};

use prefix::Digest;
use prefix::chain::ConversationId;

use transcript::dialect::Dialect;

use crate::conversation::party::Party;

/// Maximum number of responses that a request can continue.
const RESPONSES_MAX: usize = 16_384;

/// The end of a response in its conversation.
#[derive(Debug, Clone)]
pub(crate) struct ResponsePlace {
    pub(crate) conversation: ConversationId,
    /// Hash of all messages up to it.
    pub(crate) hash: Digest,
}

/// Tenant, owner, the client's name of the conversation, the server's name of the response: no owner can continue
/// another owner's response.
type Key = [String; 4];

#[derive(Debug, Default)]
pub(crate) struct Responses {
    places: BTreeMap<Key, ResponsePlace>,
    /// Oldest first.
    order: VecDeque<Key>,
}

impl Responses {
    pub(crate) fn place(&self, party: &Party, id: &str) -> Option<ResponsePlace> {
        self.places.get(&key(party, id)).cloned()
    }

    /// Drops the oldest response if there are too many.
    pub(crate) fn learn(&mut self, party: &Party, id: &str, place: ResponsePlace) {
        let key = key(party, id);
        if self.places.insert(key.clone(), place).is_none() {
            self.order.push_back(key);
        }
        if self.order.len() > RESPONSES_MAX
            && let Some(oldest) = self.order.pop_front()
        {
            self.places.remove(&oldest);
        }
    }
}

fn key(party: &Party, id: &str) -> Key {
    let scope = party.chain_scope(Dialect::OpenAiResponses);
    let session = scope.session.unwrap_or_default();
    [&*scope.tenant, scope.owner, session, id].map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::super::party::tests::party;
    use super::*;

    #[test]
    fn the_newest_are_kept_each_for_its_owner() {
        let mut responses = Responses::default();
        let place = ResponsePlace {
            conversation: ConversationId("a".to_owned()),
            hash: Digest::of(b"a"),
        };
        let ann = party("ann");
        for at in 0..=RESPONSES_MAX {
            responses.learn(&ann, &at.to_string(), place.clone());
            responses.learn(&ann, &at.to_string(), place.clone());
        }
        assert!(responses.place(&ann, "0").is_none());
        assert!(responses.place(&ann, "1").is_some());
        assert!(responses.place(&party("bob"), "1").is_none());
    }
}
