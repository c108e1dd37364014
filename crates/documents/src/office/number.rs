//! The number of a cell as a reader sees it: a date, a time, a share, a plain number.
//!
//! Owns: the detection of date formats, calendars of a workbook. Never: currencies, colours, a
//! language's own order of a date.

/// Format of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum NumberFormat {
    #[default]
    Plain,
    Percent,
    Date,
    Time,
    DateTime,
}

/// Day number of 9999-12-31; later days are no dates.
const DAY_MAX: f64 = 2_958_465.0;
/// Days from day number 0 to 1970-01-01.
const DAYS_TO_1970: i64 = 25_569;
/// Days between the calendar that begins in 1904 and that of 1900.
const DAYS_TO_1904: f64 = 1_462.0;
const MINUTES_A_DAY: i64 = 1_440;
/// Number of significant digits in a file; rounding to them hides errors of the last bits.
const DIGITS: usize = 15;

impl NumberFormat {
    /// The built-in format with this number, common to all workbooks.
    pub(super) fn built_in(id: u32) -> Self {
        match id {
            9 | 10 => Self::Percent,
            14..=17 | 27..=31 | 34..=36 | 50..=58 => Self::Date,
            18..=21 | 32..=33 | 45..=47 => Self::Time,
            22 => Self::DateTime,
            _ => Self::Plain,
        }
    }

    /// The format of a code such as `dd/mm/yyyy hh:mm`.
    pub(super) fn of_code(code: &str) -> Self {
        let letters = unquoted(code);
        if letters.contains('%') {
            return Self::Percent;
        }
        let has = |any: &[char]| letters.contains(any);
        // `m` means minutes next to hours and seconds, and a month otherwise.
        let (has_day, has_time) = (has(&['y', 'd']), has(&['h', 's']));
        match (has_day || has(&['m']) && !has_time, has_time) {
            (true, true) => Self::DateTime,
            (true, false) => Self::Date,
            (false, true) => Self::Time,
            (false, false) => Self::Plain,
        }
    }

    /// A number in this format; unchanged if it is no number.
    pub(super) fn formatted(self, number: &str, counts_from_1904: bool) -> String {
        let Some(value) = number
            .trim()
            .parse::<f64>()
            .ok()
            .filter(|value| value.is_finite())
        else {
            return number.to_owned();
        };
        let from_1900 = value + if counts_from_1904 { DAYS_TO_1904 } else { 0.0 };
        let is_day = (0.0..=DAY_MAX).contains(&from_1900);
        match self {
            Self::Percent => format!("{}%", plain(value * 100.0)),
            Self::Date if is_day => day(minutes(from_1900) / MINUTES_A_DAY),
            Self::Time if is_day => time(minutes(value)),
            Self::DateTime if is_day => {
                let minutes = minutes(from_1900);
                format!(
                    "{} {}",
                    day(minutes / MINUTES_A_DAY),
                    time(minutes % MINUTES_A_DAY)
                )
            }
            Self::Plain | Self::Date | Self::Time | Self::DateTime => plain(value),
        }
    }
}

/// The letters of a format's first section, in lower case, without quoted text, colours and
/// conditions.
fn unquoted(code: &str) -> String {
    let mut letters = String::new();
    let mut chars = code.chars();
    while let Some(c) = chars.next() {
        match c {
            ';' => break,
            '"' => drop(chars.by_ref().find(|c| *c == '"')),
            '\\' | '_' | '*' => drop(chars.next()),
            '[' => {
                let inside: String = chars.by_ref().take_while(|c| *c != ']').collect();
                // `[h]` counts hours beyond a day.
                if inside.chars().all(|c| "hmsHMS".contains(c)) {
                    letters.push_str(&inside.to_ascii_lowercase());
                }
            }
            c => letters.push(c.to_ascii_lowercase()),
        }
    }
    if letters.contains("general") {
        String::new()
    } else {
        letters
    }
}

fn plain(value: f64) -> String {
    let rounded = format!("{value:.*e}", DIGITS - 1).parse().unwrap_or(value);
    let size = f64::abs(rounded);
    if size != 0.0 && !(1e-9..1e15).contains(&size) {
        format!("{rounded:e}")
    } else {
        format!("{rounded}")
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "no day is later than those of the year 9999"
)]
fn minutes(days: f64) -> i64 {
    (days * MINUTES_A_DAY as f64).round() as i64
}

fn day(number: i64) -> String {
    // The calendar counts 29 February 1900, which did not exist.
    let days = if number < 60 { number + 1 } else { number } - DAYS_TO_1970;
    let (year, month, day) = civil(days);
    format!("{year:04}-{month:02}-{day:02}")
}

fn time(minutes: i64) -> String {
    format!("{:02}:{:02}", minutes / 60, minutes % 60)
}

/// Year, month and day of a number of days since 1970-01-01, in the Gregorian calendar. A year
/// begins in March here, so that a leap day is its last.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}
