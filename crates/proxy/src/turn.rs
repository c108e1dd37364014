//! A turn: from a client's request to the head of the answer.
//!
//! Owns: the order of a turn. Invariants: no request above its budget is sent; without a logged reason a request
//! extends the one before it; unknown parts of a request pass through. Never: waiting for memory work, reading the
//! answer (`after`).

use std::borrow::Cow;
use std::time::Duration;

use crate::conversation::{Asked, Continuation, Decided, Overflow, Party, Shared, room};
use context::guard::ModelWindow;
use context::tokens::Meter;
use model::{SessionId, Timestamp};
use ports::Probed;
use prefix::backend;
use prefix::compose::{self, Composed, Replay, SystemPlace};

use crate::additions::TurnAdditions;
use crate::after::{Closing, Injected, ProxyAnswer};
use crate::blocking;
use crate::body::{Body, LENGTHS};
use crate::idle::{Frame, StoredFrame};
use crate::input::{self, Input};
use crate::learn;
use crate::outgoing::{Going, Outgoing, Reached};
use crate::overflow;
use crate::proxy::{MemoryUse, Proxy, Request, Speech};
use crate::refusal::Refusal;
use crate::side;
use crate::steady;
use crate::target::Target;

impl Proxy {
    /// Sends a request of a conversation on, with what memory adds to it.
    pub async fn converse(&self, request: Request, speech: Speech) -> Result<ProxyAnswer, Refusal> {
        let proxy = self.clone();
        let bytes = request.body.len();
        let turn = async move {
            proxy.check_reach(&request).await?;
            proxy.turn(request, speech).await
        };
        blocking::if_large(bytes, turn).await?
    }

    async fn turn(&self, request: Request, speech: Speech) -> Result<ProxyAnswer, Refusal> {
        let started = self.parts.clock.elapsed();
        let text = str::from_utf8(&request.body).map_err(|_| Refusal::invalid("the body is not UTF-8"))?;
        let body = Body::read(text)?;
        let model = body.text("model").unwrap_or_default();
        let targets = self.targets(&model)?;
        let input = Input::read(&body, speech)?;
        if request.memory == MemoryUse::Incognito || self.is_side(&request, &body, &input, speech).await? {
            return self.pass_beside(&targets, &request, &body).await;
        }
        let probed = targets[0].route.upstream.probe().await;
        let names = [&*model, probed.model.as_deref().unwrap_or_default()];
        let (counts_for, meter) = Meter::for_models(&names);
        let party = self.party(&request, &body)?;
        let held = self.held(&party, &input).await?;
        let referred = self.referred(&party, &input).await?;
        let before = held.iter().flatten().map(String::as_str);
        let messages: Vec<&str> = before.chain(input.messages_with(&referred)).collect();
        let found = self.found(&party, speech, &messages).await?;
        let kind = targets[0].kind(&probed);
        let agent_window = self.parts.contexts.agent_window(request.agent.as_ref());
        let mut turn = Turn {
            request: &request,
            party: &party,
            body: &body,
            input: &input,
            system: steady::system(body.get(speech.system_field()), speech, kind),
            model: &model,
            counts_for,
            messages: &messages,
            held: held.as_ref().map(Vec::len),
            front: found.front,
            is_cold: self.is_cold(&found.conversation, kind).await,
            speech,
            probed: &probed,
            kind,
            window: targets[0].window(&model, agent_window).await,
            meter,
        };
        let open = found.conversation.lock().await.begin();
        let mut decided = self.take(&turn, &found.conversation, None).await?;
        let injected = injected(&decided.composed, &turn.meter);
        let reached = self.reach(&mut turn, &found, &targets, &mut decided).await?;
        let (target, lease, answer) = (reached.target, reached.lease, reached.answer);
        // The owner's own name of the conversation, if it has one.
        let conversation = || decided.conversation.clone();
        let told = party
            .conversation
            .as_ref()
            .map_or_else(conversation, SessionId::to_string);
        let closing = Closing {
            proxy: self.clone(),
            shared: found.conversation,
            open,
            started,
            memory: request.memory,
            lone: side::lone(&body, &input, speech).map(|(_, all)| all),
            agent: request.agent.clone(),
            turn: target.next_turn(),
            frame: turn.frame(target, &decided),
            injected,
            decided,
            server_conversation: input.conversation.clone(),
            lease: Some(lease),
        };
        Ok(closing.watch(answer, told))
    }

