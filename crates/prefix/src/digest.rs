//! Fingerprints of messages.
//!
//! Owns: hashing of tagged, length-prefixed fields, so that no two lists of fields feed the same bytes. Never: choosing
//! the fields.

use std::fmt;

use sha2::{Digest as _, Sha256};

/// A SHA-256 fingerprint. It reads as 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(pub [u8; 32]);

impl Digest {
    pub fn of(bytes: &[u8]) -> Self {
        let mut feed = Feed::new("bytes");
        feed.field(b'b', bytes);
        feed.digest()
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Collects fields.
pub(crate) struct Feed(Sha256);

impl Feed {
    /// `purpose` separates digests of different kinds.
    pub(crate) fn new(purpose: &str) -> Self {
        let mut feed = Self(Sha256::new());
        feed.field(b'p', purpose.as_bytes());
        feed
    }

    pub(crate) fn field(&mut self, tag: u8, bytes: &[u8]) {
        self.0.update([tag]);
        self.0.update((bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
    }

    pub(crate) fn digest(self) -> Digest {
        Digest(self.0.finalize().into())
    }
}
