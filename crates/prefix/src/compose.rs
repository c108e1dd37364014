//! The next request: all sent messages with their bytes, and the new messages.
//!
//! Owns: invariant P (without an epoch change, a request's messages begin with the bytes of the last request's messages
//! and its reply), the changes that wait for an epoch, the possible places of a fragment. Never: sending; choosing
//! memories; deciding to compact.
//!
//! A turn is [`plan`], then [`crate::fragment::draft`] with the plan's visible memories, then [`Plan::compose`]. The
//! caller stores the events before it sends the bytes, and adds an [`ShadowEvent::Reply`] after. There is no other state: a
//! caller that drops the events leaves no trace of the turn.

mod head;
mod neighbours;
mod render;

use std::borrow::Cow;
use std::ops::Range;

use transcript::Role;

use crate::canon::{self, Meaning};
use crate::chain::{self, MatchKind};
use crate::fragment::{Draft, FragmentId, Visible};
use crate::mark;
use crate::shadow::{Fragment, OwnHead, Reason, Shadow, ShadowEdit, ShadowEvent};
use crate::splice;

/// Place of the system text in a dialect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SystemPlace<'a> {
    /// In leading messages: OpenAI's chat completions.
    Messages,
    /// In a field of the request, as JSON text: Anthropic's `system`, `instructions` of OpenAI's responses.
    Field(Option<&'a str>),
}

/// The client's request. Every `&str` except the model is a JSON text from the request's body.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    pub model: &'a str,
    pub system: SystemPlace<'a>,
    pub tools: &'a [&'a str],
    pub messages: &'a [&'a str],
    /// Number of messages that the client left out at the front, as `chain::match_chain` found.
    pub front: usize,
}

/// The bytes used for an already sent message.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Replay {
    /// The bytes of the first time, whatever the client changes in its echo, with the `cache_control` marks that it
    /// sets now. For caches of rendered text.
    #[default]
    Frozen,
    /// The client's latest bytes, with the same fragments: for an API with moving markers (`cache_control`,
    /// signatures).
    Latest,
}

/// Our additions to the client's messages. All except the edits of new messages wait for the next epoch.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    pub head: OwnHead,
    /// All edits that should apply, in the numbering of this request.
    pub edits: Vec<ShadowEdit>,
    /// Reasons to begin an epoch now, besides those that follow from the request.
    pub reasons: Vec<Reason>,
    pub replay: Replay,
}

/// A request with everything decided before recall.
#[derive(Debug, Clone)]
pub struct Plan<'a> {
    request: Request<'a>,
    body: &'a [&'a str],
    replay: Replay,
    next: Shadow,
    events: Vec<ShadowEvent>,
    /// Index in the body, and in the events.
    target: Option<(usize, usize)>,
}

/// One message as it goes out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sent {
    pub bytes: String,
    pub role: Option<Role>,
    /// Its place in the client's list after the leading system messages; none for a message that the client did not
    /// send.
    pub index: Option<usize>,
    /// Range of the fragment in bytes.
    pub injected: Option<Range<usize>>,
}

/// A request that can be sent once its events are stored.
#[derive(Debug, Clone)]
pub struct Composed {
    pub model: String,
    /// The dialect's system field, if it has one.
    pub system: Option<String>,
    pub tools: Vec<String>,
    pub messages: Vec<Sent>,
    pub events: Vec<ShadowEvent>,
    /// The shadow with these events.
    pub shadow: Shadow,
    /// The fragment that this request adds.
    pub injected: Option<FragmentId>,
}

impl Composed {
    /// Number of messages that are new to the conversation.
    pub fn new_messages(&self) -> usize {
        let is_message = |event: &&ShadowEvent| matches!(event, ShadowEvent::Message { .. });
        self.events.iter().filter(is_message).count()
    }

    /// Why this request does not extend the last one; empty if it does.
    pub fn reasons(&self) -> &[Reason] {
        match self.events.first() {
            Some(ShadowEvent::Epoch { reasons, .. }) => reasons,
            _ => &[],
        }
    }
}

