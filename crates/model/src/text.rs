//! Text functions for every crate: search terms, a stable hash, an error with its causes, a number
//! with its noun, a size with its unit, and the declarations of an enum of words, a struct of
//! defaults and a `Debug` of some fields.
//!
//! Owns: word boundaries in any script, folding, stemming and stop words, the same for every
//! search; FNV-1a. Never: the weight of a term, or the meaning of a text.

mod declare;
mod fnv;
mod language;
mod person;
mod phrase;
mod words;

pub use fnv::Fnv;
pub use language::{Language, is_stop_word, stem};
pub use person::{FirstPerson, first_person, has_unspaced_first_person};
pub use phrase::{chain, counted, size};
pub use words::{each_word, folded_text, query_terms, term_set, terms};
