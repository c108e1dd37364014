//! What fills a slot: how people say where they live, what they are, and when something is.
//!
//! Owns: reading a fact as a slot. Never: comparing values.
//!
//! Only attributes that a person has one of: where they live, not where they have been; the dog's name, not "has a dog
//! named"; a favourite food, not a liked one. The phrases are data, in `phrases.txt`.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::Slot;
use super::pattern::Pattern;
use super::{dated, possessive};
use crate::dates::names_a_day;
use crate::facts::lexicon::{ADVERBS, verb};
use crate::words::{Word, WordList, word_list, words};

/// A fact read as a slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reading {
    pub(super) slot: Slot,
    /// It tells when something became so, not how it is; an event long past is no news.
    pub(super) event: bool,
}

/// What a value must look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Want {
    Any,
    /// With a capital letter in it: places, firms, people.
    Named,
    /// A profession.
    Trade,
    /// A number, or a word for one.
    Number,
    /// Nothing: the phrase itself says the value.
    Said(&'static str),
}

struct Rule {
    attribute: &'static str,
    want: Want,
    event: bool,
    pattern: Pattern,
}

static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    let mut head = ("", Want::Any, false);
    let mut rules = Vec::new();
    for line in include_str!("phrases.txt")
        .lines()
        .filter(|line| !line.starts_with('#'))
    {
        if let Some(phrase) = line.strip_prefix("  ") {
            let (attribute, want, event) = head;
            let pattern = Pattern::new(phrase);
            rules.push(Rule {
                attribute,
                want,
                event,
                pattern,
            });
            continue;
        }
        let mut parts = line.split(" | ");
        let mut part = || parts.next().unwrap_or("");
        head.0 = part();
        head.1 = match part() {
            "named" => Want::Named,
            "trade" => Want::Trade,
            "number" => Want::Number,
            other => other.strip_prefix('=').map_or(Want::Any, Want::Said),
        };
        head.2 = part() == "event";
    }
    rules
});

static BY_WORD: LazyLock<HashMap<&'static str, Vec<usize>>> = LazyLock::new(|| {
    let mut by_word: HashMap<&str, Vec<usize>> = HashMap::new();
    for (place, rule) in RULES.iter().enumerate() {
        for word in rule.pattern.first_words() {
            by_word.entry(word).or_default().push(place);
        }
    }
    by_word
});

static TRADES: WordList = word_list!(
    "baker vet veterinarian surgeon coach farmer actor actress plumber tutor engineer developer programmer teacher nurse doctor lawyer accountant manager director designer \
     consultant analyst architect scientist researcher professor lecturer student intern assistant \
     administrator barista chef cook waiter waitress bartender driver pilot electrician plumber carpenter \
     mechanic technician officer firefighter paramedic pharmacist dentist therapist counselor psychologist \
     librarian journalist editor translator salesperson cashier clerk secretary supervisor principal lead \
     head cto ceo cfo vp president freelancer contractor"
);

static NUMBERS: WordList = word_list!(
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen \
     seventeen eighteen nineteen twenty"
);

/// What follows "works at" or "works for" without being an employer.
static NO_VALUE: WordList = word_list!(
    "home night nights weekends day days times hours it that this them people kids children living fun once work \
     free free-time myself themselves there here all least first"
);

/// Words that show that what follows is not what the subject is or does now.
static BLOCKERS: WordList = word_list!(
    "not never wants to will was and plans used would that hopes said says if when who which isn't doesn't \
     didn't wasn't or thinks likes loves had with about before after in of for"
);
/// How many words a subject has at most.
pub(super) const SUBJECT_WORDS_MAX: usize = 5;

/// A fact's words without adverbs and without what stands in brackets.
pub(super) fn plain_words(text: &str) -> Vec<Word> {
    let mut plain = String::with_capacity(text.len());
    let mut depth = 0usize;
    for c in text.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ if depth == 0 => plain.push(c),
            _ => {}
        }
    }
    let mut words = words(&plain);
    words.retain(|word| word.breaks || !ADVERBS.contains(&word.text));
    words
}

/// Reads a fact's text as a slot.
pub(super) fn read(text: &str) -> Option<Reading> {
    let words = plain_words(text);
    possessive::read(&words)
        .or_else(|| dated::read(&words))
        .or_else(|| verbal(&words))
        .or_else(|| verbal(&second(&words)?))
}

