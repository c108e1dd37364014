//! A turn: from a client's request to the head of the answer.
//!
//! Owns: the order of a turn. Invariants: no request above its budget is sent; without a logged reason a request extends the
//! one before it; what is unknown in a request passes through. Never: waiting for memory work, reading the answer (`after`).

use std::borrow::Cow;
use std::time::Duration;

use context::budget::Budget;
use context::event::Event as ViewEvent;
use context::plan::Trigger;
use context::tokens::Meter;
use ports::{NewRecord, Probed};
use prefix::backend;
use prefix::compose::{self, Composed, Replay, System, Wanted};
use prefix::shadow::{Edit, Event, Reason};

use crate::after::{Answer, Closing, Injected};
use crate::aside;
use crate::body::{Body, LENGTHS};
use crate::idle::Frame;
use crate::outgoing::{Going, Outgoing, Reached};
use crate::overflow::{self, Overflow};
use crate::proxy::{Memory, Proxy, Request, Speech, Target};
use crate::refusal::Refusal;
use crate::said::Said;
use crate::side;
use crate::steady;
use crate::store::{Found, Shared};
use crate::talk::{Logged, Talk};
use crate::whose::Whose;

/// What memory may add to a turn, in tokens.
const FRAGMENT_TOKENS_MAX: usize = 350;
/// What the pages at hand may add to the first turn that does not show them, in tokens.
const PAGES_TOKENS_MAX: usize = 400;
/// What the operator's instructions may take: so many'th of the window, at so many characters to a token.
const INSTRUCTIONS_PART: usize = 4;
const INSTRUCTIONS_CHARS_MAX: usize = 20_000;
const CHARS_PER_TOKEN: usize = 3;
/// What stays free for the answer where the client does not say: so many'th of the window.
const RESERVE_PART: usize = 8;

/// A request that is decided, and the talk as it is then.
struct Decided {
    conversation: String,
    is_compacted: bool,
    composed: Composed,
    records: Vec<NewRecord>,
    /// Records before these.
    at: u64,
    version: u64,
    reasons: Vec<Reason>,
    head_tokens: usize,
    budget: Budget,
}

impl Proxy {
    /// Sends a request of a conversation on, with what memory adds to it.
    pub async fn converse(&self, request: Request, speech: Speech) -> Result<Answer, Refusal> {
        let proxy = self.clone();
        let bytes = request.body.len();
        aside::if_large(bytes, async move { proxy.turn(request, speech).await }).await?
    }

    async fn turn(&self, request: Request, speech: Speech) -> Result<Answer, Refusal> {
        let started = self.clock.elapsed();
        let text =
            std::str::from_utf8(&request.body).map_err(|_| Refusal::invalid("the body is not UTF-8"))?;
        let body = Body::read(text).map_err(|unfit| Refusal::invalid(unfit.0))?;
        let model = body.text("model").unwrap_or_default();
        let targets = self.targets(&model)?;
        let said = Said::read(&body, speech).map_err(|unfit| Refusal::invalid(unfit.0))?;
        if request.memory == Memory::Incognito || side::is_side(&body, &said, speech) {
            return self.pass(&targets, &request, request.body.clone()).await;
        }
        let probed = targets[0].upstream.probe().await;
        let names = [&*model, probed.model.as_deref().unwrap_or_default()];
        let (counts_for, meter) = Meter::for_models(&names);
        let whose = self.whose(&request, &body)?;
        let held = self.held(&whose, &said, &meter).await?;
        let referred = self.store.referred(&whose, &said).await;
        let before = held.iter().flatten().map(String::as_str);
        let messages: Vec<&str> = before.chain(said.messages_with(&referred)).collect();
        let found = self.found(&whose, speech, &messages, &meter).await?;
        let kind = targets[0].kind(&probed);
        let mut turn = Turn {
            request: &request,
            whose: &whose,
            body: &body,
            said: &said,
            system: steady::system(body.get(speech.system_field()), speech, kind),
            model: &model,
            counts_for,
            messages: &messages,
            held: held.as_ref().map(Vec::len),
            front: found.front,
            speech,
            probed: &probed,
            kind,
            window: targets[0].window(&model).await,
            meter,
        };
        let open = found.talk.lock().await.begin();
        let mut decided = self.take(&turn, &found.talk, None).await?;
        let injected = injected(&decided.composed, &turn.meter);
        let reached = self.reach(&mut turn, &found, &targets, &mut decided).await?;
        let Reached {
            target,
            lease,
            answer,
        } = reached;
        let conversation = decided.conversation;
        let closing = Closing {
            proxy: self.clone(),
            shared: found.talk,
            open,
            started,
            memory: request.memory,
            agent: request.agent.clone(),
            turn: target.next_turn(),
            frame: turn.frame(target, &conversation, decided.budget),
            version: decided.version,
            reasons: decided.reasons,
            head_tokens: decided.head_tokens,
            injected,
            composed: decided.composed,
            server_conversation: said.conversation.clone(),
            lease: Some(lease),
        };
        // By the name that the client knows it by.
        let told = whose.conversation.map_or(conversation, |name| name.to_string());
        Ok(closing.watch(answer, body.is_true("stream"), told))
    }

