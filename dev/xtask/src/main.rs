//! Developer commands: `cargo xtask tidy`, `cargo xtask commit-msg FILE`, `cargo xtask commits RANGE`.
//!
//! Owns: the rules that no compiler checks. Never: anything of the product. Avoid adding dependencies to this crate.

mod commits;
mod tidy;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};

const USAGE: &str = "usage: cargo xtask tidy | commit-msg FILE | commits RANGE";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let problems = match words.as_slice() {
        ["tidy"] => tidy::check(&root()),
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
