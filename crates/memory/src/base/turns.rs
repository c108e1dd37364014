//! Turns for background work.
//!
//! Owns: how much of it runs at the same time as requests. Never: the work.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use model::CellId;
use parking_lot::Mutex;
use tokio::sync::Semaphore;

/// Segments with more bytes in total are not written together; a single segment with more bytes is long.
pub(crate) const LONG_BYTES: usize = 1 << 20;

/// A long segment waits no longer for memory: the holder of the memory may itself wait for the segment.
pub(super) const ROOM_WAIT: Duration = Duration::from_mins(1);

/// Turns for background work.
#[derive(Debug)]
pub(crate) struct Turns {
    /// Turns for work that keeps a thread busy: the other threads are free for requests.
    pub(super) busy: Semaphore,
    /// Turn for writing a long segment: one is in memory at a time.
    pub(crate) long: tokio::sync::Mutex<()>,
    /// The bytes of long segments that were cut and not yet written. A segment cut by an earlier process must be read
    /// to know its size.
    pub(crate) long_cells: Mutex<BTreeMap<CellId, usize>>,
    /// The memory that requests share for their texts, if it is bounded, and its total in KiB.
    pub(crate) room: OnceLock<(Arc<Semaphore>, u32)>,
}

impl Turns {
    /// The turns for a server with this many threads.
    pub(super) fn new(threads: usize) -> Self {
        Self {
            busy: Semaphore::new((threads / 2).max(1)),
            long: tokio::sync::Mutex::default(),
            long_cells: Mutex::default(),
            room: OnceLock::new(),
        }
    }
}
