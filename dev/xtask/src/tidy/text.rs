//! What may stand in a file: caps, module comments, leftovers, and paths of somebody's machine. Clocks are clippy's.

use super::{SourceFile, is_test};

const LINES_MAX: usize = 500;

/// Spelt in two parts, so that this file does not find itself. Macros that are left behind are clippy's.
const LEFTOVERS: [&str; 4] = [
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("XX", "X"),
    concat!("#[ig", "nore"),
];
/// Folders and hosts that exist on one machine only.
const PLACES: [&str; 5] = [
    concat!("/ro", "ot/"),
    concat!("/wo", "rk/"),
    concat!("/ho", "me/"),
    concat!("/Us", "ers/"),
    concat!("index.crates", ".io"),
];

/// Problems of any text file.
pub(crate) fn check(file: &SourceFile) -> Vec<String> {
    let mut problems = Vec::new();
    if file.path.ends_with("Cargo.lock") || file.path.contains("/fixtures/") {
        return problems;
    }
    let code = ["rs", "md", "toml"]
        .iter()
        .any(|kind| super::has_extension(&file.path, kind));
    for (number, line) in (1..).zip(file.text.lines()) {
        for leftover in LEFTOVERS.iter().filter(|word| code && has_word(line, word)) {
            problems.push(format!("{}:{number}: `{leftover}` is left behind", file.path));
        }
        for place in PLACES.iter().filter(|place| line.contains(**place)) {
            problems.push(format!(
                "{}:{number}: `{place}` is a place of one machine",
                file.path
            ));
        }
    }
    problems
}

/// Whether the text has the word with no letter or digit on either side of it.
fn has_word(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        let joined = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        !joined(before) && !joined(after)
    })
}

/// Problems of a Rust file.
pub(crate) fn check_rust(file: &SourceFile) -> Vec<String> {
    let mut problems = Vec::new();
    let path = &file.path;
    if !file.text.starts_with("//!") {
        problems.push(format!(
            "{path}:1: must open with `//!`: what it owns, what it never does"
        ));
    }
    let lines = file.text.lines().count();
    if lines > LINES_MAX && !is_test(path) {
        problems.push(format!("{path}: {lines} lines, the cap is {LINES_MAX}"));
    }
    problems
}

/// Test files that no test binary names, and so never run.
pub(crate) fn check_test_modules(files: &[SourceFile]) -> Vec<String> {
    let mut problems = Vec::new();
    for file in files {
        let below = file.path.rsplit_once("/tests/it/");
        let Some((folder, module)) =
            below.and_then(|(folder, name)| Some((folder, name.strip_suffix(".rs")?)))
        else {
            continue;
        };
        let main = format!("{folder}/tests/it/main.rs");
        let names = |other: &SourceFile| other.path == main && other.text.contains(&format!("mod {module};"));
        if module != "main" && !module.contains('/') && !files.iter().any(names) {
            problems.push(format!(
                "{}: `main.rs` does not name it, so it never runs",
                file.path
            ));
        }
    }
    problems
}
