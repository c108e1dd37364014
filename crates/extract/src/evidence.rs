//! What messages bear out: the check between a model's words and the memory.
//!
//! Owns: what of a message is a statement, and whether the words, names, numbers and days of a text were said, and by whom.
//! Never: the form of an answer (`answer`).
//!
//! Names and numbers are what models invent, so each of them must have been said. Other words may differ a little: a text
//! is borne out if most of its stems were said. A translation is not, because its words cannot be compared.

use std::collections::BTreeSet;

use model::{Message, Role, Timestamp, Zone};
use recall::time::{Span, expressions};
use text::{Language, each_word};

use crate::prompt::MESSAGE_CHARS_MAX;
use crate::sentence::sentences;
use crate::visible::{own_words, shown, speaker};
use crate::words::{Word, cut, words};

const DAY_MILLIS: i64 = 86_400_000;
/// Relative days are understood in English. In other languages the days and the months next to the message's own count as
/// said.
const DAYS_NEAR: i64 = 2;
const DAYS_A_MONTH: i64 = 30;

/// Numbers that people write as words, and models as digits.
const NUMBERS: [&str; 11] = [
    "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
];

/// The names of months that are not English, by month, folded.
const MONTHS: [&str; 12] = [
    "januar janvier gennaio janeiro enero",
    "februar fevrier febbraio fevereiro febrero",
    "marz mars marzo marco",
    "april avril aprile abril",
    "mai maggio maio mayo",
    "juni juin giugno junho junio",
    "juli juillet luglio julho julio",
    "august aout agosto",
    "september septembre settembre setembro septiembre",
    "oktober octobre ottobre outubro octubre",
    "november novembre novembro noviembre",
    "dezember decembre dicembre dezembro diciembre",
];

/// Words of a supposition, folded, wherever they stand; words that begin one; and those of scripts without spaces.
const HEDGES: &str = "maybe perhaps might vielleicht quiza quizas talvez forse";
const SUPPOSITIONS: &str = "if suppose imagine pretend";
const UNSPACED_HEDGES: [&str; 4] = ["如果", "也许", "もし", "かもしれ"];

/// Quotation marks that cannot be an apostrophe.
const QUOTES: [char; 8] = ['"', '“', '”', '„', '«', '»', '「', '」'];
/// Longer quotations are somebody's sentences.
const NAME_WORDS_MAX: usize = 4;

/// The words of messages, with the days that they mean and the names of who speaks.
pub(crate) struct Evidence<'a> {
    zone: &'a Zone,
    /// Of all messages in it.
    said: BTreeSet<String>,
    /// Of the cited persons' statements alone.
    own: BTreeSet<String>,
    /// Speakers of the whole talk.
    names: BTreeSet<String>,
    /// Speakers whose messages are cited.
    cited: BTreeSet<String>,
    /// Times that the messages mean, their own days among them.
    spans: Vec<Span>,
    /// Years that they name.
    years: BTreeSet<String>,
    /// Numbers that may stand in a date, and only there.
    near_days: BTreeSet<String>,
    months: BTreeSet<usize>,
}

/// The words of the dates that a text's expressions mean: of "yesterday" a day, a month and a year.
fn dates_in(text: &str, said_at: Timestamp, zone: &Zone) -> BTreeSet<String> {
    let ends = |span: Span| [span.from, span.to.plus_millis(-1)];
    let spans = expressions(text, said_at, zone)
        .into_iter()
        .map(|found| found.span);
    spans
        .flat_map(ends)
        .flat_map(|end| stems(&model::date_in_words(zone.date(end))))
        .collect()
}

impl<'a> Evidence<'a> {
    /// For a fact that cites these messages. The message before each of them counts as well: it can hold the question that
    /// the cited one answers.
    pub(crate) fn of_cited(messages: &[Message], cited: &[usize], zone: &'a Zone) -> Self {
        let mut evidence = Self::empty(messages, zone);
        for place in cited {
            let message = &messages[*place];
            if message.role == Role::User {
                evidence.cited.extend(stems(&speaker(message)));
                let stated = stated(message);
                evidence.own.extend(stems(&stated));
                evidence.own.extend(dates_in(&stated, message.time, zone));
                evidence.add(&stated, message);
            } else {
                evidence.add(&shown(message), message);
            }
            let before = place.checked_sub(1).map(|before| &messages[before]);
            if let Some(before) =
                before.filter(|before| before.sender != message.sender && before.role != Role::Tool)
            {
                evidence.add(&shown(before), before);
            }
        }
        evidence
    }

    /// For an account of all these messages.
    pub(crate) fn of_all(messages: &[Message], zone: &'a Zone) -> Self {
        let mut evidence = Self::empty(messages, zone);
        for message in messages {
            evidence.add(&shown(message), message);
        }
        evidence
    }

