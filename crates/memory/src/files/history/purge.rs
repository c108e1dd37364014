//! Purge: deletes the versions of deleted text.
//!
//! Owns: which versions contain, or may repeat, deleted text. Never: removing anything from a file.

use std::collections::{BTreeMap, BTreeSet};

use extract::consolidate::page;
use model::{Entry, EntryKind, MessageId, Owner, Page, Scope, SessionId, SessionKey};
use ports::{Touching, VaultPath, Version, VersionId, VersionKey, VersionQuery};

use crate::base::Base;
use crate::base::chronicle::note_files;
use crate::error::EngineError;
use crate::words::Words;
use crate::{derived, ids};

/// Targets of a deletion in one owner's memory.
#[derive(Debug, Default)]
pub(crate) struct Targets<'a> {
    pub(crate) entries: BTreeSet<String>,
    pub(crate) messages: BTreeSet<MessageId>,
    pub(crate) session: Option<&'a SessionId>,
    pub(crate) words: Option<&'a Words>,
}

impl Targets<'_> {
    /// Whether a version belongs to a target.
    fn is_of(&self, version: &Version) -> bool {
        let VersionKey { path, entry } = &version.key;
        let is_named = entry.as_ref().is_some_and(|id| {
            self.entries.contains(id.as_str()) || self.entries.contains(&*ids::version_id(path, id.as_str()))
        });
        is_named || self.session.is_some() && version.session.as_ref() == self.session
    }

    /// Whether an entry was made from a target.
    fn is_source_of(&self, entry: &Entry) -> bool {
        let is_made =
            derived::entry_is_derived(entry) || matches!(entry.kind, EntryKind::Case | EntryKind::Skill);
        let is_named = |id: &str| self.entries.contains(id);
        is_made
            && (entry
                .sources
                .iter()
                .any(|id| self.messages.contains(id) || is_named(id.as_str()))
                || entry.parent.as_ref().is_some_and(|parent| is_named(&parent.id)))
    }

    fn has_words(&self, text: &str, entry: Option<&Entry>) -> bool {
        let Some(words) = self.words else { return false };
        words.are_in([text]) || entry.is_some_and(|entry| words.are_in_entry(entry))
    }
}

fn text_of(version: &Version) -> Option<&str> {
    version.after.as_ref()?.text.as_deref()
}

/// Deletes an owner's versions of the targets, of entries made from them, and of pages that cite either.
pub(crate) async fn purge_owner(
    base: &Base,
    (scope, owner): (&Scope, &Owner),
    mut targets: Targets<'_>,
) -> Result<(), EngineError> {
    let history = base.chronicle.up_to_date().await?;
    let all = VersionQuery::Texts(Touching::Owner(scope.clone(), owner.clone()));
    let versions = history.versions(&all).await?;
    let vault = &base.parts.vault;
    let entry_of = |version: &Version| vault.entry_of(&version.key.path, text_of(version)?);
    let entries: Vec<Option<Entry>> = versions.iter().map(entry_of).collect();
    for (version, entry) in versions.iter().zip(&entries) {
        if targets.is_of(version) {
            targets
                .entries
                .extend(version.key.entry.as_ref().map(|id| id.as_str().to_owned()));
            let messages = entry.iter().flat_map(|entry| &entry.sources);
            targets.messages.extend(messages.cloned());
        }
    }
    let mut going: BTreeSet<VersionId> = BTreeSet::new();
    // Other versions of the entries made from a target stay.
    let mut repeating = targets.entries.clone();
    for (version, entry) in versions.iter().zip(&entries) {
        let has_words = text_of(version).is_some_and(|text| targets.has_words(text, entry.as_ref()));
        let is_made = entry.as_ref().is_some_and(|entry| targets.is_source_of(entry));
        if targets.is_of(version) || has_words || is_made {
            going.insert(version.id);
            repeating.extend(version.key.entry.as_ref().map(|id| id.as_str().to_owned()));
        }
    }
    going.extend(pages(base, (scope, owner), &versions, &targets, &repeating));
    delete(base, &versions, |version| going.contains(&version.id)).await
}

async fn delete(
    base: &Base,
    versions: &[Version],
    goes: impl Fn(&Version) -> bool,
) -> Result<(), EngineError> {
    let going: Vec<&Version> = versions.iter().filter(|version| goes(version)).collect();
    let files = going.iter().filter(|version| version.key.entry.is_none());
    note_files(files.map(|version| version.key.path.clone()));
    if !going.is_empty() {
        let history = base.chronicle.up_to_date().await?;
        let ids = going.iter().map(|version| version.id);
        history.delete(ids.collect()).await?;
    }
    Ok(())
}

/// The versions of an owner's pages with a line that cites a deleted entry. The newest version goes only if its page
/// changes too.
fn pages(
    base: &Base,
    (scope, owner): (&Scope, &Owner),
    versions: &[Version],
    targets: &Targets<'_>,
    repeating: &BTreeSet<String>,
) -> Vec<VersionId> {
    let paths = Page::ALL.map(|page| base.parts.pages.path_of(scope, owner, page));
    let is_of_page = |version: &&Version| paths.contains(&version.key.path);
    let of_pages = versions.iter().filter(is_of_page);
    let newest = of_pages.clone().map(|version| (&version.key.path, version.id));
    let newest: BTreeMap<&VaultPath, VersionId> = newest.collect();
    let gone: BTreeSet<&str> = targets.entries.iter().map(String::as_str).collect();
    let goes = |version: &&Version| {
        let Some(text) = text_of(version) else {
            return false;
        };
        if newest.get(&version.key.path) == Some(&version.id) {
            return page::without(text, &gone, |id| !gone.contains(id)).is_some();
        }
        let lines = page::lines(text);
        let cites = lines.iter().filter_map(|line| line.own.as_ref());
        let mut cites = cites.flat_map(|own| &own.cites);
        cites.any(|id| repeating.contains(id.as_str()))
    };
    of_pages.filter(goes).map(|version| version.id).collect()
}

/// Deletes the history of a session, of one owner or of all in its scope.
pub(crate) async fn purge_session(
    base: &Base,
    session: &SessionKey,
    owner: Option<&Owner>,
) -> Result<(), EngineError> {
    let scope = &session.scope;
    let touching = match owner {
        Some(owner) => Touching::Owner(scope.clone(), owner.clone()),
        None => Touching::Scope(scope.clone()),
    };
    let history = base.chronicle.up_to_date().await?;
    let versions = history.versions(&VersionQuery::Touching(touching)).await?;
    let is_of_session = |version: &Version| version.session.as_ref() == Some(&session.session);
    let of_session = versions.into_iter().filter(is_of_session);
    let owners: BTreeSet<(Scope, Owner)> = of_session.filter_map(|version| version.owner).collect();
    for (scope, owner) in &owners {
        let targets = Targets {
            session: Some(&session.session),
            ..Targets::default()
        };
        purge_owner(base, (scope, owner), targets).await?;
    }
    Ok(())
}

/// Deletes the versions among some for which `goes` is true.
pub(crate) async fn purge(
    base: &Base,
    among: VersionQuery,
    goes: impl Fn(&Version) -> bool,
) -> Result<(), EngineError> {
    let history = base.chronicle.up_to_date().await?;
    let versions = history.versions(&among).await?;
    delete(base, &versions, goes).await
}
