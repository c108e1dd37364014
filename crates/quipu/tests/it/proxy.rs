//! `quipu serve --upstream` for a client: the binary, real stores, a real server without a model.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::{Value, json};
use testkit::backend::{Backend, Config};

use crate::harness::Root;

/// Asks one question as an HTTP/1.0 client; returns head and text of the answer.
pub(crate) fn ask(address: &str, headers: &str, messages: &Value) -> (String, Value) {
    let body = json!({"model": "tiny", "messages": messages}).to_string();
    let mut stream = TcpStream::connect(address).unwrap();
    write!(
        stream,
        "POST /v1/chat/completions HTTP/1.0\r\nhost: localhost\r\ncontent-type: application/json\r\n{headers}content-length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.contains(" 200 "), "{answer}");
    (head.to_lowercase(), serde_json::from_str(body).unwrap())
}

fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

#[test]
fn a_client_that_changes_its_base_url_is_remembered() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let backend = runtime.block_on(Backend::start(Config::default()));
    let root = Root::new();
    let upstream = ["--upstream", backend.base_url()];
    let server = root.serve_with(&upstream);
    let ann = "x-quipu-user: ann\r\n";
    let first = json!([user("My parrot is called Kiko and it sleeps in the kitchen.")]);
    let (_, said) = ask(server.address(), ann, &first);
    let reply = &said["choices"][0]["message"];
    assert_eq!(reply["content"], "ok 1");
    let question = user("What is my parrot called, and where does it sleep?");
    let (head, _) = ask(server.address(), ann, &json!([question]));
    assert!(head.contains("x-quipu-injected: f0"), "{head}");
    let sent = |at: usize| {
        let body = backend.requests()[at].body.clone();
        serde_json::from_slice::<Value>(&body).unwrap()["messages"].clone()
    };
    let posts: Vec<usize> = (0..backend.requests().len())
        .filter(|at| backend.requests()[*at].method == "POST")
        .collect();
    assert!(sent(posts[1])[0].to_string().contains("Kiko"));
    let stranger = ask(server.address(), "x-quipu-user: bob\r\n", &json!([question])).0;
    assert!(!sent(posts[0] + 2)[0].to_string().contains("Kiko"), "{stranger}");
    assert_eq!(server.stop(), 0);
    let server = root.serve_with(&upstream);
    let (head, _) = ask(server.address(), ann, &json!([first[0], reply, user("And now?")]));
    assert!(head.contains("x-quipu-conversation: px-"), "{head}");
    let before = sent(posts[0]);
    let last = sent(
        backend
            .requests()
            .iter()
            .rposition(|seen| seen.method == "POST")
            .unwrap(),
    );
    assert_eq!(last[0], before[0], "a restart keeps what was sent");
    let (status, cache) = server.get("/api/v1/cache");
    assert_eq!(status, 200);
    assert_eq!(cache["data"]["upstreams"][0]["requests"], 1);
    assert!(backend.requests().iter().all(|seen| seen.violations.is_empty()));
}
