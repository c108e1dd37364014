//! Arguments of `quipu token`.
//!
//! Owns: the command's words. Never: its work.

use clap::{Args, Subcommand};

use crate::config::RoleKey;

#[derive(Debug, Args)]
pub(crate) struct TokenArgs {
    #[command(subcommand)]
    pub(crate) what: TokenCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TokenCommand {
    /// Create a token and print it; it is shown only this once
    Create(TokenCreateArgs),
    /// List tokens by id, with what they open
    List,
    /// Revoke a token; a running server refuses it from the next request on
    Revoke(TokenRevokeArgs),
}

#[derive(Debug, Args)]
pub(crate) struct TokenCreateArgs {
    /// The user whose memory it opens; for an admin, the user of requests that name none [default: every user]
    #[arg(long, value_name = "NAME")]
    pub(crate) user: Option<String>,
    /// Allow to search (read), also to change memory (write), also to administer all users and the server (admin)
    #[arg(long, value_enum)]
    pub(crate) role: RoleKey,
    /// The application that it opens [default: every one; with --user: default]
    #[arg(long, value_name = "ID")]
    pub(crate) app: Option<String>,
    /// The project that it opens
    #[arg(long, value_name = "ID")]
    pub(crate) project: Option<String>,
    /// Also open what the user said outside of any project
    #[arg(long)]
    pub(crate) person: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TokenRevokeArgs {
    /// Id of the token, from `quipu token list`
    pub(crate) id: String,
}
