//! The files that git tracks, or would track after `git add`.
//!
//! Owns: listing and reading them. Never: a rule about them.

use std::path::Path;

/// A file, whatever is in it.
#[derive(Debug)]
pub(crate) struct RawFile {
    /// Relative to the project, with `/`.
    pub(crate) path: String,
    pub(crate) bytes: Vec<u8>,
}

/// Every file of the project, sorted by path.
pub(crate) fn all(root: &Path) -> anyhow::Result<Vec<RawFile>> {
    let list = crate::output(
        root,
        "git",
        &["ls-files", "-z", "--cached", "--others", "--exclude-standard"],
    )?;
    let mut paths: Vec<String> = list.split('\0').map(str::to_owned).collect();
    paths.sort();
    paths.dedup();
    let read = |path: String| {
        let bytes = std::fs::read(root.join(&path)).ok()?;
        Some(RawFile { path, bytes })
    };
    // A path that is deleted or no file is left out.
    Ok(paths
        .into_iter()
        .filter(|path| !path.is_empty())
        .filter_map(read)
        .collect())
}
