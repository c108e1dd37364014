//! Phrases for a log or a person: an error with its causes on one line, a number with its noun, a
//! size with its unit. Ports keep causes out of their own text.
//!
//! Owns: these phrases. Never: an error of its own.

use std::error::Error;
use std::fmt::Display;

/// An error with its causes, outermost first, for a log, a task or a person.
pub fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

/// "1 fact", "2 facts".
pub fn counted(count: impl Copy + Display + PartialEq + From<u8>, one: &str, more: &str) -> String {
    let noun = if count == 1.into() { one } else { more };
    format!("{count} {noun}")
}

/// "5.0 MB".
pub fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", bytes as f64 / 1e6),
        _ => format!("{:.1} GB", bytes as f64 / 1e9),
    }
}

/// The value of a result. A failure is logged as a warning with its causes, and gives none:
/// `warned!(read(path), path, "cannot read a file")`.
#[macro_export]
macro_rules! warned {
    ($result:expr, $($said:tt)+) => {
        $result
            .inspect_err(|error| ::tracing::warn!(error = $crate::text::chain(error), $($said)+))
            .ok()
    };
}

#[cfg(test)]
mod tests {
    use std::error::Error;
    use std::fmt;

    #[derive(Debug)]
    struct Failed(&'static str, Option<Box<Failed>>);

    impl fmt::Display for Failed {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.0)
        }
    }

    impl Error for Failed {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            self.1.as_deref().map(|cause| cause as _)
        }
    }

    #[test]
    fn causes_follow_the_error() {
        let cause = Failed("no room", Some(Box::new(Failed("disk full", None))));
        let error = Failed("cannot write", Some(Box::new(cause)));
        assert_eq!(super::chain(&error), "cannot write: no room: disk full");
    }

    #[test]
    fn a_count_of_one_has_the_singular() {
        let counts = [0_usize, 1, 2, 21].map(|count| super::counted(count, "memory", "memories"));
        assert_eq!(counts, ["0 memories", "1 memory", "2 memories", "21 memories"]);
    }

    #[test]
    fn a_size_has_the_largest_fitting_unit() {
        let sizes = [999, 1_000, 1_234_567, 5_600_000_000].map(super::size);
        assert_eq!(sizes, ["999 B", "1.0 kB", "1.2 MB", "5.6 GB"]);
    }
}
