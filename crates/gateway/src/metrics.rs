//! Counters and gauges for Prometheus.
//!
//! Owns: their names and labels. Never: labels that a client can invent; every label is from a closed set.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use axum::http::Method;
use memory::Status;
use parking_lot::Mutex;
use proxy::measure::metric;

/// Upper bounds in seconds; the lowest ones are the target for searches and adds.
const BUCKETS: [f64; 12] = [
    0.001, 0.002, 0.003, 0.005, 0.010, 0.025, 0.050, 0.1, 0.25, 1.0, 5.0, 30.0,
];

/// Counts of events since the start.
#[derive(Debug, Default)]
pub(crate) struct Metrics(Mutex<Counts>);

#[derive(Debug, Default)]
struct Counts {
    /// Requests by their labels.
    requests: BTreeMap<String, u64>,
    /// Durations by route: the seconds of all requests, and the requests of each bucket; the last has no bound.
    durations: BTreeMap<String, (f64, [u64; BUCKETS.len() + 1])>,
    adds: u64,
    messages: u64,
    duplicates: u64,
    /// Searches by their labels.
    searches: BTreeMap<String, u64>,
}

impl Metrics {
    pub(crate) fn request(&self, method: &Method, route: &str, status: u16, took: Duration) {
        let (method, seconds) = (name_of(method), took.as_secs_f64());
        let labels = format!("method=\"{method}\",route=\"{route}\",status=\"{status}\"");
        let mut counts = self.0.lock();
        *counts.requests.entry(labels).or_default() += 1;
        let (sum, buckets) = counts.durations.entry(route.to_owned()).or_default();
        *sum += seconds;
        buckets[BUCKETS.partition_point(|bound| *bound < seconds)] += 1;
    }

    pub(crate) fn added(&self, messages: usize, duplicates: usize) {
        let mut counts = self.0.lock();
        counts.adds += 1;
        counts.messages += (messages - duplicates) as u64;
        counts.duplicates += duplicates as u64;
    }

    pub(crate) fn searched(&self, method: &'static str) {
        let labels = format!("method=\"{method}\"");
        *self.0.lock().searches.entry(labels).or_default() += 1;
    }

    /// Writes all metrics in Prometheus's format, with the current state of the system.
    pub(crate) fn render(&self, out: &mut String, status: &Status) {
        self.0.lock().render(out);
        let (jobs, answers) = (&status.jobs, status.model_answers);
        let jobs: &[(&str, usize)] = &[
            ("queued", jobs.queued),
            ("processing", jobs.processing),
            ("failed", jobs.failed),
            ("stuck", status.stuck),
        ];
        let answers: &[(&str, usize)] = &[
            ("facts", answers.facts),
            ("left_out", answers.left_out),
            ("unusable", answers.unusable),
        ];
        let help = "Facts of the chat model, its statements left out as unsupported, its unusable answers, since the start";
        for (name, help, states) in [
            ("quipu_jobs", "Unfinished and failed jobs", jobs),
            ("quipu_model_answers", help, answers),
        ] {
            let state = |(state, count): &(&str, usize)| (format!("state=\"{state}\""), *count as u64);
            metric(out, "gauge", (name, help), states.iter().map(state));
        }
        let (index, disk) = (&status.index_stats, &status.disk);
        let mut gauge = |name: &str, help: &str, value: u64| {
            let name = format!("quipu_{name}");
            metric(out, "gauge", (&name, help), [("", value)].into_iter());
        };
        let restarts = "Restarts of a background loop after a failure, since the start";
        gauge("loop_restarts", restarts, status.loop_panics as u64);
        let open = status.open_sessions as u64;
        gauge("open_sessions", "Sessions with a buffer", open);
        let buffered = "Messages that are not in an episode yet";
        gauge("buffered_messages", buffered, status.buffered_messages as u64);
        gauge("files", "Markdown files", status.files as u64);
        let broken = status.broken_files.len() as u64;
        gauge("broken_files", "Broken Markdown files", broken);
        gauge("index_rows", "Rows of the index", index.rows);
        gauge("index_fragments", "Fragments of the index", index.fragments);
        let outside = "Rows outside the full-text index";
        gauge("index_unindexed_rows", outside, index.unindexed_rows);
        let refuses = "1 while the disk is full or read-only";
        gauge("disk_refuses_writes", refuses, disk.refusal.is_some().into());
        let failures = "Writes that found a full or read-only disk, since the start";
        gauge("disk_write_failures", failures, disk.failures);
        let size = "Size of the index on disk";
        gauge("index_size_bytes", size, index.bytes_on_disk);
        let free_bytes = disk.room.as_ref().map_or(0, |room| room.free_bytes);
        gauge("disk_free_bytes", "Room on the disk of the root", free_bytes);
    }
}

impl Counts {
    fn render(&self, out: &mut String) {
        let name = "quipu_http_request_duration_seconds";
        let about = (name, "Time to answer");
        metric(out, "histogram", about, [("", 0); 0].into_iter());
        for (route, (seconds, buckets)) in &self.durations {
            let (route, all) = (format!("route=\"{route}\""), buckets.iter().sum::<u64>());
            let sums = format!("{name}_sum{{{route}}} {seconds:?}\n{name}_count{{{route}}} {all}\n");
            out.push_str(&sums);
            let bounds = BUCKETS.iter().map(|bound| format!("{bound:?}"));
            let mut count = 0;
            for (bound, requests) in bounds.chain(["+Inf".to_owned()]).zip(buckets) {
                count += requests;
                writeln!(out, "{name}_bucket{{le=\"{bound}\",{route}}} {count}").expect("a string takes all");
            }
        }
        let about = ("quipu_http_requests", "Requests answered");
        metric(out, "counter", about, by_labels(&self.requests));
        let again = "Messages that clients sent again";
        for (name, help, count) in [
            ("quipu_adds", "Adds accepted", self.adds),
            ("quipu_messages", "Messages accepted", self.messages),
            ("quipu_duplicate_messages", again, self.duplicates),
        ] {
            metric(out, "counter", (name, help), [("", count)].into_iter());
        }
        let about = ("quipu_searches", "Searches answered");
        metric(out, "counter", about, by_labels(&self.searches));
    }
}

fn by_labels(counts: &BTreeMap<String, u64>) -> impl Iterator<Item = (&String, u64)> {
    counts.iter().map(|(labels, count)| (labels, *count))
}

/// The name of a known method: a client may send any word as its method.
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
