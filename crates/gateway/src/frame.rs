//! The frame of every request: its id, its duration, its log line, and the envelope of its failure.
//!
//! Owns: request ids and catching panics. Never: bodies and tokens in the log.

use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use axum::Json;
use axum::extract::{FromRequestParts, MatchedPath, Request, State};
use axum::http::header::{ALLOW, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures::FutureExt;
use model::Scope;

use crate::access::AccessTable;
use crate::browser;
use crate::dialect::Dialect;
use crate::failure::Failure;
use crate::guard::{self, Caller};
use crate::state::Gateway;
use crate::wire::tasks::ScopeQuery;
use crate::wire::{Envelope, ErrorEnvelope, ErrorInfo};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// The header with our id, if a model server has set its own id in the answer.
const OUR_REQUEST_ID: HeaderName = HeaderName::from_static("x-quipu-request-id");
/// Maximum length of a client's request id; a longer one is replaced.
const REQUEST_ID_CHARS_MAX: usize = 128;

/// Why a request failed, in words that stay in the process.
#[derive(Debug, Clone)]
pub(crate) struct Detail(pub(crate) String);

/// The answer of a handler.
pub(crate) type Answer = Result<Response, Failure>;

/// One request, in the form that handlers get.
#[derive(Debug, Clone)]
pub(crate) struct Visit {
    pub(crate) gateway: Gateway,
    pub(crate) request_id: Arc<str>,
    /// The server made the id, because the client sent none.
    pub(crate) id_is_ours: bool,
    pub(crate) caller: Caller,
}

impl Visit {
    /// A 200 with the data in its envelope.
    pub(crate) fn answer<T: serde::Serialize>(&self, data: T) -> Response {
        let request_id = self.request_id.as_ref().to_owned();
        Json(Envelope { request_id, data }).into_response()
    }

    /// The tenant of a query, if the caller may enter it.
    pub(crate) fn entered(&self, query: &ScopeQuery) -> Result<Scope, Failure> {
        let scope = query.scope(&self.caller.home)?;
        self.caller.enter(&scope)?;
        Ok(scope)
    }

    /// Runs a write to its end, even if the client disconnects.
    pub(crate) fn write<T: Send + 'static, E: Into<Failure>>(
        &self,
        write: impl Future<Output = Result<T, E>> + Send + 'static,
    ) -> impl Future<Output = Result<T, Failure>> {
        let write = Box::pin(async { write.await.map_err(Into::into) });
        self.gateway.see_through(write)
    }
}

impl<S: Sync> FromRequestParts<S> for Visit {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let visit = parts.extensions.get::<Self>().cloned();
        Ok(visit.expect("the frame is around every route"))
    }
}

/// Wraps every request: id, identification, panic, envelope, metrics and log line.
pub(crate) async fn frame(
    State((gateway, access)): State<(Gateway, AccessTable)>,
    mut request: Request,
    next: Next,
) -> Response {
    let started = gateway.clock.elapsed();
    let client_id = request_id(request.headers());
    let id_is_ours = client_id.is_none();
    let request_id = client_id.unwrap_or_else(|| gateway.fresh_id().into());
    let path = request.uri().path().to_owned();
    let method = request.method().clone();
    let route = request.extensions().get::<MatchedPath>().cloned();
    let caller = browser::admit(&mut request)
        .and_then(|()| guard::once(request.headers(), &gateway.settings.user_headers))
        .and_then(|()| guard::identify(&gateway.settings.auth, access, request.uri(), request.headers()));
    let caller = caller.and_then(|caller| {
        if let Some(route) = &route {
            caller.needs(access.role(&method, route.as_str()))?;
        }
        Ok(caller)
    });
    let response = match caller {
        Ok(caller) => {
            request.extensions_mut().insert(Visit {
                gateway: gateway.clone(),
                request_id: request_id.clone(),
                id_is_ours,
                caller,
            });
            let answer = AssertUnwindSafe(async move { next.run(request).await });
            answer.catch_unwind().await.unwrap_or_else(|panic| {
                let detail = format!("panicked: {}", memory::panic_text(&*panic));
                Failure::internal(detail).into_response()
            })
        }
        Err(failure) => browser::to_sign_in(&request, &failure).unwrap_or_else(|| failure.into_response()),
    };
    let mut response = wrap(response, &gateway, &request_id, &path);
    if let Ok(value) = HeaderValue::from_str(&request_id) {
        let is_taken = response.headers().contains_key(REQUEST_ID);
        let name = if is_taken { OUR_REQUEST_ID } else { REQUEST_ID };
        response.headers_mut().insert(name, value);
    }
    let took = gateway.clock.elapsed().saturating_sub(started);
    let route = route.as_ref().map_or("unmatched", MatchedPath::as_str);
    let status = response.status().as_u16();
    gateway.metrics.request(&method, route, status, took);
    let (request_id, ms) = (&*request_id, took.as_micros() as f64 / 1_000.0);
    tracing::info!(%method, route, status, ms, request_id, "request");
    response
}

/// The client's request id, if it is valid.
fn request_id(headers: &HeaderMap) -> Option<Arc<str>> {
    let id = headers.get(REQUEST_ID)?.to_str().ok()?;
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_.:@+-".contains(&byte);
    ((1..=REQUEST_ID_CHARS_MAX).contains(&id.len()) && id.bytes().all(allowed)).then(|| id.into())
}

/// Puts a failure into the envelope, or into the form of the path's dialect.
fn wrap(mut response: Response, gateway: &Gateway, request_id: &str, path: &str) -> Response {
    let Some(failure) = response.extensions_mut().remove::<Failure>() else {
        return response;
    };
    let detail = failure.detail.clone().map(Detail);
    if let Some(Detail(detail)) = &detail {
        tracing::error!(request_id, detail, "request failed");
    }
    let passing = failure.is_passing();
    let status = failure.status();
    let own = Dialect::of(path).error(path, status.as_u16(), failure.code, &failure.message);
    let mut wrapped = if let Some(error) = own {
        (status, Json(error)).into_response()
    } else {
        let error = ErrorInfo {
            code: failure.code,
            message: failure.message,
            timestamp: gateway.zone().render(gateway.clock.now()),
            path: path.to_owned(),
        };
        let request_id = request_id.to_owned();
        (status, Json(ErrorEnvelope { request_id, error })).into_response()
    };
    if let Some(detail) = detail {
        wrapped.extensions_mut().insert(detail);
    }
    let headers = wrapped.headers_mut();
    if let Some(allow) = response.headers_mut().remove(ALLOW) {
        headers.insert(ALLOW, allow);
    }
    if passing {
        headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
    }
    if status == StatusCode::UNAUTHORIZED {
        headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    wrapped
}
