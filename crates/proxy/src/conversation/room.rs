//! The part of a window that a request keeps free besides its view.
//!
//! Owns: the reserves for the answer and for memory, the same for a turn and for a report of the window's use. Never:
//! counting tokens.

use context::budget::Budget;

use crate::conversation::state::Conversation;

/// Default reserve for the answer: this fraction of the window.
const RESERVE_PART: usize = 8;
/// Maximum tokens that memory adds to a turn.
pub const FRAGMENT_TOKENS_MAX: u32 = 350;
/// Maximum tokens that core memory adds to the first turn whose view does not contain it.
const PAGES_TOKENS_MAX: usize = 150;
/// In a small window memory must not crowd out the conversation: at most this fraction of it.
const WINDOW_PART: usize = 16;

/// Reserve for the answer in tokens: as the request asks, at most half of the window.
pub fn reserve(window: usize, asked: Option<usize>) -> usize {
    asked.unwrap_or(window / RESERVE_PART).min(window / 2)
}

/// Maximum tokens that memory adds to a turn in a window of this size.
pub fn fragment(window: usize) -> usize {
    (FRAGMENT_TOKENS_MAX as usize).min(window / WINDOW_PART)
}

/// Maximum tokens that core memory adds to a turn in a window of this size.
pub fn pages(window: usize) -> usize {
    PAGES_TOKENS_MAX.min(window / WINDOW_PART)
}

/// Tokens that a request reserves for all additions; 0 if it recalls nothing. Includes a quarter more, because
/// additions are counted roughly and the window is not.
pub fn additions(window: usize, recalls: bool) -> usize {
    usize::from(recalls) * (fragment(window) + pages(window)) * 5 / 4
}

impl Conversation {
    /// Budget of a request in a window of this size, with the tools and the reserve of the last one; without a window,
    /// the budget of the last one.
    pub(crate) fn budget_in(&self, window: Option<usize>) -> Option<Budget> {
        let Some(window) = window else {
            return self.budget;
        };
        let asked = self.budget.map(|last| last.reserve);
        // A default reserve changes with the window.
        let asked = asked.filter(|asked| {
            self.budget
                .is_some_and(|last| reserve(last.window, None) != *asked)
        });
        let reserve = reserve(window, asked);
        Some(Budget {
            window,
            reserve,
            tools: self.budget.map_or(0, |last| last.tools),
            injected: additions(window, self.budget.is_none_or(|last| last.injected > 0)),
            safety: self.session.policy().safety(window.saturating_sub(reserve)),
        })
    }
}
