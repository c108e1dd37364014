//! The servers of a run: Quipu from the built binary, and its upstream, a model server without a model.
//!
//! Owns: starting both, importing messages, asking, and the memory in a recorded request. Never: the memory
//! that a question should have got.

#![expect(clippy::disallowed_methods, reason = "measuring reads the real clock")]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::Context;
use futures::stream::{self, StreamExt, TryStreamExt};
use reqwest::header::{HeaderMap, HeaderValue};
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::backend::{Backend, CacheKind, Config, Reply};

use super::CommonArgs;
use crate::built::Server;

/// Maximum number of repeats of a turn that got no memory.
const RETRIES: usize = 2;

/// A user, and the sessions to import for that user.
#[derive(Debug, Clone)]
pub(crate) struct Person {
    pub(crate) user: String,
    pub(crate) project: String,
    pub(crate) sessions: Vec<Session>,
}

#[derive(Debug, Clone)]
pub(crate) struct Session {
    pub(super) id: String,
    /// Messages in the form of the route `add`.
    pub(super) messages: Vec<Value>,
}

/// The text that a recorded request has besides the question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct InjectedText {
    /// All of it, with wrappers and the time.
    pub(crate) text: String,
    /// As counted by Quipu.
    pub(crate) tokens: usize,
    /// Time of the first request, until the answer came.
    pub(crate) took: Duration,
}

/// Text of each request by its `seed`, which identifies it.
type Recorded = Arc<Mutex<BTreeMap<u64, String>>>;

pub(crate) struct Door {
    server: Server,
    recorded: Recorded,
    asked: AtomicU64,
    repeated: AtomicU64,
    clients: usize,
    _backend: Backend,
    root: TempDir,
}

impl Door {
    pub(super) async fn open(args: &CommonArgs) -> anyhow::Result<Self> {
        Self::of(Command::new(&args.binary), args.clients).await
    }

    /// Starts the program of a command, with the command's environment.
    pub(crate) async fn of(program: Command, clients: usize) -> anyhow::Result<Self> {
        let recorded = Recorded::default();
        let backend = Backend::start(Config {
            cache: CacheKind::None,
            strict: false,
            reply: {
                let recorded = recorded.clone();
                Arc::new(move |request: &Value, _| {
                    if let Some(seed) = request["seed"].as_u64() {
                        recorded
                            .lock()
                            .expect("nobody panics")
                            .insert(seed, text_of(request));
                    }
                    Reply::text("ok")
                })
            },
            ..Config::default()
        })
        .await;
        let root = tempfile::tempdir()?;
        let more = ["--upstream", backend.base_url()];
        Ok(Self {
            server: Server::run(program, root.path(), &more).await?,
            recorded,
            asked: AtomicU64::new(0),
            repeated: AtomicU64::new(0),
            clients: clients.max(1),
            _backend: backend,
            root,
        })
    }

    pub(crate) fn server(&self) -> &Server {
        &self.server
    }

    /// The root of the Quipu server.
    pub(crate) fn root(&self) -> &Path {
        self.root.path()
    }

    /// Imports each person's sessions in order, several people at once, and waits until all is extracted.
    pub(super) async fn import(&self, people: &[Person]) -> anyhow::Result<()> {
        stream::iter(people)
            .map(|person| self.import_one(person))
            .buffer_unordered(self.clients)
            .try_collect::<Vec<()>>()
            .await?;
        self.server.settled().await?;
        Ok(())
    }

    async fn import_one(&self, person: &Person) -> anyhow::Result<()> {
        for session in &person.sessions {
            let place = json!({"session_id": session.id, "project_id": person.project});
            for messages in session.messages.chunks(gateway::wire::MESSAGES_MAX) {
                let mut body = place.clone();
                body["messages"] = messages.into();
                self.server.post("add", &body).await?;
            }
            self.server.post("flush", &place).await?;
        }
        Ok(())
    }

    /// Asks every question as the first message of a new conversation that adds nothing to memory. Answers
    /// are in order.
    pub(super) async fn ask_all(&self, questions: &[(&Person, &str)]) -> anyhow::Result<Vec<InjectedText>> {
        stream::iter(questions)
            .map(|(person, question)| self.ask(person, question))
            .buffered(self.clients)
            .try_collect()
            .await
    }

