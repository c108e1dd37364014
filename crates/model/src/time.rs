//! Instants and calendars: stored instants are UTC milliseconds, people see their own zone.
//!
//! Owns: the two-zone rule and the only use of the calendar library. Never: the current time (a
//! port gives it).

pub use jiff::civil::{Date, Weekday};
use jiff::tz::TimeZone;
use std::fmt;
use std::time::Duration;

/// Why a text is not a time.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidTime {
    /// Neither epoch milliseconds nor an ISO 8601 text.
    #[error(
        "`{0}` is not a time: use a date as in `2024-05-08`, ISO 8601 as in `2024-05-08T13:56:00Z`, or epoch milliseconds"
    )]
    Instant(String),
    /// Not the name of a time zone.
    #[error("`{0}` is not a time zone: use an IANA name, as in `Europe/Berlin`")]
    Zone(String),
}

/// An instant: milliseconds since 1970-01-01T00:00:00Z, within the years -9999 to 9999.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Timestamp(i64);

const MILLIS_MIN: i64 = -377_705_023_201_000;
const MILLIS_MAX: i64 = 253_402_207_200_000;

impl Timestamp {
    /// The instant at that many milliseconds, clamped to the supported years.
    pub fn from_millis(millis: i64) -> Self {
        Self(millis.clamp(MILLIS_MIN, MILLIS_MAX))
    }

    /// Milliseconds since the epoch.
    pub fn millis(self) -> i64 {
        self.0
    }

    /// This instant moved by some milliseconds, into the future when positive.
    #[must_use]
    pub fn plus_millis(self, millis: i64) -> Self {
        Self::from_millis(self.0.saturating_add(millis))
    }

    /// The instant after this one by that duration.
    #[must_use]
    pub fn after(self, by: Duration) -> Self {
        self.plus_millis(i64::try_from(by.as_millis()).unwrap_or(i64::MAX))
    }

    fn instant(self) -> jiff::Timestamp {
        jiff::Timestamp::from_millisecond(self.0).expect("clamped to the supported years")
    }
}

/// UTC, ISO 8601, with milliseconds only if they are not zero: `2024-05-08T13:56:00Z`.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.instant())
    }
}

/// The zone in which a person's dates are shown and filed.
#[derive(Debug, Clone, PartialEq)]
pub struct Zone(TimeZone);

impl Default for Zone {
    fn default() -> Self {
        Self::utc()
    }
}

impl Zone {
    /// UTC.
    pub fn utc() -> Self {
        Self(TimeZone::UTC)
    }

    /// The zone with that IANA name, from the table inside the binary.
    pub fn named(name: &str) -> Result<Self, InvalidTime> {
        // Another name of UTC, common on machines.
        if name == "Etc/UTC" {
            return Ok(Self::utc());
        }
        TimeZone::get(name)
            .map(Self)
            .map_err(|_| InvalidTime::Zone(name.to_owned()))
    }

    /// The zone's name, or `UTC` when it has none.
    pub fn name(&self) -> &str {
        self.0.iana_name().unwrap_or("UTC")
    }

    /// The civil date of an instant in this zone.
    pub fn date(&self, at: Timestamp) -> Date {
        at.instant().to_zoned(self.0.clone()).date()
    }

    /// The first instant of a civil date in this zone.
    pub fn start_of(&self, date: Date) -> Timestamp {
        date.to_zoned(self.0.clone()).map_or_else(
            |_| Timestamp::default(),
            |z| Timestamp::from_millis(z.timestamp().as_millisecond()),
        )
    }

    /// ISO 8601 with this zone's offset; `Z` in UTC.
    pub fn render(&self, at: Timestamp) -> String {
        if self.0 == TimeZone::UTC {
            return at.to_string();
        }
        let offset = self.0.to_offset(at.instant());
        at.instant().display_with_offset(offset).to_string()
    }

    /// The time in this zone to the minute: `2024-05-08 13:56`.
    pub fn render_short(&self, at: Timestamp) -> String {
        let zoned = at.instant().to_zoned(self.0.clone());
        zoned.strftime("%Y-%m-%d %H:%M").to_string()
    }

    /// An instant from ISO 8601; a text without an offset is in this zone, a bare date means its
    /// first instant.
    pub fn parse(&self, text: &str) -> Result<Timestamp, InvalidTime> {
        let text = text.trim();
        if let Ok(at) = text.parse::<jiff::Timestamp>() {
            return Ok(Timestamp::from_millis(at.as_millisecond()));
        }
        let civil = text.parse::<jiff::civil::DateTime>();
        let civil = civil.or_else(|_| text.parse::<Date>().map(|d| d.at(0, 0, 0, 0)));
        civil
            .and_then(|c| c.to_zoned(self.0.clone()))
            .map(|z| Timestamp::from_millis(z.timestamp().as_millisecond()))
            .map_err(|_| InvalidTime::Instant(text.to_owned()))
    }
}

/// The names of the months.
pub const MONTHS: [&str; 12] = [
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
    "November", "December",
];

/// A date in words: `8 May 2023`.
pub fn date_in_words(date: Date) -> String {
    date.strftime("%-d %B %Y").to_string()
}

/// The day of an instant in the API's format: `4 March 2024`.
pub fn date_of(instant: &str) -> String {
    let day = instant.get(..10).unwrap_or(instant);
    day.parse().map_or_else(|_| day.to_owned(), date_in_words)
}

/// As [`date_of`], to the minute: `4 March 2024, 09:00`. Exactly midnight means a day without a
/// time.
pub fn moment_of(instant: &str) -> String {
    match instant.get(11..16) {
        Some(clock) if instant.get(11..19) != Some("00:00:00") => format!("{}, {clock}", date_of(instant)),
        _ => date_of(instant),
    }
}

/// The date in a text that [`date_in_words`] wrote.
pub fn read_date_in_words(text: &str) -> Option<Date> {
    Date::strptime("%d %B %Y", text).ok()
}
