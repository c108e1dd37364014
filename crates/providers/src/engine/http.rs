//! An engine that is a server: a request for each call.
//!
//! Owns: the address of a hook, the time and size limits of an answer, the quotation in an error. Never: a retry;
//! Quipu's own engine takes the turn.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use ports::Clock;
use ports::context_engine::EngineFault;
use reqwest::header::CONTENT_TYPE;
use reqwest::{Client, Response, Url, redirect};
use serde_json::{Map, Value};

use super::protocol::{BYTES_MAX, HookCall, failed, parsed, quote};
use super::{EngineSettings, External, Transport};
use crate::http::{address, build, builder, describe, shown};

/// As much as an error's quote can need.
const ERROR_BYTES_MAX: usize = 4 << 10;

/// A context engine that is an HTTP server.
pub type HttpEngine = External<Server>;

/// The server and how it is reached.
pub struct Server {
    client: Client,
    base: Url,
    timeout: Duration,
    clock: Arc<dyn Clock>,
    /// The id of the newest call.
    calls: AtomicU64,
}

/// Without the base URL's query, where some put a key.
impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("base", &shown(&self.base))
            .finish_non_exhaustive()
    }
}

impl HttpEngine {
    /// The engine at a base URL such as `http://127.0.0.1:9000`. It is not asked yet.
    pub fn new(settings: EngineSettings, base_url: &str, clock: Arc<dyn Clock>) -> Result<Self, EngineFault> {
        let base = address(base_url).map_err(failed)?;
        // A conversation goes to the configured server and to no other.
        let client = build(builder(&base).redirect(redirect::Policy::none())).map_err(failed)?;
        let server = Server {
            client,
            base,
            timeout: settings.bound(),
            clock,
            calls: AtomicU64::new(0),
        };
        Ok(Self::over(server, settings))
    }
}

impl Server {
    async fn answer(&self, call: &HookCall<'_>) -> Result<Map<String, Value>, EngineFault> {
        let id = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
        let mut url = self.base.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().push(call.hook.name());
        }
        let request = self.client.post(url).header(CONTENT_TYPE, "application/json");
        let response = request
            .body(call.body(id)?)
            .send()
            .await
            .map_err(|error| self.missed(error))?;
        let status = response.status();
        if !status.is_success() {
            let said = self.read(response, ERROR_BYTES_MAX).await?;
            return Err(failed(format!(
                "{} answered `{}` with {}: {}",
                shown(&self.base),
                call.hook,
                status.as_u16(),
                quote(&String::from_utf8_lossy(&said))
            )));
        }
        let text = self.read(response, BYTES_MAX).await?;
        if text.len() > BYTES_MAX {
            return Err(failed(format!(
                "its answer is longer than {} MiB",
                BYTES_MAX >> 20
            )));
        }
        let (answered, answer) = parsed(&text).map_err(|wrong| failed(format!("its answer {wrong}")))?;
        if answered != id {
            return Err(failed(format!(
                "it answered call {answered} in the place of call {id}"
            )));
        }
        Ok(answer)
    }

    /// The body, or more than so many bytes of it.
    async fn read(&self, mut response: Response, bytes_max: usize) -> Result<Vec<u8>, EngineFault> {
        let mut bytes = Vec::new();
        while bytes.len() <= bytes_max {
            match response.chunk().await.map_err(|error| self.missed(error))? {
                Some(chunk) => bytes.extend_from_slice(&chunk),
                None => break,
            }
        }
        Ok(bytes)
    }

    fn missed(&self, error: reqwest::Error) -> EngineFault {
        failed(format!(
            "{}: {}; is it running, and is `url` right?",
            shown(&self.base),
            describe(error)
        ))
    }
}

#[async_trait]
impl Transport for Server {
    async fn exchange(&self, call: HookCall<'_>) -> Result<Map<String, Value>, EngineFault> {
        tokio::select! {
            answer = self.answer(&call) => answer,
            () = self.clock.sleep(self.timeout) => Err(EngineFault::TimedOut(self.timeout.as_millis())),
        }
    }
}
