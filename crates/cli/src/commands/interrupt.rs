//! Ctrl-C: the work stops, and the output says what is stored.
//!
//! Owns: the text, and the time of printing it. Never: undoing. Everything acknowledged stays.

use super::Desk;
use crate::error::{Exit, Failure};
use crate::output;
use parking_lot::Mutex;

/// The status text for an interrupt at this moment.
#[derive(Debug, Default)]
pub(crate) struct WhatStands(Mutex<String>);

impl WhatStands {
    /// Replaces the text of the last step.
    pub(super) fn now(&self, words: String) {
        *self.0.lock() = words;
    }

    fn words(&self) -> String {
        match self.0.lock().as_str() {
            "" => "interrupted".to_owned(),
            words => format!("interrupted: {words}"),
        }
    }
}

/// Runs the work until it ends or a person interrupts it.
pub(super) async fn unless_interrupted(
    desk: &Desk,
    work: impl Future<Output = Result<Exit, Failure>>,
) -> Result<Exit, Failure> {
    tokio::select! {
        result = work => result,
        _ = tokio::signal::ctrl_c() => {
            let failure = Failure::of(Exit::Interrupted, anyhow::anyhow!(desk.standing.words()));
            // Printed here, before the API closes, because closing may take a moment.
            output::failure(&failure, desk.json);
            Ok(Exit::Interrupted)
        }
    }
}

/// Closes in order; a second interrupt ends the process at once, and the next process resumes its work.
pub(super) async fn close(closing: impl Future<Output = ()>) {
    tokio::select! {
        () = closing => {}
        _ = tokio::signal::ctrl_c() => {}
    }
}

#[cfg(test)]
mod tests {
    use super::WhatStands;

    #[test]
    fn the_last_status_text_is_printed() {
        let standing = WhatStands::default();
        assert_eq!(standing.words(), "interrupted");
        standing.now("2 messages are stored".to_owned());
        standing.now("3 messages are stored".to_owned());
        assert_eq!(standing.words(), "interrupted: 3 messages are stored");
    }
}
