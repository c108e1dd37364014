//! The record of a shadow's event: one JSON object on one line, version 1.
//!
//! Owns: the format. Invariant: `read(write(event)) == event`. Never: the storage.
//!
//! | `event` | fields |
//! |---|---|
//! | `epoch` | `number`; `reasons`: words; `front`, `kept`: messages; `fragments`: the next id; `head`: null or an object; `edits` |
//! | `edit` | `range`: `start` and `end`; `messages`: JSON texts |
//! | `message` | `bytes`: JSON text as the client wrote it; `fragment`: null or an object |
//! | `reply` | `bytes`: JSON text |
//!
//! JSON texts are strings in the record, so that every byte of them survives.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::fragment::FragmentId;
use crate::shadow::{Fragment, Head, OwnHead, Reason, ShadowEdit, ShadowEvent};

/// A record that contains no event.
#[derive(Debug, thiserror::Error)]
#[error("not an event of a shadow")]
pub struct Unreadable(#[source] serde_json::Error);

/// The record of an event.
pub fn write(event: &ShadowEvent) -> String {
    serde_json::to_string(&Record::from(event.clone())).expect("a record has string keys and whole numbers")
}

/// The event of a record.
pub fn read(text: &str) -> Result<ShadowEvent, Unreadable> {
    serde_json::from_str::<Record>(text)
        .map(ShadowEvent::from)
        .map_err(Unreadable)
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case", deny_unknown_fields)]
enum Record {
    Epoch {
        number: u64,
        #[serde(with = "reason_names")]
        reasons: Vec<Reason>,
        front: usize,
        kept: usize,
        fragments: u64,
        head: Option<HeadRecord>,
        edits: Vec<EditRecord>,
    },
    Edit(EditRecord),
    Message {
        bytes: String,
        fragment: Option<FragmentRecord>,
    },
    Reply {
        bytes: String,
    },
}

/// A record with the fields of its event type, one to one.
macro_rules! mirror {
    ($record:ident of $noun:ident { $($field:ident: $kind:ty),+ $(,)? }) => {
        #[derive(Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        struct $record { $($field: $kind),+ }

        impl From<$noun> for $record {
            fn from(noun: $noun) -> Self {
                Self { $($field: noun.$field.into()),+ }
            }
        }

        impl From<$record> for $noun {
            fn from(record: $record) -> Self {
                Self { $($field: record.$field.into()),+ }
            }
        }
    };
}
mirror!(OwnHeadRecord of OwnHead { text: String, memories: Vec<String> });
mirror!(EditRecord of ShadowEdit { range: Range<usize>, messages: Vec<String> });
mirror!(HeadRecord of Head {
    model: String,
    system: Option<String>,
    tools: Vec<String>,
    messages: Vec<String>,
    own: OwnHeadRecord,
    client_system: String,
    client_tools: String,
});
mirror!(FragmentRecord of Fragment {
    id: u64,
    memories: Vec<String>,
    clock: Option<String>,
    text: String,
    at: usize,
    bytes: String,
});

impl From<FragmentId> for u64 {
    fn from(id: FragmentId) -> Self {
        id.0
    }
}

impl From<u64> for FragmentId {
    fn from(id: u64) -> Self {
        Self(id)
    }
}

/// Reasons as their names.
mod reason_names {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    use crate::shadow::Reason;

    pub(super) fn serialize<S: Serializer>(reasons: &[Reason], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(reasons.iter().map(|reason| reason.as_str()))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Reason>, D::Error> {
        let words = Vec::<String>::deserialize(from)?;
        let reason = |word: &String| Reason::parse(word).ok_or_else(|| D::Error::custom("no reason"));
        words.iter().map(reason).collect()
    }
}

fn all<From, To: std::convert::From<From>>(list: Vec<From>) -> Vec<To> {
    list.into_iter().map(To::from).collect()
}

/// Conversions between events and records.
macro_rules! converted {
    ($from:ident, $to:ident, |$head:ident| $told:expr) => {
        impl From<$from> for $to {
            fn from(event: $from) -> Self {
                match event {
                    $from::Epoch {
                        number,
                        reasons,
                        front,
                        kept,
                        fragments,
                        head,
                        edits,
                    } => Self::Epoch {
                        number,
                        reasons,
                        front,
                        kept,
                        fragments,
                        head: head.map(|$head| $told),
                        edits: all(edits),
                    },
                    $from::Edit(edit) => Self::Edit(edit.into()),
                    $from::Message { bytes, fragment } => Self::Message {
                        bytes,
                        fragment: fragment.map(Into::into),
                    },
                    $from::Reply { bytes } => Self::Reply { bytes },
                }
            }
        }
    };
}

converted!(ShadowEvent, Record, |head| HeadRecord::from(*head));
converted!(Record, ShadowEvent, |head| Box::new(head.into()));
