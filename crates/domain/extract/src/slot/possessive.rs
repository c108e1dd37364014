//! "Alice's favourite food is sushi": what someone's thing is, is called, or how it is.
//!
//! Owns: slots of things that a person has one of. Never: dates of things (`dated`).

use super::Slot;
use super::dated;
use super::rules::{Reading, SUBJECT_WORDS_MAX, is_calendar, is_number, joined, value_of};
use crate::words::{Word, WordList, word_list};

/// Things that a person has one of, as nouns behind "Alice's".
static NOUNS: WordList = word_list!(
    "employer company job title role position boss manager supervisor landlord doctor dentist therapist \
     mentor advisor wife husband girlfriend boyfriend partner fiancé fiance fiancée spouse name nickname \
     surname number email e-mail address username handle website zone timezone birthday age weight height \
     hometown home city house flat apartment car bike phone laptop computer tablet editor browser shell bank \
     gym school university college major salary rent budget pace deadline shift schedule bedtime \
     commute diet dose dosage medication status language os password-manager carrier provider hairdresser \
     coach trainer size insurance"
);

/// Nouns with a value that another noun's slot holds too.
const SAME_AS: &[(&str, &str)] = &[
    ("company", "employer"),
    ("home", "residence"),
    ("city", "residence"),
    ("house", "residence"),
    ("apartment", "residence"),
    ("flat", "residence"),
    ("timezone", "time zone"),
    ("title", "job title"),
    ("role", "job title"),
    ("position", "job title"),
    ("e-mail", "email"),
    ("university", "school"),
    ("college", "school"),
    ("fiance", "partner"),
    ("number", "phone number"),
    ("cell number", "phone number"),
    ("mobile number", "phone number"),
    ("home address", "address"),
    ("email address", "email"),
    ("e-mail address", "email"),
];

/// What is said of a thing's condition.
static STATUSES: WordList = word_list!(
    "broken fixed repaired sold done finished complete completed pending cancelled canceled sick ill better \
     recovered healthy pregnant open closed ready approved rejected denied delayed lost found stolen dead \
     alive working live renovated submitted published accepted paid unpaid overdue signed expired"
);

/// Verbs between a thing and what it is now.
static BE: WordList =
    word_list!("is are was became changed went increased decreased dropped rose moved has got starts");

/// Words between the verb and the value.
static FILLERS: WordList = word_list!(
    "in at with up down to been on called named changed near by set moved from back a an the become gone increased dropped risen"
);

/// Words at which a value ends.
static ENDS: WordList = word_list!("since because but so which who as instead not and until if though");

const VALUE_WORDS_MAX: usize = 5;
const NOUN_WORDS_MAX: usize = 6;

/// Reads "X's noun is value".
pub(super) fn read(words: &[Word]) -> Option<Reading> {
    let subject_words = &words[..words.len().min(SUBJECT_WORDS_MAX)];
    let owner_end = 1 + subject_words.iter().rposition(is_owner)?;
    let noun_end_max = words.len().min(owner_end + 1 + NOUN_WORDS_MAX);
    let be = (owner_end + 1..noun_end_max).find(|at| BE.contains(&words[*at].text))?;
    let noun = noun(&words[owner_end..be]);
    let head = *noun.last()?;
    let rest = &words[be + 1..];
    let start = rest.iter().position(|word| !FILLERS.contains(&word.text))?;
    if matches!(
        rest[start].text.as_str(),
        "not" | "no" | "never" | "so" | "very" | "too"
    ) {
        return None;
    }
    let value = &rest[start..value_end(rest, start)];
    let is = |any: &[&str]| rest.first().is_some_and(|word| any.contains(&word.text.as_str()));
    let owner = joined(&words[..owner_end]);
    let owner = owner.strip_suffix("'s").unwrap_or(&owner).to_owned();
    let event = !matches!(words[be].text.as_str(), "is" | "are");
    let reading = |subject: String, attribute: String, value: String| {
        let slot = Slot {
            subject,
            attribute,
            value,
        };
        Some(Reading { slot, event })
    };
    if let Some(at) = noun
        .iter()
        .position(|word| matches!(*word, "favourite" | "favorite" | "go-to"))
    {
        let thing = &noun[at + 1..];
        let clausal = |word: &&str| matches!(*word, "when" | "who" | "that" | "where" | "to");
        if thing.is_empty() || thing.iter().any(clausal) {
            return None;
        }
        return reading(owner, format!("favourite {}", thing.join(" ")), value_of(value));
    }
    let is_date = is_number(&value[0]) || is_calendar(&value[0]);
    let moved = rest.iter().take(3).any(dated::is_change);
    if (is_date || moved) && rest.iter().any(is_calendar) && head != "birthday" {
        return dated::of_thing(rest, &noun.join(" "));
    }
    if STATUSES.contains(&value[0].text) && !rest[..start].iter().any(|word| word.text == "to") {
        return reading(
            owner,
            format!("status of {}", noun.join(" ")),
            value[0].text.clone(),
        );
    }
    let changed = is(&["changed", "become", "gone", "increased", "dropped", "risen"]);
    if matches!(words[be].text.as_str(), "was" | "has") && !changed {
        return None;
    }
    if is(&["called", "named"]) {
        return reading(
            format!("{owner}'s {}", noun.join(" ")),
            "name".to_owned(),
            value_of(value),
        );
    }
    let placed = is(&["in", "at", "with", "near"]);
    let needs_place = matches!(head, "job" | "home" | "house" | "flat" | "apartment");
    if !NOUNS.contains(head) || (needs_place && !placed) {
        return None;
    }
    reading(owner, attribute(&noun.join(" "), head), value_of(value))
}

/// Whether a word says whose: "Alice's", but not "it's".
fn is_owner(word: &Word) -> bool {
    let short = [
        "it's", "that's", "there's", "here's", "he's", "she's", "what's", "who's", "let's",
    ];
    word.text.ends_with("'s") && !short.contains(&word.text.as_str())
}

/// A noun phrase without what only says that it is the present one.
fn noun(words: &[Word]) -> Vec<&str> {
    let idle = ["new", "current", "all-time", "latest", "main", "primary", "own"];
    words
        .iter()
        .map(|word| word.text.as_str())
        .filter(|word| !idle.contains(word))
        .collect()
}

fn attribute(noun: &str, head: &str) -> String {
    // A job with a place is the one who gives it.
    let noun = if head == "job" { "employer" } else { noun };
    let same = SAME_AS.iter().find(|(name, _)| *name == noun);
    same.map_or(noun, |(_, same)| same).to_owned()
}

fn value_end(words: &[Word], start: usize) -> usize {
    let longest = words.len().min(start + VALUE_WORDS_MAX);
    let ends = |at: &usize| words[*at].breaks || ENDS.contains(&words[*at].text);
    (start + 1..longest).find(ends).unwrap_or(longest)
}
