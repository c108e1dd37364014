//! What may stand in a file: caps, module comments, leftovers, clocks, and paths of somebody's machine.

use super::{SourceFile, is_test};

const LINES_MAX: usize = 500;

/// Where the machine's clocks may be read; everything else takes the `Clock` port.
const CLOCK_FILES: [&str; 1] = ["crates/cli/src/clock.rs"];

/// Spelt in two parts, so that this file does not find itself.
fn leftovers() -> [String; 7] {
    [
        ["TO", "DO"].concat(),
        ["FIX", "ME"].concat(),
        ["XX", "X"].concat(),
        ["to", "do!("].concat(),
        ["unimplemen", "ted!("].concat(),
        ["#[ig", "nore"].concat(),
        ["dbg", "!("].concat(),
    ]
}

/// Folders and hosts that exist on one machine only.
fn places() -> [String; 5] {
    [
        ["/ro", "ot/"].concat(),
        ["/wo", "rk/"].concat(),
        ["/ho", "me/"].concat(),
        ["/Us", "ers/"].concat(),
        ["index.crates", ".io"].concat(),
    ]
}

/// Problems of any text file.
pub(crate) fn check(file: &SourceFile) -> Vec<String> {
    let mut problems = Vec::new();
    if file.path.ends_with("Cargo.lock") || file.path.contains("/fixtures/") {
        return problems;
    }
    let code = ["rs", "md", "toml"]
        .iter()
        .any(|kind| super::has_extension(&file.path, kind));
    let (leftovers, places) = (leftovers(), places());
    for (number, line) in (1..).zip(file.text.lines()) {
        for leftover in leftovers.iter().filter(|word| code && has_word(line, word)) {
            problems.push(format!("{}:{number}: `{leftover}` is left behind", file.path));
        }
        for place in places.iter().filter(|place| line.contains(place.as_str())) {
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
        !joined(before) && (word.ends_with('(') || !joined(after))
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
    let clocks = [
        "SystemTime::now",
        "Instant::now",
        "Timestamp::now",
        "Zoned::now",
        "Utc::now",
    ];
    if !CLOCK_FILES.contains(&path.as_str()) && !path.contains("/benches/") && !path.starts_with("dev/") {
        for (number, line) in (1..).zip(file.text.lines()) {
            for clock in clocks.iter().filter(|clock| line.contains(&format!("{clock}("))) {
                problems.push(format!(
                    "{path}:{number}: `{clock}` is read outside the clock's own file"
                ));
            }
        }
    }
    problems
}

/// Test files that no test binary names, and so never run.
pub(crate) fn check_test_modules(files: &[SourceFile]) -> Vec<String> {
    let mut problems = Vec::new();
    for file in files {
        let Some((folder, name)) = file.path.rsplit_once('/') else {
            continue;
        };
        let module = name.strip_suffix(".rs").filter(|_| folder.ends_with("/tests/it"));
        let Some(module) = module.filter(|module| *module != "main") else {
            continue;
        };
        let main = format!("{folder}/main.rs");
        let named = files
            .iter()
            .any(|other| other.path == main && other.text.contains(&format!("mod {module};")));
        if !named {
            problems.push(format!(
                "{}: `main.rs` does not name it, so it never runs",
                file.path
            ));
        }
    }
    problems
}
