//! The house rules that no compiler checks: layers, loops, owners, ceilings, users of public items, module comments, links, the
//! map, rule files, versions, leftovers.
//!
//! Owns: reading the tree and naming what is wrong. Never: changing a file.

mod ceiling;
mod figures;
mod hygiene;
mod layers;
mod links;
mod loops;
mod manifests;
mod rules;
mod runbook;
mod text;
mod users;
mod version;

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use crate::rust;
use crate::tree::{self, RawFile};

/// A file of the tree as the rules see it.
#[derive(Debug)]
pub(crate) struct SourceFile {
    /// Relative to the project, with `/`.
    pub(crate) path: String,
    pub(crate) text: String,
}

/// Every problem of the tree, in a stable order.
pub(crate) fn check(root: &Path) -> anyhow::Result<Vec<String>> {
    let metadata = metadata(root)?;
    let raw = tree::all(root)?;
    let mut problems: Vec<String> = raw.iter().flat_map(hygiene::check).collect();
    let paths: BTreeSet<String> = raw.iter().map(|file| file.path.clone()).collect();
    let files: Vec<SourceFile> = raw.into_iter().filter_map(text_of).collect();
    let text = |path: &str| {
        files
            .iter()
            .find(|file| file.path == path)
            .map_or("", |file| &file.text)
    };
    problems.extend(layers::check(&metadata));
    problems.extend(layers::check_taken(&metadata));
    problems.extend(layers::check_reached(&metadata));
    problems.extend(rules::check(&files));
    problems.extend(version::check(&metadata, &files));
    problems.extend(layers::check_map(&metadata, text("docs/architecture.md")));
    problems.extend(manifests::check(&files));
    problems.extend(manifests::check_lock(&metadata, text("Cargo.lock")));
    for file in &files {
        problems.extend(text::check(file));
        if is_rust(&file.path) {
            problems.extend(text::check_rust(file));
        }
    }
    problems.extend(text::check_test_modules(&files));
    problems.extend(links::check(&files, &paths));
    problems.extend(runbook::check(&files));
    let sources = rust::sources(&files)?;
    problems.extend(figures::figures(&files, &sources).check(&metadata));
    let earlier = ceiling::history(root)?;
    problems.extend(ceiling::check(&metadata, &earlier));
    problems.extend(loops::check(&metadata, &sources));
    problems.extend(over(&metadata, users::check(&metadata, &sources)));
    Ok(problems)
}

/// The `pub` items without a user, where there are more than the root manifest still allows: all of them, so that somebody sees the new one.
fn over(metadata: &Value, unused: Vec<String>) -> Vec<String> {
    let allowed = layers::limit(metadata, "pub_without_user_max").unwrap_or(0);
    match (unused.len() as u64).cmp(&allowed) {
        Ordering::Greater => unused,
        Ordering::Equal => Vec::new(),
        Ordering::Less => vec![format!(
            "Cargo.toml: pub_without_user_max is {allowed}, and there are {}: lower it",
            unused.len()
        )],
    }
}

/// The code lines of each member, with included texts.
pub(crate) fn figures(root: &Path) -> anyhow::Result<String> {
    let files: Vec<SourceFile> = tree::all(root)?.into_iter().filter_map(text_of).collect();
    Ok(figures::figures(&files, &rust::sources(&files)?).text())
}

fn metadata(root: &Path) -> anyhow::Result<Value> {
    let metadata = crate::output(
        root,
        "cargo",
        &["metadata", "--no-deps", "--offline", "--format-version", "1"],
    )?;
    Ok(serde_json::from_str(&metadata)?)
}

pub(crate) fn is_rust(path: &str) -> bool {
    has_extension(path, "rs")
}

fn has_extension(path: &str, wanted: &str) -> bool {
    Path::new(path)
        .extension()
        .is_some_and(|extension| extension == wanted)
}

/// Whether a file holds tests only; the caps are for what ships.
pub(crate) fn is_test(path: &str) -> bool {
    path.ends_with("/tests.rs") || path.contains("/tests/") || path.contains("/benches/")
}

/// The file, if it is text.
fn text_of(file: RawFile) -> Option<SourceFile> {
    let text = String::from_utf8(file.bytes).ok()?;
    Some(SourceFile {
        path: file.path,
        text,
    })
}

#[cfg(test)]
mod tests;
