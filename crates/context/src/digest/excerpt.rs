//! Sentences of a conversation, in any script, and the worth of each by its form alone.
//!
//! Owns: the end of a sentence; the worth of a sentence by its speaker and content. Never: a list of important words, a
//! language.

use std::ops::Range;

use transcript::Role;

/// A longer sentence is cut here: only programs write such lines.
const SENTENCE_BYTES_MAX: usize = 1_000;

/// A line of this length that continues in lower case was wrapped by an editor, not ended.
const WRAPPED_BYTES_MIN: usize = 40;

const ABBREVIATIONS: [&str; 24] = [
    "e.g", "i.e", "etc", "vs", "mr", "mrs", "dr", "st", "no", "nr", "z.b", "bzw", "usw", "ca", "d.h", "p.ex",
    "cf", "approx", "inc", "ltd", "sr", "sra", "art", "fig",
];

/// The ranges of the sentences of a text, without list marks and outer white space, in order; none is empty.
///
/// A sentence ends at `. ! ? …` before white space, at `。！？｡` anywhere, and at the end of a line unless the line was
/// visibly wrapped.
pub fn sentences(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let mut end = at + c.len_utf8();
        let ends = match c {
            '\n' => !wrapped(&text[start..at], &text[end..]),
            '。' | '！' | '？' | '｡' => true,
            '.' | '!' | '?' | '…' => {
                while let Some((_, next)) = chars.next_if(|(_, next)| is_closing(*next)) {
                    end += next.len_utf8();
                }
                stops(&text[start..at], c, &text[end..])
            }
            _ => end - start >= SENTENCE_BYTES_MAX,
        };
        if ends {
            if matches!(c, '。' | '！' | '？' | '｡') {
                while let Some((_, next)) = chars.next_if(|(_, next)| is_closing(*next)) {
                    end += next.len_utf8();
                }
            }
            push(&mut found, text, start..end);
            start = end;
        }
    }
    push(&mut found, text, start..text.len());
    found
}

fn is_closing(c: char) -> bool {
    ".!?…。！？\"”’)]」』）»*`".contains(c)
}

fn stops(before: &str, mark: char, after: &str) -> bool {
    let Some(next) = after.chars().next() else {
        return true;
    };
    if !next.is_whitespace() {
        return false;
    }
    if mark != '.' {
        return true;
    }
    let goes_on = after.trim_start_matches(' ').starts_with(char::is_lowercase);
    let word = before
        .rsplit(char::is_whitespace)
        .next()
        .unwrap_or("")
        .trim_start_matches(['(', '"', '*']);
    let initial = word.len() == 1 && word.bytes().all(|byte| byte.is_ascii_alphabetic());
    let short = word.len() <= 6 && ABBREVIATIONS.contains(&word.to_lowercase().as_str());
    let mark_of_list = before.trim_start().bytes().all(|byte| byte.is_ascii_digit());
    !goes_on && !initial && !short && !mark_of_list
}

fn wrapped(line: &str, rest: &str) -> bool {
    let line = line.rsplit('\n').next().unwrap_or("");
    let stopped = line.trim_end().ends_with(['.', '!', '?', ':', ';', '|', '}']);
    line.len() >= WRAPPED_BYTES_MIN
        && !stopped
        && rest.trim_start_matches(' ').starts_with(char::is_lowercase)
}

fn push(found: &mut Vec<Range<usize>>, text: &str, range: Range<usize>) {
    let whole = &text[range.clone()];
    let bare = unmarked(whole);
    if bare.chars().any(char::is_alphanumeric) {
        let start = range.start + (whole.len() - bare.len());
        found.push(start..start + bare.trim_end().len());
    }
}

/// The text without the marks of a list or heading at its beginning.
fn unmarked(text: &str) -> &str {
    let text = text.trim_start();
    let bare = text.trim_start_matches(['#', '-', '*', '•', '+']);
    let bare = if bare.len() < text.len() && bare.starts_with([' ', '\t']) {
        bare.trim_start()
    } else {
        text
    };
    let digits = bare.bytes().take_while(u8::is_ascii_digit).count();
    let numbered = bare
        .get(digits..)
        .and_then(|rest| rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") ")));
    numbered
        .filter(|_| (1..4).contains(&digits))
        .map_or(bare, str::trim_start)
}

/// Worth of a sentence as an excerpt, 0 to 1; 0 for one that is too short.
///
/// `narrates`: its item then calls tools, so the sentence announces work and reports no result.
pub fn worth(sentence: &str, role: Role, narrates: bool) -> f32 {
    let weight: usize = sentence
        .chars()
        .map(|c| {
            if c >= '\u{2e80}' {
                3
            } else {
                usize::from(c.is_alphanumeric())
            }
        })
        .sum();
    if weight < 15 {
        return 0.0;
    }
    let mut worth: f32 = match role {
        Role::User => 0.45,
        Role::Assistant if narrates => 0.14,
        Role::Assistant | Role::System => 0.3,
        Role::Tool => 0.1,
    };
    if sentence.bytes().any(|byte| byte.is_ascii_digit()) {
        worth += 0.05;
    }
    if names_something(sentence) {
        worth += 0.05;
    }
    if sentence.ends_with([':', '：']) {
        worth *= 0.5;
    }
    if weight < 30 {
        worth *= 0.8;
    }
    worth
}

/// Whether a sentence contains a capitalised word after its start, a word of code, or a quoted one.
fn names_something(sentence: &str) -> bool {
    let inner = sentence.split_whitespace().skip(1).any(|word| {
        word.starts_with(char::is_uppercase) && word.len() > 2
            || word
                .trim_matches(|c: char| !c.is_alphanumeric())
                .contains(['_', '/', '.'])
    });
    inner || sentence.contains(['`', '「', '“', '«'])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn split(text: &str) -> Vec<&str> {
        sentences(text).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn sentences_of_any_script() {
        assert_eq!(
            split("Use v1.2 of a.b.c, e.g. here. Then go! OK?"),
            ["Use v1.2 of a.b.c, e.g. here.", "Then go!", "OK?"]
        );
        assert_eq!(
            split("不要删除文件。请先备份！好吗？"),
            ["不要删除文件。", "请先备份！", "好吗？"]
        );
        assert_eq!(split("- one\n2. two\n\n# Three"), ["one", "two", "Three"]);
        let wrapped = "Please never change the files of the vendor folder\nwithout a review.";
        assert_eq!(split(wrapped), [wrapped]);
    }

    #[test]
    fn user_text_outweighs_assistant_text_and_that_outweighs_narration() {
        let text = "The retry queue lives in Redis";
        let worths = [
            (Role::User, false),
            (Role::Assistant, false),
            (Role::Assistant, true),
        ]
        .map(|(r, n)| worth(text, r, n));
        assert!(worths[0] > worths[1] && worths[1] > worths[2]);
        assert!(worth("ok", Role::User, false) <= 0.0);
    }

    proptest! {
        #[test]
        fn ranges_ascend_and_are_in_the_text(text in any::<String>()) {
            let mut last = 0;
            for range in sentences(&text) {
                prop_assert!(range.start >= last && range.end > range.start && text.get(range.clone()).is_some());
                last = range.end;
            }
        }
    }
}
