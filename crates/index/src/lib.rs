//! The index port on LanceDB: rows with vectors and full text, in generations of files that can always be rebuilt.
//!
//! Owns: the table's columns, its maintenance and the swap of generations; it alone names LanceDB and Arrow. Never: ranking
//! (`recall`), where words begin and end (`text`), the only copy of anything (the vault), or a decision to rebuild (`engine`).
//!
//! Reading order: [`store`] (the port), `stage` (rebuilding beside the live files), `generation` (one table and who
//! reads it), `table` (its files and indexes), `summary` (its counts, for requests that need no rows), `current` (which
//! generation is live), `rows` (a row as columns), `errors`.

mod current;
mod errors;
mod generation;
mod rows;
mod stage;
pub mod store;
mod summary;
mod table;

pub use store::LanceIndex;
