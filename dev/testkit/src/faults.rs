//! Ports that fail, or die, at a call that the test chooses.
//!
//! Owns: counting calls over all ports together. A process that dies hangs in its call for ever; the test
//! drops it.

mod faulty;

use std::sync::{Mutex, MutexGuard};

use tokio::sync::watch;

pub use faulty::Faulty;

/// The fault at the chosen call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// It fails without effect.
    Refuse,
    /// It fails although it has its effect.
    LoseAnswer,
    /// It panics without effect.
    Panic,
    /// The process dies before it.
    DieBefore,
    /// The process dies right after it.
    DieAfter,
}

/// All but a panic.
pub const MODES: [Mode; 4] = [Mode::Refuse, Mode::LoseAnswer, Mode::DieBefore, Mode::DieAfter];

/// The count of the calls of all ports together, and the planned fault.
#[derive(Debug)]
pub struct Faults {
    state: Mutex<State>,
    dead: watch::Sender<bool>,
    at_once: bool,
}

#[derive(Debug, Default)]
struct State {
    made: usize,
    plan: Option<(usize, Mode)>,
    /// A fault of the next call with that name.
    named: Option<(&'static str, Mode)>,
    /// The call that was hit.
    hit: Option<&'static str>,
}

impl Default for Faults {
    fn default() -> Self {
        Self {
            state: Mutex::default(),
            dead: watch::Sender::new(false),
            at_once: false,
        }
    }
}

impl Faults {
    /// The same with every call done at its first poll, also by a store with threads of its own. Then a run
    /// depends only on the order of polls.
    #[must_use]
    pub fn at_once(mut self) -> Self {
        self.at_once = true;
        self
    }

    /// Plans a fault for the n-th call from now, counted from 1.
    pub fn plan(&self, n: usize, mode: Mode) {
        let mut state = self.state();
        state.plan = Some((state.made + n, mode));
        state.hit = None;
    }

    /// Plans a fault for the next call with a name.
    pub fn plan_next(&self, name: &'static str, mode: Mode) {
        self.state().named = Some((name, mode));
    }

    /// Removes all faults; a dead process may call again.
    pub fn lift(&self) {
        self.state().plan = None;
        self.dead.send_replace(false);
    }

    /// Number of calls so far.
    pub fn made(&self) -> usize {
        self.state().made
    }

    /// The name of the call that a fault hit.
    pub fn hit(&self) -> Option<&'static str> {
        self.state().hit
    }

    /// Waits until the process dies.
    pub async fn death(&self) {
        self.dead
            .subscribe()
            .wait_for(|dead| *dead)
            .await
            .expect("the sender lives in self");
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nothing panics while counting")
    }

    async fn done<T>(&self, real: impl Future<Output = T>) -> T {
        if self.at_once {
            // Without a budget: a call with a used-up budget would wait for its own task.
            futures::executor::block_on(tokio::task::unconstrained(real))
        } else {
            real.await
        }
    }

    async fn call<T, E>(
        &self,
        name: &'static str,
        real: impl Future<Output = Result<T, E>>,
        error: impl FnOnce() -> E,
    ) -> Result<T, E> {
        let mode = {
            let mut state = self.state();
            state.made += 1;
            let counted = state.plan.filter(|(at, _)| *at == state.made);
            let named = state.named.filter(|(of, _)| *of == name);
            let mode = counted.map(|(_, mode)| mode).or(named.map(|(_, mode)| mode));
            if mode.is_some() {
                state.hit = Some(name);
                state.plan = None;
                state.named = None;
            }
            mode
        };
        if *self.dead.borrow() {
            return std::future::pending().await;
        }
        match mode {
            None => self.done(real).await,
            Some(Mode::Refuse) => Err(error()),
            Some(Mode::Panic) => panic!("planned panic in `{name}`"),
            Some(Mode::LoseAnswer) => {
                self.done(real).await?;
                Err(error())
            }
            Some(Mode::DieBefore) => self.die().await,
            Some(Mode::DieAfter) => {
                self.done(real).await?;
                self.die().await
            }
        }
    }

    async fn die<T>(&self) -> T {
        self.dead.send_replace(true);
        std::future::pending().await
    }
}
