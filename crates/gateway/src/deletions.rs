//! The number of deletions since the start.
//!
//! Owns: the count of each tenant. Never: deleting.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::Scope;
use parking_lot::Mutex;

/// The number of deletions that each tenant has requested since the start.
#[derive(Debug, Clone, Default)]
pub(crate) struct Deletions(Arc<Mutex<BTreeMap<Scope, usize>>>);

impl Deletions {
    pub(crate) fn of(&self, scope: &Scope) -> usize {
        self.0.lock().get(scope).copied().unwrap_or_default()
    }

    pub(crate) fn count(&self, scope: &Scope) {
        *self.0.lock().entry(scope.clone()).or_default() += 1;
    }
}
