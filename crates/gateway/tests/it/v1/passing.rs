//! Requests that are no conversation, or only look like none: every route of a server is forwarded unchanged; and
//! compressed bodies.

use std::io::Write;

use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use gateway::GatewaySettings;
use serde_json::json;
use testkit::backend::{Backend, Fault};

use super::stage::{CHAT, Got, MESSAGES, RESPONSES, Stage, echo, last, says};
use crate::house::{Ask, get, post};

fn request_with(method: &'static str, path: &str, kind: &str, body: &[u8]) -> Ask {
    let ask = post(path, &json!(null)).header("content-type", kind).bytes(body);
    Ask { method, ..ask }
}

#[tokio::test]
async fn every_other_route_is_forwarded_unchanged() {
    let backend = Backend::start(echo()).await;
    let stage = Stage::new(backend.base_url()).await;
    let form = b"--x\r\ncontent-disposition: form-data; name=\"file\"\r\n\r\n\xff\x00\x1f\r\n--x--\r\n";
    let json = br#"{"model": "tiny",  "input": [1.0]}"#;
    let (multipart, plain) = ("multipart/form-data; boundary=x", "application/json");
    let asks = [
        ("HEAD", "models", plain, &b""[..]),
        ("GET", "responses/resp_1?stream=true", plain, b""),
        ("DELETE", "responses/resp_1", plain, b""),
        ("POST", "responses/resp_1/cancel", plain, b""),
        ("POST", "responses/input_tokens", plain, json),
        ("GET", "chat/completions", plain, b""),
        ("POST", "chat/completions/1", plain, json),
        ("POST", "moderations", plain, json),
        ("POST", "rerank", plain, json),
        ("POST", "audio/transcriptions", multipart, form),
        ("POST", "images/edits", multipart, form),
        ("POST", "files", multipart, form),
        ("GET", "files/f/content", plain, b""),
        ("POST", "batches/b/cancel", plain, b"\xff\xfe"),
        ("PATCH", "conversations/c", plain, json),
        ("PUT", "anything/else", "application/octet-stream", b"\x00"),
    ];
    for (method, path, kind, body) in asks {
        let path = format!("/v1/{path}");
        let got = stage.ask(request_with(method, &path, kind, body)).await;
        let seen = last(&backend);
        assert_eq!((&*seen.method, &*seen.path, &*seen.body), (method, &*path, body));
        let sent = seen.headers.iter().find(|(name, _)| name == "content-type");
        assert_eq!(sent.map(|(_, value)| &**value), Some(kind), "{path}");
        let expected = if method == "HEAD" { 200 } else { 404 };
        assert_eq!(got.status, expected, "the server's own word: {path}");
        assert!(!got.headers.contains_key("x-quipu-conversation"), "{path}");
    }
    let before = backend.requests().len();
    for path in [
        "/v1/../slots",
        "/v1/models/%2e%2E/%2e./props",
        "/v1/..%5c..\\props",
    ] {
        assert_eq!(stage.ask(get(path)).await.status, 404, "{path}");
    }
    assert_eq!(backend.requests().len(), before, "nothing beside `/v1` is asked");
    let there = stage
        .ask(Ask {
            method: "HEAD",
            ..get("/")
        })
        .await;
    assert_eq!((there.status, there.text()), (200, String::new()));
}

#[tokio::test]
async fn a_web_socket_request_is_refused_in_favour_of_http() {
    let backend = Backend::start(echo()).await;
    let stage = Stage::new(backend.base_url()).await;
    let before = backend.requests().len();
    for path in [RESPONSES, "/v1/realtime"] {
        let ask = get(path)
            .header("connection", "Upgrade")
            .header("upgrade", "websocket");
        let got = stage.ask(ask).await;
        assert_eq!(got.failure(path), (426, "upgrade_required".to_owned()));
    }
    assert_eq!(backend.requests().len(), before);
}

#[tokio::test]
async fn a_compressed_conversation_is_forwarded_decompressed() {
    let backend = Backend::start(echo()).await;
    let settings = GatewaySettings {
        body_bytes_max: 64 << 10,
        ..GatewaySettings::default()
    };
    let stage = Stage::with(backend.base_url(), settings).await;
    let gzip = |bytes: &[u8]| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(bytes).expect("written");
        encoder.finish().expect("whole")
    };
    let zlib = |bytes: &[u8]| {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(bytes).expect("written");
        encoder.finish().expect("whole")
    };
    let plain = says("one two", false).to_string().into_bytes();
    let encodings = [
        ("gzip", gzip(&plain)),
        ("deflate", zlib(&plain)),
        ("zstd", zstd::encode_all(&*plain, 3).expect("whole")),
        ("identity", plain.clone()),
    ];
    for path in [CHAT, MESSAGES] {
        for (encoding, body) in &encodings {
            let ask = post(path, &json!(null)).bytes(body.clone());
            let got = stage.ask(ask.header("content-encoding", encoding)).await;
            assert_eq!(got.status, 200, "{encoding}: {}", got.text());
            let seen = last(&backend);
            assert!(
                seen.headers.iter().all(|(name, _)| name != "content-encoding"),
                "{encoding}"
            );
            assert!(
                String::from_utf8_lossy(&seen.body).contains("one two"),
                "{encoding}"
            );
        }
    }
    let before = backend.requests().len();
    let bomb = says(&"a".repeat(65 << 10), false).to_string().into_bytes();
    let bombs = [
        ("gzip", gzip(&bomb), 413),
        ("deflate", zlib(&bomb), 413),
        ("zstd", zstd::encode_all(&*bomb, 3).expect("whole"), 413),
        ("gzip", plain.clone(), 400),
        ("br", plain, 415),
    ];
    for (encoding, body, status) in bombs {
        let ask = post(CHAT, &json!(null)).bytes(body);
        let got = stage.ask(ask.header("content-encoding", encoding)).await;
        assert_eq!(got.failure(CHAT).0, status, "{encoding}");
    }
    assert_eq!(backend.requests().len(), before);
    let packed = gzip(br#"{"model":"tiny","input":"x"}"#);
    let ask = post("/v1/embeddings", &json!(null)).bytes(packed.clone());
    stage.ask(ask.header("content-encoding", "gzip")).await;
    let seen = last(&backend);
    assert_eq!(seen.body, packed, "of another route as it came");
    assert!(
        seen.headers
            .contains(&("content-encoding".to_owned(), "gzip".to_owned()))
    );
}

