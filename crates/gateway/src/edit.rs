//! `memory/edit` and `memory/update`: changing the text of one memory.
//!
//! Owns: choosing the fields that change, and the summary of a patched episode. Never: writing Markdown.

use memory::{EditEntry, Engine, EngineError};
use model::{DocKind, EntryId, EntryKind};
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::body::{JsonBody, JsonBytes};
use crate::failure::Failure;
use crate::frame::{Answer, Visit};
use crate::lookup::{find, owners};
use crate::profile;
use crate::wire::forget::IdsParts;
use crate::wire::update::EpisodePatch;
use crate::wire::{EditData, EditRequest, EpisodeItem, Invalid, UpdateData, UpdateRequest};

/// Length of the summary of a patched text, in characters.
const SUMMARY_CHARS_MAX: usize = 200;

pub(crate) async fn edit_memory(visit: Visit, body: JsonBytes) -> Answer {
    if body.read::<EditedKind>().await?.operations.is_some() {
        return profile::edit(&visit, body.read().await?).await;
    }
    let value: EditRequest = body.read().await?;
    let mut parts = value.parts(&visit.caller.home)?;
    visit.caller.enter_ids(&mut parts)?;
    let changed = value.changed();
    let id = value.id.clone();
    let engine = visit.gateway.engine.clone();
    let found = visit
        .write(async move { change(&engine, parts, value).await })
        .await?;
    if !found {
        return Err(Failure::not_found("memory", &id));
    }
    Ok(visit.answer(EditData { id, changed }))
}

/// Distinguishes the edit of a profile from the edit of a memory.
#[derive(Debug, Deserialize)]
struct EditedKind {
    operations: Option<IgnoredAny>,
}

/// Edits the memory; returns whether it exists.
async fn change(engine: &Engine, parts: IdsParts, request: EditRequest) -> Result<bool, EngineError> {
    let IdsParts { scope, owner, ids } = parts;
    for id in ids {
        for owner in owners(owner.as_ref(), &id.owner) {
            let edit = EditEntry {
                scope: scope.clone(),
                owner,
                id: id.entry.clone(),
                subject: request.subject.clone(),
                summary: request.summary.clone(),
                body: request.episode.clone(),
                project_only: request.project_only,
            };
            match engine.edit(edit).await {
                Ok(()) => return Ok(true),
                Err(EngineError::NotFound { .. }) => {}
                Err(error) => return Err(error),
            }
        }
    }
    Ok(false)
}

pub(crate) async fn update_memory(visit: Visit, JsonBody(value, ..): JsonBody<UpdateRequest>) -> Answer {
    let gateway = &visit.gateway;
    let parts = value.parts(&visit.caller.home)?;
    visit.caller.enter(&parts.scope)?;
    let engine = gateway.engine.clone();
    let scope = parts.scope.clone();
    let (owner, found) = find(&engine, parts)
        .await?
        .ok_or_else(|| Failure::not_found("memory", &value.memory_id))?;
    if found.doc.kind != DocKind::Entry(EntryKind::Episode) {
        let problem = "is not an episode: use `memory/edit` for a fact";
        return Err(Invalid::at("memory_id", problem).into());
    }
    let zone = gateway.zone().clone();
    let is_news = |new: &Option<String>, old: &str| new.as_ref().is_some_and(|new| new != old);
    let EpisodePatch {
        episode,
        summary,
        subject,
    } = value.patch;
    let doc = &found.doc;
    if !is_news(&episode, &doc.text) && !is_news(&summary, &doc.summary) && !is_news(&subject, &doc.subject) {
        return Ok(visit.answer(UpdateData {
            episode: EpisodeItem::of(doc, &zone),
            edited_at: None,
            unchanged: true,
        }));
    }
    let id = EntryId::new(doc.key.id.as_ref());
    let edit = EditEntry {
        scope: scope.clone(),
        owner: owner.clone(),
        id: id.clone(),
        subject,
        summary: summary.or_else(|| {
            let new = episode.as_ref().filter(|text| **text != doc.text)?;
            Some(model::beginning(new, SUMMARY_CHARS_MAX, "…"))
        }),
        body: episode,
        project_only: None,
    };
    let write = async move {
        engine.edit(edit).await?;
        engine.entry(&scope, &owner, &id).await
    };
    let changed = visit.write(write).await?;
    Ok(visit.answer(UpdateData {
        episode: EpisodeItem::of(&changed.doc, &zone),
        edited_at: Some(zone.render(gateway.clock.now())),
        unchanged: false,
    }))
}
