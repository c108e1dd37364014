//! A turn: from a client's request to the head of the answer.
//!
//! Owns: the order of a turn. Invariants: no request above its budget is sent; without a logged reason a request extends the
//! one before it; what is unknown in a request passes through. Never: waiting for memory work, reading the answer (`after`).

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use context::budget::Budget;
use context::guard::{Claims, Window};
use ports::{NewRecord, Probed, UpstreamAnswer, UpstreamError, UpstreamRequest};
use prefix::backend::{self, Extra, Refused};
use prefix::compose::{self, Composed, Replay, System, Wanted};
use prefix::fragment;
use prefix::shadow::Reason;
use tokens::Meter;
use transcript::dialect;

use crate::after::{Answer, Closing, Injected};
use crate::body::{self, Body};
use crate::gate::Lease;
use crate::idle::Frame;
use crate::proxy::{Memory, Proxy, Request, Speech, Target};
use crate::recall;
use crate::refusal::Refusal;
use crate::store::{Found, Whose};
use crate::talk::{Logged, Talk};

/// What memory may add to a turn, in tokens.
const FRAGMENT_TOKENS_MAX: usize = 600;
/// What stays free for the answer where the client does not say: so many'th of the window.
const RESERVE_PART: usize = 8;

/// A request that is decided, and the talk as it is then.
struct Decided {
    composed: Composed,
    records: Vec<NewRecord>,
    /// Records before these.
    at: u64,
    version: u64,
    head_tokens: usize,
    budget: Budget,
}

impl Proxy {
    /// Sends a request of a conversation on, with what memory adds to it.
    pub async fn converse(&self, request: Request, speech: Speech) -> Result<Answer, Refusal> {
        let started = self.clock.elapsed();
        let text =
            std::str::from_utf8(&request.body).map_err(|_| Refusal::invalid("the body is not UTF-8"))?;
        let body = Body::read(text).map_err(|unfit| Refusal::invalid(unfit.0))?;
        let model = body.text("model").unwrap_or_default();
        let targets = self.targets(&model)?;
        let messages = body.list("messages").map_err(|unfit| Refusal::invalid(unfit.0))?;
        if request.memory == Memory::Incognito || messages.is_empty() {
            return self.pass(&targets, &request, request.body.clone()).await;
        }
        let front = match speech {
            Speech::Chat => prefix::canon::leading_system(&messages),
            Speech::Messages => 0,
        };
        let probed = targets[0].upstream.probe().await;
        let names = [Some(&*model), probed.model.as_deref()];
        let (counts_for, meter) = Meter::for_models(&names.into_iter().flatten().collect::<Vec<_>>());
        let fresh = || self.fresh_conversation();
        let whose = self.whose(&request, &body);
        let found = self
            .store
            .find(&whose, speech.dialect(), &messages[front..], &meter, fresh)
            .await
            .map_err(|error| Refusal::internal(&error))?;
        let Found { talk: shared, front } = found;
        let turn = Turn {
            request: &request,
            whose: &whose,
            body: &body,
            model: &model,
            counts_for,
            messages: &messages,
            front,
            speech,
            probed: &probed,
            kind: targets[0].kind(&probed),
            meter,
        };
        let mut talk = shared.lock().await;
        let decided = self.decide(&turn, &mut talk).await?;
        let (key, owner) = (talk.key.clone(), talk.owner.clone());
        let open = talk.begin();
        self.keeper.keep(&key, &owner, decided.at, decided.records).await;
        drop(talk);
        let sent = turn.body_of(&decided.composed);
        let conversation = key.session.to_string();
        let (target, lease, answer) = self
            .send(&targets, &request, &sent, &whose, &conversation)
            .await?;
        let closing = Closing {
            proxy: self.clone(),
            shared,
            open,
            started,
            memory: request.memory,
            turn: target.next_turn(),
            frame: turn.frame(target, &conversation, decided.budget),
            version: decided.version,
            head_tokens: decided.head_tokens,
            injected: injected(&decided.composed, &turn.meter),
            composed: decided.composed,
            lease: Some(lease),
        };
        Ok(closing.watch(answer, body.is_true("stream"), conversation))
    }

