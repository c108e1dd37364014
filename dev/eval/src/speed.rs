//! Speed and footprint of the built binary, measured from outside: start, ingest, acknowledgement, search, growth,
//! rebuild. It starts the server itself, in a folder of its own.

#![expect(clippy::disallowed_methods, reason = "measuring reads the real clock")]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use serde_json::{Value, json};

use crate::built::{CLIENTS, Server, send};
use crate::word_stream::WordStream;

/// Messages in one add, as a chat client that batches would send them.
const ADD_MESSAGES: usize = 10;
/// Messages of one episode; a pause longer than the server's limit follows.
const EPISODE_MESSAGES: usize = 2;
const OWNERS: usize = 10;

/// What to measure with.
#[derive(Debug, clap::Args)]
pub(crate) struct SpeedArgs {
    /// The built binary
    #[arg(long, default_value = "target/release/quipu")]
    binary: PathBuf,
    /// A folder for the data; it must not exist
    #[arg(long)]
    root: PathBuf,
    /// Memories (episodes) of the ten owners that are searched
    #[arg(long, default_value_t = 10_000)]
    memories: usize,
    /// How many times as much other owners' data is added for the growth row; 0 leaves it out
    #[arg(long, default_value_t = 9)]
    growth: usize,
    /// Searches of each kind
    #[arg(long, default_value_t = 2_000)]
    searches: usize,
}

/// Measures everything and prints one row for each number.
pub(crate) async fn run(args: SpeedArgs) -> anyhow::Result<()> {
    ensure!(!args.root.exists(), "`{}` exists already", args.root.display());
    let mut words = WordStream::new(7);
    let started = Instant::now();
    let server = Server::start(&args.binary, &args.root).await?;
    row(
        "cold start to healthy",
        format!("{} ms", started.elapsed().as_millis()),
    );
    tokio::time::sleep(Duration::from_secs(2)).await;
    row("resident memory, idle", format!("{} MiB", server.resident_mib()?));

    ingest(&server, &args, &mut words).await?;
    acknowledge(&server, &mut words).await?;
    let before = search_all(&server, &args, &mut words).await?;
    row(
        "resident memory, after search load",
        format!("{} MiB", server.resident_mib()?),
    );
    if args.growth > 0 {
        grow(&server, &args, &mut words).await?;
        let after = one_owner(&server, "hybrid", args.searches, &mut words).await?;
        let ratio = after.as_secs_f64() / before.as_secs_f64();
        row(
            "same owner, others' data × 10: hybrid p50",
            format!("{} µs, {ratio:.2} ×", after.as_micros()),
        );
        row(
            "resident memory, after growth",
            format!("{} MiB", server.resident_mib()?),
        );
    }
    drop(server);
    rebuild(&args)
}

/// Adds that give an owner `memories` memories, episode after episode.
fn adds(owner: &str, session: usize, memories: usize, words: &mut WordStream) -> Vec<Value> {
    let mut messages = Vec::new();
    for episode in 0..memories {
        let start = 1_600_000_000_000 + (session * 1_000 + episode) * 7_200_000;
        for place in 0..EPISODE_MESSAGES {
            let (role, sender) = if place % 2 == 0 {
                ("user", owner)
            } else {
                ("assistant", "helper")
            };
            messages.push(json!({
                "sender_id": sender, "role": role, "timestamp": start + place * 60_000,
                "content": words.sentence(place % 2 == 0),
            }));
        }
    }
    let session = format!("{owner}-{session}");
    let adds = messages.chunks(ADD_MESSAGES);
    adds.map(|messages| json!({"session_id": session, "messages": messages}))
        .collect()
}

pub(crate) fn quantile(sorted: &[Duration], q: f64) -> Duration {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "an index into a small list"
    )]
    let at = ((sorted.len() - 1) as f64 * q) as usize;
    sorted[at]
}

const SESSION_MEMORIES: usize = 50;

/// The cost of an ingest.
struct Ingest {
    messages: f64,
    latencies: Vec<Duration>,
    acknowledged: Duration,
    written: Duration,
    cpu: Duration,
}

