//! The records of a conversation's log.
//!
//! Owns: which events there are beside those of the view (`context`) and of what was sent (`prefix`). Invariant:
//! `read(write(logged)) == logged`. Never: where a record is kept.
//!
//! | `event` | fields |
//! |---|---|
//! | `appended` | `bytes`: JSON text of a message that no request carried yet |
//! | `taken` | `count`: so many of the appended messages, oldest first, went into a request as they are |

use context::event::Event as ViewEvent;
use prefix::shadow::Event;
use serde::{Deserialize, Serialize};

/// One event of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub enum Logged {
    /// Something was sent or answered.
    Sent(Event),
    /// The view changed.
    View(ViewEvent),
    /// A message arrived that no request carried yet.
    Appended(String),
    /// So many appended messages were sent.
    Taken(usize),
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case", deny_unknown_fields)]
enum Record {
    Appended { bytes: String },
    Taken { count: usize },
}

/// The record of an event.
pub(crate) fn write(logged: &Logged) -> String {
    let record = match logged {
        Logged::Sent(event) => return prefix::record::write(event),
        Logged::View(event) => return context::record::write(event),
        Logged::Appended(bytes) => Record::Appended { bytes: bytes.clone() },
        Logged::Taken(count) => Record::Taken { count: *count },
    };
    serde_json::to_string(&record).expect("a record has string keys and whole numbers")
}

/// The event of a record; none for a text that is no record.
pub(crate) fn read(body: &str) -> Option<Logged> {
    let own = || match serde_json::from_str::<Record>(body).ok()? {
        Record::Appended { bytes } => Some(Logged::Appended(bytes)),
        Record::Taken { count } => Some(Logged::Taken(count)),
    };
    let sent = prefix::record::read(body).map(Logged::Sent).ok();
    sent.or_else(|| context::record::read(body).map(Logged::View).ok())
        .or_else(own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let all = [
            Logged::Sent(Event::Reply {
                bytes: "{}".to_owned(),
            }),
            Logged::View(ViewEvent::Pin(transcript::ItemId(3))),
            Logged::Appended("{\"role\":\"user\"}".to_owned()),
            Logged::Taken(2),
        ];
        for logged in all {
            assert_eq!(read(&write(&logged)), Some(logged));
        }
        assert_eq!(read("{\"event\":\"other\"}"), None);
    }
}
