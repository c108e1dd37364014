//! What is done for a conversation while nobody talks in it: it is compacted ahead of need, and its server warmed for the next
//! turn.
//!
//! Owns: when a conversation is idle, the order summary → compaction → warming, that a turn which arrives meanwhile wins. Calls
//! go through the server's gate and only to local servers: a hosted one would bill them. Never: what leaves a view (`context`).

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use context::budget::Budget;
use context::prompt;
use context::tokens::Meter;
use conversation::{Contexts, Conversation, Endings, Shared, Whose};
use futures::{FutureExt, StreamExt};
use memory::Due;
use ports::{Clock, UpstreamAnswer, UpstreamRequest};
use prefix::backend::Kind;
use prefix::chain::ConversationId;
use prefix::compose::{self, Composed};
use prefix::diverge::Outline;
use prefix::stream::{Outcome, Reply};
use serde::{Deserialize, Serialize};
use tokio::sync::{Mutex, mpsc};
use tokio::task::JoinSet;

use crate::after;
use crate::beside::{Beside, Last};
use crate::body::{self, Body, LENGTHS};
use crate::gate::{Gates, Job, JobEnd};
use crate::proxy::{Speech, Target};

/// What a model that thinks first may use for that, in tokens.
const THINKING_TOKENS: usize = 1_024;
/// Conversations that are looked at after a restart.
const RESUMED_MAX: usize = 64;
/// An answer to a call of our own is not longer.
const ANSWER_BYTES_MAX: usize = 1 << 20;
/// What a server names that will not go on with its own words, beside the field of the answer's length.
const SHAPE_WORDS: [&str; 3] = ["assistant", "role", "prefill"];

/// What a request of a talk is made of beside its messages.
#[derive(Debug, Clone)]
pub(crate) struct Frame {
    /// The client's fields, without messages.
    pub(crate) body: String,
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) speech: Speech,
    pub(crate) target: Target,
    /// What the target is, as far as was known then.
    pub(crate) kind: Kind,
    pub(crate) whose: Whose,
    pub(crate) conversation: String,
    /// The name whose vocabulary counts.
    pub(crate) counts_for: String,
    /// The server holds what was said, and nothing of it is ours to shorten or to send.
    pub(crate) is_held: bool,
    pub(crate) budget: Budget,
    /// When the turn ended, by the clock that never goes back.
    pub(crate) ended: Duration,
}

/// What of a frame outlives a restart: no header, which may hold a client's key.
#[derive(Serialize, Deserialize)]
struct Written {
    body: String,
    path: String,
    speech: Speech,
    server: String,
    model: Option<String>,
    counts_for: String,
    is_held: bool,
    window: usize,
    reserve: usize,
    tools: usize,
    injected: usize,
}

impl Frame {
    /// The frame as a record.
    pub(crate) fn write(&self) -> String {
        let written = Written {
            body: self.body.clone(),
            path: self.path.clone(),
            speech: self.speech,
            server: self.target.upstream.base_url().to_owned(),
            model: self.target.model.clone(),
            counts_for: self.counts_for.clone(),
            is_held: self.is_held,
            window: self.budget.window,
            reserve: self.budget.reserve,
            tools: self.budget.tools,
            injected: self.budget.injected,
        };
        serde_json::to_string(&written).unwrap_or_default()
    }
}

impl Tools {
    /// The frame of a conversation's last request before a restart; none where its server is no longer configured.
    async fn read(&self, conversation: &Conversation) -> Option<Frame> {
        let written: Written = serde_json::from_str(conversation.frame()).ok()?;
        let is_it =
            |target: &&Target| target.upstream.base_url() == written.server && target.model == written.model;
        let target = self.targets.iter().find(is_it)?.clone();
        let kind = target.kind(&target.upstream.probe().await);
        Some(Frame {
            body: written.body,
            path: written.path,
            headers: Vec::new(),
            speech: written.speech,
            target,
            kind,
            whose: conversation.whose().clone(),
            conversation: conversation.key.session.to_string(),
            counts_for: written.counts_for,
            is_held: written.is_held,
            budget: Budget {
                window: written.window,
                reserve: written.reserve,
                tools: written.tools,
                injected: written.injected,
                safety: 0,
            },
            ended: Duration::ZERO,
        })
    }

