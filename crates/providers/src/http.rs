//! One JSON exchange with an OpenAI-compatible endpoint, with its time limit and its bounded retries.
//!
//! Owns: which failures are retried, the waits, and the error texts; parsing and display of addresses for
//! every client of this crate. Never: the content of the JSON.

pub(crate) mod retry;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use model::text::chain;
use ports::Clock;
use reqwest::header::AUTHORIZATION;
use reqwest::{Client, ClientBuilder, Response, StatusCode, Url};
use serde_json::Value;
use tracing::debug;

use crate::key::{ApiKey, redact};

/// A longer answer is cut off and refused.
const ANSWER_BYTES_MAX: usize = 64 << 20;
/// Maximum length of an endpoint's text in an error.
const QUOTE_CHARS_MAX: usize = 300;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// How to reach a model at an endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointSettings {
    /// As in `http://127.0.0.1:8080/v1`; for a reranker without `/rerank`.
    pub base_url: String,
    pub api_key: Option<ApiKey>,
    /// Empty for a reranker of text-embeddings-inference, which has one model.
    pub model: String,
    /// Time of one attempt.
    pub timeout: Duration,
}

impl EndpointSettings {
    /// A model at a base URL.
    pub fn new(base_url: impl Into<String>, model: impl Into<String>) -> Self {
        Self {
            base_url: base_url.into(),
            api_key: None,
            model: model.into(),
            timeout: Duration::from_mins(1),
        }
    }
}

/// Destination of calls.
pub(crate) struct Endpoint {
    client: Client,
    base: Url,
    key: Option<ApiKey>,
    timeout: Duration,
    clock: Arc<dyn Clock>,
}

/// Errors of a call; both texts contain no key and name the remedy.
#[derive(Debug)]
pub(crate) enum CallError {
    /// Worth another try later.
    Unavailable(String),
    /// Another try of the same would be refused too.
    Refused { status: u16, reason: String },
}

/// The failure of one attempt.
enum Missed {
    Again { reason: String, after: Option<Duration> },
    Final(CallError),
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint")
            .field("base", &self.safe_url())
            .finish_non_exhaustive()
    }
}

/// Parses a base URL such as `http://127.0.0.1:11434/v1`; the error does not show it.
pub(crate) fn address(base_url: &str) -> Result<Url, String> {
    let wrong = || "`base_url` is not an HTTP address: write it as in `http://127.0.0.1:11434/v1`".to_owned();
    let base = Url::parse(base_url.trim()).map_err(|_| wrong())?;
    if !matches!(base.scheme(), "http" | "https") || base.host_str().is_none() {
        return Err(wrong());
    }
    if !base.username().is_empty() || base.password().is_some() {
        return Err("`base_url` contains a user or password: use `api_key` instead".to_owned());
    }
    Ok(base)
}

/// The base URL for display: without the query, since some people put a key there.
pub(crate) fn safe_url(base: &Url) -> String {
    let port = base.port().map_or_else(String::new, |port| format!(":{port}"));
    let host = base.host_str().unwrap_or_default();
    format!("{}://{host}{port}{}", base.scheme(), base.path())
}

/// The start of a client for that host; it reaches hosts of this machine without a proxy, and leaves a compressed body as it is:
/// LanceDB's crates turn that decoding on for the whole binary.
pub(crate) fn builder(url: &Url) -> ClientBuilder {
    let builder = Client::builder().no_gzip().no_brotli().no_zstd().no_deflate();
    if is_this_machine(url) {
        builder.no_proxy()
    } else {
        builder
    }
}

