//! `[context.engines]` for a client: the binary, the example in Python, a real server without a model.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::{Value, json};
use testkit::backend::{Backend, Config};

use crate::harness::Root;

/// The example keeps at most this many messages.
const KEPT: usize = 40;

fn ask(address: &str, messages: &[Value]) -> Value {
    let body = json!({"model": "tiny", "messages": messages}).to_string();
    let mut stream = TcpStream::connect(address).unwrap();
    write!(
        stream,
        "POST /v1/chat/completions HTTP/1.0\r\nhost: localhost\r\ncontent-type: application/json\r\nx-quipu-user: ann\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.contains(" 200 "), "{answer}");
    let mut names = head
        .lines()
        .filter_map(|line| line.split_once(':'))
        .map(|(name, _)| name);
    assert!(
        !names.any(|name| name.eq_ignore_ascii_case("x-quipu-context-warning")),
        "the engine works: {head}"
    );
    serde_json::from_str(body).unwrap()
}

#[test]
fn the_example_in_python_chooses_what_a_model_sees() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let backend = runtime.block_on(Backend::start(Config::default()));
    let root = Root::new();
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/engines/keep_last.py");
    // The binary has no `PATH` here.
    let python = ["/usr/bin/python3", "/usr/local/bin/python3"]
        .into_iter()
        .find(|path| std::path::Path::new(path).exists())
        .unwrap();
    let engine = format!(
        "[context]\nengine = \"keep-last\"\n\n[[context.engines]]\nname = \"keep-last\"\ncommand = [{python:?}, {example:?}]\n"
    );
    root.write("quipu.toml", &engine);
    let server = root.serve_with(&["--upstream", backend.base_url()]);
    let mut messages = vec![json!({"role": "system", "content": "Be brief."})];
    for turn in 0..KEPT {
        messages.push(json!({"role": "user", "content": format!("Question {turn}?")}));
        let said = ask(server.address(), &messages);
        messages.push(said["choices"][0]["message"].clone());
    }
    let posts = backend.requests().into_iter();
    let last = posts.filter(|seen| seen.method == "POST").last().unwrap();
    let sent: Value = serde_json::from_slice(&last.body).unwrap();
    let sent = sent["messages"].as_array().unwrap();
    let (system, others) = sent.split_first().unwrap();
    assert_eq!(*system, messages[0], "the system message stays");
    assert!(others.len() <= KEPT, "{}", others.len());
    assert!(others.len() > KEPT / 2, "{}", others.len());
    let newest = sent.last().unwrap()["content"].to_string();
    assert!(newest.contains(&format!("Question {}?", KEPT - 1)), "{newest}");
    assert_eq!(server.stop(), 0);
}
