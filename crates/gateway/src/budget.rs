//! The total size of bodies in memory at once.
//!
//! Owns: the queue of large bodies: the server reads one only when it has room. Never: the limit of a single body.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, HttpBody as _};
use axum::http::HeaderMap;
use axum::http::header::{CONTENT_ENCODING, CONTENT_LENGTH};
use memory::Engine;
use ports::Clock;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::failure::Failure;
use crate::wire::ErrorCode;

/// A smaller body needs no room: most requests are small.
const FREE_BYTES: usize = 64 << 10;
/// Maximum time that a client waits for room before the server refuses it.
const PATIENCE: Duration = Duration::from_secs(30);
const KIBIBYTE: usize = 1 << 10;

/// Room for bodies, in KiB.
#[derive(Debug, Clone)]
pub(crate) struct Budget {
    room: Arc<Semaphore>,
    all: u32,
}

/// The room of a body, until this is dropped; none for a small body.
#[derive(Debug, Default)]
pub(crate) struct Hold(Option<OwnedSemaphorePermit>);

impl Budget {
    /// Shares the room with the long segments of an engine.
    pub(crate) fn shared_with(self, engine: &Engine) -> Self {
        engine.share_room(self.room.clone(), self.all);
        self
    }

    /// A budget of this many bytes.
    pub(crate) fn of(bytes: usize) -> Self {
        let all = kibibytes(bytes);
        Self {
            room: Arc::new(Semaphore::new(all as usize)),
            all,
        }
    }

    /// Waits for the room of a body of this size.
    pub(crate) async fn hold(&self, bytes: usize, clock: &dyn Clock) -> Result<Hold, Failure> {
        if bytes <= FREE_BYTES {
            return Ok(Hold::default());
        }
        let room = self
            .room
            .clone()
            .acquire_many_owned(kibibytes(bytes).min(self.all));
        tokio::select! {
            biased;
            held = room => Ok(Hold(Some(held.expect("it is never closed")))),
            () = clock.sleep(PATIENCE) => Err(Failure::new(
                ErrorCode::CapabilityUnavailable,
                "the server is busy with other large bodies: try again, with less at a time",
            )),
        }
    }
}

impl Hold {
    /// Returns the room beyond this size.
    pub(crate) fn shrink(&mut self, bytes: usize) {
        if let Self(Some(held)) = self {
            let spare = held.num_permits().saturating_sub(kibibytes(bytes) as usize);
            drop(held.split(spare));
        }
    }
}

/// The size of a body; `bytes_max` for a body that is compressed or announces no size.
pub(crate) fn size(headers: &HeaderMap, body: &Body, bytes_max: usize) -> usize {
    let exact = body.size_hint().exact();
    let said = exact.map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
    match said.or_else(|| announced(headers)) {
        Some(bytes) if bytes == 0 || !headers.contains_key(CONTENT_ENCODING) => bytes,
        _ => bytes_max,
    }
}

/// The announced length of a request's body.
pub(crate) fn announced(headers: &HeaderMap) -> Option<usize> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

fn kibibytes(bytes: usize) -> u32 {
    u32::try_from(bytes.div_ceil(KIBIBYTE)).unwrap_or(u32::MAX)
}
