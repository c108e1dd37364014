//! A number with its noun.
//!
//! Owns: whether there is one of it. Never: how a number is written.

use std::fmt::Display;

/// "1 fact", "2 facts".
pub fn counted(count: impl Copy + Display + PartialEq + From<u8>, one: &str, more: &str) -> String {
    let noun = if count == 1.into() { one } else { more };
    format!("{count} {noun}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thing_is_not_many() {
        let counts = [0_usize, 1, 2, 21].map(|count| counted(count, "memory", "memories"));
        assert_eq!(counts, ["0 memories", "1 memory", "2 memories", "21 memories"]);
    }
}
