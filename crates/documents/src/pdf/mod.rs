//! A PDF to Markdown.
//!
//! Owns: the visible text of a PDF, with its headings and paragraphs. Never: pictures, forms,
//! signatures, passwords.
//!
//! Reading order: `object` (values), `filter` (streams), `file` (objects and pages), `font` and
//! `glyphs` (codes to letters), `page` (operators), `layout`.

mod file;
mod filter;
mod font;
mod glyphs;
mod layout;
mod object;
mod page;

use crate::Unreadable;
use file::File;
use page::PageReader;

/// The file's mark must be within this number of bytes from its start.
const MARK_WITHIN_BYTES: usize = 1024;

pub(crate) struct PdfDocument {
    pub(crate) title: Option<String>,
    pub(crate) markdown: String,
}

pub(crate) fn is_pdf(bytes: &[u8]) -> bool {
    let head = bytes.get(..MARK_WITHIN_BYTES).unwrap_or(bytes);
    head.windows(5).any(|window| window == b"%PDF-")
}

pub(crate) fn markdown(bytes: &[u8]) -> Result<PdfDocument, Unreadable> {
    let file = File::open(bytes)?;
    let mut reader = PageReader::new(&file);
    let mut pages = Vec::new();
    for page in file.pages()? {
        pages.push(reader.page(&page)?);
    }
    let markdown = layout::markdown(pages);
    if !markdown.chars().any(char::is_alphanumeric) {
        return Err(Unreadable::Scanned);
    }
    Ok(PdfDocument {
        title: file.title().map(text_string).filter(|title| is_title(title)),
        markdown,
    })
}

/// A string outside of pages: UTF-16 with its mark, UTF-8 with its mark, else Latin.
fn text_string(bytes: &[u8]) -> String {
    let (encoding, _) = encoding_rs::Encoding::for_bom(bytes).unwrap_or((encoding_rs::WINDOWS_1252, 0));
    encoding.decode_with_bom_removal(bytes).0.into_owned()
}

/// Whether it is a real title: programs use a file's name if a document has none.
fn is_title(title: &str) -> bool {
    let title = title.trim().to_ascii_lowercase();
    let is_file = [
        ".doc", ".docx", ".tex", ".dvi", ".pdf", ".indd", ".odt", ".txt", ".html",
    ]
    .iter()
    .any(|end| title.ends_with(end));
    !title.is_empty() && !is_file && !title.starts_with("untitled") && !title.starts_with("microsoft word - ")
}
