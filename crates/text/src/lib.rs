//! Text functions for every crate: search terms, a stable hash, an error with its causes, a number with its noun,
//! an enum of words, a struct of defaults, a `Debug` of some fields.
//!
//! Owns: word boundaries in any script, folding, stemming and stop words, the same for every search; FNV-1a. Never: the
//! weight of a term, or the meaning of a text.

mod cause;
mod count;
mod defaults;
mod fnv;
mod language;
mod person;
mod shown;
mod worded;
mod words;

pub use cause::chain;
pub use count::counted;
pub use fnv::Fnv;
pub use language::{Language, is_stop_word, stem};
pub use person::{FirstPerson, first_person, has_unspaced_first_person};
pub use words::{each_word, query_terms, said, term_set, terms};
