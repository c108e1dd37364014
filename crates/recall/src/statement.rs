//! Statements of a turn about the state that a question asks for.
//!
//! Owns: its best sentence with its traits: about another person, a measure, a question; and
//! whether the turn mentions a change. Never: their weight.

use text::Language;

use crate::fuse::Fusion;
use crate::lexicon::Term;
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

/// Others than the one who speaks.
pub(crate) const OTHERS: [&str; 40] = [
    "aunt", "boss", "boyfriend", "brother", "client", "colleague", "colleagues", "cousin", "dad", "daughter",
    "father", "flatmate", "friend", "friends", "girlfriend", "grandfather", "grandma", "grandmother",
    "grandpa", "he", "her", "him", "his", "husband", "kids", "mate", "mom", "mother", "mum", "neighbor",
    "neighbour", "nephew", "niece", "parents", "roommate", "she", "sister", "son", "uncle", "wife",
];

/// Words for numbers, days and months, beside digits.
const MEASURES: [&str; 46] = [
    "april", "august", "daily", "december", "eight", "eleven", "february", "fifty", "five", "fortnightly",
    "forty", "four", "friday", "fridays", "half", "january", "july", "june", "march", "monday", "mondays",
    "monthly", "nine", "noon", "november", "october", "one", "saturday", "saturdays", "september", "seven",
    "six", "sunday", "sundays", "ten", "thirty", "three", "thursday", "thursdays", "tuesday", "tuesdays",
    "twelve", "twenty", "two", "wednesday", "wednesdays",
];

/// Words that open a question.
const OPENINGS: [&str; 24] = [
    "and", "any", "are", "can", "could", "did", "do", "does", "has", "have", "how", "is", "may", "should",
    "so", "was", "what", "when", "where", "which", "who", "why", "will", "would",
];
/// Maximum number of words between "my" and its noun.
const BETWEEN_MAX: usize = 1;

/// Statement of one turn, or of one sentence of it.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is weighed by itself")]
pub(crate) struct Statement {
    pub(crate) slot: Slot,
    /// All of its terms, in order.
    pub(crate) terms: Vec<Term>,
    /// It contains "my boss" if the question does, in any sentence.
    pub(crate) has_head: bool,
    /// It mentions a change, in any sentence.
    pub(crate) tells_change: bool,
    /// Its best sentence is about a person who is not the question's subject.
    pub(crate) is_of_other: bool,
    /// Its best sentence says of another what the question asks of the asker.
    pub(crate) others_do: bool,
    /// Its best sentence is a question.
    pub(crate) asks: bool,
    /// Its best sentence has a number or a time, which the question seeks.
    pub(crate) has_measure: bool,
    /// How much its best sentence answers.
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
        let text = &self.corpus.row(slot).doc.text;
        let language = Language::of(text);
        for sentence in text.split_inclusive(['.', '?', '!', '\n', ';']) {
            let said = self.sentence(state, sentence, language);
            all.terms.extend(&said.terms);
            all.has_head |= said.has_head;
            all.tells_change |= said.tells_change;
            if said.evidence > all.evidence {
                all = Statement {
                    slot,
                    terms: all.terms,
                    has_head: all.has_head,
                    tells_change: all.tells_change,
                    ..said
                };
            }
        }
        all.terms.sort_unstable();
        all.terms.dedup();
        all
    }

    fn sentence(&self, state: &StateQuestion, sentence: &str, language: Language) -> Statement {
        let mut said = Statement::default();
        let mut behind_my = usize::MAX;
        let (mut opening, mut names_self) = (None, false);
        text::each_word(sentence, |place, word| {
            let is = |list: &[&str]| list.binary_search(&word).is_ok();
            opening.get_or_insert(is(&OPENINGS));
            if let Some(term) = self.corpus.lexicon.find(word, language) {
                said.terms.push(term);
                let wanted = self
                    .question
                    .wanted
                    .iter()
                    .find(|wanted| wanted.term == Some(term));
                said.evidence += wanted.map_or(0.0, |wanted| wanted.share);
            }
            said.has_head |= behind_my <= BETWEEN_MAX && state.heads.iter().any(|head| head == word);
            behind_my = if is(&["my", "our"]) {
                0
            } else {
                behind_my.saturating_add(1)
            };
            names_self |= is(&["i", "we"]);
            // "I like my friend's dog" is about the friend, "I like my friend" is not.
            let whose = sentence[place].contains(['\'', '’']);
            said.is_of_other |= !state.is_of_other && is(&OTHERS) && (!names_self || whose);
            said.others_do |= state.others_verb.as_deref() == Some(word);
            said.tells_change |= is(&CHANGE);
            let measures = word.starts_with(|c: char| c.is_ascii_digit()) || is(&MEASURES);
            said.has_measure |= state.seeks_measure && measures;
        });
        said.asks = opening == Some(true) && sentence.trim_end().ends_with('?');
        said
    }
}

/// Word lists that are searched by bisection.
#[cfg(test)]
pub(crate) const LISTS: [&[&str]; 4] = [&CHANGE, &OTHERS, &MEASURES, &OPENINGS];
