//! The rows of recently used owners, at hand and always true.
//!
//! Owns: which owners are at hand, loading them once, letting the least recently used go. Never: ranking (`recall`).
//!
//! Nothing is lost between a load and what is written meanwhile: an owner is registered before its rows are read, and
//! from then on every change is told to it, changes that come during the load being kept and put on top. A change is
//! told after it is durable, so a load that begins later reads it. What is told before, a load is given. What is not a plain change (forgetting, a new
//! index) lets owners go instead, and a load that was under way then is thrown away.

mod hot;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use model::{Doc, DocId, Message, Owner, Scope, SessionId, SessionKey};

use hot::Change;
pub(crate) use hot::{Hot, Said, buffered_rows, corpus_of};

use crate::api::EngineError;
use crate::world::World;

/// How often a load that was overtaken is repeated before its rows are used all the same.
const LOADS_MAX: usize = 16;

/// The owners at hand.
#[derive(Debug)]
pub(crate) struct Corpora {
    slots: Mutex<Slots>,
    bytes_max: usize,
}

#[derive(Debug, Default)]
struct Slots {
    scopes: BTreeMap<Scope, BTreeMap<Owner, Slot>>,
    on_their_way: BTreeMap<(Scope, Owner), Vec<OnTheirWay>>,
    /// Counts uses; the slot with the lowest count is the least recently used.
    uses: u64,
    /// Counts how often owners were let go because their rows were no longer true.
    letting_go: u64,
}

#[derive(Debug)]
struct Slot {
    hot: Arc<Hot>,
    used: u64,
}

/// A place in time: whether owners were let go since.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ticket(u64);

/// Rows of one owner between the vault and the index.
pub(crate) type OnTheirWay = Arc<[Doc]>;

/// An owner's rows, or that they are too many to be kept at hand.
#[derive(Debug)]
pub(crate) enum View {
    Hot(Arc<Hot>),
    Large,
}

impl Corpora {
    pub(crate) fn new(bytes_max: usize) -> Self {
        Self {
            slots: Mutex::default(),
            bytes_max,
        }
    }

    /// An owner's rows, loaded if they are not at hand.
    pub(crate) async fn view(
        &self,
        world: &World,
        scope: &Scope,
        owner: &Owner,
    ) -> Result<View, EngineError> {
        if !self.is_hot(scope, owner) {
            let rows = world.parts.index.count(scope, owner).await?;
            if rows > world.settings.hot_rows_max {
                return Ok(View::Large);
            }
        }
        let mut loads = 0;
        loop {
            let hot = self.slot(scope, owner);
            hot.loaded(world, scope).await?;
            loads += 1;
            if self.is_current(scope, &hot) || loads == LOADS_MAX {
                self.shrink(&hot);
                return Ok(View::Hot(hot));
            }
        }
    }

    /// Where we are now; taken before a message is accepted, shown when it is told.
    pub(crate) fn ticket(&self) -> Ticket {
        Ticket(self.slots().letting_go)
    }

    /// Whether anybody at hand wants to hear of messages in a session.
    pub(crate) fn concerns(&self, session: &SessionKey, speakers: &BTreeSet<Owner>) -> bool {
        let mut hots = self.of_scope(&session.scope).into_iter();
        hots.any(|hot| speakers.contains(hot.owner()) || hot.knows(&session.session))
    }

    /// Tells of accepted messages.
    pub(crate) fn said(&self, ticket: Ticket, said: &Arc<Said>) {
        let scope = &said.session.scope;
        if self.ticket() != ticket {
            // Whether the messages were forgotten meanwhile only the ledger knows: it is read again.
            self.slots().scopes.remove(scope);
            return;
        }
        for hot in self.of_scope(scope) {
            if !hot.change(Change::Said(said.clone())) {
                self.drop_slot(scope, &hot);
            }
        }
    }

    /// Tells that a memcell was written: what of it is a bare message still, nobody has any more.
    pub(crate) fn told(&self, session: &SessionKey, messages: &[Message]) {
        let ids: Arc<[DocId]> = messages
            .iter()
            .map(|message| message.id.as_str().into())
            .collect();
        for hot in self.of_scope(&session.scope) {
            hot.change(Change::Unsaid(ids.clone()));
        }
    }

