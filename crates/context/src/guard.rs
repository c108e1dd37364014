//! The guard of a model's window: how wide it is, who says so, and whether what is left is enough.
//!
//! Owns: the order of those who may say it, what is known of models, and the thresholds for a warning and for a block. Never:
//! asking a backend; a host tells what it learned.

mod windows;

#[cfg(test)]
mod tests;

pub use windows::known_window;

/// The window of a model that nobody knows, in tokens.
pub const WINDOW_DEFAULT: usize = 128_000;

/// Who says how wide a window is; the first one that says anything decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Source {
    Session,
    Agent,
    ModelConfig,
    /// The backend itself, or what is known of the model.
    Model,
    Default,
}

impl Source {
    pub fn name(self) -> &'static str {
        match self {
            Self::Session => "sessionConfig",
            Self::Agent => "agentConfig",
            Self::ModelConfig => "modelsConfig",
            Self::Model => "model",
            Self::Default => "default",
        }
    }
}

/// What each source says, in tokens. Zero says nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Claims {
    pub session: Option<usize>,
    pub agent: Option<usize>,
    pub model_config: Option<usize>,
    /// What a live backend said of its model; it outweighs what is known of the name.
    pub backend: Option<usize>,
    pub model: Option<String>,
}

/// A window, and who says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    pub tokens: usize,
    pub source: Source,
    pub model: Option<String>,
}

impl Window {
    /// The window that the claims give.
    pub fn resolve(claims: &Claims) -> Self {
        let known = || claims.model.as_deref().and_then(known_window);
        let said = [
            (claims.session, Source::Session),
            (claims.agent, Source::Agent),
            (claims.model_config, Source::ModelConfig),
            (
                claims.backend.filter(|tokens| *tokens > 0).or_else(known),
                Source::Model,
            ),
        ];
        let first = said
            .into_iter()
            .find_map(|(tokens, source)| Some((tokens.filter(|tokens| *tokens > 0)?, source)));
        let (tokens, source) = first.unwrap_or((WINDOW_DEFAULT, Source::Default));
        Self {
            tokens,
            source,
            model: claims.model.clone(),
        }
    }

    /// What may be planned for, in tokens: counts of other vocabularies may be short by a fifth.
    pub fn safe_budget(&self) -> usize {
        // Divided by 1.2, in whole numbers that cannot overflow.
        self.tokens / 6 * 5 + self.tokens % 6 * 5 / 6
    }

    /// Whether the share of the window is in use.
    pub fn should_compact(&self, used: usize, share: f64) -> bool {
        used as f64 >= self.tokens as f64 * share
    }
}

/// The number of tokens that a text of a configuration says: a positive whole number, and nothing but it.
pub fn tokens_of_text(text: &str) -> Option<usize> {
    let digits = text.trim();
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| digits.parse().ok())?.filter(|tokens| *tokens > 0)
}

/// The number of tokens that a number of a configuration says: its whole part, if that is positive.
pub fn tokens_of_number(number: f64) -> Option<usize> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "checked, and the whole part is meant"
    )]
    let whole = (number.is_finite() && number < 2f64.powi(53)).then_some(number as usize)?;
    (number >= 1.0).then_some(whole)
}

/// What must be left: the tokens, or the share of the window if that is less.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reserve {
    pub tokens: usize,
    /// 0 to 1; without it, a window narrower than the tokens never has enough.
    pub share: Option<f64>,
}

impl Reserve {
    fn of(self, window_tokens: usize) -> usize {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a share of a number of tokens"
        )]
        let share_tokens = self
            .share
            .map_or(usize::MAX, |share| (window_tokens as f64 * share) as usize);
        self.tokens.min(share_tokens).max(1)
    }
}

/// The thresholds of a guard.
#[derive(Debug, Clone, PartialEq)]
pub struct Limits {
    /// With less than this left, nothing more is sent; nothing at all is blocked without it.
    pub block: Option<Reserve>,
    /// With less than this left, a warning is due; there is none without it.
    pub warn: Option<Reserve>,
}

