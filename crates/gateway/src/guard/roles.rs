//! The role that a request needs.
//!
//! Owns: which routes change memory, and which administer the server. Never: whose memory a request concerns (the guard's
//! borders).
//!
//! A test names the role of every route of the router, so that a new one does not get its role by accident.

use axum::http::Method;

use crate::routes::{AGENTS, VERSIONS};
use crate::settings::TokenRole;

/// Requests with a body that change nothing. The door of agents asks the routes behind it with the same token. A model
/// answers in a conversation of its own: `v1` keeps it from memory.
const READS: [&str; 15] = [
    "/memory/search",
    "/memory/context",
    "/memory/get",
    "/memory/overview",
    "/memory/preview",
    "/context/expand",
    "/knowledge/search",
    "/v1/chat/completions",
    "/v1/messages",
    "/v1/responses",
    "/v2/memories/",
    "/v3/memories/",
    "/v1/memories/search/",
    "/v2/memories/search/",
    "/v3/memories/search/",
];

/// What concerns all users.
const ADMINISTERS: [&str; 6] = [
    // Ids, dates and words of others come as the request has them.
    "/memory/import",
    "/index/sync",
    "/index/rebuild",
    "/ome/trigger",
    "/cascade/quiesce",
    "/tasks/{task_id}/retry",
];

/// The role that a request to a route needs.
pub(crate) fn needed(method: &Method, route: &str) -> TokenRole {
    let route = VERSIONS
        .iter()
        .find_map(|version| route.strip_prefix(version))
        .unwrap_or(route);
    let is_read = method.is_safe() || (*method == Method::POST && READS.contains(&route));
    if ADMINISTERS.contains(&route) {
        TokenRole::Admin
    } else if is_read || route == AGENTS {
        TokenRole::Read
    } else {
        TokenRole::Write
    }
}
