//! Owner of a request, and the name of its conversation.
//!
//! Owns: owners' names from texts of any kind, the ids of conversations, the family that links branches of a
//! conversation. Invariant: two owners never share the id of a conversation. Never: permissions (the door), finding a
//! conversation (`store`).

use std::fmt::Write;

use model::{Name, Owner, Scope, SessionId, SessionKey};
use prefix::Digest;
use prefix::chain::{ConversationId, MatchScope};
use transcript::dialect::Dialect;

/// Prefix of the ids of unnamed conversations; the rest orders them by their beginning.
pub const BEGINNING: &str = "px-";
/// Prefix of the encoding of a text that is not a name.
const ENCODED: &str = "x--";
/// Maximum length of a conversation's id in the memory API.
const SESSION_CHARS_MAX: usize = model::ID_CHARS_MAX;
/// Hexadecimal digits that distinguish families of conversations.
const FAMILY_CHARS: usize = 16;

/// The party of a request: tenant, owner and the client's names of the conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Party {
    pub scope: Scope,
    pub owner: Owner,
    /// The client's own name of the conversation.
    pub conversation: Option<SessionId>,
    /// The client's name for a group of conversations, which are branches of each other.
    pub family: Option<String>,
}

impl Party {
    /// The owner of a conversation on disk.
    pub(crate) fn of(key: SessionKey, owner: Owner) -> Self {
        let name = key.session.as_str().strip_prefix(&format!("{}/", owner.id));
        Self {
            scope: key.scope,
            conversation: name.map(SessionId::new),
            owner,
            family: None,
        }
    }

    /// The bounds within which chains of messages may match: a tenant's, an owner's, and for a named conversation its
    /// own. An unnamed conversation continues only in its own dialect.
    pub(crate) fn chain_scope(&self, dialect: Dialect) -> MatchScope<'_> {
        let mut tenant = format!("{}/{}", self.scope.app, self.scope.project);
        if self.conversation.is_none() {
            let _ = write!(tenant, "/{dialect:?}");
        }
        MatchScope {
            tenant: tenant.into(),
            owner: self.owner.id.as_str(),
            session: self.conversation.as_ref().map(SessionId::as_str),
        }
    }

    /// The id of the conversation that the client calls by this name; no other owner has this id.
    pub fn session(&self, name: &SessionId) -> SessionId {
        let id = format!("{}/{name}", self.owner.id);
        if id.chars().count() <= SESSION_CHARS_MAX {
            SessionId::new(id)
        } else {
            SessionId::new(Digest::of(id.as_bytes()).to_string())
        }
    }

    /// The family that the client's hint names.
    pub fn hinted(&self) -> Option<String> {
        let hint = self.family.as_ref()?;
        let mut family = Digest::of(format!("{}/{hint}", self.owner.id).as_bytes()).to_string();
        family.truncate(FAMILY_CHARS);
        Some(family)
    }
}

/// An id for an unnamed conversation, of an existing family or of a new one.
pub fn unnamed(fresh: &str, family: Option<&str>) -> SessionId {
    let family = family.map(|family| format!(".{family}")).unwrap_or_default();
    SessionId::new(format!("{BEGINNING}{fresh}{family}"))
}

/// The family of a conversation: equal for those that branched off each other.
pub fn family(session: &str) -> &str {
    let Some(rest) = session.strip_prefix(BEGINNING) else {
        return session;
    };
    match rest.rsplit_once('.') {
        Some((_, family)) => family,
        None => rest.rsplit_once('-').map_or(rest, |(_, own)| own),
    }
}

/// The owner's name for a client's name of a person: `Jörg`, `auth0|123`. A valid name stays as it is; each other text gets
/// a name of its own. None for an empty text.
pub fn name_of(text: &str) -> Option<Name> {
    let text = text.trim();
    if text.is_empty() {
        return None;
    }
    if !text.starts_with(ENCODED)
        && let Ok(name) = Name::parse(text)
    {
        return Some(name);
    }
    let mut encoded = ENCODED.to_owned();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"_.@+".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            let _ = write!(encoded, "-{byte:02X}");
        }
    }
    if encoded.len() > model::ID_CHARS_MAX {
        // No byte is encoded as `-h`, so that the encoding of a short text never equals this one.
        let digest = Digest::of(text.as_bytes()).to_string();
        encoded = format!("{ENCODED}-h{digest}");
    }
    Name::parse(&encoded).ok()
}

/// `APP/PROJECT/SESSION`.
pub fn identity(scope: &Scope, session: &SessionId) -> ConversationId {
    ConversationId(format!("{}/{}/{session}", scope.app, scope.project))
}

/// The session of an identity: names of apps and projects contain no slash.
pub(crate) fn session_of(id: &ConversationId) -> &str {
    id.0.splitn(3, '/').nth(2).unwrap_or_default()
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::BTreeSet;

    use super::*;

    pub(crate) fn party(owner: &str) -> Party {
        Party {
            scope: Scope::default(),
            owner: Owner::user(Name::parse(owner).unwrap()),
            conversation: None,
            family: None,
        }
    }

    #[test]
    fn a_text_that_is_no_valid_name_gets_a_name_of_its_own() {
        for name in ["ana", "ana@example.org", "a.b-c+d", "Daniel"] {
            assert_eq!(name_of(name).unwrap().as_str(), name);
        }
        assert_eq!(name_of("auth0|123").unwrap().as_str(), "x--auth0-7C123");
        assert_eq!(name_of(" Jörg ").unwrap().as_str(), "x--J-C3-B6rg");
        assert_eq!(name_of(" "), None);
        let long = "ü".repeat(200);
        let texts = [
            "auth0|123",
            "auth0/123",
            "auth0 123",
            "x--auth0-7C123",
            "auth0-7C123",
            "Jörg",
            "Jorg",
            "..",
            ".",
            &long,
            &long[2..],
            name_of(&long).unwrap().as_str(),
        ]
        .map(str::to_owned);
        let names: BTreeSet<Name> = texts.iter().map(|text| name_of(text).unwrap()).collect();
        assert_eq!(names.len(), texts.len(), "{names:?}");
    }

    #[test]
    fn no_two_owners_share_an_id() {
        let main = SessionId::new("main");
        assert_eq!(party("ana").session(&main).as_str(), "ana/main");
        assert_ne!(party("ana").session(&main), party("bob").session(&main));
        let sly = SessionId::new("bob/main");
        assert_ne!(party("ana").session(&sly), party("bob").session(&main));
        let long = SessionId::new("n".repeat(128));
        let id = party("ana").session(&long);
        assert!(
            SessionId::parse(id.as_str()).is_ok(),
            "the memory API can name it"
        );
        assert_ne!(id, party("bob").session(&long));
    }

    #[test]
    fn branches_and_conversations_with_the_same_hint_are_one_family() {
        let own = unnamed("0192-abcd", None);
        assert_eq!(family(own.as_str()), "abcd");
        let branch = unnamed("0193-ef01", Some(family(own.as_str())));
        assert_eq!(family(branch.as_str()), "abcd");
        let hinted = |owner: &str| {
            let party = Party {
                family: Some("chat 7".to_owned()),
                ..party(owner)
            };
            party.hinted().unwrap()
        };
        assert_eq!(hinted("ana"), hinted("ana"));
        assert_ne!(hinted("ana"), hinted("bob"));
        assert_eq!(family("ana/main"), "ana/main");
    }
}
