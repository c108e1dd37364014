//! The chat model asks in the strongest form that the endpoint accepts, and reads its answer.

use std::time::Duration;

use ports::{Chat, ChatError, ChatRequest};
use providers::{ApiKey, EndpointSettings, HttpChat};
use serde_json::{Value, json};

use crate::server::{Reply, Request, Server};
use crate::timer::Timer;

const LIMIT: Duration = Duration::from_secs(77);

fn chat(server: &Server) -> HttpChat {
    let mut settings = EndpointSettings::new(server.url("/v1"), "tiny");
    settings.timeout = LIMIT;
    settings.api_key = Some(ApiKey::new("quite-secret-key"));
    HttpChat::new(settings, Timer::with_limit(LIMIT)).expect("good settings")
}

fn request(schema: Option<&str>) -> ChatRequest {
    ChatRequest {
        schema: schema.map(|schema| ("facts".to_owned(), schema.to_owned())),
        ..ChatRequest::new("be brief", "hello", 99)
    }
}

fn reply_with(content: &Value) -> Reply {
    Reply::json(&json!({
        "model": "tiny-q4",
        "choices": [{ "message": { "role": "assistant", "content": content }, "finish_reason": "length" }],
        "usage": { "prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15 },
    }))
}

fn form(request: &Request) -> Option<String> {
    Some(request.json()["response_format"]["type"].as_str()?.to_owned())
}

#[tokio::test]
async fn a_request_is_sent_as_written_and_its_answer_read() {
    let server = Server::new(|_| reply_with(&json!("hi")));
    let schema = r#"{"type":"object"}"#;
    let reply = chat(&server)
        .complete(request(Some(schema)))
        .await
        .expect("it answers");
    assert_eq!((reply.content.as_str(), reply.model.as_str()), ("hi", "tiny-q4"));
    assert_eq!((reply.prompt_tokens, reply.completion_tokens), (12, 3));
    let sent = &server.requests()[0];
    assert_eq!(sent.path, "/v1/chat/completions");
    let expected = json!({
        "model": "tiny",
        "messages": [{ "role": "system", "content": "be brief" }, { "role": "user", "content": "hello" }],
        "stream": false,
        "max_tokens": 99,
        "response_format": {
            "type": "json_schema",
            "json_schema": { "name": "facts", "strict": true, "schema": { "type": "object" } },
        },
    });
    assert_eq!(sent.json(), expected);
    chat(&server).complete(request(None)).await.expect("it answers");
    assert_eq!(form(&server.requests()[1]), None);
    let picture = json!({ "type": "image_url", "image_url": { "url": "data:image/png;base64,AAEC" } });
    let with_picture = ChatRequest {
        attached: Some(picture.to_string()),
        ..request(None)
    };
    chat(&server).complete(with_picture).await.expect("it answers");
    let content = json!([{ "type": "text", "text": "hello" }, picture]);
    assert_eq!(server.requests()[2].json()["messages"][1]["content"], content);
    assert_eq!(server.requests()[2].json()["messages"][0]["content"], "be brief");
}

#[tokio::test]
async fn a_refused_form_is_not_tried_again() {
    let server = Server::new(|request| match form(request).as_deref() {
        Some("json_schema") => Reply::new(400, r#"{"error":{"message":"unknown response_format"}}"#),
        Some("json_object") => Reply::new(422, r#"{"detail":"JSON_OBJECT is not supported"}"#),
        _ => reply_with(&json!("{}")),
    });
    let chat = chat(&server);
    for requests in [3, 4] {
        chat.complete(request(Some("{}")))
            .await
            .expect("the plain form is taken");
        assert_eq!(server.requests().len(), requests);
    }
}

#[tokio::test]
async fn the_newer_name_of_the_limit_is_learnt() {
    let server = Server::new(|request| match request.json().get("max_tokens") {
        Some(_) => Reply::new(
            400,
            r#"{"error":{"message":"use 'max_completion_tokens' instead of 'max_tokens'"}}"#,
        ),
        None => reply_with(&json!("hi")),
    });
    let chat = chat(&server);
    for requests in [2, 3] {
        chat.complete(request(None))
            .await
            .expect("the newer name is taken");
        assert_eq!(server.requests().len(), requests);
    }
    assert_eq!(server.requests()[2].json()["max_completion_tokens"], 99);
}

#[tokio::test]
async fn other_refusals_are_final_and_show_no_key() {
    for (status, words) in [
        (400, "context too long"),
        (401, "response_format quite-secret-key"),
    ] {
        let server = Server::new(move |_| Reply::new(status, words));
        let error = chat(&server)
            .complete(request(Some("{}")))
            .await
            .expect_err("it is refused");
        assert!(matches!(error, ChatError::Refused { .. }), "{error}");
        assert!(!error.to_string().contains("quite-secret-key"), "{error}");
        assert_eq!(server.requests().len(), 1);
    }
    // Without a schema there is no weaker form, whatever the endpoint answers.
    let server = Server::new(|_| Reply::new(400, "response_format"));
    assert!(chat(&server).complete(request(None)).await.is_err());
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn overload_is_tried_again_and_then_reported() {
    let server = Server::new(|_| Reply::new(503, "busy"));
    let error = chat(&server)
        .complete(request(None))
        .await
        .expect_err("it is busy");
    assert!(
        matches!(&error, ChatError::Unavailable { reason } if reason.contains("busy")),
        "{error}"
    );
    assert_eq!(server.requests().len(), 3);
}

#[tokio::test]
async fn an_answer_without_text_is_refused_with_its_reason() {
    let cases = [
        (reply_with(&Value::Null), "length"),
        (reply_with(&json!("  ")), "length"),
        (Reply::json(&json!({ "choices": [] })), "without a choice"),
        (Reply::json(&json!({ "data": [] })), "is it a chat endpoint"),
        (
            Reply::json(&json!({ "choices": [{ "message": { "refusal": "I won't" } }] })),
            "I won't",
        ),
    ];
    for (reply, words) in cases {
        let server = Server::new(move |_| reply.clone());
        let error = chat(&server)
            .complete(request(None))
            .await
            .expect_err("there is no text");
        assert!(
            matches!(error, ChatError::Refused { .. }) && error.to_string().contains(words),
            "{error}"
        );
    }
}

#[tokio::test]
async fn a_schema_that_is_not_json_is_never_sent() {
    let server = Server::new(|_| reply_with(&json!("hi")));
    let error = chat(&server)
        .complete(request(Some("{")))
        .await
        .expect_err("it is not JSON");
    assert!(error.to_string().contains("facts"), "{error}");
    assert!(server.requests().is_empty());
}
