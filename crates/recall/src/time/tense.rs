//! Whether a sentence places a date in the past or in the future: "on 1 October I start", "we met
//! on Friday".
//!
//! Owns: the signs of the future and of the past, and the rules by which a sign belongs to a date.
//! Never: dates.
//!
//! A sentence is read in parts, cut at commas, semicolons and conjunctions. The part with the date
//! decides. If it has no sign, the part that the date introduces decides, then the parts before it,
//! the nearest first.

use std::ops::Range;

use super::words::{Gap, Word};

/// A time relative to the speaker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Tense {
    Past,
    Future,
}

/// Words about the future.
const AHEAD: [&str; 37] = [
    "appointment", "appointments", "coming", "deadline", "due", "excited", "expect", "expected", "expecting",
    "gonna", "hope", "hoping", "intend", "invite", "ll", "must", "need", "needs", "next", "plan", "planning",
    "plans", "prepare", "preparing", "ready", "remind", "reminder", "rsvp", "scheduled", "shall", "should",
    "soon", "supposed", "tomorrow", "upcoming", "wanna", "will",
];

/// Words about the past; forms in "ed" count too.
const BEHIND: &str = " ago became been began bent bit blew born bought broke brought built came caught chose did didn done \
     drank drew driven drove dug earlier eaten fed fell felt flew flown forgot fought found froze gave given gone got \
     grew had hadn heard held hid kept knew laid last led left lent lost made meant met paid previous ran rang rode \
     rose said sang sat saw seen sent shook shot since slept sold spent spoke spoken stole stood struck stuck swam \
     swept swore taken taught thought threw told took tore understood was wasn went were weren woke won wore written \
     wrote yesterday ";

/// Words in "ed" that are no past forms.
const NOT_PAST: &str = " bed bleed breed embed exceed excited expected feed hundred indeed need proceed red scheduled seed speed supposed ";

/// Words before "to" that put the following text into the future.
const DECIDED: &str = " accepted agree agreed aim arranged asked chose decide decided due hired hoped intended invited offered \
     plan planned promised ready scheduled set supposed volunteered want wanted wants ";

/// Words before "to", "for" or "until" that put the date into the future: it was set or moved.
const SET: &str = " arranged appointment booked booking brought changed confirmed delayed entered fixed invitation invited \
     moved planned postponed pushed put registered rescheduled reservation reserved scheduled set shifted signed table \
     ticket tickets ";

/// Verbs of plans in the present tense: "school starts in September".
const STARTS: &str = " airs arrives begins closes comes departs ends expires falls finishes flies goes graduates joins lands \
     launches leaves marries meets moves opens premieres retires returns runs ships starts turns ";

/// Present forms that show no plan: tastes, opinions, habits, and those that may be past forms.
const NO_PLAN: &str = " always beat believe can could cost cut d feel guess hate hit hurt know let like love may mean might miss never \
     prefer put quit read remember see set shut split spread think used usually ve wish would ";

const JOINERS: &str = " and because but if or so that then though when where while ";

/// Words between a subject and its verb.
const ADVERBS: &str = " also already finally just now officially only still then ";

/// The tense of an expression, given as the words of `date`. `asked`: the text is a question; a
/// question in the present may mean any time, so only a plain sign counts.
pub(super) fn tense(words: &[Word], date: &Range<usize>, asked: bool) -> Option<Tense> {
    let ends = |at: &usize| words[*at].gap == Gap::Full;
    let start = (1..=date.start).rev().find(ends).unwrap_or(0);
    let end = (date.end..words.len()).find(ends).unwrap_or(words.len());
    let cut = |at: &usize| words[*at].gap >= Gap::Comma || is(&words[*at], JOINERS);
    let part_from = |before: usize| (start + 1..before).rev().find(cut).unwrap_or(start);
    let part_to = |after: usize| (after..end).find(cut).unwrap_or(end);
    let read = |part: Range<usize>| {
        let part = SentencePart {
            words,
            range: part,
            date,
            asked,
        };
        part.tense()
    };
    let (mut from, to) = (part_from(date.start + 1), part_to(date.end));
    let own = read(from..to);
    let leads = date.start <= from + 2 && to < end;
    let mut found = own.or_else(|| read(to..part_to(to + 1)).filter(|_| leads));
    while found.is_none() && from > start {
        let before = part_from(from);
        found = read(before..from);
        from = before;
    }
    found
}

/// Whether a list, which is one text, contains a word.
fn is(word: &Word, list: &str) -> bool {
    let text = word.text.as_str();
    let mut places = list.match_indices(text);
    places.any(|(at, _)| list[..at].ends_with(' ') && list[at + text.len()..].starts_with(' '))
}

/// A part of a sentence, and the date whose tense it decides.
struct SentencePart<'a> {
    words: &'a [Word],
    range: Range<usize>,
    date: &'a Range<usize>,
    asked: bool,
}