    fn empty(messages: &[Message], zone: &'a Zone) -> Self {
        Self {
            zone,
            said: BTreeSet::new(),
            own: BTreeSet::new(),
            names: messages
                .iter()
                .flat_map(|message| stems(&speaker(message)))
                .collect(),
            cited: BTreeSet::new(),
            spans: Vec::new(),
            years: BTreeSet::new(),
            near_days: BTreeSet::new(),
            months: BTreeSet::new(),
        }
    }

    fn add(&mut self, text: &str, message: &Message) {
        let (zone, text) = (self.zone, &*cut(text, MESSAGE_CHARS_MAX));
        let day = zone.date(message.time);
        self.said.extend(stems(text));
        self.said.extend(dates_in(text, message.time, zone));
        self.said.extend(stems(&model::date_in_words(day)));
        let counted = (2..)
            .zip(NUMBERS)
            .filter(|(_, number)| self.said.contains(*number));
        let counted: Vec<String> = counted.map(|(count, _): (u32, _)| count.to_string()).collect();
        self.said.extend(counted);
        self.months.insert(month(day));
        let digits = text.split(|c: char| !c.is_ascii_digit());
        self.years
            .extend(digits.filter(|digits| digits.len() == 4).map(str::to_owned));
        let meant = expressions(text, message.time, zone);
        self.spans.extend(meant.into_iter().map(|found| found.span));
        self.spans.push(Span {
            from: zone.start_of(day),
            to: message.time.plus_millis(1),
        });
        each_word(text, |_, word| {
            if let Some(named) = month_named(word) {
                let year = day.year() - i16::from(named > month(day));
                let from = zone.parse(&format!("{year}-{:02}-01", named + 1));
                self.spans.extend(from.ok().map(|from| Span {
                    from,
                    to: from.plus_millis(31 * DAY_MILLIS),
                }));
            }
        });
        let is_foreign = |c: char| c.is_alphabetic() && !c.is_ascii();
        if Language::of(text) != Language::English || text.contains(is_foreign) {
            for days in [-DAYS_A_MONTH, DAYS_A_MONTH] {
                let other = month(zone.date(message.time.plus_millis(days * DAY_MILLIS)));
                self.near_days.insert((other + 1).to_string());
                self.months.insert(other);
            }
            for days in -DAYS_NEAR..=DAYS_NEAR {
                let near = message.time.plus_millis(days * DAY_MILLIS);
                let day = zone.date(near);
                self.near_days.insert(day.day().to_string());
                self.near_days.insert(day.month().to_string());
                self.months.insert(month(day));
                self.spans.push(Span {
                    from: zone.start_of(day),
                    to: near.plus_millis(1),
                });
            }
        }
    }

    fn knows(&self, word: &str) -> bool {
        let is_month = || month_named(word).is_some_and(|month| self.months.contains(&month));
        let any = stems(word);
        any.is_empty()
            || any
                .iter()
                .any(|stem| self.said.contains(stem) || self.names.contains(stem))
            || is_month()
    }

    /// How many percent of a text's words were said; of a text without words, none.
    pub(crate) fn support(&self, text: &str) -> usize {
        self.share(text, &self.said)
    }

    /// The same, by the cited persons themselves.
    pub(crate) fn own_support(&self, text: &str) -> usize {
        self.share(text, &self.own)
    }

    fn share(&self, text: &str, said: &BTreeSet<String>) -> usize {
        let language = Language::of(text);
        let (mut all, mut found) = (0, 0);
        each_word(text, |_, word| {
            let stems = stems(word);
            let is_name = stems.iter().any(|stem| self.names.contains(stem));
            // Numbers and months are judged by themselves.
            let is_date = word.starts_with(|c: char| c.is_ascii_digit()) || month_named(word).is_some();
            if !language.is_stop_word(word) && !is_name && !is_date {
                all += 1;
                found += usize::from(stems.iter().any(|stem| said.contains(stem)));
            }
        });
        (found * 100_usize).checked_div(all).unwrap_or(0)
    }

    /// The first number or name in a text that nobody said.
    pub(crate) fn invented(&self, text: &str) -> Option<String> {
        self.invented_number(text).or_else(|| self.invented_name(text))
    }

    /// The first name in a text that nobody said.
    pub(crate) fn invented_name(&self, text: &str) -> Option<String> {
        let language = Language::of(text);
        let words = words(text);
        let mut unsaid = words.iter().enumerate().filter(|(at, word)| {
            // A sentence begins with a capital letter whatever its first word is.
            let is_frame = *at == 0 && language.is_stop_word(&word.text);
            word.capital && !is_frame && !self.knows(&word.text)
        });
        unsaid.next().map(|(_, word)| text[word.range.clone()].to_owned())
    }

