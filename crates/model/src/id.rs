//! Identity: names by clients, ids by Quipu, and the scopes made of them.
//!
//! Owns: the charset and length rules. Never: generating ids (a port does), or turning them into
//! paths.

use std::fmt;
use std::sync::Arc;

/// Maximum characters of a client-chosen id.
pub const ID_CHARS_MAX: usize = 128;

/// Why a text is not an id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidId {
    /// Empty text.
    #[error("an id must not be empty")]
    Empty,
    /// Longer than [`ID_CHARS_MAX`] characters.
    #[error("an id has at most {ID_CHARS_MAX} characters, this one has {0}")]
    TooLong(usize),
    /// `.` or `..`.
    #[error("`.` and `..` are not ids")]
    Dots,
    /// A character outside letters, digits and `_ . @ + -`.
    #[error("`{0}` is not allowed in an id: use letters, digits and `_.@+-`")]
    Character(char),
}

macro_rules! text_id {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Accepts any text unchecked; for ids that Quipu made or stored itself.
            pub fn new(text: impl Into<Arc<str>>) -> Self {
                Self(text.into())
            }
            /// The id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

text_id!(
    /// A message's id: the client's own, or `m_<date>_<random>`.
    MessageId
);
text_id!(
    /// A segment's id: `mc_<date>_<random>`.
    CellId
);
text_id!(
    /// A memory entry's id, unique for its owner: `ep_…` for an episode, `af_…` for an atomic fact.
    EntryId
);
text_id!(
    /// A conversation's id: any text of 1 to 128 characters, chosen by the client.
    SessionId
);

impl SessionId {
    /// Checks a client's text: 1 to [`ID_CHARS_MAX`] characters, any charset.
    pub fn parse(text: &str) -> Result<Self, InvalidId> {
        check_length(text)?;
        Ok(Self::new(text))
    }
}

fn check_length(text: &str) -> Result<(), InvalidId> {
    match text.chars().count() {
        0 => Err(InvalidId::Empty),
        n if n > ID_CHARS_MAX => Err(InvalidId::TooLong(n)),
        _ => Ok(()),
    }
}

/// A client-chosen name with the strict charset; apps, projects, users, agents and senders are
/// names.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Name(Arc<str>);

/// The application part of a scope.
pub type AppId = Name;
/// The project part of a scope.
pub type ProjectId = Name;
/// Sender of a message.
pub type SenderId = Name;

impl Name {
    /// Checks a client's text: 1 to 128 of letters, digits and `_.@+-`, and neither `.` nor `..`.
    pub fn parse(text: &str) -> Result<Self, InvalidId> {
        check_length(text)?;
        if text == "." || text == ".." {
            return Err(InvalidId::Dots);
        }
        match text
            .chars()
            .find(|c| !(c.is_ascii_alphanumeric() || "_.@+-".contains(*c)))
        {
            Some(c) => Err(InvalidId::Character(c)),
            None => Ok(Self(text.into())),
        }
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The tenant border: nothing is ever read, listed, timed or deleted across two scopes.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Scope {
    /// The application.
    pub app: AppId,
    /// The project inside it.
    pub project: ProjectId,
}

impl Scope {
    /// A scope of checked parts.
    pub fn new(app: AppId, project: ProjectId) -> Self {
        Self { app, project }
    }

    /// The scope for a user's statements outside of any project.
    pub fn home(app: &AppId) -> Self {
        Self::new(app.clone(), Self::default().project)
    }

    /// All projects of an app together. This scope is always empty, and no client can name it.
    pub fn all_projects(app: &AppId) -> Self {
        Self::new(app.clone(), Name(Arc::from("*")))
    }
}

impl Default for Scope {
    fn default() -> Self {
        let name = Name(Arc::from("default"));
        Self {
            app: name.clone(),
            project: name,
        }
    }
}

crate::worded! {
    /// Kind of a memory's owner: a person, an agent, or a collection of documents.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum OwnerKind {
        /// A person: `users/` in the vault.
        User = "user",
        /// An agent: `agents/` in the vault.
        Agent = "agent",
        /// A collection of documents: `libraries/` in the vault.
        Library = "library",
    }
}

/// Owner of memory, inside one scope.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Owner {
    /// User, agent or library.
    pub kind: OwnerKind,
    /// The user's, agent's or library's name.
    pub id: Name,
}

impl Owner {
    /// The user with that name.
    pub fn user(id: Name) -> Self {
        Self {
            kind: OwnerKind::User,
            id,
        }
    }
    /// The agent with that name.
    pub fn agent(id: Name) -> Self {
        Self {
            kind: OwnerKind::Agent,
            id,
        }
    }
    /// The library with that name.
    pub fn library(id: Name) -> Self {
        Self {
            kind: OwnerKind::Library,
            id,
        }
    }
}

/// One conversation: a session id means nothing without its scope.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionKey {
    /// The tenant.
    pub scope: Scope,
    /// The conversation inside it.
    pub session: SessionId,
}

impl SessionKey {
    /// The conversation of a tenant.
    pub fn new(scope: Scope, session: SessionId) -> Self {
        Self { scope, session }
    }
}
