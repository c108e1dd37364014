//! From the head of an answer to its end, and the memory of it.
//!
//! Owns: passing the bytes to the client unchanged; the reply, its cost, the turn's memory. If a client closes the
//! connection, the server's work ends, but memory keeps the messages. Never: delaying a byte.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures::stream::BoxStream;
use futures::{FutureExt, Stream, StreamExt};
use model::Name;
use ports::{UpstreamAnswer, UpstreamError};
use prefix::diverge::{self, Observed, Outline};
use prefix::shadow::ShadowEvent;
use prefix::stream::{Reply, ReplyOutcome};
use tokio::task::JoinHandle;

use crate::conversation::{Conversation, Decided, Logged, Open, Shared};
use crate::gate::Lease;
use crate::idle::Frame;
use crate::last_requests::Last;
use crate::learn;
use crate::measure::Measured;
use crate::proxy::{MemoryUse, Proxy, Speech};
use crate::{input, reach};

/// An error body that names a refused field is not longer.
const REFUSED_BYTES_MAX: usize = 64 << 10;

/// Memory in a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Injected {
    /// Its id in the conversation: `f3`.
    pub fragment: String,
    pub memories: Vec<String>,
    pub tokens: usize,
}

/// An answer on its way to the client.
pub struct ProxyAnswer {
    pub status: u16,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: BoxStream<'static, Result<Bytes, UpstreamError>>,
    pub conversation: Option<String>,
    pub injected: Option<Injected>,
    /// Warning for the user: the context is nearly full.
    pub warning: Option<String>,
}

model::shown!(ProxyAnswer { status });

impl ProxyAnswer {
    /// An answer that is passed on unread.
    pub(crate) fn passing(answer: UpstreamAnswer, lease: Lease) -> Self {
        let body = answer.body.map(move |bytes| {
            let _held = &lease;
            bytes
        });
        Self {
            status: answer.status,
            headers: answer.headers,
            body: body.boxed(),
            conversation: None,
            injected: None,
            warning: None,
        }
    }
}

/// Reads a body up to [`REFUSED_BYTES_MAX`]; returns its text, and the answer with all of its body.
pub(crate) async fn buffered(mut answer: UpstreamAnswer) -> (String, UpstreamAnswer) {
    let mut read = BytesMut::new();
    let mut chunks: Vec<Result<Bytes, UpstreamError>> = Vec::new();
    // The body is polled again after its end.
    let mut body = answer.body.fuse();
    while read.len() < REFUSED_BYTES_MAX {
        match body.next().await {
            Some(Ok(bytes)) => {
                read.extend_from_slice(&bytes);
                chunks.push(Ok(bytes));
            }
            Some(Err(error)) => chunks.push(Err(error)),
            None => break,
        }
    }
    let said = String::from_utf8_lossy(&read).into_owned();
    answer.body = futures::stream::iter(chunks).chain(body).boxed();
    (said, answer)
}

/// Work at the end of an answer.
pub(crate) struct Closing {
    pub(crate) proxy: Proxy,
    pub(crate) shared: Shared,
    /// The request without its messages, for calls of our own while the conversation is idle.
    pub(crate) frame: Frame,
    /// Marks the turn as running until this is dropped.
    pub(crate) open: Open,
    /// On the monotonic clock.
    pub(crate) started: Duration,
    pub(crate) memory: MemoryUse,
    /// The texts of a request of one turn without tools.
    pub(crate) lone: Option<String>,
    pub(crate) agent: Option<Name>,
    /// Number of requests that the server had before this one.
    pub(crate) turn: u64,
    /// The request, as it was decided.
    pub(crate) decided: Decided,
    pub(crate) injected: Option<Injected>,
    /// The server's name for the conversation, if the server stores it under one.
    pub(crate) server_conversation: Option<String>,
    /// Held while the answer arrives.
    pub(crate) lease: Option<Lease>,
}

impl Closing {
    /// The answer, read along as it passes.
    pub(crate) fn watch(self, answer: UpstreamAnswer, conversation: String) -> ProxyAnswer {
        let dialect = self.frame.stored.speech.dialect();
        let injected = self.injected.clone();
        let (status, warning) = (answer.status, self.decided.warning.clone());
        let watched = Watched {
            body: answer.body,
            end: Some((Reply::new(dialect), Box::new(self))),
            first: None,
            status,
            closing: None,
        };
        ProxyAnswer {
            status,
            headers: answer.headers,
            body: watched.boxed(),
            conversation: Some(conversation),
            injected,
            warning,
        }
    }

