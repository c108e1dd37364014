//! The cached owners, and the changes of their rows.
//!
//! Owns: passing each change to the owners that it concerns, dropping the least recently used. Never: reading rows
//! (`corpora` does).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::{AppId, Doc, DocId, Message, Owner, Scope, SessionKey};
use parking_lot::Mutex;

use super::hot::{AcceptedMessages, Hot, RowsChange};

/// The cached owners.
#[derive(Debug)]
pub(crate) struct CorpusCache {
    slots: Mutex<Slots>,
    bytes_max: usize,
}

#[derive(Debug, Default)]
struct Slots {
    scopes: BTreeMap<Scope, BTreeMap<Owner, Slot>>,
    on_their_way: BTreeMap<(Scope, Owner), Vec<OnTheirWay>>,
    /// Counts uses; the slot with the lowest count is the least recently used.
    uses: u64,
    /// Number of times that owners were dropped because their rows were outdated.
    letting_go: u64,
}

#[derive(Debug)]
struct Slot {
    hot: Arc<Hot>,
    used: u64,
}

/// A point in time, to detect whether owners were dropped since.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ticket(u64);

/// Rows of one owner between the vault and the index.
pub(crate) type OnTheirWay = Arc<[Doc]>;

impl CorpusCache {
    pub(crate) fn new(bytes_max: usize) -> Self {
        Self {
            slots: Mutex::default(),
            bytes_max,
        }
    }

    /// The present position; taken before a message is accepted, and passed on with the message.
    pub(crate) fn ticket(&self) -> Ticket {
        Ticket(self.slots.lock().letting_go)
    }

    /// Whether a cached owner needs the messages of a session.
    pub(crate) fn concerns(&self, session: &SessionKey, speakers: &BTreeSet<Owner>) -> bool {
        let mut hots = self.of_scope(&session.scope).into_iter();
        hots.any(|hot| speakers.contains(hot.owner()) || hot.knows(&session.session))
    }

    /// Adds accepted messages to the cached owners.
    pub(crate) fn add(&self, ticket: Ticket, added: &Arc<AcceptedMessages>) {
        let scope = &added.session.scope;
        if self.ticket() != ticket {
            // Only the ledger knows whether the messages were deleted meanwhile, so it is read again.
            self.slots.lock().scopes.remove(scope);
            return;
        }
        for hot in self.of_scope(scope) {
            if !hot.change(RowsChange::Buffered(added.clone())) {
                self.drop_slot(scope, &hot);
            }
        }
    }

    /// Removes the buffered messages of a written segment from the cached owners.
    pub(crate) fn unbuffer(&self, session: &SessionKey, messages: &[Message]) {
        let ids = messages.iter().map(|message| message.id.as_str().into());
        let ids: Arc<[DocId]> = ids.collect();
        for hot in self.of_scope(&session.scope) {
            hot.change(RowsChange::Unbuffered(ids.clone()));
        }
    }

    /// Applies an owner's new and removed rows of the index.
    pub(crate) fn rows(&self, scope: &Scope, owner: &Owner, add: Vec<Doc>, remove: Vec<DocId>) {
        // The project's owner first: a load of the facts of all projects that begins meanwhile takes the rows from it.
        if let Some(hot) = self.at_hand(scope, owner) {
            let (add, remove) = (add.clone(), remove.clone());
            hot.change(RowsChange::Rows { add, remove });
        }
        if let Some(hot) = self.at_hand(&Scope::all_projects(&scope.app), owner) {
            let changed = add.iter().map(|doc| doc.key.id.clone());
            hot.change(RowsChange::Rows {
                remove: remove.into_iter().chain(changed).collect(),
                add: add.into_iter().filter(Doc::holds_everywhere).collect(),
            });
        }
    }

    /// Shows rows to their owner before they are in the index, also to an owner that loads in the meantime.
    pub(crate) fn show(&self, scope: &Scope, owner: &Owner, rows: &OnTheirWay) {
        let key = (scope.clone(), owner.clone());
        let mut slots = self.slots.lock();
        slots.on_their_way.entry(key).or_default().push(rows.clone());
        drop(slots);
        self.rows(scope, owner, rows.to_vec(), Vec::new());
    }

    /// The rows are in the index now, or will never be.
    pub(crate) fn arrived(&self, scope: &Scope, owner: &Owner, rows: &OnTheirWay) {
        let key = (scope.clone(), owner.clone());
        let mut slots = self.slots.lock();
        if let Some(waiting) = slots.on_their_way.get_mut(&key) {
            waiting.retain(|other| !Arc::ptr_eq(other, rows));
            if waiting.is_empty() {
                slots.on_their_way.remove(&key);
            }
        }
    }

