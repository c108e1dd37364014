//! Sentences cut into clauses, each with one subject of its own.
//!
//! Owns: the division at "and I", "but we" and comma splices, statements before a question, and the meaning of an "it"
//! after a comma. Never: judging a clause.

use std::borrow::Cow;

use super::lexicon::{ADVERBS, Form, HYPOTHETICAL, NOT_OWN, TIME_UNITS, participle, verb};
use super::statement::{LEADS, SUBORDINATE, is_preposition};
use crate::dates::names_a_day;
use crate::words::{Word, WordList, word_list, words};

/// Longer clauses tell too much at once to be a fact.
const CLAUSE_CHARS_MAX: usize = 260;
/// Maximum number of words of a lead before the subject ("Last week, I …").
const LEAD_WORDS_MAX: usize = 6;
/// "My", what it is, and a word or two more: "my old phone number".
const THING_WORDS_MAX: usize = 4;

const JOINERS: [&str; 10] = [
    "and", "but", "so", "then", "yet", "because", "cause", "plus", "cuz", "although",
];

/// Words that begin a statement of the speaker's own.
static OWN_SUBJECTS: WordList = word_list!("i i'm i've i'll i'd im ive we we're we've we'll we'd my our");

/// Whether a word begins a statement of the speaker's own.
pub(super) fn is_own_subject(word: &str) -> bool {
    OWN_SUBJECTS.contains(word)
}

/// Words with which a time can begin.
static TIMELY: WordList = word_list!("on in at from since next last this now today tomorrow yesterday");

/// Words that open a question behind a comma.
static ASKS: WordList = word_list!(
    "do does did is are was were can could will would should shall have has may isn't aren't don't doesn't what what's \
     which who who's where where's when how how's why any anything anyone"
);

/// The statement before the question of a sentence: "I'm a size 10, do these come up small?"
fn stated(sentence: &str) -> Option<&str> {
    let words = words(sentence);
    let opens = words.iter().find(|word| !LEADS.contains(&word.text))?;
    let asks = (2..words.len()).find(|at| words[*at].breaks && ASKS.contains(&words[*at].text))?;
    is_own_subject(&opens.text).then(|| &sentence[..words[asks - 1].range.end])
}

/// The clauses of a sentence, without what it asks.
pub(super) fn clauses(sentence: &str) -> Vec<Cow<'_, str>> {
    let bare = sentence.trim_end_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '?' | '？'));
    let asks = bare.ends_with(['?', '？']);
    let Some(bare) = (if asks { stated(bare) } else { Some(bare) }) else {
        return Vec::new();
    };
    let words = words(bare);
    let sentence = Sentence {
        text: bare,
        words: &words,
    };
    let mut found = Vec::new();
    for part in sentence.cut() {
        found.extend(resolved(part));
    }
    found.retain(|clause| clause.chars().count() <= CLAUSE_CHARS_MAX);
    found
}

struct Sentence<'a, 'w> {
    text: &'a str,
    words: &'w [Word],
}

impl<'a> Sentence<'a, '_> {
    fn cut(&self) -> Vec<&'a str> {
        let words = self.words;
        let mut found = Vec::new();
        let (mut start, mut first) = (0, 0);
        for at in 1..words.len() {
            let possessive = matches!(words[at].text.as_str(), "my" | "our");
            let own = is_own_subject(&words[at].text) && (!possessive || has_verb(&words[at + 1..]));
            if !own && !self.is_event(at) {
                continue;
            }
            let begin = self
                .time_before(first, at)
                .unwrap_or_else(|| self.over_adverbs(first, at));
            let joined = begin > first && JOINERS.contains(&words[begin - 1].text.as_str());
            let end = begin - usize::from(joined);
            if end <= first || !(joined || words[begin].breaks) || self.is_lead(first, end) {
                continue;
            }
            found.push(&self.text[start..words[end].range.start]);
            (start, first) = (words[begin].range.start, begin);
        }
        found.push(&self.text[start..]);
        found
    }

    /// Whether a clause about a named event begins: "…, the deadline is 15 May".
    fn is_event(&self, at: usize) -> bool {
        let near = self
            .words
            .iter()
            .skip(at + 2)
            .take(3)
            .take_while(|word| !word.breaks);
        let is = |word: &Word| {
            matches!(
                word.text.as_str(),
                "is" | "has" | "was" | "starts" | "begins" | "leaves"
            )
        };
        self.words[at].breaks && self.words[at].text == "the" && near.into_iter().any(is)
    }

    /// Back over what stands between a joining word and the subject: "so now I".
    fn over_adverbs(&self, first: usize, at: usize) -> usize {
        let idle = |at: &usize| !self.words[*at].breaks && ADVERBS.contains(&self.words[at - 1].text);
        let begin = (first + 1..=at).rev().find(|at| !idle(at)).unwrap_or(at);
        if JOINERS.contains(&self.words[begin.saturating_sub(1)].text.as_str()) {
            begin
        } else {
            at
        }
    }

    /// Where the time begins that leads a clause whose subject stands at `at`: "I left Acme; on 1 October I start …".
    fn time_before(&self, first: usize, at: usize) -> Option<usize> {
        let words = self.words;
        let begins = |when: &usize| words[*when].breaks || JOINERS.contains(&words[when - 1].text.as_str());
        let earliest = at.saturating_sub(LEAD_WORDS_MAX).max(first + 1);
        let when = (earliest..at).rev().find(begins)?;
        let lead = &self.text[words[when].range.start..words[at - 1].range.end];
        let timely = TIMELY.contains(&words[when].text);
        let is_time = |word: &Word| {
            TIME_UNITS.contains(&word.text) || word.text == "now" || word.text.parse::<u16>().is_ok()
        };
        (timely && (names_a_day(lead) || words[when..at].iter().any(is_time))).then_some(when)
    }

    /// Whether words before a subject belong to its clause: a time, a condition, another person's words, or nothing.
    fn is_lead(&self, first: usize, end: usize) -> bool {
        let head = &self.words[first..end];
        // "My wife and I": one subject.
        let acts =
            |word: &Word| verb(&word.text).is_some() || matches!(word.text.as_str(), "is" | "was" | "are");
        if matches!(head[0].text.as_str(), "my" | "our") && head.len() <= 3 && !head.iter().any(acts) {
            return true;
        }
        if head.len() > LEAD_WORDS_MAX || head.iter().any(|word| is_own_subject(&word.text)) {
            return false;
        }
        let opens = &head[0].text;
        let text = &self.text[head[0].range.start..self.words[end].range.start];
        let quoted = text.trim_end().ends_with([':', '"', '“', '(']);
        let word = |word: &Word| HYPOTHETICAL.contains(&word.text) || NOT_OWN.contains(&word.text);
        let timely = |word: &Word| TIME_UNITS.contains(&word.text) || word.text.parse::<u16>().is_ok();
        let acts = |word: &Word| {
            matches!(verb(&word.text), Some((_, Form::Past | Form::Third)))
                || participle(&word.text).is_some()
        };
        let is_time = names_a_day(text) || head.iter().any(timely);
        head.len() == 1
            || quoted
            || SUBORDINATE.contains(opens)
            || is_preposition(opens)
            || is_time && !head.iter().any(acts)
            || head.iter().any(word)
            || head.iter().all(|word| LEADS.contains(&word.text))
    }
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