    /// Decides what is sent and takes it into the talk.
    async fn decide(&self, turn: &Turn<'_>, talk: &mut Talk) -> Result<Decided, Refusal> {
        talk.count_for(turn.counts_for, &turn.meter);
        let tools = turn
            .body
            .list("tools")
            .map_err(|unfit| Refusal::invalid(unfit.0))?;
        let request = compose::Request {
            model: turn.model,
            system: match turn.speech {
                Speech::Chat => System::Messages,
                Speech::Messages => System::Field(turn.body.get("system")),
            },
            tools: &tools,
            messages: turn.messages,
            front: turn.front,
        };
        let mut wanted = Wanted {
            edits: talk.edits(),
            replay: if turn.kind.profile().markers_move() {
                Replay::Latest
            } else {
                Replay::Frozen
            },
            ..Wanted::default()
        };
        let head_tokens = turn.head_tokens(talk);
        let budget = turn.budget(head_tokens);
        let mut plan = compose::plan(&talk.shadow, request, &wanted);
        let mut compacted = Vec::new();
        if talk.may_exceed(&budget, plan.events()) {
            let mut trial = talk.clone();
            turn.whose.with(|scope| {
                for event in plan.events() {
                    trial.apply(scope, &Logged::Sent(event.clone()));
                }
            });
            compacted = trial.fit(&budget).map_err(|over| Refusal::over_budget(&over))?;
            if !compacted.is_empty() {
                wanted.edits = trial.edits();
                wanted.reasons = vec![Reason::Compaction];
                plan = compose::plan(&talk.shadow, request, &wanted);
            }
        }
        let draft = if plan.takes_fragment() && turn.request.memory.recalls() {
            self.draft(turn, talk, &plan.visible()).await
        } else {
            None
        };
        let composed = plan.compose(draft.as_ref());
        let at = talk.records;
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
            composed,
            records,
            at,
            version: talk.version,
            head_tokens,
            budget,
        })
    }

    /// What memory and the calendar add to this turn.
    async fn draft(
        &self,
        turn: &Turn<'_>,
        talk: &Talk,
        visible: &fragment::Visible,
    ) -> Option<fragment::Draft> {
        let last = turn.messages.last()?;
        let question = dialect::read_message(turn.speech.dialect(), last).ok()?.prose();
        let scope = &talk.key.scope;
        let here = &talk.key.session;
        let recalled = recall::recall(&self.engine, &*self.clock, scope, &talk.owner, here, &question).await;
        let memories: Vec<fragment::Memory<'_>> = recalled
            .iter()
            .map(|memory| fragment::Memory {
                id: &memory.id,
                text: &memory.text,
            })
            .collect();
        let today = self.engine.settings().zone.date(self.clock.now()).to_string();
        let count = |text: &str| turn.meter.text(text);
        fragment::draft(
            &memories,
            Some(&today),
            visible,
            turn.fragment_tokens_max(),
            &count,
        )
    }

    /// Sends a body to the first target that can be reached; once more without what a server refuses by name.
    async fn send(
        &self,
        targets: &[Target],
        request: &Request,
        sent: &SentBody,
        whose: &Whose,
        conversation: &str,
    ) -> Result<(Target, Lease, UpstreamAnswer), Refusal> {
        let mut failure = None;
        for target in targets {
            let probed = target.upstream.probe().await;
            let lease = self.gates.of(target.upstream.base_url()).foreground();
            for _ in 0..2 {
                let extras = target.extras(&probed, whose, conversation);
                let upstream_request = UpstreamRequest {
                    body: Some(Bytes::from(sent.with(&extras, target.model.as_deref()))),
                    path: request.path.clone(),
                    headers: headers(&request.headers, &extras),
                };
                match target.upstream.send(upstream_request).await {
                    Err(error) => {
                        failure = Some(error);
                        break;
                    }
                    Ok(answer) if matches!(answer.status, 400 | 422) && !extras.is_empty() => {
                        let (said, answer) = crate::after::buffered(answer).await;
                        if !target.learn(answer.status, &said, &extras) {
                            return Ok((target.clone(), lease, answer));
                        }
                    }
                    Ok(answer) => return Ok((target.clone(), lease, answer)),
                }
            }
        }
        let failure = failure.unwrap_or(UpstreamError::Unreachable {
            reason: "no model server is configured".to_owned(),
        });
        Err(Refusal::upstream(&failure))
    }

    /// Sends a request on as it came.
    pub(crate) async fn pass(
        &self,
        targets: &[Target],
        request: &Request,
        body: Bytes,
    ) -> Result<Answer, Refusal> {
        let mut failure = None;
        for target in targets {
            let upstream_request = UpstreamRequest {
                body: (!request.is_get).then(|| body.clone()),
                path: request.path.clone(),
                headers: request.headers.clone(),
            };
            let lease = self.gates.of(target.upstream.base_url()).foreground();
            match target.upstream.send(upstream_request).await {
                Ok(answer) => return Ok(Answer::passing(answer, lease)),
                Err(error) => failure = Some(error),
            }
        }
        let failure = failure.unwrap_or(UpstreamError::Unreachable {
            reason: "no model server is configured".to_owned(),
        });
        Err(Refusal::upstream(&failure))
    }
}

/// What a turn is decided from.
struct Turn<'a> {
    request: &'a Request,
    whose: &'a Whose,
    body: &'a Body<'a>,
    model: &'a str,
    /// The name whose vocabulary counts.
    counts_for: &'a str,
    messages: &'a [&'a str],
    front: usize,
    speech: Speech,
    probed: &'a Probed,
    kind: backend::Kind,
    meter: Meter,
}

