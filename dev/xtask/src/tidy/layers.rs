//! Edges between members, owners of foreign crates, the way from the binary to each crate, and the map in the
//! architecture document.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// The member that ships.
const BINARY: &str = "quipu";

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
        for dependency in dependencies(package) {
            let to = name(dependency);
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

/// Edges and owners in the tables that no member takes.
pub(crate) fn check_taken(metadata: &Value) -> Vec<String> {
    let mut problems = Vec::new();
    let packages = packages(metadata);
    let takes = |member: &str, to: &str, counts: fn(&Value) -> bool| {
        let package = packages.iter().find(|package| name(package) == member);
        let mut dependencies = package.into_iter().flat_map(|package| dependencies(package));
        dependencies.any(|dependency| name(dependency) == to && counts(&dependency["kind"]))
    };
    let (layers, tests, owned) = (
        table(metadata, "layers"),
        table(metadata, "tests"),
        table(metadata, "owned"),
    );
    for (member, to) in pairs(&layers).filter(|(member, to)| !takes(member, to, Value::is_null)) {
        problems.push(format!(
            "Cargo.toml: `{member}` may depend on `{to}` and does not: remove the edge"
        ));
    }
    for (member, to) in pairs(&tests).filter(|(member, to)| !takes(member, to, |kind| kind == "dev")) {
        problems.push(format!(
            "Cargo.toml: tests of `{member}` may depend on `{to}` and do not: remove the edge"
        ));
    }
    for (to, owner) in pairs(&owned).filter(|(to, owner)| !takes(owner, to, |kind| kind != "dev")) {
        problems.push(format!(
            "Cargo.toml: `{owner}` owns `{to}` and does not depend on it: remove the owner"
        ));
    }
    problems
}

fn pairs(table: &BTreeMap<String, BTreeSet<String>>) -> impl Iterator<Item = (&str, &str)> {
    table
        .iter()
        .flat_map(|(from, list)| list.iter().map(move |to| (from.as_str(), to.as_str())))
}

/// Product crates that the binary does not depend on, directly or through others.
pub(crate) fn check_reached(metadata: &Value) -> Vec<String> {
    let reached = reached(&normal_edges(metadata), BINARY);
    let packages = packages(metadata);
    let product = packages.iter().filter(|package| is_product(package));
    product
        .map(|package| name(package))
        .filter(|member| !reached.contains(member))
        .map(|member| format!("crates/{member}: `{BINARY}` does not depend on it: use it or delete it"))
        .collect()
}

fn is_product(package: &Value) -> bool {
    let manifest = package["manifest_path"].as_str().unwrap_or_default();
    manifest.replace('\\', "/").contains("/crates/")
}

/// A member, and the members that it depends on outside tests and build scripts.
pub(crate) fn normal_edges(metadata: &Value) -> BTreeMap<&str, BTreeSet<&str>> {
    let packages = packages(metadata);
    let members: BTreeSet<&str> = packages.iter().map(|p| name(p)).collect();
    let edges = |package| {
        let normal = dependencies(package).filter(|dependency| dependency["kind"].is_null());
        normal.map(name).filter(|to| members.contains(to)).collect()
    };
    packages
        .iter()
        .map(|package| (name(package), edges(package)))
        .collect()
}

/// The member itself and all that it depends on, directly or through others.
pub(crate) fn reached<'a>(edges: &BTreeMap<&'a str, BTreeSet<&'a str>>, from: &'a str) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut open = vec![from];
    while let Some(member) = open.pop() {
        if reached.insert(member) {
            open.extend(edges.get(member).into_iter().flatten());
        }
    }
    reached
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

/// The problem of a figure above its limit, or of a limit that is missing.
pub(crate) fn above(
    metadata: &Value,
    key: &str,
    figure: usize,
    problem: impl FnOnce(u64) -> String,
) -> Option<String> {
    match limit(metadata, key) {
        Some(limit) => (figure as u64 > limit).then(|| problem(limit)),
        None => Some(format!("Cargo.toml: `{key}` is missing from the limits")),
    }
}

pub(crate) fn packages(metadata: &Value) -> Vec<&Value> {
    metadata["packages"].as_array().into_iter().flatten().collect()
}

fn dependencies(package: &Value) -> impl Iterator<Item = &Value> {
    package["dependencies"].as_array().into_iter().flatten()
}

/// The name of a package or of a dependency.
pub(crate) fn name(package: &Value) -> &str {
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
