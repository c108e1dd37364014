//! The version of a release: the root manifest has it, and the manifests of packages and plugins repeat it.
//!
//! Owns: finding it in them. Never: choosing it.

use serde_json::Value;

use super::{SourceFile, layers};

const CHANGELOG: &str = "CHANGELOG.md";
/// Where packages and plugins are; each file with a version of its own there has the root's.
const FOLDERS: [&str; 2] = ["plugins/", "sdk/"];
/// How a manifest writes it: TOML, and JSON with two spaces.
const KEYS: [&str; 2] = ["\nversion = \"", "\n  \"version\": \""];

/// The manifests with another version than the root's, and a changelog without it.
pub(crate) fn check(metadata: &Value, files: &[SourceFile]) -> Vec<String> {
    let package = layers::packages(metadata).into_iter().next();
    let Some(wanted) = package.and_then(|package| package["version"].as_str()) else {
        return Vec::new();
    };
    let mut problems = Vec::new();
    let is_package = |file: &&SourceFile| FOLDERS.iter().any(|folder| file.path.starts_with(folder));
    for file in files.iter().filter(is_package) {
        if let Some(found) = version(&file.text).filter(|found| *found != wanted) {
            problems.push(format!("{}: version {found}, Cargo.toml has {wanted}", file.path));
        }
    }
    let log = files.iter().find(|file| file.path == CHANGELOG);
    if log.is_some_and(|log| !log.text.contains(&format!("\n## {wanted}"))) {
        problems.push(format!("{CHANGELOG}: no section `## {wanted}`"));
    }
    problems
}

/// The version in a manifest.
fn version(text: &str) -> Option<&str> {
    let (_, after) = KEYS.iter().find_map(|key| text.split_once(key))?;
    Some(after.split_once('"')?.0)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::SourceFile;
    use super::check;

    fn file(path: &str, text: &str) -> SourceFile {
        SourceFile {
            path: path.to_owned(),
            text: text.to_owned(),
        }
    }

    #[test]
    fn a_package_or_a_changelog_that_fell_behind_is_named() {
        let root = |version: &str| json!({"packages": [{"name": "cli", "version": version}]});
        let log = file("CHANGELOG.md", "# Changelog\n\n## 0.2.0 (today)\n");
        let python = file("sdk/python/pyproject.toml", "[project]\nversion = \"0.1.0\"\n");
        let plugin = file("plugins/it/plugin.json", "{\n  \"version\": \"0.2.0\"\n}\n");
        let dependency = file("crates/it/Cargo.toml", "[package]\nversion = \"7.0.0\"\n");
        assert_eq!(
            check(&root("0.2.0"), &[log, python, plugin, dependency]),
            ["sdk/python/pyproject.toml: version 0.1.0, Cargo.toml has 0.2.0"]
        );
        let log = file("CHANGELOG.md", "# Changelog\n\n## 0.2.0\n");
        assert_eq!(
            check(&root("0.3.0"), &[log]),
            ["CHANGELOG.md: no section `## 0.3.0`"]
        );
    }
}
