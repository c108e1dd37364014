//! Of many rows, those that can be among the best.
//!
//! Owns: which turns, facts and episodes have the most evidence of their own and beside them, and which rows belong to
//! them. Never: their strength (`fuse`), which is that in a ranking of all rows.

use crate::corpus::Corpus;
use crate::evidence::Evidence;
use crate::fuse::LENDING_FACTS;
use crate::lineup::Chosen;
use crate::postings::{Slot, SlotSet};
use crate::question::Question;
use crate::row::RowKind;
use crate::weights::Weights;

/// For each wanted hit, so many turns and episodes are chosen.
const CHOSEN_PER_HIT: usize = 3;
const CHOSEN_MIN: usize = 30;
/// Number of turns that are looked at together with their neighbours.
const LOOKED_AT: usize = 2_000;
/// What a turn's neighbours count, by their distance in turns.
const BESIDE: [f32; 3] = [0.8, 0.5, 0.3];

/// What the choice is made by.
pub(crate) struct Choice<'a> {
    pub(crate) corpus: &'a Corpus,
    pub(crate) evidence: &'a Evidence,
    pub(crate) question: &'a Question,
    pub(crate) weights: &'a Weights,
}

impl Choice<'_> {
    /// The rows with the most evidence, and all that takes part in their strength or is shown with them.
    pub(crate) fn rows(&self, wanted: usize) -> Chosen {
        let corpus = self.corpus;
        let count = (wanted * CHOSEN_PER_HIT).max(CHOSEN_MIN);
        let [turns, episodes, facts] = self.with_evidence([LOOKED_AT, count, LENDING_FACTS]);
        let mut best = Best::new(corpus, count);
        for slot in turns {
            best.add(self.beside(slot), slot);
        }
        let sources = facts.iter().flat_map(|fact| corpus.row(*fact).sources());
        let sources = sources.filter_map(|id| Some(corpus.find(id.as_str())?.0));
        let mut chosen = Chosen {
            turns: SlotSet::new(corpus.slots_end(), best.into_slots().into_iter().chain(sources)),
            entries: SlotSet::new(corpus.slots_end(), facts.iter().chain(&episodes).copied()),
        };
        chosen.add_episodes(corpus);
        chosen.add_kin(corpus);
        chosen.add_episodes(corpus);
        chosen
    }

    /// The rows with the most evidence of their own: so many turns, episodes and facts.
    fn with_evidence(&self, counts: [usize; 3]) -> [Vec<Slot>; 3] {
        let mut best = counts.map(|count| Best::new(self.corpus, count));
        for (slot, kind) in (0..).zip(&self.corpus.kinds) {
            if let Some(kind) = kind {
                best[*kind as usize].add(self.evidence.text(self.weights, slot), slot);
            }
        }
        best.map(Best::into_slots)
    }

    /// Evidence for a turn with that of its neighbours, its time and its speaker.
    fn beside(&self, slot: Slot) -> f32 {
        let turns = &self.corpus.turns;
        let word = |slot: Slot| self.evidence.keyword[slot as usize];
        let mut near = word(slot);
        let (mut before, mut after) = (turns.before(slot), turns.after(slot));
        for weight in BESIDE {
            near += weight * (before.map_or(0.0, word) + after.map_or(0.0, word));
            before = before.and_then(|slot| turns.before(slot));
            after = after.and_then(|slot| turns.after(slot));
        }
        let row = self.corpus.row(slot);
        self.evidence.text(self.weights, slot)
            + self.weights.near * near.min(1.0)
            + self.weights.sitting_vector * self.evidence.vector[slot as usize]
            + self.weights.time * self.question.time_fit(row).unwrap_or(0.0)
            + self.weights.speaker * self.question.speaker(row)
            + self.weights.reply * self.question.reply(row)
    }
}

impl Chosen {
    /// What superseded a chosen row, and what a chosen row superseded. Links are in order of age, so the last of a chain
    /// is reached.
    fn add_kin(&mut self, corpus: &Corpus) {
        let links = corpus.links();
        for link in links.iter() {
            let (old, new) = links.turns(link);
            let is_chosen = self.entries.has(link.old) || self.entries.has(link.new);
            if is_chosen || old.iter().chain(new).any(|turn| self.turns.has(*turn)) {
                self.entries.extend([link.old, link.new]);
                self.turns.extend(old.iter().chain(new).copied());
            }
        }
    }

    /// The episodes of chosen turns and facts, with all their turns and facts.
    fn add_episodes(&mut self, corpus: &Corpus) {
        let rows = self.turns.iter().chain(self.entries.iter());
        let episodes = rows.filter_map(|slot| Some(corpus.find(corpus.row(slot).episode()?)?.0));
        let episodes: Vec<Slot> = episodes.collect();
        self.entries.extend(episodes);
        let entries: Vec<Slot> = self.entries.iter().collect();
        for entry in entries {
            for child in corpus.children(&corpus.row(entry).id) {
                let is_turn = corpus.row(*child).kind == RowKind::Turn;
                let rows = if is_turn {
                    &mut self.turns
                } else {
                    &mut self.entries
                };
                rows.insert(*child);
            }
        }
    }
}

/// The best of the rows that are added one by one.
struct Best<'a> {
    corpus: &'a Corpus,
    count: usize,
    rows: Vec<(f32, Slot)>,
    /// Rows with less are not among the best; rows with nothing never are.
    floor: f32,
}

impl<'a> Best<'a> {
    fn new(corpus: &'a Corpus, count: usize) -> Self {
        Self {
            corpus,
            count,
            rows: Vec::new(),
            floor: f32::MIN_POSITIVE,
        }
    }

    fn add(&mut self, score: f32, slot: Slot) {
        if score < self.floor {
            return;
        }
        self.rows.push((score, slot));
        if self.rows.len() > 4 * self.count {
            self.cut();
        }
    }

    /// Leaves the best; of equals the newer one is better.
    fn cut(&mut self) {
        let order = |one: &(f32, Slot), other: &(f32, Slot)| {
            let (row, other_row) = (self.corpus.row(one.1), self.corpus.row(other.1));
            let times = || other_row.time.cmp(&row.time);
            let ids = || row.id.cmp(&other_row.id);
            other.0.total_cmp(&one.0).then_with(times).then_with(ids)
        };
        if self.count < self.rows.len() {
            let (_, last, _) = self.rows.select_nth_unstable_by(self.count - 1, order);
            self.floor = last.0;
            self.rows.truncate(self.count);
        }
    }

    fn into_slots(mut self) -> Vec<Slot> {
        self.cut();
        self.rows.into_iter().map(|(_, slot)| slot).collect()
    }
}

#[cfg(test)]
mod tests;
