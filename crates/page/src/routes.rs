//! The table of the page's routes, and the headers of all its answers.
//!
//! Owns: paths, and the rules for a browser. Never: the content of a view.

use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{HeaderName, HeaderValue, Uri};
use axum::middleware::{Next, from_fn};
use axum::response::{Redirect, Response};
use axum::routing::{get, post};
use gateway::{ApiError, Client};
use model::Name;

use crate::frame::Problem;
use crate::import::{Importer, Imports};
use crate::visit::PageState;
use crate::{
    assets, background, conversation, documents, forget, import, memories, memory, now, review, sign_in,
    skills,
};

/// Allows no resources of other origins, no inline code, and no frame of another site.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
                      connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// The page for [`gateway::Gateway::with_page`]. `client` calls that gateway; `user` is the default for addresses
/// that name no user.
pub fn routes(client: Client, user: Option<Name>, importer: Arc<dyn Importer>) -> Router {
    let page = PageState {
        client,
        user,
        imports: Imports::new(importer),
    };
    Router::new()
        .route("/", get(now::page))
        .route("/page/now/live", get(now::live))
        .route("/page/memories", get(memories::page))
        .route("/page/memory/{id}", get(memory::page).post(memory::save))
        .route("/page/change/{id}", get(background::change))
        .route("/page/forget", get(forget::look).post(forget::forget))
        .route("/page/given", get(review::opening))
        .route("/page/review", get(review::page).post(review::answer))
        .route("/page/conversations", get(conversation::list))
        .route("/page/conversation", get(conversation::page))
        .route("/page/conversation/original", get(conversation::original))
        .route("/page/conversation/pin", post(conversation::pin))
        .route("/page/background/undo", post(background::undo))
        .route("/page/skills", get(skills::page).post(skills::judge))
        .route(
            "/page/documents",
            get(documents::page)
                .post(documents::upload)
                .layer(DefaultBodyLimit::disable()),
        )
        .route("/page/document/{id}", get(documents::document))
        .route("/page/document/{id}/delete", post(documents::delete))
        .route("/page/topic/{id}", get(documents::topic))
        .route(
            "/page/import",
            get(import::page)
                .post(import::start)
                .layer(DefaultBodyLimit::disable()),
        )
        .route("/page/import/live", get(import::live))
        // Former views that are now parts of the first view.
        .route(
            "/page/background",
            get(async |uri: Uri| moved(&uri, "background")),
        )
        .route("/page/health", get(async |uri: Uri| moved(&uri, "health")))
        .route("/page/sign-in", get(sign_in::page).post(sign_in::sign_in))
        .route("/page/sign-out", post(sign_in::sign_out))
        .route("/page/assets/{id}", get(assets::asset))
        .fallback(nowhere)
        .layer(from_fn(protected))
        .with_state(page)
}

/// Redirects to a part of the first view.
fn moved(old: &Uri, part: &str) -> Redirect {
    Redirect::permanent(&format!("/?{}#{part}", old.query().unwrap_or_default()))
}

/// The answer to an unknown address.
async fn nowhere(old: Uri) -> Problem {
    Problem::from(ApiError::refused(
        404,
        format!("there is no view at `{}`", old.path()),
    ))
}

async fn protected(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    for (name, value) in [
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (X_FRAME_OPTIONS, "DENY"),
        (REFERRER_POLICY, "same-origin"),
        (
            HeaderName::from_static("cross-origin-opener-policy"),
            "same-origin",
        ),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    // A browser must not cache memories.
    headers
        .entry(CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
    response
}
