//! One binary for all tests of the crate.
//!
//! Owns: helpers of several tests. Never: a rule of its own.

mod email;
mod hostile;
mod hostile_office;
mod html;
mod kinds;
mod office;
mod packages;
mod pdf;
mod pdfs;
mod properties;
mod taxonomy;
mod topics;

use documents::{Source, Unreadable};

fn read(text: &str, name: &str) -> Source {
    documents::read(text.as_bytes(), name, "").expect("text is read")
}

fn page(body: &str) -> String {
    let html = format!("<!doctype html><html><body>{body}</body></html>");
    match documents::read(html.as_bytes(), "page.html", "") {
        Ok(source) => source.markdown,
        Err(Unreadable::Empty) => String::new(),
        Err(error) => panic!("{error}"),
    }
}

/// A text without its white space.
fn squeezed(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

/// A PDF of one page with this content.
fn pdf_of(content: &str) -> Vec<u8> {
    pdfs::pages(&[content], pdfs::HELVETICA, "", &[])
}

fn joined(parts: impl Iterator<Item = String>) -> String {
    parts.collect()
}