#[tokio::test]
async fn the_servers_request_id_is_kept() {
    let backend = Backend::start(echo()).await;
    let stage = Stage::new(backend.base_url()).await;
    backend.fail_next(Fault::Status {
        code: 429,
        headers: vec![("x-request-id".to_owned(), "req_theirs".to_owned())],
        body: "{}".to_owned(),
    });
    let got = stage.ask(post(CHAT, &says("hi", false))).await;
    assert_eq!(
        (got.status, &got.headers["x-request-id"]),
        (429, &"req_theirs".parse().expect("a value"))
    );
    assert!(got.headers.contains_key("x-quipu-request-id"));
    let got = stage.ask(post(CHAT, &says("hi", false))).await;
    assert!(
        got.headers.contains_key("x-request-id"),
        "ours, where there is no other"
    );
}

#[tokio::test]
async fn a_cookie_of_the_model_server_is_removed() {
    let backend = Backend::start(echo()).await;
    let stage = Stage::new(backend.base_url()).await;
    for ask in [post(CHAT, &says("hi", false)), get("/v1/models")] {
        backend.fail_next(Fault::Status {
            code: 400,
            headers: ["set-cookie", "Set-Cookie", "x-theirs"]
                .map(|name| (name.to_owned(), "quipu=1; Path=/".to_owned()))
                .to_vec(),
            body: "{}".to_owned(),
        });
        let got = stage.ask(ask).await;
        assert_eq!(got.status, 400);
        assert!(got.headers.contains_key("x-theirs"));
        assert!(!got.headers.contains_key("set-cookie"), "{:?}", got.headers);
    }
}

#[tokio::test]
async fn a_repeated_identifying_header_is_refused() {
    let backend = Backend::start(echo()).await;
    let settings = GatewaySettings {
        user_headers: vec!["x-openwebui-user-id".to_owned()],
        ..GatewaySettings::default()
    };
    let stage = Stage::with(backend.base_url(), settings).await;
    let twice = |mut ask: Ask, name: &'static str, values: [&str; 2]| {
        ask.headers.extend(values.map(|value| (name, value.to_owned())));
        ask
    };
    let before = backend.requests().len();
    for name in [
        "x-quipu-user",
        "X-Quipu-User",
        "x-quipu-app",
        "x-quipu-conversation",
        "x-quipu-incognito",
        "authorization",
        "x-api-key",
        "x-openwebui-user-id",
    ] {
        for values in [["ada", "bob"], ["ada", "ada"]] {
            for ask in [
                post(CHAT, &says("hi", false)),
                get("/v1/models"),
                get("/api/v1/tasks"),
            ] {
                let path = ask.path.clone();
                let got = stage.ask(twice(ask, name, values)).await;
                assert_eq!(got.status, 400, "{name} {path}");
                let says = format!("`{}` is there twice", name.to_ascii_lowercase());
                assert!(got.text().contains(&says), "{}", got.text());
            }
        }
    }
    assert_eq!(backend.requests().len(), before);
    let other = twice(post(CHAT, &says("hi", false)), "accept", ["a", "b"]);
    assert_eq!(stage.ask(other).await.status, 200);
}

/// The answer, and the number of other requests answered meanwhile.
async fn meanwhile(stage: &Stage, ask: Ask) -> (Got, usize) {
    let mut asking = std::pin::pin!(stage.ask(ask));
    let mut answered = 0;
    loop {
        let health = stage.open(get("/health/live"));
        tokio::select! {
            got = &mut asking => return (got, answered),
            answer = health => assert_eq!(answer.status, 200),
        }
        answered += 1;
    }
}

/// Tests run on one thread: counting tokens on it would delay every request. The upload takes as long on a route
/// without counting.
#[tokio::test]
async fn other_requests_are_served_while_a_large_one_is_counted() {
    let backend = Backend::start(echo()).await;
    let stage = Stage::new(backend.base_url()).await;
    let large = says(&"seven brown foxes, and 12 more; ".repeat((6 << 20) / 32), false);
    let (_, while_it_arrives) = meanwhile(&stage, post("/v1/files", &large)).await;
    let (got, answered) = meanwhile(&stage, post(CHAT, &large)).await;
    assert_eq!(got.failure(CHAT), (400, "context_length_exceeded".to_owned()));
    assert!(answered > 4 * while_it_arrives, "{answered}, {while_it_arrives}");
}
