//! The dialects of transcripts, detected by the file's content.
//!
//! Owns: JSON in, items out and back, with the place of unreadable text. Never: changing JSON that it does not
//! understand.
//!
//! Reading order: `read` (whole files), `claude` and `codex` (session files), `parts` (one message), `edit` and `canon`
//! (one message back), `write`; [`crate::json`] is the base of all.

mod canon;
mod claude;
mod codex;
mod edit;
mod parts;
mod read;
mod write;

use std::collections::BTreeMap;
use std::fmt;

pub use read::{read, read_message};
pub use write::{picture, system, write};

use crate::Item;
pub(crate) use parts::stands_alone;

model::worded! {
    /// A format of conversations, with its name.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Dialect {
        /// Chat completions: a request, an array of messages, or a message a line.
        OpenAi = "openai",
        /// The Responses API: a request with `input`, or an array of its items.
        OpenAiResponses = "openai-responses",
        /// The Messages API: a request, an array of messages, or a message a line.
        Anthropic = "anthropic",
        /// A session of Claude Code: a record a line. Its messages are Anthropic's.
        ClaudeCode = "claude-code",
        /// A rollout of Codex: a record a line, in envelopes or (older) bare. Its items are those of the Responses API.
        Codex = "codex",
    }
}

impl Dialect {
    fn family(self) -> Family {
        match self {
            Self::OpenAi => Family::Chat,
            Self::OpenAiResponses | Self::Codex => Family::Responses,
            Self::Anthropic | Self::ClaudeCode => Family::Anthropic,
        }
    }
}

/// The kinds of messages among the dialects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Family {
    Chat,
    Anthropic,
    Responses,
}

/// A conversation as a client wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transcript {
    pub dialect: Dialect,
    /// In the order of the file. A request's fields besides its messages (`system`, `instructions`) are a system item
    /// before them, with the value as its `raw`; [`system`] writes it back, [`write`](write()) the messages.
    pub items: Vec<Item>,
    /// The JSON text of the request's tools, unchanged.
    pub tools: Option<String>,
    /// The model that the file names; if it names several, the last.
    pub model: Option<String>,
    /// Number of records outside of the conversation, by kind.
    pub skipped: BTreeMap<String, usize>,
}

impl Transcript {
    fn new(dialect: Dialect) -> Self {
        Self {
            dialect,
            items: Vec::new(),
            tools: None,
            model: None,
            skipped: BTreeMap::new(),
        }
    }

    fn skip(&mut self, kind: &str) {
        *self.skipped.entry(kind.to_owned()).or_default() += 1;
    }
}

/// Why a text is no transcript, and the place of the error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    /// Counted from 1.
    pub line: usize,
    /// In characters, counted from 1.
    pub column: usize,
    /// Path below the whole text, for example `messages[2].role`; empty for the whole text, or if the text is not JSON.
    pub path: String,
    pub expected: String,
    pub found: String,
    /// Advice for a repair.
    pub advice: &'static str,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)?;
        if !self.path.is_empty() {
            write!(f, " (`{}`)", self.path)?;
        }
        write!(
            f,
            ": expected {}, found {}; {}",
            self.expected, self.found, self.advice
        )
    }
}

impl std::error::Error for Unreadable {}
