//! The command line: commands, configuration, building the world, and closing it in order.
//!
//! Owns: the runtime, the environment, the system clock, exit codes. Never: a use case of its own.
//!
//! Reading order: `args`, `config`, `world`, `api` (every command asks it, in this process or in the server that holds the root),
//! then one file for each group of commands.

mod api;
mod archive;
mod args;
mod belonging;
mod clients;
mod clock;
mod commands;
mod compaction_command;
mod config;
mod contexts;
mod environment;
mod error;
mod import;
mod instructions;
mod machine;
mod memory_file;
mod models;
mod old_history;
mod output;
mod portable;
mod private;
mod progress;
mod project;
mod reader;
mod root;
mod serving;
mod tokens;
mod upstreams;
mod world;

use std::ffi::OsString;

pub use error::Exit;
pub use world::OpenIndex;

/// Runs one command; the binary provides `open_index`.
pub fn run(arguments: impl IntoIterator<Item = OsString>, open_index: OpenIndex) -> Exit {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    if arguments
        .get(1)
        .is_some_and(|command| command == reader::child::COMMAND)
    {
        return reader::child::run();
    }
    let cli = match args::parse(&arguments) {
        Ok(cli) => cli,
        Err(error) => {
            let is_help = !error.use_stderr();
            // An agent would take the exit code for wrong usage as a veto against its prompt.
            let is_hook = arguments.get(1).is_some_and(|command| command == "hook");
            if !is_help && arguments.iter().any(|argument| argument == "--json") {
                let words = error.to_string();
                let words = words.trim_start_matches("error: ").trim_end();
                output::failure(&error::Failure::usage(words), true);
            } else {
                // A closed pipe is not an error while printing help.
                error.print().ok();
            }
            return if is_help || is_hook { Exit::Ok } else { Exit::Usage };
        }
    };
    // Manual pages are for everybody; all other files belong to one person.
    if !matches!(cli.command, args::Command::Man { .. }) {
        private::files();
    }
    let json = cli.json;
    let hook = matches!(cli.command, args::Command::Hook(_)).then(|| cli.root.clone());
    match (commands::run(cli, open_index), hook) {
        (Ok(exit), _) => exit,
        (Err(failure), hook) => {
            output::failure(&failure, json);
            hook.map_or(failure.exit, |root| commands::excused(root, &failure))
        }
    }
}
