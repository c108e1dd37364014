//! From the bytes of an uploaded file to a tree of topics, by rules.
//!
//! Owns: the detection of text, Markdown, HTML, PDF, office files and e-mails, reading each into
//! one Markdown text, cutting that text into topics with title, summary and labels, and the
//! categories of documents. Never: I/O, a clock, randomness, a model, ids, storage.
//!
//! The file is not trusted. Every limit below is checked during the work, not after it. Text that
//! is invisible to a reader of the file is left out, and no input makes this crate panic.
//!
//! Reading order: [`read`] and [`Source`]; `decode` (bytes to characters), `html`, `pdf`, `office`,
//! `email` (each to Markdown, most by the writer in `markdown`); [`topics`], based on `blocks`;
//! `summary` and `labels`; [`taxonomy`].

mod base64;
mod blocks;
mod decode;
mod email;
mod html;
mod labels;
mod markdown;
mod office;
mod pdf;
mod source;
mod summary;
pub mod taxonomy;
mod topics;

pub use base64::base64;
pub use source::{FileKind, Source, Unreadable, read};
pub use topics::{PATH_SEPARATOR, Topic, topics};

/// Maximum size of a file, in bytes.
pub const INPUT_MAX_BYTES: usize = 50 << 20;
/// Maximum bytes of a file's Markdown: a small file can contain much text.
pub const TEXT_MAX_BYTES: usize = 10 << 20;
/// Maximum number of pages of a PDF, slides of a presentation or sheets of a workbook.
pub const PAGES_MAX: usize = 5_000;
/// Maximum number of parts of an office file or of an e-mail.
pub const PARTS_MAX: usize = 10_000;
/// Maximum number of relations of a part, and of styles of a document; all of them are kept in
/// memory during the work.
pub const NAMES_MAX: usize = 200_000;
/// Maximum depth of nested HTML or XML elements, and of quotations in Markdown.
pub const NESTING_MAX: usize = 512;
/// Maximum bytes of all decompressed parts of one PDF or office file.
pub const INFLATED_MAX_BYTES: usize = 128 << 20;
/// Maximum number of values in the objects of one PDF; all of them are kept in memory during the
/// work.
pub const PDF_VALUES_MAX: usize = 5_000_000;
/// Maximum number of operators, operands and table entries read for the pages of one PDF.
pub const PDF_STEPS_MAX: usize = 40_000_000;

/// Maximum memory of a process that reads one file.
pub const MEMORY_MAX_BYTES: usize = 72 << 20;
/// Maximum processor time of reading one file, in seconds.
pub const PROCESSOR_MAX_SECONDS: u64 = 10;

/// Minimum size of a topic in tokens of four characters; a smaller one is joined with its
/// neighbours.
pub const TOPIC_TINY_TOKENS: usize = 40;
/// Minimum size of a part of a text without headings, in tokens of four characters.
pub const TOPIC_MIN_TOKENS: usize = 300;
/// Maximum size of a topic in tokens of four characters, unless this would cut a code block, list or table.
pub const TOPIC_MAX_TOKENS: usize = 1_200;
/// Maximum size of a code block, list or table in tokens of four characters; a larger one is cut.
pub const BLOCK_MAX_TOKENS: usize = 4_800;
/// Maximum number of headings; a text with more is cut by size alone.
pub const HEADINGS_MAX: usize = 20_000;
/// Maximum characters of a topic's summary.
pub const TOPIC_SUMMARY_MAX_CHARS: usize = 200;
/// Maximum characters of a document's summary.
pub const DOCUMENT_SUMMARY_MAX_CHARS: usize = 300;
/// Maximum characters of a title or a topic's name.
pub const NAME_MAX_CHARS: usize = 120;
/// Maximum number of a topic's labels.
pub const LABELS_MAX: usize = 6;
