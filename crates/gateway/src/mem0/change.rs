//! Changing and deleting in mem0's dialect.
//!
//! Owns: deleting the episode of a last fact, which would come back as another memory. Never: writing or deleting
//! (the engine).

use axum::Json;
use axum::response::{IntoResponse, Response};
use memory::{EditEntry, Forget, List};
use model::{Comparison, EntryId, EntryKind, Field, Filter, Value as FilterValue};
use serde::Deserialize;
use serde_json::json;

use super::memories::{Ids, MemoryItem, episode_of, memory_of_id};
use super::names::{agents_own, in_its_words, refuse_app};
use crate::body::{JsonBody, PathId, UrlQuery};
use crate::failure::Failure;
use crate::forget::{enter, forget};
use crate::frame::{Answer, Visit};
use crate::wire::scope::name;
use crate::wire::{DeleteRequest, Invalid};

/// The new text of a memory. Other keys, such as `metadata`, are ignored.
#[derive(Debug, Deserialize)]
pub(super) struct Change {
    text: Option<String>,
}

/// Replaces the text of a memory.
pub(super) async fn update(
    visit: Visit,
    PathId(id): PathId,
    JsonBody(value, ..): JsonBody<Change>,
) -> Answer {
    let text = value.text.filter(|text| !text.trim().is_empty()).ok_or_else(|| {
        Invalid::at(
            "text",
            "give the memory's new text: Quipu keeps nothing else of mem0's",
        )
    })?;
    let (owner, hit) = memory_of_id(&visit, &id).await?;
    let edit = EditEntry {
        scope: visit.caller.home.clone(),
        owner,
        id: EntryId::new(hit.doc.key.id.as_ref()),
        subject: None,
        summary: None,
        body: Some(text),
        project_only: None,
    };
    let engine = visit.gateway.engine.clone();
    visit.write(async move { engine.edit(edit).await }).await?;
    let (_, hit) = memory_of_id(&visit, &id).await?;
    Ok(Json(MemoryItem::of(&visit.gateway, &hit).await?).into_response())
}

/// Deletes a memory.
pub(super) async fn delete(visit: Visit, PathId(id): PathId) -> Answer {
    let (owner, hit) = memory_of_id(&visit, &id).await?;
    let scope = visit.caller.home.clone();
    let mut ids = vec![EntryId::new(hit.doc.key.id.as_ref())];
    if let Some(episode) = episode_of(&hit.doc) {
        let facts = List {
            filter: Some(Filter::Compare(
                Field::ParentId,
                Comparison::Eq,
                FilterValue::Text(episode.clone()),
            )),
            page_size: 1,
            ..List::all(scope.clone(), owner.clone(), EntryKind::Fact)
        };
        // mem0 sees an episode without facts as a memory: the messages of the last fact would come back as one.
        if visit.gateway.engine.list(facts).await?.total == 1 {
            ids.push(EntryId::new(episode));
        }
    }
    forget(&visit.gateway, Forget::Entries(scope, owner, ids)).await?;
    Ok(message("Memory deleted successfully!"))
}

/// Deletes all memories of a user, an agent or a run, or a user's part of a run.
pub(super) async fn delete_all(visit: Visit, UrlQuery(ids): UrlQuery<Ids>) -> Answer {
    refuse_app(ids.app_id.as_deref(), &visit.caller.home)?;
    let user = match (ids.user_id, ids.agent_id) {
        (Some(_), Some(_)) => {
            let problem = "give `user_id` or `agent_id`: a memory belongs to one of them";
            return Err(Invalid::request(problem).into());
        }
        (None, Some(agent)) => Some(agents_own(&name("agent_id", &agent)?)?.id.to_string()),
        (user, None) => user,
    };
    if user.is_none() && ids.run_id.is_none() {
        let problem = "name what to delete: `user_id`, `agent_id` or `run_id`";
        return Err(Invalid::request(problem).into());
    }
    let request = DeleteRequest {
        user_id: user,
        session_id: ids.run_id,
        ..DeleteRequest::default()
    };
    let what = request.target(&visit.caller.home).map_err(Failure::from);
    let what = what.map_err(in_its_words)?;
    enter(&visit, &what)?;
    forget(&visit.gateway, what).await?;
    Ok(message("Memories deleted successfully!"))
}

fn message(text: &str) -> Response {
    Json(json!({"message": text})).into_response()
}
