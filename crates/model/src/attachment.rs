//! Attachments in the text of a message.
//!
//! Owns: the line that names an attachment, the quotation of its text below that line, and removing
//! the quotation. Never: reading a file.

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::{PartKind, one_line};

/// The label of a text that a model stored for a person, so that none of its words are the
/// person's.
pub const STORED_BY_A_MODEL: &str = "stored by a model";

const LABELS: [&str; 7] = [
    "image",
    "audio",
    "document",
    "PDF",
    "web page",
    "e-mail",
    STORED_BY_A_MODEL,
];

impl PartKind {
    /// The word for such an attachment; none for text.
    pub fn label(self) -> Option<&'static str> {
        match self {
            Self::Text => None,
            Self::Image => Some("image"),
            Self::Audio => Some("audio"),
            Self::Doc => Some("document"),
            Self::Pdf => Some("PDF"),
            Self::Html => Some("web page"),
            Self::Email => Some("e-mail"),
        }
    }
}

/// An attachment in its message's text: a line that names it, and its text as a quotation, if it
/// has one.
pub fn attachment(label: &str, name: &str, text: &str) -> String {
    // A line feed in the name would end the line.
    let name = one_line(name);
    let mut shown = if name.is_empty() {
        format!("[{label}]")
    } else {
        format!("[{label}: {name}]")
    };
    for line in text.trim().lines() {
        let space = if line.is_empty() { "" } else { " " };
        write!(shown, "\n>{space}{line}").expect("a string takes any text");
    }
    shown
}

/// A message's text without the quotations of its attachments; the lines that name them stay.
pub fn without_attachments(text: &str) -> Cow<'_, str> {
    if !text.contains("]\n>") {
        return text.into();
    }
    let mut kept = String::new();
    let mut is_quotation = false;
    for line in text.split_inclusive('\n') {
        is_quotation = line.starts_with('>') && is_quotation;
        if !is_quotation {
            kept.push_str(line);
            is_quotation = names_attachment(line.trim_end());
        }
    }
    kept.into()
}

/// Whether a line names an attachment.
pub fn names_attachment(line: &str) -> bool {
    let inside = line.strip_prefix('[').and_then(|line| line.strip_suffix(']'));
    inside.is_some_and(|inside| {
        let label = inside.split_once(": ").map_or(inside, |(label, _)| label);
        LABELS.contains(&label)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attachment_is_named_and_quoted_and_removed() {
        let shown = attachment("document", "the\nplan.docx", "# Plan\n\n> cited\n[image: x]\n\n");
        assert_eq!(
            shown,
            "[document: the plan.docx]\n> # Plan\n>\n> > cited\n> [image: x]"
        );
        assert_eq!(attachment("image", "", " \n"), "[image]");
        let text = format!("See:\n\n{shown}\n\nAnd you?\n> I said\n[note: x]\n> that");
        assert_eq!(
            without_attachments(&text),
            "See:\n\n[document: the plan.docx]\n\nAnd you?\n> I said\n[note: x]\n> that"
        );
    }

    #[test]
    fn every_label_marks_an_attachment_line() {
        let kinds = [
            PartKind::Image,
            PartKind::Audio,
            PartKind::Doc,
            PartKind::Pdf,
            PartKind::Html,
            PartKind::Email,
        ];
        let labels = kinds.map(|kind| kind.label().expect("an attachment has a word"));
        for label in labels.into_iter().chain([STORED_BY_A_MODEL]) {
            assert_eq!(
                without_attachments(&attachment(label, "", "words")),
                format!("[{label}]\n")
            );
        }
    }
}
