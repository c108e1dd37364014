//! A server without a model, on a real socket: it sends scripted answers and records the requests.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use gateway::Client;
use model::Zone;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use crate::api::Api;
use crate::clock::SystemClock;

/// Bytes of a chunk: few enough to cut lines and characters.
const CHUNK_BYTES: usize = 7;

/// The bytes of the server's answer to one request.
#[derive(Debug)]
pub(crate) struct Scripted(Vec<u8>);

/// One received request.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    /// Method and path.
    pub(crate) what: String,
    head: String,
    pub(crate) body: Value,
}

impl Asked {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines
            .find(|(key, _)| key.eq_ignore_ascii_case(name))
            .map(|(_, value)| value)
    }

    /// Roles and texts, as in `user: hello`.
    pub(crate) fn said(&self) -> Vec<String> {
        let messages = self.body["messages"].as_array().expect("messages");
        let text = |message: &Value| {
            let part = |key: &str| message[key].as_str().expect("text").to_owned();
            format!("{}: {}", part("role"), part("content"))
        };
        messages.iter().map(text).collect()
    }
}

/// A complete answer: its pieces, its usage, its headers.
pub(crate) fn answer(pieces: &[&str], usage: &Value, headers: &str) -> Scripted {
    let mut events = said(pieces);
    events += &event(&json!({"choices": [{"delta": {}, "finish_reason": "stop"}]}));
    events += &event(&json!({"choices": [], "usage": usage}));
    events += "data: [DONE]\r\n\r\n";
    let mut bytes = streamed(&events, headers);
    bytes.extend_from_slice(b"0\r\n\r\n");
    Scripted(bytes)
}

/// The given events, then the regular end of the stream.
pub(crate) fn events(events: &[Value]) -> Scripted {
    let mut bytes = streamed(&events.iter().map(event).collect::<String>(), "");
    bytes.extend_from_slice(b"0\r\n\r\n");
    Scripted(bytes)
}

/// An answer during which the server disconnects.
pub(crate) fn torn(pieces: &[&str]) -> Scripted {
    Scripted(streamed(&said(pieces), ""))
}

/// A JSON body.
pub(crate) fn body(status: u16, body: &Value) -> Scripted {
    let body = body.to_string();
    let bytes = format!(
        "HTTP/1.1 {status} Some\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    Scripted(bytes.into_bytes())
}

fn said(pieces: &[&str]) -> String {
    let piece = |text: &&str| event(&json!({"choices": [{"delta": {"content": text}}]}));
    pieces.iter().map(piece).collect()
}

fn event(value: &Value) -> String {
    format!(": a comment\r\ndata: {value}\r\n\r\n")
}

fn streamed(events: &str, headers: &str) -> Vec<u8> {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n";
    let mut bytes = format!("{head}{headers}\r\n").into_bytes();
    for chunk in events.as_bytes().chunks(CHUNK_BYTES) {
        bytes.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
        bytes.extend_from_slice(chunk);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes
}

/// The server; it stops when the test ends.
#[derive(Debug)]
pub(crate) struct Fake {
    pub(crate) address: SocketAddr,
    asked: Arc<Mutex<Vec<Asked>>>,
    tasks: JoinSet<io::Result<()>>,
}

impl Fake {
    /// Answers requests in the order of the script.
    pub(crate) async fn start(script: Vec<Scripted>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("bound");
        let address = listener.local_addr().expect("an address");
        let asked = Arc::new(Mutex::new(Vec::new()));
        let mut tasks = JoinSet::new();
        let keep = asked.clone();
        tasks.spawn(async move {
            for scripted in script {
                let (mut stream, _) = listener.accept().await?;
                let request = read(&mut stream).await?;
                keep.lock().expect("no panic").push(request);
                stream.write_all(&scripted.0).await?;
            }
            Ok(())
        });
        Self {
            address,
            asked,
            tasks,
        }
    }

    /// A client of this server.
    pub(crate) fn api(&self) -> Api {
        let client = Client::there(self.address, None);
        Api::of(client, Arc::new(SystemClock::new()), Zone::utc())
    }

    /// Waits for the end of the script; from then on the server does not listen.
    pub(crate) async fn ended(&mut self) {
        self.tasks.join_next().await;
    }

    /// Every request so far.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().expect("no panic").clone()
    }
}

async fn read(stream: &mut TcpStream) -> io::Result<Asked> {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let (line, head) = head.split_once("\r\n").expect("a head");
            let mut asked = Asked {
                what: line.trim_end_matches(" HTTP/1.1").to_owned(),
                head: head.to_owned(),
                body: Value::Null,
            };
            let length = asked
                .header("content-length")
                .map_or(0, |text| text.parse().expect("a length"));
            if body.len() >= length {
                asked.body = serde_json::from_str(body).unwrap_or_default();
                return Ok(asked);
            }
        }
        if stream.read_buf(&mut bytes).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
}
