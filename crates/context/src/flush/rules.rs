//! The facts of a leaving span without a model.
//!
//! Owns: the choice of digest lines that are facts. Never: finding the lines; the digest does.

use model::redact::redact;
use transcript::{Block, Call, Item, ItemId, Role};

use crate::digest::{self, DigestLine, LineKind};

/// The kinds of lines that stay useful after the current work.
const KINDS: [LineKind; 4] = [
    LineKind::Constraint,
    LineKind::Decision,
    LineKind::Todo,
    LineKind::Identifier,
];
/// A line of less worth announces a call, or is pasted.
const WORTH_MIN: f32 = 0.45;
const FACTS_MAX: usize = 20;
/// Marks a fact without a model.
const TAGS: &str = "#auto-extracted #compaction";

/// The facts in the digest of the user's and the assistant's text, one bullet for each, like a model's answer; the
/// highest worth first.
pub fn by_rules(span: &[(ItemId, &Item)]) -> String {
    let said: Vec<(ItemId, Item)> = span.iter().map(|(id, item)| (*id, spoken(item))).collect();
    let said: Vec<(ItemId, &Item)> = said.iter().map(|(id, item)| (*id, item)).collect();
    let mut lines = digest::read(&said).lines;
    lines.retain(|line| KINDS.contains(&line.kind) && line.worth >= WORTH_MIN);
    lines.sort_by(|a, b| b.worth.total_cmp(&a.worth));
    let bullet = |line: &DigestLine| format!("- {} {TAGS}\n", line.text);
    lines.iter().take(FACTS_MAX).map(bullet).collect()
}

/// An item without its results. Secrets are removed before the digest shortens a line, which could split one.
fn spoken(item: &Item) -> Item {
    let is_talk = matches!(item.role, Role::User | Role::Assistant);
    let blocks = item.blocks.iter().filter_map(|block| match block {
        Block::Text(text) if is_talk => Some(Block::Text(redact(text).into_owned())),
        Block::Call(call) => Some(Block::Call(Call {
            arguments: redact(&call.arguments).into_owned(),
            ..call.clone()
        })),
        _ => None,
    });
    Item {
        role: item.role,
        blocks: blocks.collect(),
        raw: None,
        edited: false,
    }
}
