//! Where a conversation is cut into segments, by rules.
//!
//! Owns: the cuts and who owns a part. Never: asking a model, or removing anything from a buffer.
//!
//! The rules read one message after the other. A cut depends on the messages of its own part and on
//! the six messages after it, never on later ones. So a longer buffer keeps every cut of a shorter
//! one, and cutting while messages arrive gives the same parts as cutting all at once.

use model::{CutReason, Message, Owner, Role, Vector, dot};

use crate::tokens;

model::defaults! {
    /// When a buffer is cut at the latest.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Limits {
        /// A pause longer than this ends a part.
        pub gap_minutes: u32 = 30,
        pub messages_max: usize = 50,
        pub tokens_max: usize = 8_192,
    }
}

/// One cut: a part ends before the message at `end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Boundary {
    /// One past the part's last message.
    pub end: usize,
    pub reason: CutReason,
}

/// Number of messages compared on each side of a place.
const WINDOW: usize = 4;
/// A dip must be the lowest point among this many places on both sides.
const NEIGHBOURS: usize = 2;
/// The common part of both sides is the mean of the sides and of this number of messages before
/// them.
const COMMON: usize = 20;
/// First place of a part that is compared: before it the windows cover nearly all of the part.
const FIRST: usize = 6;
/// Minimum number of earlier places of the part, from which the usual similarity of this talk is
/// computed.
const USUAL_MIN: usize = 6;
/// A dip must lie this many standard deviations below the usual similarity. Measured with the
/// static embedder on chats of six pairs of friends, their pauses removed: a cut every 80 messages,
/// and 2.7 times as often at a new session as chance.
const DEVIATIONS_MIN: f32 = 2.0;
/// Minimum cosine, common part included, of two sides with the same subject.
const ALIKE_MIN: f32 = 0.9;
/// Minimum standard deviation: talk that hardly varies has no dips.
const DEVIATION_FLOOR: f32 = 0.1;
/// Number of new messages after which another call of the model is worth its cost.
const ASK_MESSAGES_MIN: usize = 25;

/// The cuts of a buffer, in order; messages after the last one stay in the buffer. `vectors` has one for each message;
/// without them there are no cuts by topic.
pub fn boundaries(messages: &[Message], vectors: Option<&[Vector]>, limits: &Limits) -> Vec<Boundary> {
    let vectors = vectors.filter(|vectors| vectors.len() == messages.len());
    let mut cuts = Vec::new();
    let mut part = OpenPart::default();
    let mut at = 0;
    while at < messages.len() {
        let cut = part
            .hard_cut(messages, at, limits)
            .or_else(|| vectors.and_then(|vectors| part.topic_cut(messages, vectors, at)));
        if let Some(cut) = cut {
            cuts.push(cut);
            // The new part starts afresh, so that earlier parts do not influence its cuts.
            part = OpenPart::at(cut.end);
            at = cut.end;
        }
        part.take(&messages[at]);
        at += 1;
    }
    cuts
}

/// The part that is being read.
#[derive(Debug, Default)]
struct OpenPart {
    start: usize,
    tokens: usize,
    /// Index of the first message by a person; nothing is cut before it.
    first_user: Option<usize>,
    /// Tool calls without a result, since the last user message.
    calls_open: usize,
    /// Similarity of the messages before and after each place, from the place [`FIRST`] on.
    across: Vec<f32>,
    /// For each message of the part: whether a cut before it would separate a tool call from its
    /// result.
    holds: Vec<bool>,
}

impl OpenPart {
    fn at(start: usize) -> Self {
        Self {
            start,
            ..Self::default()
        }
    }

    fn take(&mut self, message: &Message) {
        self.holds.push(self.holds_before(message));
        self.tokens += cost(message);
        match message.role {
            Role::User => {
                self.first_user.get_or_insert(self.start + self.holds.len() - 1);
                self.calls_open = 0;
            }
            Role::Assistant => self.calls_open += message.tool_calls.len(),
            Role::Tool => self.calls_open = self.calls_open.saturating_sub(1),
        }
    }

    fn holds_before(&self, message: &Message) -> bool {
        self.calls_open > 0 || message.role == Role::Tool
    }

    /// A cut that a pause or a limit demands before the message at `at`.
    fn hard_cut(&self, messages: &[Message], at: usize, limits: &Limits) -> Option<Boundary> {
        let message = &messages[at];
        if at == self.start || self.first_user.is_none() {
            return None;
        }
        let pause = message
            .time
            .millis()
            .saturating_sub(messages[at - 1].time.millis());
        if pause > i64::from(limits.gap_minutes) * 60_000 && !self.holds_before(message) {
            let reason = CutReason::Gap;
            return Some(Boundary { end: at, reason });
        }
        let full = at - self.start >= limits.messages_max || self.tokens + cost(message) > limits.tokens_max;
        if !full {
            return None;
        }
        let over = at - self.start >= limits.messages_max.saturating_mul(2)
            || self.tokens > limits.tokens_max.saturating_mul(2);
        let end = self.best_end(messages, at).or_else(|| over.then_some(at))?;
        let reason = CutReason::Size;
        Some(Boundary { end, reason })
    }

