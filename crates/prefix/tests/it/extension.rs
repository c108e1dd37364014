//! Invariant P over random conversations: without an epoch change a request extends the last one and its reply.
//!
//! Owns: a random client with recall, clocks, tool loops, edits and restarts. Every turn reads its records anew, as
//! after a restart.

use prefix::shadow::{OwnHead, Reason, ShadowEdit};
use proptest::prelude::*;
use testkit::caches::{Cache, Checkpoints, Rewind, Slots};

use crate::bench::{Host, assistant, call, outcome, sent, system, user};

#[derive(Debug, Clone)]
enum Op {
    Ask {
        text: String,
        memories: Vec<u8>,
        clock: u8,
        reply: String,
        echo: Echo,
    },
    Loop {
        arguments: String,
        steps: u8,
    },
    Regenerate,
    Edit {
        at: usize,
    },
    System,
    Tools,
    Compact,
    Head,
}

#[derive(Debug, Clone, Copy)]
enum Echo {
    Exact,
    Trimmed,
    Parts,
    Rewritten,
}

fn op() -> impl Strategy<Value = Op> {
    let echo = prop_oneof![6 => Just(Echo::Exact), 4 => Just(Echo::Trimmed), 4 => Just(Echo::Parts), 1 => Just(Echo::Rewritten)];
    let memories = prop::collection::vec(0_u8..12, 0..4);
    prop_oneof![
        9 => ("\\PC{0,12}", memories, 0_u8..4, "[ \n]?[a-z<\"\\\\☃]{1,9}[ \n]?", echo)
            .prop_map(|(text, memories, clock, reply, echo)| Op::Ask { text, memories, clock, reply, echo }),
        2 => ("\\PC{0,9}", 1_u8..4).prop_map(|(arguments, steps)| Op::Loop { arguments, steps }),
        1 => Just(Op::Regenerate),
        1 => (0_usize..9).prop_map(|at| Op::Edit { at }),
        1 => Just(Op::System),
        1 => Just(Op::Tools),
        1 => Just(Op::Compact),
        2 => Just(Op::Head),
    ]
}

struct World {
    host: Host,
    /// The client's own list.
    list: Vec<String>,
    system: String,
    /// The messages that the next request must begin with, unless an epoch begins.
    owed: Vec<String>,
    /// Reasons for which the next request may begin an epoch.
    due: Vec<Reason>,
    /// Rewindable, hybrid, strict.
    caches: [Slots; 3],
    count: usize,
    opened: bool,
}

fn tokens(messages: &[String]) -> Vec<u32> {
    messages
        .iter()
        .flat_map(|text| std::iter::once(256).chain(text.bytes().map(u32::from)))
        .collect()
}

impl World {
    fn new() -> Self {
        Self {
            host: Host::default(),
            list: Vec::new(),
            system: "s".to_owned(),
            owed: Vec::new(),
            due: Vec::new(),
            caches: [
                Rewind::Any,
                Rewind::Checkpoints(Checkpoints::flat()),
                Rewind::Never,
            ]
            .map(|rewind| Slots::new(rewind, 1)),
            count: 0,
            opened: false,
        }
    }

