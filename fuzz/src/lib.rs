//! What holds for every document, whatever file it was read from.
//!
//! Owns: the promises that the targets of documents share. Never: bytes of its own.

use documents::{
    BLOCK_MAX_TOKENS, DOCUMENT_SUMMARY_MAX_CHARS, FileKind, LABELS_MAX, Source, TEXT_MAX_BYTES,
    TOPIC_MAX_TOKENS, TOPIC_SUMMARY_MAX_CHARS,
};

/// Reads a file. If it is a document, checks its text and topics and gives its kind.
pub fn document(bytes: &[u8], name: &str) -> Option<FileKind> {
    let source = documents::read(bytes, name, "").ok()?;
    assert!(source.markdown.len() <= TEXT_MAX_BYTES);
    assert!(!source.title.is_empty());
    assert!(source.summary.chars().count() <= DOCUMENT_SUMMARY_MAX_CHARS);
    topics(&source);
    Some(source.kind)
}

fn topics(source: &Source) {
    let topics = documents::topics(source);
    let contents: String = topics.iter().map(|topic| topic.content.as_str()).collect();
    assert_eq!(
        squeezed(&contents),
        squeezed(&source.markdown),
        "no word is lost or comes twice"
    );
    for (topic, number) in topics.iter().zip(1..) {
        assert_eq!(topic.number, number);
        assert!(!topic.name.is_empty() && !topic.content.trim().is_empty());
        assert!(topic.summary.chars().count() <= TOPIC_SUMMARY_MAX_CHARS);
        assert!(topic.labels.len() <= LABELS_MAX);
        assert!(topic.content.chars().count() <= (BLOCK_MAX_TOKENS + TOPIC_MAX_TOKENS) * 4);
        let above = topic.parent.map_or(0, |parent| topics[parent - 1].depth);
        assert_eq!(topic.depth, above + 1);
    }
}

fn squeezed(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}
