//! Arguments of `quipu token`.
//!
//! Owns: the command's words. Never: its work.

use clap::{Args, Subcommand};

use crate::config::TokenPurpose;

#[derive(Debug, Args)]
pub(crate) struct TokenArgs {
    #[command(subcommand)]
    pub(crate) what: TokenCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TokenCommand {
    /// Create a token and print it; it is shown only this once
    Create(TokenPurpose),
    /// List tokens by id, with what they open
    List,
    /// Revoke a token; a running server refuses it from the next request on
    Revoke(TokenRevokeArgs),
}

#[derive(Debug, Args)]
pub(crate) struct TokenRevokeArgs {
    /// Id of the token, from `quipu token list`
    pub(crate) id: String,
}
