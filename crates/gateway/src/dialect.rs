//! The kind of client that a path is for.
//!
//! Owns: the paths beside the memory API, and the form of an error there. Never: the behaviour of a route.

use serde::Serialize;
use serde_json::{Value, json};

/// The page's first view; all others are below [`PAGE_BELOW`].
pub(crate) const PAGE: &str = "/";
pub(crate) const PAGE_BELOW: &str = "/page/";
/// The form for a visitor's token.
pub(crate) const SIGN_IN: &str = "/page/sign-in";
/// The route that deletes the cookie.
const SIGN_OUT: &str = "/page/sign-out";
/// Style and script, the same for every visitor.
const ASSETS: &str = "/page/assets/";
/// The path of the agents' door.
pub(crate) const AGENTS: &str = "/mcp";
/// The prefix of the model servers' paths.
const MODELS: &str = "/v1/";
/// The first step of mem0's paths, after `/v1/`, `/v2/` or `/v3/`.
const STEPS: [&str; 10] = [
    "ping", "memories", "batch", "entities", "event", "events", "exports", "summary", "feedback", "profiles",
];
/// mem0's paths within the prefix of the memory API.
const ACCOUNT: [&str; 2] = ["/api/v1/webhooks/", "/api/v1/orgs/"];

/// The kind of client that a path is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// Clients of the memory API, and probes.
    Memory,
    /// Clients of models.
    Models,
    Mem0,
    Agents,
    /// A browser.
    Page,
}

impl Dialect {
    pub(crate) fn of(path: &str) -> Self {
        if is_of_mem0(path) {
            Self::Mem0
        } else if path.starts_with(MODELS) {
            Self::Models
        } else if path.trim_end_matches('/') == AGENTS {
            Self::Agents
        } else if path == PAGE || path.starts_with(PAGE_BELOW) {
            Self::Page
        } else {
            Self::Memory
        }
    }

    /// An error in the form of these clients; none if they read the error envelope.
    pub(crate) fn error(self, path: &str, status: u16, code: impl Serialize, message: &str) -> Option<Value> {
        match self {
            Self::Mem0 => Some(json!({"detail": message, "code": code})),
            Self::Models => Some(model_error(path, status, code, message)),
            Self::Memory | Self::Agents | Self::Page => None,
        }
    }
}

/// Whether a path of the page needs no token.
pub(crate) fn is_open(path: &str) -> bool {
    path == SIGN_IN || path == SIGN_OUT || path.starts_with(ASSETS)
}

fn is_of_mem0(path: &str) -> bool {
    let step = ["/v1/", "/v2/", "/v3/"]
        .iter()
        .find_map(|version| path.strip_prefix(version));
    step.and_then(|rest| rest.split('/').next())
        .is_some_and(|step| STEPS.contains(&step))
        || ACCOUNT.iter().any(|account| path.starts_with(account))
}

/// An error in the form of the model clients at a path: Anthropic's or OpenAI's.
pub(crate) fn model_error(path: &str, status: u16, code: impl Serialize, message: &str) -> Value {
    let kind = match status {
        401 => "authentication_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        503 => "overloaded_error",
        400..500 => "invalid_request_error",
        _ => "api_error",
    };
    if path.starts_with("/v1/messages") {
        json!({"type": "error", "error": {"type": kind, "message": message, "code": code}})
    } else {
        json!({"error": {"message": message, "type": kind, "param": null, "code": code}})
    }
}
