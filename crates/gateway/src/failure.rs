//! The answer to a request that failed.
//!
//! Owns: mapping codes to statuses, and choosing the parts of an error that a client may see. Never: the envelope
//! around it (the frame adds request id, time and path).

use std::error::Error;

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use memory::library::{KnowledgeError, Unreadable};
use memory::{EngineError, HistoryError};
use model::text::chain;
use ports::{IndexError, NoRoom, VaultError};

use crate::wire::{ErrorCode, Invalid};

/// Why a request failed, in words for the client; the response carries it to the frame.
#[derive(Debug, Clone)]
pub(crate) struct Failure {
    pub(crate) code: ErrorCode,
    pub(crate) message: String,
    /// For the log only.
    pub(crate) detail: Option<String>,
}

impl Failure {
    pub(crate) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            detail: None,
        }
    }

    /// An internal error; the client sees no details.
    pub(crate) fn internal(detail: String) -> Self {
        Self {
            code: ErrorCode::InternalError,
            message: "internal error: see the server log for this request id".to_owned(),
            detail: Some(detail),
        }
    }

    pub(crate) fn not_found(what: &str, id: &str) -> Self {
        Self::new(ErrorCode::NotFound, format!("{what} `{id}` does not exist"))
    }

    /// The server was started without a part that the request needs.
    pub(crate) fn lacks(what: &str) -> Self {
        Self::new(ErrorCode::CapabilityUnavailable, format!("this server {what}"))
    }

    /// The refusal of a body larger than the limit.
    pub(crate) fn too_large(bytes_max: usize) -> Self {
        let mebibytes = bytes_max >> 20;
        let message =
            format!("the body has more than {mebibytes} MiB: send fewer or shorter messages at a time");
        Self::new(ErrorCode::PayloadTooLarge, message)
    }

    pub(crate) fn status(&self) -> StatusCode {
        match self.code {
            ErrorCode::BadRequest => StatusCode::BAD_REQUEST,
            ErrorCode::Unauthorized => StatusCode::UNAUTHORIZED,
            ErrorCode::Forbidden => StatusCode::FORBIDDEN,
            ErrorCode::NotFound => StatusCode::NOT_FOUND,
            ErrorCode::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            ErrorCode::Conflict => StatusCode::CONFLICT,
            ErrorCode::PayloadTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            ErrorCode::UnsupportedFormat => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            ErrorCode::InvalidInput | ErrorCode::ExtractionEmpty | ErrorCode::ProviderNotConfigured => {
                StatusCode::UNPROCESSABLE_ENTITY
            }
            ErrorCode::QueueSaturated => StatusCode::TOO_MANY_REQUESTS,
            ErrorCode::InternalError | ErrorCode::ConfigurationError => StatusCode::INTERNAL_SERVER_ERROR,
            ErrorCode::ExternalServiceUnavailable
            | ErrorCode::CapabilityUnavailable
            | ErrorCode::DiskReadOnly => StatusCode::SERVICE_UNAVAILABLE,
            ErrorCode::DiskFull => StatusCode::INSUFFICIENT_STORAGE,
        }
    }

    /// Whether the same request may succeed soon.
    pub(crate) fn is_passing(&self) -> bool {
        matches!(
            self.code,
            ErrorCode::QueueSaturated
                | ErrorCode::ExternalServiceUnavailable
                | ErrorCode::CapabilityUnavailable
        )
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let mut response = self.status().into_response();
        response.extensions_mut().insert(self);
        response
    }
}

impl From<Invalid> for Failure {
    fn from(invalid: Invalid) -> Self {
        Self::new(ErrorCode::InvalidInput, invalid.to_string())
    }
}

impl From<NoRoom> for Failure {
    fn from(why: NoRoom) -> Self {
        let (code, action) = match why {
            NoRoom::Full => (ErrorCode::DiskFull, "free space on it"),
            NoRoom::ReadOnly => (ErrorCode::DiskReadOnly, "mount it writable"),
        };
        let message = format!("nothing was stored, because {why}: {action}, then send the request again");
        Self::new(code, message)
    }
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        if let Some(why) = error.no_room() {
            return Self {
                detail: Some(chain(&error)),
                ..why.into()
            };
        }
        let (code, message) = match &error {
            EngineError::NotFound { .. } => (ErrorCode::NotFound, error.to_string()),
            EngineError::Invalid(message) => (ErrorCode::InvalidInput, message.clone()),
            EngineError::TooLarge(message) => (ErrorCode::PayloadTooLarge, message.clone()),
            EngineError::Unfit(message) => (ErrorCode::Conflict, message.clone()),
            EngineError::Saturated { .. } => (ErrorCode::QueueSaturated, error.to_string()),
            EngineError::Stopping | EngineError::Read(_) => {
                (ErrorCode::CapabilityUnavailable, error.to_string())
            }
            EngineError::Vault(outside @ VaultError::Outside { .. }) => (
                ErrorCode::Conflict,
                format!("{outside}: put the file itself in the link's place and try again"),
            ),
            EngineError::Vault(VaultError::NoEntry { id, .. }) => {
                return Self::not_found("memory", id);
            }
            EngineError::Vault(broken @ VaultError::Broken { .. }) => (
                ErrorCode::Conflict,
                format!("{broken}: repair the file and try again"),
            ),
            EngineError::Index(IndexError::Unusable { .. }) => (
                ErrorCode::CapabilityUnavailable,
                "the index must be rebuilt: run `quipu rebuild`".to_owned(),
            ),
            EngineError::History(none @ (HistoryError::NoChange { .. } | HistoryError::NoRun { .. })) => (
                ErrorCode::NotFound,
                format!("{none}: list them with `quipu history log`"),
            ),
            EngineError::History(error) => (ErrorCode::Conflict, error.to_string()),
            EngineError::Embed(_) => (
                ErrorCode::ExternalServiceUnavailable,
                "the embedding model did not answer: try again, or search with `method` `keyword`".to_owned(),
            ),
            EngineError::Panicked(_)
            | EngineError::Ledger(_)
            | EngineError::Vault(_)
            | EngineError::Index(_) => {
                return Self::internal(chain(&error));
            }
        };
        Self {
            code,
            message,
            detail: error.source().is_some().then(|| chain(&error)),
        }
    }
}

impl From<KnowledgeError> for Failure {
    fn from(error: KnowledgeError) -> Self {
        let message = error.to_string();
        let code = match error {
            KnowledgeError::Engine(error) => return error.into(),
            KnowledgeError::Duplicate { .. } => ErrorCode::Conflict,
            KnowledgeError::Unreadable(unreadable) => match unreadable {
                Unreadable::Empty | Unreadable::Scanned => ErrorCode::ExtractionEmpty,
                Unreadable::TooLarge { .. } | Unreadable::TooMuchText | Unreadable::TooManyPages => {
                    ErrorCode::PayloadTooLarge
                }
                Unreadable::Unsupported => ErrorCode::UnsupportedFormat,
                Unreadable::TooComplex
                | Unreadable::NeedsMemory
                | Unreadable::NeedsTime
                | Unreadable::Encrypted
                | Unreadable::Damaged => ErrorCode::InvalidInput,
            },
        };
        Self::new(code, message)
    }
}
