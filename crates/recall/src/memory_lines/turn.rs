//! Kind of a turn by its words: whether it asks, and whether it is about the asker's own matters.
//!
//! Owns: those words, in the languages of Quipu's rules, and the minimum certainty for an answer.
//! Never: the hits.

use std::collections::BTreeSet;

use model::text::FirstPerson::Possessive;
use model::text::{self, Language, first_person};

/// Minimum certainty of the best hit. Of 210 questions about earlier messages these keep 93 %, and of 65 turns about
/// something else 8 %, in sets of five writers; of as many held-out ones 91 and 6 %.
const SURE_OF_OWN_QUESTION: f32 = 0.03;
const SURE_OF_OWN: f32 = 0.075;
const SURE_OF_QUESTION: f32 = 0.18;
const SURE: f32 = 0.58;

/// If one word in this many is capitalised within a sentence, capitals do not mark names: in German
/// one in four is, in English one in twenty.
const CAPITALS_ONE_IN: usize = 8;
/// Marks at the end of a part of a turn; each part may be a question.
const CLAUSE_ENDS: [char; 12] = ['.', ',', ';', ':', '?', '!', '\n', '。', '，', '？', '！', '؟'];
const QUESTION_MARKS: [char; 3] = ['?', '？', '؟'];
/// General questions for instructions contain "I", too.
const GENERAL: [&[&str]; 6] = [
    &["how", "do", "i"],
    &["how", "can", "i"],
    &["how", "i"],
    &["can", "i"],
    &["should", "i"],
    &["do", "i", "need"],
];
/// Words of asking among the first three of a question.
const ASKING: [&str; 44] = [
    "chi", "combien", "come", "comment", "como", "cual", "cuando", "cuanto", "do", "does", "donde", "dove",
    "how", "perche", "pourquoi", "quale", "quand", "quando", "que", "quel", "quelle", "qui", "quien",
    "remember", "remind", "wann", "warum", "was", "welche", "welchem", "welchen", "welcher", "welches",
    "wer", "what", "when", "where", "which", "who", "whose", "why", "wie", "wo", "woher",
];
/// First words of a question.
const OPENING: [&str; 14] = [
    "am", "are", "bin", "can", "could", "did", "habe", "had", "has", "hatte", "have", "is", "were", "whats",
];

/// Kind of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TurnTraits {
    /// It asks, and not how to do something in general.
    asks: bool,
    pub(super) is_own: bool,
}

impl TurnTraits {
    /// `names`: persons in the hits. A turn that names one of them is about the asker's matters.
    pub(super) fn read(text: &str, names: &BTreeSet<String>) -> Self {
        let mut turn = Self {
            asks: false,
            is_own: false,
        };
        for sentence in text.split_inclusive(CLAUSE_ENDS) {
            let mut words = Vec::new();
            text::each_word(sentence, |_, word| words.push(word.to_owned()));
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let asks = asks(sentence) || opens(&words);
            let is_general = (0..words.len()).any(|at| is_general(&words[at..]));
            turn.asks |= asks && !is_general;
            turn.is_own |= words
                .iter()
                .any(|word| first_person(word) == Some(Possessive) || names.contains(*word));
            turn.is_own |= asks && !is_general && words.iter().any(|word| first_person(word).is_some());
            turn.is_own |= text::has_unspaced_first_person(sentence);
            // Most languages express the asker by the verb alone.
            turn.is_own |= asks && !words.iter().any(|word| needs_a_pronoun(word));
        }
        turn
    }

    /// Minimum certainty of the best hit.
    pub(super) fn least_sureness(self) -> f32 {
        match (self.asks, self.is_own) {
            (true, true) => SURE_OF_OWN_QUESTION,
            (false, true) => SURE_OF_OWN,
            (true, false) => SURE_OF_QUESTION,
            (false, false) => SURE,
        }
    }
}

