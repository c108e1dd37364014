//! The table of the memory API's routes.
//!
//! Owns: paths, methods and access, the same under both versions. Never: what a route does.

use axum::Router;
use axum::routing::MethodRouter;
use utoipa::OpenApi;

use crate::access::{Access, AccessTable};
use crate::state::Gateway;
use crate::{
    add, cache, contexts, edit, forget, history, knowledge, owners, portable, recall, review, runs, skills,
    survey, tasks, upkeep,
};

/// Routes with a version before their path, for the router, the guard and the description of the API.
macro_rules! versioned {
    ($($path:literal $([$($access:ident),+])? => $($method:ident($($handler:tt)+)),+;)+) => {
        /// Who may use which route.
        pub(crate) const ACCESS: AccessTable = AccessTable(&[$(($path, &[$($(Access::$access),+)?])),+]);

        /// The routes under a version.
        pub(crate) fn versioned(version: &str) -> Router<Gateway> {
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
