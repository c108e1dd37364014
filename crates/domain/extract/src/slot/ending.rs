//! What a fact says is over.
//!
//! Owns: the phrases of giving up, losing and swapping. Never: slots.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use recall::text::terms;

use super::pattern::Pattern;
use super::rules::{joined, plain_words};
use crate::facts::lexicon::verb;
use crate::words::{Word, WordList, word_list};

/// What is over, and for whom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Gone {
    subject: String,
    what: BTreeSet<String>,
    /// Which verbs an older fact may have to be about the same; none for any that says to have, use or do.
    verbs: Vec<&'static str>,
}

/// Verbs that an older fact has when the thing in it can end.
static HOLDING: WordList = word_list!(
    "have own drive use ride play drink eat smoke read watch subscribe take prefer work live attend study be \
     get buy adopt rent lease wear keep love like date meet practice volunteer teach lead manage join"
);
/// Phrases with the verbs that an older fact must have.
static PHRASES: LazyLock<Vec<(Pattern, Vec<&'static str>)>> = LazyLock::new(|| {
    let mut verbs = Vec::new();
    let mut phrases = Vec::new();
    for line in include_str!("endings.txt")
        .lines()
        .filter(|line| !line.starts_with('#'))
    {
        match line.strip_prefix("  ") {
            Some(phrase) => phrases.push((Pattern::new(phrase), verbs.clone())),
            None => verbs = line.trim_start_matches('>').split_whitespace().collect(),
        }
    }
    phrases
});

/// What a fact says is over, if it says so.
pub(super) fn gone(text: &str) -> Option<Gone> {
    let words = plain_words(text);
    if let Some(gone) = died(&words) {
        return Some(gone);
    }
    for start in 1..=4.min(words.len()) {
        for (pattern, verbs) in PHRASES.iter() {
            let Some(old) = pattern.find(&words, start).and_then(|found| found.old) else {
                continue;
            };
            let what = term_set(&words[old]);
            if what.is_empty() {
                continue;
            }
            let subject = joined(&words[..start]);
            return Some(Gone {
                subject,
                what,
                verbs: verbs.clone(),
            });
        }
    }
    None
}

/// "Alice's dog Rex died."
fn died(words: &[Word]) -> Option<Gone> {
    let end = words
        .iter()
        .position(|word| matches!(word.text.as_str(), "died" | "passed"))?;
    let owner = words
        .iter()
        .take(end)
        .position(|word| word.text.ends_with("'s"))?;
    let subject = joined(&words[..=owner]);
    let what = term_set(&words[owner + 1..end]);
    let subject = subject.trim_end_matches("'s").to_owned();
    (!what.is_empty()).then(|| Gone {
        subject,
        what,
        verbs: vec!["have", "own", "adopt", "get", "be"],
    })
}

fn term_set(words: &[Word]) -> BTreeSet<String> {
    words.iter().flat_map(|word| terms(&word.text)).collect()
}

impl Gone {
    /// Whether an older fact tells what is over now.
    pub(super) fn ends(&self, older: &str) -> bool {
        let lower = older.to_lowercase();
        // A term's beginning survives stemming; folded letters do not, so only plain texts are told apart here.
        let absent = |term: &String| {
            term.get(..4.min(term.len()))
                .is_some_and(|start| !lower.contains(start))
        };
        if older.is_ascii() && self.what.iter().any(absent) {
            return false;
        }
        let words = plain_words(older);
        let subject: Vec<&str> = self.subject.split(' ').collect();
        let starts = words.len() > subject.len()
            && subject
                .iter()
                .zip(&words)
                .all(|(a, b)| *a == b.text || b.text.strip_suffix("'s") == Some(a));
        if !starts || gone(older).is_some() {
            return false;
        }
        let rest = &words[subject.len()..];
        if rest.iter().any(|word| {
            word.text.ends_with("n't") || matches!(word.text.as_str(), "no" | "not" | "never" | "used")
        }) {
            return false;
        }
        let holds = |word: &Word| {
            let base = if matches!(word.text.as_str(), "is" | "are") {
                Some("be")
            } else {
                verb(&word.text).map(|(base, _)| base)
            };
            base.is_some_and(|base| {
                if self.verbs.is_empty() {
                    HOLDING.contains(base)
                } else {
                    self.verbs.contains(&base)
                }
            })
        };
        rest.iter().take(4).any(holds) && self.what.is_subset(&term_set(rest))
    }
}
