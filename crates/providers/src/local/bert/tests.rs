//! The vectors of a tiny random model, written to a folder here, equal those of a forward pass written here.

pub(super) mod forward;
mod unigram;

use std::collections::HashMap;
use std::path::Path;

use candle_core::{Device, Tensor};
use ports::{EmbedPurpose, Embedder, Reranker};
use serde_json::json;
use tempfile::TempDir;
use tokenizers::Tokenizer;
use tokenizers::models::wordpiece::WordPiece;
use tokenizers::normalizers::BertNormalizer;
use tokenizers::pre_tokenizers::bert::BertPreTokenizer;
use tokenizers::processors::bert::BertProcessing;

use super::{BertEmbedder, BertSettings, OpenError};
use forward::{Tiny, cosine};

pub(super) const VOCABULARY: [&str; 12] = [
    "[PAD]", "[UNK]", "[CLS]", "[SEP]", "red", "blue", "car", "bicycle", "was", "sold", "query", ":",
];
const TEXTS: [&str; 4] = ["red car", "", "the blue bicycle was sold", "car"];

fn write_json(dir: &Path, name: &str, value: &serde_json::Value) {
    let path = dir.join(name);
    std::fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("a fresh folder");
    std::fs::write(path, value.to_string()).expect("a fresh folder");
}

/// Writes the model in a hub's layout of an embedding model.
pub(super) fn folder(tiny: &Tiny, kind: &str) -> TempDir {
    let head = if kind == "bert" { "" } else { "roberta." };
    folder_with_names(tiny, kind, |name| {
        (!name.starts_with("head.")).then(|| format!("{head}{name}"))
    })
}

/// Writes the model with its weights under other names, and omits those without a name.
pub(super) fn folder_with_names(tiny: &Tiny, kind: &str, rename: impl Fn(&str) -> Option<String>) -> TempDir {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let config = json!({
        "model_type": kind, "vocab_size": VOCABULARY.len(), "hidden_size": Tiny::HIDDEN, "hidden_act": "gelu",
        "num_hidden_layers": Tiny::LAYERS, "num_attention_heads": Tiny::HEADS,
        "intermediate_size": Tiny::INNER, "max_position_embeddings": Tiny::POSITIONS, "type_vocab_size": 2,
        "layer_norm_eps": Tiny::EPS, "pad_token_id": 0, "initializer_range": 0.02,
        "hidden_dropout_prob": 0.1, "attention_probs_dropout_prob": 0.1, "position_embedding_type": "absolute",
    });
    write_json(dir.path(), "config.json", &config);
    let tensors: HashMap<String, Tensor> = tiny
        .tensors
        .iter()
        .filter_map(|(name, (shape, values))| {
            let tensor = Tensor::from_vec(values.clone(), shape.clone(), &Device::Cpu);
            Some((rename(name)?, tensor.expect("shape and values agree")))
        })
        .collect();
    candle_core::safetensors::save(&tensors, dir.path().join("model.safetensors")).expect("a fresh folder");
    let vocab = (0_u32..).zip(VOCABULARY).map(|(id, word)| (word.to_owned(), id));
    let model = WordPiece::builder()
        .vocab(vocab.collect::<HashMap<_, _, _>>())
        .unk_token("[UNK]".to_owned())
        .build();
    let mut tokenizer = Tokenizer::new(model.expect("the vocabulary has its unknown piece"));
    tokenizer
        .with_normalizer(Some(BertNormalizer::default()))
        .expect("no piece was added before");
    tokenizer.with_pre_tokenizer(Some(BertPreTokenizer));
    let frame = BertProcessing::new(("[SEP]".to_owned(), 3), ("[CLS]".to_owned(), 2));
    tokenizer.with_post_processor(Some(frame));
    tokenizer
        .save(dir.path().join("tokenizer.json"), false)
        .expect("a fresh folder");
    dir
}

fn open(dir: &Path) -> BertEmbedder {
    BertEmbedder::open(dir, BertSettings::default()).expect("the folder is whole")
}

pub(super) fn token_ids(text: &str) -> Vec<usize> {
    let id = |word: &str| VOCABULARY.iter().position(|known| *known == word).unwrap_or(1);
    text.split_whitespace().map(id).collect()
}

pub(super) async fn assert_reads_nothing(reranker: &dyn Reranker) {
    let scores = reranker.rerank("red", &[]).await;
    assert!(scores.expect("nothing can fail").is_empty());
}

pub(super) fn ids(text: &str) -> Vec<usize> {
    [&[2], &*token_ids(text), &[3]].concat()
}

