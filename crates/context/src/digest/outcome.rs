//! The end of a call, and the cause of its failure.
//!
//! Owns: the exit status in a result's text, the lines with the cause, and the parts of a large result that are read at
//! all. Never: reading rules or wishes from it.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;
use transcript::Outcome;

/// A result up to this size is read whole; of a larger one, the head, the tail, and lines with a signal in between.
const WHOLE_BYTES_MAX: usize = 24 * 1024;
const END_BYTES: usize = 8 * 1024;
const STATUS_BYTES: usize = 1_024;
const SIGNALS_MAX: usize = 48;
/// A longer line is data; only this many bytes of it are read.
const LINE_BYTES_MAX: usize = 1_024;

/// The end of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    Passed,
    Failed,
    Exit(i32),
}

impl Ending {
    pub(crate) fn failed(self) -> bool {
        !matches!(self, Self::Passed | Self::Exit(0))
    }
}

static STATUS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"(?i-u)(?:exit(?:ed)?(?: with)?(?: (?:exit|return))?[ _-]?(?:code|status)\\?["']?(?: is|:| =|=)? ?|\bexit(?:ed)?:? (?:with )?|returncode["']?[>:=] ?|non-zero exit status )(-?[0-9]{1,5})\b"#,
    )
});

/// A line with the cause of a failure.
static CAUSE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?-u:\b)(?:[A-Za-z.]*(?:Error|Exception|Panic)\b|error(?:\[|:)|ERROR\b|fatal:|FATAL\b|panic(?:ked|:)|FAIL(?:ED|URE)?\b|Traceback|(?i:permission denied|no such file|not found|timed? ?out|connection refused|segmentation fault|out of memory|undefined reference|assertion|cannot |can't |could not|unable to|unexpected|denied|refused|invalid|missing|killed|abort(?:ed|ing)|failed\b))",
    )
});

/// The strong patterns, which also count if the call is not marked as failed.
static LOUD: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?m)^[ \t>|E]*(?:error(?:\[E[0-9]+\])?:|Error: |ERROR[: ]|fatal: |FATAL[: ]|panic: |thread '[^'\n]*' (?:\([0-9]+\) )?panicked|[A-Za-z_.]*(?:Error|Exception): |FAILED |npm ERR!|Caused by: |Segmentation fault)",
    )
});

/// Lines that report zero problems.
static NONE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i-u)\b(?:0|no|zero|without) (?:errors?|failures?|failed|problems?)\b|\b(?:errors?|failures?|failed)[:=] ?0\b|\b0 failed",
    )
});

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the pattern is fixed and a test compiles it")
}

/// The end of a call; for a command, the status is searched for at both ends of the text.
pub(crate) fn ending(outcome: &Outcome, command: bool) -> Ending {
    if command {
        let text = &outcome.text;
        let tail = &text[text.ceil_char_boundary(text.len().saturating_sub(STATUS_BYTES))..];
        let head = &text[..text.floor_char_boundary(STATUS_BYTES)];
        let status = STATUS
            .captures_iter(tail)
            .last()
            .or_else(|| STATUS.captures(head));
        if let Some(code) = status.and_then(|found| found[1].parse().ok()) {
            return Ending::Exit(code);
        }
    }
    if outcome.failed {
        Ending::Failed
    } else {
        Ending::Passed
    }
}

/// The line with the cause of a failure, and the line with its place, if they exist; else the last line.
pub(crate) fn causes(text: &str) -> Vec<Range<usize>> {
    let ranges = lines(text);
    let rank = |range: &Range<usize>| {
        let line = &text[range.clone()];
        let loud = LOUD.find(line).map_or(0, |_| 3);
        let named = CAUSE
            .find(line)
            .map_or(0, |found| 1 + usize::from(found.as_str().contains("Error")));
        let only_status = STATUS.is_match(line) && line.len() < 60 || line.starts_with("Traceback");
        if NONE.is_match(line) || only_status {
            0
        } else {
            loud + named
        }
    };
    let ranked: Vec<usize> = ranges.iter().map(rank).collect();
    let best = ranked.iter().copied().max().unwrap_or(0);
    if best == 0 {
        let telling = |range: &&Range<usize>| text[(*range).clone()].chars().any(char::is_alphabetic);
        return ranges.iter().rfind(telling).cloned().into_iter().collect();
    }
    // A traceback names its cause last, a compiler first.
    let traced = text.contains("Traceback (most recent");
    let mut at: Vec<usize> = (0..ranges.len()).filter(|&index| ranked[index] == best).collect();
    if traced {
        at.reverse();
    }
    at.truncate(2);
    at.sort_unstable();
    at.into_iter().map(|index| ranges[index].clone()).collect()
}

/// The start of the cause in a line.
pub(crate) fn cause_in(line: &str) -> Option<Range<usize>> {
    LOUD.find(line)
        .or_else(|| CAUSE.find(line))
        .map(|found| found.range())
}

