//! Requests of a browser to the page.
//!
//! Owns: the cookie with the token, the refusal of changes from other sites, and the redirect of a visitor without a
//! token. Never: a visitor's permissions.

use axum::extract::Request;
use axum::http::header::{AUTHORIZATION, COOKIE, HOST, HeaderMap, HeaderName, LOCATION, ORIGIN};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};

use crate::dialect::{Dialect, SIGN_IN};
use crate::failure::Failure;
use crate::guard::CARRIERS;
use crate::wire::ErrorCode;

/// The cookie with the token, in hexadecimal digits because a cookie cannot contain every character.
const NAME: &str = "quipu_token";
/// How long a browser keeps the cookie: 30 days.
const KEPT_SECONDS: u32 = 30 * 24 * 60 * 60;

const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const FROM_SCRIPT: HeaderName = HeaderName::from_static("hx-request");
const SCRIPT_GOES_TO: HeaderName = HeaderName::from_static("hx-redirect");

/// Replaces the cookie by its token, for requests to the page only. A request that can change something must come
/// from the page: a browser names the origin in headers that no other site can forge.
pub(crate) fn admit(request: &mut Request) -> Result<(), Failure> {
    if Dialect::of(request.uri().path()) != Dialect::Page {
        return Ok(());
    }
    if !request.method().is_safe() && !is_from_page(request.headers()) {
        return Err(Failure::new(
            ErrorCode::Forbidden,
            "this request does not come from Quipu's page: open the page and try again there",
        ));
    }
    let headers = request.headers_mut();
    if CARRIERS.iter().all(|carrier| !headers.contains_key(carrier))
        && let Some(token) = token(headers)
        && let Ok(bearer) = HeaderValue::try_from(format!("Bearer {token}"))
    {
        headers.insert(AUTHORIZATION, bearer);
    }
    Ok(())
}

fn is_from_page(headers: &HeaderMap) -> bool {
    let text = |name: &HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    match text(&FETCH_SITE) {
        Some(site) => site == "same-origin",
        // Older browsers, and browsers that reach another machine without TLS.
        None => text(&ORIGIN)
            .and_then(|origin| origin.split_once("://"))
            .is_some_and(|(_, site)| text(&HOST) == Some(site)),
    }
}

/// Redirects a visitor without a known token to the form for it.
pub(crate) fn to_sign_in(request: &Request, failure: &Failure) -> Option<Response> {
    if Dialect::of(request.uri().path()) != Dialect::Page || failure.code != ErrorCode::Unauthorized {
        return None;
    }
    let place = HeaderValue::from_static(SIGN_IN);
    Some(if request.headers().contains_key(FROM_SCRIPT) {
        (StatusCode::UNAUTHORIZED, [(SCRIPT_GOES_TO, place)]).into_response()
    } else {
        (StatusCode::SEE_OTHER, [(LOCATION, place)]).into_response()
    })
}

/// The value of `Set-Cookie` for a token; an empty token removes the cookie.
pub fn cookie(token: &str, is_secure: bool) -> String {
    let kept = if token.is_empty() { 0 } else { KEPT_SECONDS };
    let token = model::hex(token);
    let mut cookie = format!("{NAME}={token}; Path=/; Max-Age={kept}; HttpOnly; SameSite=Strict");
    if is_secure {
        cookie.push_str("; Secure");
    }
    cookie
}

/// The token in a request's cookie.
fn token(headers: &HeaderMap) -> Option<String> {
    let cookies = headers.get_all(COOKIE).iter();
    let mut pairs = cookies
        .filter_map(|value| value.to_str().ok())
        .flat_map(|text| text.split(';'));
    let digits = pairs.find_map(|pair| pair.trim().strip_prefix(NAME)?.strip_prefix('='))?;
    let byte = |at: usize| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
    let bytes: Option<Vec<u8>> = (0..digits.len()).step_by(2).map(byte).collect();
    String::from_utf8(bytes?).ok().filter(|token| !token.is_empty())
}
