//! Tasks that must run to their end: a compaction, work after an answer, a write whose client has gone.
//!
//! Owns: waiting for them, and their end at a shutdown: no task outlives it. Never: their work.

use std::time::Duration;

use ports::Clock;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Tasks of one part. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Endings {
    tasks: TaskTracker,
    over: CancellationToken,
}

impl Endings {
    /// Runs the work to its end, even if its caller is gone; none if [`Endings::finish`] ended it, or was called before.
    pub fn spawn<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> JoinHandle<Option<T>> {
        self.tasks
            .spawn(self.over.clone().run_until_cancelled_owned(work))
    }

    /// Waits for the running tasks.
    pub async fn rest(&self) {
        self.tasks.close();
        self.tasks.wait().await;
        self.tasks.reopen();
    }

    /// Waits for the running tasks at most until the bound, and drops the rest.
    pub async fn finish(&self, clock: &dyn Clock, bound: Duration) {
        self.tasks.close();
        tokio::select! {
            () = self.tasks.wait() => {}
            () = clock.sleep(bound) => tracing::warn!(tasks = self.tasks.len(), "shutdown timeout; unfinished tasks abandoned"),
        }
        self.over.cancel();
        self.tasks.wait().await;
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use testkit::clock::ManualClock;

    use super::*;

    #[tokio::test]
    async fn a_task_beyond_the_bound_is_dropped_and_no_task_starts_after_the_end() {
        let (endings, clock) = (Endings::default(), ManualClock::default());
        let stuck = endings.spawn(pending::<()>());
        let bound = Duration::from_secs(1);
        tokio::join!(endings.finish(&clock, bound), async {
            clock.sleeping(1).await;
            assert!(!stuck.is_finished(), "it may take its time");
            clock.advance(bound);
        });
        assert!(stuck.is_finished());
        let late = endings.spawn(pending::<()>()).await;
        assert_eq!(late.expect("it ends by itself"), None);
    }
}
