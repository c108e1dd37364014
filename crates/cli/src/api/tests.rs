//! Encoded paths, and failures for refused requests.

use gateway::ClientReply;

use super::Path;
use crate::error::{Exit, Failure};

#[test]
fn path_values_are_percent_encoded() {
    let path = Path::new("/memories/", "a/b ü?")
        .with("app_id", "x&y")
        .with("page", 2);
    assert_eq!(path.text(), "/memories/a%2Fb%20%C3%BC%3F?app_id=x%26y&page=2");
    assert_eq!(Path::new("/tasks", "").text(), "/tasks");
    let path = Path::new("/tasks/", "?").then("/retry").with("all", true);
    assert_eq!(path.text(), "/tasks/%3F/retry?all=true");
}

#[test]
fn a_refusal_keeps_its_message_and_gets_an_exit_code() {
    let refused = |status, code: &str, detail: Option<&str>| {
        let body = format!(
            r#"{{"request_id": "r", "error": {{"code": "{code}", "message": "words", "timestamp": "t", "path": "p"}}}}"#
        );
        let reply = ClientReply {
            status,
            body: body.into_bytes(),
            detail: detail.map(str::to_owned),
        };
        let failure = Failure::from(reply.accepted().unwrap_err());
        (failure.exit, failure.error.to_string(), failure.hint.is_some())
    };
    let words = "words".to_owned();
    assert_eq!(
        refused(404, "NOT_FOUND", None),
        (Exit::NotFound, words.clone(), false)
    );
    assert_eq!(
        refused(422, "INVALID_INPUT", None),
        (Exit::Usage, words.clone(), false)
    );
    assert_eq!(
        refused(401, "UNAUTHORIZED", None),
        (Exit::Failed, words.clone(), true)
    );
    assert_eq!(refused(403, "FORBIDDEN", None), (Exit::Failed, words, false));
    let told = refused(500, "INTERNAL_ERROR", Some("the disk is full"));
    assert_eq!(told, (Exit::Failed, "the disk is full".to_owned(), false));
    let strange = ClientReply {
        status: 502,
        body: b"<html>".to_vec(),
        detail: None,
    };
    let failure = Failure::from(strange.accepted().unwrap_err());
    assert!(failure.error.to_string().contains("502"));
    assert!(failure.hint.is_some());
}
