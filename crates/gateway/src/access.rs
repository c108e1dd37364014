//! The role that a request needs, from the table of routes.
//!
//! Owns: the default role of a route's method. Never: the table (`routes`), or access to a certain owner's memory
//! (the guard checks that).
//!
//! A test names the role of every route of the router, so a new route cannot get its role by accident.

use axum::http::Method;

use crate::dialect::Dialect;
use crate::settings::TokenRole;

/// Both versions have the same routes.
pub(crate) const VERSIONS: [&str; 2] = ["/api/v1", "/api/v2"];
/// The only route that needs no token: it shows only that the process runs.
pub(crate) const LIVE: &str = "/health/live";
/// Prefix of the routes of single memories: a user's token can use them beside the routes marked [`Access::Own`].
const ONE_MEMORY: &str = "/memories/";
/// POST routes of other dialects that change no memory. With a read-only token, `v1` keeps the conversation out of
/// memory. The agents' door calls the memory API with the same token, so the API checks the role.
const READS: [&str; 5] = [
    "/v1/chat/completions",
    "/v1/messages",
    "/v1/responses",
    "/v3/memories/",
    "/v3/memories/search/",
];

/// Exceptions to the defaults of a route: a GET reads, any other method writes, and both concern the whole tenant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// A user's token can use the route too: it concerns only that user's memory.
    Own,
    /// A request with a body that changes nothing.
    Read,
    /// The route concerns all users, or it stores ids, dates and texts of others exactly as the request has them.
    Admin,
}

/// The routes below a version, without the version, and the access of each.
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

    /// Whether a user's token can use a path. The agents' door calls each route with the same token.
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
