//! The model servers' routes over real sockets: a client, the gateway, the adapter, and a fake model server.

mod after;
mod faults;
#[cfg(target_os = "linux")]
mod long;
mod owners;
mod passing;
mod reach;
mod stage;
mod tools;

use std::time::Duration;

use gateway::GatewaySettings;
use model::Role;
use serde_json::{Value, json};
use testkit::backend::{Backend, Config};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use crate::house::{House, get, post, tokens};
use stage::{CHAT, MESSAGES, RESPONSES, Stage, address, chat, echo, last, open, says};

/// The server's answer to a repetition of its last request.
async fn again(backend: &Backend) -> Vec<u8> {
    let seen = last(backend);
    let ask = post(&seen.path, &Value::Null).bytes(seen.body.to_vec());
    open(address(backend), ask).await.complete().await.bytes
}

#[tokio::test]
async fn every_route_returns_the_servers_bytes() {
    let backend = Backend::start(echo()).await;
    let stage = Stage::new(backend.base_url()).await;
    let text = "one two three";
    let asks = [
        chat(text, true),
        chat(text, false),
        post(MESSAGES, &says(text, true)),
        post(MESSAGES, &says(text, false)),
        post("/v1/messages/count_tokens", &says(text, false)),
        post("/v1/completions", &json!({"model": "tiny", "prompt": "Once"})),
        post(
            "/v1/completions",
            &json!({"model": "tiny", "prompt": "Once", "stream": true}),
        ),
        post("/v1/embeddings", &json!({"model": "tiny", "input": ["a", "b"]})),
        post(RESPONSES, &json!({"model": "tiny", "input": "Hi"})),
        post(
            RESPONSES,
            &json!({"model": "tiny", "input": "Hi", "stream": true}),
        ),
    ];
    for ask in asks {
        let (path, asked) = (ask.path.clone(), ask.body.clone());
        let got = stage.ask(ask).await;
        assert_eq!(got.status, 200, "{path}: {}", got.text());
        assert_eq!(last(&backend).path, path);
        assert_eq!(last(&backend).violations, [""; 0], "{path}");
        let is_talk = [CHAT, MESSAGES, RESPONSES].contains(&&*path);
        assert_eq!(
            last(&backend).body == asked,
            !is_talk,
            "{path}: memory is for talks alone"
        );
        assert_eq!(
            got.headers.contains_key("x-quipu-conversation"),
            is_talk,
            "{path}"
        );
        assert_eq!(got.bytes, again(&backend).await, "{path}");
    }
    let models = stage.ask(get("/v1/models?limit=3")).await;
    assert_eq!(last(&backend).path, "/v1/models?limit=3");
    assert_eq!(models.json()["data"][0]["id"], "fake");
    assert_eq!(
        stage.ask(get("/v1/models/fake/x")).await.status,
        404,
        "the server's own word"
    );
    assert_eq!(last(&backend).path, "/v1/models/fake/x");
}

#[tokio::test]
async fn a_stream_is_forwarded_without_delay() {
    let backend = Backend::start(Config { hold: true, ..echo() }).await;
    let stage = Stage::new(backend.base_url()).await;
    for ask in [chat("a b c", true), post(MESSAGES, &says("a b c", true))] {
        let mut arriving = stage.open(ask).await;
        assert_eq!(arriving.headers["content-type"], "text/event-stream");
        let first = arriving.next().await;
        assert!(
            first.ends_with(b"\n\n"),
            "an event, while the server waits: {first:?}"
        );
        backend.release();
        let rest = arriving.complete().await;
        assert!(!rest.broke_off);
        backend.hold(false);
        assert_eq!([&first, &*rest.bytes].concat(), again(&backend).await);
        backend.hold(true);
    }
}

