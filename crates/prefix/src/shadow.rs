//! The shadow of a conversation: the bytes sent upstream, so that the next request can repeat them.
//!
//! Owns: the events that fold into a shadow, epochs and their reasons. Never: storing the events; the caller's store
//! does (`record` writes one). Clients resend their own history without the injected text; without a shadow every
//! request would differ from the previous one.

use std::ops::Range;
use std::sync::Arc;

use crate::canon::{self, Meaning};
use crate::fragment::{FragmentId, Visible};
use crate::splice;

model::worded! {
    /// Why a prefix was given up, with its name in answers. Every change of sent bytes has one.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Reason {
        /// The first request.
        Opened = "opened",
        /// The conversation branched off another one at a message.
        Branched = "branched",
        /// The client asks another model.
        ModelChanged = "model_changed",
        /// The client changed its system text, or the operator the instructions while the server had dropped its cache.
        SystemChanged = "system_changed",
        /// The client changed its tools.
        ToolsChanged = "tools_changed",
        /// The client wants another reply to the same messages.
        Regenerated = "regenerated",
        /// The client sends another text in place of a reply.
        EchoRewritten = "echo_rewritten",
        /// The client changed an earlier message.
        Edited = "edited",
        /// The client left messages out, at the front or at the end.
        Truncated = "truncated",
        /// A summary replaces old messages.
        Compaction = "compaction",
        /// Earlier messages changed in the view: by a context engine, or by another repair of calls and results.
        Engine = "engine",
    }
}

impl Reason {
    /// Whether the prefix is lost from its very beginning, so that every pending change is free.
    pub fn loses_head(self) -> bool {
        !matches!(
            self,
            Self::Branched | Self::Regenerated | Self::EchoRewritten | Self::Edited | Self::Truncated
        )
    }
}

/// The head of the conversation, as sent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Head {
    pub model: String,
    /// A dialect's own system field, as JSON text.
    pub system: Option<String>,
    /// The client's tools, each as JSON text.
    pub tools: Vec<String>,
    /// Leading system messages.
    pub messages: Vec<String>,
    /// Our own text in it, and the memories in that text.
    pub own: OwnHead,
    /// Digests of the client's system text and tools, to see whether they change.
    pub client_system: String,
    pub client_tools: String,
}

/// Our own text for the head: rules, core memory. It must contain no clock, counter or other value that changes by
/// itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OwnHead {
    /// Empty if there is none.
    pub text: String,
    /// Ids of the memories in it.
    pub memories: Vec<String>,
}

/// A replacement of client messages in the request: by a summary, by stubs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShadowEdit {
    /// Indices after the leading system messages. An empty range inserts before its start.
    pub range: Range<usize>,
    /// The replacement, each message as JSON text.
    pub messages: Vec<String>,
}

impl ShadowEdit {
    pub(crate) fn clashes(&self, other: &ShadowEdit) -> bool {
        let overlap = self.range.start < other.range.end && other.range.start < self.range.end;
        overlap || self.range.start == other.range.start
    }
}

/// Text that was added to a user's message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fragment {
    pub id: FragmentId,
    /// Ids of its memories.
    pub memories: Vec<String>,
    pub clock: Option<String>,
    /// Text for the model.
    pub text: String,
    /// Its place in the client's JSON text, in bytes.
    pub at: usize,
    /// The exact inserted bytes.
    pub bytes: String,
}

/// An event of a shadow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ShadowEvent {
    /// Begins an epoch: drops `front` entries at the beginning, then all but the first `kept`.
    Epoch {
        number: u64,
        reasons: Vec<Reason>,
        front: usize,
        kept: usize,
        /// The next fragment's id, so that no id is used twice.
        fragments: u64,
        /// None if the head stays.
        head: Option<Box<Head>>,
        /// All edits that apply from now on, by place.
        edits: Vec<ShadowEdit>,
    },
    /// A replacement of unsent messages: no prefix is lost.
    Edit(ShadowEdit),
    /// A message of the client, sent for the first time.
    Message {
        bytes: String,
        fragment: Option<Fragment>,
    },
    /// The backend's reply, as a message of the client's dialect; with its reasoning, if the next request must contain
    /// it.
    Reply { bytes: String },
}

/// One message as sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShadowEntry {
    /// As the client wrote it, or as the reply was recorded.
    pub bytes: String,
    pub fragment: Option<Fragment>,
    pub reply: bool,
    pub meaning: Meaning,
}

impl ShadowEntry {
    fn new(bytes: &str, fragment: Option<&Fragment>, reply: bool) -> Self {
        let meaning = canon::read(bytes);
        Self {
            bytes: bytes.to_owned(),
            fragment: fragment.cloned(),
            reply,
            meaning,
        }
    }

