//! Compacting a conversation between its requests.
//!
//! Owns: that an epoch begins with it. Never: when (`Ladder` says whether it is due), the summary's words.

use context::budget::Budget;
use context::ladder::{Attempt, Ladder};
use context::plan::Trigger;
use model::Timestamp;
use ports::NewRecord;
use prefix::compose;
use prefix::shadow::Reason;

use super::Conversation;
use crate::log::Logged;

impl Conversation {
    /// Whether to compact now, while nobody waits.
    pub fn is_due(&self, budget: &Budget) -> bool {
        Ladder::new(*budget, Trigger::Idle).next(&self.session).is_some()
    }

    /// What to ask the conversation's own model before that, and how long its answer may be, in tokens; none where no stretch
    /// would be replaced by words.
    pub fn summary_prompt(&self, budget: &Budget) -> Option<(String, usize)> {
        let plan = Ladder::new(*budget, Trigger::Idle).next(&self.session)?;
        let stays = plan.leaves.last()? + 1;
        let end = self.session.frontier().get(stays)?.item.prose();
        let tokens_max = plan.node_tokens_max / 2;
        Some((context::prompt::summary_of_above(&end, tokens_max), tokens_max))
    }

    /// Compacts, and begins an epoch with that; nothing where it is not due. `now` is noted where something changed.
    pub fn compact(
        &mut self,
        budget: &Budget,
        trigger: Trigger,
        summary: Option<&str>,
        now: Timestamp,
    ) -> Vec<NewRecord> {
        let mut ladder = Ladder::new(*budget, trigger);
        let mut records = self.take_appended();
        let before = records.len();
        while let Some(plan) = ladder.next(&self.session) {
            let tokens = self.session.tokens();
            let events = self.session.commit(&plan, summary);
            let recorded = events.iter().flatten().cloned();
            records.extend(recorded.map(|event| self.apply(&Logged::View(event))));
            let gain = events
                .is_ok()
                .then(|| tokens.saturating_sub(self.session.tokens()));
            ladder.tell(plan, gain);
        }
        let attempts = ladder.finish(&mut self.session);
        self.compacted(attempts, now);
        if records.len() > before {
            let epoch = compose::renewal(&self.shadow, &self.edits(), vec![Reason::Compaction]);
            records.push(self.apply(&Logged::Sent(epoch)));
        }
        records
    }

    /// Notes what a compaction did.
    pub(crate) fn compacted(&mut self, attempts: Vec<Attempt>, now: Timestamp) {
        if attempts.iter().any(|attempt| attempt.gain.is_some()) {
            self.last_result = Some(attempts);
            self.last_compaction = Some(now);
        }
    }
}
