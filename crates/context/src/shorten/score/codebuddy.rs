//! Kind of an item by code-buddy's rules: English words and shapes of lines.
//!
//! Owns: the order of its tests. Never: a score. Left out are its tests that take every "yes" for a decision, every
//! indented line for code and "0 errors" for an error.

use std::sync::LazyLock;

use regex::Regex;
use transcript::{Item, Role};

use super::ItemKind;

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the pattern is a constant that a test compiles")
}

// Word boundaries are ASCII, as in JavaScript.
static CODE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?m)```|^\s*(?:export |async |pub )*(?:function|const|let|var|class|interface|import|def|fn|struct|enum)\s+[\w{*]",
    )
});
static ERROR: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?im)^\s*(?:\w*error|\w*exception|failed|fatal)\s*:|(?-u:\b)(?:unhandled|uncaught)\s+(?:exception|error|rejection)|(?-u:\b)stack trace(?-u:\b)|^traceback |\[error\]",
    )
});
static DECISION: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)(?-u:\b)(?:decided (?:to|on|that)|decision:|will use|we'll use|going with|chose to|agreed (?:to|on)|approved)(?-u:\b)",
    )
});
static FILE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?m)^(?:\+\+\+|---) \S|^@@ |^diff --git |^\+\+\+$"));
static COMMAND: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?im)^\s*\$ \S|(?-u:\b)run(?:ning)?:? `?(?:git|npm|yarn|pnpm|cargo|make|docker|python|node|pip)(?-u:\b)|^(?:git|npm|yarn|pnpm|cargo|make|docker|pip) \w",
    )
});
static FAILURE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"(?i)"?success"?\s*:\s*false|(?-u:\b)error[^:\n]{0,40}:|^\s*(?:error|failed):|\[error\]|failed\s+(?:\w+\s+){0,3}(?:tool|command|execution)"#,
    )
});

/// Whether the text of a result reports a failed call.
pub(crate) fn failed(text: &str) -> bool {
    FAILURE.is_match(text)
}

pub(super) fn kind(item: &Item, text: &str) -> ItemKind {
    if item.role == Role::System {
        return ItemKind::System;
    }
    if item.role == Role::Tool || (item.outcomes().next().is_some() && !item.asks()) {
        let flagged = item.outcomes().any(|outcome| outcome.failed);
        return if flagged || failed(text) {
            ItemKind::Error
        } else {
            ItemKind::ToolResult
        };
    }
    let tests = [
        (&CODE, ItemKind::Code),
        (&ERROR, ItemKind::Error),
        (&DECISION, ItemKind::Decision),
        (&FILE, ItemKind::FileContent),
        (&COMMAND, ItemKind::Command),
    ];
    let found = tests.into_iter().find(|(pattern, _)| pattern.is_match(text));
    found.map_or(ItemKind::Conversation, |(_, kind)| kind)
}