    /// Sends what was decided; once more, compacted, where the server says that it has no room for so much. What it says then is
    /// the answer.
    async fn reach(
        &self,
        turn: &mut Turn<'_>,
        found: &Found,
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
        turn.window = turn.window.min(overflow.window_tokens);
        match self.take(turn, &found.talk, Some(overflow)).await {
            Ok(again) if again.is_compacted => *decided = again,
            _ => return Ok(reached),
        }
        tracing::info!(
            window_tokens = overflow.window_tokens,
            "the model server has a smaller window than was known: the conversation is compacted"
        );
        let targets = [reached.target];
        drop(reached.lease);
        self.send(&targets, &turn.going(found, decided)).await
    }

    /// Decides a request, and hands to the disk what it changes.
    async fn take(
        &self,
        turn: &Turn<'_>,
        shared: &Shared,
        overflow: Option<Overflow>,
    ) -> Result<Decided, Refusal> {
        let mut talk = shared.lock().await;
        let mut decided = self.decide(turn, &mut talk, overflow).await?;
        let records = std::mem::take(&mut decided.records);
        self.keeper
            .keep(&talk.key, &talk.owner, decided.at, records)
            .await;
        Ok(decided)
    }

    /// The talk that these messages continue.
    async fn found(
        &self,
        whose: &Whose,
        speech: Speech,
        messages: &[&str],
        meter: &Meter,
    ) -> Result<Found, Refusal> {
        let front = match speech {
            Speech::Chat => prefix::canon::leading_system(messages),
            Speech::Messages | Speech::Responses => 0,
        };
        let fresh = || self.fresh_conversation();
        let found = self
            .store
            .find(whose, speech.dialect(), &messages[front..], meter, fresh);
        found.await.map_err(|error| Refusal::internal(&error))
    }

    /// What the server holds before this request, as far as it is known; none where the client sends all of it.
    async fn held(
        &self,
        whose: &Whose,
        said: &Said<'_>,
        meter: &Meter,
    ) -> Result<Option<Vec<String>>, Refusal> {
        let Some(id) = said.stands_on() else {
            return Ok(None);
        };
        let held = self.store.held_by_server(whose, id, meter).await;
        held.map(Some).map_err(|error| Refusal::internal(&error))
    }