    /// The best place for a cut that a limit demands: where a person begins to speak, not far back; else as late as
    /// tool calls allow.
    fn best_end(&self, messages: &[Message], at: usize) -> Option<usize> {
        let earliest = self.start + ((at - self.start) * 3 / 4).max(1);
        let free = |end: usize| match self.holds.get(end - self.start) {
            Some(held) => !held,
            None => !self.holds_before(&messages[end]),
        };
        let turn = |end: &usize| messages[*end].role == Role::User && !answers(messages, *end);
        let places = || {
            (earliest..=at)
                .rev()
                .filter(|end| free(*end) && self.first_user.is_some_and(|first| first < *end))
        };
        places().find(turn).or_else(|| places().next())
    }

    /// A cut where the subject changes, decided when the next six messages (`WINDOW` and
    /// `NEIGHBOURS`) are known.
    fn topic_cut(&mut self, messages: &[Message], vectors: &[Vector], at: usize) -> Option<Boundary> {
        let place = (at + 1)
            .checked_sub(WINDOW)
            .filter(|place| *place >= self.start + FIRST)?;
        self.across.push(across(vectors, self.start, place));
        let end = place.checked_sub(NEIGHBOURS)?;
        let here = end.checked_sub(self.start + FIRST)?;
        let usual = &self.across[..here.checked_sub(NEIGHBOURS).filter(|count| *count >= USUAL_MIN)?];
        if self.holds[end - self.start]
            || answers(messages, end)
            || self.first_user.is_none_or(|first| first >= end)
        {
            return None;
        }
        let near = &self.across[here - NEIGHBOURS..=here + NEIGHBOURS];
        let is_lowest = near
            .iter()
            .enumerate()
            .all(|(i, there)| i == NEIGHBOURS || self.across[here] < *there);
        let is_deep = || deviations(usual, self.across[here]) >= DEVIATIONS_MIN;
        let alike = || {
            cosine(
                &mean(&vectors[end - WINDOW..end]),
                &mean(&vectors[end..end + WINDOW]),
            )
        };
        let reason = CutReason::Topic;
        (is_lowest && is_deep() && alike() < ALIKE_MIN).then_some(Boundary { end, reason })
    }
}

/// Whether the message there answers a question of someone else just before it.
fn answers(messages: &[Message], at: usize) -> bool {
    let Some(before) = at.checked_sub(1).map(|i| &messages[i]) else {
        return false;
    };
    let asked = before.own_text().trim_end().ends_with(['?', '？']);
    asked && before.sender != messages[at].sender
}

fn cost(message: &Message) -> usize {
    let calls = message
        .tool_calls
        .iter()
        .map(|call| tokens(&call.name) + tokens(&call.arguments));
    tokens(&message.own_text()) + calls.sum::<usize>() + 4
}

/// The similarity of the messages before and after a place, less the common part of the talk around
/// it: embeddings of chat share the manner of speaking long before they share a subject.
fn across(vectors: &[Vector], start: usize, place: usize) -> f32 {
    let around = &vectors[start.max(place.saturating_sub(COMMON))..place + WINDOW];
    let common = mean(around);
    let side = |from: usize| -> Vec<f32> {
        let own = mean(&vectors[from..from + WINDOW]);
        own.iter()
            .zip(&common)
            .map(|(own, common)| own - common)
            .collect()
    };
    // Two samples of one set differ by chance, the more so the larger their share of the set.
    let chance = WINDOW as f32 / (around.len() - WINDOW) as f32;
    cosine(&side(place - WINDOW), &side(place)) + chance
}

fn mean(vectors: &[Vector]) -> Vec<f32> {
    let dims = vectors.iter().map(|v| v.len()).min().unwrap_or(0);
    let mut sums = vec![0.0_f32; dims];
    for vector in vectors {
        for (sum, x) in sums.iter_mut().zip(vector.iter()) {
            *sum += x;
        }
    }
    let count = vectors.len() as f32;
    for sum in &mut sums {
        *sum /= count;
    }
    sums
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    let length = (dot(a, a) * dot(b, b)).sqrt();
    // Sides with empty vectors are no change of subject.
    if length > f32::EPSILON {
        dot(a, b) / length
    } else {
        1.0
    }
}

/// Number of standard deviations that a value lies below the usual one.
fn deviations(usual: &[f32], value: f32) -> f32 {
    let count = usual.len() as f32;
    let mean = usual.iter().sum::<f32>() / count;
    let variance = usual.iter().map(|x| (x - mean).powi(2)).sum::<f32>() / count;
    (mean - value) / variance.sqrt().max(DEVIATION_FLOOR)
}

/// Whether a call of a model for boundaries can be useful now. `asked` is the number of these
/// messages that an earlier call saw without cutting them off; 0 without such a call. A call is
/// useful when the rules see a certain cut (a pause, a limit), or when enough messages came since
/// the last call for the subject to change.
pub fn boundary_possible(messages: &[Message], asked: usize, limits: &Limits) -> bool {
    let fresh = messages.len().saturating_sub(asked);
    let spoken = messages.iter().any(|message| message.role == Role::User);
    spoken && (fresh >= ASK_MESSAGES_MIN || !boundaries(messages, None, limits).is_empty())
}

/// The users who speak, each once, in order of first appearance.
pub fn owners(messages: &[Message]) -> Vec<Owner> {
    let mut owners: Vec<Owner> = Vec::new();
    for message in messages.iter().filter(|message| message.role == Role::User) {
        if !owners.iter().any(|owner| owner.id == message.sender) {
            owners.push(Owner::user(message.sender.clone()));
        }
    }
    owners
}

/// For each message: whether a cut before it would separate a tool call from its result.
pub(crate) fn holds(messages: &[Message]) -> Vec<bool> {
    let mut part = OpenPart::default();
    for message in messages {
        part.take(message);
    }
    part.holds
}
