//! Combines all evidence for a row into one number, its strength.
//!
//! Owns: weighing, the strength that rows lend each other (facts to their source turns, turns to
//! their episode, a superseded entry to its successor), and the score of a strength. Never:
//! gathering evidence.

use std::collections::{BTreeMap, BTreeSet};

use model::Timestamp;

use crate::corpus::Corpus;
use crate::evidence::{Evidence, best_mean};
use crate::lineup::Lineup;
use crate::postings::Slot;
use crate::question::Question;
use crate::row::{Row, RowKind};
use crate::validity::Validity;
use crate::weights::Weights;

/// Only the strongest facts lend strength to turns.
pub(crate) const LENDING_FACTS: usize = 50;
/// Share of its strength that an ended row keeps.
const OVER: f32 = 0.6;
/// Share of its strength that a turn keeps when a fact made from it has ended.
const TOLD_OVER: f32 = 0.9;
/// Age in days at which freshness is one half.
const FRESH_DAYS: f32 = 180.0;
/// As [`FRESH_DAYS`], for a question without a subject.
const NEW_DAYS: f32 = 30.0;

/// Superseded turns, with the later turn that superseded each.
pub(crate) type LaterTurns = BTreeMap<Slot, Slot>;

pub(crate) struct Fusion<'a> {
    pub(crate) corpus: &'a Corpus,
    pub(crate) lineup: &'a Lineup,
    pub(crate) question: &'a Question,
    pub(crate) evidence: &'a Evidence,
    pub(crate) validity: &'a Validity<'a>,
    pub(crate) weights: &'a Weights,
    pub(crate) now: Timestamp,
    pub(crate) as_of: Option<Timestamp>,
}

