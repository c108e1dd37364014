//! The section of facts that is added to a file of memories.
//!
//! Owns: its text, not repeating facts of the file, and the file's maximum size. Never: writing it.

use std::collections::BTreeSet;

use super::Policy;
use model::redact::redact;

/// The text to append to `existing`: a heading with the day and a bullet for each new fact. None if no fact is new, if
/// the file has no room for one, or if `date` is not `YYYY-MM-DD`. The first facts are kept; those that do not fit are
/// left out.
pub fn render_section(date: &str, facts: &[String], existing: &str, policy: &Policy) -> Option<String> {
    if !is_date(date) {
        return None;
    }
    let mut known: BTreeSet<String> = existing
        .lines()
        .filter_map(|line| line.trim_start().strip_prefix("- "))
        .map(plain)
        .collect();
    let gap = match existing {
        "" => "",
        text if text.ends_with("\n\n") => "",
        text if text.ends_with('\n') => "\n",
        _ => "\n\n",
    };
    let mut section = format!("{gap}## Facts extracted {date} (pre-compaction flush)\n\n");
    let mut room = policy
        .file_bytes_max
        .saturating_sub(existing.len())
        .checked_sub(section.len())?;
    let mut any = false;
    for fact in facts.iter().take(policy.facts_max) {
        let line = model::one_line(&redact(fact));
        let bytes = line.len() + "- \n".len();
        if line.is_empty() || bytes > room || !known.insert(plain(&line)) {
            continue;
        }
        section.extend(["- ", &line, "\n"]);
        room -= bytes;
        any = true;
    }
    any.then_some(section)
}

/// A fact in comparable form: without case, white space and the final stop.
fn plain(fact: &str) -> String {
    let words: Vec<String> = fact.split_whitespace().map(str::to_lowercase).collect();
    words.join(" ").trim_end_matches(['.', '。']).to_owned()
}

fn is_date(date: &str) -> bool {
    let digit = |(place, byte): (usize, u8)| {
        if matches!(place, 4 | 7) {
            byte == b'-'
        } else {
            byte.is_ascii_digit()
        }
    };
    date.len() == 10 && date.bytes().enumerate().all(digit)
}
