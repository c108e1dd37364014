//! The role that a request needs.
//!
//! Owns: that of a route's method, where the table of routes says nothing else. Never: whose memory a request concerns (the guard's
//! borders).
//!
//! A test names the role of every route of the router, so that a new one does not get its role by accident.

use axum::http::Method;

use crate::routes::{self, AGENTS, Access, VERSIONS};
use crate::settings::TokenRole;

/// Requests with a body that change nothing, at routes of other dialects. The door of agents asks the routes behind it with the
/// same token. A model answers in a conversation of its own: `v1` keeps it from memory.
const READS: [&str; 5] = [
    "/v1/chat/completions",
    "/v1/messages",
    "/v1/responses",
    "/v3/memories/",
    "/v3/memories/search/",
];

/// The role that a request to a route needs.
pub(crate) fn needed(method: &Method, route: &str) -> TokenRole {
    let route = VERSIONS
        .iter()
        .find_map(|version| route.strip_prefix(version))
        .unwrap_or(route);
    let is_read = method.is_safe()
        || (*method == Method::POST && (READS.contains(&route) || routes::allows(route, Access::Read)));
    if routes::allows(route, Access::Admin) {
        TokenRole::Admin
    } else if is_read || route.trim_end_matches('/') == AGENTS {
        TokenRole::Read
    } else {
        TokenRole::Write
    }
}
