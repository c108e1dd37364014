//! Restarts of background loops that panicked.
//!
//! Owns: counting panics, and the wait before a loop restarts. Never: the work of a loop.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures::FutureExt;
use model::Timestamp;
use parking_lot::Mutex;
use ports::Clock;

use super::tasks::panic_text;
use crate::error::EngineError;

/// The wait before a loop restarts: twice as long after each panic, up to a bound.
const WAIT_MIN: Duration = Duration::from_secs(1);
const WAIT_MAX: Duration = Duration::from_mins(1);

/// The panics of loops since the engine started.
#[derive(Debug, Default)]
pub(crate) struct Panics {
    seen: Mutex<PanicCount>,
}

/// The number of panics, and the time of the last one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct PanicCount {
    pub(crate) count: usize,
    pub(crate) last: Option<Timestamp>,
}

impl Panics {
    pub(crate) fn seen(&self) -> PanicCount {
        *self.seen.lock()
    }

    /// Does a piece of a loop's work; counts a panic and turns it into an error.
    pub(crate) async fn caught<T>(
        &self,
        name: &'static str,
        clock: &dyn Clock,
        work: impl Future<Output = Result<T, EngineError>>,
    ) -> Result<T, EngineError> {
        let done = AssertUnwindSafe(work).catch_unwind().await;
        done.unwrap_or_else(|panic| {
            let words = panic_text(&*panic);
            tracing::error!(name, panic = words, "a background loop panicked; continuing");
            let mut seen = self.seen.lock();
            seen.count += 1;
            seen.last = Some(clock.now());
            Err(EngineError::Panicked(words))
        })
    }
}

/// The wait after this number of panics of one loop.
pub(crate) fn wait(panics: u32) -> Duration {
    WAIT_MIN
        .saturating_mul(2_u32.saturating_pow(panics.saturating_sub(1)))
        .min(WAIT_MAX)
}
