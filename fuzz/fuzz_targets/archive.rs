//! Any bytes as an archive: reading ends, within its bounds.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    fuzz::document(&[b"PK\x03\x04", bytes].concat(), "file.docx");
});