/// Decides everything of a request except its fragment.
pub fn plan<'a>(shadow: &Shadow, request: Request<'a>, wanted: &Wanted) -> Plan<'a> {
    let (leading, body) = match request.system {
        SystemPlace::Messages => request.messages.split_at(canon::leading_system(request.messages)),
        SystemPlace::Field(_) => (&[][..], request.messages),
    };
    let client = meanings(shadow, body, request.front);
    let known: Vec<Meaning> = shadow.entries().iter().map(|entry| entry.meaning).collect();
    let (shared, kind) = chain::relate(&known, &client, request.front);
    let head = head::build(&request, leading, wanted);
    let reasons = reasons(
        shadow,
        &head,
        wanted,
        kind,
        known.len().saturating_sub(request.front) > shared,
    );
    let loses_head = reasons.iter().any(|reason| reason.loses_head());

    let mut next = shadow.clone();
    let mut events = Vec::new();
    if reasons.is_empty() {
        for edit in accepted(shadow.edits(), &wanted.edits, shared, body.len()) {
            push(&mut next, &mut events, ShadowEvent::Edit(edit));
        }
    } else {
        let frozen = if loses_head {
            Vec::new()
        } else {
            surviving(shadow.edits(), request.front, shared)
        };
        let from = if loses_head { 0 } else { shared };
        let mut edits = accepted(&frozen, &wanted.edits, from, body.len());
        edits.extend(frozen);
        edits.sort_by_key(|edit| edit.range.start);
        let epoch = ShadowEvent::Epoch {
            number: shadow.epoch().saturating_add(1),
            reasons,
            front: request.front,
            kept: shared,
            fragments: shadow.fragments_ever(),
            head: loses_head.then(|| Box::new(head)),
            edits,
        };
        push(&mut next, &mut events, epoch);
    }
    let first_message = events.len();
    for message in &body[shared..] {
        push(
            &mut next,
            &mut events,
            ShadowEvent::Message {
                bytes: (*message).to_owned(),
                fragment: None,
            },
        );
    }
    let target = target(&client, body, next.edits())
        .and_then(|index| Some((index, first_message + index.checked_sub(shared)?)));
    Plan {
        request,
        body,
        replay: wanted.replay,
        next,
        events,
        target,
    }
}

/// All messages so far, as the next request would send them: used to warm a server for the next turn.
pub fn current(shadow: &Shadow) -> Composed {
    // A client sets its marks anew with each request.
    let bare = shadow.entries().iter().map(|entry| mark::without(&entry.bytes));
    let bare: Vec<Cow<'_, str>> = bare.collect();
    let messages: Vec<&str> = bare.iter().map(AsRef::as_ref).collect();
    let plan = Plan {
        request: Request {
            model: &shadow.head().model,
            system: SystemPlace::Messages,
            tools: &[],
            messages: &messages,
            front: 0,
        },
        body: &messages,
        replay: Replay::Frozen,
        next: shadow.clone(),
        events: Vec::new(),
        target: None,
    };
    plan.compose(None)
}

/// The event that begins an epoch between two requests and keeps all messages except those that these edits replace.
pub fn renewal(shadow: &Shadow, edits: &[ShadowEdit], reasons: Vec<Reason>) -> ShadowEvent {
    let kept = shadow.entries().len();
    between(shadow, kept, reasons, accepted(&[], edits, 0, kept))
}

/// The event that goes back to the first `kept` messages.
pub fn rewound(shadow: &Shadow, kept: usize) -> ShadowEvent {
    let edits = surviving(shadow.edits(), 0, kept);
    between(shadow, kept, vec![Reason::Truncated], edits)
}

fn between(shadow: &Shadow, kept: usize, reasons: Vec<Reason>, edits: Vec<ShadowEdit>) -> ShadowEvent {
    ShadowEvent::Epoch {
        number: shadow.epoch().saturating_add(1),
        reasons,
        front: 0,
        kept,
        fragments: shadow.fragments_ever(),
        head: None,
        edits,
    }
}

/// The meanings of the client's messages; unchanged ones are not read again.
fn meanings(shadow: &Shadow, body: &[&str], front: usize) -> Vec<Meaning> {
    let known = |index: usize| shadow.entries().get(front.checked_add(index)?);
    let meaning =
        |(index, message): (usize, &&str)| match known(index).filter(|entry| entry.bytes == *message) {
            Some(entry) => entry.meaning,
            None => canon::read(message),
        };
    body.iter().enumerate().map(meaning).collect()
}

fn push(shadow: &mut Shadow, events: &mut Vec<ShadowEvent>, event: ShadowEvent) {
    shadow.apply(&event);
    events.push(event);
}

