//! Reasons for cache misses: compares a request with the last one and its reply, and the shared part with the backend's
//! number of reused tokens.
//!
//! Owns: the outline of a request, the classes of a miss. Never: tokens of its own; it measures in bytes and takes
//! tokens from the backend's usage.

use transcript::Role;

use crate::backend::CacheModel;
use crate::canon;
use crate::compose::Composed;
use crate::digest::Digest;
use crate::mark;

/// Kind of a request's part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Label {
    Model,
    Tools,
    System,
    /// A message after the leading system messages.
    Message(Option<Role>),
    /// The text injected into that message.
    Injected,
    /// The backend's reply.
    Reply,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct OutlinePart {
    label: Label,
    digest: Digest,
    bytes: usize,
}

/// A request by its parts, in the order in which templates render them. Small: it holds digests, no text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outline {
    parts: Vec<OutlinePart>,
    /// Whether a message follows the leading system messages.
    has_message: bool,
}

impl Outline {
    /// The outline of a composed request.
    pub fn of(request: &Composed) -> Self {
        let mut outline = Self::default();
        outline.part(Label::Model, &request.model);
        for tool in &request.tools {
            outline.part(Label::Tools, tool);
        }
        if let Some(system) = &request.system {
            outline.part(Label::System, system);
        }
        for message in &request.messages {
            match message.injected.clone() {
                None => outline.message(&message.bytes),
                Some(range) => {
                    let text = &message.bytes;
                    let (before, after) = (text.get(..range.start), text.get(range.end..));
                    outline.message(&[before.unwrap_or_default(), after.unwrap_or_default()].concat());
                    outline.part(Label::Injected, text.get(range).unwrap_or_default());
                }
            }
        }
        outline
    }

    /// The outline with the backend's reply at the end: the next request should begin with it.
    #[must_use]
    pub fn with_reply(mut self, reply: &str) -> Self {
        self.part(Label::Reply, reply);
        self
    }

    fn message(&mut self, text: &str) {
        let role = canon::read(text).role;
        self.has_message |= role != Some(Role::System);
        let label = if self.has_message {
            Label::Message(role)
        } else {
            Label::System
        };
        self.part(label, text);
    }

    fn part(&mut self, label: Label, text: &str) {
        // A mark moves from turn to turn, and no model reads it.
        let text = mark::without(text);
        self.parts.push(OutlinePart {
            label,
            digest: Digest::of(text.as_bytes()),
            bytes: text.len(),
        });
    }

    fn bytes(&self) -> usize {
        self.parts.iter().map(|part| part.bytes).sum()
    }
}

/// Measurements of a request by the backend and the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Observed {
    /// Tokens of the last request and its reply, as the backend counted them.
    pub last_tokens: usize,
    /// Tokens of this request.
    pub prompt_tokens: usize,
    /// The reused tokens among them.
    pub cached_tokens: usize,
    /// Another request went to this backend since the last one of this conversation.
    pub others_between: bool,
    pub cache: CacheModel,
}

/// The class of a request by its cache use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// There is no last request.
    First,
    /// It extends the last request, and the backend reused that one.
    Extension,
    Model,
    System,
    Tools,
    /// A message of this role changed.
    Message(Option<Role>),
    /// The client sent back a changed reply.
    AssistantEcho,
    /// The text injected last time is gone, or changed.
    TailInjection,
    /// Another request took the slot.
    SlotStolen,
    /// The backend has none of the prefix: it was restarted, or dropped it.
    Evicted,
    /// The request is an extension, but its rendering by the template is not; or the model's state can return only to a
    /// checkpoint before the end.
    TemplateDrop,
}

impl Class {
    /// Whether the reused tokens show that the server lost its cache; no change of the request caused the miss.
    pub fn blames_the_server(self) -> bool {
        matches!(self, Self::SlotStolen | Self::Evicted | Self::TemplateDrop)
    }