    /// Decides what is sent and takes it into the talk.
    async fn decide(
        &self,
        turn: &Turn<'_>,
        talk: &mut Talk,
        overflow: Option<Overflow>,
    ) -> Result<Decided, Refusal> {
        talk.count_for(turn.counts_for, &turn.meter);
        talk.dialect = turn.speech.dialect();
        let tools = turn
            .body
            .list("tools")
            .map_err(|unfit| Refusal::invalid(unfit.0))?;
        let request = turn.composable(&tools);
        let mut wanted = Wanted {
            head: talk.shadow.head().own.clone(),
            edits: turn.held.map_or_else(|| talk.edits(), |_| Vec::new()),
            replay: if turn.kind.profile().markers_move() {
                Replay::Latest
            } else {
                Replay::Frozen
            },
            ..Wanted::default()
        };
        let must = overflow.is_some();
        let (mut plan, head_tokens, mut budget) = self.planned(turn, talk, request, &mut wanted, must).await;
        if let Some(prompt_tokens) = overflow.and_then(|overflow| overflow.prompt_tokens) {
            budget.window = talk.window_as_counted(budget.window, prompt_tokens, head_tokens);
        }
        let mut compacted = Vec::new();
        // What the server holds is the server's to shorten.
        if turn.held.is_none() && (must || talk.may_exceed(&budget, plan.events())) {
            let trigger = if must { Trigger::Overflow } else { Trigger::Auto };
            (compacted, wanted.edits) = turn.fitted(talk, plan.events(), &budget, trigger)?;
            if !compacted.is_empty() {
                wanted.reasons = vec![Reason::Compaction];
                plan = compose::plan(&talk.shadow, request, &wanted);
            }
        }
        let asks = plan.asks().filter(|_| turn.request.memory.recalls());
        let draft = match asks {
            // Most turns of a tool loop ask nothing: the future of a turn stays small.
            Some(message) => Box::pin(self.draft(turn, talk, message, &plan.visible())).await,
            None => None,
        };
        let composed = plan.compose(draft.as_ref());
        let at = talk.records;
        let is_compacted = !compacted.is_empty();
        let records = turn.whose.with(|scope| {
            let sent = composed.events.iter().cloned().map(Logged::Sent);
            let logged = sent.chain(compacted.into_iter().map(Logged::View));
            logged.map(|logged| talk.apply(scope, &logged)).collect()
        });
        self.store.learn(talk);
        if turn.request.memory.learns() {
            talk.ask(&composed.events);
        }
        Ok(Decided {
            conversation: talk.key.session.to_string(),
            is_compacted,
            composed,
            records,
            at,
            version: talk.version,
            reasons: talk.begun(),
            head_tokens,
            budget,
        })
    }

    /// The plan of a request, what its head weighs, and what it may weigh. The files of instructions are read only where they may
    /// take the place of what the conversation has: when an epoch begins, or is about to.
    async fn planned<'a>(
        &self,
        turn: &Turn<'a>,
        talk: &mut Talk,
        request: compose::Request<'a>,
        wanted: &mut Wanted,
        must_compact: bool,
    ) -> (compose::Plan<'a>, usize, Budget) {
        let head_tokens = turn.head_tokens(talk, &wanted.head.text);
        let budget = turn.budget(head_tokens);
        let plan = compose::plan(&talk.shadow, request, wanted);
        let is_full = turn.held.is_none() && (must_compact || talk.may_exceed(&budget, plan.events()));
        if !plan.renews_head() && !is_full {
            return (plan, head_tokens, budget);
        }
        wanted.head.text = self.instructions(turn).await;
        let head_tokens = turn.head_tokens(talk, &wanted.head.text);
        let plan = compose::plan(&talk.shadow, request, wanted);
        (plan, head_tokens, turn.budget(head_tokens))
    }

    /// What stands behind the client's system text if an epoch begins now.
    async fn instructions(&self, turn: &Turn<'_>) -> String {
        let Some(instructions) = self.instructions.clone() else {
            return String::new();
        };
        let chars = turn.window / INSTRUCTIONS_PART * CHARS_PER_TOKEN;
        let read = move || instructions.read(chars.min(INSTRUCTIONS_CHARS_MAX));
        tokio::task::spawn_blocking(read).await.unwrap_or_default()
    }
}

/// What leaves a view, and all that stands for what left.
type Fitted = (Vec<ViewEvent>, Vec<Edit>);

/// What a turn is decided from.
pub(crate) struct Turn<'a> {
    pub(crate) request: &'a Request,
    whose: &'a Whose,
    pub(crate) body: &'a Body<'a>,
    said: &'a Said<'a>,
    /// The dialect's system field, as it is sent.
    system: Option<Cow<'a, str>>,
    model: &'a str,
    /// The name whose vocabulary counts.
    counts_for: &'a str,
    pub(crate) messages: &'a [&'a str],
    /// So many of the messages are the server's, where it holds the conversation.
    held: Option<usize>,
    front: usize,
    pub(crate) speech: Speech,
    probed: &'a Probed,
    kind: backend::Kind,
    /// In tokens.
    window: usize,
    pub(crate) meter: Meter,
}

