//! Whether the disk takes writes, and how long it will.
//!
//! Owns: the last write that found no room, until there is room again. Never: a test write; the file system is asked.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use model::text::size;
use parking_lot::Mutex;
use ports::{Clock, NoRoom, Room, Vault};

use crate::error::EngineError;

/// Below this, or below a twentieth of a smaller disk, there is a warning.
const LOW_BYTES: u64 = 64 << 20;
const LOW_SHARE: u64 = 20;
/// Below this, any write may fail.
const FULL_BYTES: u64 = 1 << 20;
/// On a disk that seems to have room, for example with a quota, a failed write says nothing about a write this much
/// later.
const FORGET_AFTER: Duration = Duration::from_mins(1);

/// The disk of the root.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DiskState {
    /// Free space, as the file system reports it; none if it reports nothing.
    pub room: Option<Room>,
    /// Why the engine can accept nothing now.
    pub refusal: Option<NoRoom>,
    /// Writes that found no room since the start.
    pub failures: u64,
}

impl DiskState {
    /// The same state without the path, for clients that may not know it.
    #[must_use]
    pub fn nameless(&self) -> Self {
        let mut nameless = self.clone();
        if let Some(room) = &mut nameless.room {
            room.path.clear();
        }
        nameless
    }

    /// The problem, with its remedy.
    pub(crate) fn problem(&self) -> Option<String> {
        let room = self.room.as_ref();
        let path = room.filter(|room| !room.path.is_empty());
        let path = path.map_or_else(String::new, |room| format!(" with `{}`", room.path));
        let free = room.map_or_else(String::new, |room| {
            format!(": {} are free", size(room.free_bytes))
        });
        match self.refusal {
            Some(NoRoom::Full) => Some(format!(
                "the disk{path} is full{free}. Quipu accepts no writes and loses nothing: free space, and it continues by itself"
            )),
            Some(NoRoom::ReadOnly) => Some(format!(
                "the disk{path} is read-only. Searches and lists work, writes are refused: mount it writable, and Quipu continues by itself"
            )),
            None if room.is_some_and(is_low) => Some(format!(
                "the disk{path} is almost full{free}. Free space before a write fails"
            )),
            None => None,
        }
    }
}

fn is_low(room: &Room) -> bool {
    room.free_bytes < LOW_BYTES.min(room.total_bytes / LOW_SHARE)
}

/// Notes writes that found no room.
#[derive(Debug, Default)]
pub(crate) struct RoomGauge {
    last: Mutex<Option<FailedWrite>>,
    failures: AtomicU64,
}

#[derive(Debug, Clone, Copy)]
struct FailedWrite {
    why: NoRoom,
    free_bytes: u64,
    at: Duration,
}

impl RoomGauge {
    /// Notes an error if its cause is a full or read-only disk.
    pub(crate) fn failed(&self, error: &EngineError, vault: &dyn Vault, clock: &dyn Clock) {
        let Some(why) = error.no_room() else {
            return;
        };
        self.failures.fetch_add(1, Ordering::Relaxed);
        let room = vault.room();
        if room.as_ref().is_some_and(|room| room.is_read_only) {
            // The file system itself shows when it is over.
            return;
        }
        let free_bytes = room.map_or(0, |room| room.free_bytes);
        let at = clock.elapsed();
        *self.last.lock() = Some(FailedWrite { why, free_bytes, at });
    }

    /// A write found room.
    pub(crate) fn succeeded(&self) {
        *self.last.lock() = None;
    }

    /// The present state.
    pub(crate) fn state(&self, vault: &dyn Vault, clock: &dyn Clock) -> DiskState {
        let room = vault.room();
        let last = *self.last.lock();
        let refusal = match &room {
            Some(room) if room.is_read_only => Some(NoRoom::ReadOnly),
            room => last
                .filter(|last| last.holds(room.as_ref(), clock))
                .map(|last| last.why),
        };
        DiskState {
            room,
            refusal,
            failures: self.failures.load(Ordering::Relaxed),
        }
    }
}

