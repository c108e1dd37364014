//! An outgoing request: its body, its server, and the fields that a server refuses.
//!
//! Owns: the client's bytes with our changes, the order of servers, extras and marks. Never: choosing the additions of
//! a turn (`turn`), reading the answer (`after`).

use crate::conversation::Party;

use bytes::Bytes;
use ports::{Probed, UpstreamAnswer, UpstreamError, UpstreamRequest};
use prefix::backend::{self, Extra, Profile, RefusedExtras};
use prefix::compose::{Composed, Sent};
use prefix::mark::{self, Marked};

use crate::after::{self, ProxyAnswer};
use crate::body::{self, Body};
use crate::gate::Lease;
use crate::input::Input;
use crate::proxy::{Proxy, Request, Speech};
use crate::refusal::Refusal;
use crate::target::Target;

/// A request to send, and its conversation.
pub(crate) struct Going<'a> {
    pub(crate) request: &'a Request,
    pub(crate) sent: Outgoing<'a>,
    pub(crate) party: &'a Party,
    pub(crate) conversation: &'a str,
    /// The conversation that this one branched off.
    pub(crate) left: Option<&'a str>,
}

/// A server that answers.
pub(crate) struct Reached {
    pub(crate) target: Target,
    pub(crate) lease: Lease,
    pub(crate) answer: UpstreamAnswer,
}

/// A client's body, with replacements of some of its fields.
pub(crate) struct Outgoing<'a> {
    text: &'a Bytes,
    body: &'a Body<'a>,
    speech: Speech,
    composed: &'a Composed,
    replaced: Vec<(&'static str, String)>,
}

impl<'a> Outgoing<'a> {
    /// The client's body with the composed messages, or unchanged if nothing differs. The server already stores the
    /// first `held` messages.
    pub(crate) fn new(
        text: &'a Bytes,
        body: &'a Body<'a>,
        speech: Speech,
        input: &Input<'_>,
        held: Option<usize>,
        composed: &'a Composed,
    ) -> Self {
        let sent = composed
            .messages
            .iter()
            .filter(|sent| held.is_none() || sent.index >= held);
        // An item that the client names only by its id is sent as an id.
        let named = |sent: &Sent| input.name_at(sent.index?.checked_sub(held.unwrap_or(0))?);
        let messages: Vec<&str> = sent.map(|sent| named(sent).unwrap_or(&sent.bytes)).collect();
        let messages = input
            .field(&messages)
            .map(|value| (speech.messages_field(), value));
        let system = composed
            .system
            .clone()
            .filter(|system| body.get(speech.system_field()) != Some(system));
        let tools =
            (composed.tools != body.list("tools").unwrap_or_default()).then(|| body::list(&composed.tools));
        let system = system.map(|system| (speech.system_field(), system));
        let tools = tools.map(|tools| ("tools", tools));
        Self {
            text,
            body,
            speech,
            composed,
            replaced: messages.into_iter().chain(system).chain(tools).collect(),
        }
    }

    /// The parts with cache marks, for a server that supports them and a client that sets none.
    fn marked(&self, profile: &Profile) -> Option<Marked> {
        let has_own = self.speech != Speech::Messages || self.body.get("cache_control").is_some();
        if has_own {
            None
        } else {
            mark::mark(profile, self.composed)
        }
    }

    fn with(&self, extras: &[Extra], marked: Option<&Marked>, model: Option<&str>) -> Bytes {
        let mut replaced = self.replaced.clone();
        if let Some(marked) = marked.filter(|_| extras.contains(&Extra::Marks)) {
            replaced = vec![("messages", body::list(&marked.messages))];
            replaced.extend(marked.system.clone().map(|system| ("system", system)));
            replaced.extend((!marked.tools.is_empty()).then(|| ("tools", body::list(&marked.tools))));
        }
        replaced.extend(model.map(|model| ("model", serde_json::Value::from(model).to_string())));
        let fields = extras.iter().any(|extra| matches!(extra, Extra::Field { .. }));
        if replaced.is_empty() && !fields {
            return self.text.clone();
        }
        Bytes::from(self.body.with(&replaced, extras))
    }
}

