//! "Alice's favourite food is sushi": value, name or state of a person's thing.
//!
//! Owns: slots of things that a person has one of. Never: dates of things (`dated`).

use super::dated;
use super::rules::{Reading, SUBJECT_WORDS_MAX, is_calendar, is_number, joined, value_of};
use crate::facts::lexicon::is_kin;
use crate::words::{Word, WordList, word_list};

/// Things that a person has one of, as nouns behind "Alice's".
static NOUNS: WordList = word_list!(
    "employer company job title role position boss manager supervisor landlord doctor dentist therapist \
     mentor advisor wife husband girlfriend boyfriend partner fiancé fiance fiancée spouse name nickname \
     surname number email e-mail address username handle website zone timezone birthday age weight height \
     hometown home city house flat apartment car bike phone laptop computer tablet editor browser shell bank \
     gym school university college major salary rent budget pace deadline shift schedule bedtime \
     commute diet dose dosage medication status language os password-manager carrier provider hairdresser \
     coach trainer size insurance lead captain accountant lawyer plumber gp dealer neighbour neighbor flatmate roommate handle \
     pressure pulse income wage pension tariff grade level score"
);

static PLACES: WordList =
    word_list!("office shop company school clinic gym studio practice headquarters hq team");

static PARTNERS: WordList =
    word_list!("wife husband girlfriend boyfriend partner spouse fiancé fiancée fiance roommate flatmate");

static ANIMALS: WordList = word_list!("dog cat puppy kitten horse rabbit hamster parrot bird tortoise");

/// Verbs that put one thing in the place of another.
static CHANGES: WordList =
    word_list!("changed switched upgraded updated downgraded swapped replaced traded exchanged");

/// Words for a thing's condition.
static STATUSES: WordList = word_list!(
    "broken fixed repaired sold done finished complete completed pending cancelled canceled sick ill better \
     recovered healthy pregnant open closed ready approved rejected denied delayed lost found stolen dead \
     alive working live renovated submitted published accepted paid unpaid overdue signed expired"
);

/// Verbs between a thing and what it is now.
static BE: WordList = word_list!(
    "is are was became changed went increased decreased dropped rose moved has got starts leaves departs begins"
);

/// Words between the verb and the value.
static FILLERS: WordList = word_list!(
    "in at with up down to been on called named changed near by set moved from back a an the become gone increased dropped risen \
     raised lowered reduced upped cut updated switched"
);

/// Words at which a value ends.
static ENDS: WordList = word_list!("since because but so which who as instead not and until if though");

/// Things of which a person has several, even if a text names one.
static SEVERAL: WordList = word_list!(
    "book film movie song game hobby language plant trip talk exam class course idea dream recommendation teammate client \
     customer patient tenant employee intern candidate supplier"
);

/// Longer values are descriptions, not names.
const RESTATED_WORDS_MAX: usize = 3;
const VALUE_WORDS_MAX: usize = 5;
const NOUN_WORDS_MAX: usize = 6;

/// Reads "X's noun is value" and "X has a new noun, value".
pub(super) fn read(words: &[Word]) -> Option<Reading> {
    owned(words).or_else(|| got(words)).or_else(|| changed(words))
}

/// "Alice upgraded their phone to a Pixel", "Alice changed their address from Oak Street to Elm Road".
fn changed(words: &[Word]) -> Option<Reading> {
    if let Some(made) = made(words) {
        return Some(made);
    }
    let change = (1..words.len().min(SUBJECT_WORDS_MAX)).find(|at| CHANGES.contains(&words[*at].text))?;
    let from = change + 2;
    let is_to = |at: &usize| matches!(words[*at].text.as_str(), "to" | "from" | "for" | "with");
    let to = (from + 1..words.len().min(from + NOUN_WORDS_MAX)).find(is_to)?;
    let noun = noun(&words[from..to]);
    let last_to = (to..words.len())
        .rev()
        .find(|at| words[*at].text == "to")
        .unwrap_or(to);
    let value = words.get(last_to + 1..).filter(|value| !value.is_empty())?;
    let value = &value[..value_end(value, 0)];
    if words[change + 1].text != "their" || !NOUNS.contains(noun.last()?) || value.iter().any(is_calendar) {
        return None;
    }
    let attribute = attribute(&noun.join(" "), noun.last()?);
    Some(change_of(joined(&words[..change]), attribute, value))
}

/// The time of day of "X's noun".
pub(super) fn clock(words: &[Word]) -> Option<Reading> {
    let (_, noun, be) = parts(words)?;
    dated::clock(&words[be..], &noun.join(" "))
}

