//! The inverted index of one kind of rows.
//!
//! Owns: which rows have a term and how often, and the sums that BM25 needs. Never: weights of terms.

use crate::lexicon::Term;

/// A row's place in the corpus.
pub(crate) type Slot = u32;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Posting {
    pub(crate) slot: Slot,
    pub(crate) count: u16,
}

#[derive(Debug, Default)]
pub(crate) struct Postings {
    /// By term, each in order of slot.
    lists: Vec<Vec<Posting>>,
    rows: usize,
    words: u64,
}

impl Postings {
    pub(crate) fn add(&mut self, slot: Slot, counts: &[(Term, u16)], words: u32) {
        for (term, count) in counts {
            let at = *term as usize;
            if self.lists.len() <= at {
                self.lists.resize_with(at + 1, Vec::new);
            }
            let list = &mut self.lists[at];
            let place = list.partition_point(|posting| posting.slot < slot);
            list.insert(place, Posting { slot, count: *count });
        }
        self.rows += 1;
        self.words += u64::from(words);
    }

    pub(crate) fn remove(&mut self, slot: Slot, counts: &[(Term, u16)], words: u32) {
        for (term, _) in counts {
            let list = &mut self.lists[*term as usize];
            let place = list.partition_point(|posting| posting.slot < slot);
            list.remove(place);
        }
        self.rows -= 1;
        self.words -= u64::from(words);
    }

    pub(crate) fn of(&self, term: Term) -> &[Posting] {
        self.lists.get(term as usize).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// How many words a row has on average; never 0.
    pub(crate) fn words_mean(&self) -> f32 {
        (self.words as f32 / self.rows.max(1) as f32).max(1.0)
    }

    pub(crate) fn bytes(&self) -> usize {
        let heads = self.lists.capacity() * size_of::<Vec<Posting>>();
        let lists: usize = self.lists.iter().map(Vec::capacity).sum();
        heads + lists * size_of::<Posting>()
    }
}
