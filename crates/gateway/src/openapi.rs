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
        (name = "memory", description = "Remember, search, list, forget, change"),
        (name = "context", description = "Conversations: appended, assembled for a model, compacted, found again"),
        (name = "knowledge", description = "Documents: uploaded, cut into topics, found"),
        (name = "tasks", description = "What became of queued work"),
        (name = "background", description = "What is done while nobody waits"),
        (name = "history", description = "What changed in the Markdown, taken back; and what is wrong in it"),
        (name = "index", description = "The index and the Markdown brought together"),
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
    ("401", "No token, or one that is not known"),
    (
        "403",
        "The token does not open this tenant; or, without tokens, the request is not from this machine",
    ),
    (
        "404",
        "No such route, memory, task, change, run, document or topic",
    ),
    (
        "409",
        "Something that must be mended first is in the way; or the same document is there already",
    ),
    ("413", "The body is too large"),
    (
        "415",
        "The body is not JSON or no form, or the file is of no kind that is read",
    ),
    ("422", "A field is wrong: `message` names it and says what to do"),
    ("429", "Too much is waiting already"),
    ("500", "Something went wrong here"),
    (
        "503",
        "Not now: shutting down, or a model or the index cannot serve",
    ),
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
