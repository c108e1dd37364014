//! The figures of a run, and the table of them.
//!
//! Owns: how turns and questions are counted, and the labels. Never: a text. Figures are numbers, so the
//! table has no word of a person.

use std::time::Duration;

use super::questions::Question;
use crate::speed::quantile;
use crate::turn::door::InjectedText;
use crate::turn::sets::stands;
use crate::turn::share;

/// Words within this many first printed places count as printed.
const PRINTED_MAX: usize = 3;

/// The figures of an export.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Figures {
    pub(super) conversations: usize,
    pub(super) messages: usize,
    /// Conversations and messages that the import skipped.
    pub(super) skipped: usize,
    pub(super) facts: usize,
    pub(super) in_doubt: usize,
    pub(super) core_lines: usize,
    /// First turns of the later half.
    pub(super) own: Turns,
    /// First turns that concern nothing of the person.
    pub(super) general: Turns,
    /// Turns, of all kinds, that got memory only when they were repeated.
    pub(super) repeated: u64,
    /// None without a file of questions.
    pub(super) questions: Option<Scores>,
}

/// Figures of the memory injected into first turns.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Turns {
    given: usize,
    tokens: usize,
    refused: usize,
    times: Vec<Duration>,
}

/// Figures of the person's questions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Scores {
    pub(super) asked: usize,
    /// Questions with words of an answer.
    pub(super) known: usize,
    pub(super) printed_first: usize,
    pub(super) printed: usize,
    pub(super) given: usize,
    /// Questions with words of an outdated answer.
    pub(super) changed: usize,
    pub(super) overtaken_alone: usize,
    pub(super) unknown: usize,
    pub(super) unknown_given: usize,
}

impl Turns {
    /// Counts a turn; none means that the server refused it.
    pub(super) fn add(&mut self, given: Option<&InjectedText>) {
        let Some(given) = given else {
            self.refused += 1;
            return;
        };
        self.given += usize::from(!given.is_nothing());
        self.tokens += given.tokens;
        self.times.push(given.took);
        self.times.sort();
    }

    fn asked(&self) -> usize {
        self.times.len()
    }

    fn millis(&self, q: f64) -> String {
        if self.times.is_empty() {
            return NOTHING.to_owned();
        }
        format!("{:.1} ms", quantile(&self.times, q).as_secs_f64() * 1e3)
    }
}

impl Scores {
    /// Counts a question by the printed places and by the memory that its turn got.
    pub(super) fn add(&mut self, question: &Question, printed: &[String], given: &InjectedText) {
        self.asked += 1;
        let Some(answer) = &question.answer else {
            self.unknown += 1;
            self.unknown_given += usize::from(!given.is_nothing());
            return;
        };
        self.known += 1;
        let place = printed.iter().position(|item| stands(item, answer));
        self.printed_first += usize::from(place == Some(0));
        self.printed += usize::from(place.is_some_and(|place| place < PRINTED_MAX));
        let is_given = stands(given.memory(), answer);
        self.given += usize::from(is_given);
        if let Some(old) = &question.overtaken {
            self.changed += 1;
            self.overtaken_alone += usize::from(!is_given && stands(given.memory(), old));
        }
    }
}

const NOTHING: &str = "-";

/// A share; `-` of nothing.
fn part(part: usize, all: usize) -> String {
    if all == 0 {
        return NOTHING.to_owned();
    }
    share(part, all)
}

impl Figures {
    /// Labels and numbers, as a table.
    pub(super) fn table(&self) -> String {
        let mut rows = vec![("", "figure".to_owned()), ("---", "--:".to_owned())];
        rows.extend(self.of_memory());
        rows.extend(self.of_turns());
        rows.extend(self.questions.iter().flat_map(Scores::rows));
        let lines = rows
            .iter()
            .map(|(label, figure)| format!("| {label} | {figure} |\n"));
        lines.collect()
    }

    fn of_memory(&self) -> [(&'static str, String); 6] {
        [
            ("conversations", self.conversations),
            ("messages", self.messages),
            ("skipped by the import", self.skipped),
            ("facts", self.facts),
            ("statements in doubt", self.in_doubt),
            ("lines of core memory", self.core_lines),
        ]
        .map(|(label, count)| (label, count.to_string()))
    }

    fn of_turns(&self) -> [(&'static str, String); 8] {
        let (own, general) = (&self.own, &self.general);
        let asked = own.asked();
        let tokens = match asked {
            0 => NOTHING.to_owned(),
            asked => (own.tokens / asked).to_string(),
        };
        [
            ("first turns of the later half", asked.to_string()),
            ("… given memory", part(own.given, asked)),
            ("… tokens, mean", tokens),
            ("… time, p50", own.millis(0.5)),
            ("… time, p99", own.millis(0.99)),
            ("… refused by the server", own.refused.to_string()),
            (
                "general questions given memory (bar: 10 %)",
                part(general.given, general.asked()),
            ),
            (
                "turns given memory only when asked again",
                self.repeated.to_string(),
            ),
        ]
    }
}

impl Scores {
    fn rows(&self) -> [(&'static str, String); 6] {
        [
            ("questions asked", self.asked.to_string()),
            ("… printed first", part(self.printed_first, self.known)),
            ("… printed, among three", part(self.printed, self.known)),
            ("… given to a turn", part(self.given, self.known)),
            (
                "… the overtaken one given alone",
                part(self.overtaken_alone, self.changed),
            ),
            (
                "… nothing known, but given",
                part(self.unknown_given, self.unknown),
            ),
        ]
    }
}