    /// The first number in a text that nobody said.
    pub(crate) fn invented_number(&self, text: &str) -> Option<String> {
        let mut found = None;
        let is_meant = |word: &Word| self.day(&word.text).is_some_and(|day| self.means(day));
        let days: Vec<Word> = words(text).into_iter().filter(is_meant).collect();
        each_word(text, |range, word| {
            let is_number = word.starts_with(|c: char| c.is_ascii_digit());
            let is_near = || self.near_days.contains(word) && is_in_date(&text[range.end..]);
            let is_day = || days.iter().any(|day| day.range.contains(&range.start));
            if found.is_none() && is_number && !self.said.contains(word) && !is_near() && !is_day() {
                found = Some(text[range.clone()].to_owned());
            }
        });
        found
    }

    /// The day that a word of digits writes: "2026-04-06" or "6.4.2026".
    fn day(&self, word: &str) -> Option<Timestamp> {
        let parts: Vec<&str> = word.split(['-', '.']).collect();
        let [first, month, last] = parts[..] else {
            return None;
        };
        let (year, day) = if first.len() == 4 {
            (first, last)
        } else {
            (last, first)
        };
        self.zone.parse(&format!("{year}-{month:0>2}-{day:0>2}")).ok()
    }

    /// Whether a text begins with a speaker who is neither cited nor named in what is cited.
    pub(crate) fn is_of_another(&self, text: &str) -> bool {
        let Some(first) = words(text).into_iter().next() else {
            return false;
        };
        let stems = stems(&first.text);
        let any = |of: &BTreeSet<String>| stems.iter().any(|stem| of.contains(stem));
        any(&self.names) && !any(&self.cited) && !any(&self.own)
    }

    /// Whether the messages mean a time that contains this one, or name its year.
    pub(crate) fn means(&self, at: Timestamp) -> bool {
        let year = self.zone.date(at).year().to_string();
        self.years.contains(&year) || self.spans.iter().any(|span| span.contains(at))
    }
}

/// The words of a text as they are and stemmed by each language, so that no guess of the language can part a statement from
/// the words that it was made of.
fn stems(text: &str) -> BTreeSet<String> {
    let mut stems = BTreeSet::new();
    each_word(text, |_, word| {
        stems.insert(word.to_owned());
        stems.extend(Language::ALL.map(|language| language.stem(word).into_owned()));
    });
    stems
}

/// Whether a person states something with this word in a message.
pub(crate) fn states(message: &Message, word: &str) -> bool {
    !stems(&stated(message)).is_disjoint(&stems(word))
}

/// What a person states in a message: no question, no supposition, and nothing quoted.
fn stated(message: &Message) -> String {
    let text = without_quotations(&cut(&own_words(message), MESSAGE_CHARS_MAX));
    let stated = sentences(&text)
        .into_iter()
        .filter(|one| !is_question(one) && !is_supposed(one));
    stated.collect::<Vec<_>>().join("\n")
}

/// A text without its quotations, except for names and titles of few words. A quotation without an end stays.
fn without_quotations(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(QUOTES) {
        let (before, quoted) = rest.split_at(start);
        let open = quoted.chars().next().map_or(0, char::len_utf8);
        let end = quoted[open..].find(QUOTES).map(|end| open + end);
        let Some(end) = end else { break };
        let close = quoted[end..].chars().next().map_or(0, char::len_utf8);
        kept.push_str(before);
        if quoted[..end].split_whitespace().count() <= NAME_WORDS_MAX {
            kept.push_str(&quoted[..end + close]);
        }
        rest = &quoted[end + close..];
    }
    kept + rest
}

fn is_supposed(sentence: &str) -> bool {
    let (mut is_first, mut supposed) = (true, UNSPACED_HEDGES.iter().any(|hedge| sentence.contains(hedge)));
    each_word(sentence, |_, word| {
        supposed |= HEDGES.split(' ').any(|hedge| hedge == word);
        supposed |= is_first && SUPPOSITIONS.split(' ').any(|begins| begins == word);
        is_first = false;
    });
    supposed
}

fn is_question(sentence: &str) -> bool {
    sentence.trim_end().ends_with(['?', '？', '؟'])
}

fn month(day: model::Date) -> usize {
    usize::from(day.month().unsigned_abs()) - 1
}

/// The month of that name in a language that is not English.
fn month_named(word: &str) -> Option<usize> {
    let mut found = None;
    each_word(word, |_, folded| {
        found = MONTHS
            .iter()
            .position(|names| names.split(' ').any(|name| name == folded));
    });
    found
}

/// Whether a number is a part of a date, by what follows it: "7. Mai", "7 de mayo", "5月7日".
fn is_in_date(rest: &str) -> bool {
    let rest = rest.trim_start_matches(['.', ' ', '-', '/']);
    let rest = rest.strip_prefix("de ").unwrap_or(rest);
    let next = rest
        .split(|c: char| !c.is_alphabetic())
        .next()
        .unwrap_or_default();
    rest.starts_with(['年', '月', '日', '년', '월', '일'])
        || rest.starts_with(|c: char| c.is_ascii_digit())
        || month_named(next).is_some()
}
