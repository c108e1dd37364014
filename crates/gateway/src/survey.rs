//! `memory/overview`, `memories/{memory_id}/sources` and `memory/preview`: information for a person before a
//! decision.
//!
//! Owns: permissions for them, and counting by month. Never: deciding which items are deleted together (the engine
//! does).

use std::collections::BTreeMap;
use std::sync::Arc;

use memory::{DeletionPreview, Forget, List, Standing};
use model::{Doc, DocKind, EntryId, EntryKind, Owner, Zone};

use crate::body::{IdQuery, JsonBody};
use crate::failure::Failure;
use crate::forget::enter;
use crate::frame::{Answer, Visit};
use crate::lookup;
use crate::recall::named_in_path;
use crate::wire::survey::{DoomedItem, MonthItem, PREVIEWED_MAX, PreviewParts, StayingItem};
use crate::wire::{
    ApiId, FoundMessage, OneQuery, OverviewData, OverviewRequest, PreviewData, PreviewRequest, SourcesData,
};

/// Length of the month at the beginning of a date, in bytes.
const MONTH_BYTES: usize = "2026-03".len();

pub(crate) async fn memory_overview(visit: Visit, JsonBody(value, ..): JsonBody<OverviewRequest>) -> Answer {
    let (scope, owner) = value.parts(&visit.caller.home)?;
    visit.caller.enter_memory(&scope, &owner)?;
    let list = |kind| List::all(scope.clone(), owner.clone(), kind);
    let listed = |list| async { visit.gateway.engine.list(list).await };
    let episodes = listed(list(EntryKind::Episode)).await?;
    let facts = listed(list(EntryKind::Fact)).await?;
    let superseded = List {
        standing: Some(Standing::Superseded),
        ..list(EntryKind::Fact)
    };
    let mut months: BTreeMap<String, MonthItem> = BTreeMap::new();
    for (listed, is_fact) in [(&episodes, false), (&facts, true)] {
        for hit in &listed.hits {
            let date = visit.gateway.zone().render(hit.doc.time);
            let month = date.get(..MONTH_BYTES).unwrap_or(&date);
            let item = months.entry(month.to_owned()).or_default();
            month.clone_into(&mut item.month);
            item.facts += usize::from(is_fact);
            item.episodes += usize::from(!is_fact);
        }
    }
    Ok(visit.answer(OverviewData {
        episodes: episodes.total,
        facts: facts.total,
        events: listed(list(EntryKind::Foresight)).await?.total,
        statements: listed(list(EntryKind::Profile)).await?.total,
        superseded: listed(superseded).await?.total,
        months: months.into_values().collect(),
    }))
}

pub(crate) async fn memory_sources(visit: Visit, IdQuery(memory_id, query): IdQuery<OneQuery>) -> Answer {
    let (scope, owner, hit) = named_in_path(&visit, &memory_id, &query).await?;
    let id = EntryId::new(hit.doc.key.id.as_ref());
    let sources = visit.gateway.engine.sources(&scope, &owner, &id).await?;
    let messages = sources
        .iter()
        .map(|doc| FoundMessage::of(doc, visit.gateway.zone()));
    Ok(visit.answer(SourcesData {
        messages: messages.collect(),
    }))
}

pub(crate) async fn preview_delete(visit: Visit, JsonBody(value, ..): JsonBody<PreviewRequest>) -> Answer {
    let mut doomed = DeletionPreview::default();
    for forget in targets(&visit, value.parts(&visit.caller.home)?).await? {
        let some = visit.gateway.engine.preview(&forget).await?;
        doomed.entries.splice(
            doomed.named..doomed.named,
            some.entries[..some.named].iter().cloned(),
        );
        doomed.entries.extend_from_slice(&some.entries[some.named..]);
        doomed.named += some.named;
        doomed.messages.extend(some.messages);
        doomed.beside.extend(some.beside);
        doomed.rewritten.extend(some.rewritten);
        doomed.lines.extend(some.lines);
        doomed.own_stays.extend(some.own_stays);
        doomed.stays.extend(some.stays);
    }
    let zone = visit.gateway.zone();
    let items = |docs: &[Arc<Doc>]| {
        let items = docs.iter().take(PREVIEWED_MAX).filter_map(|doc| item(doc, zone));
        items.collect()
    };
    let messages = |docs: &[Arc<Doc>]| {
        let messages = docs
            .iter()
            .take(PREVIEWED_MAX)
            .map(|doc| FoundMessage::of(doc, zone));
        messages.collect()
    };
    Ok(visit.answer(PreviewData {
        count: doomed.entries.len(),
        named_count: doomed.named,
        message_count: doomed.messages.len(),
        memories: items(&doomed.entries),
        messages: messages(&doomed.messages),
        beside: messages(&doomed.beside),
        rewritten: items(&doomed.rewritten),
        lines: doomed.lines,
        own_stays: messages(&doomed.own_stays),
        stays: doomed.stays.iter().map(StayingItem::of).collect(),
    }))
}

/// The targets of the deletion, if the caller may delete them.
async fn targets(visit: &Visit, parts: PreviewParts) -> Result<Vec<Forget>, Failure> {
    let mut parts = match parts {
        PreviewParts::Ids(parts) => parts,
        PreviewParts::Delete(what) => {
            enter(visit, &what)?;
            return Ok(vec![what]);
        }
    };
    visit.caller.enter_ids(&mut parts)?;
    let mut by_owner: BTreeMap<Owner, Vec<EntryId>> = BTreeMap::new();
    for id in &parts.ids {
        let one = crate::wire::forget::IdsParts {
            ids: vec![id.clone()],
            ..parts.clone()
        };
        if let Some((owner, _)) = lookup::find(&visit.gateway.engine, one).await? {
            by_owner.entry(owner).or_default().push(id.entry.clone());
        }
    }
    let forget = |(owner, ids)| Forget::Entries(parts.scope.clone(), owner, ids);
    Ok(by_owner.into_iter().map(forget).collect())
}

fn item(doc: &Doc, zone: &Zone) -> Option<DoomedItem> {
    let DocKind::Entry(kind) = doc.kind else {
        return None;
    };
    Some(DoomedItem {
        id: ApiId::render(&doc.key.owner.id, &doc.key.id),
        kind: kind.as_str().to_owned(),
        owner: doc.key.owner.id.to_string(),
        text: match kind {
            // The subject of these kinds is only their category.
            EntryKind::Fact | EntryKind::Profile | EntryKind::Foresight => doc.text.clone(),
            _ if doc.subject.is_empty() => doc.text.clone(),
            _ => doc.subject.clone(),
        },
        timestamp: zone.render(doc.time),
    })
}