    /// Rows of a scope, or of all projects, that are not in the index yet.
    pub(super) fn on_their_way(&self, scope: &Scope, owner: &Owner) -> Vec<OnTheirWay> {
        let everywhere = Scope::all_projects(&scope.app);
        let concerns = |of: &Scope| of == scope || (*scope == everywhere && of.app == scope.app);
        let slots = self.slots.lock();
        let waiting = slots.on_their_way.iter();
        let theirs = waiting.filter(|((of, whose), _)| concerns(of) && whose == owner);
        theirs.flat_map(|(_, rows)| rows.iter().cloned()).collect()
    }

    pub(super) fn at_hand(&self, scope: &Scope, owner: &Owner) -> Option<Arc<Hot>> {
        let slots = self.slots.lock();
        let slot = slots.scopes.get(scope)?.get(owner)?;
        Some(slot.hot.clone())
    }

    /// Whether an owner is cached or loading.
    pub(crate) fn is_hot(&self, scope: &Scope, owner: &Owner) -> bool {
        self.at_hand(scope, owner).is_some()
    }

    /// Drops all owners of a scope: their rows are outdated.
    pub(crate) fn let_go(&self, scope: &Scope) {
        let mut slots = self.slots.lock();
        slots.letting_go += 1;
        slots.scopes.remove(scope);
        slots.scopes.remove(&Scope::all_projects(&scope.app));
    }

    /// Drops the facts of all projects of an app: a load before the record of a file was written missed its facts.
    pub(crate) fn let_all_projects_go(&self, app: &AppId) {
        self.slots.lock().scopes.remove(&Scope::all_projects(app));
    }

    /// Drops all owners.
    pub(crate) fn let_all_go(&self) {
        let mut slots = self.slots.lock();
        slots.letting_go += 1;
        slots.scopes.clear();
    }

    pub(super) fn slot(&self, scope: &Scope, owner: &Owner) -> Arc<Hot> {
        let mut slots = self.slots.lock();
        slots.uses += 1;
        let used = slots.uses;
        let owners = slots.scopes.entry(scope.clone()).or_default();
        let slot = owners.entry(owner.clone()).or_insert_with(|| Slot {
            hot: Arc::new(Hot::new(owner.clone())),
            used,
        });
        slot.used = used;
        slot.hot.clone()
    }

    pub(super) fn is_current(&self, scope: &Scope, hot: &Arc<Hot>) -> bool {
        let slots = self.slots.lock();
        let slot = slots.scopes.get(scope).and_then(|owners| owners.get(hot.owner()));
        slot.is_some_and(|slot| Arc::ptr_eq(&slot.hot, hot))
    }

    fn drop_slot(&self, scope: &Scope, hot: &Arc<Hot>) {
        if self.is_current(scope, hot)
            && let Some(owners) = self.slots.lock().scopes.get_mut(scope)
        {
            owners.remove(hot.owner());
        }
    }

    /// Drops the least recently used owners until the rest fits; never the one in use.
    pub(super) fn shrink(&self, in_use: &Arc<Hot>) {
        let mut slots = self.slots.lock();
        let all = slots.scopes.values().flat_map(BTreeMap::values);
        let mut bytes: usize = all.map(|slot| slot.hot.bytes()).sum();
        while bytes > self.bytes_max {
            let all = slots
                .scopes
                .iter()
                .flat_map(|(scope, owners)| owners.iter().map(move |one| (scope, one)));
            // A slot without a size is loading, and its caller waits for it.
            let idle = all.filter(|(_, (_, slot))| slot.hot.bytes() > 0 && !Arc::ptr_eq(&slot.hot, in_use));
            let oldest = idle.min_by_key(|(_, (_, slot))| slot.used);
            let Some((scope, owner)) = oldest.map(|(scope, (owner, _))| (scope.clone(), owner.clone()))
            else {
                return;
            };
            if let Some(slot) = slots
                .scopes
                .get_mut(&scope)
                .and_then(|owners| owners.remove(&owner))
            {
                bytes -= slot.hot.bytes().min(bytes);
            }
        }
    }

    fn of_scope(&self, scope: &Scope) -> Vec<Arc<Hot>> {
        let slots = self.slots.lock();
        let owners = slots.scopes.get(scope).into_iter().flatten();
        owners.map(|(_, slot)| slot.hot.clone()).collect()
    }
}

#[cfg(test)]
mod tests;
