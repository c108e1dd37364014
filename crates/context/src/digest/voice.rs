//! Divides a text into own words and pasted parts.
//!
//! Owns: fences, quotations, elements, logs, code and diffs inside a message. Never: the meaning of the words. In doubt
//! a part counts as pasted: a missed rule is still in the original, but a false rule binds for ever.

use std::ops::Range;

/// A run of whole lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct VoicePart {
    pub(crate) range: Range<usize>,
    pub(crate) own: bool,
}

/// Elements in which clients put the user's own words.
const CARRIERS: [&str; 8] = [
    "task", "user_query", "user_message", "question", "query", "request", "feedback", "answer",
];
/// Maximum number of recognised elements; a text with more is data.
const ELEMENTS_MAX: usize = 64;

/// The parts of a text, in order; they cover it.
pub(crate) fn parts(text: &str) -> Vec<VoicePart> {
    let mut found: Vec<VoicePart> = Vec::new();
    let mut state = VoiceState {
        pasted_until: 0,
        fence: None,
        paragraph_pasted: false,
        blank: true,
        elements: 0,
    };
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let range = start..start + line.len();
        let own = state.reads_own(text, &range);
        match found.last_mut() {
            Some(last) if last.own == own => last.range.end = range.end,
            _ => found.push(VoicePart {
                range: range.clone(),
                own,
            }),
        }
        start = range.end;
    }
    found
}

struct VoiceState<'a> {
    pasted_until: usize,
    /// The end mark of the open fence.
    fence: Option<&'a str>,
    paragraph_pasted: bool,
    blank: bool,
    elements: usize,
}

impl<'a> VoiceState<'a> {
    fn reads_own(&mut self, text: &'a str, range: &Range<usize>) -> bool {
        let line = &text[range.clone()];
        let bare = line.trim();
        let after_blank = std::mem::replace(&mut self.blank, bare.is_empty());
        if let Some(fence) = self.fence {
            if bare.starts_with(fence) && bare.trim_start_matches(['`', '~']).is_empty() {
                self.fence = None;
            }
            return false;
        }
        if range.start < self.pasted_until {
            return false;
        }
        if let Some(mark) = ["```", "~~~"].into_iter().find(|mark| bare.starts_with(mark)) {
            let length = bare.len() - bare.trim_start_matches(&mark[..1]).len();
            // A fence can open and close on one line.
            if !bare[length..].contains(mark) {
                self.fence = Some(&bare[..length]);
            }
            return false;
        }
        if let Some(end) = self.element(text, range.start, bare) {
            self.pasted_until = end;
            return false;
        }
        if bare.is_empty() {
            self.paragraph_pasted = false;
            return true;
        }
        let indented =
            (line.starts_with("    ") || line.starts_with('\t')) && !is_listed(bare) && after_blank;
        if indented || is_machine(bare) {
            self.paragraph_pasted = true;
        }
        !self.paragraph_pasted && !bare.starts_with('>')
    }

    /// The end of the element that opens on this line.
    fn element(&mut self, text: &str, start: usize, bare: &str) -> Option<usize> {
        let name = bare.strip_prefix('<')?;
        let name = &name[..name
            .find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '-' | '.' | ':'))
            .unwrap_or(name.len())];
        if !name.starts_with(|c: char| c.is_ascii_alphabetic())
            || CARRIERS.contains(&name)
            || self.elements >= ELEMENTS_MAX
        {
            return None;
        }
        self.elements += 1;
        let close = text[start..].find(&format!("</{name}>"))?;
        let line = text[start + close..]
            .find('\n')
            .map_or(text.len(), |end| start + close + end + 1);
        Some(line)
    }
}

fn is_listed(bare: &str) -> bool {
    bare.starts_with(['-', '*', '+', '•'])
        || bare.starts_with(|c: char| c.is_ascii_digit()) && bare.contains(['.', ')'])
}