    /// Sends the decided request; once more, compacted, if the server refuses it as too long. The second answer counts.
    async fn reach(
        &self,
        turn: &mut Turn<'_>,
        found: &Continuation,
        targets: &[Target],
        decided: &mut Decided,
    ) -> Result<Reached, Refusal> {
        let mut reached = self.send(targets, &turn.going(found, decided)).await?;
        let (overflow, answer) = overflow::read(reached.answer).await;
        reached.answer = answer;
        let Some(overflow) = overflow else {
            return Ok(reached);
        };
        reached.target.learn_window(turn.model, overflow.window_tokens);
        turn.window.narrow(overflow.window_tokens);
        match self.take(turn, &found.conversation, Some(overflow)).await {
            Ok(again) if again.compaction.is_some() => *decided = again,
            _ => return Ok(reached),
        }
        tracing::info!(
            window_tokens = overflow.window_tokens,
            "the model server's window is smaller than assumed; compacting the conversation"
        );
        let targets = [reached.target];
        drop(reached.lease);
        self.send(&targets, &turn.going(found, decided)).await
    }

    /// Decides a request, and queues its records for the disk.
    async fn take(
        &self,
        turn: &Turn<'_>,
        shared: &Shared,
        overflow: Option<Overflow>,
    ) -> Result<Decided, Refusal> {
        let tools = turn.body.list("tools")?;
        let asked = turn.asked(&tools, overflow, self.parts.clock.now());
        let mut conversation = shared.lock().await;
        let request = turn.request;
        let additions = TurnAdditions {
            parts: &self.parts,
            dialect: turn.speech.dialect(),
            meter: &turn.meter,
            window: turn.window.tokens,
            recalls: request.memory.recalls(),
            agent: learn::agent(request.agent.as_ref()).filter(|_| !tools.is_empty()),
            with_person: request.with_person,
        };
        let decided = conversation
            .decide(&asked, self.parts.contexts.chosen(), &additions)
            .await?;
        self.store().learn(&conversation);
        self.parts.contexts.keeper().keep(&mut conversation).await;
        self.parts.contexts.left_view(shared, &conversation, &decided);
        if let Some((server, slot)) = Frame::slot(&conversation.frame) {
            self.keep_slot(&server, slot, &decided.conversation);
        }
        Ok(decided)
    }

    /// The items that a request refers to without sending them, by place; none for an unknown item.
    async fn referred(&self, party: &Party, input: &Input<'_>) -> Result<Vec<Option<String>>, Refusal> {
        let mut known = Vec::new();
        for (at, message) in input.messages.iter().enumerate() {
            let Some(id) = input::reference(message) else {
                continue;
            };
            if let Some(conversation) = self.store().of_response(party, &id).await? {
                let is_it = |bytes: &str| bytes.contains(&id) && input::id(bytes).as_deref() == Some(&*id);
                known.resize(at + 1, None);
                known[at] = conversation.lock().await.newest(is_it);
            }
        }
        Ok(known)
    }

    /// Whether the server has dropped its cache of a conversation since the last turn, because of its age.
    async fn is_cold(&self, conversation: &Shared, kind: backend::Kind) -> bool {
        let ended = self.last_requests.ended(&*conversation.lock().await);
        let kept = kind
            .profile()
            .idle_seconds
            .map(|kept| Duration::from_secs(kept.into()));
        kept.zip(ended)
            .is_some_and(|(kept, ended)| self.parts.clock.elapsed() >= ended + kept)
    }

    /// The conversation that these messages continue.
    async fn found(&self, party: &Party, speech: Speech, messages: &[&str]) -> Result<Continuation, Refusal> {
        let front = match speech {
            Speech::Chat => prefix::canon::leading_system(messages),
            Speech::Messages | Speech::Responses => 0,
        };
        let (dialect, fresh) = (speech.dialect(), || self.fresh_conversation());
        Ok(self
            .store()
            .find(party, dialect, &messages[front..], fresh)
            .await?)
    }

