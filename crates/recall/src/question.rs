//! Analysis of a question.
//!
//! Owns: its terms with their weights, its speakers, its subject and time, the expected kind of answer. Never: rows'
//! scores.

use std::ops::Range;

use model::text::{self, Language};

use crate::asking::{Class, class};
use crate::corpus::Corpus;
use crate::hit::Query;
use crate::lexicon::Term;
use crate::row::{Row, RowKind};
use crate::state::StateQuestion;
use crate::time::{self, Expression, Span};
use crate::weights::Weights;

/// A word to search for.
#[derive(Debug, Clone)]
pub(crate) struct WantedWord {
    /// None if no row has it.
    pub(crate) term: Option<Term>,
    /// Its share of the question; all shares add up to 1.
    pub(crate) share: f32,
    pub(crate) place: Range<usize>,
}

/// Required kind of answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sought {
    Time,
    Number,
}

#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is asked by itself")]
pub(crate) struct Question {
    pub(crate) wanted: Vec<WantedWord>,
    pub(crate) spans: Vec<Span>,
    /// The narrowest of the spans.
    pub(crate) span: Option<Span>,
    /// No word of it names a subject: it has only a time, a speaker, or nothing.
    pub(crate) is_open: bool,
    /// It asks how things are now.
    pub(crate) about_now: bool,
    /// It is about the asker, or about nobody who speaks; not about the assistant's actions.
    pub(crate) is_personal: bool,
    /// It is in English, judged by its words.
    pub(crate) is_english: bool,
    /// The state that it asks for, if any.
    pub(crate) state: Option<StateQuestion>,
    /// It is about the asker.
    about_me: bool,
    /// It is about the assistant: "what did you recommend".
    about_you: bool,
    /// By speaker's number, whether it names them.
    named: Vec<bool>,
    sought: Option<Sought>,
}

/// Number of imaginary rows without any of the question's terms, so that a term has the same weight
/// in a small corpus and in a large one.
const ROWS_IMAGINED: usize = 50;

/// Maximum fit of a row outside the time of a question that names only a time.
const OUTSIDE: f32 = 0.5;

/// Words of questions about how things are now.
const NOW: [&str; 8] = [
    "now", "current", "currently", "latest", "recent", "recently", "still", "nowadays",
];

/// Words for the asker together with others, perhaps the assistant.
pub(crate) const OURS: [&str; 3] = ["our", "ours", "we"];

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

impl Question {
    pub(crate) fn new(corpus: &Corpus, query: &Query<'_>, weights: &Weights) -> Self {
        let times = time::asked(query.text, query.asked_at, query.zone);
        // A speaker without a row is nobody.
        let parts = |(name, rows): &(String, usize)| if *rows > 0 { parts(name) } else { Vec::new() };
        let names: Vec<Vec<String>> = corpus.speakers().iter().map(parts).collect();
        let is_name = |word: &str| names.iter().flatten().any(|part| part == word);
        let language = Language::of(query.text);
        let (mut words, mut told): (Vec<String>, Vec<QuestionWord>) = (Vec::new(), Vec::new());
        text::each_word(query.text, |place, word| {
            words.push(word.to_owned());
            if language.is_stop_word(word) {
                return;
            }
            let stem = language.stem(word).into_owned();
            if told.iter().any(|known| known.stem == stem) {
                return;
            }
            let is_of = |time: &Expression| time.range.start <= place.start && place.end <= time.range.end;
            let class = if times.iter().any(is_of) {
                Class::Time
            } else if is_name(word) {
                Class::Name
            } else {
                class(&stem)
            };
            let term = term(corpus, word, language);
            let rarity = rarity(corpus, term);
            told.push(QuestionWord {
                stem,
                term,
                class,
                rarity,
                place,
            });
        });
        let is_open = is_open(&told, &times);
        let named: Vec<bool> = names
            .iter()
            .map(|name| name.iter().any(|part| words.contains(part)))
            .collect();
        let is_self = |word: &String| text::first_person(word).is_some() && !OURS.contains(&word.as_str());
        let about_me =
            words.iter().any(is_self) || of_me(&words) || text::has_unspaced_first_person(query.text);
        let is_named = named.contains(&true);
        let state = StateQuestion::of(query.text, &words, &told, (about_me, is_named)).filter(|_| !is_open);
        let is_personal = about_me || !is_named;
        let about_you = has_any(&words, &["you", "your", "yours"]);
        Self {
            is_english: language == Language::English && has_letters(query.text),
            is_personal: is_personal && !about_you,
            wanted: wanted(told, is_open, weights),
            span: time::narrowest(&times),
            spans: times.into_iter().map(|time| time.span).collect(),
            is_open,
            about_now: has_any(&words, &NOW),
            state,
            about_me,
            about_you,
            named,
            sought: sought(&words),
        }
    }

