//! Files of a crate that import each other in a loop.
//!
//! Owns: the imports between a crate's files, as its paths from `crate`, `self` and `super` say them, and the limit of the
//! largest loop, which may only fall. Never: edges between crates (`layers`). A parent that names its child without `self` counts as
//! no import: each module must declare its children.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::layers;
use crate::rust::{Source, stem};

/// The most files of a loop, in the limits of the root manifest.
pub(crate) const LOOPS_MAX: &str = "loop_files_max";

/// Crates with a larger loop than the root manifest allows.
pub(crate) fn check(metadata: &Value, sources: &[Source]) -> Vec<String> {
    let product = sources.iter().filter(|source| source.is_product());
    let members: BTreeSet<&str> = product.map(Source::member).collect();
    let problem = |member| {
        let modules = modules(sources, member);
        let largest: Vec<&str> = largest_loop(&imports(&modules)).into_iter().collect();
        let files = largest.len();
        layers::above(metadata, LOOPS_MAX, files, |limit| {
            format!(
                "crates/{member}: {files} files import each other in a loop, the limit is {limit}: \
                 let what they share stand below them: {}",
                largest.join(", ")
            )
        })
    };
    members.into_iter().filter_map(problem).collect()
}

/// The modules of a crate by their paths, `a::b` of `crates/x/src/a/b.rs`; the crate's root has an empty one.
fn modules<'a>(sources: &'a [Source], member: &str) -> BTreeMap<String, &'a Source> {
    let files = sources
        .iter()
        .filter(|source| source.is_product() && source.member() == member);
    let of = |source: &'a Source| {
        let folder = format!("{}/", stem(&source.path));
        let (_, below) = folder.split_once("/src/")?;
        Some((below.trim_end_matches('/').replace('/', "::"), source))
    };
    files.filter_map(of).collect()
}

/// The modules that each module imports. Every module may import the root.
fn imports<'a>(modules: &'a BTreeMap<String, &Source>) -> BTreeMap<&'a str, BTreeSet<&'a str>> {
    let of = |(module, source): (&'a String, &&Source)| {
        let contents = &source.contents;
        let paths = contents
            .paths
            .iter()
            .chain(contents.imports.iter().map(|import| &import.path));
        let targets = paths.filter_map(|path| target(modules, module, path));
        (
            module.as_str(),
            targets.filter(|to| *to != module.as_str()).collect(),
        )
    };
    modules.iter().map(of).collect()
}

/// The module that a path from `crate`, `self` or `super` leads to.
fn target<'a>(modules: &'a BTreeMap<String, &Source>, module: &str, path: &[String]) -> Option<&'a str> {
    let mut to: Vec<&str> = match path.first()?.as_str() {
        "crate" => Vec::new(),
        "self" | "super" => module.split("::").filter(|word| !word.is_empty()).collect(),
        _ => return None,
    };
    for word in path.iter().filter(|_| path.len() > 1) {
        match word.as_str() {
            "crate" | "self" => {}
            "super" => {
                to.pop();
            }
            word => to.push(word),
        }
    }
    while !to.is_empty() {
        if let Some((name, _)) = modules.get_key_value(&to.join("::")) {
            return Some(name);
        }
        to.pop();
    }
    None
}

/// The modules of the largest loop; none where there is no loop.
fn largest_loop<'a>(imports: &BTreeMap<&'a str, BTreeSet<&'a str>>) -> BTreeSet<&'a str> {
    let reached: BTreeMap<&str, BTreeSet<&str>> = imports
        .keys()
        .map(|module| (*module, layers::reached(imports, module)))
        .collect();
    let loops = reached.iter().map(|(module, others)| {
        let back = |other: &&&str| reached[**other].contains(module);
        others.iter().filter(back).copied().collect::<BTreeSet<_>>()
    });
    loops
        .filter(|files| files.len() > 1)
        .max_by_key(BTreeSet::len)
        .unwrap_or_default()
}
