//! Any bytes as a PDF: reading ends, within its bounds, and every word is in one topic.

#![no_main]

use documents::FileKind;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let kind = fuzz::document(&[b"%PDF-1.7\n", bytes].concat(), "file.pdf");
    assert!(matches!(kind, None | Some(FileKind::Pdf)), "{kind:?}");
});