    /// Sends the list, with already sent messages restyled as clients do.
    fn request(&mut self, memories: &[u8], clock: Option<u8>) {
        let mut messages = vec![system(&self.system)];
        let last = self.list.len().saturating_sub(1);
        for (index, message) in self.list.iter().enumerate() {
            let restyled = (index + self.count).is_multiple_of(3) && index < last;
            messages.push(if restyled {
                restyle(message)
            } else {
                message.clone()
            });
        }
        let memories: Vec<(String, String)> = memories
            .iter()
            .map(|id| (id.to_string(), format!("memory {id} \"\\</quipu-memory>\n")))
            .collect();
        let memories: Vec<(&str, &str)> = memories
            .iter()
            .map(|(id, text)| (id.as_str(), text.as_str()))
            .collect();
        let clock = clock.map(|clock| format!("2026-06-07 09:{clock:02} UTC"));
        let composed = self.host.turn(&messages, &memories, clock.as_deref());
        let sent = sent(&composed);
        let expected = if self.opened {
            self.due.clone()
        } else {
            vec![Reason::Opened]
        };
        assert_eq!(composed.reasons(), expected);
        assert_eq!(composed.shadow, self.host.shadow(), "a restart changes nothing");
        let all = tokens(&sent);
        let cost = self.caches.each_mut().map(|cache| cache.request(&all));
        if expected.is_empty() {
            assert!(sent.starts_with(&self.owed), "{:#?}\n{:#?}", self.owed, sent);
            let new = all.len() - tokens(&self.owed).len();
            assert!(
                cost.iter().all(|cost| cost.evaluated <= new.max(1) + 1),
                "{cost:?} for {new}"
            );
        }
        if expected.iter().all(|reason| !reason.loses_head()) {
            assert_eq!(sent[0], self.owed[0], "the head waits");
        }
        for message in &sent {
            assert!(
                serde_json::from_str::<serde_json::Value>(message).is_ok(),
                "{message}"
            );
        }
        let system_text = sent.iter().filter(|text| text.contains(r#""role":"system""#));
        assert!(
            system_text
                .into_iter()
                .all(|text| !text.contains("<quipu-") && !text.contains("09:"))
        );
        (self.owed, self.opened) = (sent, true);
        self.due.clear();
        self.host.wanted.reasons.clear();
    }

    fn reply(&mut self, bytes: &str, echo: Echo) {
        self.host.reply(bytes);
        self.owed.push(bytes.to_owned());
        let reply = tokens(&[bytes.to_owned()]);
        for cache in &mut self.caches {
            cache.reply(&reply);
        }
        let value: serde_json::Value = serde_json::from_str(bytes).expect("JSON");
        let text = value["content"].as_str().unwrap_or_default();
        self.list.push(match echo {
            Echo::Exact => bytes.to_owned(),
            Echo::Trimmed => assistant(text.trim()),
            Echo::Parts => format!(
                r#"{{"content":[{{"type":"text","text":{}}}],"refusal":null,"role":"assistant"}}"#,
                serde_json::json!(text)
            ),
            Echo::Rewritten => assistant(&format!("not {text}")),
        });
        if matches!(echo, Echo::Rewritten) {
            self.due.push(Reason::EchoRewritten);
        }
    }

    fn due(&mut self, reason: Reason) {
        self.due.push(reason);
        self.due.sort_unstable();
        self.due.dedup();
    }

    fn run(&mut self, op: &Op) {
        self.count += 1;
        match op {
            Op::Ask {
                text,
                memories,
                clock,
                reply,
                echo,
            } => {
                self.list.push(user(&format!("{} {text}", self.count)));
                self.request(memories, Some(*clock));
                self.reply(&assistant(reply), *echo);
            }
            Op::Loop { arguments, steps } => {
                self.list.push(user(&format!("{} use tools", self.count)));
                self.request(&[1], None);
                for step in 0..*steps {
                    let id = format!("c{}-{step}", self.count);
                    self.reply(&call(&id, arguments), Echo::Exact);
                    self.list.push(outcome(&id, arguments));
                    self.request(&[2, 3], Some(step));
                }
                self.reply(&assistant("done"), Echo::Trimmed);
            }
            Op::Regenerate if !self.list.is_empty() && self.due.is_empty() => {
                self.list.pop();
                self.due(Reason::Regenerated);
                self.request(&[7], Some(3));
                self.reply(&assistant(&format!("again {}", self.count)), Echo::Exact);
            }
            Op::Edit { at } if *at + 1 < self.list.len() && self.due.is_empty() => {
                self.list.truncate(*at);
                self.list.push(user(&format!("{} edited", self.count)));
                // The shadow continues after its last reply, so this is an edit, for a message of any role.
                self.due(Reason::Edited);
                self.request(&[4], Some(0));
                self.reply(&assistant("as you say"), Echo::Exact);
            }
            Op::System if self.opened => {
                self.system.push('!');
                self.due(Reason::SystemChanged);
            }
            Op::Tools if self.opened => {
                self.host.tools.push(format!(r#"{{"name":"t{}"}}"#, self.count));
                self.due(Reason::ToolsChanged);
            }
            Op::Compact if self.opened && self.list.len() > 2 => {
                let messages = vec![user(&format!("summary {}", self.count))];
                self.host.wanted.edits = vec![ShadowEdit {
                    range: 0..self.list.len() / 2,
                    messages,
                }];
                self.host.wanted.reasons = vec![Reason::Compaction];
                self.due(Reason::Compaction);
            }
            Op::Head => {
                let text = format!("core {}", self.count);
                self.host.wanted.head = OwnHead {
                    text,
                    memories: vec!["9".to_owned()],
                };
            }
            _ => {}
        }
    }
}

fn restyle(message: &str) -> String {
    let mut value: serde_json::Value = serde_json::from_str(message).expect("JSON");
    value["name"] = serde_json::Value::Null;
    serde_json::to_string_pretty(&value).expect("JSON")
}

/// A thousand cases; `PROPTEST_CASES` can raise the number.
fn cases() -> ProptestConfig {
    let default = ProptestConfig::default();
    ProptestConfig {
        cases: default.cases.max(1_000),
        ..default
    }
}

proptest! {
    #![proptest_config(cases())]

    // Planted, and each detected: sending the client's restyled bytes; ids of fragments that restart with an epoch; an
    // epoch's record without its edits; a waiting head that takes effect with a regeneration; entries that outlive the
    // epoch that drops them; an unescaped backslash.
    #[test]
    fn a_request_extends_the_last_one_and_its_reply(ops in prop::collection::vec(op(), 1..10)) {
        let mut world = World::new();
        for op in &ops {
            world.run(op);
        }
        let shadow = world.host.shadow();
        let fork = prefix::shadow::Shadow::fold(&shadow.fork(usize::MAX));
        prop_assert_eq!((fork.head(), fork.entries(), fork.edits()), (shadow.head(), shadow.entries(), shadow.edits()));
    }
}
