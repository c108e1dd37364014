//! Earlier states of files: after a change, or at a time.
//!
//! Owns: which versions count at that moment, and that an entry without a version counts as older than all. Never: a
//! version's text.

use std::collections::{BTreeMap, BTreeSet};

use model::{Scope, Timestamp};
use ports::{
    ChangeId, ParsedFile, VaultError, VaultPath, Version, VersionId, VersionKey, VersionQuery, VersionText,
};

use super::log::{is_seen, kept_text, touching};
use crate::base::Base;
use crate::error::EngineError;

/// A moment of the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// After a change and all before it; 0 is before the first.
    After(ChangeId),
    /// At a time. A run counts from its start, an edit in a file from when it was found.
    At(Timestamp),
}

impl Moment {
    fn has(self, version: &Version) -> bool {
        version.change.as_deref().is_none_or(|change| match self {
            Self::After(id) => change.id <= id,
            Self::At(at) => change.at <= at,
        })
    }
}

/// A file in an earlier state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastFile {
    pub path: VaultPath,
    /// None if it is not kept, or was not asked for.
    pub text: Option<String>,
}

/// Entries or text of a file, each with the version that first added it; entries are in that order.
type Parts = Vec<(VersionId, VersionKey, VersionText)>;

fn files_at(versions: &[Version], moment: Moment) -> BTreeMap<VaultPath, Parts> {
    let mut standing: BTreeMap<&VersionKey, (VersionId, &VersionText)> = BTreeMap::new();
    let counts = |version: &&Version| !version.is_unsettled && moment.has(version);
    for version in versions.iter().filter(counts) {
        let before = standing.remove(&version.key);
        if let Some(after) = &version.after {
            let since = before.map_or(version.id, |(since, _)| since);
            standing.insert(&version.key, (since, after));
        }
    }
    let mut files: BTreeMap<VaultPath, Parts> = BTreeMap::new();
    for (key, (since, text)) in standing {
        let parts = files.entry(key.path.clone()).or_default();
        parts.push((since, key.clone(), text.clone()));
    }
    files
}

/// Earlier states of the files, as far as a scope may see them: one file with its text, or all without.
pub(crate) async fn files_then(
    base: &Base,
    within: Option<&Scope>,
    moment: Moment,
    path: Option<&str>,
) -> Result<Vec<PastFile>, EngineError> {
    let vault = &base.parts.vault;
    let (query, paths) = if let Some(path) = path {
        (VersionQuery::File(path.into()), vec![path.into()])
    } else {
        let stats = vault.scan().await?.into_iter();
        let paths: Vec<VaultPath> = stats.map(|stat| stat.path).collect();
        (VersionQuery::Touching(touching(within, None)), paths)
    };
    let mut versions = base.chronicle.up_to_date().await?.versions(&query).await?;
    versions.retain(|version| is_seen(version, within));
    let known: BTreeSet<&VersionKey> = versions.iter().map(|version| &version.key).collect();
    let mut files = files_at(&versions, moment);
    for path in paths {
        let file = match vault.read(&path).await {
            Err(VaultError::Outside { .. }) => None,
            read => read?,
        };
        for read in file.into_iter().flat_map(|ParsedFile { entries, .. }| entries) {
            let (path, entry) = (path.clone(), Some(read.entry.id.clone()));
            let key = VersionKey { path, entry };
            if !known.contains(&key) && within.is_none_or(|scope| read.entry.scope == *scope) {
                let parts = files.entry(key.path.clone()).or_default();
                parts.push((0, key, vault.text_of(&read.entry)));
            }
        }
    }
    let is_asked = path.is_some();
    let file = |(path, mut parts): (VaultPath, Parts)| {
        parts.sort_by_key(|(since, ..)| *since);
        let text = match &parts[..] {
            _ if !is_asked => None,
            [(_, VersionKey { entry: None, .. }, whole), ..] => whole.text.clone(),
            _ => {
                let texts: Vec<&str> = parts.iter().map(|(.., text)| kept_text(Some(text))).collect();
                vault.file_of(&path, &texts)
            }
        };
        PastFile { path, text }
    };
    Ok(files.into_iter().map(file).collect())
}
