//! The cached owners, and the changes of their rows.
//!
//! Owns: passing each change to the owners that it concerns, dropping the least recently used. Never: reading rows
//! (`corpora` does).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use model::{AppId, Doc, DocId, Message, Owner, Scope, SessionId, SessionKey};
use parking_lot::Mutex;

use super::hot::{AcceptedMessages, CachedPart, Hot, RowsChange, speaks_in};

/// The part of the cache that is dropped at once: one in so many bytes.
const DROPPED_PART: usize = 8;

/// The cached owners.
#[derive(Debug)]
pub(crate) struct CorpusCache {
    slots: Mutex<Slots>,
    /// Estimated size of the rows of all owners, in bytes.
    bytes: Arc<AtomicUsize>,
    bytes_max: usize,
}

#[derive(Debug, Default)]
struct Slots {
    scopes: BTreeMap<Scope, ScopeSlots>,
    on_their_way: BTreeMap<(Scope, Owner), Vec<OnTheirWay>>,
    /// Counts uses; the slot with the lowest count is the least recently used.
    uses: u64,
    /// Number of times that owners were dropped because their rows were outdated.
    letting_go: u64,
}

/// The cached owners of one scope.
#[derive(Debug, Default)]
struct ScopeSlots {
    owners: BTreeMap<Owner, Slot>,
    /// The owners that speak in a session, so that a message is no work for the others.
    speakers: BTreeMap<SessionId, BTreeSet<Owner>>,
    /// Owners of which nobody knows the sessions yet, since their rows load.
    loading: BTreeSet<Owner>,
    /// Owners that had more rows than the cache takes.
    large: BTreeSet<Owner>,
}

#[derive(Debug)]
struct Slot {
    hot: Arc<Hot>,
    used: u64,
    /// The sessions that have the owner as a speaker.
    sessions: BTreeSet<SessionId>,
}

impl ScopeSlots {
    fn get(&self, owner: &Owner) -> Option<Arc<Hot>> {
        Some(self.owners.get(owner)?.hot.clone())
    }

    fn remove(&mut self, owner: &Owner) {
        let slot = self.owners.remove(owner);
        self.loading.remove(owner);
        for session in slot.into_iter().flat_map(|slot| slot.sessions) {
            if let Some(speakers) = self.speakers.get_mut(&session) {
                speakers.remove(owner);
                if speakers.is_empty() {
                    self.speakers.remove(&session);
                }
            }
        }
    }

    fn add_speaker(&mut self, owner: &Owner, sessions: impl IntoIterator<Item = SessionId>) {
        let Some(slot) = self.owners.get_mut(owner) else {
            return;
        };
        for session in sessions {
            if slot.sessions.insert(session.clone()) {
                self.speakers.entry(session).or_default().insert(owner.clone());
            }
        }
    }

