//! Errors of commands for people, and exit codes for scripts.

use std::fmt;

use memory::EngineError;
use ports::LedgerError;

/// The exit codes; scripts rely on them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Done.
    Ok = 0,
    /// It failed for a reason that is not the caller's.
    Failed = 1,
    /// The command, its input or the configuration is wrong.
    Usage = 2,
    /// Another process uses the root.
    InUse = 3,
    /// The thing does not exist.
    NotFound = 4,
    /// Interrupted by a signal.
    Interrupted = 130,
}

/// A failure with its exit code and what to do about it.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    pub(crate) error: anyhow::Error,
    pub(crate) hint: Option<String>,
}

impl Failure {
    /// Something that the caller can put right.
    pub(crate) fn usage(message: impl fmt::Display) -> Self {
        Self {
            exit: Exit::Usage,
            error: anyhow::anyhow!("{message}"),
            hint: None,
        }
    }

    /// Adds a hint: a sentence with the remedy.
    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self {
            exit: Exit::Failed,
            error,
            hint: None,
        }
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        anyhow::Error::from(error).into()
    }
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        let (exit, hint) = match &error {
            EngineError::NotFound { .. } => (Exit::NotFound, None),
            EngineError::Invalid(_) => (Exit::Usage, None),
            EngineError::Ledger(LedgerError::InUse) => (
                Exit::InUse,
                Some("wait until the other command is done; while `quipu serve` runs, all commands work"),
            ),
            EngineError::Ledger(LedgerError::NewerVersion { .. }) => {
                (Exit::Failed, Some("install the newer quipu; nothing was changed"))
            }
            _ => (Exit::Failed, None),
        };
        Self {
            exit,
            error: error.into(),
            hint: hint.map(str::to_owned),
        }
    }
}