    /// Keeps the reply, measures the request, and lets memory learn.
    async fn finish(self, outcome: ReplyOutcome, first: Option<Duration>, status: u16) {
        let took = self.proxy.parts.clock.elapsed().saturating_sub(self.started);
        let is_good = (200..300).contains(&status);
        self.reply(&outcome, first, took, status, is_good).await;
        if is_good && self.frame.stored.speech == Speech::Responses {
            self.own(&outcome).await;
        }
        if is_good && self.memory.learns() {
            self.learn(&outcome).await;
        }
        let (proxy, kind) = (self.proxy.clone(), self.frame.kind);
        let server = self.frame.target.route.upstream.base_url().to_owned();
        let frame = Frame {
            ended: proxy.parts.clock.elapsed(),
            ..self.frame
        };
        let conversation = proxy.keep_frame(&self.shared, frame).await;
        drop(self.open);
        let now = proxy.parts.clock.elapsed();
        proxy.idle.turn(now, conversation, Some((&server, kind)));
    }

    /// Records the response, its items and the conversation that the server stores them in as the owner's.
    async fn own(&self, outcome: &ReplyOutcome) {
        let items = outcome.message.as_deref().unwrap_or("[]");
        let mut ids = reach::ids_of(&Speech::Responses.replies(items));
        ids.extend(outcome.id.iter().chain(&outcome.conversation).cloned());
        self.proxy.store().record_objects(&self.frame.party, ids).await;
    }

    async fn reply(
        &self,
        outcome: &ReplyOutcome,
        first: Option<Duration>,
        took: Duration,
        status: u16,
        is_good: bool,
    ) {
        let usage = &outcome.usage;
        let prompt = usize_of(usage.prompt_tokens);
        let outline = Outline::of(&self.decided.composed);
        let mut conversation = self.shared.lock().await;
        let id = conversation.identity();
        let last = self.proxy.last_requests.take_last(&id);
        let observed = prompt.map(|prompt_tokens| self.observed(outcome, last.as_ref(), prompt_tokens));
        let verdict = observed
            .filter(|_| usage.cached_tokens.is_some() && self.frame.kind.is_known())
            .map(|observed| diverge::classify(last.as_ref().map(|last| &last.outline), &outline, &observed));
        let slot = self.frame.target.slot_of(&self.frame.conversation);
        let is_emptied = verdict.is_some_and(|verdict| verdict.expected_tokens > 0)
            && observed.is_some_and(|observed| observed.others_between && observed.cached_tokens == 0);
        if is_emptied && slot.is_some() && last.is_some_and(|last| last.slot == slot) {
            self.frame.target.name_no_slots();
        }
        let reply = outcome.message.as_deref().filter(|_| is_good);
        let replies = reply.map_or_else(Vec::new, |reply| self.frame.stored.speech.replies(reply));
        let is_newest = conversation.records == self.decided.version;
        if let Some(prompt) = prompt.filter(|_| is_good) {
            conversation.learn_usage(prompt, self.decided.head_tokens);
        }
        if !replies.is_empty() && is_newest {
            self.take(&mut conversation, &replies, outcome.id.as_ref());
        }
        self.proxy.parts.contexts.keeper().keep(&mut conversation).await;
        let last = prompt.map(|prompt| Last {
            outline: replies.into_iter().fold(outline, Outline::with_reply),
            tokens: prompt + usize_of(usage.completion_tokens).unwrap_or(0),
            turn: self.turn,
            slot,
        });
        self.proxy.last_requests.set_last(&id, last);
        let upstream = self.frame.target.route.upstream.name();
        let has_cached = usage.cached_tokens > Some(0) || self.proxy.measures.has_cached(upstream);
        let measured = Measured {
            at: self.proxy.parts.clock.now(),
            upstream: upstream.to_owned(),
            kind: self.frame.kind,
            conversation: id.0,
            prompt_tokens: usage.prompt_tokens.unwrap_or(0),
            cached_tokens: usage.cached_tokens,
            completion_tokens: usage.completion_tokens.unwrap_or(0),
            first_token_ms: first.map(|first| millis(first.saturating_sub(self.started))),
            total_ms: millis(took),
            expected_tokens: verdict.map(|verdict| verdict.expected_tokens as u64),
            class: verdict
                .map(|verdict| verdict.class)
                .filter(|class| has_cached || !class.blames_the_server()),
            reasons: self.decided.reasons.clone(),
            injected_tokens: self
                .injected
                .as_ref()
                .map_or(0, |injected| injected.tokens as u64),
            status,
        };
        drop(conversation);
        self.proxy.measures.record(measured);
    }

