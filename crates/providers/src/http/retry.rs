//! The wait before the next attempt.
//!
//! Owns: backoff with jitter, and `Retry-After` in seconds. Never: waiting.

use std::time::Duration;

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

/// The seconds in an answer's header `Retry-After`; a date is ignored.
pub(crate) fn asked(headers: &HeaderMap) -> Option<Duration> {
    let seconds = headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse();
    seconds.ok().map(Duration::from_secs)
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderValue;

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
    fn a_wait_in_seconds_is_read() {
        let asked = |value: &'static str| {
            let header = (RETRY_AFTER, HeaderValue::from_static(value));
            asked(&HeaderMap::from_iter([header]))
        };
        assert_eq!(asked(" 7 "), Some(Duration::from_secs(7)));
        for other in ["", "soon", "-1", "Wed, 21 Oct 2015 07:28:00 GMT"] {
            assert_eq!(asked(other), None, "{other}");
        }
    }
}
