//! Layout of text for a terminal: lines of eighty columns, dates in a common notation, excerpts around the answer.
//!
//! Owns: widths, dates, excerpts. Never: the content.

use std::collections::BTreeSet;

pub(crate) use model::date_of as date;
pub(super) use model::moment_of as moment;
use model::text::{self, term_set};

const COLUMNS: usize = 80;

/// A heading and its text joined; without the heading if the text repeats it.
pub(super) fn sentence(subject: &str, text: &str) -> String {
    let (subject, text) = (subject.trim(), text.trim());
    if subject.is_empty() || text.contains(subject) {
        return text.to_owned();
    }
    if text.is_empty() || term_set(text).is_subset(&term_set(subject)) {
        return subject.to_owned();
    }
    let is_ended = subject.ends_with(['.', '!', '?', ':', '…']);
    format!("{subject}{} {text}", if is_ended { "" } else { "." })
}

/// A text on one line, cut to about `chars_max` characters around the sentence with most words of a question.
pub(super) fn passage(text: &str, query: &str, chars_max: usize) -> String {
    let flat = model::one_line(text);
    let length = flat.chars().count();
    if length <= chars_max {
        return flat;
    }
    let asked = term_set(query);
    let mut best = (0, 0);
    let mut start = 0;
    for sentence in flat.split_inclusive(['.', '!', '?']) {
        let hits = term_set(sentence).intersection(&asked).count();
        if hits > best.0 {
            best = (hits, start);
        }
        start += sentence.len();
    }
    // If the beginning of the text includes the whole sentence, nothing is cut before it.
    let from = flat[..best.1].chars().count();
    let begin = if from < chars_max / 2 { 0 } else { best.1 };
    let rest = flat[begin..].trim_start();
    let before = if begin == 0 { "" } else { "… " };
    match rest.char_indices().nth(chars_max) {
        Some((end, _)) => {
            let end = rest[..end].rfind(' ').unwrap_or(end);
            format!("{before}{} …", &rest[..end])
        }
        None => format!("{before}{rest}"),
    }
}

/// A text on one line, cut to `chars_max` characters around the first of some words.
pub(crate) fn around(text: &str, words: &str, chars_max: usize) -> String {
    let flat = model::one_line(text);
    let mut wanted = BTreeSet::new();
    text::each_word(words, |_, word| _ = wanted.insert(word.to_owned()));
    let mut first = None;
    text::each_word(&flat, |place, word| {
        first = first.or(wanted.contains(word).then_some(place.start));
    });
    let left = flat.chars().count().saturating_sub(chars_max);
    let before = flat[..first.unwrap_or(0)].chars().count();
    let from = before.saturating_sub(chars_max / 3).min(left);
    let cut: String = flat.chars().skip(from).take(chars_max).collect();
    let sign = |is_cut| if is_cut { "…" } else { "" };
    format!("{}{}{}", sign(from > 0), cut.trim(), sign(from < left))
}

/// A paragraph after a mark, with its other lines indented. Text of messages must not control the terminal.
pub(crate) fn wrapped(mark: &str, text: &str) -> String {
    let text: String = text
        .chars()
        .filter(|c| c.is_whitespace() || !c.is_control())
        .collect();
    let indent = mark.len();
    let mut lines = vec![mark.to_owned()];
    let mut used = indent;
    for word in text.split_whitespace() {
        let mut room = COLUMNS.saturating_sub(used + usize::from(used > indent));
        let mut word = word;
        if columns(word) <= room {
            if used > indent {
                push(&mut lines, " ");
                used += 1;
            }
        } else if used > indent {
            lines.push(" ".repeat(indent));
            used = indent;
            room = COLUMNS - indent;
        }
        // A word longer than a line, as in a language without spaces, is split.
        while columns(word) > room {
            let at = fitting(word, room);
            push(&mut lines, &word[..at]);
            word = &word[at..];
            lines.push(" ".repeat(indent));
            (used, room) = (indent, COLUMNS - indent);
        }
        push(&mut lines, word);
        used += columns(word);
    }
    lines.join("\n")
}

fn push(lines: &mut [String], text: &str) {
    if let Some(last) = lines.last_mut() {
        last.push_str(text);
    }
}

/// Number of bytes of a word that fit into the columns.
fn fitting(word: &str, room: usize) -> usize {
    let mut used = 0;
    for (at, c) in word.char_indices() {
        used += width(c);
        if used > room && at > 0 {
            return at;
        }
    }
    word.len()
}

pub(super) fn columns(text: &str) -> usize {
    text.chars().map(width).sum()
}

/// Characters from U+2E80 on are twice as wide.
fn width(c: char) -> usize {
    1 + usize::from(c >= '\u{2e80}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_after_a_full_line_goes_to_the_next_line() {
        let full = "x".repeat(COLUMNS - 2);
        assert_eq!(wrapped("> ", &format!("{full} y")), format!("> {full}\n  y"));
    }

    #[test]
    fn dates_have_the_month_in_words() {
        assert_eq!(date("2024-03-04T09:00:00Z"), "4 March 2024");
        assert_eq!(moment("2024-12-31T23:59:00+01:00"), "31 December 2024, 23:59");
        assert_eq!(moment("2024-12-31T00:00:00+01:00"), "31 December 2024");
        assert_eq!(date("soon"), "soon");
    }

    #[test]
    fn lines_have_eighty_columns_and_lose_nothing() {
        let text = "word ".repeat(40) + &"x".repeat(200) + " " + &"猫".repeat(100) + " end";
        let lines = wrapped(" 1. ", &text);
        assert!(lines.lines().all(|line| columns(line) <= 80), "{lines}");
        let words = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
        assert_eq!(words(&lines), words(&format!("1.{text}")));
        assert!(
            lines.lines().skip(1).all(|line| line.starts_with("    ")),
            "{lines}"
        );
    }

    #[test]
    fn a_long_text_is_cut_around_the_answer() {
        let text = "We talked of the weather. ".repeat(40)
            + "The boat is called Marula. "
            + &"More of it. ".repeat(40);
        let shown = passage(&text, "What is my boat called?", 100);
        assert!(shown.starts_with("… The boat is called Marula."), "{shown}");
        assert!(shown.ends_with(" …") && shown.chars().count() < 110, "{shown}");
        assert!(passage(&text, "weather", 100).starts_with("We talked"));
    }

    #[test]
    fn a_text_is_cut_around_the_words_and_marks_each_cut() {
        let text = format!("{}\nPétra's {}", "a".repeat(50), "z".repeat(50));
        assert_eq!(around(&text, "petra", 12), "…aaa Pétra's…");
        assert_eq!(around(&text, "who", 5), "aaaaa…");
        assert_eq!(around(&text, "z", 200), text.replace('\n', " "));
        let end = format!("{} Petra", "猫".repeat(50));
        assert_eq!(around(&end, "PETRA", 9), "…猫猫猫 Petra");
    }

    #[test]
    fn a_heading_is_shown_unless_the_text_repeats_it() {
        for (subject, text, told) in [
            (
                "Peanuts",
                "I am allergic to nuts.",
                "Peanuts. I am allergic to nuts.",
            ),
            (
                "Ana lives in Lisbon.",
                "ana lives in Lisbon.",
                "Ana lives in Lisbon.",
            ),
            ("", "Tea.", "Tea."),
            ("Tea", "", "Tea"),
        ] {
            assert_eq!(sentence(subject, text), told);
        }
    }
}
