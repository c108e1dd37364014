//! The kind of a file, its encoding, its title, and the reasons to refuse it.

use documents::{FileKind, INPUT_MAX_BYTES, TEXT_MAX_BYTES, Unreadable};

use crate::read;

fn kind(bytes: &[u8], name: &str, media_type: &str) -> FileKind {
    documents::read(bytes, name, media_type)
        .expect("a file that can be read")
        .kind
}

fn text(bytes: &[u8], media_type: &str) -> String {
    documents::read(bytes, "", media_type)
        .expect("a file that can be read")
        .markdown
}

#[test]
fn the_kind_follows_content_then_name_then_type() {
    let pdf = crate::pdf_of("BT /F1 12 Tf 72 700 Td (Hello) Tj ET");
    assert_eq!(kind(&pdf, "notes.txt", "text/plain"), FileKind::Pdf);
    assert_eq!(
        kind(
            b"<!-- saved > here --> <!DOCTYPE HTML><p>x",
            "notes.md",
            "text/plain"
        ),
        FileKind::Html
    );
    assert_eq!(kind(b"<?xml version='1.0'?>\n<html><p>x", "", ""), FileKind::Html);
    assert_eq!(kind(b"<p>x</p>", "a.HTML", "text/plain"), FileKind::Html);
    assert_eq!(kind(b"plain words", "a.md", "text/plain"), FileKind::Markdown);
    assert_eq!(kind(b"# words", "a.txt", "text/markdown"), FileKind::Text);
    assert_eq!(
        kind(b"words", "a", "Text/Markdown; charset=utf-8"),
        FileKind::Markdown
    );
    assert_eq!(kind(b"# Heading\n\nwords", "a", ""), FileKind::Markdown);
    assert_eq!(kind(b"words", "a", ""), FileKind::Text);
}

#[test]
fn encodings_are_detected() {
    assert_eq!(text("\u{feff}añb\r\nc\rd".as_bytes(), ""), "añb\nc\nd");
    let utf16: Vec<u8> = "\u{feff}日本 ñ"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    assert_eq!(text(&utf16, ""), "日本 ñ");
    let big: Vec<u8> = "\u{feff}日本 ñ"
        .encode_utf16()
        .flat_map(u16::to_be_bytes)
        .collect();
    assert_eq!(text(&big, ""), "日本 ñ");
    assert_eq!(text(b"caf\xe9 \x93x\x94", ""), "café “x”");
    // A byte is missing, but the encoding is still UTF-8.
    assert_eq!(
        text(b"Z\xc3\xbcrich, caf\xc3\xa9, na\xc3", ""),
        "Zürich, café, na\u{fffd}"
    );
    assert_eq!(
        text(b"\xcf\xf0\xe8\xe2\xe5\xf2", "text/plain; charset=windows-1251"),
        "Привет"
    );
    assert_eq!(
        text("naïve".as_bytes(), "text/plain; charset=iso-8859-1"),
        "naïve"
    );
    assert_eq!(
        text(b"<html><meta charset='koi8-r'><p>\xf0\xd2\xc9\xd7\xc5\xd4", ""),
        "Привет\n"
    );
    let http =
        b"<html><meta http-equiv=content-type content=\"text/html; charset=shift_jis\"><p>\x93\xfa\x96\x7b";
    assert_eq!(text(http, ""), "日本\n");
}

#[test]
fn invisible_characters_are_removed() {
    assert_eq!(text("a\u{e0041}\u{e0042}b\u{7}c".as_bytes(), ""), "abc");
}

#[test]
fn unreadable_files_are_refused_with_a_reason() {
    let error = |bytes: &[u8]| documents::read(bytes, "", "").unwrap_err();
    assert_eq!(error(b""), Unreadable::Empty);
    assert_eq!(error(b" \n\t"), Unreadable::Empty);
    assert_eq!(error(b"PK\x03\x04\x00\x00"), Unreadable::Unsupported);
    assert_eq!(
        error(&vec![b'a'; INPUT_MAX_BYTES + 1]),
        Unreadable::TooLarge {
            bytes: INPUT_MAX_BYTES + 1
        }
    );
    assert_eq!(error(&vec![b'a'; TEXT_MAX_BYTES + 1]), Unreadable::TooMuchText);
    assert!(documents::read(&vec![b'a'; TEXT_MAX_BYTES], "", "").is_ok());
}

#[test]
fn a_title_is_the_documents_own_or_made_from_its_name() {
    assert_eq!(
        read("<html><title> A\n page </title><h1>Other</h1>x", "").title,
        "A page"
    );
    assert_eq!(read("<html><h1>Other</h1>x", "").title, "Other");
    assert_eq!(
        read("words\n\nA *Guide* to `x`\n===\n", "a.md").title,
        "A Guide to x"
    );
    assert_eq!(read("words", "dir/meeting_notes-2.txt").title, "meeting notes 2");
    assert_eq!(read("words", "").title, "Untitled");
    assert_eq!(
        read(&format!("# {}", "word ".repeat(100)), "a.md")
            .title
            .chars()
            .count(),
        120
    );
}

#[test]
fn a_summary_has_the_first_sentences() {
    let source = read(
        "# Title\n\n```\ncode\n```\n\nThe *first* sentence. The second one.\n\n| a |\n|---|\n| b |\n",
        "a.md",
    );
    assert_eq!(source.summary, "The first sentence. The second one.");
    assert_eq!(read("# Only a heading", "a.md").summary, "");
    assert_eq!(
        read("- Home\n- About\n\nIt begins here.\n", "a.md").summary,
        "It begins here."
    );
    assert_eq!(
        read("- One.\n  - Under it.\n- Two.\n", "a.md").summary,
        "One. Under it. Two."
    );
    let long = read(&"word ".repeat(200), "a.txt").summary;
    assert!(long.ends_with("word…") && long.chars().count() <= 300, "{long}");
    let cjk = read(&"漢字かな".repeat(200), "a.txt").summary;
    assert_eq!(cjk.chars().count(), 300);
    let families = read(&"👨‍👩‍👧".repeat(100), "a.txt").summary;
    assert_eq!(families.trim_end_matches('…').chars().count() % 5, 0);
}
