//! Counters and gauges for Prometheus.
//!
//! Owns: their names and labels. Never: labels that a client can invent; every label is from a closed set.

use std::sync::atomic::AtomicU64;
use std::time::Duration;

use axum::http::Method;
use memory::Status;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

/// Upper bounds in seconds; the lowest ones are the target for searches and adds.
const BUCKETS: [f64; 12] = [
    0.001, 0.002, 0.003, 0.005, 0.010, 0.025, 0.050, 0.1, 0.25, 1.0, 5.0, 30.0,
];

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    method: &'static str,
    route: String,
    status: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RouteLabels {
    route: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct MethodLabels {
    method: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct StateLabels {
    state: &'static str,
}

/// The registry with everything in it.
#[derive(Debug)]
pub(crate) struct Metrics {
    registry: Registry,
    requests: Family<RequestLabels, Counter>,
    durations: Family<RouteLabels, Histogram, fn() -> Histogram>,
    adds: Counter,
    messages: Counter,
    duplicates: Counter,
    searches: Family<MethodLabels, Counter>,
    jobs: Family<StateLabels, Gauge>,
    loop_restarts: Gauge,
    model_answers: Family<StateLabels, Gauge>,
    open_sessions: Gauge,
    buffered_messages: Gauge,
    files: Gauge,
    broken_files: Gauge,
    index_rows: Gauge<u64, AtomicU64>,
    index_fragments: Gauge<u64, AtomicU64>,
    index_unindexed_rows: Gauge<u64, AtomicU64>,
    index_bytes: Gauge<u64, AtomicU64>,
    disk_free: Gauge<u64, AtomicU64>,
    disk_refuses: Gauge,
    disk_failures: Gauge<u64, AtomicU64>,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut metrics = Self {
            registry: Registry::with_prefix("quipu"),
            requests: Family::default(),
            durations: Family::new_with_constructor(|| Histogram::new(BUCKETS)),
            adds: Counter::default(),
            messages: Counter::default(),
            duplicates: Counter::default(),
            searches: Family::default(),
            jobs: Family::default(),
            loop_restarts: Gauge::default(),
            model_answers: Family::default(),
            open_sessions: Gauge::default(),
            buffered_messages: Gauge::default(),
            files: Gauge::default(),
            broken_files: Gauge::default(),
            index_rows: Gauge::default(),
            index_fragments: Gauge::default(),
            index_unindexed_rows: Gauge::default(),
            index_bytes: Gauge::default(),
            disk_free: Gauge::default(),
            disk_refuses: Gauge::default(),
            disk_failures: Gauge::default(),
        };
        metrics.register();
        metrics
    }
}

impl Metrics {
    fn register(&mut self) {
        let r = &mut self.registry;
        r.register("http_requests", "Requests answered", self.requests.clone());
        r.register_with_unit(
            "http_request_duration",
            "Time to answer",
            Unit::Seconds,
            self.durations.clone(),
        );
        r.register("adds", "Adds accepted", self.adds.clone());
        r.register("messages", "Messages accepted", self.messages.clone());
        r.register(
            "duplicate_messages",
            "Messages that clients sent again",
            self.duplicates.clone(),
        );
        r.register("searches", "Searches answered", self.searches.clone());
        r.register("jobs", "Unfinished and failed jobs", self.jobs.clone());
        r.register(
            "loop_restarts",
            "Restarts of a background loop after a failure, since the start",
            self.loop_restarts.clone(),
        );
        r.register(
            "model_answers",
            "Facts of the chat model, its statements left out as unsupported, its unusable answers, since the start",
            self.model_answers.clone(),
        );
        r.register(
            "open_sessions",
            "Sessions with a buffer",
            self.open_sessions.clone(),
        );
        r.register(
            "buffered_messages",
            "Messages that are not in an episode yet",
            self.buffered_messages.clone(),
        );
        r.register("files", "Markdown files", self.files.clone());
        r.register("broken_files", "Broken Markdown files", self.broken_files.clone());
        r.register("index_rows", "Rows of the index", self.index_rows.clone());
        r.register(
            "index_fragments",
            "Fragments of the index",
            self.index_fragments.clone(),
        );
        r.register(
            "index_unindexed_rows",
            "Rows outside the full-text index",
            self.index_unindexed_rows.clone(),
        );
        r.register_with_unit(
            "index_size",
            "Size of the index on disk",
            Unit::Bytes,
            self.index_bytes.clone(),
        );
        self.register_disk();
    }

    fn register_disk(&mut self) {
        let r = &mut self.registry;
        r.register_with_unit(
            "disk_free",
            "Room on the disk of the root",
            Unit::Bytes,
            self.disk_free.clone(),
        );
        r.register(
            "disk_refuses_writes",
            "1 while the disk is full or read-only",
            self.disk_refuses.clone(),
        );
        r.register(
            "disk_write_failures",
            "Writes that found a full or read-only disk, since the start",
            self.disk_failures.clone(),
        );
    }

    pub(crate) fn request(&self, method: &Method, route: &str, status: u16, took: Duration) {
        let method = name_of(method);
        let route = route.to_owned();
        let labels = RouteLabels { route: route.clone() };
        self.durations.get_or_create(&labels).observe(took.as_secs_f64());
        let labels = RequestLabels {
            method,
            route,
            status,
        };
        self.requests.get_or_create(&labels).inc();
    }

    pub(crate) fn added(&self, messages: usize, duplicates: usize) {
        self.adds.inc();
        self.messages.inc_by((messages - duplicates) as u64);
        self.duplicates.inc_by(duplicates as u64);
    }

    pub(crate) fn searched(&self, method: &'static str) {
        self.searches.get_or_create(&MethodLabels { method }).inc();
    }

    /// Everything as text, with the system's state as it is now.
    pub(crate) fn render(&self, status: &Status) -> Result<String, std::fmt::Error> {
        for (state, count) in [
            ("queued", status.jobs.queued),
            ("processing", status.jobs.processing),
            ("failed", status.jobs.failed),
            ("stuck", status.stuck),
        ] {
            self.jobs.get_or_create(&StateLabels { state }).set(whole(count));
        }
        let answers = status.model_answers;
        for (state, count) in [
            ("facts", answers.facts),
            ("left_out", answers.left_out),
            ("unusable", answers.unusable),
        ] {
            let labels = StateLabels { state };
            self.model_answers.get_or_create(&labels).set(whole(count));
        }
        self.loop_restarts.set(whole(status.loop_panics));
        self.open_sessions.set(whole(status.open_sessions));
        self.buffered_messages.set(whole(status.buffered_messages));
        self.files.set(whole(status.files));
        self.broken_files.set(whole(status.broken_files.len()));
        self.index_rows.set(status.index_stats.rows);
        self.index_fragments.set(status.index_stats.fragments);
        self.index_unindexed_rows.set(status.index_stats.unindexed_rows);
        self.index_bytes.set(status.index_stats.bytes_on_disk);
        let free_bytes = status.disk.room.as_ref().map_or(0, |room| room.free_bytes);
        self.disk_free.set(free_bytes);
        self.disk_refuses.set(status.disk.refusal.is_some().into());
        self.disk_failures.set(status.disk.failures);
        let mut text = String::new();
        encode(&mut text, &self.registry)?;
        Ok(text)
    }
}

fn whole(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// A client may send any word as its method.
fn name_of(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        Method::OPTIONS => "OPTIONS",
        _ => "other",
    }
}
