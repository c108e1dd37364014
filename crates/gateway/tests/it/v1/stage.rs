//! A gateway with a fake model server, all on real sockets, and a client of it.
//!
//! Owns: the addresses, and the client's requests and answers. Never: expectations.

use context::policy::Policy;
use proxy::conversation::Contexts;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use axum::body::{Body, Bytes};
use axum::http::HeaderMap;
use futures::StreamExt;
use futures::stream::BoxStream;
use gateway::GatewaySettings;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use model::{Name, Role, Timestamp, Zone};
use ports::{Clock, Upstream};
use providers::HttpUpstream;
use proxy::gate::Gates;
use proxy::{DirectParts, Proxy, ProxyParts, Route};
use serde_json::{Value, json};
use testkit::backend::{Backend, CacheKind, Config, Reply, Seen};
use testkit::clock::{CountingIds, ManualClock};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use crate::house::{Ask, House, post};

pub(crate) const CHAT: &str = "/v1/chat/completions";
pub(crate) const MESSAGES: &str = "/v1/messages";
pub(crate) const RESPONSES: &str = "/v1/responses";
/// Time limits of the adapter: a probe's request, a connection, a gap in a body, the head.
const LIMITS: [Duration; 4] = [
    Duration::from_secs(2),
    Duration::from_secs(10),
    Duration::from_mins(5),
    Duration::from_mins(10),
];

/// A clock whose waits end at once and are recorded; the adapter's limits use the house's clock.
#[derive(Debug)]
pub(crate) struct Hasty {
    clock: Arc<ManualClock>,
    waits: Mutex<Vec<Duration>>,
}

#[async_trait]
impl Clock for Hasty {
    fn now(&self) -> Timestamp {
        self.clock.now()
    }

    fn elapsed(&self) -> Duration {
        self.clock.elapsed()
    }

    async fn sleep(&self, duration: Duration) {
        if LIMITS.contains(&duration) {
            return self.clock.sleep(duration).await;
        }
        self.waits.lock().expect("nothing panics here").push(duration);
    }
}

pub(crate) struct Stage {
    pub(crate) house: House,
    pub(crate) proxy: Proxy,
    pub(crate) address: SocketAddr,
    hasty: Arc<Hasty>,
    _serving: JoinSet<()>,
}

/// An answer with a body that is still arriving.
pub(crate) struct Arriving {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    body: BoxStream<'static, Result<Bytes, axum::Error>>,
    _connection: JoinSet<()>,
}

/// A complete answer.
#[derive(Debug)]
pub(crate) struct Got {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) bytes: Vec<u8>,
    pub(crate) broke_off: bool,
}

impl Stage {
    /// A stage in front of a server, after the probe of its kind.
    pub(crate) async fn new(base_url: &str) -> Self {
        Self::with(base_url, GatewaySettings::default()).await
    }

    pub(crate) async fn with(base_url: &str, settings: GatewaySettings) -> Self {
        Self::open_for(base_url, settings, &[]).await
    }

    /// A stage with paths that every token can use.
    pub(crate) async fn open_for(base_url: &str, settings: GatewaySettings, passthrough: &[&str]) -> Self {
        let passthrough = passthrough.iter().map(ToString::to_string).collect();
        let house = House::with(settings, Zone::utc()).await;
        let hasty = Arc::new(Hasty {
            clock: house.clock.clone(),
            waits: Mutex::default(),
        });
        let upstream = HttpUpstream::new("fake", base_url, None, None, hasty.clone());
        let upstream = Arc::new(upstream.expect("a good address"));
        upstream.probe().await;
        let parts = DirectParts {
            engine: house.engine.clone(),
            contexts: contexts(&house),
            instructions: None,
            owner: Some(Name::parse("ada").expect("a name")),
            idle_after: Duration::from_mins(5),
            clock: house.clock.clone(),
            ids: Arc::new(CountingIds::new()),
        };
        let servers = ProxyParts {
            routes: vec![Route {
                upstream,
                kind: None,
                models: Vec::new(),
                model: None,
                window_tokens: None,
                session_header: None,
                cache_retention: None,
                session_id: true,
            }],
            passthrough,
            gates: Arc::new(Gates::new(house.clock.clone())),
        };
        let proxy = Proxy::start(Arc::new(parts), servers);
        let gateway = house.gateway.clone().with_proxy(proxy.clone());
        let listener = gateway.bind(([127, 0, 0, 1], 0).into()).await.expect("bound");
        let address = listener.local_addr().expect("an address");
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            let served = gateway.serve(listener, std::future::pending()).await;
            served.expect("it serves");
        });
        Self {
            house,
            proxy,
            address,
            hasty,
            _serving: serving,
        }
    }

    pub(crate) async fn open(&self, ask: Ask) -> Arriving {
        open(self.address, ask).await
    }

    /// The complete answer, after all work that follows it.
    pub(crate) async fn ask(&self, ask: Ask) -> Got {
        let got = self.open(ask).await.complete().await;
        self.proxy.rest().await;
        got
    }

    /// Roles and texts of the messages in memory, in order.
    pub(crate) fn stored(&self) -> Vec<(Role, String)> {
        let everything = self.house.ledger.everything();
        everything
            .iter()
            .map(|(message, _)| (message.role, message.text()))
            .collect()
    }

    /// The waits of the adapter before each retry.
    pub(crate) fn waits(&self) -> Vec<Duration> {
        self.hasty.waits.lock().expect("nothing panics here").clone()
    }
}

