//! Ordering rules of the Anthropic dialect, as a checker; the trials of `context-bench` use it too.

use std::borrow::Borrow;

use transcript::order::openai;
use transcript::{Block, Item, Role};

/// Anthropic's rules. System items are outside of the messages. Neighbouring messages of one role count as one, so all
/// results of a turn are at the beginning of the user's next message; the first message is the user's, and no message
/// is empty.
pub(crate) fn anthropic<I: Borrow<Item>>(items: &[I]) -> bool {
    let messages = items.iter().map(Borrow::borrow);
    let messages: Vec<&Item> = messages.filter(|item| item.role != Role::System).collect();
    let begins = messages.first().is_none_or(|first| first.role != Role::Assistant);
    begins && !messages.iter().any(|item| is_empty(item)) && openai(&messages)
}

fn is_empty(item: &Item) -> bool {
    let blank = |block: &Block| matches!(block, Block::Text(text) if text.trim().is_empty());
    item.blocks.is_empty() || item.blocks.iter().any(blank)
}
