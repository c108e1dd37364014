//! `quipu completions`, and the manual pages of packages.

use std::io::Write;
use std::path::Path;

use clap::CommandFactory;
use clap_complete::Shell;

use crate::args::Cli;
use crate::error::{Exit, Failure};
use crate::output::written;

pub(super) fn completions(shell: Shell) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "quipu", &mut script);
    written(std::io::stdout().write_all(&script))?;
    Ok(Exit::Ok)
}

/// Writes one page for the program and one for each command.
pub(super) fn manual(folder: &Path) -> Result<Exit, Failure> {
    clap_mangen::generate_to(Cli::command(), folder)?;
    Ok(Exit::Ok)
}