#[tokio::test]
async fn injected_memory_is_the_owners_and_is_reported_in_a_header() {
    let backend = Backend::start(echo()).await;
    let stage = Stage::new(backend.base_url()).await;
    let said = [("ada", "My sister Clara lives in Lisbon and breeds goats.")];
    stage.house.remember("earlier", &said).await;
    let question = "Where does my sister Clara live, and what does she breed?";
    let sent_for = async |header: Option<&str>, user: Option<&str>| {
        let mut body = says(question, false);
        if let Some(user) = user {
            body["user"] = json!(user);
        }
        let mut ask = post(CHAT, &body).header("x-quipu-memory", "read-only");
        if let Some(header) = header {
            ask = ask.header("x-quipu-user", header);
        }
        let got = stage.ask(ask).await;
        assert_eq!(got.status, 200, "{}", got.text());
        let sent = String::from_utf8(last(&backend).body.to_vec()).expect("text");
        (sent.contains("goats"), got.headers)
    };
    let (knows, headers) = sent_for(None, None).await;
    assert!(knows, "the configured owner's");
    let injected = headers["x-quipu-injected"].to_str().expect("text");
    let parts: Vec<&str> = injected.split("; ").collect();
    assert_eq!(parts[0], "f0", "{injected}");
    let number = |part: &str, name: &str| part.strip_prefix(name)?.parse::<usize>().ok();
    assert_eq!(number(parts[1], "memories="), Some(1), "{injected}");
    assert!(
        number(parts[2], "tokens=").is_some_and(|tokens| tokens > 0),
        "{injected}"
    );
    assert!(!sent_for(Some("bob"), None).await.0, "another's memory");
    assert!(!sent_for(None, Some("bob")).await.0, "another's memory");
    assert!(sent_for(Some("ada"), Some("bob")).await.0, "the header wins");
    assert_eq!(stage.stored().len(), said.len(), "read only");
}

#[tokio::test]
async fn a_response_is_a_turn_and_the_next_one_continues_it() {
    let backend = Backend::start(echo()).await;
    let stage = Stage::new(backend.base_url()).await;
    let said = [("ada", "My sister Clara lives in Lisbon and breeds goats.")];
    stage.house.remember("earlier", &said).await;
    let question = "Where does my sister Clara live, and what does she breed?";
    let first = stage
        .ask(post(RESPONSES, &json!({"model": "tiny", "input": question})))
        .await;
    let sent: Value = serde_json::from_slice(&last(&backend).body).expect("JSON");
    let input = sent["input"].as_str().expect("a text");
    assert!(input.starts_with(question) && input.contains("Lisbon"), "{input}");
    let next = json!({"model": "tiny", "input": "And why?", "previous_response_id": first.json()["id"]});
    let second = stage.ask(post(RESPONSES, &next)).await;
    assert_eq!(last(&backend).violations, [""; 0]);
    assert_eq!(
        second.headers["x-quipu-conversation"],
        first.headers["x-quipu-conversation"]
    );
    let texts: Vec<String> = stage.stored().into_iter().map(|(_, text)| text).collect();
    let reply = "nothing was asked";
    assert_eq!(texts[1..], [question, reply, "And why?", reply]);
    let refused = stage.ask(post(RESPONSES, &json!({"input": 7}))).await;
    assert_eq!(
        refused.failure(RESPONSES),
        (400, "invalid_request_error".to_owned())
    );
}

#[tokio::test]
async fn quipus_headers_are_not_forwarded_and_all_others_are() {
    let backend = Backend::start(echo()).await;
    let stage = Stage::new(backend.base_url()).await;
    let ask = || {
        chat("hi", false)
            .header("x-quipu-user", "ada")
            .header("x-quipu-conversation", "mine")
            .header("x-quipu-future", "1")
            .header("x-title", "a client")
            .header("accept-encoding", "gzip")
            .token("theirs")
    };
    let got = stage.ask(ask()).await;
    assert_eq!(got.headers["x-quipu-conversation"], "mine");
    let headers = last(&backend).headers;
    let value = |name: &str| {
        let found = headers.iter().find(|(other, _)| other == name);
        found.map(|(_, value)| value.as_str())
    };
    assert!(
        headers.iter().all(|(name, _)| !name.starts_with("x-quipu")),
        "{headers:?}"
    );
    assert_eq!(value("authorization"), Some("Bearer theirs"));
    assert_eq!(value("x-title"), Some("a client"));
    assert_eq!(
        value("accept-encoding"),
        Some("identity"),
        "it must stay readable"
    );

    let guarded = Stage::with(backend.base_url(), tokens()).await;
    let refused = guarded.ask(ask()).await;
    assert_eq!(refused.failure(CHAT), (401, "UNAUTHORIZED".to_owned()));
    assert_eq!(guarded.ask(ask().token("root")).await.status, 200);
    let headers = last(&backend).headers;
    assert!(
        headers.iter().all(|(name, _)| name != "authorization"),
        "{headers:?}"
    );
    let foreign = ask().token("a").header("x-quipu-app", "b");
    assert_eq!(guarded.ask(foreign).await.failure(CHAT).0, 403);
}

