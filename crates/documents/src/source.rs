//! The format of a file, and its text as Markdown.
//!
//! Owns: the detection of the kind (by content, then name, then the client's declaration), the
//! errors, the guessed title. Never: reading a single kind.

use crate::{
    DOCUMENT_SUMMARY_MAX_CHARS, INPUT_MAX_BYTES, MEMORY_MAX_BYTES, NESTING_MAX, PROCESSOR_MAX_SECONDS,
    TEXT_MAX_BYTES, blocks, decode, email, html, office, pdf, summary,
};

/// Maximum bytes of a file in a format without compression.
const PLAIN_MAX_BYTES: usize = 3 * TEXT_MAX_BYTES;

/// Format of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// Text without markup; its characters are never Markdown.
    Text,
    /// Markdown, kept as it is.
    Markdown,
    /// A page of HTML.
    Html,
    /// A PDF with text in it.
    Pdf,
    /// A document of Word.
    Docx,
    /// A presentation of slides.
    Pptx,
    /// A workbook of sheets.
    Xlsx,
    /// An e-mail with its header.
    Email,
}

/// The text and the metadata of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Format of the file.
    pub kind: FileKind,
    /// Its own title, else its first heading, else a name made of the file's: never empty.
    pub title: String,
    /// Its first sentences, at most [`DOCUMENT_SUMMARY_MAX_CHARS`] characters; empty if there is no
    /// prose.
    pub summary: String,
    /// The complete text. Lines end in `\n`.
    pub markdown: String,
}

/// Why a file cannot become a document, and what its owner can do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// The file has no content.
    #[error("the file has no text: upload a file with text")]
    Empty,
    /// More than [`INPUT_MAX_BYTES`].
    #[error("the file has {bytes} bytes, the limit is {INPUT_MAX_BYTES}: split it")]
    TooLarge {
        /// Its size.
        bytes: usize,
    },
    /// More than [`TEXT_MAX_BYTES`] of text, or parts that unpack to more than
    /// [`crate::INFLATED_MAX_BYTES`].
    #[error("the file expands to more than {max} MiB of text: split it", max = crate::TEXT_MAX_BYTES >> 20)]
    TooMuchText,
    /// More than [`crate::PAGES_MAX`].
    #[error("the file has more than {max} pages, slides or sheets: split it", max = crate::PAGES_MAX)]
    TooManyPages,
    /// More than [`crate::NESTING_MAX`], [`crate::PARTS_MAX`], [`crate::NAMES_MAX`], [`crate::PDF_VALUES_MAX`] or [`crate::PDF_STEPS_MAX`].
    #[error("the file is too complex: export it again from the program that made it")]
    TooComplex,
    /// More than [`MEMORY_MAX_BYTES`]; found by the process that reads, not by [`read`].
    #[error("the file needs more than {max} MiB of memory to read: split it", max = MEMORY_MAX_BYTES >> 20)]
    NeedsMemory,
    /// More than [`PROCESSOR_MAX_SECONDS`]; found by the process that reads, not by [`read`].
    #[error("the file takes more than {PROCESSOR_MAX_SECONDS} s to read: split it")]
    NeedsTime,
    /// An unsupported kind, or bytes that are no text in any encoding.
    #[error(
        "the file is not text, Markdown, HTML, PDF, DOCX, PPTX, XLSX or an e-mail (EML): export it as one of these"
    )]
    Unsupported,
    /// A file with a password.
    #[error("the file is encrypted: save a copy without password and restrictions")]
    Encrypted,
    /// A PDF of pictures without text.
    #[error("the PDF has pages but no readable text: run text recognition (OCR) on it first")]
    Scanned,
    /// A PDF without a page that can be found, an office file with an unreadable part.
    #[error("the file is damaged or incomplete: export it again from the program that made it")]
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
        (FileKind::Pdf, document.title, decode::clean(&document.markdown))
    } else if office::is_office(bytes) {
        let (kind, markdown) = office::markdown(bytes)?;
        // The name of a workbook's first sheet is no title of the workbook.
        let title = (kind == FileKind::Xlsx).then(|| stem(name));
        (kind, title, decode::clean(&markdown))
    } else if email::is_email(bytes, is_called_email(name, &media_type)) {
        (FileKind::Email, None, email::markdown(bytes)?)
    } else if bytes.len() > PLAIN_MAX_BYTES {
        // Text contains no NUL, nearly every other format does.
        let is_text = !bytes.contains(&0);
        return Err(if is_text {
            Unreadable::TooMuchText
        } else {
            Unreadable::Unsupported
        });
    } else {
        let text = decode::text(bytes, &media_type)?;
        match kind(&text, name, &media_type)? {
            FileKind::Html => {
                let page = html::markdown(&text)?;
                (FileKind::Html, page.title, page.markdown)
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

/// A page may have more bytes of markup than the limit of text; other files are text only.
fn kind(text: &str, name: &str, media_type: &str) -> Result<FileKind, Unreadable> {
    let declared = declared_kind(text, name, media_type);
    if declared == Some(FileKind::Html) {
        return Ok(FileKind::Html);
    }
    if text.len() > TEXT_MAX_BYTES {
        return Err(Unreadable::TooMuchText);
    }
    if declared != Some(FileKind::Text) && text.lines().any(is_too_deep) {
        return Err(Unreadable::TooComplex);
    }
    Ok(
        declared.unwrap_or_else(|| match blocks::first_heading(FileKind::Markdown, text) {
            Some(_) => FileKind::Markdown,
            None => FileKind::Text,
        }),
    )
}

/// Whether a line of Markdown is a quotation beyond the maximum depth.
fn is_too_deep(line: &str) -> bool {
    let marks = line.bytes().take_while(|byte| b"> \t".contains(byte));
    marks.filter(|byte| *byte == b'>').nth(NESTING_MAX).is_some()
}

fn declared_kind(text: &str, name: &str, media_type: &str) -> Option<FileKind> {
    if html::is_page(text) {
        return Some(FileKind::Html);
    }
    let extension = name
        .rsplit_once('.')
        .map(|(_, extension)| extension.to_ascii_lowercase());
    match extension.as_deref() {
        Some("md" | "markdown" | "mdown" | "mkd" | "mdx") => return Some(FileKind::Markdown),
        Some("html" | "htm" | "xhtml") => return Some(FileKind::Html),
        Some("txt" | "text" | "log") => return Some(FileKind::Text),
        _ => {}
    }
    match media_type.split(';').next().unwrap_or_default().trim() {
        "text/markdown" | "text/x-markdown" => Some(FileKind::Markdown),
        "text/html" | "application/xhtml+xml" => Some(FileKind::Html),
        "text/plain" => Some(FileKind::Text),
        _ => None,
    }
}

fn is_called_email(name: &str, media_type: &str) -> bool {
    name.to_ascii_lowercase().ends_with(".eml") || media_type.starts_with("message/rfc822")
}

/// A file's name as words: `meeting_notes-2.txt` is `meeting notes 2`.
fn stem(name: &str) -> String {
    let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    stem.replace(['_', '-'], " ")
}