/// Names in texts: words that are capitalised everywhere in them, also within a sentence. None if
/// too many words are capitalised, as in German.
pub(super) fn names<'a>(texts: impl Iterator<Item = &'a str>) -> BTreeSet<String> {
    let (mut names, mut others) = (BTreeSet::new(), BTreeSet::new());
    let (mut capitals, mut words) = (0, 0);
    for text in texts {
        text::each_word(text, |place, word| {
            words += 1;
            if !text[place.clone()].starts_with(char::is_uppercase) {
                others.insert(word.to_owned());
            } else if follows_a_word(&text[..place.start]) && word.len() > 1 {
                capitals += 1;
                names.insert(word.to_owned());
            }
        });
    }
    if capitals * CAPITALS_ONE_IN > words {
        return BTreeSet::new();
    }
    names.retain(|name| !others.contains(name));
    names
}

/// Whether a word comes right before, or before a comma.
pub(super) fn follows_a_word(before: &str) -> bool {
    before
        .strip_suffix(' ')
        .is_some_and(|before| before.ends_with(|c: char| c.is_alphanumeric() || c == ','))
}

/// Whether a sentence ends with a question mark.
pub(super) fn asks(sentence: &str) -> bool {
    let end = sentence.trim_end_matches(|c: char| !QUESTION_MARKS.contains(&c) && !c.is_alphanumeric());
    end.ends_with(QUESTION_MARKS)
}

fn opens(words: &[&str]) -> bool {
    let is_opening = words.first().is_some_and(|word| OPENING.contains(word));
    is_opening || words.iter().take(3).any(|word| ASKING.contains(word))
}

/// Whether a word belongs to a language in which a question about oneself needs a pronoun.
fn needs_a_pronoun(word: &str) -> bool {
    let mut languages = [Language::English, Language::French, Language::German].iter();
    word.is_ascii() && languages.any(|language| language.is_stop_word(word))
}

fn is_general(words: &[&str]) -> bool {
    GENERAL.iter().any(|general| words.starts_with(general))
}

#[cfg(test)]
mod tests {
    use super::{SURE, SURE_OF_OWN, SURE_OF_OWN_QUESTION, SURE_OF_QUESTION, TurnTraits, names};

    #[expect(clippy::float_cmp, reason = "one of four constants")]
    fn each_is(turns: &[&str], least: f32) {
        let texts = [
            "the vet saw Biscuit on monday and that was that",
            "then Nora came with us to the river",
        ];
        let known = names(texts.into_iter());
        for turn in turns {
            assert_eq!(TurnTraits::read(turn, &known).least_sureness(), least, "{turn}");
        }
    }

    #[test]
    fn a_question_about_oneself_needs_the_lowest_certainty() {
        each_is(
            &[
                "What is my blood type?",
                "where do i live again",
                "filling in a form, which school did we pick",
                "I stand at the door. what was our code",
                "Wo wohne ich?",
                "Wie heißt unser Vermieter nochmal?",
                "¿Cómo se llama mi jefa?",
                "Quel est mon médecin ?",
                "我住在哪里？",
                "Gdzie mieszkam?",
                "どこに住んでいますか？",
                "أين أسكن؟",
                "how old is biscuit",
                "When does Nora come?",
            ],
            SURE_OF_OWN_QUESTION,
        );
    }

    #[test]
    fn a_general_question_needs_more_certainty_and_a_statement_most() {
        each_is(
            &[
                "How many ounces are in a pound?",
                "why is the sky blue",
                "Wie hoch ist die Zugspitze?",
                "Can you tell me which king came after him?",
            ],
            SURE_OF_QUESTION,
        );
        each_is(
            &[
                "thanks, that is all for today!",
                "continue",
                "Tell me a joke.",
                "write me a haiku about fog",
                "How do I write 2026 in Roman numerals?",
                "excel: how i count cells that are not empty",
                "Spell rendezvous for me.",
            ],
            SURE,
        );
        each_is(
            &["a card for my brother please", "a card for Biscuit"],
            SURE_OF_OWN,
        );
    }

    #[test]
    fn names_are_known_by_their_capital_unless_all_words_are_capitalised() {
        let of = |texts: &[&str]| names(texts.iter().copied()).into_iter().collect::<Vec<_>>();
        let english = "We walked with Wyatt to the river. Then home, and he ate all of it again.";
        assert_eq!(of(&[english]), ["wyatt"]);
        assert!(of(&[english, "wyatt is a name and a word"]).is_empty());
        assert!(of(&["Der Baum steht im Garten vor dem Haus neben dem Weg."]).is_empty());
    }
}