impl SentencePart<'_> {
    fn tense(&self) -> Option<Tense> {
        if self.follows(" since ") {
            return Some(Tense::Past);
        }
        let others = || self.range.clone().filter(|at| !self.date.contains(at));
        let signs = || others().filter_map(|at| Some((self.distance(at), self.sign(at)?)));
        let found = signs()
            .min_by_key(|(distance, _)| *distance)
            .map(|(_, tense)| tense);
        if self.asked {
            let past = signs().any(|(_, tense)| tense == Tense::Past);
            return if past { Some(Tense::Past) } else { found };
        }
        let set = self.is_set() || self.is_decided();
        let until = is(&self.words[self.date.start], " until till ") || self.follows(" until till by ");
        let plan = || until || others().any(|at| self.tells_plan(at));
        match found {
            Some(Tense::Past) if set => Some(Tense::Future),
            None if set || plan() => Some(Tense::Future),
            found => found,
        }
    }

    fn distance(&self, at: usize) -> usize {
        if at < self.date.start {
            self.date.start - at
        } else {
            at - self.date.end
        }
    }

    /// The words before a place, backwards.
    fn before(&self, at: usize) -> impl Iterator<Item = &Word> {
        self.words[self.range.start..at.max(self.range.start)]
            .iter()
            .rev()
    }

    fn is_before(&self, at: usize, list: &str) -> bool {
        self.before(at).next().is_some_and(|word| is(word, list))
    }

    /// Whether one of these words precedes the date, articles and weekdays aside.
    fn follows(&self, list: &str) -> bool {
        let idle = |word: &&Word| is(word, " the on in ") || word.weekday().is_some();
        let mut before = self.before(self.date.start).skip_while(idle);
        before.next().is_some_and(|word| is(word, list))
    }

    fn sign(&self, at: usize) -> Option<Tense> {
        let word = &self.words[at];
        let next = self.words.get(at + 1).map_or("", |next| next.text.as_str());
        let to_come = match word.text.as_str() {
            "going" | "about" | "want" | "wants" | "have" | "has" | "am" | "is" | "are" => next == "to",
            "looking" => next == "forward",
            // "Won't" and "let's" are cut at their apostrophes.
            "won" if next == "t" => true,
            "let" => next == "s",
            "wait" => self.is_before(at, " t cannot not "),
            text => AHEAD.contains(&text),
        };
        let told = self
            .before(at)
            .take(3)
            .any(|word| is(word, " was were had wasn weren "));
        if to_come {
            return (!told).then_some(Tense::Future);
        }
        let formed = word.text.len() > 3 && word.text.ends_with("ed") && !is(word, NOT_PAST);
        if !formed && !is(word, BEHIND) {
            return None;
        }
        let near = self.words[at + 1..self.range.end.max(at + 1)].iter().take(2);
        let was_to = is(word, " was were had ")
            && near
                .clone()
                .any(|word| is(word, " going supposed planning scheduled due expected "));
        // "Is planned", "get married", "have got", "two weeks left": forms of the present.
        let present = self.is_before(at, " am is are m re s be get getting gets newly ")
            && !is(word, " been ")
            || word.text == "got" && self.is_before(at, " ve have has ")
            || word.text == "left" && self.is_before(at, " day days week weeks month months ")
            || word.text == "last" && near.clone().any(|word| is(word, " day one week "));
        (!was_to && !present && !self.is_to_be_done(at)).then_some(Tense::Past)
    }

    /// "To have my hip done", "will get it fixed", "to be signed".
    fn is_to_be_done(&self, at: usize) -> bool {
        let before: Vec<&Word> = self.before(at).take(6).collect();
        before.windows(2).enumerate().any(|(distance, pair)| {
            let causes = match pair[0].text.as_str() {
                "have" | "get" => distance > 0,
                "be" => distance == 0,
                _ => false,
            };
            causes && is(pair[1], " to will ll must shall gonna ")
        })
    }

    /// "Was moved to", "booked for", "a table for".
    fn is_set(&self) -> bool {
        self.follows(" to for until till ") && self.before(self.date.start).take(7).any(|word| is(word, SET))
    }

    /// "Decided to marry on".
    fn is_decided(&self) -> bool {
        let before = self.range.start..self.date.start.max(self.range.start);
        before
            .into_iter()
            .any(|at| self.words[at].text == "to" && self.is_before(at, DECIDED))
    }

    /// Whether a word marks a plan in the present tense: "I start", "she's arriving", "the party is", "we have an
    /// exam".
    fn tells_plan(&self, at: usize) -> bool {
        let word = &self.words[at];
        let subject = |list: &str| {
            let mut before = self.before(at).skip_while(|word| is(word, ADVERBS));
            before.next().is_some_and(|word| is(word, list))
        };
        match word.text.as_str() {
            "is" | "are" | "am" | "has" => true,
            "m" | "re" | "s" => subject(" i we they you he she it that there "),
            "got" => subject(" ve have has "),
            _ if is(word, STARTS) => true,
            _ => subject(" i we they ") && !is(word, NO_PLAN) && !is(word, ADVERBS),
        }
    }
}