/// "Alice has a new manager, Ivan", "Alice got a new number: 555-0101".
fn got(words: &[Word]) -> Option<Reading> {
    let new = (2..words.len().min(SUBJECT_WORDS_MAX + 4)).find(|at| words[*at].text == "new")?;
    let has = (1..new).find(|at| {
        matches!(
            words[*at].text.as_str(),
            "has" | "got" | "gets" | "found" | "chose"
        )
    })?;
    let between = |word: &Word| matches!(word.text.as_str(), "got" | "a" | "an" | "the" | "their" | "brand");
    let named =
        |word: &Word| word.breaks || matches!(word.text.as_str(), "called" | "named") || is_number(word);
    let value_at = (new + 2..words.len().min(new + 2 + NOUN_WORDS_MAX)).find(|at| named(&words[*at]))?;
    let noun = noun(&words[new + 1..value_at]);
    let value = &words[value_at + usize::from(matches!(words[value_at].text.as_str(), "called" | "named"))..];
    let value = &value[..value_end(value, 0).min(value.len())];
    let tells = value.first().is_some_and(|word| word.capital || is_number(word));
    if !words[has + 1..new].iter().all(between) || !tells || !NOUNS.contains(noun.last()?) {
        return None;
    }
    let owner = joined(&words[..has]);
    let noun_text = noun.join(" ");
    Some(if is_named(noun.last()?, value) {
        change_of(format!("{owner}'s {noun_text}"), "name", value)
    } else {
        change_of(owner, attribute(&noun_text, noun.last()?), value)
    })
}

/// "Alice made Firefox their main browser".
fn made(words: &[Word]) -> Option<Reading> {
    let made = (1..words.len().min(SUBJECT_WORDS_MAX))
        .find(|at| matches!(words[*at].text.as_str(), "made" | "chose" | "picked" | "named"))?;
    let their =
        (made + 2..words.len().min(made + 2 + VALUE_WORDS_MAX)).find(|at| words[*at].text == "their")?;
    let end = value_end(words, their + 1);
    let noun = noun(&words[their + 1..end]);
    let value = &words[made + 1..their - usize::from(words[their - 1].text == "as")];
    if !NOUNS.contains(noun.last()?) || value.is_empty() {
        return None;
    }
    let attribute = attribute(&noun.join(" "), noun.last()?);
    Some(change_of(joined(&words[..made]), attribute, value))
}

fn change_of(subject: String, attribute: impl Into<String>, value: &[Word]) -> Reading {
    Reading {
        event: true,
        ..Reading::new(subject, attribute, value_of(value))
    }
}

/// Whether a value is the name of a person or an animal.
fn is_named(noun: &str, value: &[Word]) -> bool {
    let name = value.len() <= 2 && value.iter().all(|word| word.capital && !is_calendar(word));
    name && (ANIMALS.contains(noun) || PARTNERS.contains(noun))
}

/// Where the owner ends, what is owned, and where the verb stands.
fn parts(words: &[Word]) -> Option<(usize, Vec<&str>, usize)> {
    let subject_words = &words[..words.len().min(SUBJECT_WORDS_MAX)];
    let owner_end = 1 + subject_words.iter().rposition(is_owner)?;
    let noun_end_max = words.len().min(owner_end + 1 + NOUN_WORDS_MAX);
    let be = (owner_end + 1..noun_end_max).find(|at| BE.contains(&words[*at].text))?;
    Some((owner_end, noun(&words[owner_end..be]), be))
}

/// "Alice's dog is now Rex", taken apart.
struct Owned<'a> {
    owner: String,
    noun: Vec<&'a str>,
    be: &'a str,
    rest: &'a [Word],
    /// Where the value begins in the rest.
    start: usize,
    value: &'a [Word],
}

fn owned(words: &[Word]) -> Option<Reading> {
    let owned = Owned::of(words)?;
    let favourite = |word: &&str| matches!(*word, "favourite" | "favorite" | "go-to");
    if let Some(at) = owned.noun.iter().position(favourite) {
        return owned.favourite(at);
    }
    let head = *owned.noun.last()?;
    let is_date = is_number(&owned.value[0]) || is_calendar(&owned.value[0]);
    let moved = owned.rest.iter().take(3).any(dated::is_change);
    if (is_date || moved) && owned.rest.iter().any(is_calendar) && head != "birthday" {
        return dated::of_thing(owned.rest, &owned.noun.join(" "));
    }
    if owned.is_status() {
        let attribute = format!("status of {}", owned.noun.join(" "));
        return Some(owned.reading(owned.owner.clone(), attribute, owned.value[0].text.clone()));
    }
    owned.attribute(head)
}

impl<'a> Owned<'a> {
    fn of(words: &'a [Word]) -> Option<Self> {
        let (owner_end, noun, be) = parts(words)?;
        let rest = &words[be + 1..];
        let start = rest.iter().position(|word| !FILLERS.contains(&word.text))?;
        if matches!(
            rest[start].text.as_str(),
            "not" | "no" | "never" | "so" | "very" | "too"
        ) {
            return None;
        }
        let owner = joined(&words[..owner_end]);
        Some(Self {
            owner: owner.strip_suffix("'s").unwrap_or(&owner).to_owned(),
            noun,
            be: &words[be].text,
            rest,
            start,
            value: &rest[start..value_end(rest, start)],
        })
    }

