//! The cost of idle sessions.
//!
//! Owns: the protocol. A server gets a thousand messages in ten sessions, then many sessions of one message
//! each, which wait for their idle time. It is measured again after a restart, before it has read any of
//! their text.

#![expect(clippy::disallowed_methods, reason = "measuring reads the real clock")]

use std::path::PathBuf;
use std::time::Duration;

use anyhow::ensure;
use serde_json::{Value, json};

use crate::built::{CLIENTS, Server, send};
use crate::row;
use crate::word_stream::WordStream;

/// What to measure with.
#[derive(Debug, clap::Args)]
pub(crate) struct IdleArgs {
    /// The built binary
    #[arg(long, default_value = "target/release/quipu")]
    binary: PathBuf,
    /// A folder for the data; it must not exist
    #[arg(long)]
    root: PathBuf,
    /// Sessions that wait
    #[arg(long, default_value_t = 10_000)]
    sessions: usize,
    /// Seconds for which each state is looked at
    #[arg(long, default_value_t = 60)]
    seconds: u64,
}

/// Measures and prints one row for each state.
pub(crate) async fn run(args: IdleArgs) -> anyhow::Result<()> {
    ensure!(!args.root.exists(), "`{}` exists already", args.root.display());
    let mut words = WordStream::new(11);
    row(&["state", "share of a core", "resident memory"].map(str::to_owned));
    row(&["---", "---", "---"].map(str::to_owned));
    let server = Server::start(&args.binary, &args.root).await?;
    send(&server, "add", talk(0..10, 100, &mut words), CLIENTS).await?;
    look(&server, "10 sessions", &args).await?;
    let server = again(server, &args).await?;
    look(&server, "10 sessions, after a restart", &args).await?;
    let waiting = talk(10..10 + args.sessions, 1, &mut words);
    send(&server, "add", waiting, CLIENTS).await?;
    look(&server, &format!("{} sessions", 10 + args.sessions), &args).await?;
    let server = again(server, &args).await?;
    look(
        &server,
        &format!("{} sessions, after a restart", 10 + args.sessions),
        &args,
    )
    .await
}

/// Adds of one message each, session by session. The idle time begins on arrival, whatever the message's
/// date.
fn talk(sessions: std::ops::Range<usize>, messages: usize, words: &mut WordStream) -> Vec<Value> {
    let adds = sessions.flat_map(|session| (0..messages).map(move |place| (session, place)));
    adds.map(|(session, place)| {
        json!({"session_id": format!("s-{session}"), "messages": [{
            "sender_id": format!("owner-{}", session % 100), "role": "user",
            "timestamp": 1_700_000_000_000_i64 + i64::try_from(place).unwrap_or_default() * 1_000,
            "content": words.sentence(true),
        }]})
    })
    .collect()
}

async fn again(server: Server, args: &IdleArgs) -> anyhow::Result<Server> {
    drop(server);
    Server::start(&args.binary, &args.root).await
}

async fn look(server: &Server, state: &str, args: &IdleArgs) -> anyhow::Result<()> {
    server.settled().await?;
    // Work just after the last message is not part of waiting.
    tokio::time::sleep(Duration::from_secs(30)).await;
    let before = server.cpu()?;
    tokio::time::sleep(Duration::from_secs(args.seconds)).await;
    let used = server.cpu()?.saturating_sub(before);
    let percent = used.as_secs_f64() / Duration::from_secs(args.seconds).as_secs_f64() * 100.0;
    row(&[
        state.to_owned(),
        format!("{percent:.2} %"),
        format!("{} MiB", server.resident_mib()?),
    ]);
    Ok(())
}
