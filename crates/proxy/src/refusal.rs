//! Why a request got no answer of the model, as a message for the client.
//!
//! Owns: status, code and message. Never: its form in a dialect (`gateway`).

use context::budget::OverBudget;
use model::Owner;
use ports::{LedgerError, UpstreamError};

use crate::body::Unfit;

/// A request that ended here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// An HTTP status.
    pub status: u16,
    /// A code for programs: `context_length_exceeded`, `upstream_unreachable`.
    pub code: &'static str,
    pub message: String,
    /// Seconds until a retry makes sense.
    pub retry_after_seconds: Option<u64>,
}

impl Refusal {
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self {
            status: 400,
            code: "invalid_request_error",
            message: message.into(),
            retry_after_seconds: None,
        }
    }

    fn forbidden(message: String) -> Self {
        Self {
            status: 403,
            code: "forbidden",
            ..Self::invalid(message)
        }
    }

    /// The path holds data of all users of the server's key.
    pub(crate) fn closed(path: &str) -> Self {
        let step = path.split('/').next().unwrap_or_default();
        Self::forbidden(format!(
            "`/v1/{path}` can hold data of others who share the model server's key: an administrator can open it with \
             `proxy.passthrough = [\"{step}\"]`"
        ))
    }

    /// The request names an object that is not recorded for its owner.
    pub(crate) fn not_theirs(id: &str, step: &str, owner: &Owner) -> Self {
        Self::forbidden(format!(
            "`{id}` is not known as an object of `{}` on the model server: send its content instead, or ask an \
             administrator for `proxy.passthrough = [\"{step}\"]`",
            owner.id
        ))
    }

    /// A body that cannot be checked.
    pub(crate) fn unread(path: &str) -> Self {
        Self::invalid(format!(
            "the body for `/v1/{path}` is not JSON, so its owner cannot be checked: send plain JSON"
        ))
    }

    pub(crate) fn no_model(model: &str) -> Self {
        Self {
            status: 404,
            code: "model_not_found",
            message: format!(
                "no model server is configured for `{model}`: start with `quipu serve --upstream URL`"
            ),
            retry_after_seconds: None,
        }
    }

    /// Quipu shuts down before the request ends.
    pub(crate) fn ending() -> Self {
        Self {
            status: 503,
            code: "shutting_down",
            ..Self::invalid("Quipu is shutting down: ask again")
        }
    }

    pub(crate) fn upstream(error: &UpstreamError) -> Self {
        let (status, code) = match error {
            UpstreamError::Unreachable { .. } => (502, "upstream_unreachable"),
            UpstreamError::BrokeOff { .. } => (502, "upstream_broke_off"),
            UpstreamError::TimedOut { .. } => (504, "upstream_timed_out"),
            UpstreamError::Resting { .. } => (503, "upstream_resting"),
        };
        let retry_after_seconds = match error {
            UpstreamError::Resting { retry_after } => Some(retry_after.as_secs().max(1)),
            _ => None,
        };
        Self {
            status,
            code,
            retry_after_seconds,
            message: error.to_string(),
        }
    }
}

impl From<Unfit> for Refusal {
    fn from(unfit: Unfit) -> Self {
        Self::invalid(unfit.0)
    }
}

impl From<OverBudget> for Refusal {
    fn from(over: OverBudget) -> Self {
        Self {
            code: "context_length_exceeded",
            ..Self::invalid(format!("{}: {over}", over.code.as_str()))
        }
    }
}

impl From<LedgerError> for Refusal {
    fn from(error: LedgerError) -> Self {
        tracing::error!(%error, "a turn failed");
        Self {
            status: 500,
            code: "internal_error",
            ..Self::invalid("internal error: see the server log")
        }
    }
}
