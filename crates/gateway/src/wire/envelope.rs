//! The envelopes of a success and of an error, and the error codes.
//!
//! Owns: their shape and words. Never: choosing the code of an error (the gateway does).

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// An instant in the display zone, ISO 8601. The description of the API knows its format by the name of the type.
pub type DateTime = String;

/// An answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Envelope<T> {
    /// The request's id; the task's id when the answer is 202.
    pub request_id: String,
    pub data: T,
}

/// An error answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ErrorEnvelope {
    pub request_id: String,
    pub error: ErrorInfo,
}

/// The error.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ErrorInfo {
    pub code: ErrorCode,
    /// For a person: the problem and what to do about it.
    pub message: String,
    /// When, in the display zone.
    pub timestamp: DateTime,
    /// The path that was asked for.
    pub path: String,
}

/// A stable word for each kind of error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ErrorCode {
    BadRequest,
    Unauthorized,
    Forbidden,
    NotFound,
    MethodNotAllowed,
    Conflict,
    PayloadTooLarge,
    UnsupportedFormat,
    InvalidInput,
    ExtractionEmpty,
    ProviderNotConfigured,
    QueueSaturated,
    InternalError,
    ConfigurationError,
    ExternalServiceUnavailable,
    CapabilityUnavailable,
    DiskReadOnly,
    DiskFull,
}
