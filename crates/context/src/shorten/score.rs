//! How much each item of a conversation matters: one scorer, two sets of rules.
//!
//! Owns: an item's kind, its score and the factors of the score. Never: the use of the score, or items after the given
//! ones.

use std::borrow::Borrow;
use std::fmt;

use transcript::{Block, Item, Role};

use crate::budget::share_of;
use crate::shorten::truncate::Unit;

mod codebuddy;
pub mod lexicon;
mod references;

pub(crate) use codebuddy::failed as says_failed;
pub use references::identifiers;

::text::worded! {
    /// Kind of an item.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum ItemKind {
        System = "system",
        Error = "error",
        Decision = "decision",
        Code = "code",
        Command = "command",
        FileContent = "file_content",
        ToolResult = "tool_result",
        Explanation = "explanation",
        Conversation = "conversation",
    }
}

/// Worth of each kind alone, 0 to 1.
#[derive(Debug, Clone, PartialEq)]
pub struct KindWeights {
    pub system: f64,
    pub error: f64,
    pub decision: f64,
    pub code: f64,
    pub command: f64,
    pub file_content: f64,
    pub tool_result: f64,
    pub explanation: f64,
    pub conversation: f64,
}

impl KindWeights {
    /// The weight of one kind.
    pub fn of(&self, kind: ItemKind) -> f64 {
        match kind {
            ItemKind::System => self.system,
            ItemKind::Error => self.error,
            ItemKind::Decision => self.decision,
            ItemKind::Code => self.code,
            ItemKind::Command => self.command,
            ItemKind::FileContent => self.file_content,
            ItemKind::ToolResult => self.tool_result,
            ItemKind::Explanation => self.explanation,
            ItemKind::Conversation => self.conversation,
        }
    }
}

/// Detection of kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detection {
    /// English words and shapes of lines, in code-buddy's order.
    Codebuddy,
    /// Structure first, then the words of [`lexicon`].
    Structure,
}

/// Bonus for structure; 0 switches a signal off.
#[derive(Debug, Clone, PartialEq)]
pub struct Signals {
    /// Items so far refer to its rare identifiers; in full when they did so just now.
    pub referenced: f64,
    /// It holds many rare identifiers.
    pub identifiers: f64,
    /// It asks.
    pub question: f64,
}

/// How to score.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoreRules {
    pub weights: KindWeights,
    pub detection: Detection,
    /// Bonus of the last item over the first.
    pub recency: f64,
    pub user: f64,
    pub system: f64,
    /// Text of more UTF-16 code units loses `length_cost`.
    pub length_over: usize,
    pub length_cost: f64,
    pub signals: Signals,
}

impl ScoreRules {
    /// code-buddy's constants.
    pub fn codebuddy() -> Self {
        Self {
            weights: KindWeights {
                system: 1.0,
                error: 0.95,
                decision: 0.90,
                code: 0.70,
                command: 0.50,
                file_content: 0.40,
                tool_result: 0.35,
                explanation: 0.30,
                conversation: 0.25,
            },
            detection: Detection::Codebuddy,
            recency: 0.3,
            user: 0.1,
            system: 0.2,
            length_over: 5_000,
            length_cost: 0.1,
            signals: Signals {
                referenced: 0.0,
                identifiers: 0.0,
                question: 0.0,
            },
        }
    }

    /// Ours. Weights were set so that items whose identifiers are needed later rank first (`context_bench::rank`).
    pub fn quipu() -> Self {
        Self {
            weights: KindWeights {
                system: 0.60,
                error: 0.15,
                decision: 0.15,
                code: 0.10,
                command: 0.05,
                file_content: 0.05,
                tool_result: 0.05,
                explanation: 0.05,
                conversation: 0.05,
            },
            detection: Detection::Structure,
            recency: 0.10,
            user: 0.02,
            system: 0.2,
            length_over: usize::MAX,
            length_cost: 0.0,
            signals: Signals {
                referenced: 0.2,
                identifiers: 0.6,
                question: 0.05,
            },
        }
    }
}

impl ScoreRules {
    /// Sets one number by its name: that of a kind, `recency`, `user`, `system_role`, `length_over` or `length_cost`; false
    /// if there is none.
    pub fn set(&mut self, name: &str, value: f64) -> bool {
        let weights = &mut self.weights;
        let number = match name {
            "system" => &mut weights.system,
            "error" => &mut weights.error,
            "decision" => &mut weights.decision,
            "code" => &mut weights.code,
            "command" => &mut weights.command,
            "file_content" => &mut weights.file_content,
            "tool_result" => &mut weights.tool_result,
            "explanation" => &mut weights.explanation,
            "conversation" => &mut weights.conversation,
            "recency" => &mut self.recency,
            "user" => &mut self.user,
            "system_role" => &mut self.system,
            "length_cost" => &mut self.length_cost,
            "length_over" => {
                self.length_over = share_of(1, value);
                return true;
            }
            _ => return false,
        };
        *number = value;
        true
    }
}

/// One reason for a score.
#[derive(Debug, Clone, PartialEq)]
pub enum Factor {
    Base(ItemKind, f64),
    Recency(f64),
    Role(Role, f64),
    /// The length in UTF-16 code units.
    Length(usize, f64),
    Referenced(f64),
    Identifiers(f64),
    Question(f64),
}

impl Factor {
    /// Its bonus.
    fn delta(&self) -> f64 {
        match self {
            Self::Base(_, delta) | Self::Recency(delta) | Self::Role(_, delta) | Self::Length(_, delta) => {
                *delta
            }
            Self::Referenced(delta) | Self::Identifiers(delta) | Self::Question(delta) => *delta,
        }
    }
}

