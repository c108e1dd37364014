//! Segments: a segment is the run of messages of one episode.
//!
//! Owns: the segment's shape. Never: deciding where a conversation is cut.

use crate::{CellId, Message, Owner, SessionKey, Timestamp};

crate::worded! {
    /// Reason for the cut after a segment.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum CutReason {
        /// A pause longer than the limit.
        Gap = "gap",
        /// The subject changed.
        Topic = "topic",
        /// Too many messages or tokens to wait longer.
        Size = "size",
        /// The client asked, or the session went idle.
        Flush = "flush",
        /// A model found the boundary.
        Model = "model",
    }
}

/// A run of messages of one session that belongs together. A message is in the buffer or in exactly one segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    pub id: CellId,
    pub session: SessionKey,
    /// In order of time, then of arrival; never empty.
    pub messages: Vec<Message>,
    /// Owners of the memory: the users who speak in the segment, else those of the session.
    pub owners: Vec<Owner>,
    pub reason: CutReason,
}

impl Cell {
    /// Estimated size of its messages, in bytes.
    pub fn bytes(&self) -> usize {
        self.messages.iter().map(Message::bytes).sum()
    }

    /// Time of its last message.
    pub fn ended(&self) -> Timestamp {
        self.messages.last().map_or_else(Timestamp::default, |m| m.time)
    }
}