    /// Conversations in which nobody talked since the start are idle like others.
    async fn resume(&self, due: &mut Due<ConversationId>) {
        let at = self.clock.elapsed().saturating_add(self.after);
        match self.contexts.store().newest(RESUMED_MAX).await {
            Ok(newest) => newest.into_iter().for_each(|id| due.set(id, at)),
            Err(error) => tracing::warn!(%error, "idle conversations of earlier are not compacted"),
        }
    }
}

/// What the worker is told.
#[derive(Debug)]
enum Told {
    /// A turn of this conversation ended.
    Turn {
        conversation: ConversationId,
        server: String,
        due: Duration,
    },
    /// Background calls have taken the place of what this server had read.
    Displaced { server: String },
}

/// The worker's entrance.
#[derive(Debug, Clone)]
pub(crate) struct Idle {
    told: mpsc::UnboundedSender<Told>,
    after: Duration,
    task: Arc<Mutex<JoinSet<()>>>,
}

/// What is done between turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Work {
    /// Compacts, and warms.
    Compact,
    Warm,
}

/// What the work needs.
#[derive(Debug, Clone)]
pub(crate) struct Tools {
    /// A conversation is idle after so long.
    pub(crate) after: Duration,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) contexts: Contexts,
    pub(crate) targets: Arc<[Target]>,
    pub(crate) beside: Arc<Beside>,
    pub(crate) gates: Arc<Gates>,
    /// What must not be cut off half-way.
    pub(crate) endings: Endings,
}

impl Idle {
    pub(crate) fn start(tools: Tools, servers: impl Iterator<Item = String>) -> Self {
        let (told, heard) = mpsc::unbounded_channel();
        for server in servers {
            let (told, gate) = (told.clone(), tools.gates.of(&server));
            gate.on_displaced(move || {
                let server = server.clone();
                told.send(Told::Displaced { server }).ok();
            });
        }
        let (after, mut task) = (tools.after, JoinSet::new());
        task.spawn(work(tools, heard));
        Self {
            told,
            after,
            task: Arc::new(Mutex::new(task)),
        }
    }

    /// A turn ended. What a hosted server has read dies by itself after a while; before that, nothing is changed for it.
    pub(crate) fn turn(&self, now: Duration, conversation: ConversationId, server: &str, kind: Kind) {
        let kept = kind.profile().idle_seconds.unwrap_or(0);
        let after = self.after.max(Duration::from_secs(u64::from(kept)));
        let told = Told::Turn {
            conversation,
            server: server.to_owned(),
            due: now.saturating_add(after),
        };
        self.told.send(told).ok();
    }

    /// Ends the worker.
    pub(crate) async fn finish(&self) {
        self.task.lock().await.shutdown().await;
    }
}

async fn work(tools: Tools, mut heard: mpsc::UnboundedReceiver<Told>) {
    let mut due = Due::default();
    tools.resume(&mut due).await;
    // By server, who talked to it last.
    let mut newest: BTreeMap<String, ConversationId> = BTreeMap::new();
    loop {
        let now = tools.clock.elapsed();
        while let Some(conversation) = due.take(now) {
            tools.settle(&conversation).await;
        }
        let first = due.first().map(|at| at.saturating_sub(now));
        tokio::select! {
            told = heard.recv() => match told {
                None => return,
                Some(Told::Turn { conversation, server, due: at }) => {
                    newest.insert(server, conversation.clone());
                    due.set(conversation, at);
                }
                Some(Told::Displaced { server }) => {
                    if let Some(conversation) = newest.get(&server) {
                        tools.submit(&server, conversation, Work::Warm);
                    }
                }
            },
            () = tools.clock.sleep(first.unwrap_or_default()), if first.is_some() => {}
        }
    }
}

