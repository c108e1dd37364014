//! Keeping facts from a stretch that is about to leave the view.
//!
//! Owns: asking a model or the rules, and having the answer written. Invariant: a failure here holds up no compaction.
//! Never: which facts (`context::flush`, `context::memories`), where the file is.

use std::sync::Arc;

use context::flush::{Destination, FlushAnswer, FlushReport, FlushWork, Policy, finish};
use context::memories;
use model::{Timestamp, Zone};
use parking_lot::Mutex;
use ports::{Chat, ChatRequest};
use transcript::{Item, ItemId};

use crate::whose::Whose;

/// Maximum tokens of an answer.
const ANSWER_TOKENS_MAX: u32 = 1_024;
/// Memories that the rules take from one stretch.
const MEMORIES_MAX: usize = 20;

/// The destination of an owner's facts.
pub type PlaceOf = dyn Fn(&Whose) -> Box<dyn Destination> + Send;

/// Where facts go, and by which policy.
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

/// The work to keep facts of a stretch, and the key under which it runs once; none if it is too short.
pub(crate) fn work(keeping: &Keeping, span: &[(ItemId, &Item)]) -> Option<Work> {
    let asked = FlushWork::of(span, &keeping.policy)?;
    let told = memories::best(memories::extract(span), MEMORIES_MAX);
    let bullets = told
        .iter()
        .map(|memory| format!("- {} {}", memory.text, memories::TAGS));
    let bullets: Vec<String> = bullets.collect();
    Some(Work {
        asked,
        bullets: bullets.join("\n"),
    })
}

/// One stretch to be kept.
#[derive(Debug)]
pub(crate) struct Work {
    asked: FlushWork,
    /// Facts found by rules.
    bullets: String,
}

impl Work {
    pub(crate) fn key(&self) -> &str {
        &self.asked.key
    }

    /// The answer of a model, or the facts that rules found.
    pub(crate) async fn answer(&self, chat: Option<&dyn Chat>) -> Option<String> {
        match chat {
            Some(chat) => ask(chat, &self.asked).await,
            None => Some(self.bullets.clone()),
        }
    }
}

impl Keeping {
    /// Writes an answer down.
    pub(crate) async fn keep(&self, answer: Option<String>, whose: &Whose, now: Timestamp) -> FlushReport {
        let date = Zone::utc().date(now).to_string();
        let (keeping, whose) = (self.clone(), whose.clone());
        let write = move || {
            let place_of = keeping.place_of.lock();
            let mut place = place_of(&whose);
            let answer = answer.as_deref().map_or(FlushAnswer::Failed, FlushAnswer::Whole);
            finish(answer, &date, &keeping.policy, &mut *place)
        };
        tokio::task::spawn_blocking(write).await.unwrap_or_else(|error| {
            tracing::error!(%error, "a flush panicked");
            FlushReport::nothing(context::flush::Unflushed::Failed)
        })
    }
}

async fn ask(chat: &dyn Chat, work: &FlushWork) -> Option<String> {
    let request = ChatRequest::new(work.system, work.user.as_str(), ANSWER_TOKENS_MAX);
    match chat.complete(request).await {
        Ok(reply) => Some(reply.content),
        Err(error) => {
            tracing::warn!(%error, "chat model unavailable; compacted messages yield no facts");
            None
        }
    }
}
