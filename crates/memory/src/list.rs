//! A page of an owner's memories.
//!
//! Owns: filter, order, page. Never: ranking.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures::future::try_join_all;
use model::{Doc, DocKind, EntryId, Owner, Scope, Timestamp};
use recall::{Hit, Why};

use crate::api::{EngineError, List, Listed, SortBy};
use crate::corpora::CorpusView;
use crate::world::World;

/// Records read at a time.
const RECORDS: usize = 64;

/// Lists memories.
pub(crate) async fn list(world: &World, list: List) -> Result<Listed, EngineError> {
    world.accepting()?;
    if list.page == 0 || list.page_size == 0 {
        return Err(EngineError::Invalid(
            "pages and page sizes are counted from 1".to_owned(),
        ));
    }
    world.gauge.answering(&*world.parts.clock).await?;
    let mut rows = entries(world, &list.scope, &list.owner).await?;
    let superseders = superseders(&rows);
    rows.retain(|doc| {
        doc.kind == DocKind::Entry(list.kind) && list.filter.as_ref().is_none_or(|filter| filter.matches(doc))
    });
    match (list.sort_by, list.descending) {
        // A row has only one time, but an edit changes the time in the file.
        (SortBy::Time | SortBy::UpdatedAt, false) => rows.sort_by_key(order),
        (SortBy::Time | SortBy::UpdatedAt, true) => rows.sort_by_key(|doc| Reverse(order(doc))),
    }
    let total = rows.len();
    let page = rows
        .into_iter()
        .skip((list.page - 1).saturating_mul(list.page_size))
        .take(list.page_size);
    let hits = page.map(|doc| Hit {
        score: 0.0,
        why: Why::default(),
        superseded_by: superseders.get(&*doc.key.id).cloned(),
        later: None,
        facts: Vec::new(),
        doc,
    });
    Ok(Listed {
        total,
        hits: hits.collect(),
    })
}

/// One entry of an owner.
pub(crate) async fn entry(
    world: &World,
    scope: &Scope,
    owner: &Owner,
    id: &EntryId,
) -> Result<Hit, EngineError> {
    world.accepting()?;
    let rows = entries(world, scope, owner).await?;
    let superseded_by = superseders(&rows).remove(id.as_str());
    let doc = rows.into_iter().find(|doc| &*doc.key.id == id.as_str());
    let doc = doc.ok_or_else(|| EngineError::NotFound {
        what: "memory",
        id: id.to_string(),
    })?;
    Ok(Hit {
        score: 0.0,
        why: Why::default(),
        superseded_by,
        later: None,
        facts: Vec::new(),
        doc,
    })
}

/// Every row of an owner with its vector.
pub(crate) async fn rows(world: &World, scope: &Scope, owner: &Owner) -> Result<Vec<Doc>, EngineError> {
    world.accepting()?;
    world.gauge.answering(&*world.parts.clock).await?;
    Ok(world.parts.index.load(scope, owner).await?)
}

/// Everyone of whom the vault holds a file.
pub(crate) async fn owners(world: &World) -> Result<BTreeSet<(Scope, Owner)>, EngineError> {
    let mut owners = BTreeSet::new();
    for some in world.records.stats().await?.chunks(RECORDS) {
        let records = try_join_all(some.iter().map(|stat| world.records.record(&stat.path))).await?;
        owners.extend(
            records
                .into_iter()
                .flatten()
                .map(|record| (record.scope, record.owner)),
        );
    }
    Ok(owners)
}

/// An owner's rows that are entries.
pub(crate) async fn entries(
    world: &World,
    scope: &Scope,
    owner: &Owner,
) -> Result<Vec<Arc<Doc>>, EngineError> {
    let is_entry = |doc: &&Arc<Doc>| doc.kind != DocKind::Turn;
    match world.corpora.view(world, scope, owner).await? {
        CorpusView::Hot(hot) => Ok(hot.read(|corpus| corpus.iter().filter(is_entry).cloned().collect())),
        CorpusView::Large => {
            let docs = world.parts.index.load(scope, owner).await?;
            Ok(docs
                .into_iter()
                .filter(|doc| doc.kind != DocKind::Turn)
                .map(Arc::new)
                .collect())
        }
    }
}

fn order(doc: &Arc<Doc>) -> (Timestamp, Arc<str>) {
    (doc.time, doc.key.id.clone())
}

/// Which entry took the place of which; the latest one, if there are several.
fn superseders(rows: &[Arc<Doc>]) -> BTreeMap<String, EntryId> {
    let mut rows: Vec<&Arc<Doc>> = rows.iter().filter(|doc| !doc.supersedes.is_empty()).collect();
    rows.sort_by_key(|doc| order(doc));
    let pairs = rows.into_iter().flat_map(|doc| {
        doc.supersedes
            .iter()
            .map(|old| (old.as_str().to_owned(), EntryId::new(doc.key.id.clone())))
    });
    pairs.collect()
}
