//! The description of the API, made from the handlers and the wire types.
//!
//! Owns: putting it together, the same text every time. Never: a second list of fields or bounds.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use utoipa::openapi::path::PathItem;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{ContentBuilder, Ref, RefOr, Response, ResponseBuilder};
use utoipa::{IntoResponses, OpenApi};
use wire::filter::FilterNode;
use wire::tasks::TaskStatus;
use wire::{ErrorCode, ErrorEnvelope, ErrorInfo};

use crate::routes::VERSIONS;
use crate::{
    add, cache, contexts, edit, forget, history, knowledge, recall, runs, skills, system, tasks, upkeep,
};

#[derive(OpenApi)]
#[openapi(
    paths(
        system::health,
        system::live,
        system::ready,
        system::metrics,
    ),
    components(schemas(ErrorEnvelope, ErrorInfo, ErrorCode, FilterNode, TaskStatus)),
    info(
        title = "Quipu",
        description = "Memory for agents. Routes under /api/v1 and /api/v2 are the same. Fields marked `Quipu:` are \
                       additions to the EverOS memory API.",
    ),
    tags(
        (name = "memory", description = "Add, search, list, delete, change"),
        (name = "context", description = "Conversations: append, assemble for a model, compact, search"),
        (name = "knowledge", description = "Documents: upload, list, search"),
        (name = "tasks", description = "Results of queued tasks"),
        (name = "background", description = "Background runs"),
        (name = "history", description = "Changes of the Markdown files, undo, audit"),
        (name = "index", description = "Sync and rebuild of the index"),
        (name = "system", description = "Health and metrics"),
    ),
)]
struct System;

#[derive(OpenApi)]
#[openapi(paths(
    add::add,
    add::flush,
    recall::search,
    recall::context,
    recall::get,
    forget::delete,
    forget::delete_by_ids,
    edit::edit,
    edit::update,
    recall::one,
    skills::approve,
    skills::reject,
    tasks::list,
    tasks::stats,
    tasks::one,
    tasks::retry,
    upkeep::sync,
    upkeep::rebuild,
    cache::cache,
    contexts::append,
    contexts::assemble,
    contexts::after_turn,
    contexts::compact,
    contexts::cleanup,
    contexts::look::stats,
    contexts::look::guard,
    contexts::look::conversations,
    contexts::look::view,
    contexts::look::archives,
    contexts::look::recover,
    contexts::look::find,
    contexts::pin,
    contexts::fork,
    contexts::rewind,
    contexts::spawn,
    contexts::ended,
    contexts::tools,
    contexts::expand,
    runs::list,
    runs::trigger,
    runs::quiesce,
    history::log,
    history::diff,
    history::undo,
    history::audit,
    knowledge::create,
    knowledge::list,
    knowledge::document,
    knowledge::replace,
    knowledge::patch,
    knowledge::delete,
    knowledge::delete_all,
    knowledge::topic,
    knowledge::search,
    knowledge::categories,
))]
struct Versioned;

/// The failures that every route may answer with, all in the error envelope.
pub(crate) struct Errors;

const ERRORS: [(&str, &str); 11] = [
    ("400", "The request cannot be read"),
    ("401", "No token, or an unknown token"),
    (
        "403",
        "The token has no access to this tenant; or, without tokens, the request is not from this machine",
    ),
    (
        "404",
        "No such route, memory, task, change, run, document or topic",
    ),
    (
        "409",
        "A fault must be repaired first; or the same document is already stored",
    ),
    ("413", "The body is too large"),
    (
        "415",
        "The body is not JSON or not a form, or the file format is not supported",
    ),
    ("422", "A field is invalid: `message` names the field and the fix"),
    ("429", "Too many unfinished tasks"),
    ("500", "Internal error; the server log has the reason"),
    ("503", "Shutting down, or a model or the index is unavailable"),
];

impl IntoResponses for Errors {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        let content = || {
            ContentBuilder::new()
                .schema(Some(Ref::from_schema_name("ErrorEnvelope")))
                .build()
        };
        ERRORS
            .into_iter()
            .map(|(status, description)| {
                let response = ResponseBuilder::new()
                    .description(description)
                    .content("application/json", content())
                    .build();
                (status.to_owned(), RefOr::T(response))
            })
            .collect()
    }
}

fn document() -> utoipa::openapi::OpenApi {
    let mut document = System::openapi();
    env!("CARGO_PKG_VERSION").clone_into(&mut document.info.version);
    for version in VERSIONS {
        let mut part = Versioned::openapi();
        let suffix = version.rsplit('/').next().unwrap_or_default();
        for item in part.paths.paths.values_mut() {
            name_operations(item, suffix);
        }
        document = document.nest(version, part);
    }
    let bearer = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build();
    document
        .components
        .get_or_insert_default()
        .add_security_scheme("bearer", SecurityScheme::Http(bearer));
    let none: [&str; 0] = [];
    document.security = Some(vec![
        SecurityRequirement::default(),
        SecurityRequirement::new("bearer", none),
    ]);
    document
}

/// An operation's id must be unique, and the two versions share their handlers.
fn name_operations(item: &mut PathItem, suffix: &str) {
    let operations = [
        &mut item.get,
        &mut item.post,
        &mut item.put,
        &mut item.patch,
        &mut item.delete,
    ];
    for operation in operations.into_iter().flatten() {
        if let Some(id) = &mut operation.operation_id {
            *id = format!("{id}_{suffix}");
        }
    }
}

/// The document as text, made once.
pub(crate) fn text() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        let mut text = document().to_pretty_json().expect("the document is plain data");
        text.push('\n');
        text
    });
    &TEXT
}

/// The OpenAPI document, pretty-printed; `docs/openapi.json` is this text.
pub fn openapi_json() -> String {
    text().to_owned()
}
