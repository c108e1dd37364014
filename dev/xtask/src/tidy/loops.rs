//! Files of a crate that import each other in a loop.
//!
//! Owns: the imports between a crate's files, as its paths from `crate`, `self` and `super` say them, and the limit of the
//! largest loop, which may only fall. Never: edges between crates (`layers`). A parent that names its child without `self` counts as
//! no import: each module must declare its children.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use toml::Table;

use super::ceiling::Earlier;
use crate::rust::Source;
use crate::rust::lexer::Token;

/// A table in the limits of the root manifest: the most files of a loop, by crate.
pub(crate) const LOOPS_MAX: &str = "loop_files_max";
/// The row for every crate without one of its own.
const OTHERS: &str = "*";

/// The path of a module below its crate.
type Module<'a> = Vec<&'a str>;
/// The modules that each module imports.
type Imports<'a> = BTreeMap<Module<'a>, BTreeSet<Module<'a>>>;

/// Crates with a larger loop than the root manifest allows, and rows of it that allow more than is needed.
pub(crate) fn check(metadata: &Value, sources: &[Source]) -> Vec<String> {
    let Some(table) = metadata["metadata"]["limits"][LOOPS_MAX].as_object() else {
        return vec![format!("Cargo.toml: `{LOOPS_MAX}` is missing from the limits")];
    };
    let limit = |row: &str| table.get(row).and_then(Value::as_u64);
    let others = limit(OTHERS).unwrap_or(0);
    let product = sources.iter().filter(|source| source.is_product());
    let members: BTreeSet<&str> = product.map(|source| source.member).collect();
    let mut problems = Vec::new();
    for ghost in table
        .keys()
        .filter(|row| *row != OTHERS && !members.contains(row.as_str()))
    {
        problems.push(format!(
            "Cargo.toml: `{LOOPS_MAX}` names `{ghost}`, which is no product crate"
        ));
    }
    for member in members {
        let largest = largest_loop(&imports(sources, member));
        let (files, row) = (largest.len() as u64, limit(member));
        if files > row.unwrap_or(others) {
            let list: Vec<String> = largest.iter().map(|module| module.join("::")).collect();
            problems.push(format!(
                "crates/{member}: {files} files import each other in a loop, the limit is {}: let what they share stand below \
                 them: {}",
                row.unwrap_or(others),
                list.join(", ")
            ));
        }
        if row.is_some_and(|row| row > files.max(others)) {
            let lower = if files > others {
                format!("lower it to {files}")
            } else {
                "remove it".to_owned()
            };
            problems.push(format!(
                "Cargo.toml: the row `{member}` of `{LOOPS_MAX}` allows more than is needed: {lower}"
            ));
        }
    }
    problems
}

/// Rows above their lowest limit in an earlier commit.
pub(crate) fn check_history(metadata: &Value, earlier: &[Earlier]) -> Vec<String> {
    let rows = metadata["metadata"]["limits"][LOOPS_MAX].as_object();
    let mut problems = Vec::new();
    for (row, limit) in rows.into_iter().flatten() {
        let limits = earlier
            .iter()
            .filter_map(|earlier| Some((earlier_limit(earlier, row)?, &earlier.commit)));
        if let Some((lowest, commit)) = limits.min_by_key(|(limit, _)| *limit)
            && limit.as_i64().is_some_and(|limit| limit > lowest)
        {
            problems.push(format!(
                "Cargo.toml: the row `{row}` of `{LOOPS_MAX}` is {limit} and was {lowest} in {commit}; it may only fall"
            ));
        }
    }
    problems
}

/// What a commit allowed a crate.
fn earlier_limit(earlier: &Earlier, row: &str) -> Option<i64> {
    let manifest: Table = earlier.manifest.parse().ok()?;
    let limits = manifest.get("workspace")?.get("metadata")?.get("limits")?;
    let table = limits.get(LOOPS_MAX)?;
    table.get(row).or_else(|| table.get(OTHERS))?.as_integer()
}

