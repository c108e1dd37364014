//! What is found among many rows, beside a ranking of all of them.

use std::sync::LazyLock;

use model::{Doc, DocKind, EntryId, EntryKind, MessageId, Zone};
use proptest::prelude::*;

use crate::tests::{corpus, day, episode, fact, ids, row, turn};
use crate::{Corpus, Cosines, Hit, Method, Query, Ranking, Weights};

const SESSIONS: usize = 400;
const TURNS: usize = 12;
const WORDS: usize = 2_000;

/// Numbers without a pattern, the same in every run.
fn number(seed: usize, below: usize) -> usize {
    let mixed = (seed as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    usize::try_from((mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 33).unwrap_or(0) % below
}

/// Words of which few are frequent.
fn text(seed: usize, words: usize) -> String {
    let word = |n: usize| format!("word{}", number(seed * 31 + n, number(seed * 17 + n, WORDS) + 1));
    (0..words).map(word).collect::<Vec<_>>().join(" ")
}

fn vector(seed: usize) -> Vec<f32> {
    (0..8)
        .map(|n| number(seed * 8 + n, 2_000) as f32 / 1_000.0 - 1.0)
        .collect()
}

/// Talks of a year; each has an episode, and every third turn a fact, some of which supersede an earlier one.
fn talks() -> Vec<Doc> {
    let mut rows = Vec::new();
    for session in 0..SESSIONS {
        let at = day(i64::try_from(session).expect("few"));
        let told = format!("e{session}");
        rows.push(row(
            &told,
            DocKind::Entry(EntryKind::Episode),
            at,
            &text(session, 20),
        ));
        for n in 0..TURNS {
            let seed = session * TURNS + n;
            let (id, speaker) = (format!("m{seed:04}"), ["Ann", "Bob"][n % 2]);
            rows.push(Doc {
                parent: Some(episode(&told)),
                vector: Some(vector(seed).into()),
                ..turn(&id, &format!("s{session}"), at, speaker, &text(seed, 4 + n))
            });
            if n % 3 == 0 {
                rows.push(Doc {
                    parent: Some(episode(&told)),
                    sources: vec![MessageId::new(id)],
                    vector: Some(vector(seed + 7).into()),
                    supersedes: (seed.is_multiple_of(60) && seed > 0)
                        .then(|| EntryId::new(format!("f{}", seed - 30)))
                        .into_iter()
                        .collect(),
                    ..fact(&format!("f{seed}"), at, &text(seed, 5))
                });
            }
        }
    }
    rows
}

fn found(corpus: &Corpus, text: &str, vector: &[f32], method: Method, whole: f32) -> Ranking {
    let weights = Weights {
        whole,
        ..Weights::default()
    };
    let query = Query {
        text,
        vector: Some(vector),
        cosines: Cosines::default(),
        method,
        filter: None,
        asked_at: day(400),
        zone: &Zone::utc(),
        as_of: None,
        memories_max: 5,
        messages_max: 5,
        score_min: 0.0,
    };
    corpus.search_weighted(&query, &weights)
}

static TALKS: LazyLock<Corpus> = LazyLock::new(|| corpus(talks()));

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn the_best_of_many_rows_are_found_with_the_scores_they_have_among_all(seed in 0..10_000usize) {
        for method in [Method::Keyword, Method::Vector, Method::Hybrid] {
            let (question, vector) = (text(seed, 4), vector(seed));
            let all = found(&TALKS, &question, &vector, method, f32::MAX);
            let some = found(&TALKS, &question, &vector, method, 0.0);
            for (all, some) in [(&all.memories, &some.memories), (&all.messages, &some.messages)] {
                prop_assert_eq!(ids(all)[0], ids(some)[0], "{:?} {}", method, question);
                let both = |hit: &Hit| some.iter().find(|other| other.doc.key == hit.doc.key).cloned();
                let pairs: Vec<(&Hit, Hit)> = all.iter().filter_map(|hit| Some((hit, both(hit)?))).collect();
                prop_assert!(pairs.len() >= 3, "{:?} {}: {:?} of {:?}", method, question, ids(some), ids(all));
                for (hit, other) in pairs {
                    prop_assert!((hit.score - other.score).abs() < 0.02, "{method:?} {question}: {hit:?}, {other:?}");
                    prop_assert_eq!(&hit.superseded_by, &other.superseded_by);
                    prop_assert_eq!(&hit.later, &other.later);
                }
            }
        }
    }
}
