//! Changing and deleting as mem0's clients do, and the owners that they call entities.
//!
//! Owns: what goes with a deleted memory so that it does not come back as another. Never: writing or deleting (the engine).

use axum::Json;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use memory::{EditEntry, Forget, List};
use model::{Comparison, EntryId, EntryKind, Field, Filter, Owner, SessionKey, Value as FilterValue};
use serde::Deserialize;
use serde_json::{Value, json};
use wire::{Invalid, scope};

use super::memories::{Id, Ids, MemoryItem, MemoryPages, episode_of, id, named, of_owner};
use super::{agent_of, agents_own, everyone, name, refuse_app};
use crate::body::{JsonBody, UrlQuery};
use crate::failure::Failure;
use crate::forget::forget;
use crate::frame::Visit;
use crate::state::Gateway;

/// Maximum number of memories in one batch.
const BATCH_MAX: usize = 1_000;

/// The new text; other keys, such as `metadata`, are ignored.
#[derive(Debug, Deserialize)]
pub(super) struct Change {
    text: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Batch {
    memories: Vec<InBatch>,
}

#[derive(Debug, Deserialize)]
struct InBatch {
    memory_id: String,
    text: Option<String>,
}

impl Batch {
    fn checked(self) -> Result<Vec<InBatch>, Invalid> {
        match self.memories.len() {
            1..=BATCH_MAX => Ok(self.memories),
            _ => Err(Invalid::at(
                "memories",
                format!("must have 1 to {BATCH_MAX} memories"),
            )),
        }
    }
}

/// Replaces the text of a memory.
pub(super) async fn update(
    State(gateway): State<Gateway>,
    visit: Visit,
    memory_id: Id,
    JsonBody { value, .. }: JsonBody<Change>,
) -> Result<Response, Failure> {
    let memory_id = id(memory_id)?;
    rewrite(&gateway, &visit, &memory_id, value.text).await?;
    let (_, hit) = named(&gateway, &visit, &memory_id).await?;
    Ok(Json(MemoryItem::of(&gateway, &hit).await?).into_response())
}

/// Replaces the texts of some memories.
pub(super) async fn update_batch(
    State(gateway): State<Gateway>,
    visit: Visit,
    JsonBody { value, .. }: JsonBody<Batch>,
) -> Result<Response, Failure> {
    let memories = value.checked()?;
    let count = memories.len();
    for one in memories {
        rewrite(&gateway, &visit, &one.memory_id, one.text).await?;
    }
    Ok(message(format!("Successfully updated {count} memories")))
}

async fn rewrite(gateway: &Gateway, visit: &Visit, id: &str, text: Option<String>) -> Result<(), Failure> {
    let text = text.filter(|text| !text.trim().is_empty()).ok_or_else(|| {
        Invalid::at(
            "text",
            "give the memory's new text: Quipu keeps nothing else of mem0's",
        )
    })?;
    let (owner, hit) = named(gateway, visit, id).await?;
    let edit = EditEntry {
        scope: visit.caller.home.clone(),
        owner,
        id: EntryId::new(hit.doc.key.id.as_ref()),
        subject: None,
        summary: None,
        body: Some(text),
        project_only: None,
    };
    let engine = gateway.engine.clone();
    gateway
        .see_through(async move { Ok(engine.edit(edit).await?) })
        .await
}

/// Deletes a memory.
pub(super) async fn delete(
    State(gateway): State<Gateway>,
    visit: Visit,
    memory_id: Id,
) -> Result<Response, Failure> {
    remove(&gateway, &visit, &id(memory_id)?).await?;
    Ok(message("Memory deleted successfully!"))
}

/// Deletes some memories.
pub(super) async fn delete_batch(
    State(gateway): State<Gateway>,
    visit: Visit,
    JsonBody { value, .. }: JsonBody<Batch>,
) -> Result<Response, Failure> {
    let memories = value.checked()?;
    for one in &memories {
        remove(&gateway, &visit, &one.memory_id).await?;
    }
    Ok(message(format!(
        "Successfully deleted {} memories",
        memories.len()
    )))
}

async fn remove(gateway: &Gateway, visit: &Visit, id: &str) -> Result<(), Failure> {
    let (owner, hit) = named(gateway, visit, id).await?;
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
        // An episode without facts is a memory here: the messages of the last fact would come back as one.
        if gateway.engine.list(facts).await?.total == 1 {
            ids.push(EntryId::new(episode));
        }
    }
    forget(gateway, Forget::Entries(scope, owner, ids))
        .await
        .map(drop)
}