    /// Whether a turn is by someone the question is about: 0 or 1.
    pub(crate) fn speaker(&self, row: &Row) -> f32 {
        let named = row
            .traits
            .speaker
            .is_some_and(|number| self.named[number as usize]);
        f32::from(u8::from(named || self.about_me && row.traits.own))
    }

    /// Whether the question is about the assistant, for an answer of the assistant's: 1 or -1; 0
    /// for another row.
    pub(crate) fn reply(&self, row: &Row) -> f32 {
        match (row.traits.reply, self.about_you) {
            (true, true) => 1.0,
            (true, false) => -1.0,
            (false, _) => 0.0,
        }
    }

    /// Whether a row has the required kind of answer: 0 or 1.
    pub(crate) fn answered(&self, row: &Row) -> f32 {
        let holds = match self.sought {
            Some(Sought::Time) => row.traits.time,
            Some(Sought::Number) => row.traits.number,
            None => false,
        };
        f32::from(u8::from(holds))
    }

    /// How well a row's date fits the times in the question: 1 inside, a half at one span's length outside, and less if
    /// the question names only a time.
    pub(crate) fn time_fit(&self, row: &Row) -> Option<f32> {
        if self.spans.is_empty() {
            return None;
        }
        let said = row.time.millis();
        let holds = row.valid_from().map(|from| {
            // A state that began long ago and still holds is not an event of that time.
            let open_end = if self.is_open { from.millis() } else { i64::MAX };
            let until = row.valid_until().map_or(open_end, model::Timestamp::millis);
            (from.millis(), until.max(from.millis()))
        });
        let fit = |span: &Span| {
            let (from, to) = (span.from.millis(), span.to.millis());
            let gap =
                |first: i64, last: i64| first.saturating_sub(to - 1).max(from.saturating_sub(last)).max(0);
            let gap = holds
                .map_or(i64::MAX, |(first, last)| gap(first, last))
                .min(gap(said, said));
            let relative = gap as f32 / to.saturating_sub(from).max(DAY_MS) as f32;
            let outside = if self.is_open && gap > 0 { OUTSIDE } else { 1.0 };
            outside / (1.0 + relative * relative)
        };
        self.spans.iter().map(fit).reduce(f32::max)
    }
}

/// A word of the question, before it is weighed.
pub(crate) struct QuestionWord {
    pub(crate) stem: String,
    pub(crate) term: Option<Term>,
    class: Class,
    rarity: f32,
    place: Range<usize>,
}

/// Whether no word names a subject. With a time, names and words of asking do not count; without
/// one, they are the only hint.
fn is_open(told: &[QuestionWord], times: &[Expression]) -> bool {
    told.iter().all(|word| match word.class {
        Class::Empty | Class::Time => true,
        Class::Name | Class::Asking => !times.is_empty(),
        Class::Telling => false,
    })
}

