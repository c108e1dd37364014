//! Work for an idle conversation: it is compacted in advance, and its server is warmed for the next turn.
//!
//! Owns: when a conversation is idle, the order summary → compaction → warming, and that a new turn cancels the work.
//! Calls go through the server's gate and only to local servers: a hosted one would bill them. A program that calls its
//! model itself has no server here: a configured model writes the summary. Never: choosing the items that leave a view
//! (`context`).

mod frame;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::conversation::{ContextError, Shared};
use context::tokens::Meter;
use futures::FutureExt;
use memory::Due;
use model::warned;
use prefix::backend::Kind;
use prefix::chain::ConversationId;
use prefix::compose;
use prefix::diverge::Outline;
use tokio::sync::{Mutex, mpsc};
use tokio::task::JoinSet;

pub(crate) use frame::{Frame, StoredFrame};

use crate::gate::{BackgroundCall, Gates, JobEnd};
use crate::last_requests::{Last, LastRequests};
use crate::parts::DirectParts;
use crate::target::Target;

/// Maximum number of conversations that become idle work after a restart.
const RESUMED_MAX: usize = 64;

/// Messages to the worker.
#[derive(Debug)]
enum IdleEvent {
    /// A turn of this conversation ended; with its server, if it was proxied.
    Turn {
        conversation: ConversationId,
        server: Option<String>,
        due: Duration,
    },
    /// Background calls have displaced the prompts in this server's cache.
    Displaced { server: String },
}

/// The sender's side of the worker.
#[derive(Debug, Clone)]
pub(crate) struct Idle {
    told: mpsc::UnboundedSender<IdleEvent>,
    after: Duration,
    task: Arc<Mutex<JoinSet<()>>>,
}

/// Work of an idle conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Work {
    /// Compact, then warm.
    Compact,
    Warm,
}

/// The ports and settings of the work.
#[derive(Debug, Clone)]
struct Tools {
    parts: Arc<DirectParts>,
    /// None for programs that call their model themselves.
    served: Option<Served>,
}

/// The model servers of proxied conversations.
#[derive(Debug, Clone)]
pub(crate) struct Served {
    pub(crate) targets: Arc<[Target]>,
    pub(crate) last_requests: Arc<LastRequests>,
    pub(crate) gates: Arc<Gates>,
}

impl Idle {
    pub(crate) fn start(parts: Arc<DirectParts>, served: Option<Served>) -> Self {
        let (told, heard) = mpsc::unbounded_channel();
        if let Some(served) = &served {
            for target in &*served.targets {
                let (told, server) = (told.clone(), target.route.upstream.base_url().to_owned());
                served.gates.of(&server).on_displaced(move || {
                    let server = server.clone();
                    told.send(IdleEvent::Displaced { server }).ok();
                });
            }
        }
        let (after, mut task) = (parts.idle_after, JoinSet::new());
        task.spawn(work(Tools { parts, served }, heard));
        Self {
            told,
            after,
            task: Arc::new(Mutex::new(task)),
        }
    }

    /// Schedules the work after a turn. A hosted server drops its cache by itself after some time; before that, its
    /// conversation is left unchanged.
    pub(crate) fn turn(&self, now: Duration, conversation: ConversationId, server: Option<(&str, Kind)>) {
        let kept = server.and_then(|(_, kind)| kind.profile().idle_seconds);
        let after = self.after.max(Duration::from_secs(kept.unwrap_or(0).into()));
        let told = IdleEvent::Turn {
            conversation,
            server: server.map(|(name, _)| name.to_owned()),
            due: now.saturating_add(after),
        };
        // After a shutdown there is no receiver.
        self.told.send(told).ok();
    }

    /// Ends the worker.
    pub(crate) async fn finish(&self) {
        self.task.lock().await.shutdown().await;
    }
}

async fn work(tools: Tools, mut heard: mpsc::UnboundedReceiver<IdleEvent>) {
    let mut due = Due::default();
    tools.resume(&mut due).await;
    // The newest conversation of each server.
    let mut newest: BTreeMap<String, ConversationId> = BTreeMap::new();
    loop {
        while let Some(conversation) = due.take(tools.parts.clock.elapsed()) {
            tools.settle(&conversation).await;
        }
        let first = due
            .first()
            .map(|at| at.saturating_sub(tools.parts.clock.elapsed()));
        tokio::select! {
            told = heard.recv() => match told {
                None => return,
                Some(IdleEvent::Turn { conversation, server, due: at }) => {
                    server.map(|server| newest.insert(server, conversation.clone()));
                    due.set(conversation, at);
                }
                Some(IdleEvent::Displaced { server }) => {
                    if let (Some(conversation), Some(served)) = (newest.get(&server), &tools.served) {
                        tools.submit(served, &server, conversation, Work::Warm);
                    }
                }
            },
            () = tools.parts.clock.sleep(first.unwrap_or_default()), if first.is_some() => {}
        }
    }
}

impl Tools {
    /// Conversations without a turn since the start count as idle too.
    async fn resume(&self, due: &mut Due<ConversationId>) {
        let at = self.parts.clock.elapsed().saturating_add(self.parts.idle_after);
        let newest = warned!(
            self.parts.contexts.store().newest(RESUMED_MAX).await,
            "cannot list conversations; those idle since before the start stay uncompacted"
        );
        newest.into_iter().flatten().for_each(|id| due.set(id, at));
    }

