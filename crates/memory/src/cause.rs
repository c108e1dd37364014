//! An error with everything below it on one line; ports keep causes out of their own text.
//!
//! Owns: how a log line, a task and a file say why. Never: an error of its own.

/// An error with its causes, for whoever reads the state of a task or a file.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}