    /// Cache use as the server reported it.
    fn observed(&self, outcome: &ReplyOutcome, last: Option<&Last>, prompt_tokens: usize) -> Observed {
        Observed {
            last_tokens: last.map_or(0, |last| last.tokens),
            prompt_tokens,
            cached_tokens: usize_of(outcome.usage.cached_tokens).unwrap_or(0),
            others_between: last.is_some_and(|last| last.turn + 1 != self.turn),
            cache: self.frame.kind.profile().cache,
        }
    }

    /// Adds the replies to the conversation, so that a request that continues this response finds it.
    fn take(&self, conversation: &mut Conversation, replies: &[&str], response: Option<&String>) {
        let contexts = &self.proxy.parts.contexts;
        for reply in replies {
            let bytes = (*reply).to_owned();
            conversation.record(&Logged::Sent(ShadowEvent::Reply { bytes }));
        }
        contexts.store().learn(conversation);
        if self.frame.stored.speech == Speech::Responses {
            let items: Vec<String> = replies.iter().filter_map(|item| input::id(item)).collect();
            let names = response
                .into_iter()
                .chain(&self.server_conversation)
                .chain(&items);
            contexts
                .store()
                .learn_responses(&self.frame.party, conversation, names);
        }
        contexts.replied(&self.shared, replies);
    }

    /// Adds the turn to memory. A first turn that quotes both sides of another conversation may be a side call of the
    /// client: it waits for a second turn.
    async fn learn(&self, outcome: &ReplyOutcome) {
        let store = self.proxy.store();
        if let Some(all) = &self.lone
            && store.quotes_both(&self.frame.party, &self.shared, all).await
        {
            return self.shared.lock().await.hold();
        }
        self.remember(outcome).await;
    }

    /// Adds the turn's messages to memory.
    async fn remember(&self, outcome: &ReplyOutcome) {
        let speech = self.frame.stored.speech;
        let mut turn = {
            let mut conversation = self.shared.lock().await;
            learn::AnsweredTurn::of(&mut conversation, self.agent.as_ref(), speech, outcome)
        };
        // The turn's memory has the version from before the reply.
        turn.version = self.decided.version;
        let parts = &self.proxy.parts;
        learn::learn(&parts.engine, &*parts.clock, &*parts.ids, &turn).await;
    }
}

fn usize_of(tokens: Option<u64>) -> Option<usize> {
    tokens.and_then(|tokens| usize::try_from(tokens).ok())
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// The bytes of an answer, read along.
struct Watched {
    body: BoxStream<'static, Result<Bytes, UpstreamError>>,
    end: Option<(Reply, Box<Closing>)>,
    first: Option<Duration>,
    status: u16,
    /// The work at the end, once it has begun.
    closing: Option<JoinHandle<Option<()>>>,
}

impl Stream for Watched {
    type Item = Result<Bytes, UpstreamError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        if this.end.is_some() {
            let polled = this.body.poll_next_unpin(context);
            if let (Poll::Ready(Some(Ok(bytes))), Some((reply, closing))) = (&polled, &mut this.end) {
                this.first
                    .get_or_insert_with(|| closing.proxy.parts.clock.elapsed());
                reply.push(bytes);
            }
            match polled {
                Poll::Ready(None) => this.close(),
                polled => return polled,
            }
        }
        // A client with the whole answer must find its messages stored.
        if let Some(closing) = &mut this.closing {
            std::task::ready!(closing.poll_unpin(context)).ok();
            this.closing = None;
        }
        Poll::Ready(None)
    }
}

impl Watched {
    fn close(&mut self) {
        if let Some((reply, mut closing)) = self.end.take() {
            let (first, status) = (self.first, self.status);
            // No client waits for the server now: background calls of memory can start.
            closing.lease = None;
            let endings = closing.proxy.parts.contexts.tasks().clone();
            let work = async move { closing.finish(reply.finish(), first, status).await };
            self.closing = Some(endings.spawn(work));
        }
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.close();
    }
}