    /// The owners whose rows messages of a session concern: its speakers, these too, and all that load.
    fn concerned(&mut self, session: &SessionId, speakers: &BTreeSet<Owner>) -> Vec<Arc<Hot>> {
        let loaded = |owner: &Owner| Some((owner.clone(), self.owners.get(owner)?.hot.sessions()?.clone()));
        let loaded: Vec<(Owner, BTreeSet<SessionId>)> = self.loading.iter().filter_map(loaded).collect();
        for (owner, sessions) in loaded {
            self.loading.remove(&owner);
            self.add_speaker(&owner, sessions);
        }
        let of_session = self.speakers.get(session).into_iter().flatten();
        let owners: BTreeSet<&Owner> = of_session.chain(speakers).chain(&self.loading).collect();
        let owners = owners.into_iter().filter_map(|owner| self.get(owner));
        owners.filter(|hot| hot.has_rows()).collect()
    }
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
            bytes: Arc::default(),
            bytes_max,
        }
    }

    /// The present position; taken before a message is accepted, and passed on with the message.
    pub(crate) fn ticket(&self) -> Ticket {
        Ticket(self.slots.lock().letting_go)
    }

    /// Whether a write may load an owner's rows: up to three quarters, less than is left after some were dropped.
    pub(super) fn has_room(&self) -> bool {
        self.bytes.load(Ordering::Relaxed) / 3 < self.bytes_max / 4
    }

    /// Whether a cached owner needs the messages of a session.
    pub(crate) fn concerns(&self, session: &SessionKey, speakers: &BTreeSet<Owner>) -> bool {
        !self.concerned(session, speakers).is_empty()
    }

    /// Adds accepted messages to the cached owners.
    pub(crate) fn add(&self, ticket: Ticket, added: &Arc<AcceptedMessages>) {
        let scope = &added.session.scope;
        if self.ticket() != ticket {
            // Only the ledger knows whether the messages were deleted meanwhile, so it is read again.
            self.slots.lock().scopes.remove(scope);
            return;
        }
        for hot in self.concerned(&added.session, &added.speakers) {
            if added.speakers.contains(hot.owner()) {
                self.add_speaker(scope, hot.owner(), [added.session.session.clone()]);
            }
            if !hot.change(RowsChange::Buffered(added.clone())) {
                self.drop_slot(scope, &hot, false);
            }
        }
    }

    /// Removes the buffered messages of a written segment from the cached owners.
    pub(crate) fn unbuffer(&self, session: &SessionKey, messages: &[Message]) {
        let ids = messages.iter().map(|message| message.id.as_str().into());
        let ids: Arc<[DocId]> = ids.collect();
        for hot in self.concerned(session, &BTreeSet::new()) {
            hot.change(RowsChange::Unbuffered(ids.clone()));
        }
    }

    /// Applies an owner's new and removed rows of the index.
    pub(crate) fn rows(&self, scope: &Scope, owner: &Owner, add: &[Doc], remove: &[DocId]) {
        // The project's owner first: a load of the facts of all projects that begins meanwhile takes the rows from it.
        if let Some(hot) = self.at_hand(scope, owner) {
            if hot.has_rows() {
                self.add_speaker(scope, owner, add.iter().filter_map(|doc| speaks_in(owner, doc)));
            }
            let kept = add.iter().filter(|doc| hot.has_rows() || doc.is_fact());
            hot.change(RowsChange::Rows {
                remove: remove.to_vec(),
                add: kept.cloned().collect(),
            });
        }
        if let Some(hot) = self.at_hand(&Scope::all_projects(&scope.app), owner) {
            let changed = add.iter().map(|doc| &doc.key.id);
            let kept = add.iter().filter(|doc| doc.holds_everywhere());
            hot.change(RowsChange::Rows {
                remove: remove.iter().chain(changed).cloned().collect(),
                add: kept.cloned().collect(),
            });
        }
    }

    /// Shows rows to their owner before they are in the index, also to an owner that loads in the meantime.
    pub(crate) fn show(&self, scope: &Scope, owner: &Owner, rows: &OnTheirWay) {
        let key = (scope.clone(), owner.clone());
        let mut slots = self.slots.lock();
        slots.on_their_way.entry(key).or_default().push(rows.clone());
        drop(slots);
        self.rows(scope, owner, rows, &[]);
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
        slots.scopes.get(scope)?.get(owner)
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

    /// That part of an owner, to be loaded if it is new; none if the rows were too many. All rows stand for the facts
    /// too, and take their place.
    pub(super) fn slot(&self, scope: &Scope, owner: &Owner, part: CachedPart) -> Option<Arc<Hot>> {
        let mut slots = self.slots.lock();
        slots.uses += 1;
        let used = slots.uses;
        let of_scope = slots.scopes.entry(scope.clone()).or_default();
        let needs_rows = part == CachedPart::Rows;
        if needs_rows && of_scope.large.contains(owner) {
            return None;
        }
        if needs_rows && of_scope.get(owner).is_some_and(|hot| !hot.has_rows()) {
            of_scope.remove(owner);
        }
        let ScopeSlots { owners, loading, .. } = of_scope;
        let slot = owners.entry(owner.clone()).or_insert_with(|| {
            loading.extend(needs_rows.then(|| owner.clone()));
            Slot {
                hot: Arc::new(Hot::new(owner.clone(), part, self.bytes.clone())),
                used,
                sessions: BTreeSet::new(),
            }
        });
        slot.used = used;
        Some(slot.hot.clone())
    }

    pub(super) fn is_current(&self, scope: &Scope, hot: &Arc<Hot>) -> bool {
        let slots = self.slots.lock();
        let cached = slots.scopes.get(scope).and_then(|owners| owners.get(hot.owner()));
        cached.is_some_and(|cached| Arc::ptr_eq(&cached, hot))
    }

    /// Drops an owner; if it has too many rows, it is remembered until the scope is dropped.
    pub(super) fn drop_slot(&self, scope: &Scope, hot: &Arc<Hot>, is_large: bool) {
        if self.is_current(scope, hot)
            && let Some(of_scope) = self.slots.lock().scopes.get_mut(scope)
        {
            of_scope.remove(hot.owner());
            of_scope.large.extend(is_large.then(|| hot.owner().clone()));
        }
    }

    /// Drops the least recently used owners if all together are too large, a part of them at once, since each is looked
    /// at; never the one in use.
    pub(super) fn shrink(&self, in_use: &Arc<Hot>) {
        if self.bytes.load(Ordering::Relaxed) <= self.bytes_max {
            return;
        }
        // The sum of the cached owners: owners that another caller drops are freed after the lock.
        let mut bytes = 0;
        // Lives longer than the lock: rows are freed without it.
        let mut idle = Vec::new();
        let mut slots = self.slots.lock();
        for (scope, of_scope) in &slots.scopes {
            for slot in of_scope.owners.values() {
                bytes += slot.hot.bytes();
                // A slot without a size is loading, and its caller waits for it.
                if slot.hot.bytes() > 0 && !Arc::ptr_eq(&slot.hot, in_use) {
                    idle.push((slot.used, scope.clone(), slot.hot.clone()));
                }
            }
        }
        if bytes <= self.bytes_max {
            return;
        }
        idle.sort_unstable_by_key(|(used, ..)| *used);
        for (_, scope, hot) in &idle {
            if bytes <= self.bytes_max - self.bytes_max / DROPPED_PART {
                return;
            }
            if let Some(of_scope) = slots.scopes.get_mut(scope) {
                of_scope.remove(hot.owner());
            }
            bytes = bytes.saturating_sub(hot.bytes());
        }
    }

    fn concerned(&self, session: &SessionKey, speakers: &BTreeSet<Owner>) -> Vec<Arc<Hot>> {
        let mut slots = self.slots.lock();
        let of_scope = slots.scopes.get_mut(&session.scope);
        of_scope.map_or_else(Vec::new, |of_scope| {
            of_scope.concerned(&session.session, speakers)
        })
    }

    fn add_speaker(&self, scope: &Scope, owner: &Owner, sessions: impl IntoIterator<Item = SessionId>) {
        if let Some(of_scope) = self.slots.lock().scopes.get_mut(scope) {
            of_scope.add_speaker(owner, sessions);
        }
    }
}

#[cfg(test)]
mod tests;
