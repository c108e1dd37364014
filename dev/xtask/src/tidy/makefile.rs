//! `make lint-all` looks at every member of the workspace.
//!
//! Owns: what clippy and rustdoc are told there. Never: the other targets.

use super::layers;
use serde_json::Value;

const TARGET: &str = "lint-all";
const VARIABLE: &str = "LINTED";

/// Members that `make lint-all` leaves out, and checks that it does not make.
pub(crate) fn check(metadata: &Value, makefile: &str) -> Vec<String> {
    let lines = joined(makefile);
    let mut problems = Vec::new();
    let covered = value(&lines, &format!("{TARGET}: {VARIABLE} :=")).map(|value| expanded(&lines, value, 4));
    let covered = covered.unwrap_or_default();
    let words: Vec<&str> = covered.split_whitespace().collect();
    if !words.contains(&"--workspace") {
        problems.push(format!(
            "Makefile: `{TARGET}` must set `{VARIABLE}` to `--workspace`"
        ));
    }
    for pair in words.windows(2).filter(|pair| pair[0] == "--exclude") {
        problems.push(format!("Makefile: `{TARGET}` leaves out `{}`", pair[1]));
    }
    for word in words.iter().filter_map(|word| word.strip_prefix("--exclude=")) {
        problems.push(format!("Makefile: `{TARGET}` leaves out `{word}`"));
    }
    let members: Vec<&str> = layers::packages(metadata).into_iter().map(layers::name).collect();
    for (target, command, flags) in [
        ("clippy", " clippy ", ["--all-targets", "--deny warnings"]),
        ("doc", " doc ", ["--no-deps", "--deny warnings"]),
    ] {
        let needs = lines
            .iter()
            .filter_map(|line| line.strip_prefix(&format!("{TARGET}:")));
        let needed = needs.flat_map(|line| line.split('#').next().unwrap_or_default().split_whitespace());
        if !needed.into_iter().any(|word| word == target) {
            problems.push(format!("Makefile: `{TARGET}` must need `{target}`"));
        }
        let recipe = recipe(&lines, target);
        let runs = recipe
            .iter()
            .find(|line| line.contains(command) && line.contains(&format!("$({VARIABLE})")));
        let Some(runs) = runs else {
            problems.push(format!(
                "Makefile: `{target}` must run `cargo{command}$({VARIABLE})`"
            ));
            continue;
        };
        for flag in flags.iter().filter(|flag| !runs.contains(**flag)) {
            problems.push(format!("Makefile: `{target}` must pass `{flag}`"));
        }
        for member in members
            .iter()
            .filter(|member| runs.contains(&format!("--exclude {member}")))
        {
            problems.push(format!("Makefile: `{target}` leaves out `{member}`"));
        }
    }
    problems
}

/// The lines of a Makefile; a line that ends in `\` goes on in the next.
fn joined(makefile: &str) -> Vec<String> {
    makefile.replace("\\\n", " ").lines().map(str::to_owned).collect()
}

fn value<'a>(lines: &'a [String], assignment: &str) -> Option<&'a str> {
    lines.iter().find_map(|line| line.strip_prefix(assignment))
}

/// The text with the variables of the file in place of their names.
fn expanded(lines: &[String], text: &str, depth: usize) -> String {
    let Some((before, rest)) = text.split_once("$(").filter(|_| depth > 0) else {
        return text.to_owned();
    };
    let (name, after) = rest.split_once(')').unwrap_or((rest, ""));
    let value = value(lines, &format!("{name} :=")).unwrap_or_default();
    let value = expanded(lines, value, depth - 1);
    format!("{before}{value}{}", expanded(lines, after, depth))
}

/// The commands of a target.
fn recipe<'a>(lines: &'a [String], target: &str) -> Vec<&'a str> {
    let start = lines.iter().position(|line| {
        let rest = line.strip_prefix(&format!("{target}:"));
        rest.is_some_and(|rest| !rest.contains(":="))
    });
    let after = lines.iter().skip(start.map_or(lines.len(), |start| start + 1));
    after
        .take_while(|line| line.starts_with('\t'))
        .map(String::as_str)
        .collect()
}
