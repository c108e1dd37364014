//! The tests of the context engine's pure part, as one program.

mod codebuddy;
mod hostile;
mod invariants;
