//! The commands in groups by purpose, as the help shows them.
//!
//! Owns: the groups. Never: the help of a command.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory, FromArgMatches};

use super::Cli;
use crate::output::wrapped;

const GROUPS: &str = "\
Remember and find: add import ask search get review forget knowledge demo
Connect agents and models: init serve chat mcp hook token doctor config model
See what Quipu did: history audit runs skill context
Keep it: status sync rebuild export backup restore";

/// Parses the command line.
pub(crate) fn parse(arguments: &[OsString]) -> Result<Cli, clap::Error> {
    let matches = grouped().try_get_matches_from(arguments);
    Cli::from_arg_matches(&matches.map_err(with_place)?)
}

/// Adds the full command to an error about a subcommand that was typed without its group.
fn with_place(mut error: clap::Error) -> clap::Error {
    if let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidSubcommand) {
        let command = Cli::command();
        let place = |group: &clap::Command| {
            let found = group.find_subcommand(typed)?;
            Some(format!("{} {}", group.get_name(), found.get_name()))
        };
        let places: Vec<String> = command.get_subcommands().filter_map(place).collect();
        if !places.is_empty() {
            error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(places));
        }
    }
    error
}

fn grouped() -> clap::Command {
    let command = Cli::command();
    let mut groups = String::new();
    for (heading, names) in GROUPS.lines().filter_map(|group| group.split_once(": ")) {
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
    fn every_visible_command_is_in_exactly_one_group() {
        let help = parse(&["quipu".into()]).expect_err("it is help").to_string();
        for command in Cli::command().get_subcommands().filter(|one| !one.is_hide_set()) {
            let line = format!("\n  {:<12} ", command.get_name());
            assert_eq!(help.matches(&line).count(), 1, "{line}{help}");
        }
        assert!(help.contains("--root") && help.contains("Exit codes:"), "{help}");
    }

    #[test]
    fn a_subcommand_without_its_group_is_refused_with_the_full_command() {
        let refused = |line: &str| {
            let words = line.split(' ').map(OsString::from);
            parse(&words.collect::<Vec<_>>()).expect_err(line).to_string()
        };
        for (old, new) in [
            ("log --limit 3", "history log"),
            ("show --at 2026-11-01", "history show"),
            ("diff", "history diff"),
            ("undo r_1", "history undo"),
            ("trigger dream", "runs start"),
            ("retry", "runs retry"),
            ("cache --json", "context cache"),
            ("users", "status users"),
        ] {
            let error = refused(&format!("quipu {old}"));
            assert!(error.contains("unrecognized subcommand"), "{old}: {error}");
            assert!(error.contains(&format!("'{new}'")), "{old}: {error}");
            let help = refused(&format!("quipu {new} --help"));
            assert!(help.contains(&format!("Usage: quipu {new}")), "{new}: {help}");
        }
        assert!(refused("quipu statuss").contains("'status'"), "a slip");
        assert!(!refused("quipu quux").contains("tip"));
    }
}
