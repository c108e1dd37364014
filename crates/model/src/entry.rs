//! Memories: one entry of the Markdown vault.
//!
//! Owns: the shape of a memory and its provenance. Never: its text form (`markdown`) or its place on disk (`vault`).

use crate::{EntryId, Message, MessageId, Owner, Scope, SenderId, SessionId, Timestamp};

crate::worded! {
    /// Kind of a memory; each kind has its own folder in the vault.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum EntryKind {
        /// The account of one segment, with its verbatim messages.
        Episode = "episode",
        /// One self-contained statement.
        Fact = "fact",
        /// An upcoming event, with its time.
        Foresight = "foresight",
        /// A statement about a user, under a heading.
        Profile = "profile",
        /// How an agent carried out a task.
        Case = "case",
        /// An agent skill, as its own file.
        Skill = "skill",
        /// A part of a document.
        Topic = "topic",
    }
}

impl EntryKind {
    /// Prefix of an entry's id.
    pub fn prefix(self) -> &'static str {
        match self {
            Self::Episode => "ep",
            Self::Fact => "af",
            Self::Foresight => "fs",
            Self::Profile => "pf",
            Self::Case => "ac",
            Self::Skill => "sk",
            Self::Topic => "kt",
        }
    }
}

crate::worded! {
    /// Origin of a memory's content; consolidation must only learn from people's messages.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Origin {
        User = "user",
        Assistant = "assistant",
        Tool = "tool",
        Web = "web",
        Import = "import",
        /// Written or changed by a person in the vault.
        Hand = "hand",
    }
}

crate::worded! {
    /// The state of a skill's review. Only an approved skill is ever shown to a model.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum SkillStatus {
        /// Not reviewed yet.
        #[default]
        Draft = "draft",
        Approved = "approved",
        /// Kept, so that it is not made again.
        Rejected = "rejected",
    }
}

impl SkillStatus {
    /// The status in a skill's labels: their first one; a skill without a status is a draft.
    pub fn of(labels: &[String]) -> Self {
        labels
            .first()
            .and_then(|word| Self::parse(word))
            .unwrap_or_default()
    }
}

crate::worded! {
    /// Kind of an entry's source.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum ParentKind {
        /// A memcell in the ledger.
        Memcell = "memcell",
        /// An episode of the same owner.
        Episode = "episode",
        /// Several entries about the same subject.
        Cluster = "cluster",
        /// An uploaded document.
        Document = "document",
    }
}

/// Source of an entry. The deletion of the source also deletes an entry without any other source.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Parent {
    pub kind: ParentKind,
    pub id: String,
}

impl Parent {
    /// A source of that kind with that id.
    pub fn new(kind: ParentKind, id: impl Into<String>) -> Self {
        let id = id.into();
        Self { kind, id }
    }
}

/// One memory.
///
/// A newer entry names the entries that it `supersedes`, or an older one that was written after it
/// names the newer. The older one keeps its text and ends when the newer begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub id: EntryId,
    pub kind: EntryKind,
    pub scope: Scope,
    pub owner: Owner,
    pub session: Option<SessionId>,
    /// Time of the statement or event; for an episode, of its last message.
    pub time: Timestamp,
    /// Begin of its validity, if it differs from `time`: a fact about last May holds since May.
    pub valid_from: Option<Timestamp>,
    /// End of its validity, if a person or an extractor wrote one.
    pub valid_until: Option<Timestamp>,
    pub supersedes: Vec<EntryId>,
    /// The entry that supersedes it, if that was written first.
    pub superseded_by: Option<EntryId>,
    pub origin: Origin,
    /// Author: `rules/1`, or a model's name; entries by a person can have none.
    pub author: Option<String>,
    pub parent: Option<Parent>,
    /// The messages that support it; for a skill, the cases.
    pub sources: Vec<MessageId>,
    pub senders: Vec<SenderId>,
    /// Words that sort it within its kind, such as `trait` or `cooking`; a skill's first label is
    /// its [`SkillStatus`].
    pub labels: Vec<String>,
    /// Confidence of the author, or quality of the described work: 0 to 100.
    pub confidence_percent: Option<u8>,
    /// One line: its title.
    pub subject: String,
    /// A few sentences; may be empty.
    pub summary: String,
    /// The memory itself.
    pub body: String,
    /// An episode's verbatim messages, in order; empty for other kinds.
    pub turns: Vec<Message>,
}

impl Entry {
    /// An entry with required fields only.
    pub fn new(
        id: EntryId,
        kind: EntryKind,
        (scope, owner): (Scope, Owner),
        time: Timestamp,
        origin: Origin,
    ) -> Self {
        Self {
            id,
            kind,
            scope,
            owner,
            session: None,
            time,
            valid_from: None,
            valid_until: None,
            supersedes: Vec::new(),
            superseded_by: None,
            origin,
            author: None,
            parent: None,
            sources: Vec::new(),
            senders: Vec::new(),
            labels: Vec::new(),
            confidence_percent: None,
            subject: String::new(),
            summary: String::new(),
            body: String::new(),
            turns: Vec::new(),
        }
    }
}
