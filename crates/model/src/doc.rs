//! Rows of the index: each is made from a vault entry, one of its turns, or a buffered message.
//!
//! Owns: the row's shape and identity. Never: ranking (`recall`) or storage (`index`).

use std::sync::Arc;

use crate::{
    Entry, EntryId, EntryKind, Message, MessageId, Origin, Owner, Parent, ParentKind, Role, Scope, SenderId,
    SessionId, SkillStatus, Timestamp,
};

/// A row's id, unique for its owner: the entry's id, or the message's id for a turn.
pub type DocId = Arc<str>;

/// Unique key of a row; it contains the tenant, so two tenants never collide.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DocKey {
    pub scope: Scope,
    pub owner: Owner,
    pub id: DocId,
}

impl DocKey {
    /// The key of an owner's row with that id.
    pub fn new(scope: &Scope, owner: &Owner, id: impl Into<DocId>) -> Self {
        Self {
            scope: scope.clone(),
            owner: owner.clone(),
            id: id.into(),
        }
    }
}

/// Source of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DocKind {
    /// One verbatim message.
    Turn,
    /// An entry of the vault.
    Entry(EntryKind),
}

impl DocKind {
    /// The word in the index for this kind.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Turn => "turn",
            Self::Entry(kind) => kind.as_str(),
        }
    }

    /// The kind for that word.
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "turn" => Some(Self::Turn),
            _ => EntryKind::parse(word).map(Self::Entry),
        }
    }
}

/// The model that made a vector; vectors of two models are never compared.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct EmbedderId {
    /// The model's name and version, such as `static/minilm-wordllama/3`.
    pub model: String,
    /// Number of dimensions of a vector.
    pub dims: usize,
}

/// An embedding of unit length; an all-zero vector means that the model found no meaning in the
/// text.
pub type Vector = Arc<[f32]>;

/// The dot product of two vectors; for unit length, their cosine from -1 to 1.
pub fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Label of a fact that holds only in the project where it was said.
pub const PROJECT_ONLY: &str = "project";

/// Label of a fact that its person confirmed in a review.
pub const CONFIRMED: &str = "confirmed";

/// Label of a fact that its person rejected as wrong in a review. Its text is deleted.
pub const WRONG: &str = "wrong";

/// Label of a fact whose session its person marked as a scene in a review. Its text is deleted.
pub const SCENE: &str = "scene";

/// Label of a fact that has ended, according to its person in a review.
pub const ENDED: &str = "ended";

/// Label of a row whose file has another text for an id that another file also has.
pub const CONFLICT: &str = "conflict";

/// Maximum bytes of a message in a turn's row; a longer message is complete in its file only.
pub const TURN_BYTES_MAX: usize = 256 << 10;

/// One row of the index.
#[derive(Debug, Clone, PartialEq)]
pub struct Doc {
    pub key: DocKey,
    pub kind: DocKind,
    pub session: Option<SessionId>,
    /// Source: a turn's episode (none while it is buffered), a fact's episode, an episode's
    /// segment.
    pub parent: Option<Parent>,
    /// A turn's place in its episode, from 0; other rows have 0.
    pub seq: u32,
    pub time: Timestamp,
    pub valid_from: Option<Timestamp>,
    pub valid_until: Option<Timestamp>,
    pub supersedes: Vec<EntryId>,
    pub superseded_by: Option<EntryId>,
    pub origin: Origin,
    /// A turn's role.
    pub role: Option<Role>,
    /// A turn's speaker, as displayed.
    pub speaker: Option<String>,
    pub senders: Vec<SenderId>,
    pub sources: Vec<MessageId>,
    pub labels: Vec<String>,
    pub confidence_percent: Option<u8>,
    pub subject: String,
    pub summary: String,
    pub text: String,
    /// The vault file with its text, relative to the vault; empty for a buffered message.
    pub path: Arc<str>,
    pub vector: Option<Vector>,
}

impl Doc {
    /// Whether a search can return it. Unapproved skills and withdrawn facts are excluded, and so
    /// are profiles, which are read as one page.
    pub fn is_findable(&self) -> bool {
        match self.kind {
            DocKind::Entry(EntryKind::Profile) => false,
            DocKind::Entry(EntryKind::Fact) => !self.is_withdrawn(),
            DocKind::Entry(EntryKind::Skill) => SkillStatus::of(&self.labels) == SkillStatus::Approved,
            _ => true,
        }
    }