#[tokio::test]
async fn a_turn_without_memory_stores_nothing() {
    let backend = Backend::start(echo()).await;
    let stage = Stage::new(backend.base_url()).await;
    for (name, value) in [
        ("x-quipu-incognito", "1"),
        ("x-quipu-memory", "off"),
        ("x-quipu-memory", "read-only"),
    ] {
        let got = stage.ask(chat("a secret", true).header(name, value)).await;
        assert_eq!(got.status, 200);
        let is_kept = got.headers.contains_key("x-quipu-conversation");
        assert_eq!(is_kept, name == "x-quipu-memory", "{name}: {value}");
        assert_eq!(stage.stored(), [], "{name}: {value}");
    }
    let before = backend.requests().len();
    for path in [CHAT, MESSAGES] {
        for (name, value) in [
            ("x-quipu-memory", "maybe"),
            ("x-quipu-app", "a/b"),
            ("x-quipu-conversation", ""),
        ] {
            let got = stage
                .ask(post(path, &says("hi", false)).header(name, value))
                .await;
            assert_eq!(got.failure(path), (422, "INVALID_INPUT".to_owned()), "{name}");
            assert!(got.text().contains(name), "{}", got.text());
        }
    }
    assert_eq!(backend.requests().len(), before, "nothing was sent");
    stage
        .ask(chat("hello", true).header("x-quipu-incognito", "0"))
        .await;
    assert_eq!(
        stage.stored(),
        [
            (Role::User, "<hello>".to_owned()),
            (Role::Assistant, "hello".to_owned())
        ]
    );
}

#[tokio::test]
async fn invalid_bodies_are_refused_in_the_clients_dialect() {
    let backend = Backend::start(echo()).await;
    let settings = GatewaySettings {
        body_bytes_max: 4 << 10,
        ..GatewaySettings::default()
    };
    let stage = Stage::with(backend.base_url(), settings).await;
    let before = backend.requests().len();
    for path in [CHAT, MESSAGES] {
        for body in ["", "{", "[1]", "\"hi\"", "{\"messages\": 7}", "\u{ff}"] {
            let got = stage.ask(post(path, &Value::Null).bytes(body)).await;
            assert_eq!(
                got.failure(path),
                (400, "invalid_request_error".to_owned()),
                "{body}"
            );
        }
        let got = stage.ask(post(path, &Value::Null).bytes([0xff, 0xfe])).await;
        assert_eq!(got.failure(path).0, 400);
        let got = stage.ask(post(path, &says(&"x".repeat(4 << 10), false))).await;
        assert_eq!(got.failure(path), (413, "PAYLOAD_TOO_LARGE".to_owned()));
    }
    assert_eq!(backend.requests().len(), before, "nothing was sent");
    assert_eq!(stage.stored(), []);
}

#[tokio::test]
async fn without_a_model_server_the_answer_names_the_command() {
    let house = House::new().await;
    for (path, kind) in [(CHAT, "error"), (MESSAGES, "type"), ("/v1/embeddings", "error")] {
        let reply = house.post(path, &says("hi", false)).await;
        assert_eq!(reply.status, 422);
        assert!(
            reply.text.contains("quipu serve --upstream URL"),
            "{}",
            reply.text
        );
        assert_eq!(
            reply
                .json()
                .as_object()
                .expect("an object")
                .keys()
                .next()
                .expect("one"),
            kind
        );
    }
}

#[tokio::test]
async fn two_hundred_streams_do_not_mix() {
    const STREAMS: usize = 200;
    let backend = Backend::start(Config { hold: true, ..echo() }).await;
    let stage = Stage::new(backend.base_url()).await;
    let before = backend.requests().len();
    let words = |nth: usize| {
        let words: Vec<String> = (0..20).map(|word| format!("{nth}.{word} ")).collect();
        words.concat()
    };
    let mut asking = JoinSet::new();
    for nth in 0..STREAMS {
        let (address, ask) = (stage.address, chat(&words(nth), true));
        asking.spawn(async move { (nth, open(address, ask).await.complete().await) });
    }
    // All streams are open at once: the server releases them after the last request has arrived.
    backend.arrived(before + STREAMS).await;
    backend.release();
    let mut done = 0;
    while let Some(got) = asking.join_next().await {
        let (nth, got) = got.expect("no panic");
        assert!(got.status == 200 && !got.broke_off);
        assert_eq!(content(&got.text()), words(nth));
        done += 1;
    }
    assert_eq!(done, STREAMS);
    stage.proxy.rest().await;
    let mut told: Vec<String> = stage.stored().into_iter().map(|(_, text)| text).collect();
    let mut expected: Vec<String> = (0..STREAMS)
        .flat_map(|nth| [words(nth), format!("<{}>", words(nth))])
        .collect();
    told.sort_unstable();
    expected.sort_unstable();
    assert_eq!(told, expected, "each once");
}