    /// Starts the work of a conversation that has become idle.
    async fn settle(&self, id: &ConversationId) {
        let Some(shared) = self.conversation(id).await else {
            return;
        };
        let Some(served) = &self.served else {
            return self.settle_unserved(shared).await;
        };
        self.remember(served, &shared).await;
        let conversation = shared.lock().await;
        let frame = served.last_requests.at_rest(&conversation);
        let Some(frame) = frame.filter(|frame| conversation.is_due(&frame.budget)) else {
            return;
        };
        let is_local = frame.kind.profile().local;
        let version = conversation.records;
        drop(conversation);
        if is_local {
            let server = frame.target.route.upstream.base_url();
            self.submit(served, server, id, Work::Compact);
        } else {
            self.compact(&shared, version, &frame, None).await;
        }
    }

    /// Compacts an idle conversation of a program. A compaction that has begun runs to its end.
    async fn settle_unserved(&self, shared: Shared) {
        if !shared.lock().await.frame.is_empty() {
            return;
        }
        let contexts = self.parts.contexts.clone();
        self.to_its_end(async move { contexts.compact_at_rest(&shared).await })
            .await;
    }

    /// Compacts; only a shutdown can interrupt it.
    async fn to_its_end(&self, work: impl Future<Output = Result<(), ContextError>> + Send + 'static) {
        let work = async move {
            warned!(work.await, "cannot compact an idle conversation");
        };
        self.parts.contexts.tasks().spawn(work).await.ok();
    }

    /// Loads the stored frame of the last request before a restart. Probes the server without locking the conversation,
    /// so that a turn can run.
    async fn remember(&self, served: &Served, shared: &Shared) {
        let read = {
            let conversation = shared.lock().await;
            if served.last_requests.knows(&conversation) {
                return;
            }
            Frame::read(&conversation, &served.targets)
        };
        let Some(mut frame) = read else { return };
        let probed = frame.target.route.upstream.probe().await;
        frame.kind = frame.target.kind(&probed);
        let mut conversation = shared.lock().await;
        if !served.last_requests.knows(&conversation) {
            let (name, meter) = Meter::for_models(&[&frame.stored.counts_for]);
            conversation.count_for(name, &meter);
            served.last_requests.set_frame(&conversation.identity(), frame);
        }
    }

    async fn conversation(&self, id: &ConversationId) -> Option<Shared> {
        let read = self.parts.contexts.store().get(id).await;
        warned!(read, conversation = id.0, "cannot read an idle conversation").flatten()
    }

    fn submit(&self, served: &Served, server: &str, conversation: &ConversationId, work: Work) {
        let name = match work {
            Work::Compact => "compaction",
            Work::Warm => "warming",
        };
        let (tools, gates) = (self.clone(), Arc::clone(&served.gates));
        let (served, id) = (served.clone(), conversation.clone());
        let run = move || {
            let (tools, served, id) = (tools.clone(), served.clone(), id.clone());
            async move { tools.run(&served, &id, work).await }.boxed()
        };
        gates.of(server).submit(BackgroundCall {
            name: name.to_owned(),
            key: format!("{name} {}", conversation.0),
            displaces: false,
            run: Box::new(run),
        });
    }

    /// Can be cancelled at every await: work without a record did not happen.
    async fn run(&self, served: &Served, id: &ConversationId, work: Work) -> JobEnd {
        let Some(shared) = self.conversation(id).await else {
            return JobEnd::Done;
        };
        if work == Work::Warm {
            return served.warm(&shared).await;
        }
        let (frame, composed, version, asked) = {
            let conversation = shared.lock().await;
            // A new turn may have come since, and another may follow soon.
            let idle_at = |frame: &&Frame| frame.ended.saturating_add(self.parts.idle_after);
            let is_idle = |frame: &&Frame| idle_at(frame) <= self.parts.clock.elapsed();
            let Some(frame) = served
                .last_requests
                .at_rest(&conversation)
                .filter(|frame| is_idle(&frame))
            else {
                return JobEnd::Done;
            };
            let asked = conversation.summary_prompt(&frame.budget);
            let composed = compose::current(&conversation.shadow);
            (frame, composed, conversation.records, asked)
        };
        let summary = match asked {
            Some((prompt, tokens_max)) => frame.summary(composed, &prompt, tokens_max).await,
            None => None,
        };
        self.compact(&shared, version, &frame, summary).await;
        served.warm(&shared).await
    }

    /// Compacts this version of the conversation by the rules, with the summary if there is one. Runs to its end once
    /// it has begun.
    async fn compact(&self, shared: &Shared, version: u64, frame: &Frame, summary: Option<String>) {
        let (contexts, shared, budget) = (self.parts.contexts.clone(), Arc::clone(shared), frame.budget);
        self.to_its_end(async move { contexts.compact_idle(&shared, version, &budget, summary).await })
            .await;
    }
}

impl Served {
    /// Has the server read the beginning of the next turn's prompt.
    async fn warm(&self, shared: &Shared) -> JobEnd {
        let (frame, composed, version) = {
            let conversation = shared.lock().await;
            let Some(frame) = self.last_requests.at_rest(&conversation) else {
                return JobEnd::Done;
            };
            let composed = compose::current(&conversation.shadow);
            (frame, composed, conversation.records)
        };
        let turn = frame.target.next_turn();
        let read = match frame.read_along(&composed).await {
            Ok(read) => read,
            Err(reason) => return JobEnd::Failed(reason),
        };
        let conversation = shared.lock().await;
        if conversation.records == version {
            let last = read.usage.prompt_tokens.map(|tokens| Last {
                outline: Outline::of(&composed),
                tokens: usize::try_from(tokens).unwrap_or(usize::MAX),
                turn,
                slot: frame.target.slot_of(&frame.conversation),
            });
            self.last_requests.set_last(&conversation.identity(), last);
        }
        JobEnd::Done
    }
}
