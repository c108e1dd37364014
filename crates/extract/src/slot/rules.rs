//! Phrases that fill a slot: home, occupation, dates.
//!
//! Owns: reading a fact as a slot. Never: comparing values.
//!
//! Only attributes that a person has one of: where they live, not where they have been; the dog's name, not "has a dog
//! named"; a favourite food, not a liked one. The phrases are data, in `phrases.txt`.

use std::collections::HashMap;
use std::sync::LazyLock;

use text::is_stop_word;

use super::Slot;
use super::pattern::{Pattern, value_end};
use super::{dated, habit, possessive};
use crate::dates::names_a_day;
use crate::facts::lexicon::{ADVERBS, Form, GENERIC_NOUNS, VAGUE, third, verb};
use crate::words::{Word, WordList, word_list, words};

/// A fact read as a slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reading {
    pub(super) slot: Slot,
    /// It states when something changed, not its present state; a long past event changes nothing.
    pub(super) event: bool,
    /// It takes the place of another only if its text says that it is new.
    pub(super) only_news: bool,
}

impl Reading {
    /// What an attribute of a subject is now.
    pub(super) fn new(subject: String, attribute: impl Into<String>, value: String) -> Self {
        Self {
            slot: Slot {
                subject,
                attribute: attribute.into(),
                value,
            },
            event: false,
            only_news: false,
        }
    }

    /// Whether it says how a thing stands for the moment: "the game is finished".
    pub(super) fn is_passing(&self) -> bool {
        let stands = matches!(
            self.slot.value.as_str(),
            "finished" | "complete" | "completed" | "done" | "ready" | "open" | "closed" | "working" | "live"
        );
        stands && self.slot.attribute.starts_with("status of")
    }
}

/// Required form of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Want {
    Any,
    /// With a capital letter in it: places, firms, people.
    Named,
    /// A profession.
    Trade,
    /// A number, or a word for one, at the beginning.
    Number,
    /// Nothing else.
    NumberAlone,
    /// Nothing: the phrase itself says the value.
    Said(&'static str),
}

struct SlotRule {
    attribute: &'static str,
    want: Want,
    event: bool,
    pattern: Pattern,
}

