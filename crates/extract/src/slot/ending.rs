//! Facts that end an earlier one.
//!
//! Owns: the phrases of giving up, losing and swapping, and denials. Never: slots.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use text::terms;

use super::pattern::Pattern;
use super::rules::{BLOCKERS, joined, more, plain_words, simple};
use crate::facts::lexicon::{Form, VAGUE, is_kin, verb};
use crate::words::{Word, WordList, word_list};

/// The ended fact, and its subject.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct EndedFact {
    subject: String,
    what: BTreeSet<String>,
    /// Which verbs an older fact may have to be about the same; none for any that says to have, use or do.
    verbs: Vec<&'static str>,
    /// The ended fact was a negation: "eats meat again" after "doesn't eat meat".
    was_not: bool,
}

/// "Again" stands near what is done again.
const AGAIN_WORDS_MAX: usize = 8;

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

/// The fact that a text ends, if any.
pub(super) fn gone(text: &str) -> Option<EndedFact> {
    let words = plain_words(text);
    let parts = || more(&words);
    died(&words)
        .or_else(|| phrased(&words))
        .or_else(|| denied(&words))
        .or_else(|| resumed(&words))
        .or_else(|| parts().iter().find_map(|part| phrased(part)))
}

/// Whether a fact states a change: a bare denial ("is not sure") does not.
pub(super) fn is_change(subject: &str, text: &str) -> bool {
    let words = plain_words(text);
    let is_own = |gone: &EndedFact| subject.starts_with(&gone.subject);
    let plain = died(&words).or_else(|| phrased(&words).filter(|_| is_known(&words)));
    let denied = denied(&words).filter(|_| is_over(&words) || text.contains("after all"));
    plain.or(denied).is_some_and(|gone| is_own(&gone))
}

/// Verbs that end what is known only with "their", "the" or a name behind them.
static LOOSE: WordList =
    word_list!("finished completed passed lost sold donated returned broke left dropped had threw");

/// Whether what is said to be over is a known thing: "their job", "the Honda"; not "a bunch of old clothes".
fn is_known(words: &[Word]) -> bool {
    let Some(at) = words.iter().take(5).position(|word| LOOSE.contains(&word.text)) else {
        return !words
            .iter()
            .any(|word| matches!(word.text.as_str(), "some" | "all" | "bunch" | "old"));
    };
    let is_particle = |next: &Word| matches!(next.text.as_str(), "out" | "off" | "away" | "up" | "to");
    let next = words.get(at + 1 + usize::from(words.get(at + 1).is_some_and(is_particle)));
    let own = next.is_some_and(|next| matches!(next.text.as_str(), "their" | "the") && !next.breaks);
    let named = next.is_some_and(|next| next.capital && !next.breaks);
    match words[at].text.as_str() {
        "finished" | "completed" | "passed" => {
            let named = || words.get(at + 2).is_some_and(|word| word.capital);
            next.is_some_and(|next| next.text == "reading" && named())
        }
        "left" | "dropped" | "broke" => own || named,
        "lost" => named,
        "had" => words.get(at + 1).is_some_and(|next| next.text == "to"),
        _ => own,
    }
}

fn phrased(words: &[Word]) -> Option<EndedFact> {
    for start in 1..=4.min(words.len()) {
        if start > 1 && BLOCKERS.contains(&words[start - 1].text) {
            break;
        }
        for (pattern, verbs) in PHRASES.iter() {
            let Some(old) = pattern.find(words, start).and_then(|found| found.old) else {
                continue;
            };
            let old = &words[old];
            let what = term_set(old);
            if what.is_empty() || old.iter().all(|word| VAGUE.contains(&word.text)) {
                continue;
            }
            return Some(EndedFact {
                subject: whose(&words[..start]),
                what,
                verbs: verbs.clone(),
                was_not: false,
            });
        }
    }
    None
}

/// Whose it was: what one's team uses, one uses.
fn whose(subject: &[Word]) -> String {
    let subject = joined(subject);
    let shared = ["team", "company", "family", "office"];
    let owner = shared
        .iter()
        .find_map(|group| subject.strip_suffix(group)?.strip_suffix("'s "));
    owner.map_or(subject.clone(), str::to_owned)
}

/// Where what a denial or a resumption is about ends.
fn content(words: &[Word]) -> &[Word] {
    let ends = |word: &Word| {
        word.breaks
            || matches!(
                word.text.as_str(),
                "anymore" | "any" | "again" | "because" | "since" | "so" | "and" | "but" | "after" | "these"
            )
    };
    &words[..words.iter().position(ends).unwrap_or(words.len())]
}

/// "Alice isn't allergic to peanuts", "Alice doesn't use Vim": ends the fact that she is or does.
fn denied(words: &[Word]) -> Option<EndedFact> {
    let at = (1..words.len().min(5)).find(|at| {
        matches!(
            words[*at].text.as_str(),
            "isn't" | "aren't" | "doesn't" | "can't" | "cannot" | "not" | "won't" | "never"
        )
    })?;
    // A temporary impossibility does not end a habit.
    let can = matches!(words[at].text.as_str(), "can't" | "cannot" | "won't" | "never");
    let be = words[at].text.ends_with("n't") && matches!(words[at].text.as_str(), "isn't" | "aren't")
        || words[at].text == "not" && matches!(words[at - 1].text.as_str(), "is" | "are");
    let subject_end = at - usize::from(words[at].text == "not");
    let rest = &words[at + 1..];
    let base = if be {
        "be"
    } else {
        rest.first().and_then(|word| verb(&word.text))?.0
    };
    let what = term_set(content(&rest[usize::from(!be)..]));
    (!what.is_empty() && (!can || is_over(words)) && subject_end > 0).then(|| EndedFact {
        subject: joined(&words[..subject_end]),
        what,
        verbs: vec![base],
        was_not: false,
    })
}

