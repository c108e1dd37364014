//! Member manifests inherit everything; versions and features stand once, in the root manifest.

use serde_json::Value;
use toml::Table;

use super::SourceFile;

/// The manifest of a member; fuzzing has a workspace of its own, which nightly tools build.
fn is_members(path: &str) -> bool {
    path.ends_with("/Cargo.toml") && !path.starts_with("fuzz/")
}

/// Members that do not inherit the lints, or that pin a version or add a feature of their own.
pub(crate) fn check(files: &[SourceFile]) -> Vec<String> {
    let mut problems = Vec::new();
    for file in files.iter().filter(|file| is_members(&file.path)) {
        let Ok(manifest) = file.text.parse::<Table>() else {
            problems.push(format!("{}: not valid TOML", file.path));
            continue;
        };
        if manifest.get("lints").and_then(|lints| lints.get("workspace")) != Some(&toml::Value::Boolean(true))
        {
            problems.push(format!("{}: must inherit the workspace's lints", file.path));
        }
        for kind in ["dependencies", "dev-dependencies", "build-dependencies"] {
            let dependencies = manifest
                .get(kind)
                .and_then(toml::Value::as_table)
                .into_iter()
                .flatten();
            for (name, value) in dependencies {
                let inherits = value
                    .as_table()
                    .is_some_and(|t| t.len() == 1 && t.get("workspace") == Some(&toml::Value::Boolean(true)));
                if !inherits {
                    let path = &file.path;
                    problems.push(format!(
                        "{path}: `{name}` must be `workspace = true` and nothing else"
                    ));
                }
            }
        }
        if manifest.contains_key("features") {
            problems.push(format!("{}: members have no features", file.path));
        }
    }
    problems
}

/// More locked packages than the written ceiling.
pub(crate) fn check_lock(metadata: &Value, lock: &str) -> Vec<String> {
    let packages = lock.lines().filter(|line| *line == "[[package]]").count() as u64;
    match super::layers::limit(metadata, "packages_max") {
        Some(ceiling) if packages <= ceiling => Vec::new(),
        Some(ceiling) => vec![format!(
            "Cargo.lock: {packages} packages, the ceiling is {ceiling}"
        )],
        None => vec!["Cargo.toml: `packages_max` is missing from the limits".to_owned()],
    }
}
