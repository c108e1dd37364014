//! A stretch as the beginnings of its messages: code-buddy's summary.
//!
//! Owns: its lines and its list of failures. Never: choosing the stretch.

use std::borrow::Borrow;

use transcript::{Item, Role};

use crate::shorten::score;
use crate::shorten::truncate::Unit;

/// Heading of a summary.
const SUMMARY: &str = "[Conversation Summary]";
/// Maximum length of a listed failure, in UTF-16 code units.
const FAILURE_UNITS_MAX: usize = 200;
/// Maximum length of a summary line, in UTF-16 code units.
const LINE_UNITS_MAX: usize = 100;
const FAILURES_MAX: usize = 5;

/// The beginnings of the user's and assistant's messages, the oldest one of `ratio`, and the last failures of tools.
pub fn first_lines<I: Borrow<Item>>(items: &[I], ratio: usize) -> String {
    let mut lines = Vec::new();
    let mut failures = Vec::new();
    for item in items {
        let item = item.borrow();
        let speaker = match item.role {
            Role::User => "User",
            Role::Assistant => "Assistant",
            Role::System | Role::Tool => "",
        };
        let said = item.prose();
        if !speaker.is_empty() && !said.trim().is_empty() {
            lines.push(format!("{speaker}: {}", one_line(&said, LINE_UNITS_MAX)));
        }
        let failed = item
            .outcomes()
            .filter(|outcome| outcome.failed || score::says_failed(&outcome.text));
        failures.extend(failed.map(|outcome| format!("- {}", one_line(&outcome.text, FAILURE_UNITS_MAX))));
    }
    lines.truncate(lines.len().div_ceil(ratio.max(1)));
    lines.insert(0, SUMMARY.to_owned());
    if !failures.is_empty() {
        lines.push("Failed tool attempts (do not retry):".to_owned());
        lines.extend(failures.split_off(failures.len().saturating_sub(FAILURES_MAX)));
    }
    lines.join("\n")
}

fn one_line(text: &str, units: usize) -> String {
    Unit::Utf16.head(text.trim(), units).replace(['\n', '\r'], " ")
}
