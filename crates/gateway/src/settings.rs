//! Settings of the gateway.
//!
//! Owns: defaults and the secrecy of tokens. Never: reading configuration, or storing tokens (`cli` does).

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use model::{Name, Scope};
use sha2::{Digest as _, Sha256};

/// Maximum bytes of a form without its file.
const FORM_BYTES_MAX: usize = 64 << 10;

model::defaults! {
    /// The gateway's settings.
    #[derive(Debug, Clone)]
    pub struct GatewaySettings {
        pub auth: Auth,
        /// Maximum size of a body, in bytes.
        pub body_bytes_max: usize = 32 << 20,
        /// Maximum size of a body in bytes if the add is asynchronous.
        pub async_body_bytes_max: usize = 4 << 20,
        /// Maximum size of an uploaded document, in bytes.
        pub upload_bytes_max: usize = 50 << 20,
        /// Folder for nameless files of uploads while they arrive; none: in memory.
        pub upload_folder: Option<PathBuf>,
        /// Headers in which a trusted client names the user, in lower case: `x-openwebui-user-id`.
        pub user_headers: Vec<String>,
        /// Time for running requests to end after the server is asked to stop.
        pub shutdown: Duration = Duration::from_secs(10),
    }
}

impl GatewaySettings {
    /// Maximum bytes of a form with its file.
    pub(crate) fn form_bytes_max(&self) -> usize {
        self.upload_bytes_max.saturating_add(FORM_BYTES_MAX)
    }
}

/// Access rules. Without tokens, every program on this machine has access, and no other machine.
#[derive(Debug, Clone, Default)]
pub struct Auth {
    /// Tokens from the configuration.
    pub tokens: Vec<Token>,
    /// Tokens that a person adds and removes while the server runs.
    pub issued: Option<Arc<dyn IssuedTokens>>,
    /// Opens everything, even if tokens are needed: for commands of a person who can read the root.
    pub own_key: Option<Secret>,
}

/// Tokens that a person adds and removes while the server runs.
pub trait IssuedTokens: Send + Sync + fmt::Debug {
    /// The current tokens. None if there was never a token: removing the last token must not open the server to
    /// everybody.
    fn now(&self) -> Option<Arc<[Token]>>;
}

impl Auth {
    /// All current tokens; none if no token is needed.
    pub(crate) fn current_tokens(&self) -> Option<Vec<Token>> {
        let issued = self.issued.as_ref().and_then(|issued| issued.now());
        if self.tokens.is_empty() && issued.is_none() {
            return None;
        }
        let own = self.own_key.clone().map(|secret| Token {
            secret,
            role: TokenRole::Admin,
            scope: None,
            user: None,
            person: false,
        });
        let issued = issued.iter().flat_map(|issued| issued.iter());
        Some(self.tokens.iter().chain(issued).cloned().chain(own).collect())
    }
}

/// A bearer token.
#[derive(Debug, Clone)]
pub struct Token {
    pub secret: Secret,
    pub role: TokenRole,
    /// The only tenant that the token opens; none: every tenant.
    pub scope: Option<Scope>,
    /// The only user that the token opens; none: every user. An administrator's token opens every user: then this is
    /// the user of requests that name none.
    pub user: Option<Name>,
    /// With a tenant: also opens messages of its users outside of any project, and facts about them that hold in all
    /// their projects.
    pub person: bool,
}

model::worded! {
    /// What a token may do where it has access; each role may do what the one before it may.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
    pub enum TokenRole {
        /// Search and look.
        Read = "read",
        /// Add, change and forget memory.
        Write = "write",
        /// All users, and the server itself.
        #[default]
        Admin = "admin",
    }
}

/// A text that `Debug` and logs never show.
#[derive(Clone)]
pub struct Secret {
    /// None if only its hash is known.
    text: Option<String>,
    sha256: [u8; 32],
}

impl Secret {
    /// Wraps a text as a secret.
    pub fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        Self {
            sha256: Sha256::digest(&text).into(),
            text: Some(text),
        }
    }

    /// A secret with a known SHA-256 only. The secret must be random: a word could be guessed.
    pub fn hashed(sha256: [u8; 32]) -> Self {
        Self { text: None, sha256 }
    }

    /// The value of the `Authorization` header; none if only the hash is known.
    pub(crate) fn bearer(&self) -> Option<String> {
        self.text.as_ref().map(|text| format!("Bearer {text}"))
    }

    /// Whether the secret equals a text, in the same time for every text. An empty secret equals nothing.
    pub(crate) fn is(&self, text: &str) -> bool {
        let given = Sha256::digest(text);
        let difference = self
            .sha256
            .iter()
            .zip(given)
            .fold(0, |sum, (have, given)| std::hint::black_box(sum | (have ^ given)));
        !text.is_empty() && difference == 0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(secret)")
    }
}
