//! A text as words with their places, for the grammar of time expressions.
//!
//! Owns: cutting, numerals, the names of months, weekdays, seasons and units. Never: the meaning of
//! an expression.

use std::ops::Range;

use model::{Date, MONTHS, Weekday};

use super::calendar::{self, Unit, Yearly};

/// A word, lower-cased, with its place in the text.
#[derive(Debug, Clone)]
pub(super) struct Word {
    pub(super) text: String,
    pub(super) range: Range<usize>,
    /// The separator between the previous word and this one.
    pub(super) gap: Gap,
    /// The word is a date in digits.
    pub(super) date: Option<Date>,
}

/// The separator between two words, in order of strength.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Gap {
    None,
    /// Letters outside the grammar's alphabet.
    Letters,
    Comma,
    /// A semicolon, a colon, a bracket.
    Clause,
    /// The sentence ends.
    Full,
}

impl Word {
    /// Whether the gap before it ends every expression.
    pub(super) fn breaks(&self) -> bool {
        !matches!(self.gap, Gap::None | Gap::Comma)
    }
}

/// One to twelve.
pub const NUMBERS: [&str; 12] = [
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
];

/// The months in French, German, Italian, Dutch, Portuguese and Spanish.
const MONTHS_ABROAD: [&str; 6] = [
    "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "januar februar märz april mai juni juli august september oktober november dezember",
    "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "januari februari maart april mei juni juli augustus september oktober november december",
    "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
];

/// The month of a word after a day, in a language other than English.
fn month_abroad(word: &str) -> Option<i8> {
    let at = |names: &str| names.split(' ').position(|name| name == word);
    let at = MONTHS_ABROAD.into_iter().find_map(at)?;
    i8::try_from(at + 1).ok()
}

/// Whether a character is a letter or digit that the grammar reads; letters of other scripts
/// separate words.
fn is_read(c: char) -> bool {
    c.is_alphanumeric() && c <= '\u{24f}'
}

/// Whether a text continues with a month: after "18." of "18. April".
fn goes_on_with_a_month(text: &str) -> bool {
    let next: String = text.trim_start().chars().take_while(|c| is_read(*c)).collect();
    month_abroad(&next.to_lowercase()).is_some()
}

/// Cuts a text into the words that the grammar reads.
pub(super) fn words(text: &str) -> Vec<Word> {
    let bytes = text.as_bytes();
    let mut words: Vec<Word> = Vec::new();
    let (mut at, mut gap) = (0, Gap::Full);
    while at < bytes.len() {
        let c = text[at..].chars().next().unwrap_or(' ');
        if !is_read(c) {
            let rest = &text[at + c.len_utf8()..];
            let ends_day = || {
                c == '.'
                    && words
                        .last()
                        .is_some_and(|word| word.range.end == at && word.day().is_some())
            };
            if !(ends_day() && goes_on_with_a_month(rest)) {
                gap = gap.max(gap_of(c, rest));
            }
            at += c.len_utf8();
            continue;
        }
        let digits = digit_date(&bytes[at..]);
        let rest = &text[at..];
        let read = rest.find(|c| !is_read(c)).unwrap_or(rest.len());
        let end = at + digits.map_or(read, |(_, len)| len);
        words.push(Word {
            text: text[at..end].to_lowercase(),
            range: at..end,
            gap,
            date: digits.map(|(date, _)| date),
        });
        (at, gap) = (end, Gap::None);
    }
    words
}

/// The separator that a character makes; hyphens and apostrophes keep an expression together.
fn gap_of(c: char, rest: &str) -> Gap {
    match c {
        ' ' | '\t' | '-' | '\'' | '’' | '/' | '"' | '*' | '_' => Gap::None,
        ',' => Gap::Comma,
        '!' | '?' | '\n' | '。' => Gap::Full,
        // A lower-case word continues the sentence: "10 a.m. on Friday".
        '.' if !rest.trim_start().starts_with(|c: char| c.is_lowercase()) => Gap::Full,
        c if c.is_alphanumeric() => Gap::Letters,
        _ => Gap::Clause,
    }
}

