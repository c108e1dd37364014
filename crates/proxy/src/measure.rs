//! Prompt-cache use of each request to a model server, with the reason for each miss.
//!
//! Owns: the newest requests of each conversation, the sums of each server, both bounded, and their text for
//! Prometheus. Never: messages; finding the class of a miss (`prefix`); anything on disk.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write;

use model::Timestamp;
use parking_lot::Mutex;
use prefix::backend::Kind;
use prefix::diverge::Class;
use prefix::shadow::Reason;

/// Maximum number of conversations with stored requests; the longest idle one is dropped first.
pub const CONVERSATIONS_MAX: usize = 1000;
/// Number of a server's newest requests whose times to the first token are ranked.
const FIRST_TOKENS_MAX: usize = 1024;

/// One request and its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Measured {
    pub at: Timestamp,
    /// The server's name, from the configuration and never from a client: it becomes a label.
    pub upstream: String,
    pub kind: Kind,
    /// `APP/PROJECT/SESSION`: names of two tenants may be the same.
    pub conversation: String,
    /// All prompt tokens, including the reused ones.
    pub prompt_tokens: u64,
    /// The reused tokens among them; none if the server does not report them.
    pub cached_tokens: Option<u64>,
    pub completion_tokens: u64,
    /// Milliseconds from the request to the first token; none without one.
    pub first_token_ms: Option<u64>,
    pub total_ms: u64,
    /// Tokens that the server could have reused.
    pub expected_tokens: Option<u64>,
    pub class: Option<Class>,
    /// Reasons of an epoch change, if there was one.
    pub reasons: Vec<Reason>,
    /// Tokens of the prompt that Quipu added.
    pub injected_tokens: u64,
    /// HTTP status.
    pub status: u16,
}

/// The sums of one server since the start.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Totals {
    pub requests: u64,
    pub prompt_tokens: u64,
    pub cached_tokens: u64,
    /// Prompt tokens that were not reused, over requests to servers that report it.
    pub evaluated_tokens: u64,
    /// Requests by [`Class::word`].
    pub classes: BTreeMap<&'static str, u64>,
    /// Reused tokens as a share of the prompt tokens whose server reports it; none before the first.
    pub hit_ratio: Option<f64>,
    /// Share of extensions among requests that had a predecessor; none before the first.
    pub extension_ratio: Option<f64>,
    /// Of the newest 1,024 requests, in milliseconds.
    pub first_token_p50_ms: Option<u64>,
    pub first_token_p99_ms: Option<u64>,
}

/// Measurements of all requests.
#[derive(Debug)]
pub struct Measures {
    keep: usize,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    /// Number of all requests ever recorded.
    records: u64,
    conversations: BTreeMap<String, MeasuredConversation>,
    upstreams: BTreeMap<String, Upstream>,
}

#[derive(Debug, Default)]
struct MeasuredConversation {
    /// The number of its newest record.
    last: u64,
    newest_first: VecDeque<Measured>,
}

#[derive(Debug, Default)]
struct Upstream {
    /// Without the figures that are computed from others.
    sums: Totals,
    first_token_ms: VecDeque<u64>,
}

impl Measures {
    /// Empty measurements; a conversation keeps its newest `keep` requests.
    pub fn new(keep: usize) -> Self {
        Self {
            keep,
            kept: Mutex::default(),
        }
    }

    /// Records one request.
    pub fn record(&self, measured: Measured) {
        let mut kept = self.kept.lock();
        kept.records += 1;
        let last = kept.records;
        let upstream = kept.upstreams.entry(measured.upstream.clone()).or_default();
        upstream.add(&measured);
        let id = measured.conversation.clone();
        let conversation = kept.conversations.entry(id).or_default();
        conversation.last = last;
        conversation.newest_first.push_front(measured);
        conversation.newest_first.truncate(self.keep);
        if kept.conversations.len() > CONVERSATIONS_MAX {
            let quiet = kept.conversations.iter().min_by_key(|(_, one)| one.last);
            let quiet = quiet.map(|(id, _)| id.clone());
            quiet.and_then(|id| kept.conversations.remove(&id));
        }
    }

    /// The kept requests of a conversation, newest first.
    pub fn conversation(&self, id: &str) -> Vec<Measured> {
        let kept = self.kept.lock();
        let found = kept.conversations.get(id);
        found.map_or_else(Vec::new, |one| one.newest_first.iter().cloned().collect())
    }

    /// The conversations that were busy last, newest first, each with its requests, newest first.
    pub fn newest(&self, conversations_max: usize) -> Vec<(String, Vec<Measured>)> {
        let kept = self.kept.lock();
        let mut newest: Vec<(&String, &MeasuredConversation)> = kept.conversations.iter().collect();
        newest.sort_unstable_by_key(|(_, one)| std::cmp::Reverse(one.last));
        newest.truncate(conversations_max);
        let copy = |(id, one): (&String, &MeasuredConversation)| {
            (id.clone(), one.newest_first.iter().cloned().collect())
        };
        newest.into_iter().map(copy).collect()
    }

    /// Drops the requests of a tenant's conversations; their share of the sums stays. `beginning` is `APP/PROJECT/`.
    pub fn forget_all(&self, beginning: &str) {
        self.kept
            .lock()
            .conversations
            .retain(|id, _| !id.starts_with(beginning));
    }