impl Ingest {
    /// Ingests sessions, owner after owner, from all clients at once, and waits until all is in Markdown and
    /// index.
    async fn of(
        server: &Server,
        sessions: impl IntoIterator<Item = usize>,
        owner: impl Fn(usize) -> String,
        words: &mut WordStream,
    ) -> anyhow::Result<Self> {
        let mut requests: Vec<Value> = Vec::new();
        let mut flushes = Vec::new();
        let mut columns: Vec<_> = sessions
            .into_iter()
            .map(|session| {
                let owner = owner(session);
                flushes.push(json!({"session_id": format!("{owner}-{session}")}));
                adds(&owner, session, SESSION_MEMORIES, words).into_iter()
            })
            .collect();
        // Interleaved, so that clients work on different sessions as real ones do; order inside a session is kept.
        while columns.iter().any(|column| column.len() > 0) {
            requests.extend(columns.iter_mut().filter_map(Iterator::next));
        }
        let messages = (requests.len() * ADD_MESSAGES) as f64;
        let (started, cpu) = (Instant::now(), server.cpu()?);
        let latencies = send(server, "add", requests, CLIENTS).await?;
        send(server, "flush", flushes, CLIENTS).await?;
        let acknowledged = started.elapsed();
        server.settled().await?;
        Ok(Self {
            messages,
            latencies,
            acknowledged,
            written: started.elapsed(),
            cpu: server.cpu()?.saturating_sub(cpu),
        })
    }

    fn acknowledged_rate(&self) -> String {
        format!("{:.0} msg/s", self.messages / self.acknowledged.as_secs_f64())
    }

    fn written_rate(&self) -> String {
        format!("{:.0} msg/s", self.messages / self.written.as_secs_f64())
    }

    fn cpu_each(&self) -> String {
        format!("{:.3} ms", self.cpu.as_secs_f64() * 1e3 / self.messages)
    }
}

async fn ingest(server: &Server, args: &SpeedArgs, words: &mut WordStream) -> anyhow::Result<()> {
    let sessions = args.memories.div_ceil(SESSION_MEMORIES);
    let owner = |session| format!("owner-{}", session % OWNERS);
    let done = Ingest::of(server, 0..sessions, owner, words).await?;
    row(
        "ingest, 8 clients, acknowledged and searchable",
        done.acknowledged_rate(),
    );
    row(
        "ingest, 8 clients, in Markdown and the index",
        done.written_rate(),
    );
    row("processor time a message", done.cpu_each());
    row("add of 10 under that load, p50 / p99", spread(&done.latencies));
    Ok(())
}

async fn acknowledge(server: &Server, words: &mut WordStream) -> anyhow::Result<()> {
    let requests = (0..1_000).map(|at| {
        json!({"session_id": format!("ack-{}", at % 20), "messages": [{
            "sender_id": "owner-ack", "role": "user", "timestamp": 1_700_000_000_000_i64 + at * 1_000,
            "content": words.sentence(true),
        }]})
    });
    let latencies = send(server, "add", requests.collect(), 1).await?;
    row(
        "acknowledge latency of an add, one client, p50 / p99",
        spread(&latencies),
    );
    let requests = (0..2_000).map(|at| {
        json!({"session_id": format!("ack-{}", at % 20), "messages": [{
            "sender_id": "owner-ack", "role": "user", "timestamp": 1_700_010_000_000_i64 + at * 1_000,
            "content": words.sentence(true),
        }]})
    });
    let latencies = send(server, "add", requests.collect(), CLIENTS).await?;
    row(
        "acknowledge latency of an add, 8 clients, p50 / p99",
        spread(&latencies),
    );
    server.settled().await?;
    Ok(())
}

fn question(owner: &str, method: &str, words: &mut WordStream) -> Value {
    json!({"user_id": owner, "query": words.question(), "method": method, "top_k": 10})
}

