//! What becomes a word, and what does not.

use super::{WORD_BYTES_MAX, of_query, of_row};

#[test]
fn words_are_what_a_reader_would_search_for() {
    for (text, words) in [
        ("Hello, World!", "hello world "),
        ("it's 3.5km", "it s 3 5km "),
        ("我昨天看书。", "我昨 昨天 天看 看书 "),
        ("東京タワー", "東京 京タ タワ ワー "),
        ("도서관에서", "도서 서관 관에 에서 "),
        ("猫", "猫 "),
        ("iPhone手机壳", "iphone 手机 机壳 "),
        ("ação naïve Größe", "ação naïve größe "),
        ("e\u{301}te\u{301}", "ete "),
        ("🎻x🎻", "u1f3bb x u1f3bb "),
        ("👩\u{200d}👧", "u1f469 u1f467 "),
        ("\u{0}\u{feff}\r\n \u{202e}—", ""),
        ("", ""),
    ] {
        assert_eq!(of_row(&[text]), words, "{text}");
    }
}

#[test]
fn a_row_keeps_how_often_and_a_query_does_not() {
    assert_eq!(of_row(&["tea tea", "tea"]), "tea tea tea ");
    assert_eq!(of_query("tea Tea tee").as_deref(), Some("tea tee "));
    assert_eq!(of_query(" ?! "), None);
}

#[test]
fn long_words_are_cut_at_a_character() {
    let word = "ä".repeat(1000);
    let words = of_row(&[&word]);
    assert_eq!(words.trim_end().len(), WORD_BYTES_MAX);
    assert_eq!(of_query(&word).as_deref(), Some(words.as_str()));
}

#[test]
fn a_query_has_an_end() {
    let text = (0..10_000).map(|n| format!("w{n}")).collect::<Vec<_>>().join(" ");
    assert_eq!(
        of_query(&text).map(|words| words.split(' ').count()),
        Some(super::QUERY_WORDS_MAX + 1)
    );
}