impl Turn<'_> {
    fn composable<'a>(&'a self, tools: &'a [&'a str]) -> compose::Request<'a> {
        compose::Request {
            model: self.model,
            system: match self.speech {
                Speech::Chat => System::Messages,
                Speech::Messages | Speech::Responses => System::Field(self.system.as_deref()),
            },
            tools,
            messages: self.messages,
            front: self.front,
        }
    }

    /// What goes out, and for whom.
    fn going<'a>(&'a self, found: &'a Found, decided: &'a Decided) -> Going<'a> {
        let (text, composed) = (&self.request.body, &decided.composed);
        Going {
            request: self.request,
            sent: Outgoing::new(text, self.body, self.speech, self.said, self.held, composed),
            whose: self.whose,
            conversation: &decided.conversation,
            left: found.left.as_deref(),
        }
    }

    /// What a call of our own in this talk would be made of.
    fn frame(&self, target: Target, conversation: &str, budget: Budget) -> Frame {
        let kind = target.kind(self.probed);
        // They may hold the client's key, which is for its own calls; a local server may want it for ours.
        let headers = self.request.headers.iter().filter(|_| kind.profile().local);
        Frame {
            body: self.body.frame(self.speech),
            path: self.request.path.clone(),
            headers: headers.cloned().collect(),
            speech: self.speech,
            target,
            kind,
            whose: self.whose.clone(),
            conversation: conversation.to_owned(),
            is_held: self.held.is_some(),
            budget,
            ended: Duration::ZERO,
        }
    }

    /// System messages, instructions and tools, which no view counts. Which instructions this request has is known once it is
    /// decided whether an epoch begins: the longer ones count.
    fn head_tokens(&self, talk: &mut Talk, own: &str) -> usize {
        let frozen = talk.shadow.head().own.text.clone();
        let own = if frozen.len() > own.len() { &frozen } else { own };
        let tools = self.body.get("tools").unwrap_or_default();
        match self.speech {
            Speech::Chat => {
                let leading = prefix::canon::leading_system(self.messages);
                let system = [&self.messages[..leading], &[own]].concat();
                talk.head_tokens(&system, tools, &self.meter)
            }
            Speech::Messages | Speech::Responses => {
                let system = self.system.as_deref().unwrap_or_default();
                talk.head_tokens(&[system, own], tools, &self.meter)
            }
        }
    }

    /// What must leave the view for these events to fit, and the edits that then hold.
    fn fitted(
        &self,
        talk: &Talk,
        events: &[Event],
        budget: &Budget,
        trigger: Trigger,
    ) -> Result<Fitted, Refusal> {
        let mut trial = talk.clone();
        self.whose.with(|scope| {
            for event in events {
                trial.apply(scope, &Logged::Sent(event.clone()));
            }
        });
        let compacted = trial
            .fit(budget, trigger)
            .map_err(|over| Refusal::over_budget(&over))?;
        Ok((compacted, trial.edits()))
    }

    /// In a small window memory may not crowd out the talk.
    pub(crate) fn fragment_tokens_max(&self) -> usize {
        FRAGMENT_TOKENS_MAX.min(self.window / 16)
    }

    pub(crate) fn pages_tokens_max(&self) -> usize {
        PAGES_TOKENS_MAX.min(self.window / 16)
    }

    fn budget(&self, head_tokens: usize) -> Budget {
        let window = self.window;
        let asked = LENGTHS
            .iter()
            .find_map(|name| self.body.get(name)?.parse::<usize>().ok());
        Budget {
            window,
            reserve: asked.unwrap_or(window / RESERVE_PART).min(window / 2),
            tools: head_tokens,
            // They are counted roughly, the window is not.
            injected: (self.fragment_tokens_max() + self.pages_tokens_max()) * 5 / 4,
            safety: 0,
        }
    }
}

/// What this request adds of memory.
fn injected(composed: &Composed, meter: &Meter) -> Option<Injected> {
    let id = composed.injected?;
    let fragment = composed.shadow.fragments().find(|fragment| fragment.id == id)?;
    Some(Injected {
        fragment: id.to_string(),
        memories: fragment.memories.clone(),
        tokens: meter.roughly(&fragment.text),
    })
}
