//! Any bytes as a page: its text is within bounds, and every word of it is in one topic.

#![no_main]

use documents::FileKind;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let kind = fuzz::document(bytes, "page.html");
    assert!(
        matches!(kind, None | Some(FileKind::Html | FileKind::Pdf)),
        "{kind:?}"
    );
});