async fn assert_matches_reference(embedder: &BertEmbedder, tiny: &Tiny, first_token: bool, offset: usize) {
    let vectors = embedder
        .embed(&TEXTS, EmbedPurpose::Passage)
        .await
        .expect("a tiny model runs");
    for (text, vector) in TEXTS.iter().zip(&vectors) {
        if text.is_empty() {
            assert!(vector.iter().all(|x| *x == 0.0));
            continue;
        }
        let expected = tiny.embed(&ids(text), first_token, offset);
        let length: f32 = vector.iter().map(|x| x * x).sum();
        assert!((length - 1.0).abs() < 1e-4, "{text}: {length}");
        assert!(
            cosine(vector, &expected) > 0.99999,
            "{text}: {vector:?} {expected:?}"
        );
    }
    assert!(
        cosine(&vectors[0], &vectors[2]) < 0.999,
        "the texts must differ for the test to mean anything"
    );
}

#[tokio::test]
async fn bert_with_mean_pooling_matches_the_reference() {
    let tiny = Tiny::random(7, VOCABULARY.len());
    let dir = folder(&tiny, "bert");
    assert_matches_reference(&open(dir.path()), &tiny, false, 0).await;
}

#[tokio::test]
async fn first_token_pooling_is_read_from_the_folder() {
    let tiny = Tiny::random(8, VOCABULARY.len());
    let dir = folder(&tiny, "bert");
    let mean = open(dir.path());
    write_json(
        dir.path(),
        "1_Pooling/config.json",
        &json!({ "pooling_mode_cls_token": true }),
    );
    let first = open(dir.path());
    assert_matches_reference(&first, &tiny, true, 0).await;
    assert_ne!(mean.id(), first.id(), "other vectors need another name");
}

#[tokio::test]
async fn roberta_counts_positions_from_the_one_after_the_padding() {
    let tiny = Tiny::random(9, VOCABULARY.len());
    let dir = folder(&tiny, "xlm-roberta");
    assert_matches_reference(&open(dir.path()), &tiny, false, 1).await;
}

#[tokio::test]
async fn a_vector_does_not_depend_on_its_batch() {
    let dir = folder(&Tiny::random(10, VOCABULARY.len()), "bert");
    let embedder = open(dir.path());
    let long = "red car was sold ".repeat(50);
    let texts: Vec<&str> = (0..100)
        .map(|i| {
            if i % 7 == 0 {
                long.as_str()
            } else {
                TEXTS[i % 2 * 2]
            }
        })
        .collect();
    let all = embedder
        .embed(&texts, EmbedPurpose::Passage)
        .await
        .expect("a tiny model runs");
    for (text, vector) in texts.iter().zip(&all) {
        let alone = embedder
            .embed(&[*text], EmbedPurpose::Passage)
            .await
            .expect("a tiny model runs");
        assert!(cosine(&alone[0], vector) > 0.99999, "{text}");
    }
}

#[tokio::test]
async fn prefixes_come_from_the_settings_or_from_the_folder() {
    let dir = folder(&Tiny::random(11, VOCABULARY.len()), "bert");
    let plain = open(dir.path());
    let set = BertSettings {
        query_prefix: Some("query : ".to_owned()),
        ..BertSettings::default()
    };
    let set = BertEmbedder::open(dir.path(), set).expect("the folder is whole");
    write_json(
        dir.path(),
        "config_sentence_transformers.json",
        &json!({ "prompts": { "query": "query: " } }),
    );
    let told = open(dir.path());
    let wanted = plain
        .embed(&["query : car"], EmbedPurpose::Passage)
        .await
        .expect("a tiny model runs");
    for embedder in [&set, &told] {
        let query = embedder
            .embed(&["car"], EmbedPurpose::Query)
            .await
            .expect("a tiny model runs");
        assert_eq!(query, wanted);
        let passage = embedder
            .embed(&["car"], EmbedPurpose::Passage)
            .await
            .expect("a tiny model runs");
        assert_ne!(passage, wanted);
        assert_eq!(embedder.id(), plain.id(), "passages are as before");
    }
    let marked = BertSettings {
        passage_prefix: Some("blue ".to_owned()),
        ..BertSettings::default()
    };
    let marked = BertEmbedder::open(dir.path(), marked).expect("the folder is whole");
    let blue_car = plain
        .embed(&["blue car"], EmbedPurpose::Passage)
        .await
        .expect("a tiny model runs");
    let passage = marked
        .embed(&["car"], EmbedPurpose::Passage)
        .await
        .expect("a tiny model runs");
    assert_eq!(passage, blue_car);
    assert_ne!(marked.id(), plain.id(), "passages are not as before");
}