/// Whether the host of the address is this machine.
pub(crate) fn is_this_machine(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost"
        || host
            .parse::<std::net::IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

/// The client, or why it cannot be built.
pub(crate) fn build(builder: ClientBuilder) -> Result<Client, String> {
    builder
        .build()
        .map_err(|error| format!("no HTTPS client can be made: {}", describe(error)))
}

/// A client for that host.
pub(crate) fn client(url: &Url) -> Result<Client, String> {
    build(builder(url).connect_timeout(CONNECT_TIMEOUT))
}

/// An error of the client with its causes, without the URL, which may contain a key.
pub(crate) fn describe(error: reqwest::Error) -> String {
    chain(&error.without_url())
}

impl Endpoint {
    /// An endpoint at a base URL such as `http://127.0.0.1:11434/v1`.
    pub(crate) fn new(settings: &EndpointSettings, clock: Arc<dyn Clock>) -> Result<Self, String> {
        let base = address(&settings.base_url)?;
        let client = client(&base)?;
        Ok(Self {
            client,
            base,
            key: settings.api_key.clone(),
            timeout: settings.timeout,
            clock,
        })
    }

    /// The base URL for display.
    pub(crate) fn safe_url(&self) -> String {
        safe_url(&self.base)
    }

    /// Posts JSON and reads JSON, in up to `attempts` attempts.
    pub(crate) async fn post(&self, path: &[&str], body: &Value, attempts: u32) -> Result<Value, CallError> {
        let mut attempt = 1;
        loop {
            let missed = tokio::select! {
                answer = self.exchange(path, body) => match answer {
                    Ok(answer) => return Ok(answer),
                    Err(missed) => missed,
                },
                () = self.clock.sleep(self.timeout) => Missed::Again {
                    reason: format!("{} did not answer within {} s", self.safe_url(), self.timeout.as_secs()),
                    after: None,
                },
            };
            let (reason, after) = match missed {
                Missed::Final(error) => return Err(error),
                Missed::Again { reason, after } => (reason, after),
            };
            match retry::wait(attempt, attempts, after) {
                Some(wait) => {
                    debug!(
                        attempt,
                        wait_ms = wait.as_millis(),
                        reason,
                        "retrying the endpoint"
                    );
                    self.clock.sleep(wait).await;
                }
                None => return Err(CallError::Unavailable(reason)),
            }
            attempt += 1;
        }
    }

    async fn exchange(&self, path: &[&str], body: &Value) -> Result<Value, Missed> {
        let mut url = self.base.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path);
        }
        let mut request = self.client.post(url).json(body);
        if let Some(key) = &self.key {
            request = request.header(AUTHORIZATION, key.bearer());
        }
        let response = request.send().await.map_err(|error| self.missed(error))?;
        let status = response.status();
        let after = retry::asked(response.headers());
        let bytes = self.read(response).await?;
        if status.is_success() {
            return serde_json::from_slice(&bytes).map_err(|_| {
                Missed::Final(self.refused(status, "the answer is not JSON: check `base_url`"))
            });
        }
        let said = self.quote(&bytes);
        let again = status.is_server_error()
            || matches!(
                status,
                StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT
            );
        if again {
            let reason = format!("{} answered {}: {said}", self.safe_url(), status.as_u16());
            return Err(Missed::Again { reason, after });
        }
        Err(Missed::Final(self.refused(status, &said)))
    }

    async fn read(&self, mut response: Response) -> Result<Vec<u8>, Missed> {
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| self.missed(error))? {
            if bytes.len() + chunk.len() > ANSWER_BYTES_MAX {
                let said = format!("the answer is longer than {} MiB", ANSWER_BYTES_MAX >> 20);
                return Err(Missed::Final(self.refused(response.status(), &said)));
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok(bytes)
    }

    fn missed(&self, error: reqwest::Error) -> Missed {
        let is_hopeless = error.is_builder();
        let reason = redact(&describe(error), self.key.as_ref());
        if is_hopeless {
            return Missed::Final(CallError::Refused { status: 0, reason });
        }
        let reason = format!(
            "{}: {reason}; is it running, and is `base_url` right?",
            self.safe_url()
        );
        Missed::Again { reason, after: None }
    }

    fn refused(&self, status: StatusCode, said: &str) -> CallError {
        let advice = match status.as_u16() {
            401 | 403 => "; check `api_key`",
            404 => "; check `model` and the end of `base_url`, mostly `/v1`",
            413 => "; the texts are too long for it",
            _ => "",
        };
        let reason = format!("{} answered {}: {said}{advice}", self.safe_url(), status.as_u16());
        CallError::Refused {
            status: status.as_u16(),
            reason: redact(&reason, self.key.as_ref()),
        }
    }

    /// The endpoint's own error text, in one short line.
    fn quote(&self, bytes: &[u8]) -> String {
        let value: Value = serde_json::from_slice(bytes).unwrap_or_default();
        let places = ["/error/message", "/error", "/message", "/detail"];
        let said = places.iter().find_map(|place| value.pointer(place)?.as_str());
        let said = said.map_or_else(|| String::from_utf8_lossy(bytes).into_owned(), str::to_owned);
        // The key is redacted first: after cutting, a part of it might not be recognised.
        let said = redact(&said, self.key.as_ref());
        or_nothing(model::excerpt(&said, QUOTE_CHARS_MAX))
    }
}

/// A quoted text, or a word for an empty one.
pub(crate) fn or_nothing(said: String) -> String {
    let said = Some(said).filter(|said| !said.is_empty());
    said.unwrap_or_else(|| "nothing".to_owned())
}
