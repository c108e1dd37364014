//! The fakes keep the ports' promises, and the chat fake detects a malformed request.

use std::panic::AssertUnwindSafe;

use ports::{
    Chat, ChatError, ChatMessage, ChatRequest, ChatRole, EmbedError, EmbedPurpose, Embedder, RerankError,
    Reranker,
};

use super::{HashEmbedder, ScriptedChat, ScriptedReranker};

fn block_on<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime without drivers always builds")
        .block_on(future)
}

fn request(roles: &[ChatRole]) -> ChatRequest {
    let messages = roles.iter().map(|role| ChatMessage {
        role: *role,
        content: "hello there".to_owned(),
    });
    ChatRequest {
        messages: messages.collect(),

        ..ChatRequest::new("", "", 100)
    }
}

#[test]
fn shared_words_bring_texts_closer() {
    let fake = HashEmbedder::new(256);
    let texts = [
        "the red bicycle",
        "The red bicycle!",
        "a red car",
        "quarterly tax filing",
        "",
    ];
    let vectors = block_on(fake.embed(&texts, EmbedPurpose::Passage)).expect("no fault is planted");
    let dot = |a: usize, b: usize| -> f32 { vectors[a].iter().zip(&*vectors[b]).map(|(x, y)| x * y).sum() };
    assert!((dot(0, 0) - 1.0).abs() < 1e-5);
    assert_eq!(vectors[0], vectors[1]);
    assert!(dot(0, 2) > 0.2 && dot(0, 3).abs() < 0.2);
    assert!(vectors[4].iter().all(|x| *x == 0.0));
    assert_ne!(
        HashEmbedder::with_name("other", 256).vector("red"),
        fake.vector("red")
    );
}

#[test]
fn a_planted_fault_can_be_lifted() {
    let fake = HashEmbedder::new(8);
    fake.set_failing(true);
    let failed = block_on(fake.embed(&["a"], EmbedPurpose::Query));
    assert!(matches!(failed, Err(EmbedError::Unavailable { .. })));
    fake.set_failing(false);
    assert!(block_on(fake.embed(&["a"], EmbedPurpose::Query)).is_ok());
    assert_eq!(fake.calls(), 2);
}

#[test]
fn a_passage_with_an_earlier_text_scores_more() {
    let fake = ScriptedReranker::preferring(&["red", "car"]);
    let passages = ["a blue bicycle", "a car", "a red car"];
    let scores = block_on(fake.rerank("which?", &passages)).expect("no fault is planted");
    assert_eq!(scores, [0.0, 1.0, 2.0]);
    assert_eq!(fake.read(), [passages]);
    fake.set_failing(true);
    let failed = block_on(fake.rerank("which?", &passages));
    assert!(matches!(failed, Err(RerankError::Unavailable { .. })));
}

#[test]
fn the_script_is_followed_and_recorded() {
    let refused = ChatError::Refused {
        reason: "no".to_owned(),
    };
    let chat = ScriptedChat::replies([Ok("one"), Err(refused)]);
    let asked = request(&[ChatRole::System, ChatRole::User]);
    assert_eq!(
        block_on(chat.complete(asked.clone()))
            .expect("the script says so")
            .content,
        "one"
    );
    assert!(block_on(chat.complete(asked.clone())).is_err());
    assert_eq!(chat.requests(), [asked.clone(), asked]);
}

#[test]
fn malformed_requests_panic() {
    use ChatRole::{Assistant, System, User};
    let mut bad = [
        &[][..],
        &[System],
        &[Assistant],
        &[User, User],
        &[User, Assistant],
        &[System, System, User],
    ]
    .map(request)
    .to_vec();
    bad.push(ChatRequest {
        schema: Some(("s".to_owned(), "{".to_owned())),
        ..request(&[User])
    });
    bad.push(ChatRequest {
        tokens_max: 0,
        ..request(&[User])
    });
    for asked in bad {
        let chat = ScriptedChat::answering(|_| Ok(String::new()));
        let call = AssertUnwindSafe(|| block_on(chat.complete(asked.clone())));
        assert!(std::panic::catch_unwind(call).is_err(), "{asked:?}");
    }
    let good = ChatRequest {
        schema: Some(("s".to_owned(), r#"{"type":"object"}"#.to_owned())),
        ..request(&[System, User, Assistant, User])
    };
    let chat = ScriptedChat::answering(|_| Ok("yes".to_owned()));
    assert!(block_on(chat.complete(good)).is_ok());
}