impl Turn<'_> {
    /// What a call of our own in this talk would be made of.
    fn frame(&self, target: Target, conversation: &str, budget: Budget) -> Frame {
        let kind = target.kind(self.probed);
        // They may hold the client's key, which is for its own calls; a local server may want it for ours.
        let headers = self.request.headers.iter().filter(|_| kind.profile().local);
        Frame {
            body: self.body.frame(),
            path: self.request.path.clone(),
            headers: headers.cloned().collect(),
            speech: self.speech,
            target,
            kind,
            whose: self.whose.clone(),
            conversation: conversation.to_owned(),
            budget,
            ended: Duration::ZERO,
        }
    }

    /// System messages and tools, which no view counts.
    fn head_tokens(&self, talk: &mut Talk) -> usize {
        let tools = self.body.get("tools").unwrap_or_default();
        match self.speech {
            Speech::Chat => {
                let leading = prefix::canon::leading_system(self.messages);
                talk.head_tokens(&self.messages[..leading], tools, &self.meter)
            }
            Speech::Messages => {
                let system = self.body.get("system").unwrap_or_default();
                talk.head_tokens(&[system], tools, &self.meter)
            }
        }
    }

    fn window(&self) -> usize {
        Window::resolve(&Claims {
            backend: self.probed.window_tokens,
            model: Some(self.model.to_owned()),
            ..Claims::default()
        })
        .tokens
    }

    /// In a small window memory may not crowd out the talk.
    fn fragment_tokens_max(&self) -> usize {
        FRAGMENT_TOKENS_MAX.min(self.window() / 16)
    }

    fn budget(&self, head_tokens: usize) -> Budget {
        let window = self.window();
        let asked = body::LENGTHS
            .iter()
            .find_map(|name| self.body.get(name)?.parse::<usize>().ok());
        Budget {
            window,
            reserve: asked.unwrap_or(window / RESERVE_PART).min(window / 2),
            tools: head_tokens,
            injected: self.fragment_tokens_max(),
            safety: 0,
        }
    }

    /// The client's body with the composed messages, or as it came where nothing is to be changed.
    fn body_of(&self, composed: &Composed) -> SentBody {
        let mut replaced = BTreeMap::new();
        let messages: Vec<&str> = composed.messages.iter().map(|sent| sent.bytes.as_str()).collect();
        if messages != self.messages {
            replaced.insert("messages", body::list(&messages));
        }
        let tools = self.body.list("tools").unwrap_or_default();
        if composed.tools != tools {
            replaced.insert("tools", body::list(&composed.tools));
        }
        if let Some(system) = &composed.system
            && self.body.get("system") != Some(system)
        {
            replaced.insert("system", system.clone());
        }
        SentBody {
            text: self.request.body.clone(),
            replaced: replaced.into_iter().collect(),
        }
    }
}

/// A client's body, and what stands in the place of some of its fields.
pub(crate) struct SentBody {
    text: Bytes,
    replaced: Vec<(&'static str, String)>,
}

impl SentBody {
    fn with(&self, extras: &[Extra], model: Option<&str>) -> String {
        let text = String::from_utf8_lossy(&self.text);
        let mut replaced = self.replaced.clone();
        replaced.extend(model.map(|model| ("model", serde_json::Value::from(model).to_string())));
        let fields = extras.iter().any(|extra| matches!(extra, Extra::Field { .. }));
        if replaced.is_empty() && !fields {
            return text.into_owned();
        }
        Body::read(&text).map_or_else(|_| text.clone().into_owned(), |body| body.with(&replaced, extras))
    }
}

/// The client's headers, and the extras that it did not set.
pub(crate) fn headers(client: &[(String, String)], extras: &[Extra]) -> Vec<(String, String)> {
    let mut headers = client.to_vec();
    for extra in extras {
        if let Extra::Header { name, value } = extra
            && !headers.iter().any(|(other, _)| other == name)
        {
            headers.push(((*name).to_owned(), value.clone()));
        }
    }
    headers
}

/// What this request adds of memory.
fn injected(composed: &Composed, meter: &Meter) -> Option<Injected> {
    let id = composed.injected?;
    let fragment = composed.shadow.fragments().find(|fragment| fragment.id == id)?;
    Some(Injected {
        fragment: id.to_string(),
        memories: fragment.memories.clone(),
        tokens: meter.text(&fragment.text),
    })
}

/// Fields that a server has refused.
pub(crate) type Learnt = Arc<Mutex<Refused>>;

impl Target {
    /// What this server may be sent beside the client's own fields, for a conversation.
    pub(crate) fn extras(&self, probed: &Probed, whose: &Whose, conversation: &str) -> Vec<Extra> {
        let tenant = format!("{}/{}", whose.scope.app, whose.scope.project);
        let session = backend::Session {
            tenant: &tenant,
            conversation: Some(conversation),
            slot: self.slot(probed, conversation),
        };
        self.kind(probed).profile().extras(session, &self.refused())
    }

    fn refused(&self) -> Refused {
        self.learnt.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn learn(&self, status: u16, said: &str, extras: &[Extra]) -> bool {
        let mut refused = self.learnt.lock().unwrap_or_else(PoisonError::into_inner);
        refused.learn(status, said, extras)
    }
}
