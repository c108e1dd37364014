//! What code-buddy's own tests pin of its bootstrap loader, flusher, variator, scorer, chunker, summariser, fallback ladder and legacy compaction.
//!
//! Owns: one test for each pinned behaviour, named after its number in the requirements. Never: what is ours.

mod bootstrap;
mod chunker;
mod fallback;
mod flush;
mod legacy;
mod scorer;
mod summarizer;
mod variator;

use context::tokens::Meter;
use transcript::{Block, Call, Item, Role};

fn meter() -> Meter {
    Meter::estimate()
}

fn user(text: impl Into<String>) -> Item {
    Item::text(Role::User, text)
}

fn assistant(text: impl Into<String>) -> Item {
    Item::text(Role::Assistant, text)
}

fn system(text: impl Into<String>) -> Item {
    Item::text(Role::System, text)
}

fn call(id: &str) -> Item {
    let call = Call {
        id: id.to_owned(),
        name: "bash".to_owned(),
        arguments: "{}".to_owned(),
    };
    Item {
        role: Role::Assistant,
        blocks: vec![Block::Call(call)],
        raw: None,
        edited: false,
    }
}

fn weight(items: &[Item]) -> usize {
    items.iter().map(|item| meter().item(item)).sum()
}
