//! The mount of the page that a person opens in a browser.
//!
//! Owns: which paths are the page's, its cookie, and that no other site makes a browser change anything. Never: HTML, or
//! what a visitor may do; the page asks the API with the visitor's token.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, COOKIE, HOST, HeaderMap, HeaderName, LOCATION, ORIGIN};
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::head;
use model::{Name, Scope};
use ports::Clock;
use wire::ErrorCode;

use crate::deletions::Deletions;
use crate::failure::Failure;
use crate::frame::Visit;
use crate::guard::CARRIERS;
use crate::state::{Gateway, Stopping};
use crate::system;

/// Its first view; all others are below [`BELOW`].
const FIRST: &str = "/";
const BELOW: &str = "/page/";
/// Where a visitor without a token gives one.
const SIGN_IN: &str = "/page/sign-in";
/// Where the cookie goes.
const SIGN_OUT: &str = "/page/sign-out";
/// Style and script: the same for everybody.
const ASSETS: &str = "/page/assets/";
/// Holds the token, in hexadecimal digits because a cookie cannot hold every character.
const NAME: &str = "quipu_token";
/// How long a browser keeps the cookie: 30 days.
const KEPT_SECONDS: u32 = 30 * 24 * 60 * 60;

const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const FROM_SCRIPT: HeaderName = HeaderName::from_static("hx-request");
const SCRIPT_GOES_TO: HeaderName = HeaderName::from_static("hx-redirect");

/// Who looks at the page: an extension of each of its requests.
#[derive(Debug, Clone)]
pub struct Visitor {
    /// The one user whose memory the token opens; none if it opens more.
    pub user: Option<Name>,
    /// The user of a request that names none, if the token has one.
    pub usual: Option<Name>,
    /// The tenant of a request that names none.
    pub home: Scope,
    /// The token opens every tenant.
    pub sees_all: bool,
    /// The server asks for tokens.
    pub needs_token: bool,
    deletions: Deletions,
    clock: Arc<dyn Clock>,
    stop: Option<Stopping>,
}

impl Visitor {
    /// How many deletions a tenant asked for since the server's start.
    pub fn deletions(&self, scope: &Scope) -> usize {
        self.deletions.of(scope)
    }

    /// Waits for an answer that has no end of its own; false when the server stops.
    pub async fn wait(&self, pause: Duration) -> bool {
        let stops = async {
            match &self.stop {
                Some(Stopping(stop)) => stop.cancelled().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = stops => false,
            () = self.clock.sleep(pause) => true,
        }
    }
}

pub(crate) fn is_its(path: &str) -> bool {
    path == FIRST || path.starts_with(BELOW)
}

/// Whether a path answers without a token.
pub(crate) fn is_open(path: &str) -> bool {
    path == SIGN_IN || path == SIGN_OUT || path.starts_with(ASSETS)
}

/// Takes the cookie for the token that it holds, on the page only. A request that can change something must come from the
/// page itself: a browser says in its headers where a request comes from, and no other site can make it lie.
pub(crate) fn admit(request: &mut Request) -> Result<(), Failure> {
    if !is_its(request.uri().path()) {
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
        // Older browsers, and those that reach another machine without TLS.
        None => text(&ORIGIN)
            .and_then(|origin| origin.split_once("://"))
            .is_some_and(|(_, site)| text(&HOST) == Some(site)),
    }
}

/// Sends a visitor without a known token to where it is given.
pub(crate) fn to_sign_in(request: &Request, failure: &Failure) -> Option<Response> {
    if !is_its(request.uri().path()) || failure.code != ErrorCode::Unauthorized {
        return None;
    }
    let place = HeaderValue::from_static(SIGN_IN);
    Some(if request.headers().contains_key(FROM_SCRIPT) {
        (StatusCode::UNAUTHORIZED, [(SCRIPT_GOES_TO, place)]).into_response()
    } else {
        (StatusCode::SEE_OTHER, [(LOCATION, place)]).into_response()
    })
}

/// The page's routes, with everything that its requests carry.
pub(crate) fn routes(gateway: &Gateway, page: &Router) -> Router<Gateway> {
    let page = page.clone().layer(from_fn_with_state(gateway.clone(), known));
    Router::new()
        // Some clients look first whether anybody is there.
        .route(FIRST, head(system::health_live).get_service(page.clone()))
        .route_service(&format!("{BELOW}{{*path}}"), page)
}

async fn known(State(gateway): State<Gateway>, visit: Visit, mut request: Request, next: Next) -> Response {
    let visitor = Visitor {
        user: visit.caller.only_user().cloned(),
        usual: visit.caller.as_user(None).ok().flatten(),
        home: visit.caller.home.clone(),
        sees_all: visit.caller.sees_all(),
        deletions: gateway.deletions.clone(),
        needs_token: gateway.settings.auth.known().is_some(),
        clock: gateway.clock.clone(),
        stop: request.extensions().get::<Stopping>().cloned(),
    };
    request.extensions_mut().insert(visitor);
    next.run(request).await
}

/// The cookie that holds a token, for `Set-Cookie`; an empty token removes it.
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
