//! Analysis as data, and properties over any script.

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::{each_word, is_stop_word, terms};

#[expect(clippy::needless_pass_by_value, reason = "an expectation is written in place")]
fn check(text: &str, want: Expect) {
    want.assert_eq(&terms(text).join(" "));
}

#[test]
fn words_become_terms() {
    check("The runners were running quickly", expect!["runner run quick"]);
    check(
        "Don't! It’s John's 7th café; naïve Zoë Straße",
        expect!["john 7 cafe naiv zoe strass"],
    );
    check(
        "pi is 3.14, cost 1,000.50 or 1,0000",
        expect!["pi 3.14 cost 1000.50 1 0000"],
    );
    check(
        "covid-19 at 10:30 on 2023-05-07, GPT4",
        expect!["covid 19 10 30 2023 05 07 gpt4"],
    );
    check("O'Brien and rock'n'roll", expect!["obrien rocknrol"]);
    check("ＡＢＣ１２３ cafe\u{301}", expect!["abc123 cafe"]);
    check("мама мыла раму", expect!["мама мыла раму"]);
    check("", expect![""]);
}

#[test]
fn scripts_without_spaces_become_pairs() {
    check("我喜欢北京", expect!["我 我喜 喜 喜欢 欢 欢北 北 北京 京"]);
    check(
        "東京タワーへ行く",
        expect!["東 東京 京 京タ タワ ワー ーへ へ行 行 行く"],
    );
    check("서울에 왔다", expect!["서울 울에 왔다"]);
    check("Tokyo東京x", expect!["tokyo 東 東京 京 x"]);
}

#[test]
fn stop_words_are_sorted_and_found() {
    assert!(super::STOP_WORDS.is_sorted());
    assert!(is_stop_word("the") && is_stop_word("yours") && !is_stop_word("zebra"));
}

fn cased() -> impl Strategy<Value = String> {
    proptest::collection::vec(any::<char>(), 0..60).prop_map(|chars| chars.into_iter().collect())
}

proptest! {
    #[test]
    fn any_text_is_cut_in_order(text in cased()) {
        let mut last = 0;
        each_word(&text, |range, word| {
            assert!(range.start >= last && text.get(range.clone()).is_some());
            assert!(!word.is_empty() && !word.contains(char::is_whitespace));
            last = range.start;
        });
        terms(&text);
    }

    #[test]
    fn ascii_case_does_not_matter(text in "[a-zA-Z0-9 ,.'-]{0,60}") {
        prop_assert_eq!(terms(&text.to_lowercase()), terms(&text.to_uppercase()));
    }

    #[test]
    fn a_text_has_the_terms_of_its_parts(a in cased(), b in cased()) {
        let mut parts = terms(&a);
        parts.extend(terms(&b));
        prop_assert_eq!(terms(&format!("{a}\n{b}")), parts);
    }
}