    /// Its label in metrics.
    pub fn word(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Extension => "extension",
            Self::Model => "model",
            Self::System => "system",
            Self::Tools => "tools",
            Self::Message(role) => match role {
                Some(Role::User) => "message_user",
                Some(Role::Assistant) => "message_assistant",
                Some(Role::Tool) => "message_tool",
                Some(Role::System) => "message_system",
                None => "message_other",
            },
            Self::AssistantEcho => "assistant_echo",
            Self::TailInjection => "tail_injection",
            Self::SlotStolen => "slot_stolen",
            Self::Evicted => "evicted",
            Self::TemplateDrop => "template_drop",
        }
    }
}

/// A class, and the tokens that the backend could have reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdict {
    pub class: Class,
    /// Tokens that the backend could have reused.
    pub expected_tokens: usize,
}

/// Classifies a request. `last` is the last request of the conversation with its reply.
pub fn classify(last: Option<&Outline>, new: &Outline, observed: &Observed) -> Verdict {
    let Some(last) = last else {
        return Verdict {
            class: Class::First,
            expected_tokens: 0,
        };
    };
    let same = |(one, other): &(&OutlinePart, &OutlinePart)| one.digest == other.digest;
    let common = last.parts.iter().zip(&new.parts).take_while(same).count();
    let shared_bytes = last.parts[..common].iter().map(|part| part.bytes).sum();
    let cause = last
        .parts
        .get(common)
        .map(|part| cause(part.label, new.parts.get(common).map(|part| part.label)));
    let expected = expected(shared_bytes, last.bytes(), cause.is_some(), observed);
    // Tokens per byte differ between parts: only for an extension is the number exact.
    let least = if cause.is_some() {
        expected - expected / 10
    } else {
        expected - expected / 50
    };
    let reached = observed.cached_tokens.saturating_add(slack(observed.cache)) >= least;
    let class = match cause {
        None if reached => Class::Extension,
        None => lost(observed, expected),
        Some(cause) if reached => cause,
        Some(_) if observed.others_between => Class::SlotStolen,
        Some(_) if nothing(observed, expected) => Class::Evicted,
        Some(cause) => cause,
    };
    Verdict {
        class,
        expected_tokens: expected,
    }
}

/// The class by the first different part: `old` became `new`, or is gone.
fn cause(old: Label, new: Option<Label>) -> Class {
    match (old, new) {
        (Label::Model, _) | (_, Some(Label::Model)) => Class::Model,
        (Label::Tools, _) | (_, Some(Label::Tools)) => Class::Tools,
        (Label::System, _) | (_, Some(Label::System)) => Class::System,
        (Label::Injected, _) | (_, Some(Label::Injected)) => Class::TailInjection,
        (Label::Reply, _) => Class::AssistantEcho,
        (Label::Message(role), _) => Class::Message(role),
    }
}

/// Tokens that a backend evaluates again at the end of an extension in any case.
fn slack(cache: CacheModel) -> usize {
    match cache {
        CacheModel::Blocks { tokens, .. } => tokens.saturating_add(8),
        CacheModel::Rewindable => 8,
    }
}

fn expected(shared_bytes: usize, last_bytes: usize, diverges: bool, observed: &Observed) -> usize {
    let share = observed.last_tokens as u128 * shared_bytes as u128 / last_bytes.max(1) as u128;
    let share = usize::try_from(share).unwrap_or(usize::MAX);
    let tokens = if diverges { share } else { observed.last_tokens }.min(observed.prompt_tokens);
    match observed.cache {
        CacheModel::Blocks { tokens_min, .. } if tokens < tokens_min => 0,
        _ => tokens,
    }
}

fn nothing(observed: &Observed, expected: usize) -> bool {
    observed.cached_tokens <= expected / 50
}

/// Why the backend did not reuse an extension.
fn lost(observed: &Observed, expected: usize) -> Class {
    if observed.others_between {
        Class::SlotStolen
    } else if nothing(observed, expected) {
        Class::Evicted
    } else {
        Class::TemplateDrop
    }
}
