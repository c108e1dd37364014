//! One binary for all tests of the crate.
//!
//! Owns: the helpers that several tests share. Never: a rule of its own.

mod backends;
mod bench;
mod chains;
mod composing;
mod diverging;
mod extension;
mod fragments;
mod marks;
mod simulated;
mod stream;
mod tables;
