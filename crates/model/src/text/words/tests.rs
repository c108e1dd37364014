//! Analysis as tables, and properties over any script.

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::{each_word, folded_text, terms};
use crate::text::Language;

#[expect(clippy::needless_pass_by_value, reason = "an expectation is written in place")]
fn check(text: &str, want: Expect) {
    want.assert_eq(&terms(text).join(" "));
}

/// Weights are tuned on these terms, so none of them may change.
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
    check(
        "I've snake_case, a@b.org; the dogs' 21st and 2nd. v1.2.3 1,2 5'9 x.y A.M.",
        expect!["snake case b org dog 21 2 v1.2.3 1 2 5 9 x y m"],
    );
    check(
        "We're YOU'RE she'd'nt 'quoted' 1,000,000 12,34 3.th 1.5th 10th, 4s generalization nationally",
        expect!["nt quot 1000000 12 34 3 th 1.5th 10 4s general nation"],
    );
    check(
        "http://example.com/a-b?c=d&e=1#f (see §2) don't've rock 'n' roll 'tis o'clock",
        expect!["http exampl com b c d e 1 f see 2 ve rock n roll tis oclock"],
    );
    check(
        "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz 0.1234567890123456789012345678901234567890123456789012345678901234567890.5",
        expect![
            "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijkl 0.12345678901234567890123456789012345678901234567890123456789012."
        ],
    );
    check("", expect![""]);
}

#[test]
fn a_word_is_cut_after_64_letters() {
    for letters in [63, 64, 65, 66] {
        let folded = folded_text(&"a".repeat(letters));
        assert_eq!(folded.trim_end().len(), letters.min(64));
    }
}

#[test]
fn a_word_is_found_in_any_spelling() {
    for (one, other) in [
        ("Hà Nội, Đà Nẵng", "ha noi da nang"),
        ("Hà Nội", "Ha\u{300} No\u{323}\u{302}i"),
        ("ＡＢＣ１２３ ﬁre", "abc123 fire"),
        ("İstanbul Łódź Ærø", "istanbul lodz aero"),
        ("ÉLAN Größe", "elan grosse"),
        ("ёлка", "елка"),
        ("Αθήνα", "ΑΘΗΝΑ"),
        ("ﾄｳｷｮｳ ｶﾞｽ", "トウキョウ ガス"),
        ("서울", "\u{1109}\u{1165}\u{110b}\u{116e}\u{11af}"),
        ("①", "1"),
    ] {
        assert_eq!(terms(one), terms(other), "{one}");
    }
    check("мама мыла раму", expect!["мама мыла раму"]);
    check("दिल्ली में", expect!["दिल्ली में"]);
    check("tea ❤\u{fe0f} 1\u{fe0f}\u{20e3} \u{345}", expect!["tea 1"]);
}

#[test]
fn scripts_without_spaces_become_pairs() {
    check("我喜欢北京", expect!["我喜 喜 喜欢 欢 欢北 北 北京 京"]);
    check(
        "東京タワーへ行く",
        expect!["東 東京 京 京タ タワ ワー ーへ へ行 行 行く"],
    );
    check("佐々木・タロ", expect!["佐 佐々 々 々木 木 タロ"]);
    check("서울에 왔다", expect!["서울 울에 왔다"]);
    check("Tokyo東京x", expect!["tokyo 東 東京 京 x"]);
    check("เชียงใหม่", expect!["เชี ชีย ยง งใ ให หม่"]);
    check("ភ្នំពេញ", expect!["ភ្នំពេ ពេញ"]);
    check("ວຽງຈັນ", expect!["ວຽ ຽງ ງຈັ ຈັນ"]);
    check("ရန်ကုန်", expect!["ရန် န်ကု ကုန်"]);
    check("ལྷ་ས", expect!["ལྷ ས"]);
    check("か", expect!["か"]);
    let marked = format!("ก{}", "\u{e35}".repeat(1000));
    assert_eq!(
        terms(&marked)[0].len(),
        63,
        "a letter of three bytes and its marks"
    );
}

#[test]
fn chinese_and_japanese_function_words_are_no_terms() {
    check("我的职业是什么？", expect!["的职 职 职业 业 业是"]);
    check("你们在哪里？", expect![""]);
    check("私の職業は何ですか？", expect!["の職 職 職業 業 業は"]);
    check("これは何ですか", expect!["れは"]);
    check("目的", expect!["目 目的"]);
}

#[test]
fn words_of_other_languages_lose_their_endings_and_elided_articles() {
    for (told, asked) in [
        (
            "Ich arbeite in zwei Städten.",
            "Wo arbeiten wir, in welcher Stadt?",
        ),
        (
            "L'infusion du soir, j'en bois deux.",
            "Combien d'infusions bois-tu le soir ?",
        ),
        (
            "Trabajo con mi hermana.",
            "¿Con quién trabajas, con tus hermanas?",
        ),
        ("Trabalhava com o meu irmão.", "Com quem trabalha, com os irmãos?"),
        (
            "Lavoro all'ufficio postale, ma non di sera.",
            "In quale ufficio lavori?",
        ),
    ] {
        let told = super::term_set(told);
        let both = super::term_set(asked).intersection(&told).count();
        assert!(both >= 2, "{asked}: {told:?}");
    }
}

fn any_text() -> impl Strategy<Value = String> {
    let scripts = "[ก-๛ກ-ໟက-႟ក-៹가-힣ぁ-ヿｦ-ﾟ一-龥a-z0-9 '.,\u{300}\u{345}\u{fdfa}\u{fe0f}]{0,60}";
    prop_oneof![scripts, any::<String>()]
}

proptest! {
    #[test]
    fn any_text_is_cut_in_order(text in any_text()) {
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
    fn plain_letters_are_read_like_wide_ones(text in "([a-zA-Z0-9é]{0,8}[ .,_-]){0,8}") {
        let wide = |c: char| if c.is_ascii_alphabetic() { char::from_u32(u32::from(c) + 0xfee0) } else { Some(c) };
        let wide: String = text.chars().filter_map(wide).collect();
        prop_assert_eq!(folded_text(&text), folded_text(&wide));
    }

    #[test]
    fn a_text_has_the_terms_of_its_parts(a in any_text(), b in any_text()) {
        let languages = [&a, &b, &format!("{a}\n{b}")].map(|text| Language::of(text));
        prop_assume!(languages == [Language::English; 3]);
        let mut parts = terms(&a);
        parts.extend(terms(&b));
        prop_assert_eq!(terms(&format!("{a}\n{b}")), parts);
    }
}
