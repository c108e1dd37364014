//! Sentences cut into clauses, each with one subject of its own.
//!
//! Owns: where "and I", "but we" and comma splices divide. Never: judging a clause.

use super::lexicon::verb;
use crate::words::{Word, words};

/// Longer clauses tell too much at once to be a fact.
const CLAUSE_CHARS_MAX: usize = 260;
/// What stands before the subject may be a lead ("Last week, I …") of so many words.
const LEAD_WORDS_MAX: usize = 6;

const JOINERS: [&str; 10] = [
    "and", "but", "so", "then", "yet", "because", "cause", "plus", "cuz", "although",
];

/// Whether a word begins a statement of the speaker's own.
pub(super) fn is_own_subject(word: &str) -> bool {
    matches!(
        word,
        "i" | "i'm"
            | "i've"
            | "i'll"
            | "i'd"
            | "im"
            | "ive"
            | "we"
            | "we're"
            | "we've"
            | "we'll"
            | "we'd"
            | "my"
            | "our"
    )
}

/// The clauses of a sentence that is no question; none when it is one.
pub(super) fn clauses(sentence: &str) -> Vec<&str> {
    let bare = sentence.trim_end_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '?' | '？'));
    if bare.ends_with(['?', '？']) {
        return Vec::new();
    }
    let words = words(bare);
    let mut found = Vec::new();
    let (mut start, mut first) = (0, 0);
    for at in 1..words.len() {
        if !is_own_subject(&words[at].text) || (is_possessive(&words[at].text) && !has_verb(&words[at + 1..]))
        {
            continue;
        }
        let joiner = at > first + 1 && JOINERS.contains(&words[at - 1].text.as_str());
        let lead =
            at - first <= LEAD_WORDS_MAX && !words[first..at].iter().any(|word| is_own_subject(&word.text));
        if joiner && !lead {
            found.push(&bare[start..words[at - 1].range.start]);
        } else if words[at].breaks && !lead {
            found.push(&bare[start..words[at].range.start]);
        } else {
            continue;
        }
        (start, first) = (words[at].range.start, at);
    }
    found.push(&bare[start..]);
    found.retain(|clause| clause.chars().count() <= CLAUSE_CHARS_MAX);
    found
}

fn is_possessive(word: &str) -> bool {
    matches!(word, "my" | "our")
}

/// Whether a verb follows within a short noun phrase, so that "my" begins a clause and not just an object.
fn has_verb(words: &[Word]) -> bool {
    let near = words.iter().take(6).take_while(|word| !word.breaks);
    near.skip(1).any(|word| {
        matches!(
            word.text.as_str(),
            "is" | "are" | "was" | "were" | "has" | "have" | "had"
        ) || verb(&word.text).is_some()
    })
}
