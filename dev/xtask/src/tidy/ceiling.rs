//! The ceilings of code lines and of loops may only fall.
//!
//! Owns: comparing them with what the history says. Never: counting.

use std::path::Path;

use serde_json::Value;
use toml::Table;

use super::figures::LINES_MAX;
use super::layers;
use super::loops::LOOPS_MAX;

const MEASURE_KEY: &str = "product_code_lines_measure";
/// What a line is: 1 was code alone, 2 adds ten words of an included text. Ceilings of two measures say nothing about each other.
const MEASURE: i64 = 2;

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

/// Limits above the lowest one of the same measure in an earlier commit.
pub(crate) fn check(metadata: &Value, earlier: &[Earlier]) -> Vec<String> {
    if layers::limit(metadata, MEASURE_KEY) != Some(MEASURE.unsigned_abs()) {
        return vec![format!(
            "Cargo.toml: `{MEASURE_KEY}` must be {MEASURE}, which is what tidy counts"
        )];
    }
    let risen = |key: &&str| {
        let limits = earlier
            .iter()
            .filter_map(|earlier| Some((limit(earlier, key)?, &earlier.commit)));
        let (lowest, commit) = limits.min_by_key(|(limit, _)| *limit)?;
        let now = i64::try_from(layers::limit(metadata, key)?).ok()?;
        (now > lowest).then(|| {
            format!("Cargo.toml: `{key}` is {now} and was {lowest} in {commit}; it may only fall: change the code instead")
        })
    };
    [LINES_MAX, LOOPS_MAX].iter().filter_map(risen).collect()
}

/// A limit of a commit, if it counts as today.
fn limit(earlier: &Earlier, key: &str) -> Option<i64> {
    let manifest: Table = earlier.manifest.parse().ok()?;
    let limits = manifest.get("workspace")?.get("metadata")?.get("limits")?;
    let number = |key: &str| limits.get(key)?.as_integer();
    (number(MEASURE_KEY) == Some(MEASURE)).then(|| number(key))?
}
