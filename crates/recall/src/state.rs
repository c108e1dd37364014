//! Present state of the asker's things: detects questions for it, finds answers, and finds later
//! statements that supersede earlier ones.
//!
//! Owns: detecting such questions, and pairing statements at query time, for changes that no rule
//! found at extraction. Never: declaring a statement ended: the earlier one only comes after the
//! later one.

use crate::fuse::Fusion;
use crate::postings::Slot;
use crate::question::{OURS, QuestionWord, has_any};
use crate::statement::{OTHERS, Statement};

/// Maximum number of the best statements compared, so that no weak one is lifted.
const COMPARED_MAX: usize = 40;
/// Maximum number of superseded turns among them.
const OVERTAKEN_MAX: usize = 5;
/// Statements less than a day apart do not supersede each other.
const APART_MS: i64 = 24 * 60 * 60 * 1000;
/// Minimum lead in likelihood of a successor over any later statement of another day. If several
/// unrelated statements could be the successor, none is.
const STANDS_OUT: f32 = 1.9;
/// A successor answers the question itself: minimum share of the earlier statement's strength.
const ANSWERS: f32 = 0.5;
/// Strength above which an answer gets no more convincing.
const STRENGTH_MAX: f32 = 1.2;

// Weights for the likelihood that a later statement supersedes an earlier one. Found by logistic
// regression on the odd pairs of `eval changed`; a sum of 0 means a probability of one half.
// `OF_OTHER` and `UNREAD` are set by hand, as few of the pairs have them.
const BIAS: f32 = -4.5;
/// It is a strong answer by itself …
const STRENGTH: f32 = 2.7;
/// … and stronger than other later ones.
const BEHIND: f32 = -2.6;
/// It is near in meaning to the question, and to the earlier statement.
const MEANT: f32 = 1.3;
const NEAR: f32 = 1.3;
/// It mentions a change.
const CHANGE: f32 = 1.0;
/// The question is not in English, so the English words for changes and other people do not apply.
const UNREAD: f32 = -3.0;
/// Its subject is another person.
const OF_OTHER: f32 = -3.0;

/// Words of questions about how something was.
const PAST: [&str; 14] = [
    "antes", "avant", "before", "former", "formerly", "fruher", "previous", "previously", "used", "vorher",
    "war", "waren", "was", "were",
];
/// Words of questions about an event.
const EVENTS: [&str; 12] = [
    "ago", "did", "earlier", "ever", "first", "had", "hatte", "last", "originally", "will", "wohnte", "would",
];
/// Stems of questions for advice: no statement of the asker answers them.
const ADVICE: [&str; 7] = ["advic", "advis", "help", "idea", "recommend", "suggest", "tip"];
/// Whether a question asks how something is or was, not for an event or for advice.
fn asks_for_state(words: &[String], told: &[QuestionWord]) -> bool {
    !has_any(words, &EVENTS) && !told.iter().any(|word| ADVICE.contains(&word.stem.as_str()))
}

/// A question for a present state, apart from its words.
#[derive(Debug)]
pub(crate) struct StateQuestion {
    /// Its subject is a person other than the asker.
    pub(crate) is_of_other: bool,
}

impl StateQuestion {
    /// None if the question asks for something else, or about a speaker who is not the asker.
    pub(crate) fn of(
        text: &str,
        words: &[String],
        told: &[QuestionWord],
        (is_own, is_named): (bool, bool),
    ) -> Option<Self> {
        let contracted = ["'s ", "’s "].iter().any(|is| text.contains(is));
        let is_present = contracted || has_any(words, &["is", "are", "do", "does"]);
        let is_own = is_own || has_any(words, &OURS);
        if has_any(words, &PAST) || !asks_for_state(words, told) || !(is_own || is_present && !is_named) {
            return None;
        }
        Some(Self {
            is_of_other: has_any(words, &OTHERS),
        })
    }
}

/// An earlier turn and the later one that most likely describes the present state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StateUpdate {
    pub(crate) old: Slot,
    pub(crate) new: Slot,
}

