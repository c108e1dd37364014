//! A turn's statements about the state that a question asks for.
//!
//! Owns: its best sentence and whether that is about another person; whether the turn mentions a
//! change. Never: their weight.

use model::text::{self, Language};

use crate::fuse::Fusion;
use crate::postings::Slot;
use crate::state::StateQuestion;

/// Words for a change.
const CHANGE: [&str; 60] = [
    "again", "already", "anymore", "became", "become", "been", "bought", "brought", "canceled", "cancelled",
    "changed", "closed", "cut", "deleted", "ditched", "dropped", "finally", "finished", "former", "formerly",
    "gave", "given", "gone", "got", "hired", "instead", "joined", "latest", "left", "longer", "migrated",
    "moved", "new", "now", "nowadays", "officially", "old", "opened", "postponed", "promoted", "pushed",
    "quit", "raised", "rebooked", "renamed", "replaced", "rescheduled", "retired", "since", "sold",
    "started", "stopped", "swapped", "switch", "switched", "traded", "turned", "upgraded", "used", "went",
];

/// Words for people other than the speaker.
pub(crate) const OTHERS: [&str; 40] = [
    "aunt", "boss", "boyfriend", "brother", "client", "colleague", "colleagues", "cousin", "dad", "daughter",
    "father", "flatmate", "friend", "friends", "girlfriend", "grandfather", "grandma", "grandmother",
    "grandpa", "he", "her", "him", "his", "husband", "kids", "mate", "mom", "mother", "mum", "neighbor",
    "neighbour", "nephew", "niece", "parents", "roommate", "she", "sister", "son", "uncle", "wife",
];

/// The statement of a turn, or of one of its sentences.
#[derive(Debug, Default)]
pub(crate) struct Statement {
    pub(crate) slot: Slot,
    /// It mentions a change, in any sentence.
    pub(crate) tells_change: bool,
    /// Its best sentence is about a person who is not the question's subject.
    pub(crate) is_of_other: bool,
    /// How well its best sentence answers.
    evidence: f32,
}

impl Fusion<'_> {
    /// Reads a turn.
    pub(crate) fn statement(&self, state: &StateQuestion, slot: Slot) -> Statement {
        let mut all = Statement {
            slot,
            evidence: -1.0,
            ..Statement::default()
        };
        let text = self.corpus.row(slot).doc().text;
        let language = Language::of(&text);
        for sentence in text.split_inclusive(['.', '?', '!', '\n', ';']) {
            let said = self.sentence(state, sentence, language);
            all.tells_change |= said.tells_change;
            if said.evidence > all.evidence {
                all = Statement {
                    slot,
                    tells_change: all.tells_change,
                    ..said
                };
            }
        }
        all
    }

    fn sentence(&self, state: &StateQuestion, sentence: &str, language: Language) -> Statement {
        let mut said = Statement::default();
        let mut names_self = false;
        text::each_word(sentence, |place, word| {
            let is = |list: &[&str]| list.binary_search(&word).is_ok();
            if let Some(term) = self.corpus.lexicon.find(word, language) {
                let wanted = self
                    .question
                    .wanted
                    .iter()
                    .find(|wanted| wanted.term == Some(term));
                said.evidence += wanted.map_or(0.0, |wanted| wanted.share);
            }
            names_self |= is(&["i", "we"]);
            // "I like my friend's dog" is about the friend, "I like my friend" is not.
            let whose = sentence[place].contains(['\'', '’']);
            said.is_of_other |= !state.is_of_other && is(&OTHERS) && (!names_self || whose);
            said.tells_change |= is(&CHANGE);
        });
        said
    }
}

/// Word lists that are searched by bisection, so they must be sorted.
#[cfg(test)]
pub(crate) const LISTS: [&[&str]; 2] = [&CHANGE, &OTHERS];
