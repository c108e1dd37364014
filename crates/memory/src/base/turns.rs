//! Turns for background work.
//!
//! Owns: how much of it runs beside requests. Never: the work.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use model::CellId;
use parking_lot::Mutex;
use tokio::sync::Semaphore;

/// Segments with more bytes are not written together, and one that has more alone is long.
pub(crate) const LONG_BYTES: usize = 1 << 20;

/// A long segment waits no longer for room: who has it may wait for the segment.
pub(super) const ROOM_WAIT: Duration = Duration::from_mins(1);

/// Turns for background work.
#[derive(Debug)]
pub(crate) struct Turns {
    /// Of what keeps a thread busy: requests find the other threads free.
    pub(super) busy: Semaphore,
    /// Of writing a long segment: one is in memory at a time.
    pub(crate) long: tokio::sync::Mutex<()>,
    /// The bytes of long segments that were cut and are not written. Of one that an earlier process cut, only reading it tells.
    pub(crate) long_cells: Mutex<BTreeMap<CellId, usize>>,
    /// The room that texts of requests have too, if there is a bound, and all of it, in KiB.
    pub(crate) room: OnceLock<(Arc<Semaphore>, u32)>,
}

impl Turns {
    /// The turns where so many threads serve requests.
    pub(super) fn new(threads: usize) -> Self {
        Self {
            busy: Semaphore::new((threads / 2).max(1)),
            long: tokio::sync::Mutex::default(),
            long_cells: Mutex::default(),
            room: OnceLock::new(),
        }
    }
}
