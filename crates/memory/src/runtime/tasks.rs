//! Every background task of the engine, and its end.
//!
//! Owns: spawning, work on a thread of its own, the stop signal, the time limit of the end. Never: the work of a task.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures::FutureExt;
use parking_lot::Mutex;
use ports::Clock;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::oneshot;
use tokio::task::{JoinSet, block_in_place, spawn_blocking};
use tokio_util::sync::CancellationToken;

use crate::error::EngineError;

/// Work on more text than this takes so long that other tasks would notice.
pub(crate) const QUICK_BYTES_MAX: usize = 64 << 10;

/// A set of tasks that end together. The only place in the engine that spawns.
#[derive(Debug)]
pub(crate) struct Tasks {
    set: Mutex<JoinSet<()>>,
    stop: CancellationToken,
    /// The runtime on which the engine was started: its threads may have a lower priority than those that serve requests.
    background: Handle,
}

impl Tasks {
    /// Tasks in the background of the present runtime.
    pub(crate) fn new() -> Self {
        Self {
            set: Mutex::default(),
            stop: CancellationToken::new(),
            background: Handle::current(),
        }
    }

    /// Runs work in the background; starts nothing after the stop signal.
    pub(crate) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        self.start(work, &self.background);
    }

    fn start(&self, work: impl Future<Output = ()> + Send + 'static, on: &Handle) {
        if self.stop.is_cancelled() {
            return;
        }
        let mut set = self.set.lock();
        // Finished tasks keep their memory until they are joined.
        while set.try_join_next().is_some() {}
        set.spawn_on(work, on);
    }

    /// Runs work on another thread of the caller's runtime if one is free, and waits for it, also when it panics.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, EngineError> {
        let (sender, receiver) = oneshot::channel();
        let waited = async move {
            let done = AssertUnwindSafe(work).catch_unwind().await;
            // The waiting caller may be gone.
            drop(sender.send(done.map_err(|panic| EngineError::Panicked(panic_text(&*panic)))));
        };
        self.start(waited, &Handle::current());
        receiver.await.unwrap_or(Err(EngineError::Stopping))
    }

    /// The stop signal, for a task that waits for it.
    pub(crate) fn token(&self) -> CancellationToken {
        self.stop.clone()
    }

    /// Whether the stop signal was given.
    pub(crate) fn is_stopping(&self) -> bool {
        self.stop.is_cancelled()
    }

    /// Waits for the stop signal.
    pub(crate) async fn stopping(&self) {
        self.stop.cancelled().await;
    }

    /// The result of some work; none if the stop signal comes first.
    pub(crate) async fn unless_stopping<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            biased;
            () = self.stopping() => None,
            done = work => Some(done),
        }
    }

    /// Gives the stop signal, waits until every task has ended, and aborts those that take longer than the bound.
    pub(crate) async fn end(&self, clock: &dyn Clock, bound: Duration) {
        self.stop.cancel();
        let mut set = std::mem::take(&mut *self.set.lock());
        tokio::select! {
            biased;
            () = async { while set.join_next().await.is_some() {} } => {}
            () = clock.sleep(bound) => set.shutdown().await,
        }
    }

    /// Aborts every task at once.
    pub(crate) fn kill(&self) {
        self.stop.cancel();
        self.set.lock().abort_all();
    }
}

/// Does work that keeps a thread busy on a thread that serves no requests. In a simulation one thread does everything,
/// this too, so that the result does not depend on another thread's speed.
pub(crate) async fn off_thread<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, EngineError> {
    match Handle::current().runtime_flavor() {
        RuntimeFlavor::CurrentThread => Ok(work()),
        _ => spawn_blocking(work)
            .await
            .map_err(|ended| match ended.try_into_panic() {
                Ok(panic) => EngineError::Panicked(panic_text(&*panic)),
                Err(_) => EngineError::Stopping,
            }),
    }
}

/// Does work on borrowed data that keeps this thread busy, while another thread serves what this one would have served.
pub(crate) fn in_place<T>(work: impl FnOnce() -> T) -> T {
    match Handle::current().runtime_flavor() {
        RuntimeFlavor::CurrentThread => work(),
        _ => block_in_place(work),
    }
}

/// Does work on this many bytes of text: in place, if other tasks would notice how long it takes.
pub(crate) fn on_text<T>(bytes: usize, work: impl FnOnce() -> T) -> T {
    if bytes > QUICK_BYTES_MAX {
        in_place(work)
    } else {
        work()
    }
}

/// The message of a panic.
pub fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("no message")
        .to_owned()
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn work_on_long_text_does_not_block_other_tasks() {
        let tasks = Tasks::new();
        let (sender, receiver) = mpsc::channel();
        let working = tasks.run(async move {
            // The only thread has another task, which must run meanwhile.
            on_text(QUICK_BYTES_MAX + 1, || {
                receiver.recv_timeout(Duration::from_secs(10))
            })
        });
        let others = async move { sender.send(()).expect("it waits") };
        let (worked, ()) = tokio::join!(working, async {
            tokio::task::yield_now().await;
            tasks.run(others).await.expect("it ends");
        });
        worked.expect("it ends").expect("the other task ran");
    }

    #[test]
    fn background_work_runs_where_the_engine_was_started_and_a_callers_work_where_the_caller_is() {
        let runtime = |name: &str| {
            let mut builder = tokio::runtime::Builder::new_multi_thread();
            builder
                .worker_threads(1)
                .thread_name(name)
                .build()
                .expect("threads")
        };
        let (background, requests) = (runtime("background"), runtime("requests"));
        let tasks = background.block_on(async { Tasks::new() });
        let thread = || std::thread::current().name().map(str::to_owned);
        let (sender, receiver) = mpsc::channel();
        requests.block_on(async {
            tasks.spawn(async move { sender.send(thread()).expect("it waits") });
            let own = tasks.run(async move { thread() }).await.expect("it ends");
            assert_eq!(own.as_deref(), Some("requests"));
        });
        let spawned = receiver.recv_timeout(Duration::from_secs(10)).expect("it runs");
        assert_eq!(spawned.as_deref(), Some("background"));
    }
}
