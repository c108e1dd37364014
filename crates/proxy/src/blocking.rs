//! Runs the work of large requests on a thread of its own, so that it does not block other requests.
//!
//! Owns: the size from which this applies, and the end of abandoned work. Never: the work.

use std::future::Future;

use tokio::runtime::Handle;
use tokio::sync::oneshot;

use crate::refusal::Refusal;

/// Reading and counting this many bytes takes a few milliseconds, which would delay other requests.
const LARGE_BYTES: usize = 128 << 10;

/// Runs the work for a request with a body of this many bytes.
pub(crate) async fn if_large<T: Send + 'static>(
    bytes: usize,
    work: impl Future<Output = T> + Send + 'static,
) -> Result<T, Refusal> {
    if bytes < LARGE_BYTES {
        return Ok(work.await);
    }
    // Dropped with this future: that ends the work.
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
