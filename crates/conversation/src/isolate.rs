//! Running a hook so that its error, panic or endless wait stays its own.
//!
//! Owns: the bounds of a hook. Never: what follows from a fault; `conversation` decides.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures::future::{Either, FutureExt, select};
use ports::Clock;

use crate::hooks::EngineFault;

/// The longest that a hook may take in front of a user.
pub(crate) const HOOK_TIME_MAX: Duration = Duration::from_secs(5);

/// What the hook gives, or how it failed.
pub(crate) async fn run<T>(
    clock: &dyn Clock,
    hook: impl Future<Output = Result<T, EngineFault>>,
) -> Result<T, EngineFault> {
    let hook = std::pin::pin!(AssertUnwindSafe(hook).catch_unwind());
    let bound = std::pin::pin!(clock.sleep(HOOK_TIME_MAX));
    match select(hook, bound).await {
        Either::Left((Ok(result), _)) => result,
        Either::Left((Err(_), _)) => Err(EngineFault::Panicked),
        Either::Right(_) => Err(EngineFault::TimedOut(HOOK_TIME_MAX.as_millis())),
    }
}
