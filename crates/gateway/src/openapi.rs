//! The OpenAPI document, made from the handlers and the wire types.
//!
//! Owns: assembling it, always as the same text, and the route that returns it. Never: a second list of fields or
//! bounds.

use std::sync::LazyLock;

use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response as HttpResponse};
use utoipa::OpenApi;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{ContentBuilder, Ref, RefOr, Response, ResponseBuilder};

use crate::describe::{described, errors};
use crate::routes::Versioned;
use crate::system::{self, PROMETHEUS};
use crate::wire::filter::FilterNode;
use crate::wire::health::Probe;
use crate::wire::tasks::TaskStatus;
use crate::wire::{ErrorCode, ErrorEnvelope, ErrorInfo, HealthData};

#[derive(OpenApi)]
#[openapi(
    paths(
        health,
        system::health_live,
        health_ready,
        metrics,
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

described! {
    [
        /// System status
        ///
        /// 200 also if something is wrong: see `status` and `problems`. A token for one tenant sees no names of files.
    ]
    get "/health" health () (bare "Health" HealthData)
}

described! {
    [
        /// Whether requests can be served
        ///
        /// 503 while the index must be rebuilt, or while the disk takes no writes.
    ]
    get "/health/ready" health_ready () ((status = 200, description = "They can", body = Probe) (status = 503, description = "Not now", body = Probe))
}

described! {
    [
        /// Metrics for Prometheus
        ///
        /// They count over all tenants: a token for one tenant has no access. Text for Prometheus.
    ]
    get "/metrics" metrics () ((status = 200, description = "Metrics", body = String, content_type = PROMETHEUS))
}

/// The version whose routes the document contains. `/api/v1` has the same routes.
const SHOWN: &str = "/api/v2";

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

/// The document as text, rendered once.
fn text() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        let mut text = document().to_pretty_json().expect("the document is plain data");
        text.push('\n');
        text
    });
    &TEXT
}

/// Answers with the document.
pub(crate) async fn show() -> HttpResponse {
    ([(CONTENT_TYPE, "application/json")], text()).into_response()
}

/// The OpenAPI document, pretty-printed; `docs/openapi.json` is this text.
pub fn openapi_json() -> String {
    text().to_owned()
}
