//! Text in a column: plain if it is short, else as a zstd frame. The column's type distinguishes them.
//!
//! Owns: when a text is packed, and comparing texts without regard to case. Never: rows.

use rusqlite::types::{Value, ValueRef};
use zstd::bulk::{Compressor, Decompressor};

use crate::failure::{Failure, LedgerResult};

/// Shorter text shrinks too little to pay for reading a frame.
const PACKED_BYTES_MIN: usize = 256;
const LEVEL: i32 = 3;

/// Packs many texts with one set of tables.
pub(crate) struct Packer(Compressor<'static>);

impl Packer {
    pub(crate) fn new() -> LedgerResult<Self> {
        Ok(Self(Compressor::new(LEVEL)?))
    }

    /// The column value of a text.
    pub(crate) fn pack(&mut self, text: String) -> LedgerResult<Value> {
        if text.len() >= PACKED_BYTES_MIN {
            let frame = self.0.compress(text.as_bytes())?;
            if frame.len() < text.len() {
                return Ok(Value::Blob(frame));
            }
        }
        Ok(Value::Text(text))
    }
}

/// Unpacks many texts with one set of tables.
pub(crate) struct Unpacker {
    frames: Decompressor<'static>,
    text: Vec<u8>,
}

impl Unpacker {
    pub(crate) fn new() -> LedgerResult<Self> {
        Ok(Self {
            frames: Decompressor::new()?,
            text: Vec::new(),
        })
    }

    /// The text of a column, valid until the next one is read.
    pub(crate) fn unpack<'a>(&'a mut self, column: ValueRef<'a>) -> LedgerResult<&'a str> {
        let bytes = match column {
            ValueRef::Text(bytes) => bytes,
            ValueRef::Blob(frame) => {
                let size = Decompressor::upper_bound(frame).ok_or_else(unreadable)?;
                self.text.clear();
                self.text.reserve(size);
                self.frames.decompress_to_buffer(frame, &mut self.text)?;
                &self.text
            }
            _ => return Err(unreadable()),
        };
        std::str::from_utf8(bytes).map_err(|_| unreadable())
    }
}

fn unreadable() -> Failure {
    Failure::Row("a text that this program did not write".to_owned())
}

/// The case-folded text. It folds each letter by itself, so a piece of a text folds to a piece of the folded
/// text: the rule that gives sigma another shape at the end of a word depends on its neighbours.
pub(crate) fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    text.chars()
        .flat_map(char::to_uppercase)
        .flat_map(char::to_lowercase)
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn comes_back(text: &str) -> bool {
        let packed = Packer::new()
            .and_then(|mut packer| packer.pack(text.to_owned()))
            .expect("packs");
        let unpacker = &mut Unpacker::new().expect("tables");
        unpacker.unpack(ValueRef::from(&packed)).expect("unpacks") == text
    }

    #[test]
    fn long_text_is_packed_and_comes_back() {
        let long = "{\"kind\":\"text\",\"text\":\"nul \\u0000\"}\0".repeat(30_000);
        let packed = Packer::new()
            .and_then(|mut packer| packer.pack(long.clone()))
            .expect("packs");
        assert!(matches!(&packed, Value::Blob(frame) if frame.len() < long.len() / 100));
        assert!(comes_back(&long));
    }

    #[test]
    fn a_foreign_column_is_an_error() {
        let mut unpacker = Unpacker::new().expect("tables");
        for column in [
            ValueRef::Null,
            ValueRef::Integer(1),
            ValueRef::Blob(b"(\xb5/\xfdno"),
            ValueRef::Text(b"\xff"),
        ] {
            assert!(unpacker.unpack(column).is_err(), "{column:?}");
        }
    }

    #[test]
    fn texts_that_differ_in_case_fold_alike() {
        for (one, other) in [
            ("ÄPFEL", "äpfel"),
            ("ΟΔΟΣ", "οδοσ"),
            ("οδος", "οδοσ"),
            ("Straße", "STRASSE"),
            ("ПРИВЕТ", "привет"),
        ] {
            assert_eq!(fold(one), fold(other));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        #[test]
        fn any_text_comes_back(text in "\\PC{0,600}|(?s:.{0,600})") {
            prop_assert!(comes_back(&text));
        }

        #[test]
        fn a_piece_folds_to_a_piece(before in ".{0,9}", word in ".{0,9}", after in ".{0,9}") {
            let text = format!("{before}{word}{after}");
            prop_assert!(fold(&text).contains(&fold(&word)));
        }
    }
}