#[tokio::test]
async fn an_e5_model_gets_its_prefixes_from_its_name() {
    let of = |query: &str, passage: &str| BertSettings {
        query_prefix: Some(query.to_owned()),
        passage_prefix: Some(passage.to_owned()),
    };
    for (id, wanted) in [
        ("intfloat/multilingual-e5-small", of("query: ", "passage: ")),
        ("someone/E5-base-v2", of("query: ", "passage: ")),
        ("intfloat/multilingual-e5-large-instruct", BertSettings::default()),
        ("BAAI/bge-m3", BertSettings::default()),
        ("org/tune5-base", BertSettings::default()),
        ("e5/other", BertSettings::default()),
    ] {
        assert_eq!(BertSettings::of_hub_id(id), wanted, "{id}");
    }
    let dir = folder(&Tiny::random(16, VOCABULARY.len()), "bert");
    let plain = open(dir.path());
    let wanted = plain.embed(&["query : car"], EmbedPurpose::Passage).await;
    // Newer tools write empty prompts into every folder.
    let prompts = json!({ "prompts": { "query": "", "document": "" } });
    write_json(dir.path(), "config_sentence_transformers.json", &prompts);
    let settings = BertSettings::of_hub_id("intfloat/multilingual-e5-small");
    let e5 = BertEmbedder::open(dir.path(), settings).expect("the folder is whole");
    let query = e5.embed(&["car"], EmbedPurpose::Query).await;
    assert_eq!(
        query.expect("a tiny model runs"),
        wanted.expect("a tiny model runs")
    );
    assert_ne!(e5.id(), plain.id(), "passages are not as before");
}

#[tokio::test]
async fn a_query_does_not_queue_behind_passages() {
    let dir = folder(&Tiny::random(12, VOCABULARY.len()), "bert");
    let embedder = open(dir.path());
    let _busy = embedder
        .passages
        .acquire()
        .await
        .expect("the semaphore is never closed");
    assert!(embedder.embed(&["car"], EmbedPurpose::Query).await.is_ok());
}

#[test]
fn the_models_name_depends_on_its_content_alone() {
    let tiny = Tiny::random(13, VOCABULARY.len());
    let (here, there) = (folder(&tiny, "bert"), folder(&tiny, "bert"));
    // A hash map's order changes the weights file, but not its content.
    std::fs::copy(
        here.path().join("model.safetensors"),
        there.path().join("model.safetensors"),
    )
    .expect("fresh");
    std::fs::copy(
        here.path().join("tokenizer.json"),
        there.path().join("tokenizer.json"),
    )
    .expect("fresh");
    assert_eq!(open(here.path()).id(), open(there.path()).id());
    let other = folder(&Tiny::random(14, VOCABULARY.len()), "bert");
    assert_ne!(open(here.path()).id(), open(other.path()).id());
}

#[test]
fn an_unusable_folder_is_refused_with_the_reason() {
    let dir = folder(&Tiny::random(15, VOCABULARY.len()), "bert");
    let refused =
        || BertEmbedder::open(dir.path(), BertSettings::default()).expect_err("the folder is spoilt");

    write_json(
        dir.path(),
        "modules.json",
        &json!([{ "type": "sentence_transformers.models.Dense" }]),
    );
    assert!(matches!(refused(), OpenError::Unsupported { what } if what.contains("Dense")));
    std::fs::remove_file(dir.path().join("modules.json")).expect("it was just written");

    write_json(
        dir.path(),
        "1_Pooling/config.json",
        &json!({ "pooling_mode_max_tokens": true }),
    );
    assert!(matches!(refused(), OpenError::Unsupported { what } if what.contains("pooling")));
    std::fs::remove_dir_all(dir.path().join("1_Pooling")).expect("it was just written");

    let weights = dir.path().join("model.safetensors");
    let bytes = std::fs::read(&weights).expect("it was just written");
    std::fs::write(&weights, &bytes[..bytes.len() / 2]).expect("it was just written");
    assert!(matches!(refused(), OpenError::Malformed { path, .. } if path == weights));
    std::fs::remove_file(&weights).expect("it was just written");
    assert!(matches!(refused(), OpenError::Read { path, .. } if path == weights));

    write_json(dir.path(), "config.json", &json!({ "model_type": "gpt2" }));
    assert!(matches!(refused(), OpenError::Unsupported { what } if what.contains("gpt2")));
}
