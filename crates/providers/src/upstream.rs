//! An upstream model server of the proxy: bytes pass through unchanged.
//!
//! Owns: the headers of a single connection, time limits, the choice of the key, retries if no server was
//! reached. Never: reading a body, or retrying after an answer: clients do that, and their attempts would
//! multiply.

mod breaker;
mod ollama;
mod probe;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::{self, BoxStream, StreamExt};
use ports::{Clock, Probed, Upstream, UpstreamAnswer, UpstreamError, UpstreamRequest};
use prefix::backend::{Kind, decide};
use reqwest::header::{ACCEPT_ENCODING, AUTHORIZATION};
use reqwest::{Client, Method, Request, Response, Url, redirect};
use tower::util::MapFutureLayer;
use tracing::debug;

use self::breaker::Breaker;
use self::probe::ProbeMemory;
use crate::http::{address, build, builder, describe, is_this_machine, retry, safe_url};
use crate::key::{ApiKey, redact};

const CONNECT_LIMIT: Duration = Duration::from_secs(10);
/// Time limit of an answer's head: the user's own machine may read a long prompt for minutes first.
const HEAD_LIMIT: Duration = Duration::from_mins(10);
/// Maximum time between two chunks of a body.
const GAP_LIMIT: Duration = Duration::from_mins(5);
/// Waits before the second attempt and before the third, which is the last.
const WAITS: [Duration; 2] = [Duration::from_millis(250), Duration::from_secs(1)];
const API_KEY: &str = "x-api-key";

/// A model server over HTTP/1.1.
pub struct HttpUpstream {
    name: String,
    safe_url: String,
    base: Url,
    client: Client,
    key: Option<ApiKey>,
    /// As configured.
    kind: Option<Kind>,
    clock: Arc<dyn Clock>,
    breaker: Breaker,
    memory: ProbeMemory,
    /// Windows of an Ollama server, by model.
    windows: ollama::Windows,
}

// Without the base URL's query, since some people put a key there.
model::shown!(HttpUpstream { name, safe_url });

impl HttpUpstream {
    /// The server at a base URL such as `http://127.0.0.1:8080/v1`; an error if the URL is malformed. Sends
    /// no request yet.
    pub fn new(
        name: &str,
        base_url: &str,
        key: Option<ApiKey>,
        kind: Option<Kind>,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, String> {
        let base = address(base_url)?;
        let timer = Arc::clone(&clock);
        let mut builder = builder(&base)
            .http1_only()
            .tcp_nodelay(true)
            // An answer is returned unchanged, and a key goes to no other server.
            .redirect(redirect::Policy::none())
            .connector_layer(MapFutureLayer::new(move |connecting| {
                connected(connecting, Arc::clone(&timer))
            }));
        if base.scheme() == "http" && is_this_machine(&base) {
            // A client of plain HTTP checks no certificate, and reading the system's takes longer than a turn.
            builder = builder.tls_built_in_root_certs(false);
        }
        Ok(Self {
            name: name.to_owned(),
            safe_url: safe_url(&base),
            client: build(builder)?,
            base,
            key,
            kind,
            clock,
            breaker: Breaker::default(),
            memory: ProbeMemory::default(),
            windows: ollama::Windows::default(),
        })
    }

    /// The request with the adapter's own headers. A request that cannot be sent does not count as a failure of the
    /// server.
    fn request(
        &self,
        url: Url,
        method: &str,
        headers: &[(String, String)],
        body: Option<Bytes>,
    ) -> Result<Request, UpstreamError> {
        let method = Method::from_bytes(method.as_bytes()).map_err(|_| UpstreamError::Unreachable {
            reason: "the request has no method".to_owned(),
        })?;
        let mut request = self.client.request(method, url);
        if let Some(body) = body {
            request = request.body(body);
        }
        // If Quipu has this server's key, its clients have none, or a made-up one.
        let is_replaced = |name: &str| self.key.is_some() && matches!(name, "authorization" | API_KEY);
        for (name, value) in headers {
            if !is_of_connection(name) && !is_replaced(name) {
                request = request.header(name, value);
            }
        }
        let has = |name: &str| headers.iter().any(|(other, _)| other == name);
        if !has(ACCEPT_ENCODING.as_str()) {
            request = request.header(ACCEPT_ENCODING, "identity");
        }
        if let Some(key) = &self.key {
            // Anthropic uses a bearer for another kind of token and refuses a key as one.
            request = if decide(self.kind, None, self.base.as_str()) == Kind::Anthropic {
                request.header(API_KEY, key.plain())
            } else {
                request.header(AUTHORIZATION, key.bearer())
            };
        }
        request.build().map_err(|error| UpstreamError::Unreachable {
            reason: self.reason(error),
        })
    }

    /// Makes attempts until a server is reached or no attempt is left.
    async fn attempts(&self, request: &Request) -> Result<Response, UpstreamError> {
        for wait in WAITS {
            let outcome = self.attempt(request).await;
            if !outcome.as_ref().is_err_and(is_unreached) {
                return outcome;
            }
            let wait = retry::jittered(wait);
            debug!(
                upstream = self.name,
                wait_ms = wait.as_millis(),
                "retrying the model server"
            );
            self.clock.sleep(wait).await;
        }
        self.attempt(request).await
    }

    async fn attempt(&self, request: &Request) -> Result<Response, UpstreamError> {
        let request = request.try_clone().expect("a body of bytes can be sent again");
        let head = tokio::select! {
            head = self.client.execute(request) => head,
            () = self.clock.sleep(HEAD_LIMIT) => return Err(UpstreamError::TimedOut { after: HEAD_LIMIT }),
        };
        head.map_err(|error| match (error.is_connect(), error.is_timeout()) {
            (true, true) => UpstreamError::TimedOut { after: CONNECT_LIMIT },
            (true, false) => UpstreamError::Unreachable {
                reason: self.reason(error),
            },
            (false, _) => UpstreamError::BrokeOff {
                reason: self.reason(error),
            },
        })
    }

    fn answer(&self, response: Response) -> UpstreamAnswer {
        let headers = response.headers().iter();
        let headers = headers.filter(|(name, _)| !is_of_connection(name.as_str()));
        let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
        UpstreamAnswer {
            status: response.status().as_u16(),
            headers: headers
                .map(|(name, value)| (name.as_str().to_owned(), text(value.as_bytes())))
                .collect(),
            body: body(response, self.key.clone(), Arc::clone(&self.clock)),
        }
    }

    fn reason(&self, error: reqwest::Error) -> String {
        redact(&describe(error), self.key.as_ref())
    }
}

#[async_trait]
impl Upstream for HttpUpstream {
    fn name(&self) -> &str {
        &self.name
    }

