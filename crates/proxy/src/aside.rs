//! Large requests, beside the threads that everybody's requests share.
//!
//! Owns: from which size on, and that work which nobody waits for any more ends. Never: the work.

use std::future::Future;

use tokio::runtime::Handle;
use tokio::sync::oneshot;

use crate::refusal::Refusal;

/// To read and count as much takes a few milliseconds, in which nobody else's request goes on.
const LARGE_BYTES: usize = 128 << 10;

/// What the work of a request with a body of so many bytes comes to.
pub(crate) async fn if_large<T: Send + 'static>(
    bytes: usize,
    work: impl Future<Output = T> + Send + 'static,
) -> Result<T, Refusal> {
    if bytes < LARGE_BYTES {
        return Ok(work.await);
    }
    // Dropped with this future.
    let (_waits, gone) = oneshot::channel::<()>();
    let runtime = Handle::current();
    let done = tokio::task::spawn_blocking(move || {
        runtime.block_on(async {
            tokio::select! {
                biased;
                _ = gone => None,
                done = work => Some(done),
            }
        })
    });
    match done.await {
        Ok(Some(done)) => Ok(done),
        Ok(None) => Err(Refusal::ending()),
        Err(failed) => match failed.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => Err(Refusal::ending()),
        },
    }
}
