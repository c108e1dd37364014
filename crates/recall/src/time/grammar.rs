//! Meaning of time expressions: a descent over words, longest reading first.
//!
//! Owns: the grammar. Never: instants and zones; it knows only the civil date of the text.

mod dated;

use std::ops::Range;

use model::Date;

use super::calendar::{self, Days, Lean, Third, Unit, Which, Yearly};
use super::tense::{Tense, tense};
use super::words::{Word, words};

/// Every expression of a text written on that day, in order. `asked`: the text is a query of
/// memory.
pub(super) fn find(text: &str, today: Date, asked: bool) -> Vec<TimeExpression> {
    let words = words(text);
    let reader = TimeReader {
        words: &words,
        today,
        asked,
    };
    let mut found = Vec::new();
    let mut at = 0;
    while at < words.len() {
        match reader.expression(at) {
            Some((days, next)) => {
                found.push(TimeExpression {
                    range: words[at].range.start..words[next - 1].range.end,
                    days,
                    tense: tense(&words, &(at..next), asked),
                });
                at = next;
            }
            None => at += 1,
        }
    }
    found
}

/// An expression with its place and its dates.
pub(super) struct TimeExpression {
    pub(super) range: Range<usize>,
    pub(super) days: Days,
    pub(super) tense: Option<Tense>,
}

/// A meaning and the place of the first word after it.
type Reading = Option<(Days, usize)>;

struct TimeReader<'a> {
    words: &'a [Word],
    today: Date,
    asked: bool,
}

/// Words that move a weekday before them to a later week: "Friday week".
const LATER: [&str; 2] = ["week", "fortnight"];

/// Length of an open-ended range.
const OPEN_YEARS: i64 = 100;