async fn search_all(server: &Server, args: &SpeedArgs, words: &mut WordStream) -> anyhow::Result<Duration> {
    for method in ["keyword", "hybrid"] {
        let ask =
            |at: usize, words: &mut WordStream| question(&format!("owner-{}", at % OWNERS), method, words);
        let warm: Vec<Value> = (0..OWNERS).map(|at| ask(at, words)).collect();
        let cold = send(server, "search", warm, 1).await?;
        row(
            &format!("{method}: first search of an owner, max"),
            format!("{} ms", quantile(&cold, 1.0).as_millis()),
        );
        let requests: Vec<Value> = (0..args.searches).map(|at| ask(at, words)).collect();
        let latencies = send(server, "search", requests, 1).await?;
        row(&format!("{method}: one client, p50 / p99"), spread(&latencies));
        let requests: Vec<Value> = (0..args.searches * 2).map(|at| ask(at, words)).collect();
        let count = requests.len() as f64;
        let started = Instant::now();
        let latencies = send(server, "search", requests, CLIENTS).await?;
        let rate = count / started.elapsed().as_secs_f64();
        row(
            &format!("{method}: 8 clients"),
            format!("{rate:.0} q/s, p50 / p99 {}", spread(&latencies)),
        );
    }
    one_owner(server, "hybrid", args.searches, words).await
}

async fn one_owner(
    server: &Server,
    method: &str,
    searches: usize,
    words: &mut WordStream,
) -> anyhow::Result<Duration> {
    let requests = (0..searches)
        .map(|_| question("owner-0", method, words))
        .collect();
    Ok(quantile(&send(server, "search", requests, 1).await?, 0.5))
}

/// Adds other owners' data, as much at a time as the searched owners have.
async fn grow(server: &Server, args: &SpeedArgs, words: &mut WordStream) -> anyhow::Result<()> {
    let sessions = args.memories.div_ceil(SESSION_MEMORIES);
    for round in 0..args.growth {
        let owner = |session| format!("other-{}", round * OWNERS + session % OWNERS);
        let all = round * sessions..(round + 1) * sessions;
        let done = Ingest::of(server, all, owner, words).await?;
        row(
            &format!("… {} memories more", args.memories),
            format!(
                "{}, {} a message, {} MiB",
                done.written_rate(),
                done.cpu_each(),
                server.resident_mib()?
            ),
        );
    }
    Ok(())
}

fn rebuild(args: &SpeedArgs) -> anyhow::Result<()> {
    let bytes = |path: &Path| -> anyhow::Result<f64> {
        let output = Command::new("du").args(["-sb"]).arg(path).output()?;
        let text = String::from_utf8(output.stdout)?;
        Ok(text
            .split_whitespace()
            .next()
            .context("no size")?
            .parse::<f64>()?
            / 1e6)
    };
    row(
        "index on disk",
        format!("{:.1} MB", bytes(&args.root.join("index"))?),
    );
    row(
        "Markdown on disk",
        format!("{:.1} MB", bytes(&args.root.join("memory"))?),
    );
    row(
        "ledger on disk",
        format!("{:.1} MB", bytes(&args.root.join("ledger.sqlite"))?),
    );
    let started = Instant::now();
    let status = Command::new(&args.binary)
        .args(["rebuild", "--json", "--root"])
        .arg(&args.root)
        .stdout(Stdio::null())
        .status()?;
    ensure!(status.success(), "rebuild failed");
    row("rebuild", format!("{:.1} s", started.elapsed().as_secs_f64()));
    row(
        "index on disk after the rebuild",
        format!("{:.1} MB", bytes(&args.root.join("index"))?),
    );
    Ok(())
}

fn spread(sorted: &[Duration]) -> String {
    let millis = |q| quantile(sorted, q).as_secs_f64() * 1e3;
    format!("{:.2} / {:.2} ms", millis(0.5), millis(0.99))
}

#[expect(clippy::print_stdout, reason = "the table is the result")]
fn row(what: &str, value: impl std::fmt::Display) {
    println!("| {what} | {value} |");
}