impl Limits {
    /// Ours: the older absolute thresholds, and an eighth and a quarter of a window that is small.
    pub fn quipu() -> Self {
        let reserve = |tokens, share| {
            Some(Reserve {
                tokens,
                share: Some(share),
            })
        };
        Self {
            block: reserve(16_000, 0.125),
            warn: reserve(32_000, 0.25),
        }
    }

    /// code-buddy's: 16,000 and 32,000 tokens of any window.
    pub fn codebuddy() -> Self {
        let reserve = |tokens| Some(Reserve { tokens, share: None });
        Self {
            block: reserve(16_000),
            warn: reserve(32_000),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Verdict {
    Ok,
    Warn,
    Block,
}

/// What a guard found.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    pub verdict: Verdict,
    /// Tokens.
    pub window: usize,
    /// Tokens.
    pub used: usize,
    /// Says what is left and what should be; for a warning or a block.
    pub message: Option<String>,
}

impl Finding {
    /// Tokens; negative if more is used than there is.
    pub fn remaining(&self) -> i64 {
        let signed = |tokens: usize| i64::try_from(tokens).unwrap_or(i64::MAX);
        signed(self.window) - signed(self.used)
    }

    /// Of the window; 100 if there is none.
    pub fn percent(&self) -> f64 {
        if self.window == 0 {
            100.0
        } else {
            100.0 * self.used as f64 / self.window as f64
        }
    }
}

/// What a host may want to tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Event {
    /// Told once until [`Guard::reset_warning`].
    Warning,
    /// Told at each check that blocks.
    Blocked,
    /// What is left was enough at the check before.
    ThresholdCrossed,
}

impl Event {
    /// A word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Warning => "warning",
            Self::Blocked => "blocked",
            Self::ThresholdCrossed => "threshold-crossed",
        }
    }
}

/// Watches one conversation's window.
#[derive(Debug, Clone, PartialEq)]
pub struct Guard {
    limits: Limits,
    window: Window,
    warned: bool,
    last: Option<Finding>,
}

impl Guard {
    pub fn new(limits: Limits, window: Window) -> Self {
        Self {
            limits,
            window,
            warned: false,
            last: None,
        }
    }

    /// Judges the use of so many tokens, and says what is to be told of it.
    pub fn check(&mut self, used: usize) -> (Finding, Vec<Event>) {
        let finding = evaluate(&self.limits, self.window.tokens, used);
        let mut events = Vec::new();
        match finding.verdict {
            Verdict::Block => events.push(Event::Blocked),
            Verdict::Warn if !self.warned => {
                self.warned = true;
                events.push(Event::Warning);
            }
            Verdict::Warn | Verdict::Ok => {}
        }
        let low = |finding: &Finding| {
            self.limits
                .warn
                .is_some_and(|warn| short(finding, warn).is_some())
        };
        if self.last.as_ref().is_some_and(|last| !low(last)) && low(&finding) {
            events.push(Event::ThresholdCrossed);
        }
        self.last = Some(finding.clone());
        (finding, events)
    }

    /// The next warning is told again.
    pub fn reset_warning(&mut self) {
        self.warned = false;
    }

    pub fn window(&self) -> &Window {
        &self.window
    }

    /// What was told, and what was found, stays: the next check compares with it.
    pub fn set_window(&mut self, window: Window) {
        self.window = window;
    }

    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    pub fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    /// What the last check found.
    pub fn last(&self) -> Option<&Finding> {
        self.last.as_ref()
    }
}

/// Judges the use of so many tokens of a window. A block is never a warning too.
pub fn evaluate(limits: &Limits, window: usize, used: usize) -> Finding {
    let mut finding = Finding {
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
                "{left} of {window} tokens are left in the context window; {needed} should be"
            ));
            break;
        }
    }
    finding
}

/// The tokens that should be left, if fewer are.
fn short(finding: &Finding, reserve: Reserve) -> Option<usize> {
    let needed = reserve.of(finding.window);
    let enough = finding
        .window
        .checked_sub(finding.used)
        .is_some_and(|left| left >= needed);
    (!enough).then_some(needed)
}
