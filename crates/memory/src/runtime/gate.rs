//! Which tasks may change memory at the same time.
//!
//! Owns: that a change of one tenant's memory does not delay another tenant's, and that work on all tenants finds a
//! moment without writers. Never: an owner's order (`locks`), or the work behind the gate.
//!
//! A writer of a segment enters its tenant shared. An edit, a curation and a deletion hold the tenant exclusively. A
//! swap of the index, a commit of the history and a sync of files hold all tenants exclusively.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::Scope;
use parking_lot::Mutex;
use tokio::sync::{Notify, OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock};

/// After this number of failed attempts, work on all tenants joins the queue, and others wait.
const TRIES_MAX: usize = 1_000;
/// With more known tenants than this, unused ones are dropped.
const TENANTS_MAX: usize = 1_024;

/// The gate of all tenants.
#[derive(Debug, Default)]
pub(crate) struct TenantGate {
    all: Arc<RwLock<()>>,
    tenants: Mutex<BTreeMap<Scope, Arc<RwLock<()>>>>,
    left: Arc<Notify>,
}

/// Access to a tenant, shared or exclusive, until this is dropped.
#[derive(Debug)]
pub(crate) struct Inside {
    // In the order in which they are released.
    _tenant: TenantGuard,
    _all: OwnedRwLockReadGuard<()>,
    _told: GateSignal,
}

/// Exclusive access to all tenants, until this is dropped.
#[derive(Debug)]
pub(crate) struct Everywhere {
    // Released before waiters are woken.
    _guard: OwnedRwLockWriteGuard<()>,
    _told: GateSignal,
}

#[derive(Debug)]
enum TenantGuard {
    Shared { _guard: OwnedRwLockReadGuard<()> },
    Alone { _guard: OwnedRwLockWriteGuard<()> },
}

/// Wakes the tasks that wait for a quiet moment.
#[derive(Debug)]
struct GateSignal(Arc<Notify>);

impl Drop for GateSignal {
    fn drop(&mut self) {
        self.0.notify_waiters();
    }
}

impl TenantGate {
    /// Enters a tenant shared; other callers can work on other owners.
    pub(crate) async fn shared(&self, scope: &Scope) -> Inside {
        let all = Arc::clone(&self.all).read_owned().await;
        let guard = self.tenant(scope).read_owned().await;
        self.inside(all, TenantGuard::Shared { _guard: guard })
    }

    /// Enters a tenant exclusively.
    pub(crate) async fn alone_in(&self, scope: &Scope) -> Inside {
        let all = Arc::clone(&self.all).read_owned().await;
        let guard = self.tenant(scope).write_owned().await;
        self.inside(all, TenantGuard::Alone { _guard: guard })
    }

    /// Enters all tenants exclusively. Later tasks wait until this one has left.
    pub(crate) async fn alone(&self) -> Everywhere {
        self.everywhere(Arc::clone(&self.all).write_owned().await)
    }

    /// As [`Self::alone`], for work that can wait: no caller waits for it meanwhile.
    pub(crate) async fn alone_when_quiet(&self) -> Everywhere {
        for _ in 0..TRIES_MAX {
            let left = self.left.notified();
            let mut left = std::pin::pin!(left);
            // From here on, no release is missed.
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
            _told: GateSignal(Arc::clone(&self.left)),
        }
    }

    fn inside(&self, all: OwnedRwLockReadGuard<()>, tenant: TenantGuard) -> Inside {
        Inside {
            _tenant: tenant,
            _all: all,
            _told: GateSignal(Arc::clone(&self.left)),
        }
    }

    fn tenant(&self, scope: &Scope) -> Arc<RwLock<()>> {
        let mut tenants = self.tenants.lock();
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
    async fn exclusive_access_to_a_tenant_does_not_delay_other_tenants() {
        let gate = TenantGate::default();
        let (a, b) = (tenant("a"), tenant("b"));
        let _alone = gate.alone_in(&a).await;
        let _other = gate.alone_in(&b).await;
        let mut again = std::pin::pin!(gate.shared(&a));
        assert!(poll!(&mut again).is_pending(), "the tenant itself waits");
    }

    #[tokio::test]
    async fn waiting_for_all_tenants_delays_nobody_and_ends_when_all_have_left() {
        let gate = TenantGate::default();
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
    async fn two_tasks_that_need_all_tenants_take_turns() {
        let gate = TenantGate::default();
        let first = gate.alone().await;
        let mut second = std::pin::pin!(gate.alone_when_quiet());
        assert!(poll!(&mut second).is_pending());
        drop(first);
        second.await;
    }
}