    /// The bytes with the fragment at its place.
    pub fn sent(&self) -> String {
        match &self.fragment {
            Some(fragment) => splice::join(&self.bytes, fragment.at, &fragment.bytes),
            None => self.bytes.clone(),
        }
    }
}

/// The sent messages of one conversation. Equal events give equal shadows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Shadow {
    epoch: u64,
    reasons: Vec<Reason>,
    head: Head,
    /// Shared, so that trying a request on a copy costs no text.
    entries: Vec<Arc<ShadowEntry>>,
    edits: Vec<ShadowEdit>,
    fragments_ever: u64,
}

impl Shadow {
    /// The shadow of these events.
    pub fn fold<'a>(events: impl IntoIterator<Item = &'a ShadowEvent>) -> Self {
        let mut shadow = Self::default();
        events.into_iter().for_each(|event| shadow.apply(event));
        shadow
    }

    /// Applies one more event. Every event is accepted; an inconsistent one changes as much as it can.
    pub fn apply(&mut self, event: &ShadowEvent) {
        match event {
            ShadowEvent::Epoch {
                number,
                reasons,
                front,
                kept,
                fragments,
                head,
                edits,
            } => {
                self.epoch = *number;
                self.reasons.clone_from(reasons);
                self.entries.drain(..(*front).min(self.entries.len()));
                self.entries.truncate(*kept);
                self.fragments_ever = *fragments;
                if let Some(head) = head {
                    self.head = Head::clone(head);
                }
                self.edits.clone_from(edits);
            }
            ShadowEvent::Edit(edit) => {
                self.edits.push(edit.clone());
                self.edits.sort_by_key(|edit| edit.range.start);
            }
            ShadowEvent::Message { bytes, fragment } => {
                let ids = fragment
                    .as_ref()
                    .map_or(0, |fragment| fragment.id.0.saturating_add(1));
                self.fragments_ever = self.fragments_ever.max(ids);
                self.entries
                    .push(Arc::new(ShadowEntry::new(bytes, fragment.as_ref(), false)));
            }
            ShadowEvent::Reply { bytes } => self.entries.push(Arc::new(ShadowEntry::new(bytes, None, true))),
        }
    }

    /// Adds this fragment to the message at `index`.
    pub(crate) fn set_fragment(&mut self, index: usize, fragment: Fragment) {
        if let Some(entry) = self.entries.get_mut(index) {
            self.fragments_ever = self.fragments_ever.max(fragment.id.0.saturating_add(1));
            Arc::make_mut(entry).fragment = Some(fragment);
        }
    }

    /// The events of a conversation that branches off this one after `kept` messages.
    pub fn fork(&self, kept: usize) -> Vec<ShadowEvent> {
        let edits = self
            .edits
            .iter()
            .filter(|edit| edit.range.end <= kept)
            .cloned()
            .collect();
        let head = Some(Box::new(self.head.clone()));
        let (number, fragments) = (self.epoch, self.fragments_ever);
        let mut events = vec![ShadowEvent::Epoch {
            number,
            reasons: vec![Reason::Branched],
            front: 0,
            kept: 0,
            fragments,
            head,
            edits,
        }];
        for entry in self.entries.iter().take(kept) {
            let bytes = entry.bytes.clone();
            events.push(if entry.reply {
                ShadowEvent::Reply { bytes }
            } else {
                let fragment = entry.fragment.clone();
                ShadowEvent::Message { bytes, fragment }
            });
        }
        events
    }

    /// Counted from 1; 0 before the first request.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Why the current epoch began.
    pub fn reasons(&self) -> &[Reason] {
        &self.reasons
    }

    pub fn head(&self) -> &Head {
        &self.head
    }

    /// The messages after the leading system messages, replies included.
    pub fn entries(&self) -> &[Arc<ShadowEntry>] {
        &self.entries
    }

    /// In the order of their places.
    pub fn edits(&self) -> &[ShadowEdit] {
        &self.edits
    }

    /// Number of all fragments ever injected.
    pub fn fragments_ever(&self) -> u64 {
        self.fragments_ever
    }

    /// The fragments that a model still sees: their messages were neither replaced nor dropped.
    pub fn fragments(&self) -> impl Iterator<Item = &Fragment> {
        let replaced = |index: usize| self.edits.iter().any(|edit| edit.range.contains(&index));
        let shown = self
            .entries
            .iter()
            .enumerate()
            .filter(move |(index, _)| !replaced(*index));
        shown.filter_map(|(_, entry)| entry.fragment.as_ref())
    }

    /// The memories that the model sees; they must not be injected again.
    pub fn visible(&self) -> Visible {
        let mut visible = Visible {
            memories: self.head.own.memories.iter().cloned().collect(),
            clock: None,
        };
        for fragment in self.fragments() {
            visible.memories.extend(fragment.memories.iter().cloned());
            visible.clock = fragment.clock.clone().or(visible.clock);
        }
        visible
    }
}
