//! Days of a calendar: "7 May 2023", "the third of August", "until the 3rd", "Friday week".
//!
//! Owns: the word sequences that form a day. Never: other expressions; a number alone is no day of
//! a month.

use std::ops::Range;

use model::Date;

use super::super::calendar::{self, Days, Lean, Unit, Yearly};
use super::super::tense::{Tense, tense};
use super::super::words::{Gap, Word};
use super::{LATER, Reading, TimeReader};

const ORDINALS: [&str; 20] = [
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
    "eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth",
    "nineteenth", "twentieth",
];

/// Words after "on the 3rd" that continue the sentence; any other word may be a noun that the
/// ordinal counts.
const ONWARD: [&str; 19] = [
    "and", "as", "at", "because", "but", "for", "from", "he", "i", "if", "in", "she", "so", "that", "they",
    "to", "we", "when", "with",
];

impl TimeReader<'_> {
    /// "7 May 2023", "the 7th of May", "May 7th, 2023", "2023-05-07", "on Friday", "until the 3rd".
    pub(super) fn dated(&self, at: usize) -> Reading {
        let word = &self.words[at];
        if let Some(date) = word.date {
            return Some((Days::one(date), at + 1));
        }
        if word.weekday().is_some() {
            let next = self.skip(at + 1, &["the"]);
            let of_month = self
                .of_month(next)
                .map(|(days, end)| (self.on_its_weekday(at, days), end));
            return of_month.or_else(|| match self.numbered_day(next) {
                Some(day) => self.weekday_of_month(at, (day, next)),
                None => self.on_weekday(at),
            });
        }
        self.of_month(at)
            .or_else(|| self.last_of_month(at))
            .or_else(|| self.in_some_month(at))
    }

    /// "Sunday 20 December": of the year found and its neighbours, the one in which the date has
    /// that weekday.
    fn on_its_weekday(&self, at: usize, days: Days) -> Days {
        let weekday = self.words[at].weekday();
        let years = [0, 12, -12].into_iter();
        let dates = years.map(|by| calendar::plus_months(days.from, by));
        let mut same = dates.filter(|date| Some(date.weekday()) == weekday);
        same.next().map_or(days, Days::one)
    }

    /// "16th" without a month after it.
    fn numbered_day(&self, at: usize) -> Option<i8> {
        let word = self.word(at)?;
        word.day().filter(|_| word.text.ends_with(char::is_alphabetic))
    }

    /// "Thursday the 16th": of the nearest month whose 16th is a Thursday.
    fn weekday_of_month(&self, at: usize, (day, place): (i8, usize)) -> Reading {
        let weekday = self.words[at].weekday()?;
        let is_past = self.lean(at, place + 1) == Lean::Past;
        let months = (0..12).map(|by: i64| if is_past { -by } else { by });
        let is_meant = |date: &Date| {
            date.weekday() == weekday
                && if is_past {
                    *date <= self.today
                } else {
                    *date >= self.today
                }
        };
        let found = months
            .filter_map(|by| self.day_of_month(day, by))
            .find(is_meant)?;
        Some((Days::one(found), place + 1))
    }

    /// "on Friday", "Friday week".
    fn on_weekday(&self, at: usize) -> Reading {
        let weekday = self.words[at].weekday()?;
        if self.is(at + 1, &LATER) {
            let coming = calendar::weekday(self.today, weekday, false);
            let weeks = if self.is(at + 1, &["week"]) { 1 } else { 2 };
            let day = Days::one(calendar::moved(Unit::Week, coming, weeks));
            return (!self.before_is(at, &["last", "next", "this"])).then_some((day, at + 2));
        }
        // "The Wednesday" belongs to a story.
        let is_told = at > 0 && self.words[at - 1].text == "the";
        let is_led = !is_told && self.before_is(at, &["on", "since", "until", "till", "to", "by"]);
        if !is_led && !self.ends_past(at) {
            return None;
        }
        // A weekday without such a sign is a plan more often than a memory.
        let before = self.lean(at, at + 1) == Lean::Past;
        Some((Days::one(calendar::weekday(self.today, weekday, before)), at + 1))
    }

    /// "My father had a stroke Thursday": a weekday at the end of a clause about the past.
    fn ends_past(&self, at: usize) -> bool {
        let ends = self.word(at + 1).is_none() || self.is(at + 1, &["and", "but", "so"]);
        let stands_alone = at > 1
            && self.word(at).is_some()
            && !self.before_is(at, &["every", "each", "last", "next", "this", "a", "one"]);
        let is_told = at > 0 && self.words[at - 1].text == "the";
        !self.asked
            && ends
            && stands_alone
            && !is_told
            && tense(self.words, &(at..at + 1), false) == Some(Tense::Past)
    }

    /// A day and its month, in either order.
    fn of_month(&self, at: usize) -> Reading {
        let (day, month, next) = self.day_first(at).or_else(|| self.month_first(at))?;
        if let Some((year, next)) = self.year_behind(next) {
            return Some((Days::one(calendar::date(year, month, day)?), next));
        }
        Some((
            Yearly::Day(month, day).lean(self.lean(at, next), self.today)?,
            next,
        ))
    }

    /// "7 May", "the 7th of May", "the third of August"; not "the third August".
    fn day_first(&self, at: usize) -> Option<(i8, i8, usize)> {
        let (day, next) = match self.words.get(at)?.day() {
            Some(day) => (day, self.skip(at + 1, &["of", "de", "di"])),
            None => self
                .ordinal(at)
                .filter(|(_, next)| self.is(*next, &["of"]))
                .map(|(day, next)| (day, next + 1))?,
        };
        Some((day, self.word(next)?.month_behind_a_day()?, next + 1))
    }

    /// "May 7th", "August the third"; not "August third parties".
    fn month_first(&self, at: usize) -> Option<(i8, i8, usize)> {
        let (month, is_sure) = self.words.get(at)?.month()?;
        let second = self.skip(at + 1, &["the"]);
        if let Some(day) = self.word(second)?.day() {
            return Some((day, month, second + 1));
        }
        let (day, next) = self.ordinal(second).filter(|_| is_sure)?;
        let ends = self.ends(next) || self.word(next).is_some_and(|word| word.year().is_some());
        ends.then_some((day, month, next))
    }

    /// "2023", "of 2023", "next year".
    fn year_behind(&self, at: usize) -> Option<(i16, usize)> {
        if let Some(found) = self.year_after(at) {
            return Some(found);
        }
        let by = match self.word(at)?.text.as_str() {
            "last" => -1,
            "this" => 0,
            "next" => 1,
            _ => return None,
        };
        self.is(at + 1, &["year"])
            .then_some((self.today.year() + by, at + 2))
    }

    /// "the last day of June".
    fn last_of_month(&self, at: usize) -> Reading {
        if self.words[at].text != "last" || !self.is(at + 1, &["day"]) || !self.is(at + 2, &["of"]) {
            return None;
        }
        let (days, next) = self.yearly(at + 3, true)?;
        Some((Days::one(calendar::plus_days(days.to, -1)), next))
    }

    /// "the 15th of next month"; "until the 3rd", if the sentence shows past or future.
    fn in_some_month(&self, at: usize) -> Reading {
        let word = &self.words[at];
        let day = word
            .day()
            .filter(|_| word.text.ends_with(|c: char| c.is_alphabetic()))?;
        if self.is(at + 1, &["of"]) && self.is(at + 3, &["month"]) {
            let by = self.month_by(at + 2)?;
            return Some((Days::one(self.day_of_month(day, by)?), at + 4));
        }
        let is_day = at > 0
            && self.words[at - 1].text == "the"
            && self.before_is(at, &["on", "until", "till", "by", "since"]);
        if !is_day || self.names_a_month(at) || !(self.ends(at + 1) || self.is(at + 1, &ONWARD)) {
            return None;
        }
        // "Last month, on the 15th".
        let beside = |month: usize| {
            let is_month = self.is(month, &["month"]);
            is_month.then(|| self.month_by(month - 1)).flatten()
        };
        if let Some(by) = self.sentence(at).skip(1).find_map(beside) {
            return Some((Days::one(self.day_of_month(day, by)?), at + 1));
        }
        let months = 0..3;
        let found = match tense(self.words, &(at..at + 1), self.asked)? {
            Tense::Future => months
                .filter_map(|by| self.day_of_month(day, by))
                .find(|date| *date >= self.today),
            Tense::Past => months
                .filter_map(|by| self.day_of_month(day, -by))
                .find(|date| *date <= self.today),
        };
        Some((Days::one(found?), at + 1))
    }

    /// Whether the sentence around a place has a month of its own.
    fn names_a_month(&self, at: usize) -> bool {
        self.words[self.sentence(at)]
            .iter()
            .any(|word| word.month().is_some())
    }

    /// The places of the words of the sentence around a place.
    fn sentence(&self, at: usize) -> Range<usize> {
        let is_end = |at: &usize| self.words[*at].gap == Gap::Full;
        let start = (1..=at).rev().find(is_end).unwrap_or(0);
        let end = (at + 1..self.words.len()).find(is_end);
        start..end.unwrap_or(self.words.len())
    }

    /// Distance in months from today that this word before "month" means.
    fn month_by(&self, at: usize) -> Option<i64> {
        match self.words[at].text.as_str() {
            "last" => Some(-1),
            "this" => Some(0),
            "next" => Some(1),
            _ => None,
        }
    }

    fn day_of_month(&self, day: i8, months: i64) -> Option<Date> {
        let month = calendar::plus_months(self.today, months);
        calendar::date(month.year(), month.month(), day)
    }

    /// A day of a month in words: "third", "twenty-first".
    fn ordinal(&self, at: usize) -> Option<(i8, usize)> {
        let small = |word: &Word| {
            let place = ORDINALS.iter().position(|name| *name == word.text)?;
            i8::try_from(place + 1).ok()
        };
        let word = self.word(at)?;
        let tens = match word.text.as_str() {
            "twenty" => 20,
            "thirty" => 30,
            "thirtieth" => return Some((30, at + 1)),
            _ => return Some((small(word)?, at + 1)),
        };
        let day = tens + small(self.word(at + 1)?).filter(|unit| *unit < 10)?;
        (day <= 31).then_some((day, at + 2))
    }

    /// Whether the expression ends here: no further word belongs to it.
    fn ends(&self, at: usize) -> bool {
        self.words.get(at).is_none_or(|word| word.gap != Gap::None)
    }
}
