//! The memory that a conversation turn gets. The built binary runs between a client and a model server
//! without a model, which records the request that arrives.
//!
//! Owns: the commands of `eval turn` and the halves. Never: ranking, or printing the failed cases of a
//! held-out half.
//!
//! Reading order: `door` (the servers, importing, asking), `sets` (the written sets' format), `dialogue`
//! (LoCoMo), `facts` (remembered facts), `probes`, `updates` (changed facts), `strangers` (all of these), `offline` (the
//! same without a server).

mod dialogue;
pub(crate) mod door;
mod facts;
mod offline;
mod probes;
pub(crate) mod sets;
mod strangers;
mod updates;

use std::fmt;
use std::path::PathBuf;

use clap::{Parser, Subcommand};

use crate::DataArgs;
use door::Door;

#[derive(Debug, Parser)]
pub(crate) struct TurnArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Evidence of LoCoMo's questions in what a turn is given
    Locomo {
        #[command(flatten)]
        data: DataArgs,
        #[command(flatten)]
        turn: CommonArgs,
        /// At most so many questions of each conversation, drawn evenly; 0: all
        #[arg(long, default_value_t = 0)]
        limit: usize,
    },
    /// Remembered facts, asked for in other words
    Facts(CommonArgs),
    /// Questions with an answer in memory, questions without one, and turns that are about something else
    Probes {
        #[command(flatten)]
        turn: CommonArgs,
        /// Print the search route's best scores for each odd probe, and how well they tell the kinds apart
        #[arg(long)]
        scores: bool,
    },
    /// Whether the current value of a changed fact is given, and the old one only marked as past
    Changed(CommonArgs),
    /// All of these kinds of turns, each set by another writer
    Strangers(CommonArgs),
    /// What ranking alone finds and tells for each odd question of a written set, as lines of JSON to tune with
    Offline {
        /// A file in the format of the written sets
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// A weight other than the default, as in `near=1.2`; may be repeated
        #[arg(long = "set", value_name = "NAME=VALUE")]
        weights: Vec<String>,
    },
}

#[derive(Debug, clap::Args)]
struct CommonArgs {
    /// The built binary
    #[arg(long, default_value = "target/release/quipu")]
    binary: PathBuf,
    /// Clients that ask at once. A turn waits only some milliseconds for memory: more clients than processors measure that
    #[arg(long, default_value_t = 2)]
    clients: usize,
    /// Print so many failures of the half to develop with
    #[arg(long, default_value_t = 0)]
    show: usize,
}

pub(crate) async fn run(args: TurnArgs) -> anyhow::Result<()> {
    match args.what {
        What::Locomo { data, turn, limit } => dialogue::run(&data, &turn, limit).await,
        What::Facts(turn) => facts::run(&turn).await,
        What::Probes { turn, scores } => probes::run(&turn, scores).await,
        What::Strangers(turn) => strangers::run(&turn).await,
        What::Offline { files, weights } => offline::run(&files, &crate::offline::weights(&weights)?).await,
        What::Changed(turn) => updates::run(&turn).await,
    }
}

/// Cases are for development, or held out: of the held-out ones only counts are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Half {
    Developed,
    HeldOut,
}

impl fmt::Display for Half {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Developed => "developed with",
            Self::HeldOut => "held out",
        })
    }
}

/// Prints how many turns got memory late, because the machine was busy.
fn print_repeated(door: &Door) {
    println!(
        "\nturns that were given memory only when asked again: {}",
        door.repeated()
    );
}

/// `n of m (p %)`
pub(crate) fn share(part: usize, all: usize) -> String {
    format!(
        "{part} of {all} ({:.0} %)",
        100.0 * part as f64 / all.max(1) as f64
    )
}
