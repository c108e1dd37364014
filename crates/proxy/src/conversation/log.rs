//! The records of a conversation's log.
//!
//! Owns: which events there are beside those of the view (`context`) and of what was sent (`prefix`). Invariant:
//! `read(write(logged)) == logged`. Never: where a record is kept.
//!
//! | `event` | fields |
//! |---|---|
//! | `appended` | `bytes`: JSON text of a message that no request carried yet |
//! | `taken` | `count`: so many of the appended messages, oldest first, went into a request as they are |
//! | `budget` | `window`, `reserve`, `tools`, `injected`, `safety`, in tokens: what requests from here on could weigh; `source` of the window |
//! | `usage` | `usage`: `model`, `counted`, `reported`: what a server counted of a view, in tokens |
//! | `learns` | `learns`: whether memory may learn from what arrives from here on; until the first, it may |
//! | `frame` | `text`: the rest of the last request, as its sender wrote it; it holds until the next |

use context::budget::Budget;
use context::event::ViewEvent;
use context::guard::WindowSource;
use prefix::shadow::ShadowEvent;
use serde::{Deserialize, Serialize};

/// One event of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub enum Logged {
    /// Something was sent or answered.
    Sent(ShadowEvent),
    /// The view changed.
    View(ViewEvent),
    /// A message arrived that no request carried yet.
    Appended(String),
    /// So many appended messages were sent.
    Taken(usize),
    /// Budget of the requests from here on, and the source of its window.
    Budget(Budget, WindowSource),
    /// A server's token count of a view, with our own count.
    Usage(Usage),
    /// The last request without its messages, in its sender's format.
    Frame(String),
    /// Whether memory may learn from the messages from here on.
    Learns(bool),
}

/// A server's token count of a view.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Usage {
    /// The model whose vocabulary counted here.
    pub model: String,
    pub counted: usize,
    pub reported: usize,
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case", deny_unknown_fields)]
enum Record {
    Appended {
        bytes: String,
    },
    Taken {
        count: usize,
    },
    Frame {
        text: String,
    },
    Learns {
        learns: bool,
    },
    Usage {
        usage: Usage,
    },
    Budget {
        window: usize,
        reserve: usize,
        tools: usize,
        injected: usize,
        safety: usize,
        #[serde(default)]
        source: String,
    },
}

/// The record of an event.
pub(crate) fn write(logged: &Logged) -> String {
    let record = match logged {
        Logged::Sent(event) => return prefix::record::write(event),
        Logged::View(event) => return context::record::write(event),
        Logged::Appended(bytes) => Record::Appended { bytes: bytes.clone() },
        Logged::Taken(count) => Record::Taken { count: *count },
        Logged::Budget(budget, source) => Record::Budget {
            window: budget.window,
            reserve: budget.reserve,
            tools: budget.tools,
            injected: budget.injected,
            safety: budget.safety,
            source: source.as_str().to_owned(),
        },
        Logged::Usage(usage) => Record::Usage { usage: usage.clone() },
        Logged::Frame(text) => Record::Frame { text: text.clone() },
        Logged::Learns(learns) => Record::Learns { learns: *learns },
    };
    serde_json::to_string(&record).expect("a record has string keys and whole numbers")
}

/// The event of a record; none for a text that is no record.
pub(crate) fn read(body: &str) -> Option<Logged> {
    let own = || match serde_json::from_str::<Record>(body).ok()? {
        Record::Appended { bytes } => Some(Logged::Appended(bytes)),
        Record::Taken { count } => Some(Logged::Taken(count)),
        Record::Frame { text } => Some(Logged::Frame(text)),
        Record::Learns { learns } => Some(Logged::Learns(learns)),
        Record::Usage { usage } => Some(Logged::Usage(usage)),
        Record::Budget {
            window,
            reserve,
            tools,
            injected,
            safety,
            source,
        } => {
            let budget = Budget {
                window,
                reserve,
                tools,
                injected,
                safety,
            };
            let source = WindowSource::parse(&source).unwrap_or(WindowSource::Default);
            Some(Logged::Budget(budget, source))
        }
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
            Logged::Sent(ShadowEvent::Reply {
                bytes: "{}".to_owned(),
            }),
            Logged::View(ViewEvent::Pin(transcript::ItemId(3))),
            Logged::Appended("{\"role\":\"user\"}".to_owned()),
            Logged::Taken(2),
            Logged::Frame("{}".to_owned()),
            Logged::Learns(false),
            Logged::Budget(Budget::view(4_096), WindowSource::ModelConfig),
            Logged::Usage(Usage {
                model: "tiny".to_owned(),
                counted: 90,
                reported: 100,
            }),
        ];
        for logged in all {
            assert_eq!(read(&write(&logged)), Some(logged));
        }
        assert_eq!(read("{\"event\":\"other\"}"), None);
    }
}
