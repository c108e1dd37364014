//! Counting a conversation as its model does.
//!
//! Owns: whose vocabulary counts, the weight of what stands before the messages, what servers reported. Never: counting (`context::tokens`).

use context::tokens::Meter;
use ports::NewRecord;

use super::Conversation;
use crate::log::{Logged, Usage};

impl Conversation {
    /// Counts as this model does from now on.
    pub fn count_for(&mut self, model: &str, meter: &Meter) {
        if self.counts_for != model {
            model.clone_into(&mut self.counts_for);
            self.head.0.clear();
            self.session.set_meter(meter.clone());
            self.calibrate();
        }
    }

    /// Counts are corrected by what the server said before, also before a restart.
    fn calibrate(&mut self) {
        let Self {
            session,
            usages,
            counts_for,
            ..
        } = self;
        for usage in usages.iter().filter(|usage| usage.model == *counts_for) {
            session.record_usage(usage.counted, usage.reported);
        }
    }

    /// What stands before the messages, in tokens; the last part lists the tools.
    pub fn head_tokens(&mut self, system: &[&str], tools: &str, meter: &Meter) -> usize {
        let parts = || system.iter().copied().chain([tools]);
        if !parts().eq(self.head.0.iter().map(String::as_str)) {
            let tokens = system.iter().map(|text| meter.text(text)).sum::<usize>() + meter.tools(tools);
            self.head = (parts().map(str::to_owned).collect(), tokens);
        }
        self.head.1
    }

    /// A server's window in the tokens that are counted here, after it refused a prompt of so many of its own.
    pub fn window_as_counted(&mut self, window: usize, prompt_tokens: usize, beside: usize) -> usize {
        let usage = self.usage(prompt_tokens, beside);
        self.session.record_usage(usage.counted, usage.reported);
        let counted = self.session.view_tokens() + beside;
        if counted >= prompt_tokens {
            return window;
        }
        // It is not believed yet that so much more is counted there.
        window * counted / prompt_tokens
    }

    /// What the server counted of the view that was sent.
    pub fn learn_usage(&mut self, prompt_tokens: usize, beside: usize) -> NewRecord {
        let usage = self.usage(prompt_tokens, beside);
        self.apply(&Logged::Usage(usage))
    }

    fn usage(&self, prompt_tokens: usize, beside: usize) -> Usage {
        Usage {
            model: self.counts_for.clone(),
            counted: self.session.tokens(),
            reported: prompt_tokens.saturating_sub(beside),
        }
    }
}
