//! What a request needs: the role, by the table of routes.
//!
//! Owns: that of a route's method, where the table says nothing else. Never: the table (`routes`), or whose memory a request
//! concerns (the guard's borders).
//!
//! A test names the role of every route of the router, so that a new one does not get its role by accident.

use axum::http::Method;

use crate::dialect::Dialect;
use crate::settings::TokenRole;

/// Both versions are the same.
pub(crate) const VERSIONS: [&str; 2] = ["/api/v1", "/api/v2"];
/// Answers without a token: it shows only that the process runs.
pub(crate) const LIVE: &str = "/health/live";
/// What a user's token can use beside the routes for it: each memory by its id.
const ONE_MEMORY: &str = "/memories/";
/// Requests with a body that change nothing, at routes of other dialects. The door of agents asks the routes behind it with the
/// same token. A model answers in a conversation of its own: `v1` keeps it from memory.
const READS: [&str; 5] = [
    "/v1/chat/completions",
    "/v1/messages",
    "/v1/responses",
    "/v3/memories/",
    "/v3/memories/search/",
];

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

/// The routes with a version, without it, and the access of each.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AccessTable(pub(crate) &'static [(&'static str, &'static [Access])]);

impl AccessTable {
    /// The role that a request to a route needs.
    pub(crate) fn role(self, method: &Method, route: &str) -> TokenRole {
        let bare = unversioned(route).unwrap_or(route);
        let is_read = method.is_safe()
            || (*method == Method::POST && (READS.contains(&bare) || self.allows(bare, Access::Read)));
        if self.allows(bare, Access::Admin) {
            TokenRole::Admin
        } else if is_read || Dialect::of(route) == Dialect::Agents {
            TokenRole::Read
        } else {
            TokenRole::Write
        }
    }

    /// Whether a user's token can use a path. The door of agents asks each route with the same token.
    pub(crate) fn is_for_users(self, path: &str) -> bool {
        match Dialect::of(path) {
            Dialect::Memory => unversioned(path)
                .is_some_and(|route| self.allows(route, Access::Own) || route.starts_with(ONE_MEMORY)),
            Dialect::Models | Dialect::Mem0 | Dialect::Agents | Dialect::Page => true,
        }
    }

    fn allows(self, route: &str, access: Access) -> bool {
        let mut rows = self.0.iter();
        rows.any(|(path, of)| *path == route && of.contains(&access))
    }
}

fn unversioned(path: &str) -> Option<&str> {
    VERSIONS.iter().find_map(|version| path.strip_prefix(version))
}
