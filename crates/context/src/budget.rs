//! Maximum size of a view, and the error if a view does not fit.
//!
//! Owns: the arithmetic of a request's window. Never: counting tokens.

use std::fmt;

/// Budget of one request, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// The model's window.
    pub window: usize,
    /// Kept free for the answer.
    pub reserve: usize,
    /// The schemas of the tools that go with the request.
    pub tools: usize,
    /// Additions of the host to the view: injected memory, a date, a provider's framing.
    pub injected: usize,
    /// Safety margin for errors of an estimate.
    pub safety: usize,
}

impl Budget {
    /// A budget for the view alone.
    pub fn view(tokens: usize) -> Self {
        Self {
            window: tokens,
            reserve: 0,
            tools: 0,
            injected: 0,
            safety: 0,
        }
    }

    /// Maximum tokens of the view.
    pub fn limit(&self) -> usize {
        self.window
            .saturating_sub(self.reserve + self.tools + self.injected + self.safety)
    }
}

/// A share of a number of tokens or bytes, rounded down; the share is 0 or more.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a conversion from a float saturates"
)]
pub(crate) fn share_of(whole: usize, share: f64) -> usize {
    (whole as f64 * share) as usize
}

/// Used share of a limit, in percent; 100 if the limit is 0.
pub(crate) fn percent_of(limit: usize, used: usize) -> f64 {
    if limit == 0 {
        100.0
    } else {
        100.0 * used as f64 / limit as f64
    }
}

model::worded! {
    /// A part of a request that cannot be made smaller.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum FixedPart {
        System = "system",
        Pinned = "pinned",
        CurrentRequest = "current_request",
        /// Calls that still run, or the newest call with its result cut to the minimum.
        ToolLoop = "tool_loop",
        Summary = "summary",
        History = "history",
        Tools = "tools",
        Injected = "injected",
        Reserve = "reserve",
        Safety = "safety",
    }
}

model::worded! {
    /// Why there is no view.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum OverBudgetCode {
        /// The newest message of the user alone does not fit.
        CurrentRequestExceedsBudget = "CURRENT_REQUEST_EXCEEDS_BUDGET",
        /// An engine dropped the newest message of the user.
        CurrentRequestDropped = "CURRENT_REQUEST_DROPPED",
        /// The required items do not fit, or an engine returned more than fits.
        CompactionExceedsLimit = "COMPACTION_EXCEEDS_LIMIT",
    }
}

/// No view fits; lists the parts with their tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OverBudget {
    pub code: OverBudgetCode,
    /// Maximum tokens of the view.
    pub limit: usize,
    /// Tokens of the smallest view that was found.
    pub tokens: usize,
    /// The parts of the request that have tokens, in the order of [`FixedPart`].
    pub parts: Vec<(FixedPart, usize)>,
}

impl fmt::Display for OverBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<String> = self
            .parts
            .iter()
            .map(|(part, tokens)| format!("{} {tokens}", part.as_str()))
            .collect();
        let (tokens, limit) = (self.tokens, self.limit);
        write!(
            f,
            "the smallest view has {tokens} tokens, the limit is {limit} ({})",
            parts.join(", ")
        )?;
        match self.code {
            OverBudgetCode::CurrentRequestExceedsBudget => {
                f.write_str(": shorten the last message or use a wider window")
            }
            OverBudgetCode::CurrentRequestDropped => f.write_str(": the engine dropped the last message"),
            OverBudgetCode::CompactionExceedsLimit => {
                f.write_str(": unpin items, shorten the system prompt or the tools, or use a wider window")
            }
        }
    }
}

impl std::error::Error for OverBudget {}