impl Tools {
    /// A conversation has become idle.
    async fn settle(&self, id: &ConversationId) {
        let Some(shared) = self.conversation(id).await else {
            return;
        };
        let mut conversation = shared.lock().await;
        if !self.beside.knows(&conversation)
            && let Some(frame) = self.read(&conversation).await
        {
            let (name, meter) = Meter::for_models(&[&frame.counts_for]);
            conversation.count_for(name, &meter);
            self.beside.set_frame(&conversation.identity(), frame);
        }
        let frame = self.beside.at_rest(&conversation);
        let Some(frame) = frame.filter(|frame| conversation.is_due(&frame.budget)) else {
            return;
        };
        let is_local = frame.kind.profile().local;
        let (server, version) = (frame.target.upstream.base_url().to_owned(), conversation.version);
        drop(conversation);
        if is_local {
            self.submit(&server, id, Work::Compact);
        } else {
            self.compact(&shared, version, &frame, None).await;
        }
    }

    async fn conversation(&self, id: &ConversationId) -> Option<Shared> {
        self.contexts.store().get(id).await.unwrap_or_else(|error| {
            tracing::warn!(%error, conversation = id.0, "an idle conversation could not be read");
            None
        })
    }

    fn submit(&self, server: &str, conversation: &ConversationId, work: Work) {
        let name = match work {
            Work::Compact => "compaction",
            Work::Warm => "warming",
        };
        let (tools, id) = (self.clone(), conversation.clone());
        let run = move || {
            let (tools, id) = (tools.clone(), id.clone());
            async move { tools.run(&id, work).await }.boxed()
        };
        self.gates.of(server).submit(Job {
            name: name.to_owned(),
            key: format!("{name} {}", conversation.0),
            displaces: false,
            run: Box::new(run),
        });
    }

    /// It may be cut off wherever it waits: what is not recorded did not happen.
    async fn run(&self, id: &ConversationId, work: Work) -> JobEnd {
        let Some(shared) = self.conversation(id).await else {
            return JobEnd::Done;
        };
        if work == Work::Warm {
            return self.warm(&shared).await;
        }
        let (frame, composed, version, asked) = {
            let conversation = shared.lock().await;
            // Somebody may have talked since, and be about to again.
            let idle_at = |frame: &&Frame| frame.ended.saturating_add(self.after);
            let is_idle = |frame: &&Frame| idle_at(frame) <= self.clock.elapsed();
            let Some(frame) = self.beside.at_rest(&conversation).filter(|frame| is_idle(&frame)) else {
                return JobEnd::Done;
            };
            let asked = conversation.summary_prompt(&frame.budget);
            (
                frame,
                compose::standing(&conversation.shadow),
                conversation.version,
                asked,
            )
        };
        let summary = match asked {
            Some((prompt, tokens_max)) => frame.summary(composed, &prompt, tokens_max).await,
            None => None,
        };
        self.compact(&shared, version, &frame, summary).await;
        self.warm(&shared).await
    }

    /// Compacts this version of the conversation by the rules, with a summary where there is one. Done to its end once it began.
    async fn compact(&self, shared: &Shared, version: u64, frame: &Frame, summary: Option<String>) {
        let (contexts, shared, budget) = (self.contexts.clone(), Arc::clone(shared), frame.budget);
        let work = async move {
            if let Err(error) = contexts.compact_idle(&shared, version, &budget, summary).await {
                tracing::warn!(%error, "an idle conversation could not be compacted");
            }
        };
        self.endings.spawn(work).await.ok();
    }

    /// Has the server read what the next turn will begin with.
    async fn warm(&self, shared: &Shared) -> JobEnd {
        let (frame, composed, version) = {
            let conversation = shared.lock().await;
            let Some(frame) = self.beside.at_rest(&conversation) else {
                return JobEnd::Done;
            };
            (
                frame,
                compose::standing(&conversation.shadow),
                conversation.version,
            )
        };
        let turn = frame.target.next_turn();
        let read = match frame.read_along(&composed).await {
            Ok(read) => read,
            Err(reason) => return JobEnd::Failed(reason),
        };
        let conversation = shared.lock().await;
        if conversation.version == version {
            let last = read.usage.prompt_tokens.map(|tokens| Last {
                outline: Outline::of(&composed),
                tokens: usize::try_from(tokens).unwrap_or(usize::MAX),
                turn,
                slot: frame.target.slot_of(&frame.conversation),
            });
            self.beside.set_last(&conversation.identity(), last);
        }
        JobEnd::Done
    }
}

