//! From the bytes of an uploaded file to a tree of topics, by rules.
//!
//! Owns: the detection of text, Markdown, HTML, PDF, office files and e-mails, reading each into one Markdown text, cutting that text into topics with title, summary and labels, and the categories of documents. Never: I/O, a
//! clock, randomness, a model, ids, storage.
//!
//! The file is not trusted. Every limit below is checked during the work, not after it. Text that a reader of the file
//! would not see is not read, and no input makes this crate panic.
//!
//! Reading order: [`read`] and [`Source`]; `decode` (bytes to characters), `html`, `pdf`, `office`, `email` (each to Markdown, most
//! by the writer in `markdown`); [`topics`], which stands on `blocks`; `summary` and `labels`; [`taxonomy`].

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

/// The largest file that is read, in bytes.
pub const INPUT_MAX_BYTES: usize = 50 << 20;
/// Maximum bytes of a file's Markdown: a small file can contain much text.
pub const TEXT_MAX_BYTES: usize = 10 << 20;
/// The most pages of a PDF, slides of a presentation or sheets of a workbook.
pub const PAGES_MAX: usize = 5_000;
/// The most parts of an office file or of an e-mail.
pub const PARTS_MAX: usize = 10_000;
/// The most relations of a part and the most styles of a document; all of them are kept while it is read.
pub const NAMES_MAX: usize = 200_000;
/// Maximum depth of nested HTML or XML elements, and of quotations in Markdown.
pub const NESTING_MAX: usize = 512;
/// Maximum bytes of all decompressed parts of one PDF or office file.
pub const INFLATED_MAX_BYTES: usize = 128 << 20;
/// The most values that the objects of one PDF are made of; all of them are kept while it is read.
pub const PDF_VALUES_MAX: usize = 5_000_000;
/// The most operators, operands and entries of tables that are read to draw the pages of one PDF.
pub const PDF_STEPS_MAX: usize = 40_000_000;

/// Maximum memory of a process that reads one file.
pub const MEMORY_MAX_BYTES: usize = 72 << 20;
/// Maximum processor time of reading one file, in seconds.
pub const PROCESSOR_MAX_SECONDS: u64 = 10;

/// A topic smaller than this is joined with its neighbours, in tokens of four characters.
pub const TOPIC_TINY_TOKENS: usize = 40;
/// Minimum size of a part of a text without headings, in tokens of four characters.
pub const TOPIC_MIN_TOKENS: usize = 300;
/// Maximum size of a topic in tokens of four characters, unless this would cut a code block, list or table.
pub const TOPIC_MAX_TOKENS: usize = 1_200;
/// Where a code block, list or table is cut nonetheless, in tokens of four characters.
pub const BLOCK_MAX_TOKENS: usize = 4_800;
/// A text with more headings than this is cut by size alone.
pub const HEADINGS_MAX: usize = 20_000;
/// The longest summary of a topic, in characters.
pub const TOPIC_SUMMARY_MAX_CHARS: usize = 200;
/// The longest summary of a document, in characters.
pub const DOCUMENT_SUMMARY_MAX_CHARS: usize = 300;
/// The longest title or name of a topic, in characters.
pub const NAME_MAX_CHARS: usize = 120;
/// The most labels of a topic.
pub const LABELS_MAX: usize = 6;
