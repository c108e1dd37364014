//! All routes of the server, with the layers around them.
//!
//! Owns: the path of each door, and the answers to unknown paths. Never: the memory API's table (`routes`).

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request};
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::{any, get, head, post};

use crate::access::{LIVE, VERSIONS};
use crate::dialect::{AGENTS, Dialect};
use crate::failure::Failure;
use crate::routes::{ACCESS, versioned};
use crate::state::Gateway;
use crate::wire::ErrorCode;
use crate::{agents, frame, guard, mem0, openapi, page, system, v1};

/// The path of the agents' door in the form of some clients.
const AGENTS_SLASH: &str = "/mcp/";

impl Gateway {
    /// Every route, with the layers around them.
    pub fn router(&self) -> Router {
        let mut router = Router::new()
            .route("/health", get(system::health))
            .route(LIVE, get(system::health_live))
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
            let door = door.clone().layer(from_fn(agents::attach));
            router = router
                .route_service(AGENTS, door.clone())
                .route_service(AGENTS_SLASH, door);
        }
        router = match &self.page {
            Some(page) => router.merge(page::routes(self, page)),
            // Some clients first check whether a server answers.
            None => router.route("/", head(system::health_live).fallback(no_route)),
        };
        router
            .fallback(no_route)
            .method_not_allowed_fallback(no_method)
            .layer(DefaultBodyLimit::max(self.settings.body_bytes_max))
            .layer(from_fn_with_state((self.clone(), ACCESS), frame::frame))
            .layer(guard::pages(&self.settings.auth))
            .with_state(self.clone())
    }
}

async fn no_route(request: Request) -> Failure {
    if Dialect::of(request.uri().path()) == Dialect::Mem0 {
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
