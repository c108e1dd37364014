//! The built binary as a process of its own, reached over HTTP.
//!
//! Owns: its start, its end, and the figures that the operating system has of it. Never: a measure.

#![expect(clippy::disallowed_methods, reason = "measuring reads the real clock")]

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use reqwest::header::HeaderMap;
use serde_json::Value;

/// Number of clients of measurements with concurrent requests.
pub(crate) const CLIENTS: usize = 8;

/// A server of the binary under test.
pub(crate) struct Server {
    child: Child,
    url: String,
    client: reqwest::Client,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

impl Server {
    pub(crate) async fn start(binary: &Path, root: &Path) -> anyhow::Result<Self> {
        Self::start_with(binary, root, &[]).await
    }

    /// Starts `quipu serve` with more arguments.
    pub(crate) async fn start_with(binary: &Path, root: &Path, more: &[&str]) -> anyhow::Result<Self> {
        Self::run(Command::new(binary), root, more).await
    }

    /// Starts the program of a command, with the command's environment.
    pub(crate) async fn run(mut program: Command, root: &Path, more: &[&str]) -> anyhow::Result<Self> {
        let port = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let child = program
            .args(["serve", "--listen", &format!("127.0.0.1:{port}"), "--root"])
            .arg(root)
            .args(more)
            .stdout(Stdio::null())
            .spawn()
            .with_context(|| format!("cannot run `{}`", program.get_program().display()))?;
        let client = reqwest::Client::builder()
            .no_proxy()
            .pool_max_idle_per_host(CLIENTS * 2)
            .build()?;
        let server = Self {
            child,
            url: format!("http://127.0.0.1:{port}"),
            client,
        };
        for _ in 0..5_000 {
            if let Ok(answer) = server.client.get(format!("{}/health", server.url)).send().await
                && answer.status().is_success()
            {
                return Ok(server);
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        bail!("the server did not become healthy")
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> anyhow::Result<Value> {
        self.post_to(&format!("memory/{path}"), body).await
    }

    /// Posts to a route below `/api/v2`.
    pub(crate) async fn post_to(&self, route: &str, body: &Value) -> anyhow::Result<Value> {
        let url = format!("{}/api/v2/{route}", self.url);
        let answer = self.client.post(url).json(body).send().await?;
        let status = answer.status();
        let value: Value = answer.json().await?;
        ensure!(status.is_success(), "{route}: {status}: {value}");
        Ok(value)
    }

    /// Text of the answer of a route below `/api/v2`; the route includes its query.
    pub(crate) async fn get(&self, route: &str) -> anyhow::Result<String> {
        let url = format!("{}/api/v2/{route}", self.url);
        let answer = self.client.get(url).send().await?;
        let (status, text) = (answer.status(), answer.text().await?);
        ensure!(status.is_success(), "{route}: {status}: {text}");
        Ok(text)
    }

    /// Sends a chat request through the proxy and returns the headers of the answer.
    pub(crate) async fn chat(&self, headers: HeaderMap, body: &Value) -> anyhow::Result<HeaderMap> {
        let url = format!("{}/v1/chat/completions", self.url);
        let answer = self.client.post(url).headers(headers).json(body).send().await?;
        let (status, headers) = (answer.status(), answer.headers().clone());
        let text = answer.text().await?;
        ensure!(status.is_success(), "chat/completions: {status}: {text}");
        Ok(headers)
    }

    /// Waits until no task is left and returns the time that this took.
    pub(crate) async fn settled(&self) -> anyhow::Result<Duration> {
        let started = Instant::now();
        loop {
            let text = self
                .client
                .get(format!("{}/health", self.url))
                .send()
                .await?
                .text()
                .await?;
            let health: Value = serde_json::from_str(&text)?;
            if health["memorize_queue"]["pending"] == 0 {
                return Ok(started.elapsed());
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    pub(crate) fn resident_mib(&self) -> anyhow::Result<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib: u64 = line
            .and_then(|l| l.split_whitespace().next())
            .context("no VmRSS")?
            .parse()?;
        Ok(kib / 1024)
    }

    /// Processor time that the server has used so far.
    pub(crate) fn cpu(&self) -> anyhow::Result<Duration> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        let fields: Vec<&str> = stat
            .rsplit_once(')')
            .context("no stat")?
            .1
            .split_whitespace()
            .collect();
        let ticks: u64 = fields[11].parse::<u64>()? + fields[12].parse::<u64>()?;
        Ok(Duration::from_millis(ticks * 10))
    }
}

/// Sends requests from `clients` clients at once and returns the latency of each request, sorted.
pub(crate) async fn send(
    server: &Server,
    path: &'static str,
    requests: Vec<Value>,
    clients: usize,
) -> anyhow::Result<Vec<Duration>> {
    let queue = Arc::new(std::sync::Mutex::new(requests.into_iter()));
    let work = (0..clients).map(|_| {
        let queue = queue.clone();
        async move {
            let mut latencies = Vec::new();
            loop {
                let Some(body) = queue.lock().expect("no client panics").next() else {
                    return anyhow::Ok(latencies);
                };
                let started = Instant::now();
                server.post(path, &body).await?;
                latencies.push(started.elapsed());
            }
        }
    });
    let mut all: Vec<Duration> = Vec::new();
    for latencies in futures::future::join_all(work).await {
        all.extend(latencies?);
    }
    all.sort();
    Ok(all)
}