/// Whether a line is code or a program's output.
fn is_machine(bare: &str) -> bool {
    let starts = [
        "$ ", "% ", ">>> ", "+++ ", "--- a/", "@@ ", "diff --git", "index ", "at ", "File \"", "Traceback",
        "error:", "error[", "warning:", "fatal:", "npm ", "panicked", "thread '", "Caused by", "#!", "{",
        "}", "//", "/*", "import ", "def ", "fn ", "class ", "const ", "[INFO]", "[ERROR]", "[WARN",
        "[DEBUG]", "INFO ", "ERROR ", "WARN ", "DEBUG ", "INFO:", "ERROR:", "WARNING:", "DEBUG:", "FATAL",
        "TRACE ", "\"", "GET ", "POST ", "|",
    ];
    let head = &bare[..bare.floor_char_boundary(24)];
    let stack = head.starts_with("at ") && !bare.contains('(') && !bare.contains(':');
    let quoted = head.starts_with('"') && !bare.contains("\":");
    if !stack && !quoted && starts.iter().any(|start| head.starts_with(start)) {
        return true;
    }
    // `[12:01:02]`, `2024-05-06T…`, `12:01:02.345`
    let stamp = head.trim_start_matches('[').bytes().take(8);
    let (digits, marks) = stamp.fold((0, 0), |(digits, marks), byte| {
        (
            digits + u8::from(byte.is_ascii_digit()),
            marks + u8::from(matches!(byte, b':' | b'-' | b'/')),
        )
    });
    digits >= 5 && marks >= 2 || bare.ends_with([';', '{']) && !bare.ends_with("&lt;")
}

/// The quoted parts of a text, each within its paragraph; an unclosed one ends with its paragraph.
pub(crate) fn quotations(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut open: Option<(usize, char)> = None;
    let mut last = ' ';
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map_or(' ', |(_, next)| *next);
        if let Some((start, close)) = open {
            let ends = c == close && (c != '\'' || !next.is_alphanumeric());
            let paragraph = c == '\n' && next == '\n';
            if ends || paragraph && close != '\'' {
                found.push(start..at + c.len_utf8());
            }
            open = open.filter(|_| !ends && !paragraph);
        } else {
            open = closing(last, c, next).map(|close| (at, close));
        }
        last = c;
    }
    if let Some((start, _)) = open.filter(|(_, close)| *close != '\'') {
        found.push(start..text.len());
    }
    found
}

/// The end mark of the quotation that `c` opens, by its neighbours.
fn closing(last: char, c: char, next: char) -> Option<char> {
    match c {
        '"' if !last.is_ascii_digit() => Some('"'),
        '`' => Some('`'),
        '“' => Some('”'),
        '„' => Some('“'),
        '«' => Some('»'),
        '「' => Some('」'),
        '『' => Some('』'),
        '\'' if !last.is_alphanumeric() && next.is_alphanumeric() => Some('\''),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn own(text: &str) -> String {
        parts(text)
            .into_iter()
            .filter(|part| part.own)
            .map(|part| text[part.range].trim().to_owned())
            .collect::<Vec<_>>()
            .join("|")
    }

    #[test]
    fn pasted_text_is_separated_from_own_words() {
        for (text, wanted) in [
            ("mine\n```\nnot\n```\nmine too", "mine|mine too"),
            ("mine\n> not\nmine", "mine|mine"),
            ("<system-reminder>\nnot\n</system-reminder>\nmine", "mine"),
            ("<task>mine</task>", "<task>mine</task>"),
            (
                "see:\n2024-05-06 12:00:01 ERROR you must not\nand on\n\nmine",
                "see:|mine",
            ),
            (
                "mine\n\n    not()\n\nmine\n    - listed",
                "mine|mine\n    - listed",
            ),
            ("~~~\nnever closed", ""),
        ] {
            assert_eq!(own(text), wanted, "{text}");
        }
    }

    #[test]
    fn quotations_of_several_kinds() {
        let text = "it's “a b” and \"c. d\" „e“ 「五」 6\" don't 'q r' `s`";
        let quoted: Vec<&str> = quotations(text).into_iter().map(|range| &text[range]).collect();
        assert_eq!(quoted, ["“a b”", "\"c. d\"", "„e“", "「五」", "'q r'", "`s`"]);
    }

    proptest! {
        #[test]
        fn parts_cover_any_text(text in "(```|~~~|\\n|<a>|</a>|> |    |\"|\\PC){0,60}") {
            let mut end = 0;
            for part in parts(&text) {
                prop_assert_eq!(part.range.start, end);
                end = part.range.end;
            }
            prop_assert_eq!(end, text.len());
            for range in quotations(&text) {
                prop_assert!(text.get(range).is_some());
            }
        }
    }
}
