//! mem0's hosted REST API, for its clients: the same engine calls as the memory API, under mem0's paths and names.
//!
//! Owns: its routes, and the definition of a memory in mem0: a fact, or the messages of an episode without facts.
//! Never: writing, finding or deleting memory (the engine), a path of mem0's older clients, or a place in the OpenAPI
//! document: the dialect is mem0's.
//!
//! Reading order: [`names`] (the owner of a memory), [`add`], [`filters`] (the owners that a request concerns),
//! [`memories`] (reading them), [`change`].

mod add;
mod change;
mod filters;
mod memories;
mod names;

use axum::extract::Request;
use axum::routing::{delete, get, post};
use axum::{Json, Router};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::frame::Visit;
use crate::state::Gateway;
use crate::wire::ErrorCode;

/// The paths that mem0's current clients need to add, search, list, read, change and delete memories.
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

/// The answer for mem0's other paths.
pub(crate) async fn not_here(request: Request) -> Failure {
    let (method, path) = (request.method(), request.uri().path());
    let message = format!(
        "Quipu has no `{method} {path}`. It has of mem0's API: POST /v3/memories/add/, /v3/memories/search/ and \
         /v3/memories/; GET, PUT and DELETE /v1/memories/ID/; DELETE /v1/memories/"
    );
    Failure::new(ErrorCode::NotFound, message)
}

/// Clients first check their key, which the frame has done, and need the names of an organization and a project.
async fn ping(visit: Visit) -> Json<Value> {
    let home = &visit.caller.home;
    Json(json!({"status": "ok", "org_id": home.app.as_str(), "project_id": home.project.as_str()}))
}
