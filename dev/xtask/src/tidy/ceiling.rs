//! The ceiling of code lines may only fall.
//!
//! Owns: comparing it with what the history says. Never: counting lines.

use std::path::Path;

use serde_json::Value;
use toml::Table;

use super::figures::LINES_MAX;
use super::layers;
use super::loops::LOOPS_MAX;

const MEASURE_KEY: &str = "product_code_lines_measure";
/// What a line is: 1 was code alone, 2 adds ten words of an included text. Ceilings of two measures say nothing about each other.
const MEASURE: u64 = 2;

/// The manifest of an earlier commit.
#[derive(Debug)]
pub(crate) struct Earlier {
    pub(crate) commit: String,
    pub(crate) manifest: String,
}

/// The root manifest in each commit that touched a limit that may only fall, as far as a clone knows them; HEAD is the first.
pub(crate) fn history(root: &Path) -> anyhow::Result<Vec<Earlier>> {
    let search = format!("-G{}|{LOOPS_MAX}", LINES_MAX.trim_end_matches("_max"));
    let touched = [
        "log",
        "--full-history",
        "--format=%h",
        &search,
        "HEAD",
        "--",
        "Cargo.toml",
    ];
    let mut commits = vec!["HEAD".to_owned()];
    commits.extend(crate::output(root, "git", &touched)?.lines().map(str::to_owned));
    let manifest = |commit: String| {
        let manifest = crate::output(root, "git", &["show", &format!("{commit}:Cargo.toml")])?;
        Ok(Earlier { commit, manifest })
    };
    commits.into_iter().map(manifest).collect()
}

/// A ceiling above the lowest one of the same measure.
pub(crate) fn check(metadata: &Value, earlier: &[Earlier]) -> Vec<String> {
    let measure = layers::limit(metadata, MEASURE_KEY);
    if measure != Some(MEASURE) {
        return vec![format!(
            "Cargo.toml: `{MEASURE_KEY}` must be {MEASURE}, which is what tidy counts"
        )];
    }
    let Some(ceiling) = layers::limit(metadata, LINES_MAX) else {
        return Vec::new();
    };
    let limits = earlier
        .iter()
        .filter_map(|earlier| limit(earlier).map(|limit| (limit, &earlier.commit)));
    match limits.min_by_key(|(limit, _)| *limit) {
        Some((lowest, commit)) if ceiling > lowest => vec![format!(
            "Cargo.toml: `{LINES_MAX}` is {ceiling} and was {lowest} in {commit}; it may only fall: delete code instead"
        )],
        _ => Vec::new(),
    }
}

/// The ceiling of a commit, if it counts as today.
fn limit(earlier: &Earlier) -> Option<u64> {
    let manifest: Table = earlier.manifest.parse().ok()?;
    let limits = manifest.get("workspace")?.get("metadata")?.get("limits")?;
    let number = |key: &str| limits.get(key)?.as_integer()?.try_into().ok();
    (number(MEASURE_KEY) == Some(MEASURE)).then(|| number(LINES_MAX))?
}