impl Frame {
    /// What the conversation's own model writes of it.
    async fn summary(&self, composed: Composed, prompt: &str, tokens_max: usize) -> Option<String> {
        let outcome = self
            .ask(&composed, Some(prompt), tokens_max + THINKING_TOKENS)
            .await;
        match outcome {
            Ok(outcome) => prompt::read_summary(&outcome.text),
            Err(Failed { reason, .. }) => {
                tracing::warn!(reason, "a summary is left to the rules");
                None
            }
        }
    }

    /// Has all that was said read, and nothing written. A server that will not go on with its own words is asked for a word in
    /// a turn of its own: all before it is what the next turn begins with.
    async fn read_along(&self, composed: &Composed) -> Result<Outcome, String> {
        // llama.cpp reads without writing; others must write something.
        let tokens_max = usize::from(self.kind != Kind::LlamaCpp);
        let outcome = match self.ask(composed, None, tokens_max).await {
            Err(Failed {
                refuses_shape: true, ..
            }) => self.ask(composed, Some("."), 1).await,
            outcome => outcome,
        };
        outcome.map_err(|failed| failed.reason)
    }

    /// One call with the conversation's own messages, and with one of the user behind them.
    async fn ask(
        &self,
        composed: &Composed,
        user: Option<&str>,
        tokens_max: usize,
    ) -> Result<Outcome, Failed> {
        let probed = self.target.upstream.probe().await;
        let slot = self.target.slot(&probed, &self.conversation, None);
        let extras = self.target.extras(&probed, &self.whose, &self.conversation, slot);
        let body = Body::read(&self.body).map_err(|unfit| unfit.0)?;
        let said = user.map(|text| serde_json::json!({"role": "user", "content": text}).to_string());
        let messages = composed.messages.iter().map(|sent| sent.bytes.as_str());
        let messages = body::list(messages.chain(said.as_deref()));
        let mut replaced = vec![(self.speech.messages_field(), messages)];
        if !composed.tools.is_empty() {
            replaced.push(("tools", body::list(&composed.tools)));
        }
        replaced.extend(
            composed
                .system
                .clone()
                .map(|system| (self.speech.system_field(), system)),
        );
        let length = LENGTHS.into_iter().find(|name| body.get(name).is_some());
        let length = length.unwrap_or(self.speech.length_field());
        replaced.push((length, tokens_max.to_string()));
        replaced.extend(
            self.target
                .model
                .as_ref()
                .map(|model| ("model", serde_json::Value::from(model.as_str()).to_string())),
        );
        let request = UpstreamRequest {
            method: "POST".to_owned(),
            body: Some(Bytes::from(body.with(&replaced, &extras))),
            path: self.path.clone(),
            headers: crate::outgoing::headers(&self.headers, &extras),
        };
        let sent = self.target.upstream.send(request).await;
        let answer = sent.map_err(|error| error.to_string())?;
        if matches!(answer.status, 400 | 422) {
            let (said, answer) = after::buffered(answer).await;
            let said = said.to_lowercase();
            return Err(Failed {
                reason: format!("the server answered {}", answer.status),
                refuses_shape: SHAPE_WORDS
                    .iter()
                    .chain([&length])
                    .any(|word| said.contains(word)),
            });
        }
        self.read(answer).await
    }

    /// The whole of an answer.
    async fn read(&self, answer: UpstreamAnswer) -> Result<Outcome, Failed> {
        let (mut reply, mut bytes, mut body) = (Reply::new(self.speech.answers(), false), 0, answer.body);
        while let Some(chunk) = body.next().await {
            let chunk = chunk.map_err(|error| error.to_string())?;
            bytes += chunk.len();
            if bytes > ANSWER_BYTES_MAX {
                return Err("the answer has no end".to_owned().into());
            }
            reply.push(&chunk);
        }
        match answer.status {
            200..300 => Ok(reply.finish()),
            status => Err(format!("the server answered {status}").into()),
        }
    }
}

/// Why a call of our own brought nothing.
struct Failed {
    reason: String,
    /// The server takes no request of this shape: such a last message, or so short an answer.
    refuses_shape: bool,
}

impl From<String> for Failed {
    fn from(reason: String) -> Self {
        Self {
            reason,
            refuses_shape: false,
        }
    }
}
