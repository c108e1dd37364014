//! Retrieval quality and speed of the whole product. The data sets are never part of the project.
//!
//! Owns: protocols and their tables. Never: data, or tuning on the half that is reported.
//!
//! Reading order: `cases` (the common form of data sets), `locomo`, `longmemeval` and `talks` (their
//! formats), `measure` (the measures), `bm25` (the baseline), `server` (the product through its HTTP API),
//! `offline` (ranking alone, in this process, its vectors `cached`), `changed` (facts that change), `facts`
//! (a sample for readers), `extraction` (the extraction of a chat model), `built` (the binary as a process),
//! `turn` (the memory that a conversation turn gets), `own` (all of it on a person's own export), `speed`,
//! `idle`, `word_stream`.
#![expect(clippy::print_stdout, reason = "a measurement's result is what it prints")]

mod bm25;
mod built;
mod cached;
mod cases;
mod changed;
mod extraction;
mod facts;
mod idle;
mod locomo;
mod longmemeval;
mod measure;
mod offline;
mod own;
mod server;
mod speed;
mod talks;
mod turn;
mod word_stream;

use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};

use cases::Case;

/// Measures Quipu.
#[derive(Debug, Parser)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Evidence of LoCoMo's questions among the ranked messages, through a running server
    Locomo(ThroughServerArgs),
    /// Evidence of LongMemEval's questions among the ranked messages, through a running server
    Longmemeval(ThroughServerArgs),
    /// The same of either, with ranking alone: in this process, without a server or a store
    Offline {
        set: Set,
        #[command(flatten)]
        data: DataArgs,
        #[command(flatten)]
        offline: offline::OfflineArgs,
    },
    /// What the rules learn from a set's talk, drawn at random, each with its sentence
    Facts {
        set: Set,
        #[command(flatten)]
        data: DataArgs,
        #[command(flatten)]
        facts: facts::FactsArgs,
    },
    /// Whether the current value of a changed fact comes first, with ranking alone
    Changed(changed::ChangedArgs),
    /// What a chat model, or the rules, extract from talks that were marked by hand
    Extract(extraction::ExtractArgs),
    /// What memory adds to a conversation turn, through a server that this command starts
    Turn(turn::TurnArgs),
    /// Memory of your own export, in numbers alone: no word of it is printed or kept
    Own(own::OwnArgs),
    /// Start, ingest, acknowledgement, search, growth, rebuild
    Speed(speed::SpeedArgs),
    /// What waiting sessions cost
    Idle(idle::IdleArgs),
}

#[derive(Debug, clap::Args)]
struct ThroughServerArgs {
    #[command(flatten)]
    data: DataArgs,
    #[command(flatten)]
    server: server::ServerArgs,
}

#[derive(Debug, clap::Args)]
struct DataArgs {
    /// The data set's file; `.zst` is unpacked
    #[arg(long)]
    data: PathBuf,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Set {
    Locomo,
    Longmemeval,
    /// Talks in the format of `talks.rs`
    Talks,
}

impl Set {
    fn read(self, data: &DataArgs) -> anyhow::Result<Vec<Case>> {
        let text = cases::read_text(&data.data)?;
        match self {
            Self::Locomo => locomo::cases(&text),
            Self::Longmemeval => longmemeval::cases(&text),
            Self::Talks => talks::cases(&text),
        }
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    match Cli::parse().command {
        Command::Locomo(args) => server::run(&Set::Locomo.read(&args.data)?, &args.server).await,
        Command::Longmemeval(args) => server::run(&Set::Longmemeval.read(&args.data)?, &args.server).await,
        Command::Offline { set, data, offline } => offline::run(&set.read(&data)?, &offline).await,
        Command::Facts { set, data, facts } => {
            facts::run(&set.read(&data)?, &facts);
            Ok(())
        }
        Command::Changed(args) => changed::run(&args).await,
        Command::Extract(args) => extraction::run(&args).await,
        Command::Turn(args) => turn::run(args).await,
        Command::Own(args) => own::run(args).await,
        Command::Speed(args) => speed::run(args).await,
        Command::Idle(args) => idle::run(args).await,
    }
}

/// A table's row.
fn row(cells: &[String]) {
    println!("| {} |", cells.join(" | "));
}