/// Whether a text reports zero errors.
pub(crate) fn tells_none(text: &str) -> bool {
    NONE.is_match(text)
}

/// The lines of a result that match a strong pattern, if the result is not marked as failed.
pub(crate) fn loud(text: &str) -> Vec<Range<usize>> {
    let found = LOUD
        .find_iter(text)
        .take(8)
        .map(|found| line_at(text, found.end().saturating_sub(1)));
    let mut found: Vec<Range<usize>> = found
        .filter(|range| !NONE.is_match(&text[range.clone()]))
        .collect();
    found.dedup();
    found
}

/// The line around a byte, limited to the readable length.
fn line_at(text: &str, at: usize) -> Range<usize> {
    let at = text.floor_char_boundary(at);
    let start = text[..at].rfind('\n').map_or(0, |at| at + 1);
    let end = text[at..].find('\n').map_or(text.len(), |end| at + end);
    let start = start.max(text.ceil_char_boundary(at.saturating_sub(LINE_BYTES_MAX)));
    start
        ..text
            .floor_char_boundary(end.min(start + LINE_BYTES_MAX))
            .max(start)
}

/// The lines worth reading: all of a short text; of a long text, those at its ends and those with a signal.
pub(crate) fn lines(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    if text.len() <= WHOLE_BYTES_MAX {
        split(text, 0..text.len(), &mut found);
        return found;
    }
    let head = text.floor_char_boundary(END_BYTES);
    let tail = text.ceil_char_boundary(text.len() - END_BYTES);
    split(text, 0..head, &mut found);
    for signal in LOUD.find_iter(&text[head..tail]).take(SIGNALS_MAX) {
        let range = line_at(text, head + signal.end().saturating_sub(1));
        if range.start >= head && range.end <= tail && found.last().is_none_or(|last| last.end <= range.start)
        {
            found.push(range);
        }
    }
    split(text, tail..text.len(), &mut found);
    found
}

fn split(text: &str, range: Range<usize>, found: &mut Vec<Range<usize>>) {
    let mut start = range.start;
    for line in text[range].split_inclusive('\n') {
        let bare = line.trim_end();
        if !bare.is_empty() {
            found.push(start..text.floor_char_boundary(start + bare.len().min(LINE_BYTES_MAX)));
        }
        start += line.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn outcome(text: &str) -> Outcome {
        Outcome {
            call_id: String::new(),
            text: text.into(),
            failed: false,
            images: 0,
        }
    }

    #[test]
    fn statuses_as_agents_write_them() {
        for (text, code) in [
            ("x\n\nExit code: 101", 101),
            (
                r#"{"output":"x","metadata":{"exit_code":2,"duration_seconds":0.1}}"#,
                2,
            ),
            ("[Command finished with exit code 0]", 0),
            ("<returncode>1</returncode>\n<output>", 1),
            ("Process exited with code 137\nOutput:", 137),
            ("subprocess returned non-zero exit status 3.", 3),
        ] {
            assert_eq!(ending(&outcome(text), true), Ending::Exit(code), "{text}");
        }
        assert_eq!(ending(&outcome("all 12 tests passed"), true), Ending::Passed);
        assert_eq!(ending(&outcome("exit code 1"), false), Ending::Passed);
    }

    #[test]
    fn the_cause_of_a_failure() {
        let told = |text: &'static str| {
            causes(text)
                .into_iter()
                .map(|range| &text[range])
                .collect::<Vec<_>>()
        };
        let trace =
            "Traceback (most recent call last):\n  File \"a.py\", line 3\nKeyError: 'x'\n\nExit code: 1";
        assert_eq!(told(trace), ["KeyError: 'x'"]);
        assert_eq!(
            told("Compiling\nerror[E0308]: mismatched types\n --> a.rs:3\n"),
            ["error[E0308]: mismatched types"]
        );
        assert_eq!(told("0 errors\nnothing to do\n---"), ["nothing to do"]);
        assert!(loud("ok\n0 errors, no failures\nerrors: 0\nreturn Err(Error::new())").is_empty());
    }

    #[test]
    fn a_large_result_is_read_at_its_ends_and_signals() {
        let noise = "word ".repeat(20_000);
        let text = format!("first\n{noise}\nfatal: the middle\n{noise}\nlast");
        let read: Vec<&str> = lines(&text).into_iter().map(|range| &text[range]).collect();
        assert!(read.contains(&"first") && read.contains(&"fatal: the middle") && read.contains(&"last"));
        assert!(read.iter().map(|line| line.len()).sum::<usize>() < 3 * END_BYTES);
    }

    proptest! {
        #[test]
        fn any_result_is_read(text in "(error: |\\n|é|\\PC|Exit code: 1| {900}){0,60}") {
            let mut last = 0;
            for range in lines(&text) {
                prop_assert!(range.start >= last && text.get(range.clone()).is_some());
                last = range.end;
            }
            causes(&text);
            loud(&text);
        }
    }
}
