//! Any bytes as a Markdown document or as text: every word is in one topic.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    fuzz::document(bytes, "notes.md");
    fuzz::document(bytes, "notes.txt");
});
