//! The tokenizer of multilingual models: `SentencePiece`'s unigram pieces with its table of characters.

use serde_json::{Value, json};

use super::{BertEmbedder, BertSettings, Tiny, VOCABULARY, folder};

/// Made by `SentencePiece` from words of seven languages, and by `transformers` as for `XLM-RoBERTa`.
const TOKENIZER: &str = include_str!("unigram.json");

/// Texts with the pieces that `SentencePiece` itself makes of them.
const TEXTS: [(&str, &[u32]); 5] = [
    ("das rote Auto", &[0, 80, 82, 83, 2]),
    (
        "\u{fb01} voiture rouge\u{3000}vendue",
        &[0, 5, 41, 75, 12, 10, 11, 2],
    ),
    ("\u{ff21}uto красная", &[0, 83, 33, 2]),
    ("红色的车 xyz🙂", &[0, 5, 72, 69, 68, 73, 5, 3, 54, 57, 3, 2]),
    ("  the   red car ", &[0, 4, 14, 16, 2]),
];

#[test]
fn pieces_equal_those_of_sentencepiece() {
    let newer: Value = serde_json::from_str(TOKENIZER).expect("JSON");
    // The form in the files of the first models.
    let mut older = newer.clone();
    older["normalizer"] = newer["normalizer"]["normalizers"][0].clone();
    older["pre_tokenizer"] = json!({ "type": "Sequence", "pretokenizers": [
        { "type": "WhitespaceSplit" },
        { "type": "Metaspace", "replacement": "▁", "add_prefix_space": true },
    ] });
    for (tokenizer, name) in [(newer, "newer"), (older, "older")] {
        let dir = folder(&Tiny::random(31, VOCABULARY.len()), "xlm-roberta");
        let path = dir.path().join("tokenizer.json");
        std::fs::write(path, tokenizer.to_string()).expect("a fresh folder");
        let embedder = BertEmbedder::open(dir.path(), BertSettings::default()).expect("the folder is whole");
        for (text, ids) in TEXTS {
            let encoding = embedder
                .model
                .tokenizer
                .encode_fast(text, true)
                .expect("any text has pieces");
            assert_eq!(encoding.get_ids(), ids, "{name}: {text}");
        }
    }
}