impl Proxy {
    /// Sends a body to the first reachable target; sends it again without a field that the server refuses by name.
    pub(crate) async fn send(&self, targets: &[Target], going: &Going<'_>) -> Result<Reached, Refusal> {
        let mut failure = None;
        let Going { request, sent, .. } = going;
        for target in targets {
            let probed = target.route.upstream.probe().await;
            let marked = sent.marked(&target.kind(&probed).profile());
            let gate = self.gates.of(target.route.upstream.base_url());
            let lease = gate.foreground();
            let reached = |answer| Reached {
                target: target.clone(),
                lease,
                answer,
            };
            let slot = target.slot(&probed, going.conversation, going.left);
            gate.set_spare_slot(target.spare_slot(&probed));
            for _ in 0..2 {
                let mut extras = target.extras(&probed, going.party, going.conversation, slot);
                extras.retain(|extra| *extra != Extra::Marks || marked.is_some());
                let upstream_request = UpstreamRequest {
                    method: "POST".to_owned(),
                    body: Some(sent.with(&extras, marked.as_ref(), target.route.model.as_deref())),
                    path: request.path.clone(),
                    headers: headers(&request.headers, &extras),
                };
                match target.route.upstream.send(upstream_request).await {
                    Err(error) => {
                        failure = Some(error);
                        break;
                    }
                    Ok(answer) if matches!(answer.status, 400 | 422) && !extras.is_empty() => {
                        let (said, answer) = after::buffered(answer).await;
                        if !target.learn(answer.status, &said, &extras) {
                            return Ok(reached(answer));
                        }
                    }
                    Ok(answer) => return Ok(reached(answer)),
                }
            }
        }
        Err(unreached(failure))
    }

    /// Sends on a request that belongs to no conversation: to a slot that no conversation has, if the server has
    /// several.
    pub(crate) async fn pass_beside(
        &self,
        targets: &[Target],
        request: &Request,
        body: &Body<'_>,
    ) -> Result<ProxyAnswer, Refusal> {
        let mut sent = request.body.clone();
        if let [target] = targets
            && let Some(slot) = target.spare_slot(&target.route.upstream.probe().await)
        {
            let slot = Extra::Field {
                name: "id_slot",
                json: slot.to_string(),
            };
            sent = Bytes::from(body.with(&[], &[slot]));
        }
        self.pass(targets, request, sent).await
    }

    /// Sends a request on unchanged.
    pub(crate) async fn pass(
        &self,
        targets: &[Target],
        request: &Request,
        body: Bytes,
    ) -> Result<ProxyAnswer, Refusal> {
        let mut failure = None;
        for target in targets {
            let upstream_request = UpstreamRequest {
                method: request.method.clone(),
                body: Some(body.clone()).filter(|body| !body.is_empty()),
                path: request.path.clone(),
                headers: request.headers.clone(),
            };
            let lease = self.gates.of(target.route.upstream.base_url()).foreground();
            match target.route.upstream.send(upstream_request).await {
                Ok(answer) => return Ok(ProxyAnswer::passing(answer, lease)),
                Err(error) => failure = Some(error),
            }
        }
        Err(unreached(failure))
    }
}

fn unreached(failure: Option<UpstreamError>) -> Refusal {
    Refusal::upstream(&failure.unwrap_or(UpstreamError::Unreachable {
        reason: "no model server is configured".to_owned(),
    }))
}

/// The client's headers, and the extras that it did not set.
pub(crate) fn headers(client: &[(String, String)], extras: &[Extra]) -> Vec<(String, String)> {
    let mut headers = client.to_vec();
    for extra in extras {
        if let Extra::Header { name, value } = extra
            && !headers.iter().any(|(other, _)| other == name)
        {
            headers.push((name.clone(), value.clone()));
        }
    }
    headers
}

impl Target {
    /// Fields that this server accepts besides the client's own, for a conversation.
    pub(crate) fn extras(
        &self,
        probed: &Probed,
        party: &Party,
        conversation: &str,
        slot: Option<u32>,
    ) -> Vec<Extra> {
        let tenant = format!("{}/{}", party.scope.app, party.scope.project);
        let session = backend::Session {
            tenant: &tenant,
            conversation: Some(conversation),
            slot,
            header: self.route.session_header.as_deref(),
            retention: self.route.cache_retention.as_deref(),
        };
        self.kind(probed).profile().extras(session, &self.refused())
    }

    /// Whether requests to this server name a slot.
    pub(crate) fn names_slots(&self) -> bool {
        !self.learnt.lock().0.contains("id_slot")
    }

    /// Lets the server choose slots from now on: it empties slots that no other conversation uses, and knows where it
    /// moved their content.
    pub(crate) fn name_no_slots(&self) {
        let mut refused = self.learnt.lock();
        refused.0.insert("id_slot".to_owned());
    }

    fn refused(&self) -> RefusedExtras {
        self.learnt.lock().clone()
    }

    fn learn(&self, status: u16, said: &str, extras: &[Extra]) -> bool {
        let mut refused = self.learnt.lock();
        refused.learn(status, said, extras)
    }
}
