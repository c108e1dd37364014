//! Reading memories in mem0's dialect: a list, a search, one memory.
//!
//! Owns: their JSON form, and choosing the entries that are memories here. Never: ranking (the engine).

use std::collections::BTreeSet;

use axum::Json;
use axum::response::IntoResponse;
use memory::{Engine, EngineError, Hit, List, Method, Search};
use model::{CellId, Doc, DocKind, EntryKind, Filter, Origin, Owner, ParentKind, Scope};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::filters::owner_filters;
use super::names::{agent_of, no_run};
use crate::body::{JsonBody, PathId, UrlQuery};
use crate::failure::Failure;
use crate::frame::{Answer, Visit};
use crate::lookup;
use crate::state::Gateway;
use crate::wire::forget::IdsParts;
use crate::wire::{ApiId, Invalid, OneQuery};

const TOP_K: usize = 10;
const TOP_K_MAX: usize = 100;
const PAGE_SIZE: usize = 100;

/// A memory.
#[derive(Debug, Serialize)]
pub(super) struct MemoryItem {
    id: String,
    memory: String,
    user_id: Option<String>,
    agent_id: Option<String>,
    run_id: Option<String>,
    /// Always null: Quipu stores no metadata.
    metadata: Option<Value>,
    categories: [&'static str; 0],
    created_at: String,
    updated_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<f32>,
}

impl MemoryItem {
    pub(super) async fn of(gateway: &Gateway, hit: &Hit) -> Result<Self, EngineError> {
        let doc = &hit.doc;
        let owner = &doc.key.owner;
        let agent = agent_of(owner).map(str::to_owned);
        let at = gateway.zone().render(doc.time);
        Ok(Self {
            id: ApiId::render(&owner.id, &doc.key.id),
            memory: text(&gateway.engine, doc).await?,
            user_id: agent.is_none().then(|| owner.id.to_string()),
            agent_id: agent,
            run_id: doc
                .session
                .as_ref()
                .map(std::string::ToString::to_string)
                .filter(|session| *session != no_run(owner)),
            metadata: None,
            categories: [],
            created_at: at.clone(),
            updated_at: at,
            score: None,
        })
    }
}

/// A fact's text, or the messages of an episode; the edited text if a person changed it.
async fn text(engine: &Engine, doc: &Doc) -> Result<String, EngineError> {
    let cell = match &doc.parent {
        Some(parent) if parent.kind == ParentKind::Memcell && doc.origin != Origin::Hand => {
            engine.cell(&CellId::new(parent.id.as_str())).await?
        }
        _ => None,
    };
    Ok(match cell.as_ref().map(|cell| cell.messages.as_slice()) {
        None => doc.text.clone(),
        Some([message]) => message.text(),
        Some(messages) => {
            let lines = messages
                .iter()
                .map(|said| format!("{}: {}", said.speaker(), said.text()));
            lines.collect::<Vec<_>>().join("\n")
        }
    })
}

/// An owner's facts, and the episodes without facts.
async fn of_owner(
    engine: &Engine,
    scope: &Scope,
    owner: &Owner,
    filter: Filter,
) -> Result<Vec<Hit>, EngineError> {
    let list = |kind, filter| {
        engine.list(List {
            filter: Some(filter),
            ..List::all(scope.clone(), owner.clone(), kind)
        })
    };
    let with_facts = with_facts(engine, scope, owner).await?;
    let mut hits = list(EntryKind::Fact, filter.clone()).await?.hits;
    let episodes = list(EntryKind::Episode, filter).await?.hits.into_iter();
    hits.extend(episodes.filter(|hit| !with_facts.contains(&*hit.doc.key.id)));
    Ok(hits)
}

/// The ids of episodes with facts.
async fn with_facts(engine: &Engine, scope: &Scope, owner: &Owner) -> Result<BTreeSet<String>, EngineError> {
    let facts = List::all(scope.clone(), owner.clone(), EntryKind::Fact);
    let facts = engine.list(facts).await?.hits.into_iter();
    Ok(facts.filter_map(|fact| episode_of(&fact.doc)).collect())
}

/// The episode of a fact.
pub(super) fn episode_of(doc: &Doc) -> Option<String> {
    let parent = doc.parent.as_ref()?;
    (parent.kind == ParentKind::Episode).then(|| parent.id.clone())
}

/// The body of a list or a search. Other keys are ignored.
#[derive(Debug, Deserialize)]
pub(super) struct QueryBody {
    #[serde(default)]
    query: String,
    filters: Option<Map<String, Value>>,
    top_k: Option<usize>,
    threshold: Option<f64>,
    rerank: Option<bool>,
    #[serde(default)]
    latest_only: bool,
}

/// The owner of an add or a deletion.
#[expect(clippy::struct_field_names, reason = "as mem0 names them")]
#[derive(Debug, Deserialize)]
pub(super) struct Ids {
    pub(super) user_id: Option<String>,
    pub(super) agent_id: Option<String>,
    pub(super) app_id: Option<String>,
    pub(super) run_id: Option<String>,
}

/// `?page=2&page_size=50`.
#[derive(Debug, Deserialize)]
pub(super) struct MemoryPages {
    page: Option<usize>,
    page_size: Option<usize>,
}

/// Lists memories, newest first.
pub(super) async fn page(
    visit: Visit,
    UrlQuery(pages): UrlQuery<MemoryPages>,
    JsonBody(asked, ..): JsonBody<QueryBody>,
) -> Answer {
    let gateway = &visit.gateway;
    let mut hits = Vec::new();
    for (owner, filter) in owner_filters(&visit, asked.filters.as_ref()).await? {
        hits.extend(of_owner(&gateway.engine, &visit.caller.home, &owner, filter).await?);
    }
    if asked.latest_only {
        hits.retain(|hit| hit.superseded_by.is_none());
    }
    hits.sort_by(|a, b| (b.doc.time, &b.doc.key.id).cmp(&(a.doc.time, &a.doc.key.id)));
    let (page, size) = (pages.page.unwrap_or(1), pages.page_size.unwrap_or(PAGE_SIZE));
    for (field, value) in [("page", page), ("page_size", size)] {
        if value == 0 {
            return Err(Invalid::at(field, "is counted from 1").into());
        }
    }
    let skipped = (page - 1).saturating_mul(size);
    let shown = hits.get(skipped..).unwrap_or_default();
    let results = items(gateway, &shown[..size.min(shown.len())]).await?;
    let link = |page: usize| format!("/v3/memories/?page={page}&page_size={size}");
    Ok(Json(json!({
        "count": hits.len(),
        "next": (size < shown.len()).then(|| link(page + 1)),
        "previous": (page > 1).then(|| link(page - 1)),
        "results": results,
    }))
    .into_response())
}

async fn items(gateway: &Gateway, hits: &[Hit]) -> Result<Vec<MemoryItem>, EngineError> {
    let mut items = Vec::new();
    for hit in hits {
        items.push(MemoryItem::of(gateway, hit).await?);
    }
    Ok(items)
}

/// Searches memories, best first.
pub(super) async fn search(visit: Visit, JsonBody(asked, ..): JsonBody<QueryBody>) -> Answer {
    let gateway = &visit.gateway;
    let top_k = asked.top_k.unwrap_or(TOP_K);
    if !(1..=TOP_K_MAX).contains(&top_k) {
        return Err(Invalid::at("top_k", format!("must be between 1 and {TOP_K_MAX}")).into());
    }
    #[expect(clippy::cast_possible_truncation, reason = "a score has no more digits")]
    let score_min = asked.threshold.unwrap_or_default() as f32;
    let scope = &visit.caller.home;
    let mut hits = Vec::new();
    for (owner, filter) in owner_filters(&visit, asked.filters.as_ref()).await? {
        let search = Search {
            scope: scope.clone(),
            owner: owner.clone(),
            query: asked.query.clone(),
            method: Method::Hybrid,
            // Hits of the engine include episodes with facts, which are no memories here.
            memories_max: TOP_K_MAX,
            messages_max: 0,
            filter: Some(filter),
            as_of: None,
            asked_at: None,
            score_min,
            tokens_max: None,
            with_person: false,
            rerank: asked.rerank,
        };
        let found = gateway.engine.search(search).await?.memories;
        let with_facts = with_facts(&gateway.engine, scope, &owner).await?;
        hits.extend(memories(found, &with_facts));
    }
    gateway.metrics.searched("hybrid");
    if asked.latest_only {
        hits.retain(|hit| hit.superseded_by.is_none());
    }
    hits.sort_by(|a, b| b.score.total_cmp(&a.score));
    let mut seen = BTreeSet::new();
    hits.retain(|hit| seen.insert(hit.doc.key.clone()));
    hits.truncate(top_k);
    let mut items = items(gateway, &hits).await?;
    for (item, hit) in items.iter_mut().zip(&hits) {
        item.score = Some(hit.score);
    }
    Ok(Json(json!({"results": items})).into_response())
}

/// The facts among the hits, also those of episodes, and the episodes without facts.
fn memories(found: Vec<Hit>, with_facts: &BTreeSet<String>) -> Vec<Hit> {
    let mut hits = Vec::new();
    for mut hit in found {
        hits.append(&mut hit.facts);
        match hit.doc.kind {
            DocKind::Entry(EntryKind::Fact) => hits.push(hit),
            DocKind::Entry(EntryKind::Episode) if !with_facts.contains(&*hit.doc.key.id) => hits.push(hit),
            _ => {}
        }
    }
    hits
}

/// The memory with this id, and its owner.
pub(super) async fn memory_of_id(visit: &Visit, id: &str) -> Result<(Owner, Hit), Failure> {
    let none = || Failure::not_found("memory", id);
    // An id of mem0's own form names no memory here.
    let mut parts: IdsParts = OneQuery::default()
        .parts(id, &visit.caller.home)
        .map_err(|_| none())?;
    visit.caller.enter_ids(&mut parts)?;
    let (owner, hit) = lookup::find(&visit.gateway.engine, parts)
        .await?
        .ok_or_else(none)?;
    match hit.doc.kind {
        DocKind::Entry(EntryKind::Fact | EntryKind::Episode) => Ok((owner, hit)),
        _ => Err(none()),
    }
}

/// One memory.
pub(super) async fn one(visit: Visit, PathId(id): PathId) -> Answer {
    let (_, hit) = memory_of_id(&visit, &id).await?;
    Ok(Json(MemoryItem::of(&visit.gateway, &hit).await?).into_response())
}
