//! The importance of each item of a conversation by code-buddy's score.
//!
//! Owns: an item's kind, its score and the factors of the score. Never: the use of the score, or items after the given
//! ones.

use std::borrow::Borrow;
use std::fmt;

use transcript::{Item, Role};

use crate::shorten::truncate::Unit;

mod codebuddy;

pub(crate) use codebuddy::failed as says_failed;

model::worded! {
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

model::defaults! {
    /// Parameters of the score. The defaults are code-buddy's constants.
    #[derive(Debug, Clone, PartialEq)]
    pub struct ScoreRules {
        /// Worth of each kind alone, 0 to 1, in the order of [`ItemKind`].
        pub weights: [f64; 9] = [1.0, 0.95, 0.90, 0.70, 0.50, 0.40, 0.35, 0.30, 0.25],
        /// Bonus of the last item over the first.
        pub recency: f64 = 0.3,
        pub user: f64 = 0.1,
        pub system: f64 = 0.2,
        /// Text with more UTF-16 code units loses `length_cost`.
        pub length_over: f64 = 5_000.0,
        pub length_cost: f64 = 0.1,
    }
}

impl ScoreRules {
    /// Sets one number by its name: a kind's name, `recency`, `user`, `system_role`, `length_over` or `length_cost`;
    /// false if the name is unknown.
    pub fn set(&mut self, name: &str, value: f64) -> bool {
        let number = match (ItemKind::parse(name), name) {
            (Some(kind), _) => &mut self.weights[kind as usize],
            (_, "recency") => &mut self.recency,
            (_, "user") => &mut self.user,
            (_, "system_role") => &mut self.system,
            (_, "length_over") => &mut self.length_over,
            (_, "length_cost") => &mut self.length_cost,
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
}

impl Factor {
    /// The change that it adds to the score.
    fn delta(&self) -> f64 {
        let (Self::Base(_, delta) | Self::Recency(delta) | Self::Role(_, delta) | Self::Length(_, delta)) =
            self;
        *delta
    }
}

impl fmt::Display for Factor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Base(kind, weight) => write!(f, "base({}): {weight}", kind.as_str()),
            Self::Recency(delta) => write!(f, "recency: {delta:+.3}"),
            Self::Role(role, delta) => write!(f, "role({}): {delta:+}", role.as_str()),
            Self::Length(length, delta) => write!(f, "length({length}): {delta}"),
        }
    }
}

/// Score of one item.
#[derive(Debug, Clone, PartialEq)]
pub struct Score {
    /// Its index in the scored list.
    pub index: usize,
    pub kind: ItemKind,
    /// 0 to 1.
    pub value: f64,
    /// The applied factors, in the order of addition.
    pub factors: Vec<Factor>,
}

/// Scores items in their order; the last item is the latest of the conversation.
pub fn score<I: Borrow<Item>>(items: &[I], rules: &ScoreRules) -> Vec<Score> {
    let one = |(index, item): (usize, &I)| {
        let item = item.borrow();
        let text = item.words();
        let kind = codebuddy::kind(item, &text);
        let place = if items.len() > 1 {
            index as f64 / (items.len() - 1) as f64
        } else {
            1.0
        };
        let mut factors = vec![
            Factor::Base(kind, rules.weights[kind as usize]),
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
        if length as f64 > rules.length_over {
            factors.push(Factor::Length(length, -rules.length_cost));
        }
        let sum: f64 = factors.iter().map(Factor::delta).sum();
        // Configured weights can be any number; NaN counts as 0.
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

#[cfg(test)]
mod tests;
