//! mem0's hosted REST API, for its clients: the same engine calls as the memory API, under mem0's paths and names.
//!
//! Owns: its routes, and what a memory is for it: a fact, or the messages of an episode without facts. Never: how
//! memory is written, found or deleted (the engine), a path of mem0's older clients, or a place in the OpenAPI document: the dialect is mem0's.
//!
//! Reading order: [`add`], [`filters`] (whose memories a request concerns), [`memories`] (reading them), [`change`].

mod add;
mod change;
mod filters;
mod memories;

use axum::extract::Request;
use axum::routing::{delete, get, post};
use axum::{Json, Router};
use model::{Name, Owner, OwnerKind, Scope};
use serde_json::{Value, json};
use wire::{ErrorCode, Invalid};

use crate::failure::Failure;
use crate::frame::Visit;
use crate::state::Gateway;

/// Before the name of an agent whose memories belong to no user: they must not become those of a user of that name.
const AGENT: &str = "agent+";
/// After the owner: the session of messages that name no run.
const NO_RUN: &str = "/mem0";

/// The paths that mem0's clients of today need to add, search, list, read, change and delete memories.
pub(crate) fn routes() -> Router<Gateway> {
    let memory = get(memories::one).put(change::update).delete(change::delete);
    Router::new()
        .route("/v1/ping/", get(ping))
        .route("/v3/memories/add/", post(add::add))
        .route("/v3/memories/search/", post(memories::search))
        .route("/v3/memories/", post(memories::page))
        .route("/v1/memories/{memory_id}/", memory.fallback(not_here))
        .route("/v1/memories/", delete(change::delete_all).fallback(not_here))
}

/// The answer at mem0's other paths.
pub(crate) async fn not_here(request: Request) -> Failure {
    let (method, path) = (request.method(), request.uri().path());
    let message = format!(
        "Quipu has no `{method} {path}`. It has of mem0's API: POST /v3/memories/add/, /v3/memories/search/ and \
         /v3/memories/; GET, PUT and DELETE /v1/memories/ID/; DELETE /v1/memories/"
    );
    Failure::new(ErrorCode::NotFound, message)
}

/// Clients ask first whether their key is right, which the frame has answered, and need names of an organization and a project.
async fn ping(visit: Visit) -> Json<Value> {
    let home = &visit.caller.home;
    Json(json!({"status": "ok", "org_id": home.app.as_str(), "project_id": home.project.as_str()}))
}

/// A name that mem0 lets a client choose more freely.
fn name(field: &str, text: &str) -> Result<Name, Invalid> {
    Name::parse(text).map_err(|error| Invalid::at(field, error))
}

/// The owner of the memories of an agent that belong to no user.
fn agents_own(agent: &Name) -> Result<Owner, Invalid> {
    name("agent_id", &format!("{AGENT}{agent}")).map(Owner::user)
}

/// The agent whose memories an owner has, if these belong to no user.
fn agent_of(owner: &Owner) -> Option<&str> {
    owner.id.as_str().strip_prefix(AGENT)
}

/// The session of messages that name no run.
fn no_run(owner: &Owner) -> String {
    format!("{}{NO_RUN}", owner.id)
}

/// mem0's `app_id` chooses nothing here: the token says which tenant a request concerns.
fn refuse_app(app_id: Option<&str>, home: &Scope) -> Result<(), Invalid> {
    match app_id {
        Some(app) if app != "*" && app != home.app.as_str() => Err(Invalid::at(
            "app_id",
            format!(
                "this token works in the app `{}`: leave `app_id` out, or use a token of that app",
                home.app
            ),
        )),
        _ => Ok(()),
    }
}

/// All users of a tenant whose memories a caller can see, agents with memories of their own among them.
async fn everyone(visit: &Visit) -> Result<Vec<Owner>, Failure> {
    if let Some(user) = visit.caller.as_user(None)? {
        return Ok(vec![Owner::user(user)]);
    }
    let owners = visit.gateway.engine.owners().await?.into_iter();
    Ok(owners
        .filter(|(of, owner)| *of == visit.caller.home && owner.kind == OwnerKind::User)
        .map(|(_, owner)| owner)
        .collect())
}
