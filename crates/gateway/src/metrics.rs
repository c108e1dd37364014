//! Counters and gauges for Prometheus.
//!
//! Owns: their names and labels. Never: labels that a client can invent; every label is from a closed set.

use std::sync::atomic::AtomicU64;
use std::time::Duration;

use axum::http::Method;
use memory::Status;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::{encode_eof, encode_registry};
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
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("quipu");
        let durations = Family::new_with_constructor((|| Histogram::new(BUCKETS)) as fn() -> Histogram);
        let (name, help) = ("http_request_duration", "Time to answer");
        registry.register_with_unit(name, help, Unit::Seconds, durations.clone());
        let r = &mut registry;
        Self {
            requests: new(r, "http_requests", "Requests answered"),
            durations,
            adds: new(r, "adds", "Adds accepted"),
            messages: new(r, "messages", "Messages accepted"),
            duplicates: new(r, "duplicate_messages", "Messages that clients sent again"),
            searches: new(r, "searches", "Searches answered"),
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

/// Puts a gauge that stands at this value into a registry.
fn gauge(registry: &mut Registry, name: &str, help: &str, unit: Option<Unit>, value: u64) {
    let gauge: Gauge<u64, AtomicU64> = Gauge::default();
    gauge.set(value);
    match unit {
        Some(unit) => registry.register_with_unit(name, help, unit, gauge),
        None => registry.register(name, help, gauge),
    }
}

/// The same with a value for each state.
fn gauges(registry: &mut Registry, name: &str, help: &str, states: &[(&'static str, usize)]) {
    let family: Family<StateLabels, Gauge<u64, AtomicU64>> = Family::default();
    for (state, count) in states {
        family.get_or_create(&StateLabels { state }).set(*count as u64);
    }
    registry.register(name, help, family);
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
        let mut now = Registry::with_prefix("quipu");
        let r = &mut now;
        let jobs = [
            ("queued", status.jobs.queued),
            ("processing", status.jobs.processing),
            ("failed", status.jobs.failed),
            ("stuck", status.stuck),
        ];
        gauges(r, "jobs", "Unfinished and failed jobs", &jobs);
        let answers = status.model_answers;
        let answers = [
            ("facts", answers.facts),
            ("left_out", answers.left_out),
            ("unusable", answers.unusable),
        ];
        let help = "Facts of the chat model, its statements left out as unsupported, its unusable answers, since the start";
        gauges(r, "model_answers", help, &answers);
        let (index, disk) = (&status.index_stats, &status.disk);
        let restarts = "Restarts of a background loop after a failure, since the start";
        let failures = "Writes that found a full or read-only disk, since the start";
        for (name, help, value) in [
            ("loop_restarts", restarts, status.loop_panics as u64),
            (
                "open_sessions",
                "Sessions with a buffer",
                status.open_sessions as u64,
            ),
            (
                "buffered_messages",
                "Messages that are not in an episode yet",
                status.buffered_messages as u64,
            ),
            ("files", "Markdown files", status.files as u64),
            (
                "broken_files",
                "Broken Markdown files",
                status.broken_files.len() as u64,
            ),
            ("index_rows", "Rows of the index", index.rows),
            ("index_fragments", "Fragments of the index", index.fragments),
            (
                "index_unindexed_rows",
                "Rows outside the full-text index",
                index.unindexed_rows,
            ),
            (
                "disk_refuses_writes",
                "1 while the disk is full or read-only",
                disk.refusal.is_some().into(),
            ),
            ("disk_write_failures", failures, disk.failures),
        ] {
            gauge(r, name, help, None, value);
        }
        let free_bytes = disk.room.as_ref().map_or(0, |room| room.free_bytes);
        for (name, help, bytes) in [
            ("index_size", "Size of the index on disk", index.bytes_on_disk),
            ("disk_free", "Room on the disk of the root", free_bytes),
        ] {
            gauge(r, name, help, Some(Unit::Bytes), bytes);
        }
        let mut text = String::new();
        encode_registry(&mut text, &self.registry)?;
        encode_registry(&mut text, &now)?;
        encode_eof(&mut text)?;
        Ok(text)
    }
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
