//! The limits of an answer.

use super::*;

#[test]
fn bytes_beyond_the_maximum_of_a_stream_are_not_read() {
    let mut reply = Reply::new(Dialect::OpenAi);
    reply.push(b"data: {\"choices\":[{\"delta\":{\"content\":\"kept\"}}]}\n\n");
    reply.bytes = ANSWER_BYTES_MAX - 10;
    for _ in 0..3 {
        reply.push(b"data: {\"choices\":[{\"delta\":{\"content\":\"lost\"}}]}\n\n");
    }
    reply.push(b"data: [DONE]\n\n");
    let outcome = reply.finish();
    assert_eq!(outcome.text, "kept");
    assert!(!outcome.complete);
}

#[test]
fn a_stream_of_long_events_is_kept_up_to_the_limit() {
    let mut reply = Reply::new(Dialect::OpenAi);
    let event = |said: &str| format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{said}\"}}}}]}}\n\n");
    for _ in 0..40 {
        reply.push(event(&"a".repeat(1 << 20)).as_bytes());
    }
    let outcome = reply.finish();
    assert!(outcome.text.len() <= KEPT_BYTES_MAX && outcome.text.len() >= KEPT_BYTES_MAX / 2);
    // A stream of one-word events is kept whole.
    let mut reply = Reply::new(Dialect::OpenAi);
    for _ in 0..200_000 {
        reply.push(event("ab").as_bytes());
    }
    assert_eq!(reply.finish().text.len(), 400_000);
}

#[test]
fn a_body_over_the_limit_is_dropped() {
    let mut reply = Reply::new(Dialect::OpenAi);
    reply.push(b"{");
    let blank = vec![b' '; 1 << 20];
    for _ in 0..9 {
        reply.push(&blank);
    }
    let ReplySource::Body(body) = &reply.source else {
        panic!("a body");
    };
    assert_eq!(body.capacity(), 0);
    reply.push(br#"{"choices":[{"message":{"content":"late"}}]}"#);
    let outcome = reply.finish();
    assert_eq!(outcome.message, None);
    assert!(!outcome.complete);
}

#[test]
fn a_body_of_the_maximum_size_is_read() {
    let mut reply = Reply::new(Dialect::OpenAi);
    let body = br#"{"choices":[{"message":{"content":"in time"}}]}"#;
    reply.bytes = ANSWER_BYTES_MAX - body.len();
    reply.push(body);
    let outcome = reply.finish();
    assert_eq!(outcome.text, "in time");
    assert!(outcome.complete);
}