impl FailedWrite {
    /// Whether the failure still counts: until there is more room than then, or, on a disk that has room, for a minute.
    fn holds(self, room: Option<&Room>, clock: &dyn Clock) -> bool {
        let free = room.map_or(self.free_bytes, |room| room.free_bytes);
        let has_more = free >= self.free_bytes.saturating_add(FULL_BYTES);
        let is_recent = clock.elapsed().saturating_sub(self.at) < FORGET_AFTER;
        match self.why {
            NoRoom::ReadOnly => is_recent,
            NoRoom::Full => !has_more && (is_recent || (room.is_some() && free < FULL_BYTES)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use model::Zone;
    use ports::{LedgerError, VaultError};
    use testkit::clock::ManualClock;
    use testkit::vault::MemoryVault;

    use super::*;

    const GIB: u64 = 1 << 30;

    fn room(free_bytes: u64) -> Room {
        Room {
            path: "/data/memory".to_owned(),
            free_bytes,
            total_bytes: GIB,
            is_read_only: false,
        }
    }

    fn refused(why: NoRoom) -> EngineError {
        LedgerError::Store(Box::new(why.because("planned"))).into()
    }

    #[test]
    fn a_full_disk_is_reported_until_it_has_room_and_a_quota_for_a_minute() {
        let (vault, clock, gauge) = (
            MemoryVault::new(Zone::utc()),
            ManualClock::new(),
            RoomGauge::default(),
        );
        let refusal = || gauge.state(&vault, &clock).refusal;
        vault.set_room(Some(room(0)));
        assert_eq!(refusal(), None, "nobody wrote yet");
        gauge.failed(&refused(NoRoom::Full), &vault, &clock);
        clock.advance(FORGET_AFTER * 2);
        assert_eq!(refusal(), Some(NoRoom::Full), "it stays full");
        vault.set_room(Some(room(FULL_BYTES)));
        assert_eq!(refusal(), None, "there is room");

        vault.set_room(Some(room(GIB / 2)));
        gauge.failed(&refused(NoRoom::Full), &vault, &clock);
        assert_eq!(refusal(), Some(NoRoom::Full), "a quota");
        clock.advance(FORGET_AFTER);
        assert_eq!(refusal(), None, "who knows");

        vault.set_room(Some(room(0)));
        gauge.failed(&refused(NoRoom::Full), &vault, &clock);
        gauge.succeeded();
        assert_eq!(gauge.state(&vault, &clock).failures, 3);
        assert_eq!(refusal(), None, "a write was done");
    }

    #[test]
    fn a_read_only_disk_is_reported_until_it_is_writable() {
        let (vault, clock, gauge) = (
            MemoryVault::new(Zone::utc()),
            ManualClock::new(),
            RoomGauge::default(),
        );
        for is_read_only in [true, false] {
            vault.set_room(Some(Room {
                is_read_only,
                ..room(GIB / 2)
            }));
            let refusal = || gauge.state(&vault, &clock).refusal;
            assert_eq!(refusal(), is_read_only.then_some(NoRoom::ReadOnly));
            if is_read_only {
                gauge.failed(&refused(NoRoom::ReadOnly), &vault, &clock);
            }
        }
        assert_eq!(gauge.state(&vault, &clock).failures, 1);
    }

    #[test]
    fn an_error_of_another_cause_is_not_noted() {
        let (vault, clock, gauge) = (
            MemoryVault::new(Zone::utc()),
            ManualClock::new(),
            RoomGauge::default(),
        );
        let source = io::Error::other("planned");
        gauge.failed(
            &VaultError::Io {
                path: String::new(),
                source,
            }
            .into(),
            &vault,
            &clock,
        );
        assert_eq!(gauge.state(&vault, &clock), DiskState::default());
    }

    #[test]
    fn every_problem_of_the_disk_has_a_text() {
        let (vault, clock, gauge) = (
            MemoryVault::new(Zone::utc()),
            ManualClock::new(),
            RoomGauge::default(),
        );
        let problem = || gauge.state(&vault, &clock).problem().unwrap_or_default();
        assert_eq!(problem(), "");
        vault.set_room(Some(room(GIB / 2)));
        assert_eq!(problem(), "");
        vault.set_room(Some(room(5_000_000)));
        assert_eq!(
            problem(),
            "the disk with `/data/memory` is almost full: 5.0 MB are free. Free space before a write fails"
        );
        gauge.failed(&refused(NoRoom::Full), &vault, &clock);
        assert_eq!(
            problem(),
            "the disk with `/data/memory` is full: 5.0 MB are free. Quipu accepts no writes and loses nothing: free space, and it \
             continues by itself"
        );
        vault.set_room(Some(Room {
            is_read_only: true,
            ..room(GIB / 2)
        }));
        assert_eq!(
            gauge
                .state(&vault, &clock)
                .nameless()
                .problem()
                .unwrap_or_default(),
            "the disk is read-only. Searches and lists work, writes are refused: mount it writable, and Quipu continues by itself"
        );
    }
}
