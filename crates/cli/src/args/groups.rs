//! The commands by what they are for, as the help shows them.
//!
//! Owns: the groups. Never: a command's own words.

use std::ffi::OsString;

use clap::{CommandFactory, FromArgMatches};

use super::Cli;
use crate::output::wrapped;

const GROUPS: [(&str, &str); 5] = [
    (
        "Remember and find",
        "add import ask search get review forget knowledge users",
    ),
    (
        "Connect agents and models",
        "init serve chat mcp hook token doctor config model",
    ),
    (
        "See what Quipu did",
        "log show diff undo audit runs trigger skill context cache",
    ),
    ("Keep it", "status sync rebuild retry export backup restore"),
    ("Get to know it", "demo completions"),
];

/// The command line as it was typed.
pub(crate) fn parse(arguments: &[OsString]) -> Result<Cli, clap::Error> {
    Cli::from_arg_matches(&grouped().try_get_matches_from(arguments)?)
}

fn grouped() -> clap::Command {
    let command = Cli::command();
    let mut groups = String::new();
    for (heading, names) in GROUPS {
        groups.extend(["\n", heading, ":\n"]);
        for command in names.split(' ').filter_map(|name| command.find_subcommand(name)) {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            let name = format!("  {:<12} ", command.get_name());
            groups.extend([&*wrapped(&name, &about), "\n"]);
        }
    }
    let above = "{about-with-newline}\n{usage-heading} {usage}\n";
    command.help_template(format!("{above}{groups}\nOptions:\n{{options}}{{after-help}}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_that_is_shown_stands_in_one_group() {
        let help = parse(&["quipu".into()]).expect_err("it is help").to_string();
        for command in Cli::command().get_subcommands().filter(|one| !one.is_hide_set()) {
            let line = format!("\n  {:<12} ", command.get_name());
            assert_eq!(help.matches(&line).count(), 1, "{line}{help}");
        }
        assert!(help.contains("--root") && help.contains("Exit codes:"), "{help}");
    }
}