/// The text of a stream, in order.
fn content(text: &str) -> String {
    let events = text.lines().filter_map(|line| line.strip_prefix("data: "));
    let events = events.filter_map(|data| serde_json::from_str::<Value>(data).ok());
    events
        .filter_map(|event| Some(event["choices"][0]["delta"]["content"].as_str()?.to_owned()))
        .collect()
}

/// A server that begins an answer, and reports when its client is gone.
async fn endless(listener: TcpListener, gone: oneshot::Sender<()>) {
    const BEGINNING: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n3c\r\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"half\"}}]}\n\n\r\n";
    loop {
        let (mut stream, _) = listener.accept().await.expect("accepted");
        let mut head = [0; 8_192];
        let read = stream.read(&mut head).await.expect("a request");
        if head[..read].starts_with(b"GET") {
            let nothing = b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
            stream.write_all(nothing).await.expect("written");
            continue;
        }
        stream.write_all(BEGINNING).await.expect("written");
        while stream.read(&mut head).await.is_ok_and(|read| read > 0) {}
        return gone.send(()).expect("the test waits");
    }
}

#[tokio::test]
async fn a_disconnecting_client_ends_the_servers_work_and_memory_keeps_the_turn() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("bound");
    let base_url = format!("http://{}/v1", listener.local_addr().expect("an address"));
    let (gone, is_gone) = oneshot::channel();
    let mut server = JoinSet::new();
    server.spawn(endless(listener, gone));
    let stage = Stage::new(&base_url).await;
    let mut arriving = stage.open(chat("a long story", true)).await;
    arriving.next().await;
    drop(arriving);
    is_gone.await.expect("the server's connection is closed");
    stage.proxy.rest().await;
    let half = (Role::Assistant, "half".to_owned());
    assert_eq!(stage.stored(), [(Role::User, "<a long story>".to_owned()), half]);
}

#[tokio::test]
async fn an_incomplete_body_is_not_forwarded() {
    let backend = Backend::start(echo()).await;
    let stage = Stage::new(backend.base_url()).await;
    let before = backend.requests().len();
    let mut stream = TcpStream::connect(stage.address).await.expect("connected");
    let half = format!("POST {CHAT} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 99\r\n\r\n{{");
    stream.write_all(half.as_bytes()).await.expect("written");
    let time_passes = async {
        loop {
            stage.house.clock.advance(Duration::from_secs(1));
            tokio::task::yield_now().await;
        }
    };
    let mut answer = [0; 4_096];
    let read = tokio::select! {
        read = stream.read(&mut answer) => read.expect("an answer"),
        () = time_passes => unreachable!("it is waited for for ever"),
    };
    let answer = String::from_utf8_lossy(&answer[..read]);
    assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
    assert!(answer.contains("\"param\":null"), "{answer}");
    assert_eq!(backend.requests().len(), before, "nothing was sent");
}

#[tokio::test]
async fn a_proxied_conversation_is_readable_through_the_context_routes() {
    let backend = Backend::start(echo()).await;
    let stage = Stage::new(backend.base_url()).await;
    let asked = chat("Where is the bridge?", false).header("x-quipu-conversation", "line");
    assert_eq!(stage.ask(asked).await.status, 200);
    let view = "/api/v2/context/view?user_id=ada&conversation_id=line";
    let view = stage.house.get(view).await.data();
    let shown = view["messages"].as_array().expect("messages").iter();
    let shown: Vec<Value> = shown.map(|shown| json!([shown["id"], shown["role"]])).collect();
    assert_eq!(shown, [json!(["m0", "user"]), json!(["m1", "assistant"])]);
    let text = view["messages"][0]["text"].as_str().expect("text");
    assert!(text.contains("Where is the bridge?"), "{text}");
}
