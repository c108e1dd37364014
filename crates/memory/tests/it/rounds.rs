//! A chat model reads the hits of a search, and adds queries for missing information.

use std::sync::Arc;

use memory::{Engine, Found, Search};
use ports::{ChatError, ChatRequest};
use testkit::models::ScriptedChat;

use crate::stage::{Stage, question, say, session};

const QUESTION: &str = "Which instrument does the brother of Ann play?";

/// The answer needs two steps: its message shares no word with the question.
async fn stage(chat: Option<ScriptedChat>) -> (Stage, Engine) {
    let stage = Stage {
        chat: chat.map(Arc::new),
        ..Stage::default()
    };
    let engine = stage.open().await;
    let key = session("talk");
    for (minutes, text) in (0..).zip([
        "My brother is called Tom.",
        "Tom practises the cello in the evening.",
        "The bakery opens at seven.",
    ]) {
        say(&engine, &key, "ann", minutes, text).await;
    }
    (stage, engine)
}

fn limited() -> Search {
    Search {
        messages_max: 2,
        score_min: 0.2,
        ..question("ann", QUESTION)
    }
}

fn texts(found: &Found) -> Vec<&str> {
    found.messages.iter().map(|hit| &*hit.doc.text).collect()
}

async fn answered(answer: Result<&'static str, ChatError>) -> (Stage, Found) {
    let (stage, engine) = stage(Some(ScriptedChat::replies([answer]))).await;
    let found = engine.search_in_rounds(limited()).await.expect("it answers");
    (stage, found.expect("there is a chat model"))
}

#[tokio::test]
async fn further_queries_find_a_message_without_a_word_of_the_question() {
    let (_, engine) = stage(None).await;
    let plain = engine.search(limited()).await.expect("it answers");
    assert!(
        !texts(&plain).iter().any(|text| text.contains("cello")),
        "{plain:?}"
    );

    let (stage, found) = answered(Ok(r#"{"queries": ["Tom practises", "Tom plays an instrument"]}"#)).await;
    let texts = texts(&found);
    assert!(texts.iter().any(|text| text.contains("cello")), "{texts:?}");
    assert!(texts.len() <= 2, "{texts:?}");
    assert_eq!(found.queries, ["Tom practises", "Tom plays an instrument"]);
    assert!(found.messages.is_sorted_by(|a, b| a.score >= b.score));
    let requests: Vec<ChatRequest> = stage.chat.as_ref().expect("it is there").requests();
    let read = &requests[0].messages[1].content;
    assert!(
        read.contains(QUESTION) && read.contains("My brother is called Tom."),
        "{read}"
    );
}

#[tokio::test]
async fn without_further_queries_the_answer_equals_a_plain_search() {
    let (_, engine) = stage(None).await;
    let plain = engine.search(limited()).await.expect("it answers");
    assert!(
        engine
            .search_in_rounds(limited())
            .await
            .expect("it answers")
            .is_none()
    );

    let (_, enough) = answered(Ok(r#"{"queries": []}"#)).await;
    assert_eq!((texts(&enough), enough.warnings.len()), (texts(&plain), 0));
    let unreachable = ChatError::Unavailable {
        reason: "planted fault".to_owned(),
    };
    for answer in [Err(unreachable), Ok("I cannot tell.")] {
        let (_, found) = answered(answer).await;
        assert_eq!(texts(&found), texts(&plain));
        assert!(
            found.warnings[0].contains("the chat model did not answer"),
            "{:?}",
            found.warnings
        );
    }
}
