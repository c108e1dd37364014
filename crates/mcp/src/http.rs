//! The door over HTTP, without sessions: each request is complete, so any replica can answer it.
//!
//! Owns: the protocol's rules for HTTP. Never: who may ask; the gateway's guard checks that first.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{ACCEPT, HeaderMap, HeaderValue};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Router};
use gateway::{Asker, Client};
use model::Name;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};

use crate::door::{Door, DoorOwner, Now};

/// Origins of pages that may ask: this machine only. Tokens change nothing: no page elsewhere needs this door.
const ORIGINS: [&str; 6] = [
    "http://localhost:*",
    "https://localhost:*",
    "http://127.0.0.1:*",
    "https://127.0.0.1:*",
    "http://[::1]:*",
    "https://[::1]:*",
];

#[derive(Clone)]
struct Mount {
    client: Client,
    user: Option<Name>,
    now: Now,
}

/// The routes for [`gateway::Gateway::with_agents`]. `client` calls that gateway; `user` is the default for requests
/// that name no user.
pub fn routes(client: Client, user: Option<Name>, now: Now) -> Router {
    Router::new()
        .fallback(answer)
        .with_state(Mount { client, user, now })
}

async fn answer(
    State(mount): State<Mount>,
    Extension(asker): Extension<Asker>,
    mut request: Request,
) -> Response {
    let takes_json = takes_json(request.headers());
    // The library refuses a client that does not accept both types.
    let both = HeaderValue::from_static("application/json, text/event-stream");
    request.headers_mut().insert(ACCEPT, both);
    let user = asker.user.or(mount.user);
    let owner = DoorOwner {
        user: user.map(|user| user.as_str().to_owned()),
        app: asker.scope.app.as_str().to_owned(),
        project: asker.scope.project.as_str().to_owned(),
    };
    let door = Door::new(mount.client.acting_for(request.headers()), owner, mount.now);
    let config = StreamableHttpServerConfig::default()
        // The guard has checked the host already.
        .disable_allowed_hosts()
        .with_allowed_origins(ORIGINS)
        .with_legacy_session_mode(false)
        .with_json_response(takes_json);
    let sessions = Arc::new(NeverSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(door.clone()), sessions, config);
    service.handle(request).await.into_response()
}

/// Whether a client accepts JSON: every client, except one that accepts only events.
fn takes_json(headers: &HeaderMap) -> bool {
    let accepted = headers
        .get_all(ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok());
    let mut accepted = accepted.flat_map(|value| value.split(',')).peekable();
    accepted.peek().is_none() || accepted.any(|kind| !kind.trim_start().starts_with("text/event-stream"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_go_to_those_who_ask_for_nothing_else() {
        for (accept, is_json) in [
            (None, true),
            (Some("*/*"), true),
            (Some("application/json"), true),
            (Some("application/json, text/event-stream"), true),
            (Some("text/event-stream, */*;q=0.1"), true),
            (Some("text/event-stream"), false),
            (Some("text/event-stream;q=1"), false),
        ] {
            let mut headers = HeaderMap::new();
            headers.extend(accept.map(|accept| (ACCEPT, HeaderValue::from_static(accept))));
            assert_eq!(takes_json(&headers), is_json, "{accept:?}");
        }
    }
}
