//! Compacting a conversation between its requests.
//!
//! Owns: that each compaction begins an epoch. Never: when (`Ladder` decides whether it is due), the text of the
//! summary.

use context::budget::{Budget, OverBudget};
use context::event::ViewEvent;
use context::ladder::{Attempt, Ladder};
use context::plan::{Plan, Trigger};
use context::session::Session;
use model::Timestamp;
use prefix::compose;
use prefix::shadow::Reason;

use super::Conversation;
use crate::conversation::log::Logged;

const PRESERVED: &str = "<preserved_context>";

/// Texts of a summary besides the digest.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    /// A model's summary of all items that leave the view.
    pub(crate) summary: Option<String>,
    /// The text that a listener wants preserved.
    pub(crate) preserved: Option<String>,
}

impl Texts {
    /// The text for a plan. Without a new summary, the summaries of the removed nodes stay; a listener's preserved text
    /// always comes from the latest call.
    fn joined(&self, session: &Session, plan: &Plan) -> Option<String> {
        let Some(preserved) = &self.preserved else {
            return self.summary.clone();
        };
        let older = session.summaries(plan);
        let older = older.filter_map(|summary| summary.split(PRESERVED).next());
        let mut parts: Vec<&str> = match &self.summary {
            Some(summary) => vec![summary],
            None => older.map(str::trim).filter(|text| !text.is_empty()).collect(),
        };
        let preserved = format!("{PRESERVED}\n{}\n</preserved_context>", preserved.trim());
        parts.push(&preserved);
        Some(parts.join("\n"))
    }
}

impl Conversation {
    /// Whether a compaction is due now, while no request waits.
    pub fn is_due(&self, budget: &Budget) -> bool {
        self.would_compact(budget, Trigger::Idle)
    }

    /// Whether there is anything to compact.
    pub(crate) fn would_compact(&self, budget: &Budget, trigger: Trigger) -> bool {
        Ladder::new(*budget, trigger).next(&self.session).is_some()
    }

    /// The prompt for the conversation's own model before a compaction, and the maximum tokens of its answer; none if
    /// no text would replace a stretch.
    pub fn summary_prompt(&self, budget: &Budget) -> Option<(String, usize)> {
        let plan = Ladder::new(*budget, Trigger::Idle).next(&self.session)?;
        let stays = plan.leaves.last()? + 1;
        let end = self.session.frontier().get(stays)?.item.prose();
        let tokens_max = plan.node_tokens_max / 2;
        Some((context::prompt::summary_of_above(&end, tokens_max), tokens_max))
    }

    /// Compacts, which begins an epoch; does nothing if no compaction is due. Records `now` if the view changed.
    pub(crate) fn compact(&mut self, budget: &Budget, trigger: Trigger, texts: &Texts, now: Timestamp) {
        self.take_appended();
        let before = self.records;
        let attempts = self.climb(budget, trigger, texts, |this, event| {
            this.record(&Logged::View(event));
        });
        self.compacted(attempts, now);
        if self.records > before {
            let epoch = compose::renewal(&self.shadow, &self.edits(), vec![Reason::Compaction]);
            self.record(&Logged::Sent(epoch));
        }
    }

    /// Brings the view within its budget; returns the events to record, or the reason why it does not fit.
    pub(crate) fn fit(
        &mut self,
        budget: &Budget,
        trigger: Trigger,
        texts: &Texts,
    ) -> Result<(Vec<ViewEvent>, Vec<Attempt>), OverBudget> {
        let mut events = Vec::new();
        let attempts = self.climb(budget, trigger, texts, |this, event| {
            events.push(event.clone());
            this.view(event);
        });
        self.session.assemble(budget)?;
        Ok((events, attempts))
    }

    /// Carries out plans until the view fits or nothing is left to try; `take` applies each event.
    fn climb(
        &mut self,
        budget: &Budget,
        trigger: Trigger,
        texts: &Texts,
        mut take: impl FnMut(&mut Self, ViewEvent),
    ) -> Vec<Attempt> {
        let mut ladder = Ladder::new(*budget, trigger);
        while let Some(plan) = ladder.next(&self.session) {
            let tokens = self.session.tokens();
            let summary = texts.joined(&self.session, &plan);
            let events = self.session.commit(&plan, summary.as_deref());
            for event in events.iter().flatten() {
                take(self, event.clone());
            }
            let gain = events
                .is_ok()
                .then(|| tokens.saturating_sub(self.session.tokens()));
            ladder.tell(plan, gain);
        }
        ladder.finish(&mut self.session)
    }

    /// Records the attempts of a compaction.
    pub(crate) fn compacted(&mut self, attempts: Vec<Attempt>, now: Timestamp) {
        if attempts.iter().any(|attempt| attempt.gain.is_some()) {
            self.last_result = Some(attempts);
            self.last_compaction = Some(now);
        }
    }
}
