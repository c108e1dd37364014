//! The arguments of `quipu knowledge`.
//!
//! Owns: their names and help. Never: what is done with them.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{MethodArg, ScopeArgs};

#[derive(Debug, Args)]
pub(crate) struct KnowledgeArgs {
    #[command(subcommand)]
    pub(crate) command: KnowledgeCommand,
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum KnowledgeCommand {
    /// Keep files: text, Markdown, HTML or PDF
    Add {
        /// Each becomes a document; their kinds are told by what is in them
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        /// What the document is called [default: its own title]
        #[arg(long)]
        title: Option<String>,
        /// What it belongs to, a name in the library's `.taxonomy.md` [default: chosen for it]
        #[arg(long, value_name = "NAME")]
        category: Option<String>,
    },
    /// List documents, the newest first
    List {
        /// Only those of one category
        #[arg(long, value_name = "NAME")]
        category: Option<String>,
        /// Which page, from 1
        #[arg(long, default_value_t = 1)]
        page: u32,
    },
    /// Show a document's topics, or a topic's text
    Show {
        /// A document's or a topic's, as lists and searches show them
        id: String,
    },
    /// Find the parts of documents that answer a question
    Search {
        /// A question or words
        query: String,
        /// By words, by meaning, or by both
        #[arg(long, value_enum, default_value_t = MethodArg::Hybrid)]
        method: MethodArg,
        /// How many at most
        #[arg(long, short = 'n', default_value_t = 5)]
        limit: u32,
    },
    /// Delete documents and the files that they were made of, from the history too
    Delete {
        /// As lists show them
        #[arg(required_unless_present = "all", value_name = "ID")]
        ids: Vec<String>,
        /// Every document of the tenant, with the library's categories
        #[arg(long, conflicts_with = "ids")]
        all: bool,
        /// Do not ask; only --all asks
        #[arg(long, short)]
        yes: bool,
    },
}
