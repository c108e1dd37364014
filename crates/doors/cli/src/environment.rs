//! The process's environment: the only place where it is read.

#![expect(clippy::disallowed_methods, reason = "this file owns the environment")]

use std::path::PathBuf;

/// A variable that is set and is text.
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Every variable that is text.
pub(crate) fn variables() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
}

/// The folder for everything, where no option names one.
pub(crate) fn default_root() -> Option<PathBuf> {
    std::env::home_dir().map(|home| home.join(".quipu"))
}
