//! Settings of the gateway.
//!
//! Owns: defaults and the secrecy of tokens. Never: reading configuration (`cli` does).

use std::fmt;
use std::time::Duration;

use model::{Name, Scope};

/// The gateway's settings.
#[derive(Debug, Clone)]
pub struct GatewaySettings {
    pub auth: Auth,
    /// A larger body is refused.
    pub body_bytes_max: usize,
    /// The limit of a body in bytes if the add is asynchronous.
    pub async_body_bytes_max: usize,
    /// A larger file is refused where documents are uploaded.
    pub upload_bytes_max: usize,
    /// Headers in which a trusted client names the user, in lower case: `x-openwebui-user-id`.
    pub user_headers: Vec<String>,
    /// Time that running requests have to end after the server is asked to stop.
    pub shutdown: Duration,
}

impl Default for GatewaySettings {
    fn default() -> Self {
        Self {
            auth: Auth::default(),
            body_bytes_max: 32 << 20,
            async_body_bytes_max: 4 << 20,
            upload_bytes_max: 50 << 20,
            user_headers: Vec::new(),
            shutdown: Duration::from_secs(10),
        }
    }
}

/// Access rules. Without tokens, everybody on this machine has access, and nobody else.
#[derive(Debug, Clone, Default)]
pub struct Auth {
    pub tokens: Vec<Token>,
}

/// A bearer token.
#[derive(Debug, Clone)]
pub struct Token {
    pub secret: Secret,
    /// The one tenant to which it gives access; none: every tenant.
    pub scope: Option<Scope>,
    /// The one user to whose memory it gives access; none: every user.
    pub user: Option<Name>,
}

/// A text that `Debug` and logs never show.
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    /// Keeps a text secret.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// As a request carries it.
    pub(crate) fn bearer(&self) -> String {
        format!("Bearer {}", self.0)
    }

    /// Whether it equals this text. The comparison takes the same time for every text. An empty secret equals nothing.
    pub(crate) fn is(&self, text: &str) -> bool {
        let (have, given) = (self.0.as_bytes(), text.as_bytes());
        let difference = have
            .iter()
            .zip(given)
            .fold(0, |sum, (have, given)| std::hint::black_box(sum | (have ^ given)));
        !have.is_empty() && have.len() == given.len() && difference == 0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(secret)")
    }
}