    fn base_url(&self) -> &str {
        &self.safe_url
    }

    async fn send(&self, request: UpstreamRequest) -> Result<UpstreamAnswer, UpstreamError> {
        let url = join(&self.base, &request.path);
        let request = self.request(url, &request.method, &request.headers, request.body)?;
        let admitted = self.breaker.admit(self.clock.elapsed());
        admitted.map_err(|retry_after| UpstreamError::Resting { retry_after })?;
        let outcome = self.attempts(&request).await;
        let failed = matches!(
            outcome,
            Err(UpstreamError::Unreachable { .. } | UpstreamError::TimedOut { .. })
        );
        self.breaker.record(self.clock.elapsed(), failed);
        outcome.map(|response| self.answer(response))
    }

    async fn probe(&self) -> Probed {
        let found = self.found().await;
        Probed {
            kind: self.kind.or(found.kind),
            ..found
        }
    }

    async fn window(&self, model: &str) -> Option<usize> {
        let probed = self.probe().await;
        match probed.kind {
            Some(Kind::Ollama) => self.ollama_window(model).await,
            _ => probed.window_tokens,
        }
    }
}

/// The connection, its TLS included, if it is there in time.
async fn connected<C, E: From<io::Error>>(
    connecting: impl Future<Output = Result<C, E>>,
    clock: Arc<dyn Clock>,
) -> Result<C, E> {
    tokio::select! {
        connected = connecting => connected,
        () = clock.sleep(CONNECT_LIMIT) => Err(io::Error::from(io::ErrorKind::TimedOut).into()),
    }
}

/// Whether certainly no byte of the request arrived.
fn is_unreached(error: &UpstreamError) -> bool {
    match error {
        UpstreamError::Unreachable { .. } => true,
        UpstreamError::TimedOut { after } => *after == CONNECT_LIMIT,
        UpstreamError::BrokeOff { .. } | UpstreamError::Resting { .. } => false,
    }
}

/// Headers that each side of the proxy sets for itself; names in lower case.
fn is_of_connection(name: &str) -> bool {
    let exact = [
        "connection",
        "content-length",
        "host",
        "keep-alive",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    ];
    exact.contains(&name) || name.starts_with("proxy-")
}

/// Appends a path with its query to a base URL, whose own query stays.
fn join(base: &Url, path: &str) -> Url {
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let mut url = base.clone();
    url.set_path(&format!("{}/{path}", base.path().trim_end_matches('/')));
    let queries = [base.query().unwrap_or_default(), query];
    let queries: Vec<&str> = queries.into_iter().filter(|query| !query.is_empty()).collect();
    url.set_query((!queries.is_empty()).then(|| queries.join("&")).as_deref());
    url
}

/// The chunks as they arrive. Dropping it drops the response, which closes the connection.
fn body(
    response: Response,
    key: Option<ApiKey>,
    clock: Arc<dyn Clock>,
) -> BoxStream<'static, Result<Bytes, UpstreamError>> {
    let state = Some((response, key, clock));
    stream::unfold(state, async |state| {
        let (mut response, key, clock) = state?;
        let chunk = tokio::select! {
            chunk = response.chunk() => chunk.map_err(|error| UpstreamError::BrokeOff {
                reason: redact(&describe(error), key.as_ref()),
            }),
            () = clock.sleep(GAP_LIMIT) => Err(UpstreamError::TimedOut { after: GAP_LIMIT }),
        };
        match chunk {
            Ok(chunk) => Some((Ok(chunk?), Some((response, key, clock)))),
            Err(error) => Some((Err(error), None)),
        }
    })
    .boxed()
}
