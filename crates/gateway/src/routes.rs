//! The table of routes.
//!
//! Owns: paths and methods, the same under both versions. Never: what a route does.

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request};
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::{MethodRouter, any, get, head, post};
use utoipa::OpenApi;
use wire::ErrorCode;

use crate::failure::Failure;
use crate::state::Gateway;
use crate::{
    add, agents, cache, contexts, edit, forget, frame, guard, history, knowledge, mem0, openapi, owners,
    page, portable, recall, review, runs, skills, survey, system, tasks, upkeep, v1,
};

/// Both versions are the same.
pub(crate) const VERSIONS: [&str; 2] = ["/api/v1", "/api/v2"];
/// The door of agents.
pub(crate) const AGENTS: &str = "/mcp";
/// The same, as some clients write it.
const AGENTS_SLASH: &str = "/mcp/";

/// Who may use a route, where its method does not say it: a GET reads, any other method writes, for everybody in the tenant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// A user's token too: the route concerns that user's memory only.
    Own,
    /// A request with a body that changes nothing.
    Read,
    /// It concerns all users; or ids, dates and words of others come as the request has them.
    Admin,
}

/// Whether the table gives a route, without its version, this access.
pub(crate) fn allows(route: &str, access: Access) -> bool {
    let mut rows = ACCESS.iter();
    rows.any(|(path, of)| *path == route && of.contains(&access))
}

/// Routes with a version before their path, for the router, the guard and the description of the API.
macro_rules! versioned {
    ($($path:literal $([$($access:ident),+])? => $($method:ident($($handler:tt)+)),+;)+) => {
        const ACCESS: &[(&str, &[Access])] = &[$(($path, &[$($(Access::$access),+)?])),+];

        fn versioned(version: &str) -> Router<Gateway> {
            let path = |path: &str| format!("{version}{path}");
            Router::new()$(.route(&path($path), MethodRouter::new()$(.$method($($handler)+))+))+
        }

        #[derive(OpenApi)]
        #[openapi(paths($($($($handler)+),+),+))]
        pub(crate) struct Versioned;
    };
}

