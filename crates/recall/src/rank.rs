//! From a question to a ranking: see, gather, fuse, order, explain.
//!
//! Owns: the order of these steps, filters and limits, and the data of each hit. Never: evidence itself.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::sync::Arc;

use model::{Doc, Filter};

use crate::chosen::Choice;
use crate::corpus::Corpus;
use crate::evidence::Evidence;
use crate::fuse::{Fusion, LaterTurns};
use crate::hit::{Hit, Method, Query, Ranking, Why};
use crate::lineup::Lineup;
use crate::postings::Slot;
use crate::question::Question;
use crate::row::{Row, RowKind};
use crate::score::Scale;
use crate::validity::Validity;
use crate::vectors::Quantised;
use crate::weights::Weights;

/// Maximum number of facts in an episode's hit.
const FACTS_SHOWN_MAX: usize = 3;

impl Corpus {
    /// Ranks the rows for a query.
    pub fn search(&self, query: &Query<'_>) -> Ranking {
        self.search_weighted(query, &Weights::default())
    }

    /// Ranks with other weights than the default ones, to tune them.
    pub fn search_weighted(&self, query: &Query<'_>, weights: &Weights) -> Ranking {
        let now = query.as_of.unwrap_or(query.asked_at);
        let question = Question::new(self, query, weights);
        let vector = query
            .vector
            .filter(|_| query.method != Method::Keyword)
            .and_then(Quantised::new);
        let keywords = query.method != Method::Vector;
        let asked = Some(&question).filter(|_| keywords);
        let compared = vector.as_ref().filter(|_| !question.is_open);
        let mut evidence = Evidence::of_rows(self, query.cosines, asked, compared, query.as_of, weights);
        // A filter or a time hides rows, and a question without a subject is about all of them.
        let is_of_few = query.filter.is_none() && query.as_of.is_none() && !question.is_open;
        let chosen = (is_of_few && self.len() as f32 > weights.whole).then(|| {
            let wanted = query.memories_max.max(query.messages_max);
            let choice = Choice {
                corpus: self,
                evidence: &evidence,
                question: &question,
                weights,
            };
            choice.rows(wanted)
        });
        let lineup = Lineup::new(self, query.as_of, chosen);
        evidence.add_context(self, &lineup, asked, weights);
        let validity = Validity::new(self, now, query.as_of, &question.spans);
        let fusion = Fusion {
            corpus: self,
            lineup: &lineup,
            question: &question,
            evidence: &evidence,
            validity: &validity,
            weights,
            now,
            as_of: query.as_of,
        };
        let (strengths, later) = fusion.strengths();
        let ranker = Ranker {
            strengths,
            later,
            fusion,
            query,
            scale: Scale::of(keywords, vector.is_some(), question.is_open),
            keywords,
        };
        Ranking {
            memories: ranker.memories(),
            messages: ranker.best(&lineup.turns, |_| true, query.messages_max),
            span: question.span.map(|span| (span.from, span.to)),
            open: question.is_open,
        }
    }
}

struct Ranker<'a> {
    fusion: Fusion<'a>,
    query: &'a Query<'a>,
    strengths: Vec<f32>,
    later: LaterTurns,
    scale: Scale,
    keywords: bool,
}

