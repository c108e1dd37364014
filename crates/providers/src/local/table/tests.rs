//! The table of this build is complete, its pieces are the reference's, and its vectors equal those of the
//! script.

use std::collections::HashMap;
use std::sync::OnceLock;

use proptest::prelude::*;
use sha2::{Digest, Sha256};
use tokenizers::Tokenizer;
use tokenizers::models::wordpiece::WordPiece;
use tokenizers::normalizers::BertNormalizer;
use tokenizers::pre_tokenizers::bert::BertPreTokenizer;

use super::translations::{FILE as WORDS, HEADER_BYTES as WORDS_HEADER_BYTES, Translations};
use super::{DIMS, FILE, HEADER_BYTES, PART_DIMS, TEXT_BYTES_MAX, Table, Vocab};

/// The `tokenizers` crate's tokenizer with the table's vocabulary.
fn reference() -> &'static Tokenizer {
    static REFERENCE: OnceLock<Tokenizer> = OnceLock::new();
    REFERENCE.get_or_init(|| {
        let table = Table::get();
        let pieces = (0_u32..)
            .zip(table.vocab.lines())
            .map(|(id, piece)| (piece.to_owned(), id));
        let model = WordPiece::builder()
            .vocab(pieces.collect::<HashMap<_, _, _>>())
            .unk_token("[UNK]".to_owned())
            .build();
        let mut tokenizer = Tokenizer::new(model.expect("the vocabulary has its unknown piece"));
        tokenizer
            .with_normalizer(Some(BertNormalizer::default()))
            .expect("no piece was added before");
        tokenizer.with_pre_tokenizer(Some(BertPreTokenizer));
        tokenizer
    })
}

fn pieces(text: &str) -> Vec<u32> {
    let mut pieces = Vec::new();
    Vocab::each_word(text, &mut |word| {
        Table::get()
            .vocab
            .cut(word, &mut |piece| pieces.push(u32::from(piece)));
    });
    pieces
}

fn assert_same_pieces(text: &str) {
    let expected = reference()
        .encode_fast(text, false)
        .expect("the reference takes any text");
    assert_eq!(pieces(text), expected.get_ids(), "{text:?}");
}

