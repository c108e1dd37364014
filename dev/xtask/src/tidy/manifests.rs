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
        let path = &file.path;
        let inherits = |value: &toml::Value| value.get("workspace") == Some(&toml::Value::Boolean(true));
        if !manifest.get("lints").is_some_and(inherits) {
            problems.push(format!("{path}: must inherit the workspace's lints"));
        }
        for kind in ["dependencies", "dev-dependencies", "build-dependencies"] {
            let dependencies = manifest.get(kind).and_then(toml::Value::as_table);
            for (name, value) in dependencies.into_iter().flatten() {
                if !inherits(value) || value.as_table().is_some_and(|table| table.len() > 1) {
                    problems.push(format!(
                        "{path}: `{name}` must be `workspace = true` and nothing else"
                    ));
                }
            }
        }
        if manifest.contains_key("features") {
            problems.push(format!("{path}: members have no features"));
        }
    }
    problems
}

/// More locked packages than the written ceiling.
pub(crate) fn check_lock(metadata: &Value, lock: &str) -> Option<String> {
    let packages = lock.lines().filter(|line| *line == "[[package]]").count();
    super::layers::above(metadata, "packages_max", packages, |ceiling| {
        format!("Cargo.lock: {packages} packages, the ceiling is {ceiling}")
    })
}
