//! Retrieval quality and speed, measured through the HTTP API. The data sets are never part of the project.
//!
//! Owns: protocols and their tables. Never: tuning on what it measures, or a way around the API.

mod client;
mod locomo;
mod longmemeval;
mod speed;
mod words;

use std::path::PathBuf;

use clap::{Parser, Subcommand};

/// Measures Quipu.
#[derive(Debug, Parser)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Evidence of LoCoMo's questions among the ranked messages
    Locomo(DataArgs),
    /// Evidence of LongMemEval's questions among the ranked messages
    Longmemeval(DataArgs),
    /// Start, ingest, acknowledgement, search, growth, rebuild
    Speed(speed::SpeedArgs),
}

#[derive(Debug, clap::Args)]
struct DataArgs {
    /// The data set's file
    #[arg(long)]
    data: PathBuf,
    /// The server
    #[arg(long, default_value = "http://127.0.0.1:4777")]
    url: String,
    /// How to search
    #[arg(long, default_value = "hybrid")]
    method: String,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    match Cli::parse().command {
        Command::Locomo(args) => locomo::run(args).await,
        Command::Longmemeval(args) => longmemeval::run(args).await,
        Command::Speed(args) => speed::run(args).await,
    }
}

/// A table's row.
#[expect(clippy::print_stdout, reason = "the table is the result")]
fn row(cells: &[String]) {
    println!("| {} |", cells.join(" | "));
}
