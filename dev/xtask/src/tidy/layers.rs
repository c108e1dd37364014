//! Edges between members, owners of foreign crates, and the map in the architecture document.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// Edges that the table in the root manifest does not have, and members that it does not name.
pub(crate) fn check(metadata: &Value) -> Vec<String> {
    let layers = table(metadata, "layers");
    let owned = table(metadata, "owned");
    let tests = table(metadata, "tests");
    let packages = packages(metadata);
    let members: BTreeSet<&str> = packages.iter().map(|p| name(p)).collect();
    let mut problems = Vec::new();
    for ghost in layers.keys().filter(|member| !members.contains(member.as_str())) {
        problems.push(format!(
            "Cargo.toml: the layer table names `{ghost}`, which is no member"
        ));
    }
    for package in &packages {
        let member = name(package);
        let Some(allowed) = layers.get(member) else {
            problems.push(format!("Cargo.toml: `{member}` is not in the layer table"));
            continue;
        };
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            let to = dependency["name"].as_str().unwrap_or_default();
            let is_dev = dependency["kind"] == "dev";
            if members.contains(to) {
                let in_tests = || to == "testkit" || tests.get(member).is_some_and(|more| more.contains(to));
                let known = allowed.contains(to) || (is_dev && in_tests());
                if !known {
                    problems.push(format!("{member}: the edge to `{to}` is not in the layer table"));
                }
            } else if !is_dev && owned.get(to).is_some_and(|owners| !owners.contains(member)) {
                let owners: Vec<&str> = owned[to].iter().map(String::as_str).collect();
                problems.push(format!("{member}: only {} may name `{to}`", owners.join(", ")));
            }
        }
    }
    problems
}

/// Members that the map in the document leaves out, and names there that are none.
pub(crate) fn check_map(metadata: &Value, document: &str) -> Vec<String> {
    let packages = packages(metadata);
    let members: BTreeSet<&str> = packages.iter().map(|p| name(p)).collect();
    let mapped: BTreeSet<&str> = document
        .lines()
        .skip_while(|line| line.trim() != "<!-- crates -->")
        .take_while(|line| line.trim() != "<!-- /crates -->")
        .filter_map(|line| {
            line.strip_prefix("| `")?
                .split_once('`')
                .map(|(crate_name, _)| crate_name)
        })
        .collect();
    let missing = members
        .difference(&mapped)
        .map(|member| format!("docs/architecture.md: the map leaves out `{member}`"));
    let ghosts = mapped
        .difference(&members)
        .map(|ghost| format!("docs/architecture.md: the map names `{ghost}`, which is no member"));
    missing.chain(ghosts).collect()
}

/// The number that the root manifest gives for a limit.
pub(crate) fn limit(metadata: &Value, key: &str) -> Option<u64> {
    metadata["metadata"]["limits"][key].as_u64()
}

fn packages(metadata: &Value) -> Vec<&Value> {
    metadata["packages"].as_array().into_iter().flatten().collect()
}

fn name(package: &Value) -> &str {
    package["name"].as_str().unwrap_or_default()
}

fn table(metadata: &Value, key: &str) -> BTreeMap<String, BTreeSet<String>> {
    let rows = metadata["metadata"][key].as_object().into_iter().flatten();
    rows.map(|(name, list)| {
        let list = list.as_array().into_iter().flatten();
        let list = list.filter_map(Value::as_str).map(str::to_owned).collect();
        (name.clone(), list)
    })
    .collect()
}
