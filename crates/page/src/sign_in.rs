//! Signing in with a token, and out.
//!
//! Owns: the form and its answer. Never: judging a token (the API does), or keeping one (the browser's cookie does).

use askama::Template;
use axum::Form;
use axum::extract::State;
use axum::http::header::{AUTHORIZATION, ORIGIN, SET_COOKIE};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use gateway::cookie;
use serde::Deserialize;
use serde_json::Value;

use crate::frame::{PageFrame, html};
use crate::visit::PageState;

/// A route that refuses an unknown token with 401.
const PROBE: &str = "/context/tools";
/// The header in which a reverse proxy names the client's protocol.
const FORWARDED: &str = "x-forwarded-proto";

#[derive(Template)]
#[template(path = "sign_in.html")]
struct SignInView {
    frame: PageFrame,
    problem: Option<&'static str>,
}

#[derive(Deserialize)]
pub(crate) struct TokenForm {
    token: String,
}

pub(crate) async fn page() -> Response {
    html(&SignInView {
        frame: PageFrame::bare("Sign in"),
        problem: None,
    })
}

pub(crate) async fn sign_in(
    State(page): State<PageState>,
    headers: HeaderMap,
    Form(form): Form<TokenForm>,
) -> Response {
    let token = form.token.trim();
    if !is_known(&page, token).await {
        let view = SignInView {
            frame: PageFrame::bare("Sign in"),
            problem: Some("This server does not know that token. Copy the whole of it, without quotes."),
        };
        return (StatusCode::UNAUTHORIZED, html(&view)).into_response();
    }
    to_first_view(&cookie(token, is_behind_tls(&headers)))
}

pub(crate) async fn sign_out(headers: HeaderMap) -> Response {
    to_first_view(&cookie("", is_behind_tls(&headers)))
}

fn to_first_view(cookie: &str) -> Response {
    let cookie = HeaderValue::from_str(cookie).expect("digits and words of this program");
    ([(SET_COOKIE, cookie)], Redirect::to("/")).into_response()
}

async fn is_known(page: &PageState, token: &str) -> bool {
    let Ok(bearer) = HeaderValue::try_from(format!("Bearer {token}")) else {
        return false;
    };
    let headers = HeaderMap::from_iter([(AUTHORIZATION, bearer)]);
    let probed: Result<Value, _> = page.client.acting_for(&headers).get_data(PROBE).await;
    !matches!(probed, Err(refused) if refused.status() == 401)
}

fn is_behind_tls(headers: &HeaderMap) -> bool {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    text(FORWARDED) == Some("https")
        || text(ORIGIN.as_str()).is_some_and(|origin| origin.starts_with("https:"))
}