/// Sends a request to an address over a connection of its own.
pub(crate) async fn open(address: SocketAddr, ask: Ask) -> Arriving {
    let stream = TcpStream::connect(address).await.expect("connected");
    let (mut sender, connection) = http1::handshake::<_, Body>(TokioIo::new(stream))
        .await
        .expect("a connection");
    let mut connections = JoinSet::new();
    // The body reports how the connection ends.
    connections.spawn(async move { drop(connection.await) });
    let response = sender.send_request(ask.request()).await.expect("a head");
    let (head, body) = response.into_parts();
    Arriving {
        status: head.status.as_u16(),
        headers: head.headers,
        body: Body::new(body).into_data_stream().boxed(),
        _connection: connections,
    }
}

impl Arriving {
    /// The next piece of the body.
    pub(crate) async fn next(&mut self) -> Bytes {
        self.body.next().await.expect("more comes").expect("no fault")
    }

    /// Counts the bytes of the body without keeping them.
    pub(crate) async fn length(mut self) -> usize {
        let mut length = 0;
        while let Some(piece) = self.body.next().await {
            length += piece.expect("no fault").len();
        }
        length
    }

    pub(crate) async fn complete(mut self) -> Got {
        let mut bytes = Vec::new();
        let mut broke_off = false;
        while let Some(piece) = self.body.next().await {
            match piece {
                Ok(piece) => bytes.extend_from_slice(&piece),
                Err(_) => broke_off = true,
            }
        }
        Got {
            status: self.status,
            headers: self.headers,
            bytes,
            broke_off,
        }
    }
}

impl Got {
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    /// The status and code of a failure, in the form of the route's dialect.
    pub(crate) fn failure(&self, path: &str) -> (u16, String) {
        let body = self.json();
        let error = &body["error"];
        assert_eq!(self.headers["content-type"], "application/json", "{body}");
        assert!(
            error["message"].is_string() && error["type"].is_string(),
            "{body}"
        );
        if path.starts_with(MESSAGES) {
            assert_eq!(body["type"], "error", "{body}");
        } else {
            let keys: Vec<&String> = error.as_object().expect("an object").keys().collect();
            assert_eq!(keys, ["message", "type", "param", "code"], "{body}");
        }
        (self.status, error["code"].as_str().unwrap_or_default().to_owned())
    }
}

/// A server that repeats the text between `<` and `>` in the last message, and caches nothing.
pub(crate) fn echo() -> Config {
    let reply = |request: &Value, _: usize| {
        let messages = request["messages"].as_array();
        let last = messages.and_then(|all| all.last()).map(Value::to_string);
        let said = last.as_deref().and_then(|last| last.split(['<', '>']).nth(1));
        Reply::text(said.unwrap_or("nothing was asked"))
    };
    Config {
        cache: CacheKind::None,
        reply: Arc::new(reply),
        ..Config::default()
    }
}

/// A request that [`echo`] answers with this text.
pub(crate) fn says(text: &str, stream: bool) -> Value {
    json!({
        "model": "tiny",
        "max_tokens": 64,
        "messages": [{"role": "user", "content": format!("<{text}>")}],
        "stream": stream,
    })
}

pub(crate) fn chat(text: &str, stream: bool) -> Ask {
    post(CHAT, &says(text, stream))
}

/// The last request to the server.
pub(crate) fn last(backend: &Backend) -> Seen {
    backend.requests().pop().expect("a request")
}

/// The socket address of the server.
pub(crate) fn address(backend: &Backend) -> SocketAddr {
    let address = backend.base_url().trim_start_matches("http://");
    address.trim_end_matches("/v1").parse().expect("an address")
}

/// The base URL of a server that does not exist.
pub(crate) async fn nobody() -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("bound");
    let address = listener.local_addr().expect("an address");
    format!("http://{address}/v1")
}

fn contexts(house: &House) -> Contexts {
    Contexts::new(proxy::conversation::contexts::ContextsParts::plain(
        house.ledger.clone(),
        Policy::quipu(),
        house.clock.clone(),
    ))
}
