//! The behaviour that code-buddy's own tests pin in its bootstrap loader, flusher, scorer, chunker, summariser and
//! fallback ladder.
//!
//! Owns: one test for each pinned behaviour, named after its number in the requirements. Never: our own behaviour.

mod bootstrap;
mod chunker;
mod fallback;
mod first_lines;
mod flush;
mod manager;
mod scorer;
mod summarizer;

use context::tokens::Meter;
use transcript::{Item, Role};

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