/// A clause, and what it adds about a thing of its own: "we postponed the wedding, it's on 30 August now" also says
/// "our wedding is on 30 August now".
fn resolved(clause: &str) -> Vec<Cow<'_, str>> {
    let words = words(clause);
    let place = (3..words.len()).find(|at| {
        let opens = words[*at].breaks || matches!(words[at - 1].text.as_str(), "and" | "now" | "so");
        // "The shows … it's …": not of them.
        let of_many = words[at - 1].text.ends_with('s') && words[*at].text.starts_with("it");
        opens && !of_many && is_of(&words[*at].text)
    });
    let told = place.and_then(|at| {
        let is_new =
            words[at..].iter().any(|word| word.text == "now") || names_a_day(&clause[words[at].range.end..]);
        Some((
            at,
            thing(clause, &words[..at], is_new)?,
            rest(clause, &words, at)?,
        ))
    });
    match told {
        Some((at, thing, rest)) => {
            let before = at - usize::from(matches!(words[at - 1].text.as_str(), "and" | "now" | "so"));
            let head = &clause[..words[before].range.start];
            vec![Cow::Borrowed(head), Cow::Owned(format!("my {thing} {rest}"))]
        }
        None => vec![Cow::Borrowed(clause)],
    }
}

fn is_of(word: &str) -> bool {
    matches!(
        word,
        "it" | "it's" | "he" | "he's" | "she" | "she's" | "they" | "they're"
    )
}

/// The predicate of the thing at `at`, if it describes the thing's present state: with a name, a number, or "now".
fn rest<'a>(clause: &'a str, words: &[Word], at: usize) -> Option<Cow<'a, str>> {
    let telling = |word: &Word| {
        let digit = word.text.starts_with(|c: char| c.is_ascii_digit());
        digit || word.text == "now" || (word.capital && !is_own_subject(&word.text))
    };
    let said = words.get(at + 1..).filter(|rest| rest.iter().any(telling))?;
    let rest = &clause[said.first()?.range.start..];
    let contracted = words[at].text.contains('\'');
    let be = matches!(said[0].text.as_str(), "is" | "are" | "was" | "will" | "has");
    (contracted || be).then(|| {
        if contracted {
            let be = if matches!(&*said[0].text, "been" | "become" | "got" | "gone") {
                "has"
            } else {
                "is"
            };
            Cow::Owned(format!("{be} {rest}"))
        } else {
            Cow::Borrowed(rest)
        }
    })
}

/// The last thing of the speaker's in some words: "car" in "I had my car repainted".
/// What is just "the" thing is so only where it has changed.
fn thing<'a>(clause: &'a str, words: &[Word], is_new: bool) -> Option<&'a str> {
    let is_mine = |word: &Word| matches!(word.text.as_str(), "my" | "our") || is_new && word.text == "the";
    let start = words.iter().rposition(is_mine)? + 1;
    let ends = |word: &Word| {
        let acts = matches!(verb(&word.text), Some((_, Form::Past | Form::Participle)));
        word.breaks
            || is_preposition(&word.text)
            || acts
            || word.text.ends_with("ed")
            || matches!(
                word.text.as_str(),
                "is" | "was" | "used" | "and" | "has" | "had" | "have"
            )
    };
    let noun = words[start..]
        .iter()
        .take(THING_WORDS_MAX)
        .take_while(|word| !ends(word))
        .count();
    let last = noun.checked_sub(1)?;
    Some(&clause[words[start].range.start..words[start + last].range.end])
}
