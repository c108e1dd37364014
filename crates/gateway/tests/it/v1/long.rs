//! Answers longer than any that is parsed: every byte is forwarded, and few bytes are kept in memory.

use std::fmt::Write as _;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use super::stage::{Stage, chat};

const PIECES: usize = 640;
const PIECE: usize = 64 << 10;
/// The pieces are 40 MiB. The kept part exists in several places at once: in the reply, the conversation, memory.
const HELD_KIB_MAX: u64 = 192 << 10;

/// A server that answers every chat with a beginning, the pieces, and an end.
async fn lengthy(listener: TcpListener, kind: &'static str, parts: [String; 3]) {
    loop {
        let (mut stream, _) = listener.accept().await.expect("accepted");
        let mut head = [0; 8_192];
        let read = stream.read(&mut head).await.expect("a request");
        if head[..read].starts_with(b"GET") {
            let nothing = b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
            stream.write_all(nothing).await.expect("written");
            continue;
        }
        let head = format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\nconnection: close\r\n\r\n");
        stream.write_all(head.as_bytes()).await.expect("written");
        stream.write_all(parts[0].as_bytes()).await.expect("written");
        for _ in 0..PIECES {
            stream.write_all(parts[1].as_bytes()).await.expect("written");
        }
        stream.write_all(parts[2].as_bytes()).await.expect("written");
        stream.shutdown().await.expect("ended");
    }
}

/// A value of this process's status, in KiB.
fn kib(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix(name))
        .expect("a line");
    line.trim_matches(|c: char| !c.is_ascii_digit())
        .parse()
        .expect("a number")
}

/// The additional memory during an answer, in KiB.
async fn held(kind: &'static str, parts: [String; 3]) -> u64 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("bound");
    let base_url = format!("http://{}/v1", listener.local_addr().expect("an address"));
    let whole = parts[0].len() + PIECES * parts[1].len() + parts[2].len();
    let mut server = JoinSet::new();
    server.spawn(lengthy(listener, kind, parts));
    let stage = Stage::new(&base_url).await;
    std::fs::write("/proc/self/clear_refs", "5").expect("the peak begins anew");
    let before = kib("VmHWM:");
    let arriving = stage.open(chat("a long story", kind == STREAM)).await;
    assert_eq!(arriving.length().await, whole, "every byte passes");
    stage.proxy.rest().await;
    kib("VmHWM:").saturating_sub(before)
}

const STREAM: &str = "text/event-stream";

#[tokio::test]
async fn a_very_long_answer_is_forwarded_without_keeping_it() {
    let told = r#"{"choices":[{"index":0,"delta":{"content":""#;
    let whole = r#"{"choices":[{"index":0,"message":{"role":"assistant","content":""#;
    let long = "a".repeat(PIECE);
    let lines = "data: [1,1,1,1,1,1,1,1]\n".repeat(PIECE / 24);
    let mut small = String::new();
    while small.len() < PIECE {
        write!(small, "data: {told}{}\"}}}}]}}\n\n", "b".repeat(900)).expect("a text takes any");
    }
    let mut measured = Value::Null;
    for (name, kind, parts) in [
        (
            "an event of one line",
            STREAM,
            [format!("data: {told}"), long.clone(), "\"}}]}\n\n".to_owned()],
        ),
        (
            "an event of many lines",
            STREAM,
            [String::new(), lines, "\n".to_owned()],
        ),
        (
            "many events",
            STREAM,
            [String::new(), small, "data: [DONE]\n\n".to_owned()],
        ),
        (
            "a body in a stream",
            STREAM,
            [whole.to_owned(), long.clone(), "\"}}]}".to_owned()],
        ),
        (
            "a body",
            "application/json",
            [whole.to_owned(), long, "\"}}]}".to_owned()],
        ),
    ] {
        measured[name] = held(kind, parts).await.into();
    }
    for (name, held) in measured.as_object().expect("an object") {
        let held = held.as_u64().expect("a number");
        assert!(held < HELD_KIB_MAX, "{name}: {measured}");
    }
}
