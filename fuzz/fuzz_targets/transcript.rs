//! Any text: it is read or refused; what is written, in its own dialect or from its blocks in any, is JSON; a repaired view is what a provider accepts.

#![no_main]

use std::collections::BTreeSet;
use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use serde_json::value::RawValue;
use transcript::dialect::{self, Dialect};
use transcript::{Item, order, repair};

const ALL: [Dialect; 5] = [
    Dialect::OpenAi,
    Dialect::OpenAiResponses,
    Dialect::Anthropic,
    Dialect::ClaudeCode,
    Dialect::Codex,
];

fuzz_target!(|text: &str| {
    let Ok(read) = dialect::read(text) else { return };
    for message in dialect::write(read.dialect, &read.items) {
        assert_json(&message);
    }
    let made = |item: &Item| Item::made(item.role, item.blocks.clone());
    let made: Vec<Item> = read.items.iter().map(made).collect();
    for to in ALL {
        let messages = dialect::write(to, &made).into_iter();
        messages
            .chain(dialect::system(to, &made))
            .for_each(|message| assert_json(&message));
    }
    let items: Vec<Arc<Item>> = read.items.into_iter().map(Arc::new).collect();
    let view = repair::for_view(&items, &BTreeSet::new()).unwrap_or(items);
    assert!(order::openai(&view));
    assert_eq!(
        repair::for_view(&view, &BTreeSet::new()),
        None,
        "repairing twice is repairing once"
    );
});

fn assert_json(text: &str) {
    assert!(serde_json::from_str::<&RawValue>(text).is_ok(), "no JSON: {text}");
}
