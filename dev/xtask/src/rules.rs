//! The conventions of each layer: `.claude/rules/*.md`, and the table of them in `AGENTS.md`.
//!
//! Owns: their front matter, the table, and what both must cover. Never: what a rule says.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, bail};

use crate::tidy::SourceFile;

const FOLDER: &str = ".claude/rules/";
const INDEX: &str = "AGENTS.md";
const OPENS: &str = "<!-- rules: written by `cargo xtask rules` -->\n";
const CLOSES: &str = "<!-- /rules -->\n";

/// Folders at the root. What stands between backticks and begins with one of them must exist.
const ROOTS: [&str; 8] = [
    ".claude/", ".github/", "crates/", "dev/", "docs/", "fuzz/", "scripts/", ".ci/",
];

#[derive(Debug)]
struct Rule<'a> {
    path: &'a str,
    title: &'a str,
    /// `folder/**`, or the path of one file.
    patterns: Vec<&'a str>,
}

/// Writes the table of rules into `AGENTS.md`. Gives the problems that keep it from being written.
pub(crate) fn write(root: &Path) -> anyhow::Result<Vec<String>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(root.join(FOLDER)).with_context(|| format!("cannot read `{FOLDER}`"))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        let path = format!("{FOLDER}{name}");
        let text =
            std::fs::read_to_string(root.join(&path)).with_context(|| format!("cannot read `{path}`"))?;
        files.push(SourceFile { path, text });
    }
    files.sort_by(|one, other| one.path.cmp(&other.path));
    let (rules, problems) = parsed(&files);
    if !problems.is_empty() {
        return Ok(problems);
    }
    let index = root.join(INDEX);
    let text = std::fs::read_to_string(&index).with_context(|| format!("cannot read `{INDEX}`"))?;
    let Some((before, _, after)) = around_table(&text) else {
        bail!(
            "{INDEX}: put `{}` and `{}` where the table belongs",
            OPENS.trim(),
            CLOSES.trim()
        );
    };
    std::fs::write(&index, format!("{before}{}{after}", table(&rules)))
        .with_context(|| format!("cannot write `{INDEX}`"))?;
    Ok(Vec::new())
}

/// Rules without front matter, members without a rule or with two, patterns and paths that lead nowhere, a stale table.
pub(crate) fn check(files: &[SourceFile]) -> Vec<String> {
    let (rules, mut problems) = parsed(files);
    for rule in &rules {
        let dead = |pattern: &&str| !files.iter().any(|file| matches(pattern, &file.path));
        for pattern in rule.patterns.iter().filter(|pattern| dead(pattern)) {
            problems.push(format!("{}: no file matches `{pattern}`", rule.path));
        }
    }
    for folder in files.iter().filter_map(|file| member(&file.path)) {
        let manifest = format!("{folder}/Cargo.toml");
        let covers = |rule: &&Rule| rule.patterns.iter().any(|pattern| matches(pattern, &manifest));
        let count = rules.iter().filter(covers).count();
        if count != 1 {
            problems.push(format!("{FOLDER}: {count} rules cover `{folder}`, must be one"));
        }
    }
    if let Some(index) = files.iter().find(|file| file.path == INDEX) {
        match around_table(&index.text) {
            Some((_, found, _)) if found == table(&rules) => {}
            _ => problems.push(format!(
                "{INDEX}: the table of rules is stale: run `cargo xtask rules`"
            )),
        }
    }
    let guides = files
        .iter()
        .filter(|file| file.path == INDEX || is_guide(&file.path));
    problems.extend(guides.flat_map(|guide| dead_paths(guide, files)));
    problems
}

fn parsed(files: &[SourceFile]) -> (Vec<Rule<'_>>, Vec<String>) {
    let mut rules = Vec::new();
    let mut problems = Vec::new();
    for file in files.iter().filter(|file| is_rule(&file.path)) {
        match parse(file) {
            Some(rule) => rules.push(rule),
            None => problems.push(format!(
                "{}: must open with `---`, `paths:`, one `  - \"folder/**\"` a line, `---`, and a `# ` heading",
                file.path
            )),
        }
    }
    (rules, problems)
}

fn is_guide(path: &str) -> bool {
    path.starts_with(".claude/") && Path::new(path).extension().is_some_and(|kind| kind == "md")
}

fn is_rule(path: &str) -> bool {
    path.starts_with(FOLDER) && is_guide(path)
}

fn parse(file: &SourceFile) -> Option<Rule<'_>> {
    let (front, body) = file.text.strip_prefix("---\npaths:\n")?.split_once("---\n")?;
    let pattern = |line| -> Option<&str> { str::strip_prefix(line, "  - \"")?.strip_suffix('"') };
    let patterns: Vec<&str> = front.lines().map(pattern).collect::<Option<_>>()?;
    let title = body.trim_start().lines().next()?.strip_prefix("# ")?;
    (!patterns.is_empty()).then_some(Rule {
        path: &file.path,
        title,
        patterns,
    })
}

fn matches(pattern: &str, path: &str) -> bool {
    match pattern.strip_suffix("**") {
        Some(folder) => path.starts_with(folder),
        None => path == pattern,
    }
}

