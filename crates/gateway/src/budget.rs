//! How many bytes of bodies the server holds at once.
//!
//! Owns: the turn of a large body: it is not read before it has room. Never: the limit of a single body.

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

/// A smaller body waits for nothing: most of a server's requests are small.
const FREE_BYTES: usize = 64 << 10;
/// A client whose body has no room for longer is sent away.
const PATIENCE: Duration = Duration::from_secs(30);
const KIBIBYTE: usize = 1 << 10;

/// Room for bodies, in KiB.
#[derive(Debug, Clone)]
pub(crate) struct Budget {
    room: Arc<Semaphore>,
    all: u32,
}

/// Room that a body has until this is dropped; none for a small one.
#[derive(Debug, Default)]
pub(crate) struct Hold(Option<OwnedSemaphorePermit>);

impl Budget {
    /// The same room for the long segments of an engine.
    pub(crate) fn shared_with(self, engine: &Engine) -> Self {
        engine.share_room(self.room.clone(), self.all);
        self
    }

    /// Room for as many bytes: at least for one body of the limit.
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
    /// Gives back what a body of this size does not need.
    pub(crate) fn shrink(&mut self, bytes: usize) {
        if let Self(Some(held)) = self {
            let spare = held.num_permits().saturating_sub(kibibytes(bytes) as usize);
            drop(held.split(spare));
        }
    }
}

/// The size of a body; one that does not say its size, or is compressed, may be as large as `bytes_max`.
pub(crate) fn size(headers: &HeaderMap, body: &Body, bytes_max: usize) -> usize {
    let exact = body.size_hint().exact();
    let said = exact.map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
    match said.or_else(|| announced(headers)) {
        Some(bytes) if bytes == 0 || !headers.contains_key(CONTENT_ENCODING) => bytes,
        _ => bytes_max,
    }
}

/// The length that a request announces.
pub(crate) fn announced(headers: &HeaderMap) -> Option<usize> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

fn kibibytes(bytes: usize) -> u32 {
    u32::try_from(bytes.div_ceil(KIBIBYTE)).unwrap_or(u32::MAX)
}
