//! The door over HTTP, without sessions: every request stands alone, so that any replica can answer it.
//!
//! Owns: the protocol's rules for HTTP. Never: who may ask (the gateway's guard), which comes first.

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

/// Pages that may ask: those of this machine. With tokens too, because a page elsewhere has no business here.
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

/// The door for [`gateway::Gateway::with_agents`]. `client` asks that gateway; `user` is meant where a request names nobody.
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
    // The library answers nobody who does not name both.
    let both = HeaderValue::from_static("application/json, text/event-stream");
    request.headers_mut().insert(ACCEPT, both);
    let user = asker.user.or(mount.user);
    let whose = DoorOwner {
        user: user.map(|user| user.as_str().to_owned()),
        app: asker.scope.app.as_str().to_owned(),
        project: asker.scope.project.as_str().to_owned(),
    };
    let door = Door::new(mount.client.acting_for(request.headers()), whose, mount.now);
    let config = StreamableHttpServerConfig::default()
        // The guard knows which hosts may be named.
        .disable_allowed_hosts()
        .with_allowed_origins(ORIGINS)
        .with_legacy_session_mode(false)
        .with_json_response(takes_json);
    let sessions = Arc::new(NeverSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(door.clone()), sessions, config);
    service.handle(request).await.into_response()
}

/// Whether a client takes JSON: each does that does not ask for events alone.
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
