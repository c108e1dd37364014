//! How many tokens a text or an item weighs for a model.
//!
//! Owns: exact counts for OpenAI's vocabularies, a safe estimate for the rest, and their
//! calibration by the usage that a backend reports. Never: deciding what fits.
//!
//! The vocabularies' tables make a binary larger by 32 MB (o200k) and 15 MB (cl100k). Each is loaded when first used, once
//! in a process, in some 90 and 30 ms, and then holds 66 and 30 MB of memory. A megabyte of text is counted in some 40 ms.
//!
//! Reading order: [`Vocabulary`] (exact counts), [`Meter`] (the counts for one model), [`Calibration`] (learning from
//! reported usage). `cargo bench -p context --bench error` measures the error of each.

mod calibration;
mod estimate;
mod item;
mod memo;
mod meter;
#[cfg(test)]
mod tests;
mod vocabulary;

pub use calibration::Calibration;
pub use meter::Meter;
pub use vocabulary::Vocabulary;
