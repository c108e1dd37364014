//! Counts of a conversation in its model's tokens.
//!
//! Owns: the vocabulary of token counts, the tokens before the messages, the counts that servers reported. Never:
//! counting (`context::tokens`).

use context::tokens::Meter;

use super::Conversation;
use crate::conversation::log::{Logged, Usage};

impl Conversation {
    /// Counts with this model's vocabulary from now on.
    pub fn count_for(&mut self, model: &str, meter: &Meter) {
        if self.counts_for != model {
            model.clone_into(&mut self.counts_for);
            self.head.0.clear();
            self.session.set_meter(meter.clone());
            self.calibrate();
        }
    }

    /// Corrects the estimates by the server's earlier counts, also after a restart.
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

    /// Tokens of the text before the messages; the last part lists the tools.
    pub fn head_tokens(&mut self, system: &[&str], tools: &str, meter: &Meter) -> usize {
        let parts = || system.iter().copied().chain([tools]);
        if !parts().eq(self.head.0.iter().map(String::as_str)) {
            let tokens = system.iter().map(|text| meter.text(text)).sum::<usize>() + meter.tools(tools);
            self.head = (parts().map(str::to_owned).collect(), tokens);
        }
        self.head.1
    }

    /// A server's window in our own tokens, after it refused a prompt with this number of its tokens.
    pub fn window_as_counted(&mut self, window: usize, prompt_tokens: usize, beside: usize) -> usize {
        let usage = self.usage(prompt_tokens, beside);
        self.session.record_usage(usage.counted, usage.reported);
        let counted = self.session.view_tokens() + beside;
        if counted >= prompt_tokens {
            return window;
        }
        // A larger difference between the two counts is not plausible.
        window * counted / prompt_tokens
    }

    /// Records the server's token count of the view that was sent.
    pub fn learn_usage(&mut self, prompt_tokens: usize, beside: usize) {
        let usage = self.usage(prompt_tokens, beside);
        self.record(&Logged::Usage { usage });
    }

    fn usage(&self, prompt_tokens: usize, beside: usize) -> Usage {
        Usage {
            model: self.counts_for.clone(),
            counted: self.session.tokens(),
            reported: prompt_tokens.saturating_sub(beside),
        }
    }
}
