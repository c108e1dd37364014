//! The answer of a gateway, on the client's side.
//!
//! Owns: the envelope, and the message of a refusal in any dialect. Never: sending a request, or the meaning of its
//! data.

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::client::AskError;
use crate::wire::{Envelope, ErrorCode, ErrorEnvelope};

/// An answer with any status.
#[derive(Debug)]
pub struct ClientReply {
    pub status: u16,
    pub body: Vec<u8>,
    /// The reason of an internal error, which the body does not contain; only known in the same process.
    pub detail: Option<String>,
}

/// Why the API returned no data.
#[derive(Debug, thiserror::Error)]
pub enum ApiError {
    #[error(transparent)]
    Unanswered(#[from] AskError),
    #[error("{message}")]
    Refused {
        status: u16,
        /// The code from the memory API's error envelope.
        code: Option<ErrorCode>,
        message: String,
        /// As in [`ClientReply`].
        detail: Option<String>,
    },
    #[error("the server's answer cannot be read: it may have another version, restart it")]
    Unreadable(#[source] serde_json::Error),
}

impl ApiError {
    /// A refusal by the client itself, with a message for a person.
    pub fn refused(status: u16, message: impl Into<String>) -> Self {
        Self::Refused {
            status,
            code: None,
            message: message.into(),
            detail: None,
        }
    }

    /// The status of a refusal; for other errors, the status of a server that is missing or fails.
    pub fn status(&self) -> u16 {
        match self {
            Self::Refused { status, .. } => *status,
            Self::Unanswered(_) => 503,
            Self::Unreadable(_) => 500,
        }
    }
}

impl ClientReply {
    /// The body of a success.
    pub fn accepted(self) -> Result<Vec<u8>, ApiError> {
        match self.status {
            200..300 => Ok(self.body),
            _ => Err(self.refused()),
        }
    }

    /// The error of an answer without success.
    pub fn refused(self) -> ApiError {
        let status = self.status;
        let (code, message) = if let Ok(ErrorEnvelope { error, .. }) = serde_json::from_slice(&self.body) {
            (Some(error.code), error.message)
        } else {
            let reason = reason(&serde_json::from_slice(&self.body).unwrap_or_default());
            (
                None,
                format!("the server answered with status {status}: {reason}"),
            )
        };
        ApiError::Refused {
            status,
            code,
            message,
            detail: self.detail,
        }
    }

    /// A success without an envelope.
    pub fn bare<T: DeserializeOwned>(self) -> Result<T, ApiError> {
        serde_json::from_slice(&self.accepted()?).map_err(ApiError::Unreadable)
    }

    /// The data of a success.
    pub fn data<T: DeserializeOwned>(self) -> Result<T, ApiError> {
        self.bare().map(|envelope: Envelope<T>| envelope.data)
    }
}

/// The message in an error of any dialect, in one line.
pub fn reason(body: &Value) -> String {
    let error = &body["error"];
    let reason = error["message"].as_str().or(error.as_str());
    model::one_line(reason.unwrap_or("no reason given"))
}