/// Deletes all memories of a user, an agent, a run, or a user's part of a run.
pub(super) async fn delete_all(
    State(gateway): State<Gateway>,
    visit: Visit,
    UrlQuery(ids): UrlQuery<Ids>,
) -> Result<Response, Failure> {
    let home = &visit.caller.home;
    refuse_app(ids.app_id.as_deref(), home)?;
    let run = ids
        .run_id
        .as_deref()
        .map(|run| session(run, &visit))
        .transpose()?;
    let owner = match (&ids.user_id, &ids.agent_id) {
        (Some(user), None) => Some(Owner::user(name("user_id", user)?)),
        (None, Some(agent)) => Some(agents_own(&name("agent_id", agent)?)?),
        (None, None) => None,
        (Some(_), Some(_)) => {
            let problem = "give `user_id` or `agent_id`: a memory belongs to one of them";
            return Err(Invalid::whole(problem).into());
        }
    };
    let what = match (run, owner) {
        (Some(session), Some(owner)) => Forget::OwnerInSession(session, owner),
        (Some(session), None) => Forget::Session(session),
        (None, Some(owner)) => Forget::Owner(home.clone(), owner),
        (None, None) => {
            let problem = "name what to delete: `user_id`, `agent_id` or `run_id`";
            return Err(Invalid::whole(problem).into());
        }
    };
    allowed(&visit, &what)?;
    forget(&gateway, what).await?;
    Ok(message("Memories deleted successfully!"))
}

fn session(run: &str, visit: &Visit) -> Result<SessionKey, Invalid> {
    scope::session(run, visit.caller.home.clone()).map_err(|invalid| Invalid::at("run_id", invalid.problem))
}

fn allowed(visit: &Visit, what: &Forget) -> Result<(), Failure> {
    match what {
        Forget::Owner(_, owner) | Forget::OwnerInSession(_, owner) | Forget::Entries(_, owner, _) => {
            visit.caller.enter_owner(owner)
        }
        Forget::Words(target) => visit.caller.enter_owner(&target.owner),
        Forget::Session(_) => visit.caller.enter_everybodys(),
    }
}

/// Lists the users and agents that have memories.
pub(super) async fn entities(
    State(gateway): State<Gateway>,
    visit: Visit,
    UrlQuery(pages): UrlQuery<MemoryPages>,
) -> Result<Response, Failure> {
    let scope = &visit.caller.home;
    let owners = everyone(&gateway, scope, visit.caller.as_user(None)?).await?;
    let (owners, paged) = pages.cut("/v1/entities/", owners)?;
    let zone = gateway.zone();
    let mut entities = Vec::new();
    for owner in &owners {
        let memories = of_owner(&gateway.engine, scope, owner, None).await?;
        let times = || memories.iter().map(|hit| hit.doc.time);
        let agent = agent_of(owner);
        entities.push(json!({
            "id": owner.id.as_str(),
            "type": if agent.is_some() { "agent" } else { "user" },
            "name": agent.unwrap_or(owner.id.as_str()),
            "total_memories": memories.len(),
            "created_at": times().min().map(|at| zone.render(at)),
            "updated_at": times().max().map(|at| zone.render(at)),
        }));
    }
    Ok(paged.answer(entities))
}

/// Deletes everything of a user, an agent or a run.
pub(super) async fn delete_entity(
    State(gateway): State<Gateway>,
    visit: Visit,
    entity: Result<Path<(String, String)>, PathRejection>,
) -> Result<Response, Failure> {
    let Path((kind, text)) = entity.map_err(|_| Invalid::whole("the entity's name is not text"))?;
    let home = visit.caller.home.clone();
    let doomed = match kind.as_str() {
        "user" => vec![Forget::Owner(home, Owner::user(name("user_id", &text)?))],
        "agent" => {
            let agent = name("agent_id", &text)?;
            let own = agents_own(&agent)?;
            vec![
                Forget::Owner(home.clone(), own),
                Forget::Owner(home, Owner::agent(agent)),
            ]
        }
        "run" => vec![Forget::Session(session(&text, &visit)?)],
        _ => {
            return Err(
                Invalid::whole("Quipu deletes entities of the types `user`, `agent` and `run`").into(),
            );
        }
    };
    for what in &doomed {
        allowed(&visit, what)?;
    }
    for what in doomed {
        forget(&gateway, what).await?;
    }
    Ok(message("Entity deleted successfully!"))
}

fn message(text: impl Into<String>) -> Response {
    let message: Value = json!({"message": text.into()});
    Json(message).into_response()
}
