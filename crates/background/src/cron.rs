//! Cron expressions of five fields: minute, hour, day of the month, month, day of the week; each `*`, a number, a
//! range, a step or a list.
//!
//! Owns: the next time, in a zone. Never: a clock. As everywhere, an expression with a day of the month and a day of
//! the week matches either of them. A time that a zone's clocks skip comes right after the gap; a time that they show
//! twice comes once.

use memory::WorkTime;
use model::{Timestamp, Zone};

/// A text that is not a cron expression.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a cron expression of five fields, as in `30 2 * * 1`")]
pub struct InvalidCron(String);

/// Days in which every date comes up, the 29th of February on each weekday included.
const DAYS_MAX: u32 = 40 * 366;

/// A parsed expression; each field is a set of numbers as bits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cron {
    minutes: u64,
    hours: u64,
    days: u64,
    months: u64,
    weekdays: u64,
    /// Both days are given, so either of them matches.
    either_day: bool,
}

impl Cron {
    /// Reads an expression; weekdays are 0 to 7 from Sunday to Sunday.
    pub fn parse(text: &str) -> Result<Self, InvalidCron> {
        let invalid = || InvalidCron(text.to_owned());
        let fields: Vec<&str> = text.split_whitespace().collect();
        let [minutes, hours, days, months, weekdays] = fields[..] else {
            return Err(invalid());
        };
        let set = |field, low, high| set(field, low, high).ok_or_else(invalid);
        let weekday_bits = set(weekdays, 0, 7)?;
        Ok(Self {
            minutes: set(minutes, 0, 59)?,
            hours: set(hours, 0, 23)?,
            days: set(days, 1, 31)?,
            months: set(months, 1, 12)?,
            weekdays: weekday_bits | weekday_bits >> 7 & 1,
            either_day: !days.starts_with('*') && !weekdays.starts_with('*'),
        })
    }

    /// The next time, on the clock of work. The wall clock and the clock of work are read within a moment; if they
    /// agree, the result is the wall time itself.
    pub(crate) fn next(&self, time: &WorkTime, zone: &Zone) -> Option<Timestamp> {
        let wall = time.clock.now();
        let (next, ahead) = (self.after(wall, zone)?, time.now().millis() - wall.millis());
        Some(if ahead.abs() < 1_000 {
            next
        } else {
            next.plus_millis(ahead)
        })
    }

    /// The first time after an instant; none for a day that never comes, as the 30th of February.
    pub fn after(&self, at: Timestamp, zone: &Zone) -> Option<Timestamp> {
        let mut date = zone.date(at);
        for _ in 0..DAYS_MAX {
            if self.is_on(date.day(), date.month(), date.weekday().to_sunday_zero_offset()) {
                let times =
                    bits(self.hours).flat_map(|hour| bits(self.minutes).map(move |minute| (hour, minute)));
                let instants = times.filter_map(|(hour, minute)| {
                    zone.parse(&format!("{date}T{hour:02}:{minute:02}:00")).ok()
                });
                if let Some(next) = instants.filter(|next| *next > at).min() {
                    return Some(next);
                }
            }
            date = date.tomorrow().ok()?;
        }
        None
    }

    fn is_on(&self, day: i8, month: i8, weekday: i8) -> bool {
        let has = |set: u64, number: i8| set >> number & 1 == 1;
        let (day, weekday) = (has(self.days, day), has(self.weekdays, weekday));
        has(self.months, month)
            && if self.either_day {
                day || weekday
            } else {
                day && weekday
            }
    }
}

fn bits(set: u64) -> impl Iterator<Item = u32> {
    (0..64).filter(move |bit| set >> bit & 1 == 1)
}

/// The numbers of a field.
fn set(field: &str, low: u32, high: u32) -> Option<u64> {
    let mut set = 0;
    for part in field.split(',') {
        let (range, step) = match part.split_once('/') {
            Some((range, step)) => (range, Some(step.parse::<usize>().ok().filter(|step| *step > 0)?)),
            None => (part, None),
        };
        let (first, last) = match range.split_once('-') {
            _ if range == "*" => (low, high),
            Some((first, last)) => (first.parse().ok()?, last.parse().ok()?),
            None => {
                let first = range.parse().ok()?;
                (first, if step.is_some() { high } else { first })
            }
        };
        if first < low || last > high || first > last {
            return None;
        }
        (first..=last)
            .step_by(step.unwrap_or(1))
            .for_each(|number| set |= 1 << number);
    }
    Some(set)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next(cron: &str, zone: &str, after: &str) -> String {
        let zone = Zone::named(zone).expect("a zone");
        let at = zone.parse(after).expect("a time");
        let next = Cron::parse(cron).expect("valid").after(at, &zone);
        next.map_or("never".to_owned(), |next| zone.render_short(next))
    }

    #[test]
    fn the_next_time_comes() {
        for (cron, after, expected) in [
            ("* * * * *", "2026-03-02T09:00:30", "2026-03-02 09:01"),
            ("0 2 * * 1", "2026-03-02T02:00", "2026-03-09 02:00"),
            ("0 2 * * 1", "2026-03-02T01:59:59", "2026-03-02 02:00"),
            ("*/20 8-9 * * *", "2026-03-02T09:40", "2026-03-03 08:00"),
            ("5/25 3 * * *", "2026-03-02T03:05", "2026-03-02 03:30"),
            ("0 0 1,15 * *", "2026-03-02T00:00", "2026-03-15 00:00"),
            ("0 0 13 * 5", "2026-03-02T00:00", "2026-03-06 00:00"),
            ("0 0 13 * */7", "2026-03-02T00:00", "2026-09-13 00:00"),
            ("0 0 * * 7", "2026-03-02T00:00", "2026-03-08 00:00"),
            ("0 0 29 2 *", "2026-03-02T00:00", "2028-02-29 00:00"),
            ("0 0 30 2 *", "2026-03-02T00:00", "never"),
        ] {
            assert_eq!(next(cron, "UTC", after), expected, "{cron} after {after}");
        }
    }

    #[test]
    fn a_zones_clocks_may_be_put_forward_and_back() {
        let berlin = |cron, after| next(cron, "Europe/Berlin", after);
        assert_eq!(
            berlin("30 2 * * *", "2026-03-28T12:00"),
            "2026-03-29 03:30",
            "02:30 was skipped"
        );
        assert_eq!(berlin("30 2 * * *", "2026-10-24T12:00"), "2026-10-25 02:30");
        assert_eq!(
            berlin("30 2 * * *", "2026-10-25T02:30"),
            "2026-10-26 02:30",
            "it came once"
        );
    }

    #[test]
    fn an_invalid_expression_is_refused() {
        for text in [
            "", "* * * *", "60 * * * *", "* * 0 * *", "a * * * *", "5-3 * * * *", "*/0 * * * *",
            "* * * * * *",
        ] {
            assert!(Cron::parse(text).is_err(), "{text}");
        }
    }
}
