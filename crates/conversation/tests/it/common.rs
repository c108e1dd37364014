//! A conversation to begin with.

use std::sync::Arc;

use context::policy::Policy;
use context::tokens::Meter;
use conversation::{ContextEngine, Conversation, Opening, TurnMeta};
use model::{Owner, OwnerKind, SessionKey};
use testkit::clock::ManualClock;
use testkit::ledger::{MemoryLedger, samples};
use transcript::{Item, Role};

pub(crate) fn user(text: &str) -> Item {
    Item::text(Role::User, text)
}

pub(crate) fn reply(text: &str) -> Item {
    Item::text(Role::Assistant, text)
}

pub(crate) fn opening(store: &Arc<MemoryLedger>, engine: Arc<dyn ContextEngine>) -> Opening {
    Opening {
        store: Arc::<MemoryLedger>::clone(store),
        clock: Arc::new(ManualClock::new()),
        chat: None,
        engine,
        keeping: None,
        policy: Policy::quipu(),
        meter: Meter::estimate(),
    }
}

pub(crate) fn key(name: &str) -> SessionKey {
    samples::session("app", name)
}

pub(crate) fn owner() -> Owner {
    Owner {
        kind: OwnerKind::User,
        id: samples::name("ann"),
    }
}

pub(crate) async fn open(opening: Opening) -> Conversation {
    Conversation::open(opening, key("talk"), owner()).await.unwrap()
}

/// A talk of so many turns, each of about 60 tokens.
pub(crate) async fn talk(conversation: &Conversation, turns: usize) {
    for turn in 0..turns {
        let ask = format!(
            "Question {turn}: {}",
            "what about the importer and its retries? ".repeat(4)
        );
        conversation
            .ingest(vec![user(&ask)], &TurnMeta::default())
            .await
            .unwrap();
        conversation
            .after_turn(reply(&format!(
                "Answer {turn}. {}",
                "It retries twice. ".repeat(4)
            )))
            .await
            .unwrap();
    }
}

pub(crate) async fn shown(conversation: &Conversation) -> Vec<Arc<Item>> {
    conversation.inspect(context::session::Session::shown).await
}
