//! Arguments of `quipu model`.

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub(crate) struct ModelArgs {
    #[command(subcommand)]
    pub(crate) command: ModelCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ModelCommand {
    /// Download a model from the hub, run it once and show its configuration
    Fetch {
        /// Hub id, as in `intfloat/multilingual-e5-small`, or the folder of a model
        #[arg(value_name = "ID")]
        id: String,
    },
}