    fn reading(&self, subject: String, attribute: String, value: String) -> Reading {
        Reading {
            event: !matches!(self.be, "is" | "are"),
            ..Reading::new(subject, attribute, value)
        }
    }

    /// The thing itself, as what has a name or a place.
    fn thing(&self) -> String {
        format!("{}'s {}", self.owner, self.noun.join(" "))
    }

    fn is_followed_by(&self, any: &str) -> bool {
        let first = self.rest.first();
        first.is_some_and(|word| any.split(' ').any(|other| other == word.text))
    }

    fn favourite(&self, at: usize) -> Option<Reading> {
        let thing = &self.noun[at + 1..];
        let clausal = |word: &&str| matches!(*word, "when" | "who" | "that" | "where" | "to");
        if thing.is_empty() || thing.iter().any(clausal) {
            return None;
        }
        let attribute = format!("favourite {}", thing.join(" "));
        Some(self.reading(self.owner.clone(), attribute, value_of(self.value)))
    }

    /// "Her application is approved": one word that says how it stands.
    fn is_status(&self) -> bool {
        let after = self.rest.get(self.start + 1);
        let ends = |word: &str| matches!(word, "last" | "this" | "yesterday" | "today" | "again" | "by");
        let alone = after.is_none_or(|next| next.breaks || is_calendar(next) || ends(&next.text));
        STATUSES.contains(&self.value[0].text)
            && alone
            && !self.rest[..self.start].iter().any(|word| word.text == "to")
    }

    fn attribute(&self, head: &str) -> Option<Reading> {
        let changed = self.is_followed_by(CHANGED);
        if matches!(self.be, "was" | "has") && !changed {
            return None;
        }
        // A name says itself: "Alice's dog is Rex".
        if self.is_followed_by("called named") || is_named(head, self.value) {
            return Some(self.reading(self.thing(), "name".to_owned(), value_of(self.value)));
        }
        if PLACES.contains(head) && self.is_followed_by("in") && self.value.iter().any(|word| word.capital) {
            return Some(self.reading(self.thing(), "residence".to_owned(), value_of(self.value)));
        }
        if !NOUNS.contains(head) {
            return self.restated(head);
        }
        if is_kin(head) && !self.value.iter().any(|word| word.capital) {
            return None;
        }
        let needs_place = matches!(head, "job" | "home" | "house" | "flat" | "apartment");
        if needs_place && !self.is_followed_by("in at with near") {
            return None;
        }
        let name = attribute(&self.noun.join(" "), head);
        Some(self.reading(self.owner.clone(), name, value_of(self.value)))
    }

    /// "Alice's barber is Enzo", "Alice's frontend is in Angular", "Alice's ferritin is 79": a thing that nothing is known
    /// of has one value of a kind, a name or a number, if it is said in the singular and is nobody of whom one has several.
    fn restated(&self, head: &str) -> Option<Reading> {
        let first = self.value.first()?;
        let kind = if is_number(first) {
            "number"
        } else if first.capital && !is_calendar(first) {
            "name"
        } else {
            return None;
        };
        let said = self.start == 0 || self.is_followed_by("in from") && kind == "name";
        let several = head.ends_with('s') && !head.ends_with("ss") || is_kin(head) || SEVERAL.contains(head);
        (self.be == "is" && said && !several && self.value.len() <= RESTATED_WORDS_MAX).then(|| {
            let attribute = format!("{} ({kind})", self.noun.join(" "));
            self.reading(self.owner.clone(), attribute, value_of(self.value))
        })
    }
}

/// Verbs that say that the thing has another value now.
const CHANGED: &str =
    "changed become gone increased dropped risen raised lowered cut reduced upped updated switched set";

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
    // Some nouns have a value that another noun's slot holds too.
    let same = match noun {
        "company" => "employer",
        "home" | "city" | "house" | "apartment" | "flat" => "residence",
        "timezone" => "time zone",
        "title" | "role" | "position" => "job title",
        "e-mail" | "email address" | "e-mail address" => "email",
        "university" | "college" => "school",
        "fiance" => "partner",
        "number" | "cell number" | "mobile number" => "phone number",
        "home address" => "address",
        other => other,
    };
    same.to_owned()
}

fn value_end(words: &[Word], start: usize) -> usize {
    let longest = words.len().min(start + VALUE_WORDS_MAX);
    let ends = |at: &usize| words[*at].breaks || ENDS.contains(&words[*at].text);
    (start + 1..longest).find(ends).unwrap_or(longest)
}
