//! The view: what goes to the model. A pure function of the session and a budget.
//!
//! Owns: the order of a view, its verification, and the error when there is none. Never: changing the session.

use std::sync::Arc;

use transcript::{Item, repair};

use crate::budget::{Budget, OverBudget, OverBudgetCode, Part};
use crate::event::Event;
use crate::ladder::{Attempt, Ladder};
use crate::plan::Trigger;
use crate::session::{Session, What};

/// What goes to the model.
#[derive(Debug, Clone)]
pub struct View {
    pub items: Vec<Arc<Item>>,
    /// What the meter counts of them.
    pub counted: usize,
    /// What they weigh to the backend, as far as its reports tell.
    pub tokens: usize,
}

impl Session {
    /// The view at this moment: calls paired, pending ones closed, within its budget or an error.
    pub fn assemble(&self, budget: &Budget) -> Result<View, OverBudget> {
        let view = self.unbounded();
        if view.tokens <= budget.limit() {
            Ok(view)
        } else {
            Err(self.over_budget(budget, view.tokens))
        }
    }

    /// What the view weighs now, closures of pending calls included.
    pub fn view_tokens(&self) -> usize {
        self.unbounded().tokens
    }

    fn unbounded(&self) -> View {
        let items = self.shown();
        let (items, counted) = match repair::for_view(&items, &self.pending()) {
            Some(items) => {
                let counted = items.iter().map(|item| self.meter().item(item)).sum();
                (items, counted)
            }
            None => (items, self.tokens()),
        };
        View {
            items,
            counted,
            tokens: self.calibrated(counted),
        }
    }

    /// Brings the view within its budget without a host: digests alone, each event recorded by `record` before it counts.
    pub fn fit(&mut self, budget: &Budget, trigger: Trigger, mut record: impl FnMut(&Event)) -> Vec<Attempt> {
        let mut ladder = Ladder::new(*budget, trigger);
        while let Some(plan) = ladder.next(self) {
            let before = self.tokens();
            let events = self.commit(&plan, None);
            for event in events.iter().flatten() {
                record(event);
                self.apply(event);
            }
            let gain = events.is_ok().then(|| before.saturating_sub(self.tokens()));
            ladder.tell(plan, gain);
        }
        ladder.finish(self)
    }

    /// Why no view fits.
    fn over_budget(&self, budget: &Budget, tokens: usize) -> OverBudget {
        let parts = self.parts(budget);
        let current = parts
            .iter()
            .find(|(part, _)| *part == Part::CurrentRequest)
            .map_or(0, |(_, tokens)| *tokens);
        let limit = budget.limit();
        let code = if current > limit {
            OverBudgetCode::CurrentRequestExceedsBudget
        } else {
            OverBudgetCode::CompactionExceedsLimit
        };
        OverBudget {
            code,
            limit,
            tokens,
            parts,
        }
    }

    /// What each part of a request weighs, those that weigh something.
    pub fn parts(&self, budget: &Budget) -> Vec<(Part, usize)> {
        let current = self.current_request();
        let mut parts = std::collections::BTreeMap::new();
        for (index, piece) in self.frontier().iter().enumerate() {
            let part = match &piece.what {
                What::Node(_) => Part::Summary,
                What::Item { .. } if piece.item.role == transcript::Role::System => Part::System,
                What::Item { .. } if Some(index) == current => Part::CurrentRequest,
                What::Item { .. } if self.stays(piece) => Part::Pinned,
                What::Item { .. } if current.is_some_and(|current| index > current) => Part::ToolLoop,
                What::Item { .. } => Part::History,
            };
            *parts.entry(part).or_insert(0) += piece.tokens;
        }
        let request = [
            (Part::Tools, budget.tools),
            (Part::Injected, budget.injected),
            (Part::Reserve, budget.reserve),
            (Part::Safety, budget.safety),
        ];
        parts
            .into_iter()
            .chain(request)
            .filter(|(_, tokens)| *tokens > 0)
            .collect()
    }
}
