//! A model server's bytes pass through unchanged, failures end in time, and keys go only to their own server.

mod failing;
mod probing;

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use ports::{Clock, Upstream, UpstreamAnswer, UpstreamError, UpstreamRequest};
use prefix::backend::Kind;
use providers::{ApiKey, HttpUpstream};
use serde_json::json;
use testkit::clock::ManualClock;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::server::{Reply, Request, Server};
use crate::timer::Timer;

const CONNECT: Duration = Duration::from_secs(10);
const HEAD: Duration = Duration::from_mins(10);
const GAP: Duration = Duration::from_mins(5);
const QUESTION: Duration = Duration::from_secs(2);
const LIMITS: [Duration; 4] = [CONNECT, HEAD, GAP, QUESTION];
const KEY: &str = "quite-secret-key";

fn upstream(url: &str, clock: Arc<dyn Clock>) -> HttpUpstream {
    HttpUpstream::new("tiny", url, Some(ApiKey::new(KEY)), None, clock).expect("a good address")
}

fn with_headers(headers: &[(&str, &str)]) -> UpstreamRequest {
    let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    UpstreamRequest {
        method: "POST".to_owned(),
        body: Some(r#"{"model": "tiny"}"#.into()),
        path: "chat/completions".to_owned(),
        headers: headers.iter().map(owned).collect(),
    }
}

fn request() -> UpstreamRequest {
    with_headers(&[])
}

/// A server whose answer the test writes, at the time it chooses.
struct Listener(TcpListener);

/// One connection to it, with its request.
struct Peer {
    stream: TcpStream,
    head: String,
    body: String,
}

impl Listener {
    async fn new() -> Self {
        Self(TcpListener::bind("127.0.0.1:0").await.expect("a free port"))
    }

    fn url(&self, scheme: &str) -> String {
        format!("{scheme}://{}/v1", self.0.local_addr().expect("it is bound"))
    }

    async fn accept(&self) -> Peer {
        let (mut stream, _) = self.0.accept().await.expect("a client");
        let mut bytes = Vec::new();
        loop {
            let text = String::from_utf8(bytes.clone()).expect("text");
            if let Some((head, body)) = text.split_once("\r\n\r\n") {
                let length = head
                    .lines()
                    .find_map(|line| line.strip_prefix("content-length: "));
                if body.len() == length.map_or(0, |length| length.parse().expect("a number")) {
                    let (head, body) = (head.to_owned(), body.to_owned());
                    return Peer { stream, head, body };
                }
            }
            assert!(
                stream.read_buf(&mut bytes).await.expect("more") > 0,
                "cut off: {text}"
            );
        }
    }

    /// The answer that begins with these bytes, and the rest of the connection.
    async fn answer(&self, upstream: &HttpUpstream, bytes: &str) -> (UpstreamAnswer, Peer) {
        let (answer, peer) = tokio::join!(upstream.send(request()), async {
            let mut peer = self.accept().await;
            peer.say(bytes).await;
            peer
        });
        (answer.expect("it answers"), peer)
    }
}

impl Peer {
    async fn say(&mut self, bytes: impl AsRef<[u8]>) {
        self.stream
            .write_all(bytes.as_ref())
            .await
            .expect("the client listens");
    }

    /// Waits until the client has closed the connection.
    async fn closed(mut self) {
        let mut rest = Vec::new();
        // A reset is an end too.
        if self.stream.read_to_end(&mut rest).await.is_ok() {
            assert!(rest.is_empty(), "another request came: {rest:?}");
        }
    }
}

async fn body_of(answer: UpstreamAnswer) -> Vec<u8> {
    let chunks = answer.body.map(|chunk| chunk.expect("it does not break off"));
    chunks.collect::<Vec<_>>().await.concat()
}

#[tokio::test]
async fn bytes_pass_through_unchanged_and_at_once() {
    let listener = Listener::new().await;
    let upstream = upstream(&listener.url("http"), Timer::with_limits(&LIMITS));
    let request = UpstreamRequest {
        path: "chat/completions?beta=true".to_owned(),
        ..with_headers(&[
            ("x-trace", "a"),
            ("connection", "x-trace"),
            ("proxy-authorization", "Basic dXNlcg=="),
            ("content-length", "3"),
            ("host", "elsewhere"),
        ])
    };
    let head = "HTTP/1.1 207 Odd\r\ntransfer-encoding: chunked\r\nkeep-alive: timeout=5\r\nConnection: keep-alive\r\n\
                Content-Encoding: gzip\r\nx-two: 1\r\nx-two: 2\r\n\r\n";
    let (answer, mut peer) = tokio::join!(upstream.send(request), async {
        let mut peer = listener.accept().await;
        peer.say(head).await;
        peer
    });
    let mut answer = answer.expect("it answers");
    assert_eq!(answer.status, 207);
    let headers: Vec<(&str, &str)> = answer
        .headers
        .iter()
        .map(|(n, v)| (n.as_str(), v.as_str()))
        .collect();
    assert_eq!(
        headers,
        [("content-encoding", "gzip"), ("x-two", "1"), ("x-two", "2")]
    );
    // Each chunk is received before the next is sent; the second is neither text nor of the type in its head.
    let chunks: [&[u8]; 3] = [
        b"data: {\"a\":1}\r\n\n",
        b"\x1f\x8b\x00\xff\r\n",
        b"data: [DONE]\n\n",
    ];
    for chunk in chunks {
        peer.say(format!("{:x}\r\n", chunk.len())).await;
        peer.say([chunk, b"\r\n"].concat()).await;
        let seen = answer.body.next().await.expect("a chunk").expect("no error");
        assert_eq!(&*seen, chunk);
    }
    peer.say("0\r\n\r\n").await;
    assert_eq!(answer.body.next().await, None);

    let (line, head) = peer.head.split_once("\r\n").expect("headers");
    assert_eq!(line, "POST /v1/chat/completions?beta=true HTTP/1.1");
    assert_eq!(peer.body, r#"{"model": "tiny"}"#);
    let mut sent: Vec<&str> = head
        .split("\r\n")
        .filter(|line| !line.starts_with("host: "))
        .collect();
    sent.sort_unstable();
    let bearer = format!("authorization: Bearer {KEY}");
    let expected = [
        "accept-encoding: identity",
        "accept: */*",
        &bearer,
        "content-length: 17",
        "x-trace: a",
    ];
    assert_eq!(sent, expected);
    assert!(head.contains("host: 127.0.0.1:"), "{head}");
}

#[tokio::test]
async fn a_request_without_body_is_a_get_and_a_redirect_is_an_answer() {
    let server = Server::new(|_| Reply::new(307, "there").header("location", "/v1/elsewhere"));
    let upstream = upstream(&server.url("/v1/?tag=1"), Timer::with_limits(&LIMITS));
    let request = UpstreamRequest {
        method: "GET".to_owned(),
        body: None,
        path: "models".to_owned(),
        headers: Vec::new(),
    };
    let answer = upstream.send(request).await.expect("it answers");
    assert_eq!(
        (answer.status, answer.header("location")),
        (307, Some("/v1/elsewhere"))
    );
    assert_eq!(body_of(answer).await, b"there");
    assert_eq!(server.requests().len(), 1);
    assert_eq!(server.requests()[0].path, "/v1/models?tag=1");
    assert_eq!(server.requests()[0].header("content-length"), None);
}

#[tokio::test]
async fn a_client_that_gives_up_closes_the_connection() {
    let listener = Listener::new().await;
    let upstream = upstream(&listener.url("http"), Timer::with_limits(&LIMITS));
    let head = "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhel";
    let (mut answer, peer) = listener.answer(&upstream, head).await;
    assert_eq!(answer.body.next().await, Some(Ok("hel".into())));
    drop(answer);
    peer.closed().await;

    let peer = tokio::select! {
        answer = upstream.send(request()) => panic!("nothing was said: {answer:?}"),
        peer = listener.accept() => peer,
    };
    peer.closed().await;
}

#[tokio::test]
async fn a_connection_is_reused() {
    let listener = Listener::new().await;
    let upstream = upstream(&listener.url("http"), Timer::with_limits(&LIMITS));
    let hi = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi";
    let (answer, mut peer) = listener.answer(&upstream, hi).await;
    assert_eq!(body_of(answer).await, b"hi");
    let (answer, ()) = tokio::join!(upstream.send(request()), async {
        let mut head = [0; 8];
        peer.stream.read_exact(&mut head).await.expect("the next request");
        assert_eq!(&head, b"POST /v1");
        peer.say(hi).await;
    });
    assert_eq!(body_of(answer.expect("it answers")).await, b"hi");
}

#[tokio::test]
async fn the_configured_key_replaces_the_clients() {
    let server = Server::new(|_| Reply::json(&json!({})));
    let sent = async |key: Option<&str>, kind, headers: &[(&str, &str)]| {
        let key = key.map(ApiKey::new);
        let clock = Timer::with_limits(&LIMITS);
        let upstream =
            HttpUpstream::new("tiny", &server.url("/v1"), key, kind, clock).expect("a good address");
        upstream.send(with_headers(headers)).await.expect("it answers");
        let request = server.requests().pop().expect("a request");
        let owned = |name| request.header(name).map(str::to_owned);
        (owned("authorization"), owned("x-api-key"))
    };
    let (own, bearer) = (Some(KEY.to_owned()), Some(format!("Bearer {KEY}")));
    let theirs = Some("theirs".to_owned());
    let both = [("authorization", "theirs"), ("x-api-key", "theirs")];
    assert_eq!(sent(None, None, &both).await, (theirs.clone(), theirs));
    assert_eq!(sent(Some(KEY), None, &both).await, (bearer, None));
    assert_eq!(sent(Some(KEY), Some(Kind::Anthropic), &both).await, (None, own));
    let sent = async |headers| sent(None, None, headers).await;
    sent(&[("accept-encoding", "br")]).await;
    let request: Request = server.requests().pop().expect("a request");
    assert_eq!(request.header("accept-encoding"), Some("br"));
}

#[tokio::test]
async fn no_text_shows_a_key() {
    let clock = || Timer::with_limits(&LIMITS);
    for bad in [
        "",
        "nonsense",
        "ftp://127.0.0.1",
        "http://user:quite-secret-key@127.0.0.1/v1",
    ] {
        let said = HttpUpstream::new("tiny", bad, None, None, clock()).expect_err("a bad address");
        assert!(said.contains("base_url") && !said.contains(KEY), "{said}");
    }
    let url = crate::server::dead_url("/v1");
    let upstream = upstream(&format!("{url}?key={KEY}"), clock());
    assert_eq!((upstream.name(), upstream.base_url()), ("tiny", url.as_str()));
    let error = upstream.send(request()).await.expect_err("nothing listens");
    let unsendable = upstream
        .send(with_headers(&[("x-bad", "quite-secret-key\n")]))
        .await;
    for text in [
        format!("{upstream:?}"),
        error.to_string(),
        format!("{error:?}"),
        format!("{unsendable:?}"),
    ] {
        assert!(!text.contains(KEY), "{text}");
    }
    assert!(
        matches!(unsendable, Err(UpstreamError::Unreachable { .. })),
        "{unsendable:?}"
    );
}