    /// Asks a question, again if it got no memory: a turn waits only briefly for memory, and a busy machine
    /// is late.
    pub(crate) async fn ask(&self, person: &Person, question: &str) -> anyhow::Result<InjectedText> {
        let mut given = self.ask_once(person, question).await?;
        let took = given.took;
        for _ in 0..RETRIES {
            if !given.is_nothing() {
                break;
            }
            given = self.ask_once(person, question).await?;
            if !given.is_nothing() {
                self.repeated.fetch_add(1, Ordering::Relaxed);
            }
        }
        Ok(InjectedText { took, ..given })
    }

    /// Turns that got memory only when they were repeated.
    pub(crate) fn repeated(&self) -> u64 {
        self.repeated.load(Ordering::Relaxed)
    }

    async fn ask_once(&self, person: &Person, question: &str) -> anyhow::Result<InjectedText> {
        let seed = self.asked.fetch_add(1, Ordering::Relaxed);
        let mut headers = HeaderMap::new();
        headers.insert("x-quipu-user", HeaderValue::from_str(&person.user)?);
        headers.insert("x-quipu-project", HeaderValue::from_str(&person.project)?);
        headers.insert(
            "x-quipu-conversation",
            HeaderValue::from_str(&format!("asked-{seed}"))?,
        );
        headers.insert("x-quipu-memory", HeaderValue::from_static("read-only"));
        let message = json!({"role": "user", "content": question});
        let body = json!({"model": "m", "seed": seed, "messages": [message]});
        let started = Instant::now();
        let answer = self.server.chat(headers, &body).await?;
        let took = started.elapsed();
        let injected = answer
            .get("x-quipu-injected")
            .and_then(|value| value.to_str().ok());
        let recorded = self.recorded.lock().expect("nobody panics").remove(&seed);
        Ok(InjectedText {
            text: recorded
                .context("the model server was not asked")?
                .replacen(question, "", 1),
            tokens: injected.and_then(tokens).unwrap_or(0),
            took,
        })
    }

    /// The search route's answer.
    pub(super) async fn search(&self, person: &Person, question: &str) -> anyhow::Result<Value> {
        let body = json!({
            "user_id": person.user, "project_id": person.project, "query": question, "method": "hybrid",
            "top_k": 5, "include_messages": 5,
        });
        let mut found = self.server.post("search", &body).await?;
        Ok(found["data"].take())
    }
}

impl InjectedText {
    /// The added text without the lines about the current time.
    pub(crate) fn memory(&self) -> &str {
        self.text.split("<quipu-time>").next().unwrap_or_default().trim()
    }

    pub(crate) fn is_nothing(&self) -> bool {
        self.memory().is_empty()
    }
}

/// The text of all messages of a request.
fn text_of(request: &Value) -> String {
    let messages = request["messages"].as_array().into_iter().flatten();
    let texts = messages.map(|message| match &message["content"] {
        Value::String(text) => text.clone(),
        parts => {
            let parts = parts.as_array().into_iter().flatten();
            parts.filter_map(|part| part["text"].as_str()).collect()
        }
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// The number of tokens in a header such as `f3; memories=2; tokens=81`.
fn tokens(injected: &str) -> Option<usize> {
    let mut parts = injected.split("; ");
    parts.find_map(|part| part.strip_prefix("tokens="))?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::{InjectedText, text_of, tokens};

    #[test]
    fn added_memory_excludes_the_current_time() {
        let request = json!({"messages": [
            {"role": "user", "content": [{"type": "text", "text": "Where?"}, {"type": "text", "text": "\n\n- Oslo"}]},
        ]});
        assert_eq!(text_of(&request), "Where?\n\n- Oslo");
        let given = |text: &str| InjectedText {
            text: text.to_owned(),
            tokens: 0,
            took: Duration::ZERO,
        };
        assert!(given("\n\n<quipu-time>Current date and time: noon</quipu-time>").is_nothing());
        assert_eq!(
            given("\n\n- Oslo\n\n<quipu-time>noon</quipu-time>").memory(),
            "- Oslo"
        );
        assert_eq!(tokens("f3; memories=2; tokens=81"), Some(81));
    }
}
