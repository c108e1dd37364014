//! The problem of an invalid request, and its place in the request.
//!
//! Owns: the shape and length of such a message. Never: the HTTP status (the gateway chooses it).

use std::fmt;

/// Maximum length of a message, in characters: it may quote the client's text.
const CHARS_MAX: usize = 400;

/// One problem of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invalid {
    /// The field, as in `messages.0.timestamp`; empty for the request as a whole.
    pub path: String,
    /// The problem and what to do about it.
    pub problem: String,
}

impl Invalid {
    /// A problem of one field.
    pub fn at(path: impl Into<String>, problem: impl fmt::Display) -> Self {
        Self {
            path: path.into(),
            problem: problem.to_string(),
        }
    }

    /// A problem of the request as a whole.
    pub fn request(problem: impl fmt::Display) -> Self {
        Self::at("", problem)
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            cut(f, &self.path)?;
            f.write_str(": ")?;
        }
        cut(f, &self.problem)
    }
}

fn cut(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    let head = model::head(text, CHARS_MAX);
    let sign = if head.len() < text.len() { "…" } else { "" };
    write!(f, "{head}{sign}")
}

impl std::error::Error for Invalid {}
