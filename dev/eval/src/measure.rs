//! What is counted, and the table that says it.
//!
//! Owns: the measures. Never: where a ranking came from. `fraction` is the mean share of a question's evidence among
//! the first k, `any` and `all` the share of questions with one or all of it there. Sessions are ranked by their best
//! message.

use std::collections::{BTreeMap, BTreeSet};

use model::{MessageId, SessionId};

use crate::cases::Question;

const DEPTHS: [usize; 6] = [1, 3, 5, 10, 20, 50];

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

    fn value(self) -> f64 {
        self.sum / self.count.max(1) as f64
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
        let sessions: Vec<&SessionId> =
            ranked.iter().map(|message| &message.session).filter(|session| seen.insert(*session)).collect();
        if !question.messages.is_empty() {
            self.turns.add(&question.messages, &turns);
            let found = question.messages.iter().filter(|gold| turns.iter().take(10).any(|id| id == gold)).count();
            let share = found as f64 / question.messages.len() as f64;
            self.categories.entry(question.category.clone()).or_default().add(share);
        }
        if !question.sessions.is_empty() {
            self.sessions.add(&question.sessions, &sessions);
        }
    }

    /// Prints the table.
    pub(crate) fn print(&self) {
        println!("{:<22}{:>6}{}", "", "n", DEPTHS.map(|depth| format!("{:>8}", format!("@{depth}"))).concat());
        for (name, level) in [("turn", &self.turns), ("session", &self.sessions)] {
            for (measure, means) in [("fraction", &level.fraction), ("any", &level.any), ("all", &level.all)] {
                let values = means.map(|mean| format!("{:>8.3}", mean.value())).concat();
                println!("{:<22}{:>6}{values}", format!("{name} {measure}"), means[0].count);
            }
        }
        println!("turn fraction @10 by category");
        for (category, mean) in &self.categories {
            println!("  {category:<28}{:>6}{:>8.3}", mean.count, mean.value());
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