fn cosine(a: &str, b: &str) -> f32 {
    let (a, b) = (Table::get().embed(a), Table::get().embed(b));
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[test]
fn the_table_file_is_complete() {
    let digest = Sha256::digest(&FILE[HEADER_BYTES..]);
    assert_eq!(&FILE[28..HEADER_BYTES], digest.as_slice());
    assert!(Table::parse(FILE).is_some());
    assert!(
        Table::parse(&FILE[..FILE.len() - 1]).is_none(),
        "a torn file must not pass"
    );
    assert!(Table::parse(&FILE[1..]).is_none());
    assert!(Table::parse(b"").is_none());
}

#[test]
fn hostile_texts_are_cut_as_the_reference_cuts_them() {
    let long = "a".repeat(101);
    let edge = "x".repeat(100);
    for text in [
        "",
        " \t\r\n",
        "Hello, World!",
        "don't re-enter C++/C# at 3.14%",
        "ÀÉÎÕÜ naïve Ångström ﬁne Ｆｕｌｌ",
        "İstanbul ẞ ΣΑΣ",
        "我喜欢咖啡 and 東京タワー 한국어",
        "👩‍👩‍👧 ok\u{200d}ay \u{feff}bom \u{ad}soft",
        "a\u{0}b\u{1}c\u{b}d\u{c}e\u{7f}f\u{85}g\u{a0}h\u{2028}i",
        "e\u{301}\u{301}\u{327} \u{301}x",
        "[CLS] ##ing ### [unused1]",
        "«quoted» — dash… ¿qué? ₹500 €9 $5 ^` ~",
        "\u{fffd}\u{fffd}x \u{e000} \u{10ffff}",
        "supercalifragilisticexpialidocious qzxqzx ᚠᚢ",
        &long,
        &edge,
    ] {
        assert_same_pieces(text);
    }
}

proptest! {
    #[test]
    fn any_text_is_cut_as_the_reference_cuts_it(text in any::<String>()) {
        assert_same_pieces(&text);
    }

    #[test]
    fn wordy_text_is_cut_as_the_reference_cuts_it(text in "([a-zA-Z]{1,12}|[é-ü]{1,4}|[一-丠]|[!-/ ]|[\u{300}-\u{310}]){0,40}") {
        assert_same_pieces(&text);
    }

    #[test]
    fn every_vector_has_unit_length_or_is_zero(text in any::<String>()) {
        let vector = Table::get().embed(&text);
        prop_assert_eq!(vector.len(), DIMS);
        let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        prop_assert!(length == 0.0 || (length - 1.0).abs() < 1e-4);
    }
}

#[test]
fn the_file_of_other_languages_words_is_complete() {
    let digest = Sha256::digest(&WORDS[WORDS_HEADER_BYTES..]);
    assert_eq!(&WORDS[16..WORDS_HEADER_BYTES], digest.as_slice());
    assert!(Translations::parse(WORDS).is_some());
    assert!(
        Translations::parse(&WORDS[..WORDS.len() - 1]).is_none(),
        "a torn file must not pass"
    );
    assert!(Translations::parse(&WORDS[1..]).is_none());
    assert!(Translations::parse(b"").is_none());
}

#[test]
fn every_word_of_another_language_has_pieces_of_the_table() {
    let rows = Table::get().rows.len();
    let (mut words, mut last) = (0, None);
    for (hash, meaning) in Table::get().translations.all() {
        assert!(last < Some(hash), "the search needs rising hashes");
        assert!(meaning.pieces.iter().all(|piece| usize::from(*piece) < rows));
        (words, last) = (words + 1, Some(hash));
    }
    assert!(words > 400_000);
}

#[test]
fn english_text_has_the_same_vector_without_other_languages() {
    // "pain", "chat", "die", "care" and "pet" are also words of French, German and others.
    for text in [
        "no pain in my pet, I care",
        "we had a chat, plants die",
        "Sam met Jon at the gala",
        // One word of Italian does not make a text Italian.
        "we had prosciutto at the gala and no pain in my pet, I care",
    ] {
        let mut without = vec![0.0; DIMS];
        for piece in pieces(text) {
            let piece = u16::try_from(piece).expect("an id of the table");
            Table::get().add(piece, 1.0, &mut without);
        }
        let with = Table::get().embed(text);
        let cosine = |part: std::ops::Range<usize>| {
            let (a, b) = (&with[part.clone()], &without[part]);
            let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
            dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
        };
        assert!(
            cosine(0..PART_DIMS) > 0.9999 && cosine(PART_DIMS..DIMS) > 0.9999,
            "{text}"
        );
    }
}

#[test]
fn a_statement_is_near_its_question_in_another_language() {
    let question = "Where does my sister live?";
    for (own, other) in [
        ("Ma sœur habite à Lyon", "Le train a du retard"),
        ("Моя сестра живёт в Казани", "Поезд опаздывает"),
        ("妹妹は大阪に住んでいる", "電車が遅れている"),
        ("我妹妹住在上海", "火车晚点了"),
        ("우리 누나는 부산에 살아요", "기차가 늦어요"),
    ] {
        assert!(cosine(question, own) > cosine(question, other) + 0.1, "{own}");
    }
}

#[test]
fn text_without_meaning_has_no_direction() {
    for text in ["", "   ", "\u{0}", "ᚠᚢᚦ"] {
        assert!(Table::get().embed(text).iter().all(|x| *x == 0.0), "{text:?}");
    }
}

#[test]
fn text_past_the_limit_is_not_read() {
    let head = "tea ".repeat(TEXT_BYTES_MAX / 4);
    assert_eq!(
        Table::get().embed(&head),
        Table::get().embed(&format!("{head}coffee"))
    );
    let split = format!("{}é", "a".repeat(TEXT_BYTES_MAX - 1));
    assert_eq!(
        Table::get().embed(&split).len(),
        DIMS,
        "a character across the limit"
    );
}

/// The numbers are what `scripts/distill/evaluate.py --pairs` prints for the committed table.
#[test]
fn vectors_equal_those_of_the_script() {
    let expected = [
        (
            "I bought a red bicycle last week",
            "She got a new bike in May",
            0.595_36,
        ),
        (
            "I bought a red bicycle last week",
            "The quarterly tax filing is due",
            0.083_65,
        ),
        (
            "How do I bake sourdough bread?",
            "My loaf needs a longer rise, 我喜欢",
            0.243_66,
        ),
        ("naïve café owner", "the owner of the cafe", 0.802_84),
        ("Meine Schwester hat einen Hund", "my sister has a dog", 0.947_64),
        ("猫が好きです", "I have a cat", 0.847_49),
    ];
    for (a, b, wanted) in expected {
        let found = cosine(a, b);
        assert!((found - wanted).abs() < 2e-5, "{a:?} {b:?}: {found}");
    }
}