    /// The sums of every server, by its name.
    pub fn upstreams(&self) -> BTreeMap<String, Totals> {
        let kept = self.kept.lock();
        let totals = kept
            .upstreams
            .iter()
            .map(|(name, upstream)| (name.clone(), upstream.totals()));
        totals.collect()
    }

    /// Whether a server ever reported reused tokens. A server that never did may have no cache.
    pub(crate) fn has_cached(&self, upstream: &str) -> bool {
        let kept = self.kept.lock();
        kept.upstreams
            .get(upstream)
            .is_some_and(|one| one.sums.cached_tokens > 0)
    }

    /// Writes the counters of every server in Prometheus's format.
    pub fn render_prometheus(&self, out: &mut String) {
        let all = self.upstreams();
        let mut counter = |name, help, read: fn(&Totals) -> u64| counters(out, &all, (name, help), read);
        let requests = "Requests to model servers";
        counter("quipu_upstream_requests", requests, |it| it.requests);
        let prompt = "Prompt tokens";
        counter("quipu_upstream_prompt_tokens", prompt, |it| it.prompt_tokens);
        let cached = "Prompt tokens read from the cache";
        counter("quipu_upstream_cached_tokens", cached, |it| it.cached_tokens);
        let misses = all.iter().flat_map(|(upstream, totals)| {
            let missed = totals.classes.iter().filter(|(class, _)| is_miss(class));
            missed.map(move |(class, count)| {
                let labels = format!("{},{}", label("upstream", upstream), label("class", class));
                (labels, *count)
            })
        });
        let help = "Requests that did not extend the last one, by reason";
        metric(out, "counter", ("quipu_upstream_misses", help), misses);
    }
}

impl Upstream {
    fn add(&mut self, measured: &Measured) {
        let sums = &mut self.sums;
        sums.requests += 1;
        sums.prompt_tokens = sums.prompt_tokens.saturating_add(measured.prompt_tokens);
        if let Some(cached) = measured.cached_tokens {
            let cached = cached.min(measured.prompt_tokens);
            sums.cached_tokens = sums.cached_tokens.saturating_add(cached);
            let evaluated = measured.prompt_tokens - cached;
            sums.evaluated_tokens = sums.evaluated_tokens.saturating_add(evaluated);
        }
        if let Some(class) = measured.class {
            *sums.classes.entry(class.word()).or_default() += 1;
        }
        if let Some(millis) = measured.first_token_ms {
            self.first_token_ms.push_front(millis);
            self.first_token_ms.truncate(FIRST_TOKENS_MAX);
        }
    }

    fn totals(&self) -> Totals {
        let sums = &self.sums;
        let of = |class: Class| sums.classes.get(class.word()).copied().unwrap_or_default();
        let later = sums.classes.values().sum::<u64>() - of(Class::First);
        let told = sums.cached_tokens.saturating_add(sums.evaluated_tokens);
        let mut ranked: Vec<u64> = self.first_token_ms.iter().copied().collect();
        ranked.sort_unstable();
        Totals {
            hit_ratio: ratio(sums.cached_tokens, told),
            extension_ratio: ratio(of(Class::Extension), later),
            first_token_p50_ms: percentile(&ranked, 50),
            first_token_p99_ms: percentile(&ranked, 99),
            ..sums.clone()
        }
    }
}

fn is_miss(class: &str) -> bool {
    ![Class::First.word(), Class::Extension.word()].contains(&class)
}

fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// The smallest value that this percentage of the values does not exceed.
fn percentile(ranked: &[u64], percent: usize) -> Option<u64> {
    let rank = (ranked.len() * percent).div_ceil(100);
    ranked.get(rank.checked_sub(1)?).copied()
}

/// Writes a counter with a value for each server; `(name, help)`.
pub(crate) fn counters<T>(
    out: &mut String,
    servers: &BTreeMap<String, T>,
    about: (&str, &str),
    read: impl Fn(&T) -> u64,
) {
    let rows = servers
        .iter()
        .map(|(server, counts)| (label("upstream", server), read(counts)));
    metric(out, "counter", about, rows);
}

fn label(name: &str, value: &str) -> String {
    format!("{name}=\"{}\"", escaped(value))
}

/// Writes a metric with a value for each set of labels in Prometheus's format; `(name, help)`. A counter's name gets
/// the suffix `_total`.
pub fn metric<L: AsRef<str>>(
    out: &mut String,
    kind: &str,
    (name, help): (&str, &str),
    rows: impl Iterator<Item = (L, u64)>,
) {
    let whole = "a string takes all";
    let suffix = if kind == "counter" { "_total" } else { "" };
    writeln!(out, "# HELP {name}{suffix} {help}.\n# TYPE {name}{suffix} {kind}").expect(whole);
    for (labels, value) in rows {
        match labels.as_ref() {
            "" => writeln!(out, "{name}{suffix} {value}").expect(whole),
            labels => writeln!(out, "{name}{suffix}{{{labels}}} {value}").expect(whole),
        }
    }
}

fn escaped(value: &str) -> String {
    value
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}
