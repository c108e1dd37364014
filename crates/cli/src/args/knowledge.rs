//! The arguments of `quipu knowledge`.
//!
//! Owns: their names and help. Never: executing them.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{MethodArg, ScopeArgs};

#[derive(Debug, Args)]
#[command(mut_args(|arg| arg.global(true)))]
pub(crate) struct KnowledgeArgs {
    #[command(subcommand)]
    pub(crate) command: KnowledgeCommand,
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum KnowledgeCommand {
    /// Store files as documents: text, Markdown, HTML, PDF, DOCX, PPTX, XLSX or EML
    Add {
        /// Files; each becomes a document, and its content decides its format
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        /// Title of the document [default: its own title]
        #[arg(long)]
        title: Option<String>,
        /// Category, a name in the library's `.taxonomy.md` [default: chosen by Quipu]
        #[arg(long, value_name = "NAME")]
        category: Option<String>,
    },
    /// List documents, newest first
    List {
        /// Only documents of this category
        #[arg(long, value_name = "NAME")]
        category: Option<String>,
        /// Page, from 1
        #[arg(long, default_value_t = 1)]
        page: u32,
    },
    /// Show a document's topics, or a topic's text
    Show {
        /// Id of a document or topic, from a list or a search
        id: String,
    },
    /// Search the documents
    Search {
        /// A question or words
        #[arg(required = true)]
        query: Vec<String>,
        /// Search by keywords, by meaning (vector) or by both (hybrid)
        #[arg(long, value_enum, default_value_t = MethodArg::Hybrid)]
        method: MethodArg,
        /// Maximum number of topics
        #[arg(long, short = 'n', default_value_t = 5)]
        limit: u32,
    },
    /// Delete documents and their original files, from the history too
    Delete {
        /// Ids of documents, from `quipu knowledge list`
        #[arg(required_unless_present = "all", value_name = "ID")]
        ids: Vec<String>,
        /// Delete every document of the tenant, and the library's categories
        #[arg(long, conflicts_with = "ids")]
        all: bool,
        /// Delete without confirmation; only --all asks
        #[arg(long, short)]
        yes: bool,
    },
}
