//! Errors of commands for people, and exit codes for scripts.

use std::fmt;

use memory::EngineError;
use model::Name;
use ports::{LedgerError, NoRoom, VaultError};

/// The exit codes; scripts rely on them. The help and `docs/commands.md` show the same table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    Ok = 0,
    Failed = 1,
    Usage = 2,
    InUse = 3,
    NotFound = 4,
    Interrupted = 130,
}

impl Exit {
    /// Exit code of a finished command: failed if its output names problems.
    pub(crate) fn done(is_without_problems: bool) -> Self {
        if is_without_problems {
            Self::Ok
        } else {
            Self::Failed
        }
    }

    /// Exit code of a search.
    pub(crate) fn found(is_found: bool) -> Self {
        if is_found { Self::Ok } else { Self::NotFound }
    }

    const MEANINGS: [(Self, &str); 6] = [
        (Self::Ok, "done"),
        (
            Self::Failed,
            "failed, or done with problems that the output names",
        ),
        (
            Self::Usage,
            "the command, its input or the configuration is wrong",
        ),
        (
            Self::InUse,
            "another process uses the root, or its server does not answer",
        ),
        (
            Self::NotFound,
            "no such memory, document, skill, run or conversation; nothing sure to answer",
        ),
        (Self::Interrupted, "interrupted by Ctrl-C"),
    ];

    /// The table at the end of the help.
    pub(crate) fn table() -> String {
        let rows = Self::MEANINGS.map(|(exit, meaning)| format!("\n  {:<3}  {meaning}", exit as u8));
        format!("Exit codes:{}", rows.concat())
    }
}

/// A failure with its exit code and a hint.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    pub(crate) error: anyhow::Error,
    pub(crate) hint: Option<String>,
}

impl Failure {
    /// A failure with this exit code, without a hint.
    pub(crate) fn of(exit: Exit, error: impl Into<anyhow::Error>) -> Self {
        Self {
            exit,
            error: error.into(),
            hint: None,
        }
    }

    /// An error that the caller can fix.
    pub(crate) fn usage(message: impl fmt::Display) -> Self {
        Self::of(Exit::Usage, anyhow::anyhow!("{message}"))
    }

    /// An error in the caller's input.
    pub(crate) fn input(error: impl Into<anyhow::Error>) -> Self {
        Self::of(Exit::Usage, error)
    }

    /// A missing memory, document, run or other item.
    pub(crate) fn missing(message: impl fmt::Display) -> Self {
        Self::of(Exit::NotFound, anyhow::anyhow!("{message}"))
    }

    /// A root that another process uses.
    pub(crate) fn in_use(message: impl fmt::Display) -> Self {
        Self::of(Exit::InUse, anyhow::anyhow!("{message}"))
    }

    /// An error that nobody can fix with this command.
    pub(crate) fn failed(message: impl fmt::Display) -> Self {
        Self::of(Exit::Failed, anyhow::anyhow!("{message}"))
    }

    /// Adds the failed operation to the message.
    #[must_use]
    pub(crate) fn context(self, doing: impl fmt::Display + Send + Sync + 'static) -> Self {
        Self {
            error: self.error.context(doing),
            ..self
        }
    }

    /// Adds a hint: a sentence with the remedy.
    #[must_use]
    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        self.hinted(Some(hint))
    }

    /// The error and the hint as one text.
    pub(crate) fn words(&self, between: &str) -> String {
        let hint = self.hint.iter().map(|hint| format!("{between}{hint}"));
        format!("{:#}{}", self.error, hint.collect::<String>())
    }

    /// Adds the hint, if there is one.
    #[must_use]
    pub(crate) fn hinted(self, hint: Option<impl Into<String>>) -> Self {
        let hint = hint.map(Into::into);
        Self { hint, ..self }
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self::of(Exit::Failed, error)
    }
}

/// Implements the conversion of errors to failures through another error type.
macro_rules! failed {
    ($way:ty: $($error:ty),+) => {$(
        impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                <$way>::from(error).into()
            }
        }
    )+};
}
// Nobody can fix these with a command.
failed!(anyhow::Error: std::io::Error, serde_json::Error, tokio::task::JoinError);

/// A name from an option or a key of the configuration.
pub(crate) fn name(place: &str, text: &str) -> Result<Name, Failure> {
    Name::parse(text).map_err(|error| Failure::usage(format!("{place}: {error}")))
}

/// A result with a failure that can get a hint.
pub(crate) trait Hinted<T> {
    /// Adds the remedy as a hint.
    fn hint(self, hint: &str) -> Result<T, Failure>;
}

impl<T, E: Into<Failure>> Hinted<T> for Result<T, E> {
    fn hint(self, hint: &str) -> Result<T, Failure> {
        self.map_err(|error| error.into().hint(hint))
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
            EngineError::Ledger(LedgerError::Store(_)) if error.no_room().is_none() => {
                (Exit::Failed, Some(DAMAGED_LEDGER))
            }
            error => (Exit::Failed, error.no_room().map(what_to_do)),
        };
        Self::of(exit, error).hinted(hint)
    }
}

failed!(EngineError: LedgerError, VaultError);

/// The remedy for a ledger that cannot be read.
const DAMAGED_LEDGER: &str = "if it is damaged, move `ledger.sqlite*` out of the root and put the newest file of \
    `ledger.daily`, if there is one, in its place as `ledger.sqlite`; the memory files stay as they are";

/// The remedy for a full or read-only disk.
pub(crate) fn what_to_do(why: NoRoom) -> &'static str {
    match why {
        NoRoom::Full => "free space on the disk of the root",
        NoRoom::ReadOnly => "mount the disk of the root writable",
    }
}

#[cfg(test)]
mod tests {
    use super::Exit;

    #[test]
    fn the_documentation_has_the_table_of_the_help() {
        let page = include_str!("../../../docs/commands.md");
        for (exit, meaning) in Exit::MEANINGS {
            let row = format!("| {} | {meaning} |", exit as u8);
            assert!(page.contains(&row), "docs/commands.md has no row `{row}`");
        }
    }
}
