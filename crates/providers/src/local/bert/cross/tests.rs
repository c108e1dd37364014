//! The scores of a tiny random cross-encoder equal those of a forward pass written here.

use ports::Reranker;
use tempfile::TempDir;

use super::super::OpenError;
use super::super::tests::forward::Tiny;
use super::super::tests::{VOCABULARY, assert_reads_nothing, folder_with_names, token_ids};
use super::CrossEncoder;

/// A weight's name in a family.
fn weight_name(kind: &str, name: &str) -> String {
    let (prefix, dense, out) = match kind {
        "bert" => ("bert", "bert.pooler.dense", "classifier"),
        _ => ("roberta", "classifier.dense", "classifier.out_proj"),
    };
    if let Some(part) = name.strip_prefix(Tiny::HEAD_DENSE) {
        return format!("{dense}{part}");
    }
    match name.strip_prefix(Tiny::HEAD_OUT) {
        Some(part) => format!("{out}{part}"),
        None => format!("{prefix}.{name}"),
    }
}

fn folder(tiny: &Tiny, kind: &str) -> TempDir {
    folder_with_names(tiny, kind, |name| Some(weight_name(kind, name)))
}

fn expected(tiny: &Tiny, kind: &str, query: &str, passage: &str) -> f32 {
    let (query, passage) = (token_ids(query), token_ids(passage));
    let ids = [&[2], &*query, &[3], &*passage, &[3]].concat();
    let (second, offset) = if kind == "bert" { (1, 0) } else { (0, 1) };
    let kinds = [vec![0; query.len() + 2], vec![second; passage.len() + 1]].concat();
    tiny.score(&ids, &kinds, offset)
}

#[tokio::test]
async fn scores_match_the_reference_in_both_families() {
    let mut passages = vec![
        "red car",
        "",
        "the blue bicycle was sold",
        "car",
        "red car was sold : query",
    ];
    // More than one batch.
    passages.extend(["blue car was sold"; 20]);
    for kind in ["bert", "xlm-roberta"] {
        let tiny = Tiny::random(21, VOCABULARY.len());
        let dir = folder(&tiny, kind);
        let reranker = CrossEncoder::open(dir.path()).expect("the folder is whole");
        let scores = reranker
            .rerank("red bicycle", &passages)
            .await
            .expect("a tiny model runs");
        assert_eq!(scores.len(), passages.len());
        for (passage, score) in passages.iter().zip(&scores) {
            let expected = expected(&tiny, kind, "red bicycle", passage);
            assert!(
                (score - expected).abs() < 1e-5,
                "{kind}, {passage}: {score}, not {expected}"
            );
        }
        assert!(
            (scores[0] - scores[2]).abs() > 1e-3,
            "the passages must differ for the test to mean anything"
        );
        assert_reads_nothing(&reranker).await;
    }
}

#[tokio::test]
async fn a_passage_is_cut_at_the_models_limit() {
    let tiny = Tiny::random(22, VOCABULARY.len());
    let dir = folder(&tiny, "bert");
    let reranker = CrossEncoder::open(dir.path()).expect("the folder is whole");
    let scores = reranker
        .rerank("car", &[&"red car ".repeat(500)])
        .await
        .expect("a tiny model runs");
    // The query, the special tokens, and as much of the passage as fits into the positions.
    let fits = expected(
        &tiny,
        "bert",
        "car",
        &"red car ".repeat((Tiny::POSITIONS - 4) / 2),
    );
    assert!((scores[0] - fits).abs() < 1e-5, "{} and {fits}", scores[0]);
}

#[test]
fn a_model_without_a_single_score_is_refused() {
    let tiny = Tiny::random(23, VOCABULARY.len());
    let headless = folder_with_names(&tiny, "bert", |name| {
        (!name.starts_with(Tiny::HEAD_OUT)).then(|| weight_name("bert", name))
    });
    let mut wide = Tiny::random(23, VOCABULARY.len());
    let classes = [("weight", vec![3, Tiny::HIDDEN]), ("bias", vec![3])];
    for (name, shape) in classes {
        let values = vec![0.5; shape.iter().product()];
        wide.tensors
            .insert(format!("{}.{name}", Tiny::HEAD_OUT), (shape, values));
    }
    let refused = |dir: TempDir| CrossEncoder::open(dir.path()).expect_err("no reranker");
    assert!(matches!(refused(headless), OpenError::Scoreless));
    assert!(
        matches!(refused(folder(&wide, "bert")), OpenError::Unsupported { what } if what.contains("3 scores"))
    );
}
