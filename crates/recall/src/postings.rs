//! The inverted index of one kind of rows.
//!
//! Owns: the rows with a term and its frequency in each, and the sums that BM25 needs. Never:
//! weights of terms.

use crate::lexicon::Term;

/// A row's place in the corpus.
pub(crate) type Slot = u32;

/// Higher slots do not fit into a posting.
pub(crate) const SLOTS_MAX: u32 = 1 << (u32::BITS - PackedPosting::COUNT_BITS);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Posting {
    pub(crate) slot: Slot,
    pub(crate) count: u16,
}

#[derive(Debug, Default)]
pub(crate) struct Postings {
    /// By term, each in order of slot.
    lists: Vec<Vec<PackedPosting>>,
    rows: usize,
    words: u64,
}

/// A posting in four bytes: there is one for nearly every word of an owner.
#[derive(Debug, Clone, Copy)]
struct PackedPosting(u32);

impl PackedPosting {
    const COUNT_BITS: u32 = u8::BITS;

    /// A byte is enough: more repetitions do not change the rank.
    fn new(slot: Slot, count: u16) -> Self {
        let count = u8::try_from(count).unwrap_or(u8::MAX);
        Self(slot << Self::COUNT_BITS | u32::from(count))
    }

    fn slot(self) -> Slot {
        self.0 >> Self::COUNT_BITS
    }

    fn posting(self) -> Posting {
        let [count, ..] = self.0.to_le_bytes();
        Posting {
            slot: self.slot(),
            count: u16::from(count),
        }
    }
}

impl Postings {
    pub(crate) fn add(&mut self, slot: Slot, counts: &[(Term, u16)], words: u32) {
        for (term, count) in counts {
            let at = *term as usize;
            if self.lists.len() <= at {
                self.lists.resize_with(at + 1, Vec::new);
            }
            let list = &mut self.lists[at];
            if list.len() == list.capacity() {
                // Doubling would leave a third of all lists unused.
                list.reserve_exact(1 + list.len() / 4);
            }
            let place = list.partition_point(|posting| posting.slot() < slot);
            list.insert(place, PackedPosting::new(slot, *count));
        }
        self.rows += 1;
        self.words += u64::from(words);
    }

    /// Removes a row that was added with these terms.
    pub(crate) fn remove(&mut self, slot: Slot, counts: &[(Term, u16)], words: u32) {
        for (term, _) in counts {
            let list = &mut self.lists[*term as usize];
            let place = list.partition_point(|posting| posting.slot() < slot);
            list.remove(place);
        }
        self.rows -= 1;
        self.words -= u64::from(words);
    }

    pub(crate) fn of(&self, term: Term) -> impl ExactSizeIterator<Item = Posting> {
        self.list(term).iter().map(|packed| packed.posting())
    }

    /// Whether a row has a term.
    pub(crate) fn has(&self, term: Term, slot: Slot) -> bool {
        let list = self.list(term);
        list.binary_search_by_key(&slot, |posting| posting.slot()).is_ok()
    }

    fn list(&self, term: Term) -> &[PackedPosting] {
        self.lists.get(term as usize).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// Number of words of all rows.
    pub(crate) fn words(&self) -> u64 {
        self.words
    }

    /// Mean number of words of a row; never 0.
    pub(crate) fn words_mean(&self) -> f32 {
        (self.words as f32 / self.rows.max(1) as f32).max(1.0)
    }

    pub(crate) fn bytes(&self) -> usize {
        let heads = self.lists.capacity() * size_of::<Vec<PackedPosting>>();
        let lists = self
            .lists
            .iter()
            .map(|list| allocated::<PackedPosting>(list.capacity()));
        heads + lists.sum::<usize>()
    }
}

/// Memory in bytes for `count` items, with the allocator's overhead and rounding.
pub(crate) fn allocated<T>(count: usize) -> usize {
    const STEP: usize = 16;
    match count * size_of::<T>() {
        0 => 0,
        bytes => (bytes + size_of::<usize>()).next_multiple_of(STEP),
    }
}

/// Slots, each once.
#[derive(Debug)]
pub(crate) struct SlotSet {
    /// By slot.
    has: Vec<bool>,
    slots: Vec<Slot>,
}

impl SlotSet {
    /// A set of slots below an end.
    pub(crate) fn new(end: usize, slots: impl IntoIterator<Item = Slot>) -> Self {
        let mut set = Self {
            has: vec![false; end],
            slots: Vec::new(),
        };
        set.extend(slots);
        set
    }

    /// Whether the slot is new.
    pub(crate) fn insert(&mut self, slot: Slot) -> bool {
        let is_new = !std::mem::replace(&mut self.has[slot as usize], true);
        if is_new {
            self.slots.push(slot);
        }
        is_new
    }

    pub(crate) fn extend(&mut self, slots: impl IntoIterator<Item = Slot>) {
        for slot in slots {
            self.insert(slot);
        }
    }

    pub(crate) fn has(&self, slot: Slot) -> bool {
        self.has[slot as usize]
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Slot> {
        self.slots.iter().copied()
    }
}

#[cfg(test)]
mod tests;
