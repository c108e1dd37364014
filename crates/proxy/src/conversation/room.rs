//! The part of a window that a request keeps free beside its view.
//!
//! Owns: the parts of the answer and of memory, the same for a turn and for who asks how full a window is. Never: counting tokens.

use context::budget::Budget;

use crate::conversation::state::Conversation;

/// Default reserve for the answer: this fraction of the window.
const RESERVE_PART: usize = 8;
/// The most that memory adds to a turn, in tokens.
pub const FRAGMENT_TOKENS_MAX: u32 = 350;
/// The most that core memory adds to the first turn that does not show it, in tokens.
const PAGES_TOKENS_MAX: usize = 150;
/// In a small window memory must not crowd out the conversation: at most this fraction of it.
const WINDOW_PART: usize = 16;

/// Reserve for the answer in tokens: as the request asks, at most half of the window.
pub fn reserve(window: usize, asked: Option<usize>) -> usize {
    asked.unwrap_or(window / RESERVE_PART).min(window / 2)
}

/// The most that memory adds to a turn in such a window, in tokens.
pub fn fragment(window: usize) -> usize {
    (FRAGMENT_TOKENS_MAX as usize).min(window / WINDOW_PART)
}

/// The same of core memory.
pub fn pages(window: usize) -> usize {
    PAGES_TOKENS_MAX.min(window / WINDOW_PART)
}

/// The room that a request keeps for all that is added, in tokens; none where it recalls nothing. They are counted roughly,
/// the window is not.
pub fn additions(window: usize, recalls: bool) -> usize {
    usize::from(recalls) * (fragment(window) + pages(window)) * 5 / 4
}

impl Conversation {
    /// Budget of a request in such a window, with the tools and the reserve of the last one; without a window, that of
    /// the last one.
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
