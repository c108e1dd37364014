//! What a file is, and its text as Markdown.
//!
//! Owns: telling the kinds apart (by content, then name, then what the client declared), the errors, the guessed title.
//! Never: how one kind is read.

use crate::{
    DOCUMENT_SUMMARY_MAX_CHARS, INPUT_MAX_BYTES, TEXT_MAX_BYTES, blocks, decode, html, pdf, summary,
};

/// What a file turned out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Text without markup; no character of it is read as Markdown.
    Text,
    /// Markdown, kept as it is.
    Markdown,
    /// A page of HTML.
    Html,
    /// A PDF with text in it.
    Pdf,
}

/// A document that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// What the file was.
    pub kind: Kind,
    /// Its own title, else its first heading, else a name made of the file's: never empty.
    pub title: String,
    /// Its first sentences, at most [`DOCUMENT_SUMMARY_MAX_CHARS`] characters; empty where there is no prose.
    pub summary: String,
    /// The whole text. Lines end in `\n`.
    pub markdown: String,
}

/// Why a file cannot become a document, and what its owner can do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// Nothing is in it.
    #[error("the file has no text: upload one that has")]
    Empty,
    /// More than [`INPUT_MAX_BYTES`].
    #[error("the file has {bytes} bytes, at most {INPUT_MAX_BYTES} are read: split it")]
    TooLarge {
        /// Its size.
        bytes: usize,
    },
    /// More than [`TEXT_MAX_BYTES`] of text, or parts that swell beyond [`crate::INFLATED_MAX_BYTES`].
    #[error("the file unfolds to more text than is read: split it")]
    TooMuchText,
    /// More than [`crate::PAGES_MAX`].
    #[error("the PDF has more than {max} pages: split it", max = crate::PAGES_MAX)]
    TooManyPages,
    /// More than [`crate::NESTING_MAX`], [`crate::PDF_VALUES_MAX`] or [`crate::PDF_STEPS_MAX`].
    #[error(
        "the file is nested too deeply or drawn in too many steps: save it anew from the program that made it"
    )]
    TooComplex,
    /// A kind that is not read, or bytes that are no text in any encoding.
    #[error("the file is no text, Markdown, HTML or PDF: export it as one of these")]
    Unsupported,
    /// A PDF that wants a password.
    #[error("the PDF is encrypted: save a copy without password and restrictions")]
    Encrypted,
    /// A PDF of pictures.
    #[error("the PDF has pages but no text that can be read: run text recognition (OCR) over it first")]
    Scanned,
    /// A PDF without a page that can be found.
    #[error("the PDF is damaged, no page can be found: save it anew from the program that made it")]
    Damaged,
}

/// Reads a file, given its `name` and the media type that the client declares, either of which may be empty.
pub fn read(bytes: &[u8], name: &str, media_type: &str) -> Result<Source, Unreadable> {
    if bytes.len() > INPUT_MAX_BYTES {
        return Err(Unreadable::TooLarge { bytes: bytes.len() });
    }
    let media_type = media_type.to_ascii_lowercase();
    let (kind, own_title, markdown) = if pdf::is_pdf(bytes) {
        let document = pdf::markdown(bytes)?;
        (Kind::Pdf, document.title, decode::clean(&document.markdown))
    } else {
        let text = decode::text(bytes, &media_type)?;
        match kind(&text, name, &media_type) {
            Kind::Html => {
                let page = html::markdown(&text)?;
                (Kind::Html, page.title, page.markdown)
            }
            kind => (kind, None, text),
        }
    };
    if markdown.len() > TEXT_MAX_BYTES {
        return Err(Unreadable::TooMuchText);
    }
    if markdown.trim().is_empty() {
        return Err(Unreadable::Empty);
    }
    let title = own_title
        .into_iter()
        .chain(blocks::first_heading(kind, &markdown))
        .chain([stem(name)]);
    let title = title
        .map(|title| summary::name(&title))
        .find(|title| title.chars().any(char::is_alphanumeric));
    Ok(Source {
        kind,
        title: title.unwrap_or_else(|| "Untitled".to_owned()),
        summary: summary::of(kind, &markdown, DOCUMENT_SUMMARY_MAX_CHARS),
        markdown,
    })
}

fn kind(text: &str, name: &str, media_type: &str) -> Kind {
    if html::is_page(text) {
        return Kind::Html;
    }
    let extension = name
        .rsplit_once('.')
        .map(|(_, extension)| extension.to_ascii_lowercase());
    match extension.as_deref() {
        Some("md" | "markdown" | "mdown" | "mkd" | "mdx") => return Kind::Markdown,
        Some("html" | "htm" | "xhtml") => return Kind::Html,
        Some("txt" | "text" | "log") => return Kind::Text,
        _ => {}
    }
    match media_type.split(';').next().unwrap_or_default().trim() {
        "text/markdown" | "text/x-markdown" => Kind::Markdown,
        "text/html" | "application/xhtml+xml" => Kind::Html,
        "text/plain" => Kind::Text,
        _ if blocks::first_heading(Kind::Markdown, text).is_some() => Kind::Markdown,
        _ => Kind::Text,
    }
}

/// A file's name as words: `meeting_notes-2.txt` is `meeting notes 2`.
fn stem(name: &str) -> String {
    let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    stem.replace(['_', '-'], " ")
}
