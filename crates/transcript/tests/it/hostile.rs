//! A generator of hostile transcripts, for property tests of every crate that takes one: parallel calls; missing,
//! empty, duplicate or reused ids; late, early, duplicate or absent results; running calls, reasoning, pictures, and
//! texts of every script from nothing to 1 MB.
//!
//! It uses only `transcript`, `proptest` and `serde_json`, so that another crate's tests can include this file by its
//! path.
use std::collections::BTreeSet;

use proptest::prelude::*;
use transcript::{Block, Call, Image, Item, Outcome, Role, Thinking};

/// A transcript and the ids of running calls.
#[derive(Clone)]
pub(crate) struct Hostile {
    pub(crate) items: Vec<Item>,
    pub(crate) pending: BTreeSet<String>,
}

/// A person reads a failed case: long texts are cut.
impl std::fmt::Debug for Hostile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "pending {:?}", self.pending)?;
        for item in &self.items {
            let text: String = format!("{:?} {:?}", item.role, item.blocks)
                .chars()
                .take(300)
                .collect();
            writeln!(f, "{text}")?;
        }
        Ok(())
    }
}

/// The form of a transcript's calls and results.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Style {
    /// Results are items of a tool.
    Chat,
    /// Results are blocks of the user's items.
    Anthropic,
    /// Calls and reasoning are items of their own.
    Responses,
}

/// The fate of a call's result.
#[derive(Debug, Clone, Copy)]
enum Fate {
    Answered,
    Doubled,
    Missing,
    Pending,
    Early,
    /// After this many more steps.
    Late(usize),
    /// A placeholder takes its place, and the result may follow later.
    Replaced(Option<usize>),
}

#[derive(Debug, Clone)]
enum Step {
    Say(Role, String),
    Show,
    /// Calls (an id, arguments and a fate each), possibly with reasoning and text.
    Work {
        calls: Vec<(Id, String, Fate)>,
        thinks: bool,
        says: Option<String>,
        is_shuffled: bool,
    },
    /// A result without a call.
    Stray(usize),
}

#[derive(Debug, Clone, Copy)]
enum Id {
    Fresh,
    Again(usize),
    Empty,
}

/// Texts of every script, mostly short.
pub(crate) fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        40 => "[ -~\n]{0,60}",
        8 => "[à-ÿ]{1,20}|[一-龥。]{1,20}|[\u{1f600}-\u{1f64f}\u{200d}]{1,9}|[א-ת\u{202e}]{1,20}|[\u{0}-\u{1f}]{1,9}",
        4 => any::<String>(),
        4 => Just(String::new()),
        4 => "\\[executing\\.\\.\\.\\]|\"\\}\\]|</tool_result>",
        1 => ("[a-zé]{1,9}", 1_usize..6).prop_map(|(word, power)| word.repeat(10_usize.pow(u32::try_from(power).unwrap_or(1)))),
    ]
    .prop_map(|mut text| {
        let end = (0..=text.len().min(1 << 20)).rev().find(|&at| text.is_char_boundary(at));
        text.truncate(end.unwrap_or(0));
        text
    })
}

fn step() -> impl Strategy<Value = Step> {
    let id = prop_oneof![12 => Just(Id::Fresh), 2 => (0_usize..4).prop_map(Id::Again), 1 => Just(Id::Empty)];
    let fate = prop_oneof![
        10 => Just(Fate::Answered),
        1 => Just(Fate::Doubled),
        1 => Just(Fate::Missing),
        1 => Just(Fate::Pending),
        1 => Just(Fate::Early),
        2 => (0_usize..4).prop_map(Fate::Late),
        1 => proptest::option::of(0_usize..4).prop_map(Fate::Replaced),
    ];
    let arguments = prop_oneof![3 => Just("{\"a\" : 1.0}".to_owned()), 1 => text()];
    let calls = prop::collection::vec((id, arguments, fate), 0..7);
    let work = (calls, any::<bool>(), proptest::option::of(text()), any::<bool>()).prop_map(
        |(calls, thinks, says, is_shuffled)| Step::Work {
            calls,
            thinks,
            says,
            is_shuffled,
        },
    );
    prop_oneof![
        3 => text().prop_map(|text| Step::Say(Role::User, text)),
        3 => text().prop_map(|text| Step::Say(Role::Assistant, text)),
        1 => Just(Step::Show),
        6 => work,
        1 => (0_usize..9).prop_map(Step::Stray),
    ]
}

/// Hostile transcripts of up to 16 steps.
pub(crate) fn transcripts() -> impl Strategy<Value = Hostile> {
    let style = prop_oneof![Just(Style::Chat), Just(Style::Anthropic), Just(Style::Responses)];
    let system = prop::collection::vec(text(), 0..4);
    (style, system, prop::collection::vec(step(), 0..16)).prop_map(|(style, system, steps)| {
        let mut builder = Builder {
            style,
            items: Vec::new(),
            pending: BTreeSet::new(),
            later: Vec::new(),
            ids: 0,
            results: 0,
        };
        builder
            .items
            .extend(system.into_iter().map(|text| Item::text(Role::System, text)));
        for step in steps {
            builder.step(step);
        }
        builder.later.iter_mut().for_each(|(wait, _)| *wait = 0);
        builder.settle();
        Hostile {
            items: builder.items,
            pending: builder.pending,
        }
    })
}

