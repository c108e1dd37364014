//! Tries harder efforts until a view fits: the loop of a compaction, without its I/O.
//!
//! Owns: the order of efforts, and the end of the loop. Invariant: each effort is tried at most once. Never: executing
//! a plan; the caller does, with or without a model, and reports the gain.

use crate::budget::Budget;
use crate::plan::{Decision, Effort, Keep, Plan, Trigger};
use crate::session::Session;

/// One plan and its result.
#[derive(Debug, Clone)]
pub struct Attempt {
    pub plan: Plan,
    /// Saved tokens; none if the plan was refused.
    pub gain: Option<usize>,
}

/// A running compaction.
#[derive(Debug)]
pub struct Ladder {
    budget: Budget,
    trigger: Trigger,
    next: Option<Effort>,
    attempts: Vec<Attempt>,
}

impl Ladder {
    pub fn new(budget: Budget, trigger: Trigger) -> Self {
        Self {
            budget,
            trigger,
            next: Some(Effort::Mask),
            attempts: Vec::new(),
        }
    }

    /// The next plan to carry out; none if the view fits or no effort is left.
    pub fn next(&mut self, session: &Session) -> Option<Plan> {
        while let Some(effort) = self.next {
            let gained = self.attempts.last().is_some_and(|attempt| attempt.gain.is_some());
            let gentle_was_tried = gained || effort > Effort::Compact;
            if gentle_was_tried && session.view_tokens() <= self.budget.limit() {
                break;
            }
            self.next = effort.harder();
            match session.decide(&self.budget, self.trigger, effort) {
                Decision::Compact(plan) => return Some(*plan),
                Decision::Keep(_, Keep::NothingToTake) => {}
                Decision::Keep(..) => break,
            }
        }
        self.next = None;
        None
    }

    /// Reports the result of the plan.
    pub fn tell(&mut self, plan: Plan, gain: Option<usize>) {
        self.attempts.push(Attempt { plan, gain });
    }

    /// Returns all attempts; the session records if none had enough gain.
    pub fn finish(self, session: &mut Session) -> Vec<Attempt> {
        if !self.attempts.is_empty() && self.attempts.iter().all(|attempt| attempt.gain.is_none()) {
            session.refuse();
        }
        self.attempts
    }
}
