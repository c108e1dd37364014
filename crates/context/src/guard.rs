//! The guard of a model's window: its width, the source of that number, and the check of the remaining tokens.
//!
//! Owns: the priority of the sources, the known windows of models, and the thresholds for a warning and for a block.
//! Never: asking a backend; a host passes its findings.

mod windows;

#[cfg(test)]
mod tests;

use crate::budget::{percent_of, share_of};

pub use windows::known_window;

/// Window of an unknown model, in tokens.
const WINDOW_DEFAULT: usize = 128_000;

model::worded! {
    /// Source of a window's width; the first source with a number decides.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum WindowSource {
        Session = "sessionConfig",
        Agent = "agentConfig",
        ModelConfig = "modelsConfig",
        /// The backend itself, or the known window of the model.
        Model = "model",
        Default = "default",
    }
}

/// Window of each source, in tokens. Zero means unknown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Claims {
    pub session: Option<usize>,
    pub agent: Option<usize>,
    pub model_config: Option<usize>,
    /// Window that a live backend reported; it overrides the window known by name.
    pub backend: Option<usize>,
    pub model: Option<String>,
}

/// A window, and its source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelWindow {
    pub tokens: usize,
    pub source: WindowSource,
    pub model: Option<String>,
}

impl ModelWindow {
    /// The window that follows from the claims.
    pub fn resolve(claims: &Claims) -> Self {
        let known = || claims.model.as_deref().and_then(known_window);
        let said = [
            (claims.session, WindowSource::Session),
            (claims.agent, WindowSource::Agent),
            (claims.model_config, WindowSource::ModelConfig),
            (
                claims.backend.filter(|tokens| *tokens > 0).or_else(known),
                WindowSource::Model,
            ),
        ];
        let first = said
            .into_iter()
            .find_map(|(tokens, source)| Some((tokens.filter(|tokens| *tokens > 0)?, source)));
        let (tokens, source) = first.unwrap_or((WINDOW_DEFAULT, WindowSource::Default));
        Self {
            tokens,
            source,
            model: claims.model.clone(),
        }
    }

    /// Narrows the window to at most this many tokens of the server.
    pub fn narrow(&mut self, tokens: usize) {
        if tokens < self.tokens {
            (self.tokens, self.source) = (tokens, WindowSource::Model);
        }
    }

    /// Window to plan for, in tokens: counts for other vocabularies can be a fifth too low.
    pub fn safe_budget(&self) -> usize {
        // Divided by 1.2, in whole numbers that cannot overflow.
        self.tokens / 6 * 5 + self.tokens % 6 * 5 / 6
    }
}

/// Minimum of remaining tokens: `tokens`, or the share of the window if that is less.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reserve {
    pub tokens: usize,
    /// 0 to 1.
    pub share: f64,
}

impl Reserve {
    fn of(self, window_tokens: usize) -> usize {
        self.tokens.min(share_of(window_tokens, self.share)).max(1)
    }
}

/// The thresholds of a guard.
#[derive(Debug, Clone, PartialEq)]
pub struct Limits {
    /// With less than this left, requests are blocked; none never blocks.
    pub block: Option<Reserve>,
    /// With less than this left, a warning is due; none never warns.
    pub warn: Option<Reserve>,
}

impl Limits {
    /// Ours: the older absolute thresholds, and an eighth and a quarter of a small window.
    pub fn quipu() -> Self {
        let reserve = |tokens, share| Some(Reserve { tokens, share });
        Self {
            block: reserve(16_000, 0.125),
            warn: reserve(32_000, 0.25),
        }
    }

    /// code-buddy's: 16,000 and 32,000 tokens of any window.
    pub fn codebuddy() -> Self {
        let reserve = |tokens| Some(Reserve { tokens, share: 1.0 });
        Self {
            block: reserve(16_000),
            warn: reserve(32_000),
        }
    }
}

model::worded! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Verdict {
        Ok = "ok",
        Warn = "warn",
        Block = "block",
    }
}

/// Result of a check.
#[derive(Debug, Clone, PartialEq)]
pub struct GuardFinding {
    pub verdict: Verdict,
    /// Tokens.
    pub window: usize,
    /// Tokens.
    pub used: usize,
    /// The remaining and the needed tokens; for a warning or a block.
    pub message: Option<String>,
}

impl GuardFinding {
    /// Remaining tokens; negative if the use exceeds the window.
    pub fn remaining(&self) -> i64 {
        let signed = |tokens: usize| i64::try_from(tokens).unwrap_or(i64::MAX);
        signed(self.window) - signed(self.used)
    }

    /// Used share of the window, in percent; 100 if the window is 0.
    pub fn percent(&self) -> f64 {
        percent_of(self.window, self.used)
    }
}

model::worded! {
    /// Events for a host.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum GuardEvent {
        /// Reported once until [`Guard::reset_warning`].
        Warning = "warning",
        /// Reported at each check that blocks.
        Blocked = "blocked",
        /// The previous check found enough.
        ThresholdCrossed = "threshold-crossed",
    }
}

/// Watches one conversation's window.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Guard {
    warned: bool,
    last: Option<GuardFinding>,
}

impl Guard {
    /// Judges the use of this many tokens of a window, and returns the events for the host.
    pub fn check(&mut self, limits: &Limits, window: usize, used: usize) -> (GuardFinding, Vec<GuardEvent>) {
        let finding = evaluate(limits, window, used);
        let mut events = Vec::new();
        match finding.verdict {
            Verdict::Block => events.push(GuardEvent::Blocked),
            Verdict::Warn if !self.warned => {
                self.warned = true;
                events.push(GuardEvent::Warning);
            }
            Verdict::Warn | Verdict::Ok => {}
        }
        let low = |finding: &GuardFinding| limits.warn.is_some_and(|warn| short(finding, warn).is_some());
        if self.last.as_ref().is_some_and(|last| !low(last)) && low(&finding) {
            events.push(GuardEvent::ThresholdCrossed);
        }
        self.last = Some(finding.clone());
        (finding, events)
    }

    /// Lets the next check warn again.
    pub fn reset_warning(&mut self) {
        self.warned = false;
    }
}

/// Judges the use of this many tokens of a window. A block is never also a warning.
fn evaluate(limits: &Limits, window: usize, used: usize) -> GuardFinding {
    let mut finding = GuardFinding {
        verdict: Verdict::Ok,
        window,
        used,
        message: None,
    };
    for (reserve, verdict) in [(limits.block, Verdict::Block), (limits.warn, Verdict::Warn)] {
        if let Some(needed) = reserve.and_then(|reserve| short(&finding, reserve)) {
            let left = finding.remaining();
            finding.verdict = verdict;
            finding.message = Some(format!(
                "{left} of {window} tokens are left in the context window; {needed} are needed"
            ));
            break;
        }
    }
    finding
}

/// The required tokens, if fewer are left.
fn short(finding: &GuardFinding, reserve: Reserve) -> Option<usize> {
    let needed = reserve.of(finding.window);
    let enough = finding
        .window
        .checked_sub(finding.used)
        .is_some_and(|left| left >= needed);
    (!enough).then_some(needed)
}
