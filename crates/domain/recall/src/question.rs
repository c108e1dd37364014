//! What a question looks for.
//!
//! Owns: its terms and what each is worth, the speakers it names, whom and which time it is about, what an answer
//! looks like. Never: rows' scores.

use std::ops::Range;

use crate::corpus::Corpus;
use crate::hit::Query;
use crate::lexicon::Term;
use crate::row::{Kind, Row};
use crate::text;
use crate::time::{self, Span};
use crate::weights::Weights;

/// A word that the question looks for.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    /// None where no row has it.
    pub(crate) term: Option<Term>,
    /// How much of the question it is; all of them make 1.
    pub(crate) share: f32,
    pub(crate) place: Range<usize>,
}

/// What an answer must hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sought {
    Time,
    Number,
}

#[derive(Debug)]
pub(crate) struct Question {
    pub(crate) wanted: Vec<Wanted>,
    pub(crate) spans: Vec<Span>,
    /// It asks how things are now.
    pub(crate) about_now: bool,
    /// It speaks of the one who asks.
    about_me: bool,
    /// By speaker's number, whether it names them.
    named: Vec<bool>,
    sought: Option<Sought>,
}

/// Stems of words with which people ask, whatever they ask about; they tell little about the answer.
const ASKING: [&str; 34] = [
    "advic",
    "advis",
    "back",
    "chat",
    "convers",
    "current",
    "discuss",
    "earlier",
    "good",
    "help",
    "idea",
    "interest",
    "know",
    "late",
    "like",
    "look",
    "mention",
    "possibl",
    "previous",
    "question",
    "recent",
    "recommend",
    "rememb",
    "remind",
    "said",
    "say",
    "suggest",
    "talk",
    "tell",
    "think",
    "tip",
    "told",
    "want",
    "wonder",
];

/// Rows that have none of the question's terms are imagined in this number, so that a term weighs alike in a small
/// corpus and in a large one.
const ROWS_IMAGINED: usize = 50;

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

impl Question {
    pub(crate) fn new(corpus: &Corpus, query: &Query<'_>, weights: &Weights) -> Self {
        let mut wanted: Vec<Wanted> = Vec::new();
        let (mut words, mut stems): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
        text::each_word(query.text, |place, word| {
            words.push(word.to_owned());
            if text::is_stop_word(word) {
                return;
            }
            let stem = text::stem(word).into_owned();
            if stems.contains(&stem) {
                return;
            }
            let asking = ASKING.binary_search(&stem.as_str()).is_ok();
            let term = corpus.lexicon.find(word);
            let share = rarity(corpus, term) * if asking { weights.asking } else { 1.0 };
            wanted.push(Wanted { term, share, place });
            stems.push(stem);
        });
        let all: f32 = wanted.iter().map(|wanted| wanted.share).sum();
        for wanted in &mut wanted {
            wanted.share /= all;
        }
        let has = |any: &[&str]| words.iter().any(|word| any.contains(&word.as_str()));
        let named = |name: &String| {
            let mut named = false;
            text::each_word(name, |_, part| {
                named |= !text::is_stop_word(part) && words.iter().any(|w| w == part);
            });
            named
        };
        Self {
            spans: time::expressions(query.text, query.asked_at, query.zone)
                .into_iter()
                .map(|(_, span)| span)
                .collect(),
            about_now: has(&[
                "now",
                "current",
                "currently",
                "latest",
                "recent",
                "recently",
                "still",
                "nowadays",
            ]),
            about_me: has(&["i", "me", "my", "mine", "myself"]),
            named: corpus.speakers().iter().map(named).collect(),
            sought: sought(&words),
            wanted,
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

    /// Whether a row holds what an answer must: 0 or 1.
    pub(crate) fn answered(&self, row: &Row) -> f32 {
        let holds = match self.sought {
            Some(Sought::Time) => row.traits.time,
            Some(Sought::Number) => row.traits.number,
            None => false,
        };
        f32::from(u8::from(holds))
    }

    /// How well a row's date fits the times that the question names: 1 within, a half one span's length outside.
    pub(crate) fn time_fit(&self, row: &Row) -> Option<f32> {
        let said = row.time.millis();
        let holds = row.doc.valid_from.map(|from| {
            let until = row.doc.valid_until.map_or(i64::MAX, model::Timestamp::millis);
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
            1.0 / (1.0 + relative * relative)
        };
        self.spans.iter().map(fit).reduce(f32::max)
    }
}

/// How telling a term is, from how few rows have it.
fn rarity(corpus: &Corpus, term: Option<Term>) -> f32 {
    // Facts and episodes retell turns; the kind that tells most counts.
    let of = |kind: Kind| {
        let postings = corpus.postings(kind);
        (postings.rows(), term.map_or(0, |term| postings.of(term).len()))
    };
    let (rows, with) = [of(Kind::Turn), of(Kind::Episode), of(Kind::Fact)]
        .into_iter()
        .max()
        .unwrap_or((0, 0));
    let (without, with) = ((rows - with + ROWS_IMAGINED) as f32, with as f32);
    (1.0 + (without + 0.5) / (with + 0.5)).ln()
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