/// "Alice left teaching and became a nurse" as "Alice became a nurse".
fn second(words: &[Word]) -> Option<Vec<Word>> {
    let is_verb = |word: &Word| verb(&word.text).is_some() || matches!(word.text.as_str(), "is" | "has");
    let subject = words.iter().skip(1).position(is_verb)? + 1;
    let and = words
        .windows(2)
        .position(|pair| pair[0].text == "and" && is_verb(&pair[1]))?;
    Some([&words[..subject.min(and)], &words[and + 1..]].concat())
}

pub(super) fn joined(words: &[Word]) -> String {
    let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    texts.join(" ")
}

/// "Alice lives in Lisbon."
fn verbal(words: &[Word]) -> Option<Reading> {
    for start in 1..=SUBJECT_WORDS_MAX.min(words.len()) {
        if start > 1 && BLOCKERS.contains(&words[start - 1].text) {
            return None;
        }
        for rule in rules_for(words.get(start).map_or("", |word| &word.text)) {
            let Some(found) = rule.pattern.find(words, start) else {
                continue;
            };
            let value = found.new.map_or(&words[..0], |range| &words[range]);
            let value = match rule.want {
                Want::Said(value) => value.to_owned(),
                want if fits(want, value) => value_of(value),
                _ => continue,
            };
            let slot = Slot {
                subject: joined(&words[..start]),
                attribute: rule.attribute.to_owned(),
                value,
            };
            return Some(Reading {
                slot,
                event: rule.event,
            });
        }
        if let Some(reading) = count(words, start) {
            return Some(reading);
        }
    }
    None
}

/// The rules whose phrase can begin with a word, in their order.
fn rules_for(word: &str) -> impl Iterator<Item = &'static Rule> {
    let places = BY_WORD.get(word).map_or(&[][..], Vec::as_slice);
    places.iter().map(|place| &RULES[*place])
}

fn fits(want: Want, value: &[Word]) -> bool {
    match want {
        Want::Any | Want::Said(_) => value.iter().any(|word| !NO_VALUE.contains(&word.text)),
        Want::Named => value.iter().any(|word| word.capital && !is_calendar(word)),
        Want::Trade => value.iter().take(5).any(|word| TRADES.contains(&word.text)),
        Want::Number => value.first().is_some_and(is_number),
    }
}

pub(super) fn is_number(word: &Word) -> bool {
    word.text.starts_with(|c: char| c.is_ascii_digit()) || NUMBERS.contains(&word.text)
}

/// A weekday, a month, or another word that a date is made of.
pub(super) fn is_calendar(word: &Word) -> bool {
    let loose = matches!(
        word.text.as_str(),
        "tomorrow"
            | "week"
            | "weekend"
            | "month"
            | "year"
            | "spring"
            | "summer"
            | "autumn"
            | "winter"
            | "noon"
    );
    // Words are in lower case here; a month or weekday counts when it was written as a name.
    let mut letters = word.text.chars();
    let first = letters.next().map(char::to_uppercase);
    let name: String = first.map_or_else(String::new, |first| first.chain(letters).collect());
    loose || (word.capital && names_a_day(&name))
}

/// A value without its article.
pub(super) fn value_of(words: &[Word]) -> String {
    let idle = |word: &&Word| {
        matches!(
            word.text.as_str(),
            "a" | "an" | "the" | "called" | "named" | "new"
        )
    };
    joined(&words[words.iter().take_while(idle).count()..])
}

/// "Alice has three cats."
fn count(words: &[Word], start: usize) -> Option<Reading> {
    let has = matches!(words.get(start)?.text.as_str(), "has" | "owns");
    let at = start + 1 + usize::from(words.get(start + 1)?.text == "got");
    let (number, thing) = (words.get(at)?, words.get(at + 1)?);
    let timed = matches!(
        thing.text.as_str(),
        "years" | "days" | "weeks" | "hours" | "minutes" | "months" | "times" | "more" | "other"
    );
    let one = matches!(number.text.as_str(), "one" | "1");
    let plural = thing.text.ends_with('s') || matches!(thing.text.as_str(), "children" | "fish" | "people");
    let next = words.get(at + 2);
    let ends = next.is_none_or(|next| next.breaks || BLOCKERS.contains(&next.text));
    if !has || !is_number(number) || timed || !(plural || one) || !ends {
        return None;
    }
    let slot = Slot {
        subject: joined(&words[..start]),
        attribute: format!("number of {}", recall::text::stem(&thing.text)),
        value: number.text.clone(),
    };
    Some(Reading { slot, event: false })
}
