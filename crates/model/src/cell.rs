//! What belongs together: a memcell, the run of messages that one episode tells.
//!
//! Owns: the memcell's shape. Never: deciding where a conversation is cut.

use crate::{CellId, Message, Owner, SessionKey, Timestamp};

/// Why a conversation was cut there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CutReason {
    /// A pause longer than the limit.
    Gap,
    /// The talk turned to something else.
    Topic,
    /// Too many messages or tokens to wait longer.
    Size,
    /// The client asked, or the session went idle.
    Flush,
    /// A model said so.
    Model,
}

impl CutReason {
    /// The word that stores and logs use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Gap => "gap",
            Self::Topic => "topic",
            Self::Size => "size",
            Self::Flush => "flush",
            Self::Model => "model",
        }
    }

    /// The reason of that word.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Gap, Self::Topic, Self::Size, Self::Flush, Self::Model]
            .into_iter()
            .find(|reason| reason.as_str() == word)
    }
}

/// A run of messages of one session that belongs together. A message is in the buffer or in exactly one memcell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    pub id: CellId,
    pub session: SessionKey,
    /// In order of time, then of arrival; never empty.
    pub messages: Vec<Message>,
    /// Who remembers it: the users who speak in it, else those of the session.
    pub owners: Vec<Owner>,
    pub reason: CutReason,
}

impl Cell {
    /// When its first message was said.
    pub fn started(&self) -> Timestamp {
        self.messages.first().map_or_else(Timestamp::default, |m| m.time)
    }

    /// When its last message was said.
    pub fn ended(&self) -> Timestamp {
        self.messages.last().map_or_else(Timestamp::default, |m| m.time)
    }
}
