//! The measures, and the table of them.
//!
//! Owns: the measures. Never: how a ranking was made. `fraction` is the mean share of a question's evidence
//! among the first k; `any` and `all` are the shares of questions with one or all of it there. Sessions are
//! ranked by their best message.

use std::collections::{BTreeMap, BTreeSet};

use model::{MessageId, SessionId};

use crate::cases::Question;
use crate::row;

const DEPTHS: [usize; 6] = [1, 3, 5, 10, 20, 50];
const CATEGORY_DEPTH: usize = 10;

/// One ranked message.
#[derive(Debug, Clone)]
pub(crate) struct Ranked {
    pub(crate) id: MessageId,
    pub(crate) session: SessionId,
    pub(crate) is_user: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Measured {
    turns: Level,
    sessions: Level,
    /// At turn level, the fraction among the first ten by category.
    categories: BTreeMap<String, Mean>,
}

#[derive(Debug, Default)]
struct Level {
    fraction: [Mean; DEPTHS.len()],
    any: [Mean; DEPTHS.len()],
    all: [Mean; DEPTHS.len()],
}

#[derive(Debug, Default, Clone, Copy)]
struct Mean {
    sum: f64,
    count: usize,
}

impl Mean {
    fn add(&mut self, value: f64) {
        self.sum += value;
        self.count += 1;
    }

    fn formatted(self) -> String {
        format!("{:.3}", self.sum / self.count.max(1) as f64)
    }
}

impl Measured {
    /// Counts one answer, best first.
    pub(crate) fn add(&mut self, question: &Question, ranked: &[Ranked]) {
        let turns: Vec<&MessageId> = ranked
            .iter()
            .filter(|message| message.is_user || !question.users_only)
            .map(|message| &message.id)
            .collect();
        let mut seen = BTreeSet::new();
        let sessions: Vec<&SessionId> = ranked
            .iter()
            .map(|message| &message.session)
            .filter(|session| seen.insert(*session))
            .collect();
        if !question.messages.is_empty() {
            self.turns.add(&question.messages, &turns);
            let found = question
                .messages
                .iter()
                .filter(|gold| turns.iter().take(CATEGORY_DEPTH).any(|id| id == gold))
                .count();
            let share = found as f64 / question.messages.len() as f64;
            self.categories
                .entry(question.category.clone())
                .or_default()
                .add(share);
        }
        if !question.sessions.is_empty() {
            self.sessions.add(&question.sessions, &sessions);
        }
    }

    /// Prints the tables, beside those of a baseline if there is one.
    pub(crate) fn print(&self, baseline: Option<&Self>) {
        let mut head = vec!["measure".to_owned(), "questions".to_owned()];
        head.extend(DEPTHS.map(|depth| format!("@{depth}")));
        row(&head);
        row(&head.iter().map(|_| "---".to_owned()).collect::<Vec<_>>());
        for (whose, measured) in std::iter::once(("", self)).chain(baseline.map(|bm25| (" (BM25)", bm25))) {
            for (name, level) in [("turn", &measured.turns), ("session", &measured.sessions)] {
                for (measure, means) in [
                    ("fraction", &level.fraction),
                    ("any", &level.any),
                    ("all", &level.all),
                ] {
                    let mut cells = vec![format!("{name}, {measure}{whose}"), means[0].count.to_string()];
                    cells.extend(means.map(Mean::formatted));
                    row(&cells);
                }
            }
        }
        for (category, mean) in &self.categories {
            let mut shown = vec![
                format!("turn, fraction @{CATEGORY_DEPTH}, {category}"),
                mean.count.to_string(),
                mean.formatted(),
            ];
            shown.extend(baseline.map(|bm25| format!("BM25 {}", bm25.categories[category].formatted())));
            row(&shown);
        }
    }
}

impl Level {
    fn add<T: Ord>(&mut self, gold: &BTreeSet<T>, ranked: &[&T]) {
        for (at, depth) in DEPTHS.into_iter().enumerate() {
            let found = ranked.iter().take(depth).filter(|id| gold.contains(**id)).count();
            self.fraction[at].add(found as f64 / gold.len() as f64);
            self.any[at].add(f64::from(u8::from(found > 0)));
            self.all[at].add(f64::from(u8::from(found == gold.len())));
        }
    }
}