struct Builder {
    style: Style,
    items: Vec<Item>,
    pending: BTreeSet<String>,
    /// Late results, each with its remaining steps.
    later: Vec<(usize, Outcome)>,
    ids: usize,
    results: usize,
}

impl Builder {
    fn step(&mut self, step: Step) {
        self.settle();
        match step {
            Step::Say(role, text) => self.items.push(Item::text(role, text)),
            Step::Show => {
                let raw =
                    r#"{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}"#.to_owned();
                let blocks = vec![Block::Image(Image { raw }), Block::Text("see".to_owned())];
                self.items.push(Item {
                    role: Role::User,
                    blocks,
                    raw: None,
                    edited: false,
                });
            }
            Step::Work {
                calls,
                thinks,
                says,
                is_shuffled,
            } => self.work(calls, thinks, says, is_shuffled),
            Step::Stray(id) => {
                let outcome = self.outcome(format!("c{id}"));
                self.bring(vec![outcome]);
            }
        }
    }

    fn work(
        &mut self,
        calls: Vec<(Id, String, Fate)>,
        thinks: bool,
        says: Option<String>,
        is_shuffled: bool,
    ) {
        let mut blocks = Vec::new();
        if thinks {
            let raw = format!(
                r#"{{"type":"reasoning","summary":[],"encrypted_content":"{}"}}"#,
                self.items.len()
            );
            blocks.push(Block::Thinking(Thinking {
                text: "hm".to_owned(),
                raw,
            }));
        }
        blocks.extend(says.map(Block::Text));
        let (mut early, mut now) = (Vec::new(), Vec::new());
        for (id, arguments, fate) in calls {
            let id = match id {
                Id::Fresh => {
                    self.ids += 1;
                    format!("c{}", self.ids)
                }
                Id::Again(id) => format!("c{id}"),
                Id::Empty => String::new(),
            };
            let outcome = self.outcome(id.clone());
            match fate {
                Fate::Answered => now.push(outcome),
                Fate::Doubled => now.extend([outcome.clone(), self.outcome(id.clone())]),
                Fate::Missing => {}
                Fate::Pending => _ = self.pending.insert(id.clone()),
                Fate::Early => early.push(outcome),
                Fate::Late(steps) => self.later.push((steps + 1, outcome)),
                Fate::Replaced(steps) => {
                    now.push(Outcome {
                        text: "[executing...]".to_owned(),
                        ..outcome.clone()
                    });
                    self.later.extend(steps.map(|steps| (steps + 1, outcome)));
                }
            }
            blocks.push(Block::Call(Call {
                id,
                name: "run".to_owned(),
                arguments,
            }));
        }
        if is_shuffled {
            now.reverse();
        }
        self.bring(early);
        self.assistant(blocks);
        self.bring(now);
    }

    fn assistant(&mut self, blocks: Vec<Block>) {
        if self.style != Style::Responses {
            self.items.push(Item {
                role: Role::Assistant,
                blocks,
                raw: None,
                edited: false,
            });
            return;
        }
        for block in blocks {
            let raw = match &block {
                Block::Call(call) => {
                    let value = serde_json::json!({"type": "function_call", "call_id": call.id, "name": call.name, "arguments": call.arguments});
                    Some(value.to_string().into())
                }
                Block::Thinking(thinking) => Some(thinking.raw.as_str().into()),
                _ => None,
            };
            self.items.push(Item {
                role: Role::Assistant,
                blocks: vec![block],
                raw,
                edited: false,
            });
        }
    }

    /// A real result: no two have the same text.
    fn outcome(&mut self, call_id: String) -> Outcome {
        self.results += 1;
        Outcome {
            call_id,
            text: format!("result {}", self.results),
            failed: false,
            images: 0,
        }
    }

    fn bring(&mut self, outcomes: Vec<Outcome>) {
        if outcomes.is_empty() {
            return;
        }
        if self.style != Style::Anthropic {
            let item = |outcome| Item {
                role: Role::Tool,
                blocks: vec![Block::Outcome(outcome)],
                raw: None,
                edited: false,
            };
            self.items.extend(outcomes.into_iter().map(item));
            return;
        }
        let says = outcomes.len() % 3 == 2;
        let mut blocks: Vec<Block> = outcomes.into_iter().map(Block::Outcome).collect();
        if says {
            let at = if self.results.is_multiple_of(2) {
                0
            } else {
                blocks.len()
            };
            blocks.insert(at, Block::Text(format!("by the way {}", self.results)));
        }
        self.items.push(Item {
            role: Role::User,
            blocks,
            raw: None,
            edited: false,
        });
    }

    /// Adds the results that are due.
    fn settle(&mut self) {
        let (due, later): (Vec<_>, Vec<_>) = std::mem::take(&mut self.later)
            .into_iter()
            .partition(|(wait, _)| *wait == 0);
        self.later = later
            .into_iter()
            .map(|(wait, outcome)| (wait - 1, outcome))
            .collect();
        self.bring(due.into_iter().map(|(_, outcome)| outcome).collect());
    }
}