    /// Tells an owner of rows that came and went in the index.
    pub(crate) fn rows(&self, scope: &Scope, owner: &Owner, add: Vec<Doc>, remove: Vec<DocId>) {
        if let Some(hot) = self.at_hand(scope, owner) {
            hot.change(Change::Rows { add, remove });
        }
    }

    /// Shows rows to their owner that are still on their way into the index; whoever is loaded meanwhile has them too.
    pub(crate) fn show(&self, scope: &Scope, owner: &Owner, rows: &OnTheirWay) {
        let key = (scope.clone(), owner.clone());
        self.slots()
            .on_their_way
            .entry(key)
            .or_default()
            .push(rows.clone());
        self.rows(scope, owner, rows.to_vec(), Vec::new());
    }

    /// Those rows have arrived, or never will.
    pub(crate) fn arrived(&self, scope: &Scope, owner: &Owner, rows: &OnTheirWay) {
        let key = (scope.clone(), owner.clone());
        let mut slots = self.slots();
        if let Some(waiting) = slots.on_their_way.get_mut(&key) {
            waiting.retain(|other| !Arc::ptr_eq(other, rows));
            if waiting.is_empty() {
                slots.on_their_way.remove(&key);
            }
        }
    }

    fn on_their_way(&self, scope: &Scope, owner: &Owner) -> Vec<OnTheirWay> {
        let key = (scope.clone(), owner.clone());
        self.slots().on_their_way.get(&key).cloned().unwrap_or_default()
    }

    fn at_hand(&self, scope: &Scope, owner: &Owner) -> Option<Arc<Hot>> {
        let slots = self.slots();
        let slot = slots.scopes.get(scope)?.get(owner)?;
        Some(slot.hot.clone())
    }

    /// Whether an owner is at hand or on its way.
    pub(crate) fn is_hot(&self, scope: &Scope, owner: &Owner) -> bool {
        self.at_hand(scope, owner).is_some()
    }

    /// Lets everyone of a scope go: what they have is no longer true.
    pub(crate) fn let_go(&self, scope: &Scope) {
        let mut slots = self.slots();
        slots.letting_go += 1;
        slots.scopes.remove(scope);
    }

    /// Lets everyone go.
    pub(crate) fn let_all_go(&self) {
        let mut slots = self.slots();
        slots.letting_go += 1;
        slots.scopes.clear();
    }

    fn slot(&self, scope: &Scope, owner: &Owner) -> Arc<Hot> {
        let mut slots = self.slots();
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

    fn is_current(&self, scope: &Scope, hot: &Arc<Hot>) -> bool {
        let slots = self.slots();
        let slot = slots.scopes.get(scope).and_then(|owners| owners.get(hot.owner()));
        slot.is_some_and(|slot| Arc::ptr_eq(&slot.hot, hot))
    }

    fn drop_slot(&self, scope: &Scope, hot: &Arc<Hot>) {
        if self.is_current(scope, hot)
            && let Some(owners) = self.slots().scopes.get_mut(scope)
        {
            owners.remove(hot.owner());
        }
    }

    /// Lets the least recently used go until the rest fits; never the one in use.
    fn shrink(&self, in_use: &Arc<Hot>) {
        let mut slots = self.slots();
        let mut bytes: usize = slots
            .scopes
            .values()
            .flat_map(BTreeMap::values)
            .map(|slot| slot.hot.bytes())
            .sum();
        while bytes > self.bytes_max {
            let all = slots
                .scopes
                .iter()
                .flat_map(|(scope, owners)| owners.iter().map(move |one| (scope, one)));
            // A slot without a size is being loaded by someone who waits for it.
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
        let slots = self.slots();
        let owners = slots.scopes.get(scope).into_iter().flatten();
        owners.map(|(_, slot)| slot.hot.clone()).collect()
    }

    fn slots(&self) -> MutexGuard<'_, Slots> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The sessions in which an owner speaks, as its rows show it.
fn speaks_in(owner: &Owner, doc: &Doc) -> Option<SessionId> {
    let is_own = owner.kind == model::OwnerKind::User
        && doc.role == Some(model::Role::User)
        && doc.senders.contains(&owner.id);
    doc.session.clone().filter(|_| is_own)
}

#[cfg(test)]
mod tests;