versioned! {
    "/memory/add" [Own] => post(add::add_memory);
    "/memory/flush" [Own] => post(add::flush_memory);
    "/memory/search" [Own, Read] => post(recall::search_memory);
    "/memory/context" [Own, Read] => post(recall::memory_context);
    "/memory/get" [Own, Read] => post(recall::get_memory);
    "/memory/delete" [Own] => post(forget::delete_memory);
    "/memory/delete_by_ids" [Own] => post(forget::delete_memories_by_ids);
    "/memory/overview" [Own, Read] => post(survey::memory_overview);
    "/memory/preview" [Own, Read] => post(survey::preview_delete);
    "/memory/review" [Own, Read] => post(review::review_memory);
    "/memory/answer" [Own] => post(review::answer_review);
    "/memory/export" [Own] => get(portable::export_memory);
    "/memory/import" [Admin] => post(portable::import_memory);
    "/memory/edit" [Own] => post(edit::edit_memory);
    "/memory/update" => post(edit::update_memory);
    "/memories/{memory_id}" => get(recall::one_memory);
    "/memories/{memory_id}/sources" => get(survey::memory_sources);
    "/skills/{skill_id}/approve" => post(skills::approve_skill);
    "/skills/{skill_id}/reject" => post(skills::reject_skill);
    "/tasks" => get(tasks::list_tasks);
    "/tasks/stats" => get(tasks::task_stats);
    "/tasks/{task_id}" => get(tasks::get_task);
    "/tasks/{task_id}/retry" [Admin] => post(tasks::retry_task);
    "/runs" => get(runs::list_runs);
    "/ome/trigger" [Admin] => post(runs::trigger);
    "/cascade/quiesce" [Admin] => post(runs::quiesce);
    "/cache" => get(cache::cache);
    "/owners" => get(owners::list_owners);
    "/history" => get(history::history);
    "/history/{change_id}" => get(history::diff);
    "/history/files" => get(history::past_files);
    "/history/undo" => post(history::undo);
    "/audit" => get(history::audit);
    "/index/sync" [Admin] => post(upkeep::sync_index);
    "/index/rebuild" [Admin] => post(upkeep::rebuild_index);
    "/context/append" [Own] => post(contexts::context_append);
    "/context/assemble" [Own] => post(contexts::context_assemble);
    "/context/after_turn" [Own] => post(contexts::context_after_turn);
    "/context/compact" [Own] => post(contexts::context_compact);
    "/context/cleanup" [Own] => post(contexts::context_cleanup);
    "/context/stats" [Own] => get(contexts::look::context_stats);
    "/context/guard" [Own] => get(contexts::look::context_guard);
    "/context/conversations" [Own] => get(contexts::look::context_conversations);
    "/context/view" [Own] => get(contexts::look::context_view);
    "/context/given" [Own] => get(contexts::look::context_given);
    "/context/archives" [Own] => get(contexts::look::context_archives);
    "/context/recover" [Own] => get(contexts::look::context_recover);
    "/context/find" [Own] => get(contexts::look::context_find);
    "/context/pin" [Own] => post(contexts::context_pin);
    "/context/fork" [Own] => post(contexts::context_fork);
    "/context/rewind" [Own] => post(contexts::context_rewind);
    "/context/subagent/spawn" [Own] => post(contexts::context_subagent_spawn);
    "/context/subagent/end" [Own] => post(contexts::context_subagent_end);
    "/context/tools" [Own] => get(contexts::context_tools);
    "/context/expand" [Own, Read] => post(contexts::context_expand);
    "/knowledge/documents" =>
        get(knowledge::list_documents),
        post(knowledge::create_document),
        delete(knowledge::delete_documents);
    "/knowledge/documents/{doc_id}" =>
        get(knowledge::one_document),
        put(knowledge::replace_document),
        patch(knowledge::patch_document),
        delete(knowledge::delete_document);
    "/knowledge/topics/{topic_id}" => get(knowledge::one_topic);
    "/knowledge/search" [Read] => post(knowledge::search_documents);
    "/knowledge/categories" => get(knowledge::list_categories);
}

impl Gateway {
    /// Every route, with everything around them.
    pub fn router(&self) -> Router {
        let mut router = Router::new()
            .route("/health", get(system::health))
            .route("/health/live", get(system::health_live))
            .route("/health/ready", get(system::health_ready))
            .route("/metrics", get(system::metrics))
            .route("/openapi.json", get(openapi::show))
            .route("/v1/chat/completions", post(v1::chat).fallback(v1::other))
            .route("/v1/messages", post(v1::messages).fallback(v1::other))
            .route("/v1/responses", post(v1::responses).fallback(v1::other))
            .route("/v1/{*path}", any(v1::other))
            .merge(mem0::routes());
        for version in VERSIONS {
            router = router.merge(versioned(version));
        }
        if let Some(door) = &self.agents {
            let door = door.clone().layer(from_fn(agents::known));
            router = router
                .route_service(AGENTS, door.clone())
                .route_service(AGENTS_SLASH, door);
        }
        router = match &self.page {
            Some(page) => router.merge(page::routes(self, page)),
            // Some clients look first whether anybody is there.
            None => router.route("/", head(system::health_live).fallback(no_route)),
        };
        router
            .fallback(no_route)
            .method_not_allowed_fallback(no_method)
            .layer(DefaultBodyLimit::max(self.settings.body_bytes_max))
            .layer(from_fn_with_state(self.clone(), frame::frame))
            .layer(guard::pages(&self.settings.auth))
            .with_state(self.clone())
    }
}

async fn no_route(request: Request) -> Failure {
    if mem0::has_dialect(request.uri().path()) {
        return mem0::not_here(request).await;
    }
    Failure::not_found("route", request.uri().path())
}

async fn no_method(request: Request) -> Failure {
    let message = format!(
        "this route does not allow {}: see the header `Allow`",
        request.method()
    );
    Failure::new(ErrorCode::MethodNotAllowed, message)
}
