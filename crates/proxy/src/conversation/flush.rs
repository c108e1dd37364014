//! Storing facts of messages that are about to leave the view.
//!
//! Owns: asking a model, and having an answer written. Invariant: a failure here delays no compaction. Never: choosing
//! facts (`context::flush`), the path of the file.

use std::sync::Arc;

use context::flush::{Destination, FlushWork, Policy, Unflushed, finish};
use model::{Timestamp, Zone, warned};
use parking_lot::Mutex;
use ports::{Chat, ChatRequest};

use crate::conversation::party::Party;

/// Maximum tokens of an answer.
const ANSWER_TOKENS_MAX: u32 = 1_024;

/// The destination of an owner's facts.
pub type PlaceOf = dyn Fn(&Party) -> Box<dyn Destination> + Send;

/// The destination and the policy of facts.
#[derive(Clone)]
pub struct Keeping {
    pub policy: Policy,
    /// The lock lets one flush write at a time.
    pub place_of: Arc<Mutex<PlaceOf>>,
}

impl std::fmt::Debug for Keeping {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Keeping")
            .field("policy", &self.policy)
            .finish_non_exhaustive()
    }
}

impl Keeping {
    /// Writes an answer to the destination, and returns the number of its facts.
    pub(crate) async fn keep(
        &self,
        answer: Option<String>,
        party: &Party,
        now: Timestamp,
    ) -> Result<usize, Unflushed> {
        let date = Zone::utc().date(now).to_string();
        let (keeping, party) = (self.clone(), party.clone());
        let write = move || {
            let place_of = keeping.place_of.lock();
            let mut place = place_of(&party);
            finish(answer.as_deref(), &date, &keeping.policy, &mut *place)
        };
        tokio::task::spawn_blocking(write).await.unwrap_or_else(|error| {
            tracing::error!(%error, "a flush panicked");
            Err(Unflushed::Failed)
        })
    }
}

/// The answer of a model; none if it failed.
pub(crate) async fn ask(chat: &dyn Chat, work: &FlushWork) -> Option<String> {
    let request = ChatRequest::new(work.system, work.user.as_str(), ANSWER_TOKENS_MAX);
    let reply = chat.complete(request).await;
    let reply = warned!(reply, "chat model unavailable; compacted messages yield no facts")?;
    Some(reply.content)
}
