//! Conversations on fakes, for the tests of this crate.
//!
//! Owns: the test's user, and the way to assemble a request. Never: the expected results.

use std::sync::Arc;

use async_trait::async_trait;
use context::guard::WindowSource;
use context::policy::Policy;
use context::tokens::Meter;
use model::{Name, Owner, Scope, SessionId, Timestamp};
use prefix::compose::{self, Replay, SystemPlace};
use prefix::fragment::{Draft, Visible};
use serde_json::json;
use testkit::clock::ManualClock;
use testkit::ledger::MemoryLedger;
use transcript::dialect::Dialect;

use crate::conversation::contexts::{Contexts, ContextsParts};
use crate::conversation::decide::{Additions, Asked, Decided};
use crate::conversation::party::Party;
use crate::conversation::state::Conversation;

/// Adds nothing to a request.
struct Nothing;

#[async_trait]
impl Additions for Nothing {
    async fn instructions(&self) -> String {
        String::new()
    }

    async fn draft(&self, _: &Conversation, _: &str, _: &Visible) -> Option<Draft> {
        None
    }
}

pub(crate) fn parts() -> ContextsParts {
    let (ledger, clock) = (Arc::<MemoryLedger>::default(), Arc::<ManualClock>::default());
    ContextsParts::plain(ledger, Policy::quipu(), clock)
}

/// ann's conversation with this name.
pub(crate) fn party(name: &str) -> Party {
    Party {
        scope: Scope::default(),
        owner: Owner::user(Name::parse("ann").expect("a name")),
        conversation: Some(SessionId::new(name)),
        family: None,
    }
}

pub(crate) fn chat_message(role: &str, text: &str) -> String {
    json!({"role": role, "content": text}).to_string()
}

/// The next request, in a window of this many tokens.
pub(crate) async fn assembled(contexts: &Contexts, party: &Party, window: usize) -> Decided {
    let asked = Asked {
        dialect: Dialect::OpenAi,
        request: compose::Request {
            model: "tiny",
            system: SystemPlace::Field(None),
            tools: &[],
            messages: &[],
            front: 0,
        },
        replay: Replay::Frozen,
        counts_for: "tiny",
        meter: &Meter::estimate(),
        window,
        window_source: WindowSource::Session,
        reserve: 0,
        injected: 0,
        tools: "",
        is_held: false,
        is_cold: false,
        overflow: None,
        learns: false,
        now: Timestamp::from_millis(0),
    };
    contexts.assemble(party, &asked, &Nothing).await.expect("it fits")
}