    /// The messages that the server stores, as far as they are known; none if the client sends all of them.
    async fn held(&self, party: &Party, input: &Input<'_>) -> Result<Option<Vec<String>>, Refusal> {
        let Some(id) = input.held_id() else {
            return Ok(None);
        };
        Ok(Some(self.store().held_by_server(party, id).await?))
    }
}

/// Input of a turn's decision.
pub(crate) struct Turn<'a> {
    pub(crate) request: &'a Request,
    party: &'a Party,
    pub(crate) body: &'a Body<'a>,
    input: &'a Input<'a>,
    /// The dialect's system field, as it is sent.
    system: Option<Cow<'a, str>>,
    model: &'a str,
    /// The model name that selects the vocabulary for counting.
    counts_for: &'a str,
    pub(crate) messages: &'a [&'a str],
    /// Number of messages that the server stores, if it holds the conversation.
    held: Option<usize>,
    front: usize,
    is_cold: bool,
    pub(crate) speech: Speech,
    probed: &'a Probed,
    kind: backend::Kind,
    window: ModelWindow,
    pub(crate) meter: Meter,
}

impl Turn<'_> {
    /// The request to send, and its target.
    fn going<'a>(&'a self, found: &'a Continuation, decided: &'a Decided) -> Going<'a> {
        let (text, composed) = (&self.request.body, &decided.composed);
        Going {
            request: self.request,
            sent: Outgoing::new(text, self.body, self.speech, self.input, self.held, composed),
            party: self.party,
            conversation: &decided.conversation,
            left: found.left.as_deref(),
        }
    }

    /// The frame for a call of our own in this conversation.
    fn frame(&self, target: Target, decided: &Decided) -> Frame {
        let kind = target.kind(self.probed);
        // Headers can hold the client's key, which is for the client's own calls; only a local server may need it for
        // ours.
        let headers = self.request.headers.iter().filter(|_| kind.profile().local);
        let budget = decided.budget;
        Frame {
            stored: StoredFrame {
                body: self.body.frame(self.speech),
                path: self.request.path.clone(),
                speech: self.speech,
                server: target.route.upstream.base_url().to_owned(),
                model: target.route.model.clone(),
                counts_for: self.counts_for.to_owned(),
                is_held: self.held.is_some(),
                window: budget.window,
                reserve: budget.reserve,
                tools: budget.tools,
                injected: budget.injected,
                slot: None,
            },
            headers: headers.cloned().collect(),
            target,
            kind,
            party: self.party.clone(),
            conversation: decided.conversation.clone(),
            budget,
            ended: Duration::ZERO,
        }
    }

    /// The request in the form that a conversation decides.
    fn asked<'a>(&'a self, tools: &'a [&'a str], overflow: Option<Overflow>, now: Timestamp) -> Asked<'a> {
        let window = self.window.tokens;
        let length = LENGTHS
            .iter()
            .find_map(|name| self.body.get(name)?.parse::<usize>().ok());
        Asked {
            dialect: self.speech.dialect(),
            request: compose::Request {
                model: self.model,
                system: match self.speech {
                    Speech::Chat => SystemPlace::Messages,
                    Speech::Messages | Speech::Responses => SystemPlace::Field(self.system.as_deref()),
                },
                tools,
                messages: self.messages,
                front: self.front,
            },
            replay: if self.kind.profile().markers_move() {
                Replay::Latest
            } else {
                Replay::Frozen
            },
            counts_for: self.counts_for,
            meter: &self.meter,
            window,
            window_source: self.window.source,
            reserve: room::reserve(window, length),
            injected: room::additions(window, self.request.memory.recalls()),
            tools: self.body.get("tools").unwrap_or_default(),
            is_held: self.held.is_some(),
            is_cold: self.is_cold,
            overflow,
            learns: self.request.memory.learns(),
            now,
        }
    }
}

/// Memory that this request adds.
pub(crate) fn injected(composed: &Composed, meter: &Meter) -> Option<Injected> {
    let id = composed.injected?;
    let fragment = composed.shadow.fragments().find(|fragment| fragment.id == id)?;
    Some(Injected {
        fragment: id.to_string(),
        memories: fragment.memories.clone(),
        tokens: meter.roughly(&fragment.text),
    })
}
