//! Reading the history: as a list, as a diff, and as of a time, each limited to a tenant.
//!
//! Owns: the border between tenants in it. Never: changing it.

use std::collections::{BTreeMap, BTreeSet};

use model::{EntryId, Owner, Scope, text};
use ports::{
    ChangeId, HistoryChange, RunId, Touching, VaultPath, Version, VersionId, VersionKey, VersionQuery,
    VersionText,
};

use crate::api::RecordedChange;
use crate::base::Base;
use crate::base::chronicle::text_of;
use crate::error::{EngineError, HistoryError};

/// Lines of an entry that a diff shows around a change.
const CONTEXT_LINES: usize = 3;

/// The net effect of a change on one entry or file, without the states in between.
pub(crate) struct Net<'a> {
    pub(crate) key: &'a VersionKey,
    pub(crate) first: &'a Version,
    pub(crate) last: &'a Version,
}

impl Net<'_> {
    /// Whether there was nothing before, and whether there is nothing afterwards.
    fn is_empty(&self) -> (bool, bool) {
        (self.first.before.is_none(), self.last.after.is_none())
    }
}

/// The versions of a change by key, in order.
pub(crate) fn nets<'a>(versions: impl IntoIterator<Item = &'a Version>) -> BTreeMap<&'a VersionKey, Net<'a>> {
    let mut nets: BTreeMap<&VersionKey, Net<'_>> = BTreeMap::new();
    for version in versions {
        let net = nets.entry(&version.key).or_insert(Net {
            key: &version.key,
            first: version,
            last: version,
        });
        net.last = version;
    }
    nets
}

pub(crate) fn is_seen(version: &Version, within: Option<&Scope>) -> bool {
    within.is_none_or(|scope| version.owner.as_ref().is_some_and(|(of, _)| of == scope))
}

/// The newest changes, of an owner or of all, and of a scope alone if there is one.
pub(crate) async fn log(
    base: &Base,
    within: Option<&Scope>,
    owner: Option<&(Scope, Owner)>,
    (before, limit): (Option<ChangeId>, usize),
) -> Result<Vec<RecordedChange>, EngineError> {
    let history = base.chronicle.up_to_date().await?;
    let newest = VersionQuery::Newest(touching(within, owner), before, limit);
    let versions = history.versions(&newest).await?;
    let mut changes: BTreeMap<ChangeId, (&HistoryChange, Vec<&Version>)> = BTreeMap::new();
    for version in versions.iter().filter(|version| is_seen(version, within)) {
        if let Some(change) = version.change.as_deref() {
            let (_, versions) = changes.entry(change.id).or_insert((change, Vec::new()));
            versions.push(version);
        }
    }
    let recorded = |(change, versions): (_, Vec<_>)| recorded_change(change, &versions);
    Ok(changes.into_values().rev().map(recorded).collect())
}

/// A change, if it has any version.
pub(crate) async fn change(base: &Base, id: ChangeId) -> Result<Option<RecordedChange>, EngineError> {
    let history = base.chronicle.up_to_date().await?;
    let versions = history.versions(&VersionQuery::Change(id)).await?;
    let versions: Vec<&Version> = versions.iter().collect();
    let change = versions.first().and_then(|version| version.change.as_deref());
    Ok(change.map(|change| recorded_change(change, &versions)))
}

pub(crate) fn files(versions: &[&Version]) -> Vec<VaultPath> {
    let paths: BTreeSet<&VaultPath> = versions.iter().map(|version| &version.key.path).collect();
    paths.into_iter().cloned().collect()
}

/// One line that summarises a change: `facts of alice: 2 entries added, 1 changed`.
pub(crate) fn subject(versions: &[&Version]) -> String {
    let nets = nets(versions.iter().copied());
    let count = |is_empty| {
        let entries = nets.values().filter(|net| net.key.entry.is_some());
        entries.filter(|net| net.is_empty() == is_empty).count()
    };
    let files = files(versions);
    let mut told = Vec::new();
    for (n, what) in [
        (count((true, false)), "added"),
        (count((false, false)), "changed"),
        (count((false, true)), "removed"),
    ] {
        match (n, told.is_empty()) {
            (0, _) => {}
            (_, true) => told.push(format!("{} {what}", text::counted(n, "entry", "entries"))),
            (_, false) => told.push(format!("{n} {what}")),
        }
    }
    let files_told = text::counted(files.len(), "file", "files");
    let told = match (told.is_empty(), files.len()) {
        (true, _) => format!("{files_told} changed"),
        (false, 1) => told.join(", "),
        (false, _) => format!("{} in {files_told}", told.join(", ")),
    };
    format!("{}: {told}", kind_and_owner(versions, &files)).replace(char::is_control, "?")
}

/// Kind and owner for a summary: the owner of some versions, and their kind if they have only one.
fn kind_and_owner(versions: &[&Version], files: &[VaultPath]) -> String {
    let owners: BTreeSet<Option<&(Scope, Owner)>> =
        versions.iter().map(|version| version.owner.as_ref()).collect();
    let kind = |path: &VaultPath| {
        path.split('/')
            .nth(4)
            .map(|kind| kind.trim_end_matches(".md").to_owned())
    };
    let kinds: BTreeSet<Option<String>> = files.iter().map(kind).collect();
    let kind = match kinds.first() {
        Some(Some(kind)) if kinds.len() == 1 => kind.as_str(),
        _ => "memory",
    };
    match (owners.first(), files) {
        (Some(Some((_, owner))), _) if owners.len() == 1 => format!("{kind} of {}", owner.id),
        (_, [file]) => file.to_string(),
        _ if owners.contains(&None) => "the vault".to_owned(),
        _ => format!("{kind} of {} owners", owners.len()),
    }
}

