//! `quipu completions`, and the manual pages of packages.

use std::io::Write;

use clap::CommandFactory;

use crate::args::{Cli, CompletionsArgs, ManArgs};
use crate::error::{Exit, Failure};
use crate::output::written;

pub(super) fn completions(args: &CompletionsArgs) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "quipu", &mut script);
    written(std::io::stdout().write_all(&script))?;
    Ok(Exit::Ok)
}

/// A page for the program and one for each command.
pub(super) fn manual(args: &ManArgs) -> Result<Exit, Failure> {
    clap_mangen::generate_to(Cli::command(), &args.folder)?;
    Ok(Exit::Ok)
}
