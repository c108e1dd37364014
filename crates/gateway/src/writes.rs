//! Writes that continue after their client disconnects.
//!
//! Owns: the tasks of requests that write; a client that disconnects loses its answer, not its add. Never: reads.

use std::time::Duration;

use parking_lot::Mutex;
use ports::Clock;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

/// Running writes, each in a task of its own.
#[derive(Debug, Default)]
pub(crate) struct Writes {
    set: Mutex<JoinSet<()>>,
}

impl Writes {
    /// Runs a write to its end, even if nobody waits for the answer; none if it panicked or was aborted.
    pub(crate) async fn see_through<T: Send + 'static>(
        &self,
        write: impl Future<Output = T> + Send + 'static,
    ) -> Option<T> {
        let (sender, answer) = oneshot::channel();
        {
            let mut set = self.set.lock();
            // Finished tasks keep their memory until they are joined.
            while set.try_join_next().is_some() {}
            set.spawn(async move {
                // The client may be gone.
                drop(sender.send(write.await));
            });
        }
        answer.await.ok()
    }

    /// Waits for all writes, and aborts those that take longer than the bound.
    pub(crate) async fn end(&self, clock: &dyn Clock, bound: Duration) {
        let mut set = std::mem::take(&mut *self.set.lock());
        tokio::select! {
            () = async { while set.join_next().await.is_some() {} } => {}
            () = clock.sleep(bound) => set.shutdown().await,
        }
    }
}
