//! The records of a conversation's log.
//!
//! Owns: the events besides those of the view (`context`) and of sent messages (`prefix`). Invariant:
//! `read(write(logged)) == logged`. Never: where a record is kept.
//!
//! | `event` | fields |
//! |---|---|
//! | `appended` | `bytes`: JSON text of a message that no request carried yet |
//! | `taken` | `count`: this number of appended messages, oldest first, went unchanged into a request |
//! | `budget` | `window`, `reserve`, `tools`, `injected`, `safety`, in tokens: the budget of requests from here on; `source` of the window |
//! | `usage` | `usage`: `model`, `counted`, `reported`: a server's token count of a view |
//! | `learns` | `learns`: whether memory may learn from messages from here on; before the first such record, it may |
//! | `frame` | `text`: the rest of the last request, as its sender wrote it; it holds until the next |

use context::budget::Budget;
use context::event::ViewEvent;
use context::guard::WindowSource;
use prefix::shadow::ShadowEvent;
use serde::{Deserialize, Serialize};

/// One event of a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case", deny_unknown_fields)]
pub enum Logged {
    /// A message was sent or answered.
    #[serde(skip)]
    Sent(ShadowEvent),
    /// The view changed.
    #[serde(skip)]
    View(ViewEvent),
    /// A message arrived that no request carried yet.
    Appended { bytes: String },
    /// This number of appended messages was sent.
    Taken { count: usize },
    /// Budget of the requests from here on, and the source of its window.
    Budget(BudgetRecord),
    /// A server's token count of a view, with our own count.
    Usage { usage: Usage },
    /// The last request without its messages, in its sender's format.
    Frame { text: String },
    /// Whether memory may learn from the messages from here on.
    Learns { learns: bool },
}

/// A server's token count of a view.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Usage {
    /// The model whose vocabulary our own count used.
    pub model: String,
    pub counted: usize,
    pub reported: usize,
}

/// A budget, as it is written in the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BudgetRecord {
    window: usize,
    reserve: usize,
    tools: usize,
    injected: usize,
    safety: usize,
    #[serde(default)]
    source: String,
}

impl BudgetRecord {
    pub(crate) fn new(budget: Budget, source: WindowSource) -> Self {
        Self {
            window: budget.window,
            reserve: budget.reserve,
            tools: budget.tools,
            injected: budget.injected,
            safety: budget.safety,
            source: source.as_str().to_owned(),
        }
    }

    /// The budget, and the source of its window.
    pub(crate) fn read(&self) -> (Option<Budget>, WindowSource) {
        let budget = Budget {
            window: self.window,
            reserve: self.reserve,
            tools: self.tools,
            injected: self.injected,
            safety: self.safety,
        };
        let source = WindowSource::parse(&self.source);
        (Some(budget), source.unwrap_or(WindowSource::Default))
    }
}

/// The record of an event.
pub(crate) fn write(logged: &Logged) -> String {
    match logged {
        Logged::Sent(event) => prefix::record::write(event),
        Logged::View(event) => context::record::write(event),
        own => serde_json::to_string(own).expect("a record has string keys and whole numbers"),
    }
}

/// The event of a record; none if the text is not a record.
pub(crate) fn read(body: &str) -> Option<Logged> {
    let sent = prefix::record::read(body).map(Logged::Sent).ok();
    sent.or_else(|| context::record::read(body).map(Logged::View).ok())
        .or_else(|| serde_json::from_str(body).ok())
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
            Logged::Appended {
                bytes: "{\"role\":\"user\"}".to_owned(),
            },
            Logged::Taken { count: 2 },
            Logged::Frame {
                text: "{}".to_owned(),
            },
            Logged::Learns { learns: false },
            Logged::Budget(BudgetRecord::new(Budget::view(4_096), WindowSource::ModelConfig)),
            Logged::Usage {
                usage: Usage {
                    model: "tiny".to_owned(),
                    counted: 90,
                    reported: 100,
                },
            },
        ];
        for logged in all {
            assert_eq!(read(&write(&logged)), Some(logged));
        }
        assert_eq!(read("{\"event\":\"other\"}"), None);
    }

    /// The records of the previous version.
    #[test]
    fn records_keep_their_form() {
        for record in [
            r#"{"event":"appended","bytes":"{}"}"#,
            r#"{"event":"taken","count":2}"#,
            r#"{"event":"frame","text":"{}"}"#,
            r#"{"event":"learns","learns":false}"#,
            r#"{"event":"usage","usage":{"model":"tiny","counted":90,"reported":100}}"#,
            r#"{"event":"budget","window":8,"reserve":1,"tools":2,"injected":3,"safety":4,"source":"session"}"#,
            r#"{"event":"reply","bytes":"{}"}"#,
            r#"{"event":"epoch","number":1,"reasons":["opened","model_changed"],"front":0,"kept":0,"fragments":0,"head":null,"edits":[]}"#,
        ] {
            let logged = read(record).expect(record);
            assert_eq!(write(&logged), record);
        }
        let old = r#"{"event":"budget","window":8,"reserve":1,"tools":2,"injected":3,"safety":4}"#;
        assert!(
            matches!(read(old), Some(Logged::Budget(budget)) if budget.read().1 == WindowSource::Default)
        );
        assert_eq!(read(r#"{"event":"taken","count":2,"more":1}"#), None);
        assert_eq!(
            read(
                r#"{"event":"epoch","number":1,"reasons":["other"],"front":0,"kept":0,"fragments":0,"head":null,"edits":[]}"#
            ),
            None
        );
    }
}
