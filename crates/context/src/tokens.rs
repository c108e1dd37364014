//! Token counts of texts and items for a model.
//!
//! Owns: exact counts for OpenAI's vocabularies, a safe estimate for the rest, and their calibration by the usage that
//! a backend reports. Never: deciding whether a view fits.
//!
//! The vocabularies make a binary larger by 1.0 MB (o200k) and 0.5 MB (cl100k). Each is unpacked at its first use, once
//! in a process, in some 60 and 20 ms, and then holds 12 and 8 MB of memory. A megabyte of text is counted in some 40
//! ms.
//!
//! Reading order: [`Vocabulary`] (exact counts), [`Meter`] (the counts for one model), [`Calibration`] (learning from
//! reported usage). `cargo bench -p context --bench error` measures the error of each.

mod calibration;
mod estimate;
mod item;
mod memo;
mod meter;
mod ranks;
#[cfg(test)]
mod tests;
mod vocabulary;

pub use calibration::Calibration;
pub use meter::Meter;
pub use vocabulary::Vocabulary;