/// The folder of a workspace member, or of the fuzz targets, if the path is its manifest.
fn member(path: &str) -> Option<&str> {
    let folder = path.strip_suffix("/Cargo.toml")?;
    let is_member = folder.starts_with("crates/") || folder.starts_with("dev/") || folder == "fuzz";
    is_member.then_some(folder)
}

fn table(rules: &[Rule]) -> String {
    let mut text = "| layer | paths |\n|---|---|\n".to_owned();
    for rule in rules {
        let shown = |pattern: &&str| format!("`{}`", pattern.trim_end_matches("/**"));
        let paths: Vec<String> = rule.patterns.iter().map(shown).collect();
        let written = writeln!(text, "| [{}]({}) | {} |", rule.title, rule.path, paths.join(", "));
        written.expect("a string takes any text");
    }
    text
}

/// What stands before the table with its mark, the table, and the rest.
fn around_table(text: &str) -> Option<(&str, &str, &str)> {
    let start = text.find(OPENS)? + OPENS.len();
    let end = start + text[start..].find(CLOSES)?;
    Some((&text[..start], &text[start..end], &text[end..]))
}

/// Paths between backticks that no file has.
fn dead_paths(guide: &SourceFile, files: &[SourceFile]) -> Vec<String> {
    let exists = |path: &str| {
        let path = path.trim_end_matches('/');
        let below = format!("{path}/");
        files
            .iter()
            .any(|file| file.path == path || file.path.starts_with(&below))
    };
    let mut problems = Vec::new();
    for (number, line) in (1..).zip(guide.text.lines()) {
        let quoted = line.split('`').skip(1).step_by(2);
        let is_path =
            |word: &&str| ROOTS.iter().any(|root| word.starts_with(root)) && !word.contains([' ', '*']);
        for path in quoted.filter(is_path).filter(|path| !exists(path)) {
            problems.push(format!("{}:{number}: `{path}` does not exist", guide.path));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::{CLOSES, INDEX, OPENS, check};
    use crate::tidy::SourceFile;

    const DOORS: &str = "---\npaths:\n  - \"crates/cli/**\"\n---\n\n# Doors\n\nText of `crates/cli`.\n";

    fn problems(files: &[(&str, &str)]) -> Vec<String> {
        let files = files.iter().map(|(path, text)| SourceFile {
            path: (*path).to_owned(),
            text: (*text).to_owned(),
        });
        check(&files.collect::<Vec<_>>())
    }

    fn index(table: &str) -> String {
        format!("# Agents\n\n{OPENS}| layer | paths |\n|---|---|\n{table}{CLOSES}")
    }

    #[test]
    fn rules_that_cover_every_member_pass() {
        let index = index("| [Doors](.claude/rules/doors.md) | `crates/cli` |\n");
        let files = [
            (".claude/rules/doors.md", DOORS),
            (INDEX, index.as_str()),
            ("crates/cli/Cargo.toml", ""),
        ];
        assert_eq!(problems(&files), Vec::<String>::new());
    }

    #[test]
    fn a_rule_without_front_matter_is_named() {
        for text in [
            "# Doors\n",
            "---\nglobs: crates/cli/**\n---\n# Doors\n",
            "---\npaths:\n  - crates/cli/**\n---\n# Doors\n",
            "---\npaths:\n---\n# Doors\n",
            "---\npaths:\n  - \"crates/cli/**\"\n---\nDoors\n",
        ] {
            let found = problems(&[(".claude/rules/doors.md", text), ("crates/cli/src/lib.rs", "")]);
            assert_eq!(found.len(), 1, "{text}: {found:?}");
            assert!(found[0].contains("must open with"), "{found:?}");
        }
    }

    #[test]
    fn a_member_has_one_rule() {
        let files = [
            (".claude/rules/doors.md", DOORS),
            (".claude/rules/other.md", DOORS),
            ("crates/cli/Cargo.toml", ""),
            ("dev/sim/Cargo.toml", ""),
        ];
        assert_eq!(
            problems(&files),
            [
                ".claude/rules/: 2 rules cover `crates/cli`, must be one",
                ".claude/rules/: 0 rules cover `dev/sim`, must be one",
            ]
        );
    }

    #[test]
    fn patterns_and_paths_that_lead_nowhere_are_named() {
        let index = index("| [Doors](.claude/rules/doors.md) | `crates/cli` |\n");
        let index = format!("Read `docs/gone.md`, `crates/cl` and `fuzz/dicts/*.dict`.\n{index}");
        assert_eq!(
            problems(&[(".claude/rules/doors.md", DOORS), (INDEX, &index)]),
            [
                ".claude/rules/doors.md: no file matches `crates/cli/**`",
                ".claude/rules/doors.md:8: `crates/cli` does not exist",
                "AGENTS.md:1: `docs/gone.md` does not exist",
                "AGENTS.md:1: `crates/cl` does not exist",
                "AGENTS.md:7: `crates/cli` does not exist",
            ]
        );
    }

    #[test]
    fn a_stale_table_is_named() {
        for index in [index(""), "# Agents\n".to_owned()] {
            let files = [
                (".claude/rules/doors.md", DOORS),
                (INDEX, index.as_str()),
                ("crates/cli/Cargo.toml", ""),
            ];
            assert_eq!(
                problems(&files),
                ["AGENTS.md: the table of rules is stale: run `cargo xtask rules`"]
            );
        }
    }
}
