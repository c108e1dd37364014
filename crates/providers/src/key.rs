//! Keys: used in headers, never displayed.
//!
//! Owns: the replacement of a key in any text that leaves this crate. Never: the source of a key.

use std::fmt;

const REDACTED: &str = "[key]";

/// The key of an endpoint; its `Debug` does not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

impl ApiKey {
    /// A key as the user wrote it; blanks around it are removed, since they come from copying.
    pub fn new(key: impl Into<String>) -> Self {
        Self(key.into().trim().to_owned())
    }

    /// The key alone, for the header `x-api-key`.
    pub(crate) fn plain(&self) -> &str {
        &self.0
    }

    /// The value of the `Authorization` header.
    pub(crate) fn bearer(&self) -> String {
        format!("Bearer {}", self.0)
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(REDACTED)
    }
}

/// The text without the key and without anything that resembles one: endpoints echo parts of keys with stars
/// in the middle, so an exact search is not enough.
pub(crate) fn redact(text: &str, key: Option<&ApiKey>) -> String {
    let text = match key {
        Some(ApiKey(key)) if !key.is_empty() => text.replace(key.as_str(), REDACTED),
        _ => text.to_owned(),
    };
    let is_part = |c: char| c.is_ascii_alphanumeric() || "-_*.…".contains(c);
    let mut shown = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while !rest.is_empty() {
        let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        let begins_as_key = ["sk-", "sk_", "hf_", "gsk_", "AIza"]
            .iter()
            .any(|p| word.starts_with(p));
        let is_key = begins_as_key || shown.ends_with("Bearer ") && !word.is_empty();
        shown.push_str(if is_key { REDACTED } else { word });
        let skip = after.chars().next().map_or(0, char::len_utf8);
        shown.push_str(&after[..skip]);
        rest = &after[skip..];
    }
    shown
}

#[cfg(test)]
mod tests;
