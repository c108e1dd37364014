//! The view: the items for the model. A pure function of the session and a budget.
//!
//! Owns: the order of a view, its verification, and the error if no view fits. Never: changing the session.

use std::sync::Arc;

use transcript::{Item, repair};

use crate::budget::{Budget, FixedPart, OverBudget, OverBudgetCode};
use crate::event::ViewEvent;
use crate::ladder::{Attempt, Ladder};
use crate::plan::Trigger;
use crate::session::{PieceContent, Session};

/// The items for the model.
#[derive(Debug, Clone)]
pub struct View {
    pub items: Vec<Arc<Item>>,
    /// Their tokens by the meter.
    pub counted: usize,
    /// Their tokens for the backend, corrected by its reports.
    pub tokens: usize,
}

impl Session {
    /// The current view: calls paired, pending ones closed, within its budget or an error.
    pub fn assemble(&self, budget: &Budget) -> Result<View, OverBudget> {
        let view = self.unbounded();
        if view.tokens <= budget.limit() {
            Ok(view)
        } else {
            Err(self.over_budget(budget, view.tokens))
        }
    }

    /// Tokens of the current view, including closures of pending calls.
    pub fn view_tokens(&self) -> usize {
        self.unbounded().tokens
    }

    fn unbounded(&self) -> View {
        let items = self.view_items();
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

    /// Brings the view within its budget without a host, with digests alone; `record` records each event before it
    /// applies.
    pub fn fit(
        &mut self,
        budget: &Budget,
        trigger: Trigger,
        mut record: impl FnMut(&ViewEvent),
    ) -> Vec<Attempt> {
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
            .find(|(part, _)| *part == FixedPart::CurrentRequest)
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

    /// Tokens of each part of a request, without empty parts.
    pub fn parts(&self, budget: &Budget) -> Vec<(FixedPart, usize)> {
        let current = self.current_request();
        let mut parts = std::collections::BTreeMap::new();
        for (index, piece) in self.frontier().iter().enumerate() {
            let part = match &piece.what {
                PieceContent::Node(_) => FixedPart::Summary,
                PieceContent::Item { .. } if piece.item.role == transcript::Role::System => FixedPart::System,
                PieceContent::Item { .. } if Some(index) == current => FixedPart::CurrentRequest,
                PieceContent::Item { .. } if self.stays(piece) => FixedPart::Pinned,
                PieceContent::Item { .. } if current.is_some_and(|current| index > current) => {
                    FixedPart::ToolLoop
                }
                PieceContent::Item { .. } => FixedPart::History,
            };
            *parts.entry(part).or_insert(0) += piece.tokens;
        }
        let request = [
            (FixedPart::Tools, budget.tools),
            (FixedPart::Injected, budget.injected),
            (FixedPart::Reserve, budget.reserve),
            (FixedPart::Safety, budget.safety),
        ];
        parts
            .into_iter()
            .chain(request)
            .filter(|(_, tokens)| *tokens > 0)
            .collect()
    }
}
