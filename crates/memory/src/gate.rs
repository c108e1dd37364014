//! Who may change memory at the same time.
//!
//! Owns: a change of one tenant's memory does not delay another tenant's; work on all tenants finds a moment in which nobody writes. Never: an owner's order (`locks`), what is done behind the gate.
//!
//! A writer of a segment enters its tenant shared. An edit, a curation and a deletion have the tenant alone. A swap of the index, a
//! commit of the history and a sync of files have all tenants alone.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use model::Scope;
use tokio::sync::{Notify, OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock};

/// After so many moments in which somebody was there, work on everybody's memory takes its place in the queue, and others wait.
const TRIES_MAX: usize = 1_000;
/// With more tenants known than this, those in whom nobody is are dropped.
const TENANTS_MAX: usize = 1_024;

/// The gate of all tenants.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    all: Arc<RwLock<()>>,
    tenants: Mutex<BTreeMap<Scope, Arc<RwLock<()>>>>,
    left: Arc<Notify>,
}

/// Somebody is in a tenant, shared or alone, until this is dropped.
#[derive(Debug)]
pub(crate) struct Inside {
    // In the order in which they are let go.
    _tenant: Tenant,
    _all: OwnedRwLockReadGuard<()>,
    _told: Told,
}

/// Somebody has all tenants alone, until this is dropped.
#[derive(Debug)]
pub(crate) struct Everywhere {
    // Let go before others are told.
    _guard: OwnedRwLockWriteGuard<()>,
    _told: Told,
}

#[derive(Debug)]
enum Tenant {
    Shared { _guard: OwnedRwLockReadGuard<()> },
    Alone { _guard: OwnedRwLockWriteGuard<()> },
}

/// Wakes the tasks that wait for a quiet moment.
#[derive(Debug)]
struct Told(Arc<Notify>);

impl Drop for Told {
    fn drop(&mut self) {
        self.0.notify_waiters();
    }
}

impl Gate {
    /// Into a tenant, where others may be at work on other owners.
    pub(crate) async fn shared(&self, scope: &Scope) -> Inside {
        let all = Arc::clone(&self.all).read_owned().await;
        let guard = self.tenant(scope).read_owned().await;
        self.inside(all, Tenant::Shared { _guard: guard })
    }

    /// Into a tenant in which nobody else is.
    pub(crate) async fn alone_in(&self, scope: &Scope) -> Inside {
        let all = Arc::clone(&self.all).read_owned().await;
        let guard = self.tenant(scope).write_owned().await;
        self.inside(all, Tenant::Alone { _guard: guard })
    }

    /// Nobody is in any tenant. Later tasks wait until this one has left.
    pub(crate) async fn alone(&self) -> Everywhere {
        self.everywhere(Arc::clone(&self.all).write_owned().await)
    }

    /// The same for work that can wait: nobody waits for it meanwhile.
    pub(crate) async fn alone_when_quiet(&self) -> Everywhere {
        for _ in 0..TRIES_MAX {
            let left = self.left.notified();
            let mut left = std::pin::pin!(left);
            // From here on a leaving is heard.
            left.as_mut().enable();
            if let Ok(guard) = Arc::clone(&self.all).try_write_owned() {
                return self.everywhere(guard);
            }
            left.await;
        }
        self.alone().await
    }

    fn everywhere(&self, guard: OwnedRwLockWriteGuard<()>) -> Everywhere {
        Everywhere {
            _guard: guard,
            _told: Told(Arc::clone(&self.left)),
        }
    }

    fn inside(&self, all: OwnedRwLockReadGuard<()>, tenant: Tenant) -> Inside {
        Inside {
            _tenant: tenant,
            _all: all,
            _told: Told(Arc::clone(&self.left)),
        }
    }

    fn tenant(&self, scope: &Scope) -> Arc<RwLock<()>> {
        let mut tenants = self.tenants.lock().unwrap_or_else(PoisonError::into_inner);
        if tenants.len() > TENANTS_MAX {
            tenants.retain(|_, lock| Arc::strong_count(lock) > 1);
        }
        Arc::clone(tenants.entry(scope.clone()).or_default())
    }
}

#[cfg(test)]
mod tests {
    use std::task::Poll;

    use futures::poll;
    use model::Name;

    use super::*;

    fn tenant(name: &str) -> Scope {
        let name = Name::parse(name).expect("a name");
        Scope::new(name.clone(), name)
    }

    #[tokio::test]
    async fn whoever_has_a_tenant_alone_keeps_no_other_waiting() {
        let gate = Gate::default();
        let (a, b) = (tenant("a"), tenant("b"));
        let _alone = gate.alone_in(&a).await;
        let _other = gate.alone_in(&b).await;
        let mut again = std::pin::pin!(gate.shared(&a));
        assert!(poll!(&mut again).is_pending(), "the tenant itself waits");
    }

    #[tokio::test]
    async fn whoever_waits_for_all_stops_nobody_and_comes_in_when_all_have_left() {
        let gate = Gate::default();
        let (a, b) = (tenant("a"), tenant("b"));
        let long = gate.alone_in(&a).await;
        let mut all = std::pin::pin!(gate.alone_when_quiet());
        assert!(poll!(&mut all).is_pending());
        for _ in 0..3 {
            drop(gate.shared(&b).await);
            assert!(poll!(&mut all).is_pending());
        }
        drop(long);
        let Poll::Ready(alone) = poll!(&mut all) else {
            panic!("nobody is there any more")
        };
        let mut next = std::pin::pin!(gate.shared(&b));
        assert!(poll!(&mut next).is_pending(), "it is alone");
        drop(alone);
        next.await;
    }

    #[tokio::test]
    async fn two_that_want_all_follow_each_other() {
        let gate = Gate::default();
        let first = gate.alone().await;
        let mut second = std::pin::pin!(gate.alone_when_quiet());
        assert!(poll!(&mut second).is_pending());
        drop(first);
        second.await;
    }
}