/// The search terms, with the share of each in the question. A word without information has a share
/// only beside words with information; if there are none, all words together have a small one.
fn wanted(mut told: Vec<QuestionWord>, is_open: bool, weights: &Weights) -> Vec<WantedWord> {
    if !told.iter().any(|word| word.class == Class::Telling) {
        told.retain(|word| word.class != Class::Empty);
    }
    let factor = |word: &QuestionWord| match word.class {
        _ if is_open => 1.0,
        Class::Telling | Class::Name | Class::Time => 1.0,
        Class::Asking => weights.asking,
        Class::Empty => weights.empty,
    };
    let all: f32 = told.iter().map(|word| word.rarity * factor(word)).sum();
    let scale = if is_open { weights.asking } else { 1.0 } / all;
    let shares: Vec<f32> = told
        .iter()
        .map(|word| word.rarity * factor(word) * scale)
        .collect();
    let words = told.into_iter().zip(shares);
    words
        .map(|(word, share)| WantedWord {
            term: word.term,
            share,
            place: word.place,
        })
        .collect()
}

pub(crate) fn has_any(words: &[String], any: &[&str]) -> bool {
    words.iter().any(|word| any.contains(&word.as_str()))
}

/// Whether a text has a letter of the English alphabet.
fn has_letters(text: &str) -> bool {
    text.contains(|c: char| c.is_ascii_alphabetic())
}

/// The words of a name.
fn parts(name: &str) -> Vec<String> {
    let mut parts = Vec::new();
    text::each_word(name, |_, part| {
        if !text::is_stop_word(part) {
            parts.push(part.to_owned());
        }
    });
    // Of "小明", neither character alone is the name.
    if parts.iter().any(|part| part.chars().count() > 1) {
        parts.retain(|part| part.is_ascii() || part.chars().count() > 1);
    }
    parts
}

/// The term of a word in the question's language, or in another one if only rows in that one have the word.
fn term(corpus: &Corpus, word: &str, language: Language) -> Option<Term> {
    let of = |kind: RowKind, term: Term| corpus.postings(kind).of(term).len() > 0;
    let is_used = |term: &Term| {
        [RowKind::Turn, RowKind::Episode, RowKind::Fact]
            .iter()
            .any(|kind| of(*kind, *term))
    };
    let own = corpus.lexicon.find(word, language);
    let elsewhere = || corpus.lexicon.find_anywhere(word).find(is_used);
    own.filter(is_used).or_else(elsewhere).or(own)
}

/// Inverse document frequency of a term.
pub(crate) fn rarity(corpus: &Corpus, term: Option<Term>) -> f32 {
    // Facts and episodes repeat turns; the kind with most evidence counts.
    let of = |kind: RowKind| {
        let postings = corpus.postings(kind);
        (postings.rows(), term.map_or(0, |term| postings.of(term).len()))
    };
    let (rows, with) = [of(RowKind::Turn), of(RowKind::Episode), of(RowKind::Fact)]
        .into_iter()
        .max()
        .unwrap_or((0, 0));
    let (without, with) = ((rows - with + ROWS_IMAGINED) as f32, with as f32);
    (1.0 + (without + 0.5) / (with + 0.5)).ln()
}

/// Whether "me" is the subject of the question, not only its receiver.
fn of_me(words: &[String]) -> bool {
    const TELLING: [&str; 8] = ["tell", "remind", "give", "show", "help", "let", "advise", "teach"];
    let told = |at: usize| at > 0 && TELLING.contains(&words[at - 1].as_str());
    let mut places = (0..words.len()).filter(|at| words[*at] == "me");
    places.any(|at| !told(at))
}

fn sought(words: &[String]) -> Option<Sought> {
    let is = |word: Option<&String>, any: &[&str]| word.is_some_and(|word| any.contains(&word.as_str()));
    let how = words
        .iter()
        .position(|word| word == "how")
        .and_then(|at| words.get(at + 1));
    if is(how, &["many", "much", "often"]) {
        return Some(Sought::Number);
    }
    let when = is(words.first(), &["when"])
        || words
            .iter()
            .any(|word| is(Some(word), &["date", "day", "month", "year"]));
    (when || is(how, &["long", "old"])).then_some(Sought::Time)
}
