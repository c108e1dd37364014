//! A client of plain TCP, and the smallest requests.

use std::io;

use serde_json::{Value, json};
use testkit::backend::Backend;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

pub(crate) const CHAT: &str = "/v1/chat/completions";

pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
    /// Whether the whole body arrived.
    pub(crate) complete: bool,
    pub(crate) ended: io::Result<usize>,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    /// The data of a stream's events, without `[DONE]`.
    pub(crate) fn events(&self) -> Vec<Value> {
        let lines = self.body.lines().filter_map(|line| line.strip_prefix("data: "));
        let json = lines.filter(|data| *data != "[DONE]");
        json.map(|data| serde_json::from_str(data).unwrap()).collect()
    }
}

pub(crate) async fn send(backend: &Backend, path: &str, body: Option<&str>) -> TcpStream {
    let address = backend
        .base_url()
        .trim_start_matches("http://")
        .trim_end_matches("/v1");
    let mut stream = TcpStream::connect(address).await.unwrap();
    let method = if body.is_some() { "POST" } else { "GET" };
    let body = body.unwrap_or_default();
    let length = body.len();
    let head = format!("{method} {path} HTTP/1.1\r\nhost: fake\r\nconnection: close\r\nx-test: 1\r\n");
    let request = format!("{head}content-length: {length}\r\n\r\n{body}");
    stream.write_all(request.as_bytes()).await.unwrap();
    stream
}

pub(crate) async fn rest(stream: &mut TcpStream, mut bytes: Vec<u8>) -> Answer {
    let ended = stream.read_to_end(&mut bytes).await;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or_default();
    let chunked = head.contains("transfer-encoding: chunked");
    Answer {
        status: head.get(9..12).map_or(0, |code| code.parse().unwrap()),
        head: head.to_owned(),
        body: if chunked { joined(body) } else { body.to_owned() },
        complete: !chunked || body.ends_with("0\r\n\r\n"),
        ended,
    }
}

/// The chunks as one text; the fake's bodies contain no CRLF.
pub(crate) fn joined(body: &str) -> String {
    body.split("\r\n").skip(1).step_by(2).collect()
}

pub(crate) async fn ask(backend: &Backend, path: &str, body: &Value) -> Answer {
    rest(
        &mut send(backend, path, Some(&body.to_string())).await,
        Vec::new(),
    )
    .await
}

pub(crate) async fn get(backend: &Backend, path: &str) -> Answer {
    rest(&mut send(backend, path, None).await, Vec::new()).await
}

/// Checks that a connection stays silent while the server answers another.
pub(crate) async fn assert_silent(backend: &Backend, stream: &mut TcpStream) {
    let mut byte = [0];
    tokio::select! {
        biased;
        read = stream.read(&mut byte) => panic!("{read:?} came"),
        _ = get(backend, "/v1/models") => {}
    }
}

/// Reads to the end of the first event.
pub(crate) async fn first_event(stream: &mut TcpStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    while !bytes.windows(4).any(|tail| tail == b"\n\n\r\n") {
        bytes.push(stream.read_u8().await.unwrap());
    }
    bytes
}

pub(crate) fn says(role: &str, content: &str) -> Value {
    json!({"role": role, "content": content})
}

pub(crate) fn chat(messages: &[Value]) -> Value {
    json!({"model": "m", "messages": messages})
}

pub(crate) fn hello(stream: bool) -> Value {
    json!({"model": "m", "messages": [says("user", "hello")], "stream": stream})
}
