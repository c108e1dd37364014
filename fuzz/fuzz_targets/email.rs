//! Any bytes as an e-mail: reading ends, within its bounds, and every word is in one topic.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    fuzz::document(&[b"From: a\n", bytes].concat(), "mail.eml");
});