impl TimeReader<'_> {
    /// The word at a place, unless a clause ended just before it.
    fn word(&self, at: usize) -> Option<&Word> {
        self.words.get(at).filter(|word| !word.breaks())
    }

    fn is(&self, at: usize, any: &[&str]) -> bool {
        self.word(at)
            .is_some_and(|word| any.contains(&word.text.as_str()))
    }

    /// Skips a word if it is one of these.
    fn skip(&self, at: usize, any: &[&str]) -> usize {
        at + usize::from(self.is(at, any))
    }

    fn before_is(&self, at: usize, any: &[&str]) -> bool {
        let before = |at: usize| {
            let word = self.words.get(at).filter(|word| !word.breaks())?;
            Some((at.checked_sub(1)?, self.words.get(at - 1)?, word)).map(|(at, before, _)| (at, before))
        };
        match before(at) {
            Some((at, article)) if article.text == "the" => before(at),
            near => near,
        }
        .is_some_and(|(_, word)| any.contains(&word.text.as_str()))
    }

    /// Which recurrence the words from `at` up to `next` mean.
    fn lean(&self, at: usize, next: usize) -> Lean {
        match tense(self.words, &(at..next), self.asked) {
            Some(Tense::Future) => Lean::Coming,
            None if !self.asked => Lean::Nearest,
            _ => Lean::Past,
        }
    }

    fn expression(&self, at: usize) -> Reading {
        self.between(at)
            .or_else(|| self.open(at))
            .or_else(|| self.relative_to_point(at))
            .or_else(|| self.part(at))
            .or_else(|| self.simple(at))
    }

    /// "between March and May", "from 3 to 7 May": from the first to the second.
    fn between(&self, at: usize) -> Reading {
        let joints: &[&str] = match self.words[at].text.as_str() {
            "between" => &["and"],
            "from" => &["to", "until", "till", "through"],
            _ => return None,
        };
        let at = self.skip(at + 1, &["the"]);
        if let (Some(first), Some(second)) = (self.word(at).and_then(Word::day), self.word(at + 2))
            && self.is(at + 1, joints)
            && second.day().is_some()
        {
            let (days, next) = self.simple(at + 2)?;
            let from = calendar::date(days.from.year(), days.from.month(), first)?;
            return (days.len() == 1 && from < days.to).then_some((Days::new(from, days.to), next));
        }
        let (first, next) = self.point(at)?;
        if !self.is(next, joints) {
            return None;
        }
        let (second, next) = self.point(next + 1)?;
        // "from March to May 2023": without a year of its own the first is the last one before the
        // second.
        let near = first.from < second.to && calendar::plus_months(first.from, 12) >= second.from;
        let mut years = [second.from.year(), second.from.year() - 1].into_iter();
        let from = if near {
            first.from
        } else {
            years.find_map(|year| {
                let from = calendar::date(year, first.from.month(), first.from.day())?;
                (from < second.to).then_some(from)
            })?
        };
        (from < second.to).then_some((Days::new(from, second.to), next))
    }

    /// "since May", "after May", "before May", "until May".
    fn open(&self, at: usize) -> Reading {
        let today = Days::one(self.today);
        let (days, next) = self.point(self.skip(at + 1, &["the"]))?;
        let days = match self.words[at].text.as_str() {
            "since" if days.from < today.to => Days::new(days.from, today.to),
            "after" if days.to < today.to => Days::new(days.to, today.to),
            "before" | "until" | "till" => {
                Days::new(calendar::plus_months(days.from, -12 * OPEN_YEARS), days.from)
            }
            _ => return None,
        };
        Some((days, next))
    }

    /// "three days before Christmas", "the week after 7 May", "the Friday before last Monday".
    fn relative_to_point(&self, at: usize) -> Reading {
        let word = self.words.get(at)?;
        let (count, next) = match word.count() {
            Some(count) => (count, at + 1),
            None => (1, at),
        };
        let thing = self.words.get(next)?;
        let before = self.is(next + 1, &["before"]);
        if !before && !self.is(next + 1, &["after"]) {
            return None;
        }
        let (point, end) = self.point(self.skip(next + 2, &["the"]))?;
        let last = calendar::plus_days(point.to, -1);
        let signed = if before { -count } else { count };
        let days = match (thing.unit(), thing.weekday()) {
            (Some(Unit::Weekend), _) => {
                let anchor = if before {
                    calendar::plus_days(point.from, -7)
                } else {
                    calendar::plus_days(last, 7)
                };
                calendar::containing(Unit::Weekend, anchor)
            }
            (Some(Unit::Day), _) => {
                let from = if before { point.from } else { last };
                Days::one(calendar::plus_days(from, signed))
            }
            (Some(unit), _) if count == 1 && before => {
                Days::new(calendar::moved(unit, point.from, -1), point.from)
            }
            (Some(unit), _) if count == 1 => Days::new(point.to, calendar::moved(unit, point.to, 1)),
            (Some(unit), _) => vague_range(unit, calendar::moved(unit, point.from, signed)),
            (None, Some(day)) => {
                let from = if before { point.from } else { last };
                Days::one(calendar::weekday(from, day, before))
            }
            (None, None) => return None,
        };
        Some((days, end))
    }

    /// "early May", "the end of last summer".
    fn part(&self, at: usize) -> Reading {
        let third = match self.words.get(at)?.text.as_str() {
            "early" | "beginning" | "start" => Third::Early,
            "mid" | "middle" => Third::Middle,
            "late" | "end" => Third::Late,
            _ => return None,
        };
        let inner = self.skip(self.skip(at + 1, &["of", "in"]), &["the"]);
        self.word(inner)?;
        let (days, next) = self.simple_in(inner, true)?;
        (days.len() > 2).then(|| (days.third(third), next))
    }

    /// An expression that larger ones are made of.
    fn point(&self, at: usize) -> Reading {
        self.word(at)?;
        self.part(at).or_else(|| self.simple_in(at, true))
    }

    fn simple(&self, at: usize) -> Reading {
        let context = [
            "in", "on", "during", "of", "by", "since", "around", "until", "for", "about",
        ];
        // "A label for: may contain nuts".
        let goes_on = self.word(at + 1).is_some_and(|next| next.count().is_none());
        let is_modal = self.words[at].text == "may" && goes_on && self.before_is(at, &["for", "about"]);
        self.simple_in(at, !is_modal && self.before_is(at, &context))
    }

    /// `sure`: the words before announce a time, so "may" is the month.
    fn simple_in(&self, at: usize, sure: bool) -> Reading {
        self.day_word(at)
            .or_else(|| self.counted(at))
            .or_else(|| self.relative(at))
            .or_else(|| self.dated(at))
            .or_else(|| self.yearly(at, sure))
            .or_else(|| self.year(at, sure))
    }

    /// "today", "yesterday evening", "the day before yesterday", "this morning".
    fn day_word(&self, at: usize) -> Reading {
        const PARTS: [&str; 5] = ["morning", "afternoon", "evening", "night", "noon"];
        let day = |by: i64| Days::one(calendar::plus_days(self.today, by));
        if self.words[at].text == "day" && self.is(at + 1, &["before", "after"]) {
            let (by, word) = if self.is(at + 1, &["before"]) {
                (-2, "yesterday")
            } else {
                (2, "tomorrow")
            };
            return self.is(at + 2, &[word]).then(|| (day(by), at + 3));
        }
        match self.words[at].text.as_str() {
            "today" | "tonight" => Some((day(0), at + 1)),
            "yesterday" => Some((day(-1), self.skip(at + 1, &PARTS))),
            "tomorrow" => Some((day(1), self.skip(at + 1, &PARTS))),
            "this" if self.is(at + 1, &PARTS) => Some((day(0), at + 2)),
            "last" if self.is(at + 1, &["night", "evening"]) => Some((day(-1), at + 2)),
            _ => None,
        }
    }

    /// "two weeks ago", "a couple of days ago", "in three days", "three days from now".
    fn counted(&self, at: usize) -> Reading {
        let ahead = self.words[at].text == "in";
        let (low, high, next) = self.quantity(at + usize::from(ahead))?;
        let unit = self.word_at_start(next, at)?;
        let (low, high, unit) = match unit.text.as_str() {
            "fortnight" | "fortnights" => (2 * low, 2 * high, Unit::Week),
            _ => (low, high, unit.unit()?),
        };
        let next = next + 1;
        if let Some(weekday) = self.word(next + 1).and_then(Word::weekday)
            && unit == Unit::Week
            && self.is(next, &["on", "from"])
        {
            let coming = calendar::weekday(self.today, weekday, false);
            let ahead = tense(self.words, &(at..next + 2), self.asked) != Some(Tense::Past);
            return ahead.then(|| (Days::one(calendar::moved(unit, coming, high)), next + 2));
        }
        let (low, high, next) = if self.is(next, &["ago", "back", "earlier"]) {
            (-high, -low, next + 1)
        } else if self.is(next, &["from"]) && self.is(next + 1, &["now", "today"]) {
            (low, high, next + 2)
        } else if ahead && tense(self.words, &(at..next), self.asked) == Some(Tense::Future) {
            (low, high, next)
        } else {
            return None;
        };
        let (first, last) = (
            vague_range(unit, calendar::moved(unit, self.today, low)),
            vague_range(unit, calendar::moved(unit, self.today, high)),
        );
        Some((Days::new(first.from, last.to), next))
    }

    /// A quantity with its bounds: "two", "a couple of", "a few".
    fn quantity(&self, at: usize) -> Option<(i64, i64, usize)> {
        let start = self.words.get(at)?;
        let next = if start.text == "a" && self.is(at + 1, &["few", "couple"]) {
            at + 1
        } else {
            at
        };
        match self.words[next].text.as_str() {
            "few" => Some((2, 5, next + 1)),
            "several" => Some((3, 8, next + 1)),
            "couple" => Some((2, 2, self.skip(next + 1, &["of"]))),
            _ => start.count().map(|count| (count, count, at + 1)),
        }
    }

    /// The word at `at`, which may begin a clause only if the expression begins with it.
    fn word_at_start(&self, at: usize, start: usize) -> Option<&Word> {
        if at == start {
            self.words.get(at)
        } else {
            self.word(at)
        }
    }

    /// "last week", "this May", "next Friday", "the past few months", "this past weekend".
    fn relative(&self, at: usize) -> Reading {
        let which = match self.words[at].text.as_str() {
            "last" | "past" | "previous" => Which::Last,
            "this" | "current" => Which::This,
            "next" | "coming" | "upcoming" => Which::Next,
            _ => return None,
        };
        let (which, next) = match which {
            Which::This if self.is(at + 1, &["past", "last"]) => (Which::Last, at + 2),
            Which::This if self.is(at + 1, &["coming", "upcoming"]) => (Which::Next, at + 2),
            which => (which, at + 1),
        };
        let word = self.word(next)?;
        if let Some(unit) = word.unit().filter(|_| !word.text.ends_with('s')) {
            // "The last day" is not the day before today.
            return (unit != Unit::Day).then(|| (self.relative_unit(which, unit), next + 1));
        }
        if let Some(day) = word.weekday() {
            if self.is(next + 1, &LATER) {
                return None;
            }
            return Some((self.relative_weekday(which, day), self.skip(next + 1, &["s"])));
        }
        if let Some((yearly, end)) = self.yearly_name(next, true) {
            return Some((yearly.pick(which, self.today)?, end));
        }
        let (_, high, next) = self.quantity(next)?;
        let unit = self.word(next)?.unit()?;
        let (today, step) = (Days::one(self.today), next + 1);
        match which {
            Which::Last => Some((
                Days::new(calendar::moved(unit, self.today, -high), today.to),
                step,
            )),
            Which::Next => Some((Days::new(self.today, calendar::moved(unit, today.to, high)), step)),
            Which::This => None,
        }
    }

    fn relative_unit(&self, which: Which, unit: Unit) -> Days {
        let now = calendar::containing(unit, self.today);
        let step = |by: i64| calendar::containing(unit, calendar::moved(unit, now.from, by));
        match which {
            Which::Last if unit == Unit::Weekend && now.to <= self.today => now,
            Which::Last => step(-1),
            Which::This => now,
            Which::Next => step(1),
        }
    }

    fn relative_weekday(&self, which: Which, weekday: model::Weekday) -> Days {
        let day = match which {
            Which::Last => calendar::weekday(self.today, weekday, true),
            Which::Next => calendar::weekday(self.today, weekday, false),
            Which::This => {
                let monday = calendar::containing(Unit::Week, self.today).from;
                calendar::plus_days(monday, i64::from(weekday.to_monday_zero_offset()))
            }
        };
        Days::one(day)
    }

    /// "in March", "March 2023", "summer of 2022", "Christmas Eve".
    fn yearly(&self, at: usize, sure: bool) -> Reading {
        let (yearly, next) = self.yearly_name(at, sure).or_else(|| {
            self.yearly_name(at, true)
                .filter(|(_, next)| self.year_after(*next).is_some())
        })?;
        if let Some((year, next)) = self.year_after(next) {
            return Some((yearly.of(year)?, next));
        }
        Some((yearly.lean(self.lean(at, next), self.today)?, next))
    }

    fn year_after(&self, at: usize) -> Option<(i16, usize)> {
        let at = self.skip(at, &["of", "in"]);
        self.word(at).and_then(Word::year).map(|year| (year, at + 1))
    }

    /// A month, season or holiday. Unless the context announces a time, only unambiguous words
    /// count.
    fn yearly_name(&self, at: usize, sure: bool) -> Option<(Yearly, usize)> {
        let word = self.words.get(at)?;
        if let Some((month, certain)) = word.month() {
            return (sure || certain).then_some((Yearly::Month(month), at + 1));
        }
        if let Some(season) = word.season() {
            return sure.then_some((season, at + 1));
        }
        let own = |at: usize, words: &[&str]| {
            let at = self.skip(at, &["s"]);
            self.is(at, words).then_some(at + 1)
        };
        match word.text.as_str() {
            "christmas" | "xmas" => match own(at + 1, &["eve"]) {
                Some(end) => Some((Yearly::Day(12, 24), end)),
                None => Some((Yearly::Day(12, 25), self.skip(at + 1, &["day"]))),
            },
            "halloween" => Some((Yearly::Day(10, 31), at + 1)),
            "thanksgiving" => Some((Yearly::Thanksgiving, self.skip(at + 1, &["day"]))),
            "valentine" | "valentines" => own(at + 1, &["day"]).map(|end| (Yearly::Day(2, 14), end)),
            "new" if self.is(at + 1, &["year", "years"]) => match own(at + 2, &["eve"]) {
                Some(end) => Some((Yearly::Day(12, 31), end)),
                None => own(at + 2, &["day"]).map(|end| (Yearly::Day(1, 1), end)),
            },
            _ => None,
        }
    }

    /// "2023" after "in", "1990s".
    fn year(&self, at: usize, sure: bool) -> Reading {
        let word = self.words.get(at)?;
        if let Some(year) = word.year().filter(|_| sure) {
            return Some((calendar::year(i64::from(year)), at + 1));
        }
        let decade: i64 = word
            .text
            .strip_suffix("0s")
            .filter(|d| d.len() == 3)?
            .parse()
            .ok()?;
        let days = Days::new(
            calendar::year(decade * 10).from,
            calendar::year(decade * 10 + 10).from,
        );
        (190..210).contains(&decade).then_some((days, at + 1))
    }
}

/// The range that a day at this distance stands for.
fn vague_range(unit: Unit, day: Date) -> Days {
    let (before, after) = match unit {
        Unit::Day => (0, 1),
        Unit::Week => (3, 4),
        Unit::Month => (15, 15),
        Unit::Weekend | Unit::Year => return calendar::containing(unit, day),
    };
    Days::new(calendar::plus_days(day, -before), calendar::plus_days(day, after))
}
