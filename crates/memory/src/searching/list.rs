//! A page of an owner's memories.
//!
//! Owns: filter, order, page. Never: ranking.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use futures::future::try_join_all;
use model::{Doc, DocKey, DocKind, EntryId, EntryKind, Owner, Scope, SessionId, Timestamp};
use recall::{Hit, Why};

use crate::api::{Holding, List, Listed, SortBy, Standing};
use crate::base::Base;
use crate::error::EngineError;

/// Records read at a time.
const RECORDS: usize = 64;

/// Lists memories.
pub(crate) async fn list(base: &Base, list: List) -> Result<Listed, EngineError> {
    base.accepting()?;
    if list.page == 0 || list.page_size == 0 {
        return Err(EngineError::invalid("pages and page sizes are counted from 1"));
    }
    base.answering().await?;
    let mut rows = base.corpora.entries(&list.scope, &list.owner).await?;
    if let Some(then) = list.as_of {
        rows.retain(|doc| doc.time <= then);
    }
    // Later statements of a scene belong to the scene.
    let scenes = scenes(&rows);
    let is_played =
        |doc: &Doc| !doc.is_confirmed() && doc.session.as_ref().is_some_and(|id| scenes.contains(id));
    rows.retain(|doc| !doc.is_withdrawn() && (list.kind == EntryKind::Episode || !is_played(doc)));
    let superseders = superseders(&rows);
    let at = list.as_of.unwrap_or_else(|| base.parts.clock.now());
    let has_ended = |doc: &Doc| {
        superseders.contains_key(&*doc.key.id) || doc.valid_until.is_some_and(|until| until <= at)
    };
    rows.retain(|doc| {
        doc.kind == DocKind::Entry(list.kind)
            && list
                .filter
                .as_ref()
                .is_none_or(|filter| filter.matches((&**doc).into()))
            && list
                .standing
                .is_none_or(|standing| (standing == Standing::Superseded) == has_ended(doc))
    });
    match (list.sort_by, list.descending) {
        // A row has only one time, but an edit changes the time in the file.
        (SortBy::Time | SortBy::UpdatedAt, false) => rows.sort_by_key(order),
        (SortBy::Time | SortBy::UpdatedAt, true) => rows.sort_by_key(|doc| Reverse(order(doc))),
    }
    let total = rows.len();
    let before = (list.page - 1).saturating_mul(list.page_size);
    let page = rows.into_iter().skip(before).take(list.page_size);
    let hits = page.map(|doc| hit(superseders.get(&*doc.key.id).cloned(), doc));
    Ok(Listed {
        total,
        hits: hits.collect(),
    })
}

/// A hit without a query.
fn hit(superseded_by: Option<EntryId>, doc: Arc<Doc>) -> Hit {
    Hit {
        score: 0.0,
        why: Why::default(),
        superseded_by,
        later: None,
        is_withdrawn: false,
        taken_back: BTreeSet::new(),
        ended: Vec::new(),
        facts: Vec::new(),
        doc,
    }
}

/// One entry of an owner.
pub(crate) async fn entry(
    base: &Base,
    scope: &Scope,
    owner: &Owner,
    id: &EntryId,
) -> Result<Hit, EngineError> {
    base.answering().await?;
    let rows = base.corpora.entries(scope, owner).await?;
    let superseded_by = superseders(&rows).remove(id.as_str());
    let doc = rows.into_iter().find(|doc| &*doc.key.id == id.as_str());
    let doc = doc.ok_or_else(|| EngineError::not_found("memory", id))?;
    Ok(hit(superseded_by, doc))
}

/// Every row of an owner with its vector.
pub(crate) async fn rows(base: &Base, scope: &Scope, owner: &Owner) -> Result<Vec<Doc>, EngineError> {
    base.answering().await?;
    Ok(base.parts.index.load(scope, owner).await?)
}