static RULES: LazyLock<Vec<SlotRule>> = LazyLock::new(|| {
    let mut head = ("", Want::Any, false);
    let mut rules = Vec::new();
    for line in include_str!("phrases.txt")
        .lines()
        .filter(|line| !line.starts_with('#'))
    {
        if let Some(phrase) = line.strip_prefix("  ") {
            let (attribute, want, event) = head;
            let pattern = Pattern::new(phrase);
            rules.push(SlotRule {
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
            "alone" => Want::NumberAlone,
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
    "accountant actor actress actuary administrator agent analyst apprentice archaeologist architect archivist artist \
     assistant astronomer attorney auditor author baker banker barber barista bartender beautician biologist blacksmith \
     bookkeeper bookseller botanist bricklayer broker builder butcher buyer captain caregiver carer caretaker carpenter \
     cashier ceo cfo chef sous-chef chemist chiropractor cleaner clerk coach comedian composer conductor consultant contractor cook \
     coordinator copywriter counselor counsellor courier creator cto curator dancer dentist designer developer dietitian \
     director doctor dressmaker driver economist editor electrician engineer entrepreneur farmer filmmaker firefighter \
     fisherman fitter florist founder freelancer gardener geologist goldsmith guard guide hairdresser handyman head historian \
     illustrator inspector instructor intern interpreter investigator jeweller joiner journalist judge lab-technician \
     labourer landscaper lawyer lead lecturer librarian lifeguard locksmith machinist maid manager mathematician mechanic \
     midwife milliner miner model musician nanny nurse nutritionist officer optician optometrist painter paralegal paramedic \
     partner pharmacist photographer physicist physiotherapist pianist pilot planner plumber podiatrist poet policeman \
     policewoman porter postman potter president principal producer professor programmer psychiatrist psychologist publisher \
     radiographer ranger realtor receptionist recruiter referee reporter researcher roofer sailor salesman salesperson \
     saleswoman scientist screenwriter sculptor seamstress secretary singer social-worker soldier solicitor statistician \
     steward student superintendent supervisor surgeon surveyor tailor teacher technician teller tester therapist trader \
     trainee trainer translator treasurer tutor typist undertaker upholsterer vet veterinarian vicar vp waiter waitress warden welder \
     writer zookeeper"
);

/// Words before a trade that make it a hobby.
static LEISURE: WordList = word_list!(
    "keen avid amateur hobby passionate aspiring budding enthusiastic big good great huge terrible bad natural wannabe decent"
);

static NUMBERS: WordList = word_list!(
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen \
     seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred"
);

/// Words after "works at" or "works for" that are not an employer.
static NO_VALUE: WordList = word_list!(
    "home night nights weekends day days times hours it that this them people kids children living fun once work \
     free free-time myself themselves there here all least first"
);

/// Words that show that what follows is not what the subject is or does now.
pub(super) static BLOCKERS: WordList = word_list!(
    "not never wants to will was and plans used would that hopes said says if when who which isn't doesn't \
     didn't wasn't or thinks likes loves had has have is are been being can't won't don't can could may might must should with about before after in of for"
);
/// How many words a subject has at most.
pub(super) const SUBJECT_WORDS_MAX: usize = 5;

/// A fact's words without adverbs and without what stands in brackets.
pub(crate) fn plain_words(text: &str) -> Vec<Word> {
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
    for (phrase, short) in SHORTER {
        while let Some(at) = (0..words.len()).find(|at| starts_with(&words[*at..], phrase)) {
            words.drain(at + short.len()..at + phrase.len());
            for (word, text) in words[at..].iter_mut().zip(short.iter()) {
                (*text).clone_into(&mut word.text);
            }
        }
    }
    words
}

/// Phrases that stand for fewer words.
const SHORTER: [(&[&str], &[&str]); 6] = [
    (&["these", "days"], &[]),
    (&["at", "the", "moment"], &[]),
    (&["from", "on"], &[]),
    (&["had", "to", "be"], &["was"]),
    (&["has", "to", "be"], &["is"]),
    (&["for", "good"], &[]),
];

fn starts_with(words: &[Word], phrase: &[&str]) -> bool {
    words.len() >= phrase.len() && words.iter().zip(phrase).all(|(word, of)| word.text == *of)
}

/// Whether a text says that something is so now and was not before.
pub(super) fn is_news(text: &str) -> bool {
    const NEWS: [&str; 11] = [
        "now",
        "nowadays",
        "these days",
        "from now on",
        "instead",
        "currently",
        "at the moment",
        "lately",
        "switched",
        "anymore",
        "since",
    ];
    let text = format!(" {} ", text.to_lowercase().replace([',', '.', '!', ';'], " "));
    NEWS.iter().any(|news| text.contains(&format!(" {news} ")))
}

/// Reads the slots that a fact's text fills: most fill none, "is a nurse at St. Mary's" two.
pub(super) fn read(text: &str) -> Vec<Reading> {
    let words = plain_words(text);
    let named = possessive::read(&words).or_else(|| dated::read(&words));
    let clock = possessive::clock(&words).or_else(|| dated::clock_of(&words));
    if named.is_some() || clock.is_some() {
        return named.into_iter().chain(clock).collect();
    }
    let simple = simple(&words);
    let simple = simple.as_deref().unwrap_or(&words);
    let mut readings = verbal(&words);
    readings.extend(workplace(&words, &readings));
    for told in [simple].into_iter().chain(more(simple).iter().map(Vec::as_slice)) {
        for reading in verbal(told) {
            let same = |known: &Reading| {
                known.slot.subject == reading.slot.subject && known.slot.attribute == reading.slot.attribute
            };
            // Of two values in one fact the later one is the present one.
            readings.retain(|known| !same(known));
            readings.push(reading);
        }
    }
    readings
}

/// "Alice is a nurse at St. Mary's" contains her employer too.
fn workplace(words: &[Word], known: &[Reading]) -> Option<Reading> {
    let title = known
        .iter()
        .find(|reading| reading.slot.attribute == "job title")?;
    if title.slot.value.contains("student")
        || known.iter().any(|reading| reading.slot.attribute == "employer")
    {
        return None;
    }
    let at = (3..words.len()).find(|at| {
        matches!(words[at - 1].text.as_str(), "at" | "for" | "with")
            && words[*at].capital
            && !is_calendar(&words[*at])
    })?;
    let value = value_of(&words[at..value_end(words, at)]);
    Some(Reading {
        event: title.event,
        ..Reading::new(title.slot.subject.clone(), "employer", value)
    })
}

/// Verbs that tell in any form what someone does as a rule.
static HABITS: WordList = word_list!(
    "live work study attend drive use drink eat smoke play take learn read watch teach wake get sleep weigh wear run ride \
     commute rent own date bank report manage train practice practise speak write stay reside listen subscribe cycle swim"
);

/// "Alice has been working at", "started getting up at", "is back to using" as "Alice works at", "gets up at", "uses".
pub(super) fn simple(words: &[Word]) -> Option<Vec<Word>> {
    const BEFORE: [&str; 22] = [
        "is", "are", "has", "have", "been", "started", "began", "begun", "back", "gone", "went", "to", "up",
        "ended", "kept", "keeps", "now", "into", "taken", "took", "returned", "resumed",
    ];
    let doing = (2..words.len().min(SUBJECT_WORDS_MAX + 5)).find(|at| {
        let known = verb(&words[*at].text).filter(|(base, form)| *form == Form::Ing && HABITS.contains(base));
        let before = |back: usize| at.checked_sub(back).map_or("", |at| words[at].text.as_str());
        let taken_up = match before(1) {
            "up" => matches!(before(2), "ended" | "took" | "taken" | "takes"),
            "to" => matches!(before(2), "back" | "gone" | "went" | "returned"),
            word => BEFORE.contains(&word),
        };
        known.is_some() && taken_up
    })?;
    let helpers = words[..doing].iter().rev();
    let start = doing
        - helpers
            .take_while(|word| BEFORE.contains(&word.text.as_str()))
            .count();
    let (base, _) = verb(&words[doing].text)?;
    let told = Word {
        text: third(base),
        breaks: false,
        ..words[doing].clone()
    };
    let subject = &words[..start];
    (!subject.is_empty()).then(|| [subject, &[told], &words[doing + 1..]].concat())
}

/// Further statements in a fact about its subject: "Alice left teaching and became a nurse" contains "Alice became a
/// nurse".
pub(super) fn more(words: &[Word]) -> Vec<Vec<Word>> {
    let is_verb = |word: &Word| verb(&word.text).is_some() || matches!(word.text.as_str(), "is" | "has");
    let Some(subject) = words.iter().skip(1).position(is_verb).map(|at| at + 1) else {
        return Vec::new();
    };
    let parts = (subject + 1..words.len()).filter_map(|at| {
        let joined = words[at].breaks || matches!(words[at - 1].text.as_str(), "and" | "but");
        let same = matches!(words[at].text.as_str(), "he" | "she" | "they" | "it");
        let begin = at + usize::from(same);
        (joined && words.get(begin).is_some_and(is_verb)).then_some(begin)
    });
    let told = |at: usize| {
        let mut told = [&words[..subject], &words[at..]].concat();
        if let Some((base, Form::Base)) = verb(&words[at].text) {
            told[subject].text = third(base);
        }
        told
    };
    parts.map(told).collect()
}

pub(super) fn joined(words: &[Word]) -> String {
    let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    texts.join(" ")
}

/// "Alice lives in Lisbon."
fn verbal(words: &[Word]) -> Vec<Reading> {
    for start in 1..=SUBJECT_WORDS_MAX.min(words.len()) {
        if start > 1 && BLOCKERS.contains(&words[start - 1].text) {
            break;
        }
        let mut readings: Vec<Reading> = Vec::new();
        for rule in rules_for(words.get(start).map_or("", |word| &word.text)) {
            if readings
                .iter()
                .any(|known| known.slot.attribute == rule.attribute)
            {
                continue;
            }
            readings.extend(rule.read(words, start));
        }
        if readings.is_empty() {
            readings.extend(count(words, start).or_else(|| habit::read(words, start)));
        }
        if !readings.is_empty() {
            return readings;
        }
    }
    Vec::new()
}

impl SlotRule {
    fn read(&self, words: &[Word], start: usize) -> Option<Reading> {
        let found = self.pattern.find(words, start)?;
        let value = found.new.map_or(&words[..0], |range| &words[range]);
        let value = match self.want {
            Want::Said(value) => value.to_owned(),
            want if fits(want, value) => value_of(value),
            _ => return None,
        };
        Some(Reading {
            event: self.event,
            ..Reading::new(joined(&words[..start]), self.attribute, value)
        })
    }
}

/// The rules whose phrase can begin with a word, in their order.
fn rules_for(word: &str) -> impl Iterator<Item = &'static SlotRule> {
    let places = BY_WORD.get(word).map_or(&[][..], Vec::as_slice);
    places.iter().map(|place| &RULES[*place])
}

fn fits(want: Want, value: &[Word]) -> bool {
    match want {
        Want::Said(_) => true,
        Want::Any => {
            let lists = [&NO_VALUE, &VAGUE, &GENERIC_NOUNS];
            let telling = |word: &Word| {
                !is_stop_word(&word.text) && !lists.iter().any(|list| list.contains(&word.text))
            };
            value.iter().any(telling)
        }
        Want::Named => value
            .iter()
            .any(|word| word.capital && !is_calendar(word) && !word.text.contains('.')),
        Want::Trade => {
            let leisure = value.first().is_some_and(|word| LEISURE.contains(&word.text));
            let joins = |word: &&Word| {
                !is_stop_word(&word.text) && !word.text.ends_with("ing")
                    || matches!(word.text.as_str(), "a" | "an" | "the")
            };
            let mut title = value.iter().take_while(joins).take(5);
            !leisure && title.any(|word| TRADES.contains(&word.text))
        }
        Want::Number => value.first().is_some_and(is_number),
        Want::NumberAlone => matches!(value, [number] if is_number(number)),
    }
}

pub(crate) fn is_number(word: &Word) -> bool {
    // "Thirty-six".
    let is_spelt = || word.text.split('-').all(|part| NUMBERS.contains(part));
    word.text.starts_with(|c: char| c.is_ascii_digit()) || is_spelt()
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
    let name = name
        .strip_suffix("days")
        .map_or(name.clone(), |day| format!("{day}day"));
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
    let kind = thing
        .text
        .strip_suffix("ren")
        .filter(|kind| kind.ends_with("child"));
    let plural =
        thing.text.ends_with('s') || kind.is_some() || matches!(thing.text.as_str(), "fish" | "people");
    let next = words.get(at + 2);
    let ends = next.is_none_or(|next| next.breaks || BLOCKERS.contains(&next.text));
    if !has || !is_number(number) || timed || !(plural || one) || !ends {
        return None;
    }
    let attribute = format!("number of {}", text::stem(kind.unwrap_or(&thing.text)));
    Some(Reading::new(
        joined(&words[..start]),
        attribute,
        number.text.clone(),
    ))
}
