//! Likeness equals that of a forward pass written here, and is weighed against the order.

use ports::Reranker;

use super::super::BertSettings;
use super::super::tests::forward::Tiny;
use super::super::tests::{VOCABULARY, assert_reads_nothing, folder, ids};
use super::LateInteraction;

fn open(tiny: &Tiny, kind: &str) -> LateInteraction {
    let dir = folder(tiny, kind);
    LateInteraction::open(dir.path(), BertSettings::default()).expect("the folder is whole")
}

/// The mean over the query's words of the cosine with the most similar token.
fn expected(tiny: &Tiny, query: &str, passage: &str, offset: usize) -> f64 {
    let rows = |text: &str| {
        let ids = ids(text);
        let rows = tiny.rows(&ids, &vec![0; ids.len()], offset);
        let unit = |row: Vec<f64>| {
            let length = row.iter().map(|x| x * x).sum::<f64>().sqrt();
            row.into_iter().map(|x| x / length).collect()
        };
        rows.into_iter().map(unit).collect::<Vec<Vec<f64>>>()
    };
    let (asked, said) = (rows(query), rows(passage));
    let cosine = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let best = |word: &Vec<f64>| {
        said.iter()
            .map(|token| cosine(word, token))
            .fold(f64::MIN, f64::max)
    };
    let words = &asked[1..asked.len() - 1];
    words.iter().map(best).sum::<f64>() / words.len() as f64
}

#[tokio::test]
async fn likeness_matches_the_reference_in_both_families() {
    let mut passages = vec!["red car", "", "the blue bicycle was sold", "car"];
    // More than one batch.
    passages.extend(["blue car was sold : query"; 20]);
    for (kind, offset) in [("bert", 0), ("xlm-roberta", 1)] {
        let tiny = Tiny::random(31, VOCABULARY.len());
        let reranker = open(&tiny, kind);
        let found = reranker.likeness("red bicycle", &passages).await;
        for (passage, found) in passages.iter().zip(found.expect("a tiny model runs")) {
            let expected = match *passage {
                "" => 0.0,
                passage => expected(&tiny, "red bicycle", passage, offset),
            };
            assert!(
                (f64::from(found) - expected).abs() < 1e-5,
                "{kind}, {passage}: {found}, not {expected}"
            );
        }
    }
}

#[tokio::test]
async fn equal_passages_keep_their_order_and_matching_ones_move_up() {
    let reranker = open(&Tiny::random(32, VOCABULARY.len()), "bert");
    let falls = |scores: &[f32]| scores.windows(2).all(|pair| pair[0] > pair[1]);
    let nothing = ["", "\u{200b}", "\u{0}"].map(|query| (query, ["red car"; 12]));
    for (query, passages) in [("red car", ["was sold"; 12])].into_iter().chain(nothing) {
        let scores = reranker.rerank(query, &passages).await.expect("it runs");
        assert!(falls(&scores), "{scores:?}");
    }
    let mut passages = ["was sold"; 12];
    passages[1] = "red car";
    let scores = reranker.rerank("red car", &passages).await.expect("it runs");
    assert!(scores[1] > scores[0], "{scores:?}");
    assert_reads_nothing(&reranker).await;
}
