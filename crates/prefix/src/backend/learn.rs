//! Fields that a backend has refused.
//!
//! Owns: reading a refusal. Never: the retry; the caller sends it, once.

use std::collections::BTreeSet;

use super::Extra;

/// The extras that one backend refuses; they are never sent to it again. The caller keeps the names by base URL.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RefusedExtras(pub BTreeSet<String>);

impl RefusedExtras {
    /// Learns from an answer with status 400 or 422 that names a sent extra. Returns whether it learnt a name, so that
    /// a retry without the extra makes sense.
    pub fn learn(&mut self, status: u16, body: &str, sent: &[Extra]) -> bool {
        if !matches!(status, 400 | 422) {
            return false;
        }
        let before = self.0.len();
        let named = sent.iter().map(Extra::name).filter(|name| names(body, name));
        self.0.extend(named.map(str::to_owned));
        self.0.len() > before
    }
}

/// Whether the body contains the name as a whole word.
fn names(body: &str, name: &str) -> bool {
    let joins = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '-'));
    body.match_indices(name).any(|(at, _)| {
        let after = &body[at + name.len()..];
        !joins(body[..at].chars().next_back()) && !joins(after.chars().next())
    })
}