fn imports<'a>(sources: &'a [Source], member: &str) -> Imports<'a> {
    let files = sources
        .iter()
        .filter(|source| source.is_product() && source.member == member);
    let modules: Vec<(Module, &Source)> = files
        .filter(|source| !source.tokens.is_empty())
        .filter_map(|source| Some((module(source.path)?, source)))
        .collect();
    let names: BTreeSet<&Module> = modules.iter().map(|(module, _)| module).collect();
    let target = |mut path: Module<'a>| {
        while !path.is_empty() && !names.contains(&path) {
            path.pop();
        }
        Some(path).filter(|path| !path.is_empty())
    };
    let of = |(module, source): &(Module<'a>, &'a Source)| {
        let paths = paths(module, &source.tokens).into_iter().filter_map(target);
        (module.clone(), paths.filter(|path| path != module).collect())
    };
    modules.iter().map(of).collect()
}

/// The module of a file: `["a", "b"]` of `crates/x/src/a/b.rs`, nothing of the crate's root.
fn module(path: &str) -> Option<Module<'_>> {
    let below = path.split_once("/src/")?.1.strip_suffix(concat!(".", "rs"))?;
    let below = below.strip_suffix("/mod").unwrap_or(below);
    Some(if matches!(below, "lib" | "main") {
        Vec::new()
    } else {
        below.split('/').collect()
    })
}

/// The paths in a file that begin at `crate`, `self` or `super`, from the crate's root.
fn paths<'a>(module: &Module<'a>, tokens: &[Token<'a>]) -> Vec<Module<'a>> {
    let is = |at: usize, text: &str| tokens.get(at).is_some_and(|token| token.is(text));
    let mut paths = Vec::new();
    for at in 0..tokens.len() {
        if !is(at + 1, "::") || at.checked_sub(1).is_some_and(|before| is(before, "::")) {
            continue;
        }
        let (mut start, mut next) = (module.clone(), at + 2);
        if is(at, "crate") {
            start.clear();
        } else if is(at, "super") {
            start.pop();
            while is(next, "super") && is(next + 1, "::") {
                start.pop();
                next += 2;
            }
        } else if !is(at, "self") {
            continue;
        }
        branches(tokens, next, start, &mut paths);
    }
    paths
}

/// Reads on from one place of a path, through the branches of a `use` tree. Gives the index after it.
fn branches<'a>(
    tokens: &[Token<'a>],
    mut at: usize,
    mut path: Module<'a>,
    paths: &mut Vec<Module<'a>>,
) -> usize {
    let is = |at: usize, text: &str| tokens.get(at).is_some_and(|token| token.is(text));
    loop {
        if is(at, "{") {
            at += 1;
            while at < tokens.len() && !is(at, "}") {
                at = if tokens[at].is_word() {
                    branches(tokens, at, path.clone(), paths)
                } else {
                    at + 1
                };
            }
            return at + 1;
        }
        if !tokens.get(at).is_some_and(Token::is_word) {
            paths.push(path);
            return at + 1;
        }
        if !is(at, "self") {
            path.push(tokens[at].text);
        }
        if !is(at + 1, "::") {
            paths.push(path);
            return at + 1;
        }
        at += 2;
    }
}

/// The modules of the largest loop; none where there is no loop.
fn largest_loop<'a>(imports: &Imports<'a>) -> BTreeSet<Module<'a>> {
    let reached: BTreeMap<&Module, BTreeSet<&Module>> = imports
        .keys()
        .map(|module| (module, reached(imports, module)))
        .collect();
    let loops = imports.keys().map(|module| {
        let back = |other: &&&Module| reached[**other].contains(module);
        reached[module]
            .iter()
            .filter(back)
            .map(|other| (*other).clone())
            .collect()
    });
    loops.max_by_key(BTreeSet::len).unwrap_or_default()
}

/// The modules that a module imports, directly or through others.
fn reached<'a, 'b>(imports: &'b Imports<'a>, from: &Module<'a>) -> BTreeSet<&'b Module<'a>> {
    let mut reached = BTreeSet::new();
    let mut next: Vec<&Module> = imports[from].iter().collect();
    while let Some(module) = next.pop() {
        if reached.insert(module) {
            next.extend(&imports[module]);
        }
    }
    reached
}
