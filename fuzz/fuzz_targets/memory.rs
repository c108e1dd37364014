//! Any bytes as a memory file, as a person or a crash left it: it is read without failing, what was read is read again from
//! what is written, and an append is found.

#![no_main]

use libfuzzer_sys::fuzz_target;
use markdown::{Parsed, Place, parse, plan, render};
use model::{Entry, Zone};

const EPISODES: &str = "default/default/users/alice/episodes/2023-05-08.md";
const FACTS: &str = "default/default/users/alice/facts/2023-05-08.md";
const SKILL: &str = "default/default/users/alice/skills/deploy/SKILL.md";
/// A file that Quipu wrote; its entries are appended to any other.
const WRITTEN: &str = include_str!("../../crates/markdown/fixtures/v1/episodes.md");

fuzz_target!(|bytes: &[u8]| {
    let zone = Zone::utc();
    let [episodes, facts, skill] = [EPISODES, FACTS, SKILL].map(|path| Place::of(path).expect("a place"));
    for place in [&episodes, &facts, &skill] {
        let parsed = parse(bytes, place, &zone);
        assert!(parsed.blocks.iter().all(|block| block.span.end <= bytes.len()));
        assert!(parsed.tail <= bytes.len() && parsed.torn.is_none_or(|torn| torn <= bytes.len()));
        assert!(parsed.problems.is_sorted_by_key(|problem| problem.line));
    }
    let parsed = parse(bytes, &episodes, &zone);
    for entry in entries(&parsed) {
        let text = render(&entry, &zone);
        let again = entries(&parse(text.as_bytes(), &episodes, &zone));
        assert_eq!(again, [entry], "{text}");
    }
    if parsed.unwritable().is_none() && std::str::from_utf8(bytes).is_ok() {
        append(bytes, &parsed, &episodes, &zone);
    }
});

/// What a file does not have yet is its last entries after an append. A torn end must be what a crash leaves of an append:
/// what a person made of one stays, and may hide the entry with its id.
fn append(bytes: &[u8], parsed: &Parsed, place: &Place, zone: &Zone) {
    let new = entries(&parse(WRITTEN.as_bytes(), place, zone));
    let ours = |torn: usize| {
        new.iter()
            .any(|entry| render(entry, zone).as_bytes().starts_with(&bytes[torn..]))
    };
    if !parsed.torn.is_none_or(ours) {
        return;
    }
    let plan = plan(bytes, parsed, &new, zone).expect("a file of episodes takes episodes");
    let kept = plan.cut.map_or(bytes.len(), |cut| cut.at);
    let whole = [&bytes[..kept], plan.text.as_bytes()].concat();
    let taken = parsed.ids();
    let is_new = |entry: &&Entry| !taken.contains(&entry.id);
    let wanted: Vec<Entry> = new.iter().filter(is_new).cloned().collect();
    let after = entries(&parse(&whole, place, zone));
    assert!(after.ends_with(&wanted), "{}", String::from_utf8_lossy(&whole));
}

fn entries(parsed: &Parsed) -> Vec<Entry> {
    parsed
        .blocks
        .iter()
        .filter_map(|block| block.entry.clone())
        .collect()
}
