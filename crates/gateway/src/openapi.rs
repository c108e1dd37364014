//! The description of the API, made from the handlers and the wire types.
//!
//! Owns: putting it together, the same text every time. Never: a second list of fields or bounds.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{ContentBuilder, Ref, RefOr, Response, ResponseBuilder};
use utoipa::{IntoResponses, OpenApi};
use wire::filter::FilterNode;
use wire::tasks::TaskStatus;
use wire::{ErrorCode, ErrorEnvelope, ErrorInfo};

use crate::routes::Versioned;
use crate::system;

#[derive(OpenApi)]
#[openapi(
    paths(
        system::health,
        system::health_live,
        system::health_ready,
        system::metrics,
    ),
    components(schemas(ErrorEnvelope, ErrorInfo, ErrorCode, FilterNode, TaskStatus)),
    info(
        title = "Quipu",
        description = "Memory for agents. Each route under /api/v2 gives the same answers under /api/v1. Fields marked \
                       `Quipu:` are additions to the EverOS memory API.",
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

/// Where the document shows the routes. `/api/v1` would say all of it again.
const SHOWN: &str = "/api/v2";

/// The failures that every route may answer with, all in the error envelope.
pub(crate) struct Errors;

/// Status, name in the document, and meaning.
const ERRORS: &str = "\
400 BadRequest The request cannot be read
401 Unauthorized No token, or an unknown token
403 Forbidden The token has no access to this tenant; or, without tokens, the request is not from this machine
404 NotFound No such route, memory, task, change, run, document or topic
409 Conflict A fault must be repaired first; or the same document is already stored
413 PayloadTooLarge The body is too large
415 UnsupportedFormat The body is not JSON or not a form, or the file format is not supported
422 InvalidInput A field is invalid: `message` names the field and the fix
429 QueueSaturated Too many unfinished tasks
500 InternalError Internal error; the server log has the reason
503 Unavailable Shutting down, a model or the index is unavailable, or the disk is read-only
507 DiskFull The disk is full: nothing was stored";

fn errors() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    ERRORS.lines().filter_map(|line| {
        let (status, rest) = line.split_once(' ')?;
        let (name, meaning) = rest.split_once(' ')?;
        Some((status, name, meaning))
    })
}

impl IntoResponses for Errors {
    /// References: the document describes each failure once.
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        let reference = |name| RefOr::Ref(Ref::from_response_name(name));
        errors()
            .map(|(status, name, _)| (status.to_owned(), reference(name)))
            .collect()
    }
}

/// Describes a route that answers with data in the envelope, by its body, its query, or in brackets all that it takes.
macro_rules! described {
    ($(#[doc $($doc:tt)*])* #[post($path:tt, $body:ident => $($answer:tt)+)] $($handler:tt)+) => {
        described! { $(#[doc $($doc)*])* #[route(post $path [request_body = $body] => $($answer)+)] $($handler)+ }
    };
    ($(#[doc $($doc:tt)*])* #[get($path:tt, $query:ident => $($answer:tt)+)] $($handler:tt)+) => {
        described! { $(#[doc $($doc)*])* #[route(get $path [params($query)] => $($answer)+)] $($handler)+ }
    };
    ($(#[doc $($doc:tt)*])* #[route($method:ident $path:tt [$($($takes:tt)+)?] => $meaning:tt $data:ident)] $($handler:tt)+) => {
        $(#[doc $($doc)*])*
        #[utoipa::path(
            $method,
            path = $path,
            $($($takes)+,)?
            responses((status = 200, description = $meaning, body = wire::Envelope<$data>), crate::openapi::Errors),
        )]
        $($handler)+
    };
}
pub(crate) use described;

fn failure(description: &str) -> Response {
    let envelope = ContentBuilder::new()
        .schema(Some(Ref::from_schema_name("ErrorEnvelope")))
        .build();
    ResponseBuilder::new()
        .description(description)
        .content("application/json", envelope)
        .build()
}

/// The group of a path in the document.
fn tag(path: &str) -> &str {
    let versioned = path.strip_prefix(SHOWN).unwrap_or_default();
    match versioned.split('/').nth(1).unwrap_or_default() {
        "memories" | "skills" | "owners" => "memory",
        "runs" | "ome" | "cascade" => "background",
        "audit" => "history",
        "cache" | "" => "system",
        group => group,
    }
}

fn document() -> utoipa::openapi::OpenApi {
    let mut document = System::openapi().nest(SHOWN, Versioned::openapi());
    for (path, item) in &mut document.paths.paths {
        let methods = [
            &mut item.get,
            &mut item.post,
            &mut item.put,
            &mut item.patch,
            &mut item.delete,
        ];
        for operation in methods.into_iter().flatten() {
            operation.tags = Some(vec![tag(path).to_owned()]);
        }
    }
    env!("CARGO_PKG_VERSION").clone_into(&mut document.info.version);
    let components = document.components.get_or_insert_default();
    for (_, name, description) in errors() {
        let response = RefOr::T(failure(description));
        components.responses.insert(name.to_owned(), response);
    }
    let bearer = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build();
    components.add_security_scheme("bearer", SecurityScheme::Http(bearer));
    let none: [&str; 0] = [];
    document.security = Some(vec![
        SecurityRequirement::default(),
        SecurityRequirement::new("bearer", none),
    ]);
    document
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
