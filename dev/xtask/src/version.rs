//! The version of a release: the root manifest has it, and the manifests of packages and plugins repeat it.
//!
//! Owns: finding it in them. Never: choosing it.

use std::ops::Range;
use std::path::Path;

use anyhow::Context;

use crate::tidy::SourceFile;
use crate::tree;

const ROOT: &str = "Cargo.toml";
const CHANGELOG: &str = "CHANGELOG.md";
/// Where packages and plugins are; each file with a version of its own there has the root's.
const FOLDERS: [&str; 2] = ["plugins/", "sdk/"];
/// How a manifest writes it: TOML, and JSON with two spaces.
const KEYS: [&str; 2] = ["\nversion = \"", "\n  \"version\": \""];

/// Writes the version of the root manifest into the others.
pub(crate) fn write(root: &Path) -> anyhow::Result<Vec<String>> {
    let files: Vec<SourceFile> = tree::all(root)?
        .into_iter()
        .filter_map(|file| {
            let text = String::from_utf8(file.bytes).ok()?;
            Some(SourceFile {
                path: file.path,
                text,
            })
        })
        .collect();
    let wanted = root_version(&files).context("Cargo.toml has no version")?;
    for (file, span) in repeated(&files) {
        let mut text = file.text.clone();
        text.replace_range(span, wanted);
        std::fs::write(root.join(&file.path), text)
            .with_context(|| format!("cannot write `{}`", file.path))?;
    }
    Ok(Vec::new())
}

/// The manifests with another version than the root's, and a changelog without it.
pub(crate) fn check(files: &[SourceFile]) -> Vec<String> {
    let Some(wanted) = root_version(files) else {
        return Vec::new();
    };
    let mut problems = Vec::new();
    for (file, span) in repeated(files) {
        let found = &file.text[span];
        if found != wanted {
            problems.push(format!(
                "{}: version {found}, {ROOT} has {wanted}: run `cargo xtask version`",
                file.path
            ));
        }
    }
    let log = files.iter().find(|file| file.path == CHANGELOG);
    if log.is_some_and(|log| !log.text.contains(&format!("\n## {wanted}"))) {
        problems.push(format!("{CHANGELOG}: no section `## {wanted}`"));
    }
    problems
}

fn root_version(files: &[SourceFile]) -> Option<&str> {
    let file = files.iter().find(|file| file.path == ROOT)?;
    Some(&file.text[place(&file.text)?])
}

fn repeated(files: &[SourceFile]) -> impl Iterator<Item = (&SourceFile, Range<usize>)> {
    let is_package = |file: &&SourceFile| FOLDERS.iter().any(|folder| file.path.starts_with(folder));
    files
        .iter()
        .filter(is_package)
        .filter_map(|file| Some((file, place(&file.text)?)))
}

/// Where the version stands in a manifest.
fn place(text: &str) -> Option<Range<usize>> {
    KEYS.iter().find_map(|key| {
        let start = text.find(key)? + key.len();
        let length = text[start..].find('"')?;
        Some(start..start + length)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> SourceFile {
        SourceFile {
            path: path.to_owned(),
            text: text.to_owned(),
        }
    }

    #[test]
    fn a_package_or_a_changelog_that_fell_behind_is_named() {
        let root = file("Cargo.toml", "[workspace.package]\nversion = \"0.2.0\"\n");
        let log = file("CHANGELOG.md", "# Changelog\n\n## 0.2.0 (today)\n");
        let python = file("sdk/python/pyproject.toml", "[project]\nversion = \"0.1.0\"\n");
        let plugin = file("plugins/it/plugin.json", "{\n  \"version\": \"0.2.0\"\n}\n");
        let dependency = file("crates/it/Cargo.toml", "[package]\nversion = \"7.0.0\"\n");
        assert_eq!(
            check(&[root, log, python, plugin, dependency]),
            ["sdk/python/pyproject.toml: version 0.1.0, Cargo.toml has 0.2.0: run `cargo xtask version`"]
        );
        let root = file("Cargo.toml", "[workspace.package]\nversion = \"0.3.0\"\n");
        let log = file("CHANGELOG.md", "# Changelog\n\n## 0.2.0\n");
        assert_eq!(check(&[root, log]), ["CHANGELOG.md: no section `## 0.3.0`"]);
    }

    #[test]
    fn the_version_is_written_where_it_is_read() {
        let root = crate::root().join("target/version-test");
        std::fs::create_dir_all(root.join("sdk")).expect("made");
        let put = |name: &str, text: &str| std::fs::write(root.join(name), text).expect("written");
        put("Cargo.toml", "[workspace.package]\nversion = \"0.2.0\"\n");
        put("sdk/package.json", "{\n  \"version\": \"0.1.0\"\n}\n");
        crate::output(&root, "git", &["init", "--quiet"]).expect("a repository");
        write(&root).expect("written");
        let text = std::fs::read_to_string(root.join("sdk/package.json")).expect("read");
        std::fs::remove_dir_all(&root).expect("removed");
        assert_eq!(text, "{\n  \"version\": \"0.2.0\"\n}\n");
    }
}
