//! Civil dates as half-open ranges of days, and the steps between them.
//!
//! Owns: weeks, months, seasons and holidays of a year. Never: words, zones, instants. Dates are
//! clamped to the years 1 to 9000, so that no text can overflow the calendar.

use std::time::Duration;

use model::{Date, Weekday};

const YEAR_MIN: i16 = 1;
const YEAR_MAX: i16 = 9000;
const DAY: Duration = Duration::from_hours(24);

/// Days from `from`, included, to `to`, not included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Days {
    pub(super) from: Date,
    pub(super) to: Date,
}

impl Days {
    pub(super) fn new(from: Date, to: Date) -> Self {
        Self { from, to }
    }

    pub(super) fn one(date: Date) -> Self {
        Self::new(date, plus_days(date, 1))
    }

    pub(super) fn len(self) -> i64 {
        let seconds = self.from.duration_until(self.to).as_secs();
        seconds / (24 * 60 * 60)
    }

    pub(super) fn contains(self, date: Date) -> bool {
        self.from <= date && date < self.to
    }

    /// Number of days between these and a day.
    pub(super) fn away(self, day: Date) -> i64 {
        let (ahead, behind) = (Self::new(day, self.from), Self::new(self.to, day));
        ahead.len().max(behind.len() + 1).max(0)
    }

    /// The first, middle or last third.
    pub(super) fn third(self, which: Third) -> Self {
        let len = self.len();
        let (first, last) = (plus_days(self.from, len / 3), plus_days(self.to, -(len / 3)));
        match which {
            Third::Early => Self::new(self.from, first),
            Third::Middle => Self::new(first, last),
            Third::Late => Self::new(last, self.to),
        }
    }
}

/// A part of a month, season or year.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Third {
    Early,
    Middle,
    Late,
}

/// A unit of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Day,
    Weekend,
    Week,
    Month,
    Year,
}

/// A period or day that recurs every year.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Yearly {
    Month(i8),
    Day(i8, i8),
    /// From the first of a month, for three months.
    Season(i8),
    /// The fourth Thursday of November.
    Thanksgiving,
}

/// Which recurrence is meant, by "last", "this" or "next".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    /// The latest one that has ended.
    Last,
    /// The current one, or this year's.
    This,
    /// The first one that has not begun.
    Next,
}

/// Which recurrence is meant if no word says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lean {
    /// The latest one that has begun.
    Past,
    /// The first one that has not ended.
    Coming,
    /// The closer of these two.
    Nearest,
}

pub(super) fn date(year: i16, month: i8, day: i8) -> Option<Date> {
    (YEAR_MIN..=YEAR_MAX)
        .contains(&year)
        .then(|| Date::new(year, month, day).ok())?
}

pub(super) fn plus_days(date: Date, days: i64) -> Date {
    let by = DAY * u32::try_from(days.unsigned_abs().min(4_000_000)).expect("drawn in");
    let moved = if days < 0 {
        date.saturating_sub(by)
    } else {
        date.saturating_add(by)
    };
    let (low, high) = (Date::constant(YEAR_MIN, 1, 1), Date::constant(YEAR_MAX, 12, 31));
    moved.clamp(low, high)
}

/// The same day some months away, or the last day of that month.
pub(super) fn plus_months(from: Date, months: i64) -> Date {
    let index = i64::from(from.year()) * 12 + i64::from(from.month()) - 1 + months.clamp(-120_000, 120_000);
    let year = year_of(index.div_euclid(12));
    let month = i8::try_from(index.rem_euclid(12) + 1).expect("1 to 12");
    let first = Date::constant(year, month, 1);
    Date::new(year, month, from.day().min(first.days_in_month())).expect("a day of that month")
}

pub(super) fn month(year: i16, month: i8) -> Option<Days> {
    let first = date(year, month, 1)?;
    Some(Days::new(first, plus_months(first, 1)))
}

pub(super) fn year(year: i64) -> Days {
    let first = Date::constant(year_of(year), 1, 1);
    Days::new(first, plus_months(first, 12))
}

fn year_of(year: i64) -> i16 {
    i16::try_from(year.clamp(i64::from(YEAR_MIN), i64::from(YEAR_MAX))).expect("drawn in")
}

/// The calendar unit around a day; weeks begin on Monday, a weekend is the week's Saturday and
/// Sunday.
pub(super) fn containing(unit: Unit, day: Date) -> Days {
    let monday = plus_days(day, -i64::from(day.weekday().to_monday_zero_offset()));
    match unit {
        Unit::Day => Days::one(day),
        Unit::Week => Days::new(monday, plus_days(monday, 7)),
        Unit::Weekend => Days::new(plus_days(monday, 5), plus_days(monday, 7)),
        Unit::Month => {
            let first = day.first_of_month();
            Days::new(first, plus_months(first, 1))
        }
        Unit::Year => year(i64::from(day.year())),
    }
}

/// The day `count` units away.
pub(super) fn moved(unit: Unit, day: Date, count: i64) -> Date {
    match unit {
        Unit::Day => plus_days(day, count),
        Unit::Week | Unit::Weekend => plus_days(day, count.saturating_mul(7)),
        Unit::Month => plus_months(day, count),
        Unit::Year => plus_months(day, count.saturating_mul(12)),
    }
}

/// The last such weekday before a day, or the first after it; never the day itself.
pub(super) fn weekday(day: Date, weekday: Weekday, before: bool) -> Date {
    let (have, want) = (
        i64::from(day.weekday().to_monday_zero_offset()),
        i64::from(weekday.to_monday_zero_offset()),
    );
    if before {
        plus_days(day, -((have - want - 1).rem_euclid(7) + 1))
    } else {
        plus_days(day, (want - have - 1).rem_euclid(7) + 1)
    }
}

impl Yearly {
    /// The occurrence in a year; most years have no 29 February.
    pub(super) fn of(self, year: i16) -> Option<Days> {
        match self {
            Self::Month(number) => month(year, number),
            Self::Day(month, day) => date(year, month, day).map(Days::one),
            Self::Season(first) => {
                let first = date(year, first, 1)?;
                Some(Days::new(first, plus_months(first, 3)))
            }
            Self::Thanksgiving => {
                let before = date(year, 10, 31)?;
                Some(Days::one(plus_days(
                    weekday(before, Weekday::Thursday, false),
                    21,
                )))
            }
        }
    }

    /// The recurrence that a word means on a day.
    pub(super) fn pick(self, which: Which, today: Date) -> Option<Days> {
        let mut around = self.occurrences(today);
        match which {
            Which::Last => around.rfind(|days| days.to <= today),
            Which::Next => around.find(|days| days.from > today),
            Which::This => around
                .find(|days| days.contains(today))
                .or_else(|| self.of(today.year())),
        }
    }

    /// The recurrence that is meant on a day without such a word.
    pub(super) fn lean(self, lean: Lean, today: Date) -> Option<Days> {
        let mut around = self.occurrences(today);
        match lean {
            Lean::Past => around.rfind(|days| days.from <= today),
            Lean::Coming => around.find(|days| days.to > today),
            Lean::Nearest => around.min_by_key(|days| days.away(today)),
        }
    }

    fn occurrences(self, today: Date) -> impl DoubleEndedIterator<Item = Days> {
        (-8..=8).filter_map(move |step| self.of(today.year().checked_add(step)?))
    }
}
