//! Derived memories: which of them go when their sources are deleted.
//!
//! Owns: the sources of a profile's statement, an upcoming event or a merged episode. Never: removing anything.

use std::collections::BTreeSet;

use model::{Doc, DocKind, Entry, EntryKind, MessageId, Parent, ParentKind, SkillStatus};

/// Whether an entry only repeats other entries.
fn is_derived(kind: EntryKind, parent: Option<&Parent>) -> bool {
    match kind {
        EntryKind::Profile | EntryKind::Foresight => true,
        EntryKind::Episode => is_cluster(parent),
        EntryKind::Fact | EntryKind::Case | EntryKind::Skill | EntryKind::Topic => false,
    }
}

fn is_cluster(parent: Option<&Parent>) -> bool {
    parent.is_some_and(|parent| parent.kind == ParentKind::Cluster)
}

/// Whether an entry was merged from several episodes.
pub(crate) fn is_merged(entry: &Entry) -> bool {
    entry.kind == EntryKind::Episode && is_cluster(entry.parent.as_ref())
}

pub(crate) fn entry_is_derived(entry: &Entry) -> bool {
    is_derived(entry.kind, entry.parent.as_ref())
}

fn row_is_derived(doc: &Doc) -> bool {
    matches!(doc.kind, DocKind::Entry(kind) if is_derived(kind, doc.parent.as_ref()))
}

/// Whether a skill goes with these cases. A draft can describe any of its cases and is made again from the others; a
/// skill that a person judged goes with the last case.
fn skill_hangs(skill: &Doc, gone: &BTreeSet<&str>, rows: &[&Doc]) -> bool {
    let mut cases = skill.sources.iter();
    let is_made_of_gone = cases.clone().any(|case| gone.contains(case.as_str()));
    let is_draft = SkillStatus::of(&skill.labels) == SkillStatus::Draft;
    let is_left = |case: &MessageId| {
        !gone.contains(case.as_str()) && rows.iter().any(|row| *row.key.id == *case.as_str())
    };
    skill.kind == DocKind::Entry(EntryKind::Skill) && is_made_of_gone && (is_draft || !cases.any(is_left))
}

/// A deletion from an owner's rows: a preview shows it, and a deletion carries it out.
#[derive(Debug)]
pub(crate) struct DeletionPlan<'a> {
    /// The rows that the request targets.
    pub(crate) named: Vec<&'a Doc>,
    /// The rows that go with them.
    pub(crate) following: Vec<&'a Doc>,
    /// The ids of all these rows.
    pub(crate) gone: BTreeSet<&'a str>,
}

impl<'a> DeletionPlan<'a> {
    pub(crate) fn of(rows: &[&'a Doc], named: Vec<&'a Doc>) -> Self {
        let mut gone: BTreeSet<&str> = named.iter().map(|doc| &*doc.key.id).collect();
        let following = going_with(rows, &gone);
        gone.extend(following.iter().map(|doc| &*doc.key.id));
        Self {
            named,
            following,
            gone,
        }
    }
}

/// Rows that must go with some of an owner's rows: facts of their episodes, skills of their cases, and all memories made
/// from any of these, because they can quote them. The next run makes the lost statements about remaining memories again.
pub(crate) fn going_with<'a>(rows: &[&'a Doc], targets: &BTreeSet<&str>) -> Vec<&'a Doc> {
    let goes = |doc: &Doc| {
        let of_episode =
            |parent: &Parent| parent.kind == ParentKind::Episode && targets.contains(parent.id.as_str());
        targets.contains(&*doc.key.id)
            || doc.parent.as_ref().is_some_and(of_episode)
            || skill_hangs(doc, targets, rows)
    };
    let (derived, first): (Vec<&Doc>, Vec<&Doc>) = rows.iter().partition(|doc| row_is_derived(doc));
    let (gone, left): (Vec<&Doc>, Vec<&Doc>) = first.into_iter().partition(|doc| goes(doc));
    let (gone_sources, left_sources) = (sources(&gone), sources(&left));
    let is_unsupported = |doc: &&&Doc| {
        let is_left = |source: &MessageId| left_sources.contains(source);
        let is_touched = doc.sources.iter().any(|source| gone_sources.contains(source));
        let is_whole = doc.sources.iter().all(is_left);
        is_touched && (!is_whole || repeats(doc, &gone) && !repeats(doc, &left))
    };
    let mut going: Vec<&Doc> = derived.iter().filter(is_unsupported).copied().collect();
    let facts = gone.into_iter().filter(|doc| doc.kind != DocKind::Turn);
    going.extend(facts.filter(|doc| !targets.contains(&*doc.key.id)));
    going
}

/// Memories with a source that is in no file any more, for example an episode that a person deleted, and the messages
/// of these sources.
pub(crate) fn orphans<'a>(rows: &[&'a Doc]) -> Vec<(&'a Doc, Vec<MessageId>)> {
    let (derived, first): (Vec<&Doc>, Vec<&Doc>) = rows.iter().partition(|doc| row_is_derived(doc));
    let left = sources(&first);
    let orphans = derived.into_iter().filter_map(|doc| {
        let missing = doc.sources.iter().filter(|source| !left.contains(source));
        let missing: Vec<MessageId> = missing.cloned().collect();
        (!missing.is_empty()).then_some((doc, missing))
    });
    orphans.collect()
}

/// Whether all sources of an entry still exist, for a skill its cases. An entry without sources is a person's.
pub(crate) fn is_supported<'a>(entry: &Entry, rows: impl Iterator<Item = &'a Doc>) -> bool {
    if entry.kind == EntryKind::Skill {
        let there: BTreeSet<&str> = rows.map(|row| &*row.key.id).collect();
        return entry.sources.iter().all(|case| there.contains(case.as_str()));
    }
    if entry.sources.is_empty() || !is_derived(entry.kind, entry.parent.as_ref()) {
        return true;
    }
    let first: Vec<&Doc> = rows.filter(|doc| !row_is_derived(doc)).collect();
    let left = sources(&first);
    entry.sources.iter().all(|source| left.contains(source))
}

fn sources<'a>(docs: &[&'a Doc]) -> BTreeSet<&'a MessageId> {
    docs.iter().flat_map(|doc| &doc.sources).collect()
}

/// Whether a derived memory repeats or quotes one of these facts.
fn repeats(doc: &Doc, facts: &[&Doc]) -> bool {
    facts
        .iter()
        .filter(|fact| fact.is_fact())
        .any(|fact| extract::is_duplicate(&doc.text, &fact.text) || doc.summary.contains(&fact.text))
}