impl Fusion<'_> {
    /// The strength of each visible row, by slot; and the superseded turns with their successors,
    /// as proved by the facts made from them. A likely successor only ranks first; a proved one
    /// also marks the other turn as earlier.
    pub(crate) fn strengths(&self) -> (Vec<f32>, LaterTurns) {
        let mut strengths = vec![0.0; self.corpus.slots_end()];
        let facts = self.facts(&mut strengths);
        for (place, slot) in self.lineup.turns.iter().enumerate() {
            let row = self.corpus.row(*slot);
            strengths[*slot as usize] = self.own(*slot)
                + self.context(place)
                + self.looks(row)
                + self.weights.speaker * self.question.speaker(row)
                + self.weights.reply * self.question.reply(row)
                - self.weights.question * row.traits.asks;
        }
        let later = self.lend(&facts, &mut strengths);
        if self.question.is_personal && !self.lineup.withdrawn.is_empty() {
            for slot in &self.lineup.turns {
                if self.lineup.withdrawn.has(&self.corpus.row(*slot).doc()) {
                    strengths[*slot as usize] *= 1.0 - self.weights.withdrawn;
                }
            }
        }
        let updates = match &self.question.state {
            Some(state) => self.updates(state, &mut strengths),
            None => Vec::new(),
        };
        for update in &updates {
            go_before(&mut strengths, update.new, update.old);
        }
        for slot in self.entries(RowKind::Episode) {
            strengths[*slot as usize] = self.episode(*slot, &strengths);
        }
        self.succeed(RowKind::Episode, &mut strengths);
        let episode = |turn: Slot| Some(self.corpus.find(self.corpus.row(turn).episode()?)?.0);
        for update in &updates {
            if let (Some(old), Some(new)) = (episode(update.old), episode(update.new))
                && self.corpus.is_visible(new, self.as_of)
            {
                go_before(&mut strengths, new, old);
            }
        }
        (strengths, later)
    }

    fn entries(&self, kind: RowKind) -> impl Iterator<Item = &Slot> {
        let entries = self.lineup.entries.iter();
        entries.filter(move |slot| self.corpus.row(**slot).kind == kind)
    }

    /// Evidence of a row alone; for a question without a subject, of its time.
    fn own(&self, slot: Slot) -> f32 {
        let moment = if self.question.is_open {
            self.weights.moment * self.moment(self.corpus.row(slot))
        } else {
            0.0
        };
        self.evidence.text(self.weights, slot) + moment
    }

    /// How well the time of a row fits a question without a subject: the named time, or a recent
    /// one.
    fn moment(&self, row: &Row) -> f32 {
        let fit = self.question.time_fit(row);
        fit.unwrap_or_else(|| self.recency(row, NEW_DAYS))
    }

    /// Evidence for a turn from the turns around it and its sitting.
    fn context(&self, place: usize) -> f32 {
        let sitting = self.lineup.sitting_of[place] as usize;
        self.weights.near * self.evidence.near[place]
            + self.weights.sitting_vector * self.evidence.sitting_vector[sitting]
    }

    /// An entry's own evidence, where a turn has that of its context.
    fn own_context(&self, slot: Slot) -> f32 {
        let at = slot as usize;
        self.weights.near * self.evidence.keyword[at] + self.weights.sitting_vector * self.evidence.vector[at]
    }

    /// Evidence of a row apart from its words: its time, and whether it can be an answer.
    fn looks(&self, row: &Row) -> f32 {
        let urgency = if self.question.about_now { 5.0 } else { 1.0 };
        let fit = self.question.time_fit(row).filter(|_| !self.question.is_open);
        self.weights.time * fit.unwrap_or(0.0)
            + self.weights.answer * self.question.answered(row)
            + self.weights.fresh * urgency * self.recency(row, FRESH_DAYS)
    }

    fn recency(&self, row: &Row, half_days: f32) -> f32 {
        let age_ms = self.now.millis().saturating_sub(row.time.millis()).max(0);
        1.0 / (1.0 + age_ms as f32 / (half_days * 24.0 * 3_600_000.0))
    }

    /// How fresh a row is: recent, and still true.
    pub(crate) fn freshness(&self, slot: Slot, row: &Row) -> f32 {
        self.recency(row, FRESH_DAYS) * if self.validity.is_over(slot) { OVER } else { 1.0 }
    }

    /// The visible source turns of a fact.
    fn sources(&self, slot: Slot) -> impl Iterator<Item = (usize, Slot)> {
        self.corpus.row(slot).sources().filter_map(|id| {
            let (turn, _) = self.corpus.find(id.as_str())?;
            Some((self.lineup.place(turn)?, turn))
        })
    }

    /// Facts' strengths; returns the strongest by their own evidence.
    fn facts(&self, strengths: &mut [f32]) -> Vec<Slot> {
        let mut facts: Vec<(f32, Slot)> = Vec::new();
        for slot in self.entries(RowKind::Fact) {
            let own = self.own(*slot);
            if own > 0.0 {
                facts.push((own, *slot));
            }
            strengths[*slot as usize] = own + self.own_context(*slot) + self.looks(self.corpus.row(*slot));
        }
        let id = |slot: Slot| &self.corpus.row(slot).id;
        let order = |a: &(f32, Slot), b: &(f32, Slot)| b.0.total_cmp(&a.0).then_with(|| id(a.1).cmp(id(b.1)));
        if LENDING_FACTS < facts.len() {
            facts.select_nth_unstable_by(LENDING_FACTS, order);
            facts.truncate(LENDING_FACTS);
        }
        facts.sort_unstable_by(order);
        let facts: Vec<Slot> = facts.into_iter().map(|(_, slot)| slot).collect();
        for slot in &facts {
            let context = self
                .sources(*slot)
                .map(|(place, _)| self.context(place))
                .reduce(f32::max);
            if let Some(context) = context {
                strengths[*slot as usize] += (context - self.own_context(*slot)) / 2.0;
            }
        }
        self.succeed(RowKind::Fact, strengths);
        facts
    }

    /// Facts lend strength to their source turns. A source of an ended fact keeps most of its
    /// strength, and the successor's source gets at least as much.
    fn lend(&self, facts: &[Slot], strengths: &mut [f32]) -> LaterTurns {
        let mut lent: Vec<(Slot, f32)> = Vec::new();
        for slot in facts {
            let said = self.evidence.text(self.weights, *slot);
            for (_, turn) in self.sources(*slot) {
                match lent.iter_mut().find(|(known, _)| *known == turn) {
                    Some((_, most)) => *most = most.max(said),
                    None => lent.push((turn, said)),
                }
            }
        }
        for (turn, most) in lent {
            strengths[turn as usize] += self.weights.memory * most;
        }
        let (mut later, mut told_over) = (LaterTurns::new(), BTreeSet::<Slot>::new());
        for link in self.validity.in_order() {
            let (old, new) = self.validity.links.turns(link);
            // Ranked or not: a shown turn is marked even if the later one is not among the best.
            let seen = |turn: &&Slot| self.corpus.is_visible(**turn, self.as_of);
            let of = |turn: &Slot| strengths[*turn as usize];
            let was = old.iter().filter(seen).map(of).fold(0.0, f32::max);
            for turn in new.iter().filter(seen) {
                strengths[*turn as usize] = strengths[*turn as usize].max(was);
            }
            if let Some(newer) = new.iter().find(seen) {
                later.extend(old.iter().filter(seen).map(|turn| (*turn, *newer)));
            }
            told_over.extend(old.iter().filter(seen).copied());
        }
        for turn in told_over {
            strengths[turn as usize] *= TOLD_OVER;
        }
        later
    }

    /// An episode is worth its own text and its two best turns in equal parts, and at least its best fact.
    fn episode(&self, slot: Slot, strengths: &[f32]) -> f32 {
        let row = self.corpus.row(slot);
        let text = self.own(slot) + self.own_context(slot) + self.looks(row);
        let children = self.corpus.children(&row.id);
        let of = |kind: RowKind| {
            let children = children
                .iter()
                .filter(move |child| self.corpus.row(**child).kind == kind);
            children.map(|child| strengths[*child as usize])
        };
        let turns = best_mean::<2>(of(RowKind::Turn));
        let told = if turns > 0.0 {
            f32::midpoint(text, turns)
        } else {
            text
        };
        of(RowKind::Fact).fold(told, f32::max)
    }

    /// A superseded row passes its strength on and stays weaker than its successor.
    fn succeed(&self, kind: RowKind, strengths: &mut [f32]) {
        for link in self.validity.in_order().filter(|link| link.kind == Some(kind)) {
            let was = strengths[link.old as usize];
            let is = &mut strengths[link.new as usize];
            *is = is.max(was);
        }
        for slot in self.entries(kind) {
            if self.validity.is_over(*slot) {
                strengths[*slot as usize] *= OVER;
            }
        }
    }
}

/// Makes the later row at least as strong as the earlier one: of equals the later comes first.
fn go_before(strengths: &mut [f32], new: Slot, old: Slot) {
    strengths[new as usize] = strengths[new as usize].max(strengths[old as usize]);
}
