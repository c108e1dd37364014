//! Cuts of texts in any script.

use crate::tokens::Meter;
use proptest::prelude::*;
use unicode_segmentation::UnicodeSegmentation;

use super::*;

fn hostile() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        any::<char>().prop_map(String::from),
        Just("🇩🇪".to_owned()),
        Just("👩‍👩‍👧".to_owned()),
        Just("e\u{301}".to_owned()),
        Just("漢字".to_owned()),
        Just("error: ".to_owned()),
        Just("\n".to_owned()),
        "[a-z0-9 ]{1,20}",
    ];
    prop::collection::vec(piece, 0..80).prop_map(|pieces| pieces.concat())
}

fn missing(text: &str) -> Option<usize> {
    let (_, rest) = text.split_once("[… ")?;
    rest.split_once(" bytes removed …]")?.0.parse().ok()
}

proptest! {
    #[test]
    fn places_are_between_graphemes(text in hostile(), at in 0_usize..400) {
        let places: Vec<usize> = text.grapheme_indices(true).map(|(at, _)| at).chain([text.len()]).collect();
        prop_assert!(places.contains(&place(&text, at, false)));
        prop_assert!(places.contains(&place(&text, at, true)));
        prop_assert!(place(&text, at, false) <= at && place(&text, at, true) >= at.min(text.len()));
        for unit in [Unit::Bytes, Unit::Utf16] {
            prop_assert!(unit.len(unit.head(&text, at)) <= at && unit.len(unit.tail(&text, at)) <= at);
        }
    }

    #[test]
    fn kept_and_missing_add_up(text in hostile(), head in 0_usize..60, tail in 0_usize..60) {
        let cut = head_tail(&text, head, tail, &Style::quipu());
        prop_assert!(cut.len() <= text.len());
        if let Some(missing) = missing(&cut) {
            let kept = cut.len() - Style::quipu().marker(missing).len();
            prop_assert_eq!(kept + missing, text.len());
        } else {
            prop_assert_eq!(&*cut, text.as_str());
        }
    }

    #[test]
    fn tokens_are_kept_to(text in hostile(), tokens_max in 0_usize..80) {
        let meter = Meter::estimate();
        let cut = to_tokens(&text, tokens_max, &meter);
        prop_assert!(meter.text(&cut) <= tokens_max);
        if meter.text(&text) <= tokens_max {
            prop_assert_eq!(cut, text);
        }
    }
}

#[test]
fn a_cut_uses_its_room() {
    let meter = Meter::estimate();
    let text = "The quick brown fox jumps over the lazy dog.\n".repeat(4_000);
    let cut = to_tokens(&text, 500, &meter);
    assert!((480..=500).contains(&meter.text(&cut)), "{}", meter.text(&cut));
    assert!(cut.starts_with("The quick") && cut.ends_with("dog.\n"));
}

#[test]
fn one_huge_grapheme_is_cut_all_the_same() {
    let text = format!("a{}", "\u{301}".repeat(10_000));
    let head = Unit::Bytes.head(&text, 1_001);
    assert_eq!(head.len(), 1_001);
}