/// Files of every owner in the vault: their number, entries and bytes.
pub(crate) async fn holdings(base: &Base) -> Result<BTreeMap<(Scope, Owner), Holding>, EngineError> {
    let mut holdings: BTreeMap<_, Holding> = BTreeMap::new();
    for some in base.parts.file_changes.stats().await?.chunks(RECORDS) {
        let records =
            try_join_all(some.iter().map(|stat| base.parts.file_changes.record(&stat.path))).await?;
        for record in records.into_iter().flatten() {
            let holding = holdings.entry((record.scope, record.owner)).or_default();
            holding.files += 1;
            holding.entries += record.marks.len();
            holding.bytes += record.stat.bytes;
        }
    }
    Ok(holdings)
}

/// As [`holdings`], with every user who has messages that are in no file yet.
pub(crate) async fn everybody(base: &Base) -> Result<BTreeMap<(Scope, Owner), Holding>, EngineError> {
    let mut holdings = holdings(base).await?;
    for (whose, waiting) in base.parts.transcripts.waiting().await? {
        holdings.entry(whose).or_default().waiting = waiting;
    }
    Ok(holdings)
}

/// The messages that an entry cites, word for word, in order of time.
pub(crate) async fn sources(
    base: &Base,
    scope: &Scope,
    owner: &Owner,
    id: &EntryId,
) -> Result<Vec<Arc<Doc>>, EngineError> {
    let cited = entry(base, scope, owner, id).await?.doc;
    let keys = cited
        .sources
        .iter()
        .map(|id| DocKey::new(scope, owner, id.as_str()));
    let rows = base.corpora.get(keys.collect()).await?.into_iter();
    let messages = rows.filter(|doc| doc.kind == DocKind::Turn).map(Arc::new);
    let mut messages: Vec<Arc<Doc>> = messages.collect();
    messages.sort_by_key(order);
    // A merged episode repeats the messages of its parts.
    messages.dedup_by(|a, b| a.key.id == b.key.id);
    Ok(messages)
}

fn order(doc: &Arc<Doc>) -> (Timestamp, Arc<str>) {
    (doc.time, doc.key.id.clone())
}

/// Order by age; no two entries are equal.
fn age(doc: &Doc) -> (Timestamp, Timestamp, &str) {
    (doc.valid_from.unwrap_or(doc.time), doc.time, &doc.key.id)
}

/// The sessions that their person called scenes.
pub(crate) fn scenes(rows: &[Arc<Doc>]) -> BTreeSet<SessionId> {
    let marks = rows.iter().filter(|doc| doc.is_scene());
    marks.filter_map(|doc| doc.session.clone()).collect()
}

/// The entry that superseded each superseded one; the first, if there are several.
pub(crate) fn superseders(rows: &[Arc<Doc>]) -> BTreeMap<String, EntryId> {
    let by_id: HashMap<&str, &Arc<Doc>> = rows.iter().map(|doc| (&*doc.key.id, doc)).collect();
    let named = rows.iter().flat_map(|doc| {
        let newer = doc.superseded_by.as_ref();
        let newer = newer.and_then(|id| by_id.get(id.as_str()).copied());
        let newer = newer.filter(|newer| !newer.is_withdrawn());
        let olds = doc.supersedes.iter().filter_map(|old| by_id.get(old.as_str()));
        let olds = olds.map(move |old| (doc, *old));
        olds.chain(newer.map(|newer| (newer, doc)))
    });
    let mut pairs: Vec<(&Arc<Doc>, &Arc<Doc>)> = named.filter(|(newer, old)| age(old) < age(newer)).collect();
    pairs.sort_by_key(|(newer, _)| Reverse(age(newer)));
    let ids = pairs
        .into_iter()
        .map(|(newer, old)| (&*old.key.id, &newer.key.id));
    ids.map(|(old, newer)| (old.to_owned(), EntryId::new(newer.clone())))
        .collect()
}
