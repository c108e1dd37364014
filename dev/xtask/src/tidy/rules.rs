//! The conventions of each layer: `.claude/rules/*.md`, and the table of them in `AGENTS.md`.
//!
//! Owns: their front matter, and that each member has one of them. Never: what a rule says.

use super::SourceFile;

const FOLDER: &str = ".claude/rules/";
const INDEX: &str = "AGENTS.md";

/// Rules without paths, members without a rule or with two, paths that lead nowhere, and paths that the table does not have.
pub(crate) fn check(files: &[SourceFile]) -> Vec<String> {
    let mut problems = Vec::new();
    let mut patterns = Vec::new();
    let index = files.iter().find(|file| file.path == INDEX);
    for file in files.iter().filter(|file| file.path.starts_with(FOLDER)) {
        let rule = &file.path;
        let link = format!("]({rule})");
        let row = index.and_then(|index| index.text.lines().find(|line| line.contains(&link)));
        let of_rule: Vec<&str> = front_matter(&file.text).collect();
        if of_rule.is_empty() {
            problems.push(format!(
                "{rule}: must open with `---`, `paths:`, one `  - \"folder/**\"` a line, `---`"
            ));
        }
        for pattern in &of_rule {
            let shown = format!("`{}`", pattern.trim_end_matches("/**"));
            if !files.iter().any(|file| matches(pattern, &file.path)) {
                problems.push(format!("{rule}: no file matches `{pattern}`"));
            }
            if !row.is_some_and(|row| row.contains(&shown)) {
                problems.push(format!("{INDEX}: the row of `{rule}` must have {shown}"));
            }
        }
        patterns.extend(of_rule);
    }
    for folder in files.iter().filter_map(|file| member(&file.path)) {
        let manifest = format!("{folder}/Cargo.toml");
        let count = patterns
            .iter()
            .filter(|pattern| matches(pattern, &manifest))
            .count();
        if count != 1 {
            problems.push(format!("{FOLDER}: {count} rules cover `{folder}`, must be one"));
        }
    }
    problems
}

/// The paths at the head of a rule: `folder/**`, or the path of one file.
fn front_matter(text: &str) -> impl Iterator<Item = &str> {
    let front = text
        .strip_prefix("---\npaths:\n")
        .and_then(|text| text.split_once("---\n"));
    let lines = front.map_or("", |(front, _)| front).lines();
    lines.filter_map(|line| line.strip_prefix("  - \"")?.strip_suffix('"'))
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

#[cfg(test)]
mod tests {
    use super::super::SourceFile;
    use super::{INDEX, check};

    const DOORS: &str = "---\npaths:\n  - \"crates/cli/**\"\n---\n\n# Doors\n\nText of `crates/cli`.\n";

    fn problems(files: &[(&str, &str)]) -> Vec<String> {
        let files = files.iter().map(|(path, text)| SourceFile {
            path: (*path).to_owned(),
            text: (*text).to_owned(),
        });
        check(&files.collect::<Vec<_>>())
    }

    const TABLE: &str =
        "# Agents\n\n| layer | paths |\n|---|---|\n| [Doors](.claude/rules/doors.md) | `crates/cli` |\n";

    #[test]
    fn rules_that_cover_every_member_pass() {
        let files = [
            (".claude/rules/doors.md", DOORS),
            (INDEX, TABLE),
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
            (
                INDEX,
                &TABLE.replace("|\n", "| [Other](.claude/rules/other.md) | `crates/cli` |\n"),
            ),
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
    fn a_pattern_that_leads_nowhere_is_named() {
        assert_eq!(
            problems(&[(".claude/rules/doors.md", DOORS), (INDEX, TABLE)]),
            [".claude/rules/doors.md: no file matches `crates/cli/**`"]
        );
    }

    #[test]
    fn a_stale_table_is_named() {
        for index in [
            "# Agents\n".to_owned(),
            TABLE.replace("`crates/cli`", "`crates/cl`"),
        ] {
            let files = [
                (".claude/rules/doors.md", DOORS),
                (INDEX, index.as_str()),
                ("crates/cli/Cargo.toml", ""),
            ];
            assert_eq!(
                problems(&files),
                ["AGENTS.md: the row of `.claude/rules/doors.md` must have `crates/cli`"]
            );
        }
    }
}
