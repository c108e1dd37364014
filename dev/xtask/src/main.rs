//! Developer commands: `cargo xtask tidy [--figures]`, `commit-msg FILE`, `commits RANGE`.
//!
//! Owns: the rules that no compiler checks. Never: anything of the product. Avoid adding dependencies to this crate.

mod commits;
mod rust;
mod tidy;
mod tree;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};

const USAGE: &str = "\
usage: cargo xtask COMMAND
  tidy               check layers, loops, ceilings, public items, links, the map, rule files, versions, large files and keys
  tidy --figures     print the code lines of each member
  commit-msg FILE    check one commit message
  commits RANGE      check the messages of a range of commits";

fn main() -> anyhow::Result<ExitCode> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let problems = match words.as_slice() {
        ["tidy"] => tidy::check(&root())?,
        ["tidy", "--figures"] => {
            show(tidy::figures(&root())?.trim_end());
            Vec::new()
        }
        ["commit-msg", file] => commits::check_file(Path::new(file))?,
        ["commits", range] => commits::check_range(&root(), range)?,
        _ => bail!(USAGE),
    };
    if problems.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    show(&format!("{}\n{} problem(s)", problems.join("\n"), problems.len()));
    Ok(ExitCode::FAILURE)
}

#[expect(clippy::print_stdout, reason = "this is a command")]
fn show(text: &str) {
    println!("{text}");
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
