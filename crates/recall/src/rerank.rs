//! A reranker's part in a ranking.
//!
//! Owns: the hits for a reranker, their passages, and the order by its scores. Invariants: no hit
//! passes its successor, and each place of the ranking keeps its score. Never: a model call.

use std::collections::BTreeMap;

use model::text::term_set;
use model::{Doc, Owner, Zone};

use crate::hit::{Hit, Ranking};
use crate::memory_lines::{sentences_for, speaker};

/// Maximum number of hits that a reranker reads.
pub const RERANKED_MAX: usize = 50;
/// Maximum length of a passage; of a longer text, it has the matching sentences.
const PASSAGE_CHARS_MAX: usize = 1_000;

/// A hit's place in a ranking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum HitPlace {
    Memory(usize),
    /// A fact of the memory at that place.
    Fact(usize, usize),
    Message(usize),
}

/// The best hits of a ranking, memories with their facts and messages together, as passages for a reranker.
#[derive(Debug)]
pub struct Shortlist {
    /// Best first.
    places: Vec<HitPlace>,
    /// In the order of the places.
    pub passages: Vec<String>,
}

impl Shortlist {
    /// The passages of a ranking; none if the question names only a time, since a passage's words
    /// do not match a time.
    pub fn of(ranking: &Ranking, question: &str, asker: &Owner, zone: &Zone) -> Self {
        let mut places: Vec<HitPlace> = Vec::new();
        if !ranking.open {
            for (at, memory) in ranking.memories.iter().enumerate() {
                places.push(HitPlace::Memory(at));
                places.extend((0..memory.facts.len()).map(|fact| HitPlace::Fact(at, fact)));
            }
            places.extend((0..ranking.messages.len()).map(HitPlace::Message));
        }
        places.sort_by(|a, b| b.hit(ranking).score.total_cmp(&a.hit(ranking).score));
        places.truncate(RERANKED_MAX);
        let asked = term_set(question);
        let passage = |place: &HitPlace| {
            let doc = &place.hit(ranking).doc;
            let said = sentences_for(&content(doc), &asked, PASSAGE_CHARS_MAX);
            let who = speaker(doc, asker).map_or_else(String::new, |name| format!(", {name}"));
            format!("{}{who}: {said}", zone.date(doc.time))
        };
        Self {
            passages: places.iter().map(passage).collect(),
            places,
        }
    }

    /// Orders the ranking by the passages' scores. Each place keeps the score of its former hit,
    /// because the scores of rerankers have no common scale. Hits beyond the passages stay in
    /// place.
    pub fn order(&self, ranking: &mut Ranking, scores: &[f32]) {
        let mut worth = scores.to_vec();
        // From the end, so that the successor of a successor is lifted too.
        for late in (0..self.places.len()).rev() {
            for early in 0..late {
                if must_precede(ranking, self.places[early], self.places[late]) {
                    worth[early] = worth[early].max(worth[late]);
                }
            }
        }
        let mut order: Vec<usize> = (0..self.places.len()).collect();
        order.sort_by(|a, b| worth[*b].total_cmp(&worth[*a]));
        let marks: Vec<f32> = self.places.iter().map(|place| place.hit(ranking).score).collect();
        let mut ranks = BTreeMap::new();
        for (rank, (from, mark)) in order.into_iter().zip(marks).enumerate() {
            let hit = self.places[from].hit_mut(ranking);
            hit.score = mark;
            hit.why.rerank = Some(scores[from]);
            ranks.insert(self.places[from], rank);
        }
        let rank = |place: HitPlace| ranks.get(&place).copied().unwrap_or(usize::MAX);
        for (at, memory) in ranking.memories.iter_mut().enumerate() {
            sort(&mut memory.facts, |fact| rank(HitPlace::Fact(at, fact)));
        }
        sort(&mut ranking.memories, |at| rank(HitPlace::Memory(at)));
        sort(&mut ranking.messages, |at| rank(HitPlace::Message(at)));
    }
}

impl HitPlace {
    fn hit(self, ranking: &Ranking) -> &Hit {
        match self {
            Self::Memory(at) => &ranking.memories[at],
            Self::Fact(at, fact) => &ranking.memories[at].facts[fact],
            Self::Message(at) => &ranking.messages[at],
        }
    }

    fn hit_mut(self, ranking: &mut Ranking) -> &mut Hit {
        match self {
            Self::Memory(at) => &mut ranking.memories[at],
            Self::Fact(at, fact) => &mut ranking.memories[at].facts[fact],
            Self::Message(at) => &mut ranking.messages[at],
        }
    }
}

/// Whether the better of two hits must stay before the other: as its successor, as the episode whose fact succeeds its
/// best fact, or as the memory of which it is a fact.
fn must_precede(ranking: &Ranking, early: HitPlace, late: HitPlace) -> bool {
    let (first, second) = (early.hit(ranking), late.hit(ranking));
    let succeeds = |newer: &Hit, older: &Hit| {
        let (new, old) = (&*newer.doc.key.id, &*older.doc.key.id);
        // In a chain of successors, `superseded_by` has the last one.
        let by_entry = older.superseded_by.as_ref().is_some_and(|last| {
            last.as_str() == new
                || newer.doc.supersedes.iter().any(|id| id.as_str() == old)
                || older
                    .doc
                    .superseded_by
                    .as_ref()
                    .is_some_and(|by| by.as_str() == new)
        });
        by_entry || older.later.as_deref() == Some(new)
    };
    match (early, late) {
        (HitPlace::Memory(memory), HitPlace::Fact(of, _)) if memory == of => true,
        (HitPlace::Memory(_), HitPlace::Memory(_)) => {
            let best = second.facts.first();
            let tells = best.is_some_and(|fact| first.facts.iter().any(|newer| succeeds(newer, fact)));
            tells || succeeds(first, second)
        }
        _ => succeeds(first, second),
    }
}

/// The text of a row: of a message or fact its text, of another memory its subject and summary.
fn content(doc: &Doc) -> String {
    let told = if doc.summary.is_empty() {
        &doc.text
    } else {
        &doc.summary
    };
    if doc.role.is_some() || doc.subject.is_empty() || told.contains(&doc.subject) {
        return told.clone();
    }
    format!("{}: {told}", doc.subject)
}

fn sort(hits: &mut Vec<Hit>, rank: impl Fn(usize) -> usize) {
    let mut ranked: Vec<(usize, Hit)> = std::mem::take(hits)
        .into_iter()
        .enumerate()
        .map(|(at, hit)| (rank(at), hit))
        .collect();
    ranked.sort_by_key(|(rank, _)| *rank);
    hits.extend(ranked.into_iter().map(|(_, hit)| hit));
}

#[cfg(test)]
mod tests;
