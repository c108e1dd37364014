//! The wait before the next attempt.
//!
//! Owns: backoff with jitter, and both forms of `Retry-After`. Never: waiting.

use std::time::Duration;

use model::{Timestamp, Zone};
use reqwest::header::{HeaderMap, RETRY_AFTER};

const FIRST_WAIT: Duration = Duration::from_millis(500);
const WAIT_MAX: Duration = Duration::from_secs(8);
/// If an endpoint asks for a longer wait, the call fails; the engine retries in its own time.
const ASKED_WAIT_MAX: Duration = Duration::from_secs(30);

/// The wait after an attempt (counted from 1) of `attempts`; none after the last one, or if the wait is too
/// long.
pub(super) fn wait(attempt: u32, attempts: u32, asked: Option<Duration>) -> Option<Duration> {
    if attempt >= attempts {
        return None;
    }
    if let Some(asked) = asked {
        return (asked <= ASKED_WAIT_MAX).then_some(asked);
    }
    let full = FIRST_WAIT.saturating_mul(1 << (attempt - 1).min(8)).min(WAIT_MAX);
    Some(jittered(full))
}

/// A random time from half of the wait to all of it.
pub(crate) fn jittered(full: Duration) -> Duration {
    full.mul_f64(0.5 + 0.5 * share())
}

/// A random number from 0 to 1, so that clients that failed together do not retry together.
fn share() -> f64 {
    getrandom::u32().map_or(1.0, |random| f64::from(random) / f64::from(u32::MAX))
}

/// The wait in an answer's header `Retry-After`.
pub(crate) fn asked(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    after(headers.get(RETRY_AFTER)?.to_str().ok()?, now)
}

/// Seconds, or a date as in `Wed, 21 Oct 2015 07:28:00 GMT`.
fn after(value: &str, now: Timestamp) -> Option<Duration> {
    let value = value.trim();
    if let Ok(seconds) = value.parse::<u64>() {
        return Some(Duration::from_secs(seconds));
    }
    let words: Vec<&str> = value.split(' ').collect();
    let [_, day, month, year, time, "GMT"] = words.as_slice() else {
        return None;
    };
    let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let month = months.iter().position(|name| name == month)? + 1;
    let date = Zone::utc()
        .parse(&format!("{year}-{month:02}-{day}T{time}Z"))
        .ok()?;
    Some(Duration::from_millis(
        u64::try_from(date.millis() - now.millis()).unwrap_or(0),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_within_their_bounds_up_to_the_last_attempt() {
        for attempt in 1..10 {
            let full = Duration::from_millis(500 << (attempt - 1).min(4)).min(WAIT_MAX);
            let wait = wait(attempt, 10, None).expect("not the last attempt");
            assert!(wait >= full / 2 && wait <= full, "{attempt}: {wait:?}");
        }
        assert_eq!(wait(10, 10, None), None);
        assert_eq!(wait(1, 10, Some(Duration::from_secs(31))), None);
        assert_eq!(
            wait(1, 10, Some(Duration::from_secs(30))),
            Some(Duration::from_secs(30))
        );
    }

    #[test]
    fn both_forms_of_retry_after_are_read() {
        let now = Zone::utc().parse("2015-10-21T07:27:15Z").expect("a time");
        assert_eq!(after(" 7 ", now), Some(Duration::from_secs(7)));
        assert_eq!(
            after("Wed, 21 Oct 2015 07:28:00 GMT", now),
            Some(Duration::from_secs(45))
        );
        assert_eq!(after("Wed, 21 Oct 2015 07:00:00 GMT", now), Some(Duration::ZERO));
        for bad in ["", "soon", "-1", "Wed, 21 Foo 2015 07:28:00 GMT", "21 Oct 2015"] {
            assert_eq!(after(bad, now), None, "{bad}");
        }
    }
}
