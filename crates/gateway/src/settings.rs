//! Settings of the gateway.
//!
//! Owns: defaults and the secrecy of tokens. Never: reading configuration, or where tokens are kept (`cli` does).

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
        /// A larger body is refused.
        pub body_bytes_max: usize = 32 << 20,
        /// The limit of a body in bytes if the add is asynchronous.
        pub async_body_bytes_max: usize = 4 << 20,
        /// A larger file is refused where documents are uploaded.
        pub upload_bytes_max: usize = 50 << 20,
        /// Where files wait while they arrive, without a name; none: in memory.
        pub upload_folder: Option<PathBuf>,
        /// Headers in which a trusted client names the user, in lower case: `x-openwebui-user-id`.
        pub user_headers: Vec<String>,
        /// Time that running requests have to end after the server is asked to stop.
        pub shutdown: Duration = Duration::from_secs(10),
    }
}

impl GatewaySettings {
    /// Maximum bytes of a form with its file.
    pub(crate) fn form_bytes_max(&self) -> usize {
        self.upload_bytes_max.saturating_add(FORM_BYTES_MAX)
    }
}

/// Access rules. Without tokens, everybody on this machine has access, and nobody else.
#[derive(Debug, Clone, Default)]
pub struct Auth {
    /// From the configuration.
    pub tokens: Vec<Token>,
    /// Those that come and go while the server runs.
    pub issued: Option<Arc<dyn IssuedTokens>>,
    /// Opens everything, also where tokens are needed: for commands of the person who can read the root.
    pub own_key: Option<Secret>,
}

/// Tokens that come and go while the server runs.
pub trait IssuedTokens: Send + Sync + fmt::Debug {
    /// The tokens as they are now. None if there never was one: who took back the last token did not mean to open the
    /// server to everybody.
    fn now(&self) -> Option<Arc<[Token]>>;
}

impl Auth {
    /// Every token as of now; none if no token is needed.
    pub(crate) fn known(&self) -> Option<Vec<Token>> {
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
    /// The one tenant to which it gives access; none: every tenant.
    pub scope: Option<Scope>,
    /// The one user to whose memory it gives access; none: every user. An administrator has access to every user: then it
    /// is the user of requests that name none.
    pub user: Option<Name>,
    /// With a tenant: also to what its users said outside of any project, and to what holds for them in all their projects.
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
    /// Keeps a text secret.
    pub fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        Self {
            sha256: Sha256::digest(&text).into(),
            text: Some(text),
        }
    }

    /// A secret of which only the SHA-256 is known. The secret must be random: a word could be guessed.
    pub fn hashed(sha256: [u8; 32]) -> Self {
        Self { text: None, sha256 }
    }

    /// As a request carries it; none if only its hash is known.
    pub(crate) fn bearer(&self) -> Option<String> {
        self.text.as_ref().map(|text| format!("Bearer {text}"))
    }

    /// Whether it equals this text. The comparison takes the same time for every text. An empty secret equals nothing.
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
