//! The slots of a server that has several: each keeps one conversation.
//!
//! Owns: the choice of a slot, keeping conversations in their slots. Never: whether a server accepts a slot's number
//! (`outgoing`).

use std::sync::atomic::Ordering;

use ports::Probed;
use prefix::backend::Kind;

use crate::proxy::Proxy;
use crate::target::{SlotHolder, Target};

/// Number of turns for each slot after which the slot of an unused conversation goes to another.
const QUIET_TURNS: u64 = 4;

impl Target {
    /// The slot of a conversation, if the server has several: a server that chooses by itself would put two
    /// conversations with the same beginning into one. None if more conversations are active than there are slots.
    ///
    /// A conversation that branched off another (`left`) takes the other's slot, which holds their common beginning. If
    /// the other continues anyway, its requests name no slot: the server then finds the slot with the same beginning,
    /// and a slot of its own would be empty.
    pub(crate) fn slot(&self, probed: &Probed, conversation: &str, left: Option<&str>) -> Option<u32> {
        let count = probed.slots.filter(|count| *count > 1)?;
        let turn = self.turns.load(Ordering::Relaxed);
        let mut slots = self.slots.lock();
        let of = |name: &str| {
            let mut entry = slots.iter().filter(|(_, entry)| entry.conversation == name);
            entry.next().map(|(slot, _)| *slot)
        };
        let mine = of(conversation).filter(|slot| *slot < count);
        let inherited = left.and_then(of);
        let was_left = || {
            slots
                .values()
                .any(|entry| entry.left.as_deref() == Some(conversation))
        };
        if mine.is_none() && inherited.is_none() && was_left() {
            return None;
        }
        let free = || (0..count).find(|slot| !slots.contains_key(slot));
        let quiet = || {
            let (slot, entry) = slots.iter().min_by_key(|(_, entry)| entry.last)?;
            (turn.saturating_sub(entry.last) > QUIET_TURNS * u64::from(count)).then_some(*slot)
        };
        let slot = mine.or(inherited).or_else(free).or_else(quiet)?;
        let before = slots.remove(&slot);
        let left = match before {
            Some(before) if before.conversation == conversation => before.left,
            Some(before) => inherited.map(|_| before.conversation),
            None => None,
        };
        let entry = SlotHolder {
            conversation: conversation.to_owned(),
            last: turn,
            left,
        };
        slots.insert(slot, entry);
        Some(slot)
    }

    /// A slot that no conversation has, if requests to the server name slots.
    pub(crate) fn spare_slot(&self, probed: &Probed) -> Option<u32> {
        let count = probed.slots.filter(|count| *count > 1)?;
        let is_named = self.kind(probed) == Kind::LlamaCpp && self.names_slots();
        let slots = self.slots.lock();
        (0..count)
            .rev()
            .find(|slot| is_named && !slots.contains_key(slot))
    }

    /// The slot of a conversation, if requests to the server name it.
    pub(crate) fn slot_of(&self, conversation: &str) -> Option<u32> {
        let slots = self.slots.lock();
        let mine = slots.iter().find(|(_, entry)| entry.conversation == conversation);
        mine.map(|(slot, _)| *slot).filter(|_| self.names_slots())
    }
}

impl Proxy {
    /// Keeps the slot that a conversation had before a restart, unless another has it now.
    pub(crate) fn keep_slot(&self, server: &str, slot: u32, conversation: &str) {
        let is_it = |target: &&Target| target.route.upstream.base_url() == server;
        for target in self.targets.iter().filter(is_it) {
            let mut slots = target.slots.lock();
            if slots.contains_key(&slot) || slots.values().any(|entry| entry.conversation == conversation) {
                continue;
            }
            let entry = SlotHolder {
                conversation: conversation.to_owned(),
                last: target.turns.load(Ordering::Relaxed),
                left: None,
            };
            slots.insert(slot, entry);
        }
    }
}
