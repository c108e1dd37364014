//! The house rules that a machine can check: layers, owners, caps, module comments, the map, leftovers.
//!
//! Owns: reading the tree and naming what is wrong. Never: changing a file.

mod functions;
mod layers;
mod manifests;
mod text;

use std::path::{Path, PathBuf};

use anyhow::Context;
use serde_json::Value;

/// A file of the tree as the rules see it.
#[derive(Debug)]
pub(crate) struct SourceFile {
    /// Relative to the project, with `/`.
    pub(crate) path: String,
    pub(crate) text: String,
}

/// Every problem of the tree, in a stable order.
pub(crate) fn check(root: &Path) -> anyhow::Result<Vec<String>> {
    let metadata = crate::output(
        root,
        "cargo",
        &["metadata", "--no-deps", "--offline", "--format-version", "1"],
    )?;
    let metadata: Value = serde_json::from_str(&metadata)?;
    let files = tracked(root)?;
    let mut problems = layers::check(&metadata);
    problems.extend(layers::check_map(&metadata, &read(root, "docs/architecture.md")?));
    problems.extend(manifests::check(&files));
    problems.extend(manifests::check_lock(&metadata, &read(root, "Cargo.lock")?));
    for file in &files {
        problems.extend(text::check(file));
        if is_rust(&file.path) {
            problems.extend(text::check_rust(file));
            problems.extend(functions::check(file));
        }
    }
    problems.extend(text::check_test_modules(&files));
    Ok(problems)
}

fn is_rust(path: &str) -> bool {
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

fn read(root: &Path, path: &str) -> anyhow::Result<String> {
    std::fs::read_to_string(root.join(path)).with_context(|| format!("cannot read `{path}`"))
}

/// The text files that git tracks or would track.
fn tracked(root: &Path) -> anyhow::Result<Vec<SourceFile>> {
    let list = crate::output(
        root,
        "git",
        &["ls-files", "-z", "--cached", "--others", "--exclude-standard"],
    )?;
    let mut paths: Vec<PathBuf> = list
        .split('\0')
        .filter(|path| !path.is_empty())
        .map(PathBuf::from)
        .collect();
    paths.sort();
    let mut files = Vec::new();
    for path in paths {
        let Ok(bytes) = std::fs::read(root.join(&path)) else {
            continue;
        };
        if let Ok(text) = String::from_utf8(bytes) {
            files.push(SourceFile {
                path: path.to_string_lossy().replace('\\', "/"),
                text,
            });
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests;
