//! The table of routes.
//!
//! Owns: paths and methods, the same under both versions. Never: what a route does.

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request};
use axum::middleware::from_fn_with_state;
use axum::routing::{any, get, head, post, put};
use wire::ErrorCode;

use crate::failure::Failure;
use crate::state::Gateway;
use crate::upload::FORM_BYTES_MAX;
use crate::{
    add, agents, cache, contexts, edit, forget, frame, guard, history, knowledge, mem0, owners, page,
    portable, recall, reference, runs, skills, survey, system, tasks, upkeep, v1,
};

/// Both versions are the same.
pub(crate) const VERSIONS: [&str; 2] = ["/api/v1", "/api/v2"];
/// The door of agents.
pub(crate) const AGENTS: &str = "/mcp";

impl Gateway {
    /// Every route, with everything around them.
    pub fn router(&self) -> Router {
        let mut router = Router::new()
            .route("/health", get(system::health))
            .route("/health/live", get(system::live))
            .route("/health/ready", get(system::ready))
            .route("/metrics", get(system::metrics))
            .route("/openapi.json", get(system::openapi))
            .route("/docs", get(reference::page))
            .route("/docs/style.css", get(reference::style));
        for version in VERSIONS {
            let path = |path: &str| format!("{version}{path}");
            router = router
                .route(&path("/memory/add"), post(add::add))
                .route(&path("/memory/flush"), post(add::flush))
                .route(&path("/memory/search"), post(recall::search))
                .route(&path("/memory/context"), post(recall::context))
                .route(&path("/memory/get"), post(recall::get))
                .route(&path("/memory/delete"), post(forget::delete))
                .route(&path("/memory/delete_by_ids"), post(forget::delete_by_ids))
                .route(&path("/memory/overview"), post(survey::overview))
                .route(&path("/memory/preview"), post(survey::preview))
                .route(&path("/memory/export"), get(portable::export))
                .route(&path("/memory/import"), post(portable::import))
                .route(&path("/memory/edit"), post(edit::edit))
                .route(&path("/memory/update"), post(edit::update))
                .route(&path("/memories/{memory_id}"), get(recall::one))
                .route(&path("/memories/{memory_id}/sources"), get(survey::sources))
                .route(&path("/skills/{skill_id}/approve"), post(skills::approve))
                .route(&path("/skills/{skill_id}/reject"), post(skills::reject))
                .route(&path("/tasks"), get(tasks::list))
                .route(&path("/tasks/stats"), get(tasks::stats))
                .route(&path("/tasks/{task_id}"), get(tasks::one))
                .route(&path("/tasks/{task_id}/retry"), post(tasks::retry))
                .route(&path("/runs"), get(runs::list))
                .route(&path("/ome/trigger"), post(runs::trigger))
                .route(&path("/cascade/quiesce"), post(runs::quiesce))
                .route(&path("/cache"), get(cache::cache))
                .route(&path("/owners"), get(owners::list))
                .route(&path("/history"), get(history::log))
                .route(&path("/history/{change_id}"), get(history::diff))
                .route(&path("/history/undo"), post(history::undo))
                .route(&path("/audit"), get(history::audit))
                .route(&path("/index/sync"), post(upkeep::sync))
                .route(&path("/index/rebuild"), post(upkeep::rebuild))
                .merge(self.library(version))
                .merge(Self::contexts(version));
        }
        router = router
            .route("/v1/chat/completions", post(v1::chat).fallback(v1::other))
            .route("/v1/messages", post(v1::messages).fallback(v1::other))
            .route("/v1/responses", post(v1::responses).fallback(v1::other))
            .route("/v1/{*path}", any(v1::other))
            .merge(mem0::routes());
        if let Some(door) = &self.agents {
            let known = from_fn_with_state(self.clone(), agents::known);
            router = router.route_service(AGENTS, door.clone().layer(known));
        }
        router = match &self.page {
            Some(page) => router.merge(page::routes(self, page)),
            // Some clients look first whether anybody is there.
            None => router.route("/", head(system::live).fallback(no_route)),
        };
        router
            .fallback(no_route)
            .method_not_allowed_fallback(no_method)
            .layer(DefaultBodyLimit::max(self.settings.body_bytes_max))
            .layer(from_fn_with_state(self.clone(), frame::frame))
            .layer(guard::pages(&self.settings.auth))
            .with_state(self.clone())
    }

    /// The routes of conversations.
    fn contexts(version: &str) -> Router<Self> {
        let path = |path: &str| format!("{version}/context{path}");
        Router::new()
            .route(&path("/append"), post(contexts::append))
            .route(&path("/assemble"), post(contexts::assemble))
            .route(&path("/after_turn"), post(contexts::after_turn))
            .route(&path("/compact"), post(contexts::compact))
            .route(&path("/cleanup"), post(contexts::cleanup))
            .route(&path("/stats"), get(contexts::look::stats))
            .route(&path("/guard"), get(contexts::look::guard))
            .route(&path("/conversations"), get(contexts::look::conversations))
            .route(&path("/view"), get(contexts::look::view))
            .route(&path("/given"), get(contexts::look::given))
            .route(&path("/archives"), get(contexts::look::archives))
            .route(&path("/recover"), get(contexts::look::recover))
            .route(&path("/find"), get(contexts::look::find))
            .route(&path("/pin"), post(contexts::pin))
            .route(&path("/fork"), post(contexts::fork))
            .route(&path("/rewind"), post(contexts::rewind))
            .route(&path("/subagent/spawn"), post(contexts::spawn))
            .route(&path("/subagent/end"), post(contexts::ended))
            .route(&path("/tools"), get(contexts::tools))
            .route(&path("/expand"), post(contexts::expand))
    }

    /// The routes of documents; a form may be larger than other bodies.
    fn library(&self, version: &str) -> Router<Self> {
        let path = |path: &str| format!("{version}/knowledge{path}");
        let form_max = self.settings.upload_bytes_max.saturating_add(FORM_BYTES_MAX);
        let documents = post(knowledge::create).layer(DefaultBodyLimit::max(form_max));
        let document = put(knowledge::replace).layer(DefaultBodyLimit::max(form_max));
        Router::new()
            .route(
                &path("/documents"),
                documents.get(knowledge::list).delete(knowledge::delete_all),
            )
            .route(
                &path("/documents/{doc_id}"),
                document
                    .get(knowledge::document)
                    .patch(knowledge::patch)
                    .delete(knowledge::delete),
            )
            .route(&path("/topics/{topic_id}"), get(knowledge::topic))
            .route(&path("/search"), post(knowledge::search))
            .route(&path("/categories"), get(knowledge::categories))
    }
}

pub(crate) async fn no_route(request: Request) -> Failure {
    Failure::not_found("route", request.uri().path())
}

async fn no_method(request: Request) -> Failure {
    let message = format!(
        "this route does not allow {}: see the header `Allow`",
        request.method()
    );
    Failure::new(ErrorCode::MethodNotAllowed, message)
}
