//! The facts of a leaving span without a model.
//!
//! Owns: which lines of the span's digest are facts. Never: how the digest finds them.

use model::redact::redact;
use transcript::{Block, Call, Item, ItemId, Role};

use crate::digest::{self, DigestLine, LineKind};

/// The kinds of lines that outlive the work at hand.
const KINDS: [LineKind; 4] = [
    LineKind::Constraint,
    LineKind::Decision,
    LineKind::Todo,
    LineKind::Identifier,
];
/// A line of less worth is said on the way to a call, or pasted.
const WORTH_MIN: f32 = 0.45;
const FACTS_MAX: usize = 20;
/// Marks a fact that no model wrote.
const TAGS: &str = "#auto-extracted #compaction";

/// The facts that the digest of the user's and the assistant's words holds, a bullet for each, as a model would answer; the most
/// worth first.
pub fn by_rules(span: &[(ItemId, &Item)]) -> String {
    let said: Vec<(ItemId, Item)> = span.iter().map(|(id, item)| (*id, spoken(item))).collect();
    let said: Vec<(ItemId, &Item)> = said.iter().map(|(id, item)| (*id, item)).collect();
    let mut lines = digest::read(&said).lines;
    lines.retain(|line| KINDS.contains(&line.kind) && line.worth >= WORTH_MIN);
    lines.sort_by(|a, b| b.worth.total_cmp(&a.worth));
    let bullet = |line: &DigestLine| format!("- {} {TAGS}\n", line.text);
    lines.iter().take(FACTS_MAX).map(bullet).collect()
}

/// An item without its results. Secrets go before the digest shortens a line, which might halve one.
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