/// A date in digits: `2023-05-07`, `2023/5/7`, `7.5.2023` (day first), `5/7/2023` (month first if
/// it is a valid month).
fn digit_date(bytes: &[u8]) -> Option<(Date, usize)> {
    let (first, a) = number(bytes)?;
    let separator = *bytes.get(a).filter(|b| matches!(b, b'-' | b'/' | b'.'))?;
    let (second, b) = number(&bytes[a + 1..])?;
    let b = a + 1 + b;
    if *bytes.get(b)? != separator {
        return None;
    }
    let (third, c) = number(&bytes[b + 1..])?;
    let c = b + 1 + c;
    if bytes.get(c).is_some_and(u8::is_ascii_digit) {
        return None;
    }
    let small = |n: i16| i8::try_from(n).ok();
    let date = if a == 4 {
        calendar::date(first, small(second)?, small(third)?)
    } else if c - b - 1 == 4 && separator != b'-' {
        let month_first = separator == b'/' && first <= 12;
        let (month, day) = if month_first {
            (first, second)
        } else {
            (second, first)
        };
        calendar::date(third, small(month)?, small(day)?)
    } else {
        None
    };
    Some((date?, c))
}

fn number(bytes: &[u8]) -> Option<(i16, usize)> {
    let len = bytes.iter().take(5).take_while(|b| b.is_ascii_digit()).count();
    let text = std::str::from_utf8(&bytes[..len]).ok()?;
    Some((text.parse().ok()?, len))
}

impl Word {
    /// A count of one to 9999, in digits or as a word.
    pub(super) fn count(&self) -> Option<i64> {
        if let Some(at) = NUMBERS.iter().position(|name| *name == self.text) {
            return i64::try_from(at + 1).ok();
        }
        match self.text.as_str() {
            "a" | "an" => Some(1),
            "fifteen" => Some(15),
            "twenty" => Some(20),
            "thirty" => Some(30),
            digits if digits.len() <= 4 => digits.parse().ok().filter(|n| *n > 0),
            _ => None,
        }
    }

    /// A year in four digits.
    pub(super) fn year(&self) -> Option<i16> {
        let year: i16 = self.text.parse().ok()?;
        (self.text.len() == 4 && (1900..2100).contains(&year)).then_some(year)
    }

    /// A day of a month: `7`, `7th`.
    pub(super) fn day(&self) -> Option<i8> {
        let digits = ["st", "nd", "rd", "th"]
            .iter()
            .find_map(|suffix| self.text.strip_suffix(suffix))
            .unwrap_or(&self.text);
        let day: i8 = digits.parse().ok()?;
        (digits.len() <= 2 && (1..=31).contains(&day)).then_some(day)
    }

    /// A month's name, and whether the word has no other meaning.
    pub(super) fn month(&self) -> Option<(i8, bool)> {
        let text = self.text.as_str();
        let named = |is: &dyn Fn(&str) -> bool| MONTHS.iter().position(|name| is(name));
        let whole = named(&|name| name.eq_ignore_ascii_case(text));
        let short =
            || named(&|name| name[..3].eq_ignore_ascii_case(text) || text == "sept" && name == "September");
        let month = i8::try_from(whole.or_else(short)? + 1).expect("at most 12");
        let sure = whole.is_some() && !matches!(text, "march" | "may");
        Some((month, sure))
    }

    /// The month that it names after a day, in any of the languages.
    pub(super) fn month_behind_a_day(&self) -> Option<i8> {
        self.month()
            .map(|(month, _)| month)
            .or_else(|| month_abroad(&self.text))
    }

    /// A weekday's name.
    pub(super) fn weekday(&self) -> Option<Weekday> {
        Some(match self.text.as_str() {
            "monday" | "mon" => Weekday::Monday,
            "tuesday" | "tue" | "tues" => Weekday::Tuesday,
            "wednesday" | "wed" => Weekday::Wednesday,
            "thursday" | "thu" | "thurs" => Weekday::Thursday,
            "friday" | "fri" => Weekday::Friday,
            "saturday" | "sat" => Weekday::Saturday,
            "sunday" | "sun" => Weekday::Sunday,
            _ => return None,
        })
    }

    /// A season of the northern hemisphere, by months.
    pub(super) fn season(&self) -> Option<Yearly> {
        Some(Yearly::Season(match self.text.as_str() {
            "spring" => 3,
            "summer" => 6,
            "autumn" | "fall" => 9,
            "winter" => 12,
            _ => return None,
        }))
    }

    /// A unit, singular or plural.
    pub(super) fn unit(&self) -> Option<Unit> {
        Some(match self.text.strip_suffix('s').unwrap_or(&self.text) {
            "day" => Unit::Day,
            "weekend" => Unit::Weekend,
            "week" => Unit::Week,
            "month" => Unit::Month,
            "year" => Unit::Year,
            _ => return None,
        })
    }
}