impl fmt::Display for Factor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Base(kind, weight) => write!(f, "base({}): {weight}", kind.as_str()),
            Self::Recency(delta) => write!(f, "recency: {delta:+.3}"),
            Self::Role(role, delta) => write!(f, "role({}): {delta:+}", role.as_str()),
            Self::Length(length, delta) => write!(f, "length({length}): {delta}"),
            Self::Referenced(delta) => write!(f, "referenced: {delta:+.3}"),
            Self::Identifiers(delta) => write!(f, "identifiers: {delta:+.3}"),
            Self::Question(delta) => write!(f, "question: {delta:+}"),
        }
    }
}

/// Score of one item.
#[derive(Debug, Clone, PartialEq)]
pub struct Score {
    /// Its place in what was scored.
    pub index: usize,
    pub kind: ItemKind,
    /// 0 to 1.
    pub value: f64,
    /// In the order in which they were added; only those that applied.
    pub factors: Vec<Factor>,
}

/// Scores items, the last of which is the latest of the conversation. In the order of the items.
pub fn score<I: Borrow<Item>>(items: &[I], rules: &ScoreRules) -> Vec<Score> {
    let wanted = rules.signals.referenced != 0.0 || rules.signals.identifiers != 0.0;
    let references = if wanted { references::of(items) } else { Vec::new() };
    let one = |(index, item): (usize, &I)| {
        let item = item.borrow();
        let text = text(item);
        let kind = match rules.detection {
            Detection::Codebuddy => codebuddy::kind(item, &text),
            Detection::Structure => structural_kind(item, &text),
        };
        let place = if items.len() > 1 {
            index as f64 / (items.len() - 1) as f64
        } else {
            1.0
        };
        let mut factors = vec![
            Factor::Base(kind, rules.weights.of(kind)),
            Factor::Recency(rules.recency * place),
        ];
        let role = if item.role == Role::User && !item.asks() {
            Role::Tool
        } else {
            item.role
        };
        match role {
            Role::User => factors.push(Factor::Role(role, rules.user)),
            Role::System => factors.push(Factor::Role(role, rules.system)),
            Role::Assistant | Role::Tool => {}
        }
        let length = Unit::Utf16.len(&text);
        if length > rules.length_over {
            factors.push(Factor::Length(length, -rules.length_cost));
        }
        if let Some(found) = references.get(index) {
            factors.push(Factor::Referenced(rules.signals.referenced * found.referenced));
            factors.push(Factor::Identifiers(rules.signals.identifiers * found.richness));
        }
        if rules.signals.question != 0.0 && role != Role::Tool && asks(&text) {
            factors.push(Factor::Question(rules.signals.question));
        }
        let sum: f64 = factors.iter().map(Factor::delta).sum();
        // Configured weights may be anything; NaN is worth nothing.
        let value = if sum.is_nan() { 0.0 } else { sum.clamp(0.0, 1.0) };
        Score {
            index,
            kind,
            value,
            factors,
        }
    };
    items.iter().enumerate().map(one).collect()
}

/// All text of an item: prose, calls and results.
pub(crate) fn text(item: &Item) -> String {
    let texts = item.blocks.iter().flat_map(|block| match block {
        Block::Text(text) => vec![text.as_str()],
        Block::Call(call) => vec![call.name.as_str(), call.arguments.as_str()],
        Block::Outcome(outcome) => vec![outcome.text.as_str()],
        Block::Image(_) | Block::Thinking(_) | Block::Other(_) => Vec::new(),
    });
    let texts: Vec<&str> = texts.filter(|text| !text.is_empty()).collect();
    texts.join("\n")
}

/// Structure decides; words only decide between kinds of messages.
fn structural_kind(item: &Item, text: &str) -> ItemKind {
    let results = item.outcomes().next().is_some() && !item.asks();
    if item.role == Role::System {
        return ItemKind::System;
    }
    if results || item.role == Role::Tool {
        let failed = item
            .outcomes()
            .any(|outcome| outcome.failed || failed_text(&outcome.text));
        return if failed {
            ItemKind::Error
        } else {
            ItemKind::ToolResult
        };
    }
    if item.calls().next().is_some() {
        return ItemKind::Command;
    }
    let lower = text.to_lowercase();
    if lexicon::DECISION.found_in(&lower) {
        return ItemKind::Decision;
    }
    if lexicon::ERROR.found_in(&lower) && text.lines().any(crate::shorten::truncate::tells_failure) {
        return ItemKind::Error;
    }
    if text.contains("```") {
        ItemKind::Code
    } else {
        ItemKind::Conversation
    }
}

/// A result whose text reports a failure without a flag: in its last lines, where commands report their end.
fn failed_text(text: &str) -> bool {
    let ends = |line: &str| {
        let line = line.to_ascii_lowercase();
        let status = line
            .split_once("exit code")
            .or_else(|| line.split_once("exit status"));
        let status = status.map(|(_, rest)| rest.trim_start_matches([' ', ':', '=']));
        status.is_some_and(|status| status.starts_with(|c: char| ('1'..='9').contains(&c)))
    };
    let (head, tail) = (Unit::Bytes.head(text, 400), Unit::Bytes.tail(text, 400));
    head.lines().chain(tail.lines()).any(ends) || head.lines().take(1).any(|line| line.starts_with("Error:"))
}

fn asks(text: &str) -> bool {
    text.trim_end().ends_with(['?', '？', '؟']) || text.contains("?\n") || text.contains('？')
}

#[cfg(test)]
mod tests;