impl Fusion<'_> {
    /// Weighs turns by their evidence for a state; returns which of the best are superseded by later ones, oldest
    /// first.
    pub(crate) fn updates(&self, state: &StateQuestion, strengths: &mut [f32]) -> Vec<StateUpdate> {
        let mut best: Vec<Statement> = self
            .best_told(strengths)
            .iter()
            .map(|slot| self.statement(state, *slot))
            .collect();
        for told in &best {
            strengths[told.slot as usize] -= self.weights.other * yes(told.is_of_other);
        }
        let strength = |told: &Statement| strengths[told.slot as usize];
        best.sort_by(|a, b| strength(b).total_cmp(&strength(a)));
        let mut updates: Vec<StateUpdate> = Vec::new();
        let answers = |told: &&Statement| strength(told) >= ANSWERS * strength(&best[0]);
        for (at, old) in best.iter().take_while(answers).enumerate().take(OVERTAKEN_MAX) {
            // A turn that just superseded another one keeps its place.
            if updates.iter().any(|update| update.new == old.slot) {
                continue;
            }
            // After the best answer, only a better one supersedes a turn: the turn's episode may
            // come before the better one's.
            let others = if at == 0 { &best[..] } else { &best[..at] };
            let found = self.overtaking(old, others, strengths);
            let sure = found.filter(|(score, _)| *score > self.weights.overtake);
            updates.extend(sure.map(|(_, new)| StateUpdate { old: old.slot, new }));
        }
        updates.sort_by_key(|update| self.corpus.row(update.old).order());
        updates
    }

    /// The asker's best turns, best first.
    fn best_told(&self, strengths: &[f32]) -> Vec<Slot> {
        let mut best: Vec<Slot> = Vec::with_capacity(COMPARED_MAX + 1);
        for slot in &self.lineup.turns {
            let strength = strengths[*slot as usize];
            let is_weaker =
                best.len() == COMPARED_MAX && strength <= strengths[best[COMPARED_MAX - 1] as usize];
            let row = self.corpus.row(*slot);
            if is_weaker || !row.traits.own {
                continue;
            }
            let at = best.partition_point(|other| strengths[*other as usize] >= strength);
            best.insert(at, *slot);
            best.truncate(COMPARED_MAX);
        }
        best
    }

    /// The later statement that most likely supersedes an earlier one, with its likelihood.
    fn overtaking(&self, old: &Statement, best: &[Statement], strengths: &[f32]) -> Option<(f32, Slot)> {
        let time = |told: &Statement| self.corpus.row(told.slot).time.millis();
        let later = best.iter().filter(|new| time(new) > time(old) + APART_MS);
        let strongest = strengths[later.clone().next()?.slot as usize];
        let meaning = self.corpus.vectors.get(old.slot);
        let scored = later.map(|new| {
            let strength = strengths[new.slot as usize];
            let near = meaning
                .as_ref()
                .and_then(|meaning| self.corpus.vectors.cosine(new.slot, meaning))
                .map(|cosine| self.evidence.scale.usual(cosine));
            let score = BIAS
                + UNREAD * yes(!self.question.is_english)
                + STRENGTH * strength.min(STRENGTH_MAX)
                + BEHIND * (strongest - strength)
                + MEANT * self.evidence.vector[new.slot as usize]
                + NEAR * near.unwrap_or(0.0)
                + CHANGE * yes(new.tells_change)
                + OF_OTHER * yes(new.is_of_other && !old.is_of_other);
            (score, new.slot)
        });
        let scored: Vec<(f32, Slot)> = scored.collect();
        let found = scored.iter().copied();
        // Of equals the first, which is the stronger answer.
        let (score, new) = found.reduce(|most, next| if next.0 > most.0 { next } else { most })?;
        let time = |slot: Slot| self.corpus.row(slot).time.millis();
        let is_apart = |slot: Slot| time(slot).abs_diff(time(new)) > APART_MS.unsigned_abs();
        let mut rivals = scored.iter().filter(|(_, other)| is_apart(*other));
        let stands_out = rivals.all(|(rival, _)| score - rival > STANDS_OUT);
        let answers = strengths[new as usize] >= ANSWERS * strengths[old.slot as usize];
        (stands_out && answers).then_some((score, new))
    }
}

fn yes(holds: bool) -> f32 {
    f32::from(u8::from(holds))
}

#[cfg(test)]
mod tests;