impl Ranker<'_> {
    /// Episodes, each with its best facts, and facts without their episode among the rows.
    fn memories(&self) -> Vec<Hit> {
        let Fusion { corpus, lineup, .. } = self.fusion;
        let is_visible = |slot: Slot| corpus.is_visible(slot, self.query.as_of);
        let shown = |slot: Slot| {
            let row = corpus.row(slot);
            let episode = row
                .episode()
                .filter(|_| row.kind == RowKind::Fact)
                .and_then(|id| corpus.find(id));
            !episode.is_some_and(|(slot, row)| is_visible(slot) && self.passes(row))
        };
        let mut hits = self.best(&lineup.entries, shown, self.query.memories_max);
        for hit in &mut hits {
            let is_fact = |slot| corpus.row(slot).kind == RowKind::Fact && is_visible(slot);
            hit.facts = self.best(corpus.children(&hit.doc.key.id), is_fact, FACTS_SHOWN_MAX);
        }
        self.let_successors_go_first(&mut hits);
        hits
    }

    /// An episode whose matching fact has ended comes after the episode with its successor.
    fn let_successors_go_first(&self, hits: &mut Vec<Hit>) {
        let Fusion { corpus, validity, .. } = self.fusion;
        let is_over = |fact: &&Hit| {
            let slot = corpus.find(&fact.doc.key.id).map(|(slot, _)| slot);
            slot.is_some_and(|slot| validity.is_over(slot))
        };
        for at in 0..hits.len() {
            let fact = hits[at].facts.first().filter(is_over);
            let newer = fact.and_then(|fact| fact.superseded_by.clone());
            let tells = |hit: &Hit| {
                let mut facts = hit.facts.iter();
                newer
                    .as_ref()
                    .is_some_and(|id| facts.any(|fact| &*fact.doc.key.id == id.as_str()))
            };
            if let Some(offset) = hits[at + 1..].iter().position(tells) {
                let mut hit = hits.remove(at + 1 + offset);
                hit.score = hits[at].score;
                hits.insert(at, hit);
            }
        }
    }

    fn passes(&self, row: &Row) -> bool {
        self.query
            .filter
            .is_none_or(|filter: &Filter| filter.matches(row.fields()))
    }

    /// The strongest of these rows that are listed, pass the filter and reach the minimum score.
    fn best(&self, slots: &[Slot], shown: impl Fn(Slot) -> bool, limit: usize) -> Vec<Hit> {
        // The strongest come first, and only a few rows need a closer look.
        let mut rows: BinaryHeap<Placed<'_>> = slots
            .iter()
            .map(|slot| Placed {
                slot: *slot,
                strength: self.strengths[*slot as usize],
                corpus: self.fusion.corpus,
            })
            .collect();
        let placed = std::iter::from_fn(|| rows.pop());
        placed
            .map(|placed| placed.slot)
            .take_while(|slot| self.score(*slot) >= self.query.score_min)
            .filter(|slot| shown(*slot) && self.passes(self.fusion.corpus.row(*slot)))
            .take(limit)
            .map(|slot| self.hit(slot))
            .collect()
    }

    fn score(&self, slot: Slot) -> f32 {
        self.scale.score(self.strengths[slot as usize])
    }

    fn hit(&self, slot: Slot) -> Hit {
        let Fusion {
            corpus,
            lineup,
            evidence,
            question,
            validity,
            ..
        } = self.fusion;
        let row = corpus.row(slot);
        let mut why = Why {
            keyword: evidence.keyword[slot as usize],
            vector: evidence.vector[slot as usize],
            time: question.time_fit(row),
            freshness: self.fusion.freshness(slot, row),
            ..Why::default()
        };
        if let Some(place) = lineup.place(slot) {
            let sitting = lineup.sitting_of[place] as usize;
            why.session = evidence.sitting_vector[sitting];
            why.neighbours = evidence.near[place];
        }
        if self.keywords {
            let found = question.wanted.iter().filter(|wanted| {
                let term = wanted.term.as_ref();
                term.is_some_and(|term| corpus.postings(row.kind).has(*term, slot))
            });
            for wanted in found {
                why.terms.push(self.query.text[wanted.place.clone()].to_owned());
                why.share += wanted.share;
            }
        }
        let ended = lineup
            .ending(&row.id)
            .map(|fact| corpus.row(fact))
            .filter(|fact| {
                let until = fact.valid_until();
                until.is_some_and(|until| until <= self.fusion.now)
            });
        let mut ended: Vec<Arc<Doc>> = ended.map(|fact| Arc::new(fact.doc())).collect();
        let doc = row.doc();
        ended.sort_by(|a, b| a.key.id.cmp(&b.key.id));
        Hit {
            score: self.score(slot),
            why,
            superseded_by: validity.superseded_by(corpus, slot),
            later: self.later.get(&slot).map(|newer| corpus.row(*newer).id.clone()),
            is_withdrawn: lineup.withdrawn.has(&doc),
            taken_back: lineup.withdrawn.marks(&doc),
            doc: Arc::new(doc),
            ended,
            facts: Vec::new(),
        }
    }
}

/// A row by its strength; of equals the newer one is greater, then the one with the lower id.
struct Placed<'a> {
    slot: Slot,
    strength: f32,
    corpus: &'a Corpus,
}

impl Ord for Placed<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.strength.total_cmp(&other.strength).then_with(|| {
            let (one, other) = (self.corpus.row(self.slot), self.corpus.row(other.slot));
            let ids = || other.id.cmp(&one.id);
            one.time.cmp(&other.time).then_with(ids)
        })
    }
}

impl PartialOrd for Placed<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Placed<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.slot == other.slot
    }
}

impl Eq for Placed<'_> {}
