//! A reranker orders the best hits of a search, and a search never depends on it.

use std::sync::Arc;

use memory::{Found, Hit, Method, Search};
use testkit::models::ScriptedReranker;

use crate::stage::{Stage, flush, question, say, session};

/// Messages that answer the same question; the reranker prefers one of the last.
async fn stage(reranker: &Arc<ScriptedReranker>) -> (Stage, memory::Engine) {
    let stage = Stage {
        reranker: Some(reranker.clone()),
        ..Stage::default()
    };
    let engine = stage.open().await;
    let key = session("talk");
    for (minutes, text) in (0..).zip([
        "The red car is a red car, a red car.",
        "My sister drove the red car to the lake.",
        "A red car was before the house.",
    ]) {
        say(&engine, &key, "ann", minutes, text).await;
    }
    engine.flush(flush(&key)).await.expect("it cuts");
    stage.rest(&engine).await;
    (stage, engine)
}

fn car(method: Method, rerank: Option<bool>) -> Search {
    Search {
        method,
        rerank,
        ..question("ann", "red car")
    }
}

fn first(found: &Found) -> &Hit {
    &found.messages[0]
}

#[tokio::test]
async fn a_hybrid_search_is_reranked_unless_it_opts_out() {
    let reranker = Arc::new(ScriptedReranker::preferring(&["lake"]));
    let (_stage, engine) = stage(&reranker).await;
    for (method, wish, happens) in [
        (Method::Hybrid, None, true),
        (Method::Hybrid, Some(false), false),
        (Method::Keyword, None, false),
        (Method::Keyword, Some(true), true),
        (Method::Vector, None, false),
    ] {
        let found = engine.search(car(method, wish)).await.expect("it answers");
        let is_first = first(&found).doc.text.contains("lake");
        assert_eq!(
            first(&found).why.rerank,
            happens.then_some(1.0),
            "{method:?} {wish:?}"
        );
        assert!(!happens || is_first, "{method:?} {wish:?}");
        assert!(found.warnings.is_empty(), "{:?}", found.warnings);
    }
}

#[tokio::test]
async fn the_reranker_reads_more_hits_than_requested() {
    let reranker = Arc::new(ScriptedReranker::preferring(&["lake"]));
    let (_stage, engine) = stage(&reranker).await;
    let search = Search {
        messages_max: 1,
        memories_max: 1,
        ..car(Method::Hybrid, None)
    };
    let found = engine.search(search.clone()).await.expect("it answers");
    assert!(first(&found).doc.text.contains("lake"));
    assert_eq!((found.messages.len(), found.memories.len()), (1, 1));
    assert_eq!(
        reranker.read()[0]
            .iter()
            .filter(|text| text.contains("red car"))
            .count(),
        reranker.read()[0].len(),
    );
    assert!(reranker.read()[0].len() >= 4, "{:?}", reranker.read());
    let none = Search {
        messages_max: 0,
        ..search
    };
    let found = engine.search(none).await.expect("it answers");
    assert!(found.messages.is_empty(), "what is not wanted is not ranked");
}

#[tokio::test]
async fn without_an_answer_the_first_order_stays_and_the_search_warns() {
    let reranker = Arc::new(ScriptedReranker::preferring(&["lake"]));
    let (stage, engine) = stage(&reranker).await;
    let plain = engine
        .search(car(Method::Hybrid, Some(false)))
        .await
        .expect("it answers");
    reranker.set_failing(true);
    let failed = engine
        .search(car(Method::Hybrid, None))
        .await
        .expect("it answers");
    assert!(
        failed.warnings[0].contains("the reranker failed"),
        "{:?}",
        failed.warnings
    );
    reranker.set_hanging(true);
    let late = stage
        .drive(engine.search(car(Method::Hybrid, None)))
        .await
        .expect("it answers");
    assert!(
        late.warnings[0].contains("longer than 5 s"),
        "{:?}",
        late.warnings
    );
    for found in [failed, late] {
        assert_eq!(
            (found.memories, found.messages),
            (plain.memories.clone(), plain.messages.clone())
        );
    }
}

#[tokio::test]
async fn a_request_for_reranking_without_a_reranker_returns_a_warning() {
    let stage = Stage::default();
    let engine = stage.open().await;
    say(&engine, &session("talk"), "ann", 0, "The red car is here.").await;
    for (wish, warnings) in [(None, 0), (Some(false), 0), (Some(true), 1)] {
        let found = engine
            .search(car(Method::Hybrid, wish))
            .await
            .expect("it answers");
        assert_eq!(found.messages.len(), 1);
        assert_eq!(found.warnings.len(), warnings, "{wish:?}");
    }
}
