//! Developer commands: `cargo xtask tidy [--figures]`, `hygiene`, `rules`, `version`, `commit-msg FILE`, `commits RANGE`.
//!
//! Owns: the rules that no compiler checks. Never: anything of the product. Avoid adding dependencies to this crate.

mod commits;
mod hygiene;
mod rules;
mod rust;
mod tidy;
mod tree;
mod version;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};

const USAGE: &str = "\
usage: cargo xtask COMMAND
  tidy               check layers, loops, caps, public items, links, the map, the rules, and all that hygiene checks
  tidy --figures     print code lines of each crate and the type names that several types share
  hygiene [FILE...]  check files, or the whole tree, for stray white space, merge markers, large data and keys
  rules              write the table of rules in AGENTS.md
  version            write the version of Cargo.toml into the manifests of packages and plugins
  commit-msg FILE    check one commit message
  commits RANGE      check the messages of a range of commits";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let problems = match words.as_slice() {
        ["tidy"] => tidy::check(&root()),
        ["tidy", "--figures"] => tidy::figures(&root()).map(|text| show(&text)),
        ["hygiene", files @ ..] => hygiene(&root(), files),
        ["rules"] => rules::write(&root()),
        ["version"] => version::write(&root()),
        ["commit-msg", file] => commits::check_file(Path::new(file)),
        ["commits", range] => commits::check_range(&root(), range),
        _ => Err(anyhow::anyhow!(USAGE)),
    };
    match problems.and_then(|problems| report(&problems)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            #[expect(clippy::print_stderr, reason = "this is a command")]
            {
                eprintln!("{error:#}");
            }
            ExitCode::FAILURE
        }
    }
}

/// The problems of some files, or of all where none is named.
fn hygiene(root: &Path, files: &[&str]) -> anyhow::Result<Vec<String>> {
    let files = if files.is_empty() {
        tree::all(root)?
    } else {
        let paths: Vec<String> = files.iter().map(|&file| file.to_owned()).collect();
        tree::named(root, &paths)
    };
    Ok(files.iter().flat_map(hygiene::check).collect())
}

/// Prints what is no problem.
fn show(text: &str) -> Vec<String> {
    #[expect(clippy::print_stdout, reason = "this is a command")]
    {
        print!("{text}");
    }
    Vec::new()
}

fn report(problems: &[String]) -> anyhow::Result<()> {
    if problems.is_empty() {
        return Ok(());
    }
    bail!("{}\n{} problem(s)", problems.join("\n"), problems.len())
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Runs a program in the project's folder and gives what it printed.
fn output(root: &Path, program: &str, arguments: &[&str]) -> anyhow::Result<String> {
    let output = std::process::Command::new(program)
        .args(arguments)
        .current_dir(root)
        .output()
        .with_context(|| format!("cannot run `{program}`"))?;
    if !output.status.success() {
        bail!(
            "`{program} {}` failed: {}",
            arguments.join(" "),
            String::from_utf8_lossy(&output.stderr)
        );
    }
    Ok(String::from_utf8(output.stdout)?)
}