fn reasons(
    shadow: &Shadow,
    head: &crate::shadow::Head,
    wanted: &Wanted,
    kind: MatchKind,
    loses_entries: bool,
) -> Vec<Reason> {
    if shadow.epoch() == 0 {
        return vec![Reason::Opened];
    }
    let mut reasons = wanted.reasons.clone();
    let old = shadow.head();
    let changes = [
        (old.model != head.model, Reason::ModelChanged),
        (old.client_system != head.client_system, Reason::SystemChanged),
        (old.client_tools != head.client_tools, Reason::ToolsChanged),
    ];
    let changed = changes.into_iter().filter(|(is_changed, _)| *is_changed);
    reasons.extend(changed.map(|(_, reason)| reason));
    reasons.extend(match kind {
        MatchKind::Regenerated if loses_entries => Some(Reason::Regenerated),
        MatchKind::EchoRewritten { .. } => Some(Reason::EchoRewritten),
        MatchKind::Branched { .. } => Some(Reason::Edited),
        MatchKind::Truncated { .. } => Some(Reason::Truncated),
        MatchKind::New | MatchKind::Continued | MatchKind::Regenerated => None,
    });
    reasons.sort_unstable();
    reasons.dedup();
    reasons
}

/// The frozen edits that remain after dropping `front` messages and then keeping `kept`, in the new numbering. A
/// summary of dropped messages stays, at the very front.
fn surviving(edits: &[ShadowEdit], front: usize, kept: usize) -> Vec<ShadowEdit> {
    let mut surviving: Vec<ShadowEdit> = Vec::new();
    for edit in edits {
        let range = edit.range.start.saturating_sub(front)..edit.range.end.saturating_sub(front);
        if range.end > kept {
            continue;
        }
        match surviving
            .last_mut()
            .filter(|last| last.range.start == range.start)
        {
            Some(last) => {
                last.range.end = range.end;
                last.messages.extend(edit.messages.iter().cloned());
            }
            None => surviving.push(ShadowEdit {
                range,
                messages: edit.messages.clone(),
            }),
        }
    }
    surviving
}

/// The wanted edits from `from` on that are inside the list and overlap no earlier edit.
fn accepted(frozen: &[ShadowEdit], wanted: &[ShadowEdit], from: usize, len: usize) -> Vec<ShadowEdit> {
    let mut accepted: Vec<ShadowEdit> = Vec::new();
    for edit in wanted {
        let inside = edit.range.start >= from && edit.range.start <= edit.range.end && edit.range.end <= len;
        if inside && !frozen.iter().chain(&accepted).any(|other| other.clashes(edit)) {
            accepted.push(edit.clone());
        }
    }
    accepted.sort_by_key(|edit| edit.range.start);
    accepted
}

/// The message of the person's current turn: only system messages follow it. None inside a tool loop.
fn target(client: &[Meaning], body: &[&str], edits: &[ShadowEdit]) -> Option<usize> {
    let index = client
        .iter()
        .rposition(|message| message.role != Some(Role::System))?;
    let replaced = edits.iter().any(|edit| edit.range.contains(&index));
    let takes = client[index].asks && !replaced && splice::into_message(body[index], "").is_some();
    takes.then_some(index)
}

impl<'a> Plan<'a> {
    /// The memories that the model will see: inject only those that are missing.
    pub fn visible(&self) -> Visible {
        self.next.visible()
    }

    /// The events of the shadow, without the fragment's.
    pub fn events(&self) -> &[ShadowEvent] {
        &self.events
    }

    /// Whether the text after the client's system text is renewed.
    pub fn renews_head(&self) -> bool {
        let renews = |event: &ShadowEvent| matches!(event, ShadowEvent::Epoch { head: Some(_), .. });
        self.events.iter().any(renews)
    }

    /// The message that would get a fragment, as the client sent it: an unsent turn of a person.
    pub fn asks(&self) -> Option<&'a str> {
        self.target.map(|(index, _)| self.body[index])
    }

    /// The request with this fragment, which is left out if there is no place for it.
    pub fn compose(mut self, draft: Option<&Draft>) -> Composed {
        let injected = draft.and_then(|draft| self.inject(draft));
        let messages = self.messages();
        let (system, tools) = (self.system(), self.tools());
        Composed {
            model: self.next.head().model.clone(),
            system,
            tools,
            messages,
            events: self.events,
            shadow: self.next,
            injected,
        }
    }

    fn inject(&mut self, draft: &Draft) -> Option<FragmentId> {
        let (index, event) = self.target?;
        let splice = splice::into_message(self.body[index], &draft.text)?;
        let id = FragmentId(self.next.fragments_ever());
        let fragment = Fragment {
            id,
            memories: draft.memories.clone(),
            clock: draft.clock.clone(),
            text: draft.text.clone(),
            at: splice.at,
            bytes: splice.bytes,
        };
        if let ShadowEvent::Message { fragment: place, .. } = self.events.get_mut(event)? {
            *place = Some(fragment.clone());
        }
        self.next.set_fragment(index, fragment);
        Some(id)
    }
}
