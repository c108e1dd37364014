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
use prometheus_client::registry::{Metric, Registry, Unit};

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
        let mut registry = Registry::with_prefix("quipu");
        let r = &mut registry;
        Self {
            requests: new(r, "http_requests", "Requests answered"),
            durations: measured(
                r,
                Unit::Seconds,
                "http_request_duration",
                "Time to answer",
                Family::new_with_constructor(|| Histogram::new(BUCKETS)),
            ),
            adds: new(r, "adds", "Adds accepted"),
            messages: new(r, "messages", "Messages accepted"),
            duplicates: new(r, "duplicate_messages", "Messages that clients sent again"),
            searches: new(r, "searches", "Searches answered"),
            jobs: new(r, "jobs", "Unfinished and failed jobs"),
            loop_restarts: new(
                r,
                "loop_restarts",
                "Restarts of a background loop after a failure, since the start",
            ),
            model_answers: new(
                r,
                "model_answers",
                "Facts of the chat model, its statements left out as unsupported, its unusable answers, since the start",
            ),
            open_sessions: new(r, "open_sessions", "Sessions with a buffer"),
            buffered_messages: new(r, "buffered_messages", "Messages that are not in an episode yet"),
            files: new(r, "files", "Markdown files"),
            broken_files: new(r, "broken_files", "Broken Markdown files"),
            index_rows: new(r, "index_rows", "Rows of the index"),
            index_fragments: new(r, "index_fragments", "Fragments of the index"),
            index_unindexed_rows: new(r, "index_unindexed_rows", "Rows outside the full-text index"),
            index_bytes: measured(
                r,
                Unit::Bytes,
                "index_size",
                "Size of the index on disk",
                Gauge::default(),
            ),
            disk_free: measured(
                r,
                Unit::Bytes,
                "disk_free",
                "Room on the disk of the root",
                Gauge::default(),
            ),
            disk_refuses: new(r, "disk_refuses_writes", "1 while the disk is full or read-only"),
            disk_failures: new(
                r,
                "disk_write_failures",
                "Writes that found a full or read-only disk, since the start",
            ),
            registry,
        }
    }
}

/// A metric that begins at zero, in the registry.
fn new<M: Metric + Clone + Default>(registry: &mut Registry, name: &str, help: &str) -> M {
    let metric = M::default();
    registry.register(name, help, metric.clone());
    metric
}

/// The same of a quantity with a unit.
fn measured<M: Metric + Clone>(registry: &mut Registry, unit: Unit, name: &str, help: &str, metric: M) -> M {
    registry.register_with_unit(name, help, unit, metric.clone());
    metric
}

impl Metrics {
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
