//! Any stream in any pieces (cut at `|`): the same comes through as in one piece, and the sentinel never does.

#![no_main]

use context::flush::SentinelFilter;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let through = filtered(text.split('|'));
    let whole: String = text.split('|').collect();
    assert_eq!(through, filtered(std::iter::once(whole.as_str())));
    let chars: Vec<String> = whole.chars().map(String::from).collect();
    assert_eq!(through, filtered(chars.iter().map(String::as_str)));
    assert!(!through.to_ascii_uppercase().contains("NO_REPLY"), "{through:?}");
    if !whole.to_ascii_uppercase().contains("NO_REPLY") {
        assert_eq!(through, whole, "nothing else is held back");
    }
});

fn filtered<'a>(pieces: impl Iterator<Item = &'a str>) -> String {
    let mut filter = SentinelFilter::default();
    let mut through: String = pieces.map(|piece| filter.push(piece)).collect();
    through.push_str(&filter.finish());
    through
}
