//! Tasks, locks and waiting.
//!
//! Owns: running, waiting and waking tasks. Never: a memory, a port other than the clock, another room.

mod due;
mod gate;
mod locks;
pub(crate) mod panics;
mod signal;
mod tasks;
mod work_time;

pub use due::Due;
pub(crate) use gate::{Everywhere, Inside, TenantGate};
pub(crate) use locks::KeyedLocks;
pub(crate) use panics::Panics;
pub(crate) use signal::Signal;
pub use tasks::panic_text;
pub(crate) use tasks::{QUICK_BYTES_MAX, Tasks, off_thread, on_text};
pub use work_time::{WorkTime, backoff};
