//! B16 on conversations of your own: `cargo bench -p context-bench --bench rank [-- FILE]`.
//!
//! Owns: reading FILE: conversations separated by blank lines, with a line `role TAB text` for each item.
//! Never: a measure.
#![expect(clippy::print_stdout, reason = "a measurement's result is what it prints")]

use context_bench::rank;
use transcript::{Item, Role};

fn main() {
    let file = std::env::args()
        .nth(1)
        .filter(|argument| !argument.starts_with("--"));
    let talks = file.map_or_else(|| (0..80).map(rank::session).collect(), |path| read(&path));
    println!("{}", rank::table(&rank::measure(&talks)));
}

fn read(path: &str) -> Vec<Vec<Item>> {
    let text = std::fs::read_to_string(path).expect("the file can be read");
    let item = |line: &str| {
        let (role, said) = line.split_once('\t')?;
        let role = if role == "user" {
            Role::User
        } else {
            Role::Assistant
        };
        Some(Item::text(role, said.replace("\\n", "\n")))
    };
    text.split("\n\n")
        .map(|talk| talk.lines().filter_map(item).collect())
        .filter(|talk: &Vec<Item>| talk.len() > 9)
        .collect()
}