/// The diff of a change, as far as a scope may see it.
pub(crate) async fn diff(base: &Base, within: Option<&Scope>, id: &str) -> Result<String, EngineError> {
    let history = base.chronicle.up_to_date().await?;
    let no_change = || HistoryError::NoChange { id: id.to_owned() };
    let number: ChangeId = id.parse().map_err(|_| no_change())?;
    let mut versions = history.versions(&VersionQuery::Change(number)).await?;
    versions.retain(|version| is_seen(version, within));
    if versions.is_empty() {
        return Err(no_change().into());
    }
    let nets = nets(&versions);
    let keys = nets.keys().map(|key| (*key).clone()).collect();
    let all = history.versions(&VersionQuery::Keys(keys)).await?;
    let mut diff = String::new();
    let mut path = "";
    for net in nets.values() {
        if path != &*net.key.path {
            path = &net.key.path;
            diff.extend(["--- a/", path, "\n+++ b/", path, "\n"]);
        }
        let entry = net.key.entry.as_ref().map_or("", EntryId::as_str);
        diff.extend(["@@ ", entry, " @@\n"]);
        let before = before(&all, net.key, net.first.id);
        push_diff(&mut diff, kept_text(before), kept_text(net.last.after.as_ref()));
    }
    Ok(diff)
}

/// The state before a version, with its text.
pub(crate) fn before<'a>(
    all: &'a [Version],
    key: &VersionKey,
    version: VersionId,
) -> Option<&'a VersionText> {
    let earlier = all.iter().rev().find(|one| one.key == *key && one.id < version);
    earlier.and_then(|earlier| earlier.after.as_ref())
}

pub(crate) fn kept_text(state: Option<&VersionText>) -> &str {
    match state {
        None => "",
        Some(state) => state.text.as_deref().unwrap_or("(its text is not kept)\n"),
    }
}

/// The lines that differ, with some lines around them and the first line.
fn push_diff(out: &mut String, before: &str, after: &str) {
    let [before, after]: [Vec<&str>; 2] = [before, after].map(|text| text.lines().collect());
    let same = |pairs: &mut dyn Iterator<Item = (&&str, &&str)>| pairs.take_while(|(a, b)| a == b).count();
    let head = same(&mut before.iter().zip(&after));
    let tail = same(&mut before[head..].iter().rev().zip(after[head..].iter().rev()));
    let mut push = |mark: char, lines: &[&str]| {
        for line in lines {
            out.push(mark);
            out.push_str(line);
            out.push('\n');
        }
    };
    let from = head.saturating_sub(CONTEXT_LINES);
    push(' ', &before[..from.min(1)]);
    push(' ', &before[from..head]);
    push('-', &before[head..before.len() - tail]);
    push('+', &after[head..after.len() - tail]);
    let rest = &before[before.len() - tail..];
    push(' ', &rest[..tail.min(CONTEXT_LINES)]);
}

/// The runs that wrote the newest text of some entries.
pub(crate) async fn writers(
    base: &Base,
    entries: impl Iterator<Item = (VaultPath, EntryId)>,
) -> Result<BTreeMap<(VaultPath, EntryId), RunId>, EngineError> {
    let keys = entries.map(|(path, entry)| VersionKey::of_entry(&path, &entry));
    let query = VersionQuery::Keys(keys.collect());
    let history = base.chronicle.up_to_date().await?;
    let mut writers = BTreeMap::new();
    for version in history.versions(&query).await? {
        let VersionKey { path, entry } = version.key;
        let run = version.change.as_ref().and_then(|change| change.by.run());
        if let (Some(entry), Some(run)) = (entry, run) {
            writers.insert((path, entry), run.id.clone());
        }
    }
    Ok(writers)
}

/// The present text in the vault of a version's entry or file.
pub(crate) async fn states(base: &Base, version: &Version) -> Result<Option<VersionText>, EngineError> {
    let (vault, VersionKey { path, entry }) = (&base.parts.vault, &version.key);
    let Some(id) = entry else {
        return Ok(vault.bytes(path).await?.map(|bytes| text_of(&bytes)));
    };
    let file = vault.read(path).await?;
    let mut entries = file.into_iter().flat_map(|file| file.entries);
    let read = entries.find(|read| read.entry.id == *id);
    Ok(read.map(|read| vault.text_of(&read.entry)))
}

/// A change with its summary.
pub(crate) fn recorded_change(change: &HistoryChange, versions: &[&Version]) -> RecordedChange {
    RecordedChange {
        id: change.id,
        at: change.at,
        by: change.by.clone(),
        subject: subject(versions),
        files: files(versions),
    }
}

/// The versions that a request may see.
pub(crate) fn touching(within: Option<&Scope>, owner: Option<&(Scope, Owner)>) -> Touching {
    match (owner, within) {
        (Some((scope, owner)), _) => Touching::Owner(scope.clone(), owner.clone()),
        (None, Some(scope)) => Touching::Scope(scope.clone()),
        (None, None) => Touching::All,
    }
}
