//! Invariant P through the whole proxy: sent bytes are sent again unchanged, whatever happens in between.
//!
//! Owns: a random client that edits, regenerates, truncates, calls tools, and survives restarts. Never: compaction
//! (`turns`), echoes restyled by clients (`prefix` tests a thousand of those).
//! (`turns`), echoes restyled by clients (`prefix` has a thousand cases of those).

use std::time::Duration;

use proptest::prelude::*;
use serde_json::json;

use crate::stage::{Client, Stage, messages, worker};

#[derive(Debug, Clone)]
enum Step {
    Say(String),
    Work,
    Remember(String),
    Hours(u64),
    Restart,
    /// Goes back to a turn and sends another message instead.
    Edit(usize),
    Regenerate,
    /// Leaves out the oldest turns.
    Truncate(usize),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        5 => "[a-z \"\\\\\né☃]{1,40}".prop_map(Step::Say),
        2 => Just(Step::Work),
        2 => "(goats|Lisbon|trains) [a-z ]{5,40}".prop_map(Step::Remember),
        1 => (1_u64..60).prop_map(Step::Hours),
        1 => Just(Step::Restart),
        1 => any::<usize>().prop_map(Step::Edit),
        1 => Just(Step::Regenerate),
        1 => any::<usize>().prop_map(Step::Truncate),
    ]
}

/// A client, and the bytes that were sent for each message of its history; none for an unsent message.
struct World {
    stage: Stage,
    client: Client,
    sent: Vec<String>,
}

impl World {
    async fn new() -> Self {
        Self {
            stage: Stage::new(worker()).await,
            client: Client::new(),
            sent: Vec::new(),
        }
    }

    async fn run(&mut self, at: usize, step: Step) {
        match step {
            Step::Say(text) => self.client.says(&format!("goats, Lisbon, trains: {text}")),
            Step::Work => self.client.says("work on goats in Lisbon"),
            Step::Remember(text) => {
                let text = format!("I like {text}.");
                return self.stage.remember(&format!("s{at}"), &text).await;
            }
            Step::Hours(hours) => return self.stage.clock.advance(Duration::from_hours(hours)),
            Step::Restart => return self.stage.restart().await,
            Step::Edit(which) => {
                let Some(place) = self.turn(which) else { return };
                self.client.history.truncate(place);
                self.sent.truncate(place);
                self.client.says(&format!("edited {at}: goats in Lisbon"));
            }
            Step::Regenerate => {
                if self
                    .client
                    .history
                    .pop_if(|last| last["role"] == "assistant")
                    .is_none()
                {
                    return;
                }
                self.sent.pop();
            }
            Step::Truncate(which) => {
                // Fewer than three messages do not identify a conversation.
                let long_enough = |place: &usize| place + 3 <= self.sent.len();
                let Some(place) = self.turn(which).filter(long_enough) else {
                    return;
                };
                self.client.history.drain(1..place);
                self.sent.drain(1..place);
                self.client.says(&format!("shorter now {at}"));
            }
        }
        if self.client.history.len() == 2 {
            // A lone message begins another conversation, even if another client sent the same text.
            self.sent.truncate(1);
        }
        while self.request().await {}
    }

    /// The place of some turn of a person.
    fn turn(&self, which: usize) -> Option<usize> {
        let users = (0..self.sent.len()).filter(|at| self.client.history[*at]["role"] == "user");
        let users: Vec<usize> = users.collect();
        users.get(which.checked_rem(users.len())?).copied()
    }

    /// One request; returns whether the model called tools, with their results added.
    async fn request(&mut self) -> bool {
        let asked = self.client.history.len();
        let before = self.stage.backend.requests().len();
        self.client.goes_on(&self.stage).await;
        let seen = self.stage.last();
        assert!(self.stage.backend.requests().len() > before);
        assert_eq!(seen.violations, [""; 0]);
        let sent = messages(&seen);
        assert_eq!(sent.len(), asked, "{sent:#?}");
        assert!(sent.starts_with(&self.sent), "{:#?}\n{sent:#?}", self.sent);
        assert!(!sent[0].contains("quipu"), "{}", sent[0]);
        self.sent = sent;
        let reply = self.client.history[asked].clone();
        // The model gets its own reply back unchanged.
        self.sent.push(reply.to_string());
        let calls = reply["tool_calls"].as_array().cloned().unwrap_or_default();
        for call in &calls {
            let result = json!({"role": "tool", "tool_call_id": call["id"], "content": "done"});
            self.client.history.push(result);
        }
        !calls.is_empty()
    }
}

/// A thousand cases; `PROPTEST_CASES` can raise the number.
fn cases() -> ProptestConfig {
    let default = ProptestConfig::default();
    ProptestConfig {
        cases: default.cases.max(1_000),
        failure_persistence: None,
        ..default
    }
}

proptest! {
    #![proptest_config(cases())]

    // E-7, E-8.
    #[test]
    fn x01_sent_bytes_are_sent_again(steps in prop::collection::vec(step(), 1..12)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let mut world = World::new().await;
            for (at, step) in steps.into_iter().enumerate() {
                world.run(at, step).await;
            }
        });
    }
}
