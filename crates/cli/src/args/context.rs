//! The arguments of `quipu context`.
//!
//! Owns: their names and help. Never: executing them.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{DEFAULT_USER, ScopeArgs};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct ContextArgs {
    /// A transcript: OpenAI or Anthropic messages (JSON or JSONL), a Claude Code or Codex session
    pub(crate) file: Option<PathBuf>,
    /// Maximum tokens of the request, tools included [default: 7/8 of the model's window]
    #[arg(long, value_name = "TOKENS")]
    pub(crate) budget: Option<usize>,
    /// Model whose window applies [default: the transcript's model]
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// Compaction policy: quipu, codebuddy or openclaw
    #[arg(long, default_value = "quipu", value_name = "NAME")]
    pub(crate) policy: String,
    /// Print the original of a message (m17), or of all messages behind a summary (n3)
    #[arg(long, value_name = "ID")]
    pub(crate) recover: Option<String>,
    /// Print the importance of each message and its factors, the least important first
    #[arg(long, conflicts_with = "recover")]
    pub(crate) scores: bool,
    /// Score with another number, as `decision=0.5`: of a kind, or of `recency`, `user`, `system_role`, `length_over`, `length_cost`
    #[arg(long, value_name = "NAME=NUMBER", requires = "scores")]
    pub(crate) weight: Vec<String>,
    #[command(subcommand)]
    pub(crate) command: Option<ContextCommand>,
}

/// A conversation of the running system.
#[derive(Debug, Clone, Args)]
pub(crate) struct LiveArgs {
    /// Id of the conversation: your name for it, or the value of the header `x-quipu-conversation`
    #[arg(value_name = "CONVERSATION")]
    pub(crate) conversation: String,
    #[command(flatten)]
    pub(crate) of: LiveOf,
}

/// Owner and tenant of a conversation.
#[derive(Debug, Clone, Args)]
pub(crate) struct LiveOf {
    /// The user of the conversation
    #[arg(long, default_value = DEFAULT_USER, value_name = "ID")]
    pub(crate) user: String,
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ContextCommand {
    /// Show which instruction files conversations begin with
    Instructions,
    /// Show prompt-cache hits and misses per request, with the reason for each miss
    Cache {
        /// Show only this conversation
        #[arg(long, value_name = "ID")]
        conversation: Option<String>,
    },
    #[command(flatten)]
    Live(LiveContext),
}

#[derive(Debug, Subcommand)]
pub(crate) enum LiveContext {
    /// List conversations
    List(LiveOf),
    /// Show what the model sees of a conversation
    Show(LiveArgs),
    /// Show how full a conversation is, its summaries and its warnings
    Stats(LiveArgs),
    /// Compact a conversation now
    Compact(LiveArgs),
    /// Print the original of a message (m17), or of all messages behind a summary (n3)
    Recover {
        #[command(flatten)]
        live: LiveArgs,
        id: String,
    },
    /// Find messages that contain all the words, compacted messages included
    Find {
        #[command(flatten)]
        live: LiveArgs,
        #[arg(required = true)]
        words: Vec<String>,
    },
    /// Keep a message verbatim through every compaction
    Pin {
        #[command(flatten)]
        live: LiveArgs,
        /// The message: m17
        id: String,
        /// Remove the pin
        #[arg(long)]
        off: bool,
    },
    /// Copy a conversation to a new name
    Fork {
        #[command(flatten)]
        live: LiveArgs,
        /// The name of the copy
        to: String,
        /// Copy only the messages before this one: m17
        #[arg(long, value_name = "ID")]
        before: Option<String>,
    },
    /// Continue a conversation from just before a message
    Rewind {
        #[command(flatten)]
        live: LiveArgs,
        /// The message: m17
        to: String,
    },
}