    fn has_label(&self, label: &str) -> bool {
        self.labels.iter().any(|other| other == label)
    }

    /// Whether its person withdrew it in a review: only a mark is left of it.
    pub fn is_withdrawn(&self) -> bool {
        self.has_label(WRONG) || self.is_scene()
    }

    /// Whether its person marked its session as a scene.
    pub fn is_scene(&self) -> bool {
        self.has_label(SCENE)
    }

    /// The mark of a withdrawn statement, which identifies its words without containing them.
    pub fn mark(&self) -> Option<&str> {
        let mut labels = self.labels.iter().filter(|_| self.is_withdrawn());
        labels
            .find(|label| !matches!(label.as_str(), WRONG | SCENE))
            .map(String::as_str)
    }

    /// Whether it has ended, according to its person in a review.
    pub fn is_ended(&self) -> bool {
        self.has_label(ENDED)
    }

    /// Whether its person confirmed it in a review.
    pub fn is_confirmed(&self) -> bool {
        self.has_label(CONFIRMED)
    }

    /// Whether its file has another text for an id that another file also has. A search finds it,
    /// but a model never gets it unasked.
    pub fn is_version(&self) -> bool {
        self.has_label(CONFLICT)
    }

    /// Whether it is a fact.
    pub fn is_fact(&self) -> bool {
        self.kind == DocKind::Entry(EntryKind::Fact)
    }

    /// Whether it is a fact that holds for its owner in every project, not only where it was said.
    pub fn holds_everywhere(&self) -> bool {
        self.is_fact() && !self.has_label(PROJECT_ONLY)
    }

    /// The rows of one entry: its own row, and one for each verbatim turn.
    pub fn of_entry(entry: &Entry, path: &Arc<str>) -> Vec<Self> {
        let own = Self {
            key: DocKey::new(&entry.scope, &entry.owner, entry.id.as_str()),
            kind: DocKind::Entry(entry.kind),
            session: entry.session.clone(),
            parent: entry.parent.clone(),
            seq: 0,
            time: entry.time,
            valid_from: entry.valid_from,
            valid_until: entry.valid_until,
            supersedes: entry.supersedes.clone(),
            superseded_by: entry.superseded_by.clone(),
            origin: entry.origin,
            role: None,
            speaker: None,
            senders: entry.senders.clone(),
            sources: entry.sources.clone(),
            labels: entry.labels.clone(),
            confidence_percent: entry.confidence_percent,
            subject: entry.subject.clone(),
            summary: entry.summary.clone(),
            text: entry.body.clone(),
            path: path.clone(),
            vector: None,
        };
        let mut docs = vec![own];
        docs.extend((0u32..).zip(&entry.turns).map(|(seq, turn)| Self {
            parent: Some(Parent::new(ParentKind::Episode, entry.id.as_str())),
            seq,
            path: path.clone(),
            ..Self::of_message(turn, &entry.owner)
        }));
        docs
    }

    /// The row of one stored message that is not in an episode yet.
    pub fn of_message(message: &Message, owner: &Owner) -> Self {
        Self {
            key: DocKey::new(&message.session.scope, owner, message.id.as_str()),
            kind: DocKind::Turn,
            session: Some(message.session.session.clone()),
            parent: None,
            seq: 0,
            time: message.time,
            valid_from: None,
            valid_until: None,
            supersedes: Vec::new(),
            superseded_by: None,
            origin: match message.role {
                Role::User => Origin::User,
                Role::Assistant => Origin::Assistant,
                Role::Tool => Origin::Tool,
            },
            role: Some(message.role),
            speaker: Some(message.speaker().to_owned()),
            senders: vec![message.sender.clone()],
            sources: vec![message.id.clone()],
            labels: Vec::new(),
            confidence_percent: None,
            subject: String::new(),
            summary: String::new(),
            text: message.beginning(TURN_BYTES_MAX),
            path: Arc::from(""),
            vector: None,
        }
    }
}
