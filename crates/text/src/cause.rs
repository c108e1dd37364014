//! An error with its causes on one line; ports keep causes out of their own text.
//!
//! Owns: that line. Never: an error of its own.

use std::error::Error;

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
}