/// Whether words say that it was so before: "anymore", "any longer".
fn is_over(words: &[Word]) -> bool {
    let any = |pair: &[Word]| pair[0].text == "any" && matches!(pair[1].text.as_str(), "more" | "longer");
    words.iter().any(|word| word.text == "anymore") || words.windows(2).any(any)
}

/// "Alice eats meat again": ends the fact that she does not.
fn resumed(words: &[Word]) -> Option<EndedFact> {
    let words = simple(words).unwrap_or_else(|| words.to_vec());
    let first = (1..words.len())
        .find(|at| words[*at].breaks)
        .unwrap_or(words.len());
    let again = words[..first.min(AGAIN_WORDS_MAX)]
        .iter()
        .position(|word| word.text == "again")?;
    let at = (1..again).find(|at| verb(&words[*at].text).is_some())?;
    let (base, _) = verb(&words[at].text)?;
    let what = term_set(content(&words[at + 1..]));
    (!what.is_empty()).then(|| EndedFact {
        subject: joined(&words[..at]),
        what,
        verbs: vec![base],
        was_not: true,
    })
}

/// "Alice's dog Rex died."
fn died(words: &[Word]) -> Option<EndedFact> {
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
    (!what.is_empty()).then(|| EndedFact {
        subject,
        what,
        verbs: vec!["have", "own", "adopt", "get", "be"],
        was_not: false,
    })
}

/// Nouns for a thing that a person has or uses, whose name is more specific.
static FRAMES: WordList = word_list!(
    "subscription membership account contract job role position lessons lesson classes class course habit licence license"
);

fn term_set(words: &[Word]) -> BTreeSet<String> {
    let all = words.iter().filter(|word| !FRAMES.contains(&word.text));
    let set: BTreeSet<String> = all.flat_map(|word| terms(&word.text)).collect();
    if set.is_empty() {
        return words.iter().flat_map(|word| terms(&word.text)).collect();
    }
    set
}

/// Whether words tell how things are, not what happened once.
fn is_present(words: &[Word]) -> bool {
    let tense = |word: &Word| match word.text.as_str() {
        "is" | "are" | "has" | "does" => Some(true),
        "was" | "were" | "had" | "did" | "will" | "wants" => Some(false),
        text => match verb(text) {
            Some((_, Form::Third | Form::Ing)) => Some(true),
            Some((_, Form::Past)) => Some(false),
            _ => None,
        },
    };
    // "Has moved" happened, "has been using" still is.
    let has = words.first().is_some_and(|word| word.text == "has");
    let happened = has
        && words.get(1).is_some_and(|next| {
            matches!(verb(&next.text), Some((_, Form::Past | Form::Participle)))
                && !matches!(next.text.as_str(), "been" | "got" | "had")
        });
    !happened && words.iter().take(5).find_map(tense).unwrap_or(false)
}

fn all_terms(words: &[Word]) -> BTreeSet<String> {
    words.iter().flat_map(|word| terms(&word.text)).collect()
}

impl EndedFact {
    /// The words of what is over, without endings.
    pub(super) fn what(&self) -> impl Iterator<Item = &str> {
        self.what.iter().map(String::as_str)
    }

    /// Whether an older fact is the one that ended.
    pub(super) fn ends(&self, older: &str) -> bool {
        let lower = older.to_lowercase();
        // A term's beginning survives stemming, but folded letters do not, so only plain texts can be distinguished
        // here.
        let absent = |term: &String| {
            // The last letter may have changed: "city" is "citi".
            term.get(..3.min(term.len().saturating_sub(1)))
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
        let rest = words.get(subject.len()..).unwrap_or(&[]);
        let is_denied = rest.iter().any(|word| {
            word.text.ends_with("n't") || matches!(word.text.as_str(), "no" | "not" | "never" | "used")
        });
        // Whose sister works there is another matter.
        let of_kin = words
            .get(subject.len() - 1)
            .is_some_and(|word| word.text.ends_with("'s"))
            && !self.subject.ends_with("'s")
            && rest.first().is_some_and(|word| is_kin(&word.text));
        if !starts || of_kin || is_denied != self.was_not || (gone(older).is_some() && !self.was_not) {
            return false;
        }
        let holds = |word: &Word| {
            let base = if matches!(word.text.as_str(), "is" | "are") {
                Some("be")
            } else {
                verb(&word.text).map(|(base, _)| base)
            };
            base.is_some_and(|base| self.verbs.contains(&base))
        };
        let held = if self.verbs.is_empty() {
            is_present(rest)
        } else {
            rest.iter().take(5).any(holds)
        };
        held && self.what.is_subset(&all_terms(rest))
    }
}
