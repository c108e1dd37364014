//! A request's body and query as wire types.
//!
//! Owns: content type, size, time to arrive. Never: bounds of single fields (`wire` checks them).

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap};
use axum::http::request::Parts;
use futures::StreamExt as _;
use serde::de::DeserializeOwned;
use tokio::task::JoinError;

use crate::budget::{self, Hold, announced};
use crate::failure::Failure;
use crate::state::Gateway;
use crate::wire::ErrorCode;

/// Maximum time for a body to arrive.
const ARRIVAL: Duration = Duration::from_mins(1);
/// Maximum number of JSON values in a larger body: a value can take more memory than its letters.
const VALUES_MAX: usize = 250_000;
/// Maximum memory that is reserved before the first byte arrives; the buffer of a larger body grows as the bytes
/// arrive.
const RESERVED_BYTES_MAX: usize = 64 << 20;
/// A larger body is parsed on a thread that serves no requests.
const PARSED_HERE_BYTES_MAX: usize = 256 << 10;

/// A JSON body, its room and its size in bytes. A write keeps the room until it ends, even if the client is gone.
#[derive(Debug)]
pub(crate) struct JsonBody<T>(pub(crate) T, pub(crate) Hold, pub(crate) usize);

/// An unparsed JSON body.
#[derive(Debug)]
pub(crate) struct JsonBytes(Bytes, Hold);

impl JsonBytes {
    pub(crate) async fn read<T: DeserializeOwned + Send + 'static>(&self) -> Result<T, Failure> {
        parsed(self.0.clone(), |bytes| {
            if bytes.len() > PARSED_HERE_BYTES_MAX && values(bytes) > VALUES_MAX {
                let message = format!("the body has more than {VALUES_MAX} values: send fewer at a time");
                return Err(Failure::new(ErrorCode::PayloadTooLarge, message));
            }
            Ok(crate::wire::json::from_slice(bytes)?)
        })
        .await
    }
}

/// Parses a body; a large one on a thread that serves no requests.
pub(crate) async fn parsed<T: Send + 'static>(
    bytes: Bytes,
    parse: impl FnOnce(&[u8]) -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    if bytes.len() <= PARSED_HERE_BYTES_MAX {
        return parse(&bytes);
    }
    let parsing = tokio::task::spawn_blocking(move || parse(&bytes));
    let failed = |error: JoinError| Failure::internal(error.to_string());
    parsing.await.map_err(failed)?
}

impl FromRequest<Gateway> for JsonBytes {
    type Rejection = Failure;

    async fn from_request(request: Request<Body>, gateway: &Gateway) -> Result<Self, Failure> {
        if !is_json(request.headers()) {
            return Err(Failure::new(
                ErrorCode::UnsupportedFormat,
                "send the body as JSON, with `Content-Type: application/json`",
            ));
        }
        let (bytes, hold) = arrive(request, gateway).await?;
        Ok(Self(bytes, hold))
    }
}

impl<T: DeserializeOwned + Send + 'static> FromRequest<Gateway> for JsonBody<T> {
    type Rejection = Failure;

    async fn from_request(request: Request<Body>, gateway: &Gateway) -> Result<Self, Failure> {
        let body = JsonBytes::from_request(request, gateway).await?;
        Ok(Self(body.read().await?, body.1, body.0.len()))
    }
}

/// Counts the objects, lists and elements of a JSON text.
fn values(json: &[u8]) -> usize {
    let (mut values, mut in_text, mut is_escaped) = (0, false, false);
    for byte in json {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_text => is_escaped = true,
            b'"' => in_text = !in_text,
            b',' | b'[' | b'{' if !in_text => values += 1,
            _ => {}
        }
    }
    values
}

/// Reads a complete body of any type as soon as there is room for it, within the limits of size and time; returns its
/// room too.
pub(crate) async fn arrive(request: Request<Body>, gateway: &Gateway) -> Result<(Bytes, Hold), Failure> {
    let max = gateway.settings.body_bytes_max;
    let announced = announced(request.headers());
    if announced.is_some_and(|bytes| bytes > max) {
        return Err(Failure::too_large(max));
    }
    let (head, body) = request.into_parts();
    let clock = &*gateway.clock;
    let size = budget::size(&head.headers, &body, max);
    let mut hold = gateway.bodies.hold(size, clock).await?;
    let bytes = tokio::select! {
        bytes = collect(body, announced.unwrap_or_default(), max) => bytes?,
        () = clock.sleep(ARRIVAL) => {
            return Err(Failure::new(ErrorCode::BadRequest, "the body did not arrive in time"));
        }
    };
    if !head.headers.contains_key(CONTENT_ENCODING) {
        hold.shrink(bytes.len());
    }
    Ok((bytes, hold))
}

/// Collects a body in one buffer, without a second copy.
async fn collect(body: Body, announced: usize, max: usize) -> Result<Bytes, Failure> {
    let mut bytes = Vec::with_capacity(announced.min(RESERVED_BYTES_MAX));
    let mut pieces = body.into_data_stream();
    while let Some(piece) = pieces.next().await {
        let piece = piece.map_err(|_| Failure::new(ErrorCode::BadRequest, "the body ended too early"))?;
        if bytes.len() + piece.len() > max {
            return Err(Failure::too_large(max));
        }
        bytes.extend_from_slice(&piece);
    }
    Ok(bytes.into())
}

/// Whether a body may be JSON. A body without a type counts as JSON: a browser's form always has a type, and a
/// foreign page an origin.
fn is_json(headers: &HeaderMap) -> bool {
    headers.get(CONTENT_TYPE).is_none_or(|kind| {
        let kind = kind.to_str().unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default().trim();
        kind.eq_ignore_ascii_case("application/json")
            || kind
                .rsplit_once('+')
                .is_some_and(|(of, form)| !of.is_empty() && form.eq_ignore_ascii_case("json"))
    })
}

/// The query of a URL.
#[derive(Debug)]
pub(crate) struct UrlQuery<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for UrlQuery<T> {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        let read = Query::<T>::from_request_parts(parts, state).await;
        let Query(value) = read.map_err(|rejection| {
            let text = rejection.body_text();
            let problem = text.split_once(": ").map_or(&*text, |(_, problem)| problem);
            crate::wire::Invalid::request(problem)
        })?;
        Ok(Self(value))
    }
}

/// The id in a path.
#[derive(Debug)]
pub(crate) struct PathId(pub(crate) String);

impl<S: Send + Sync> FromRequestParts<S> for PathId {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        let read = Path::<String>::from_request_parts(parts, state).await;
        let refused = |_| Failure::new(ErrorCode::BadRequest, "the id in the path is not text");
        read.map(|Path(id)| Self(id)).map_err(refused)
    }
}

/// The id in a path, and the query.
#[derive(Debug)]
pub(crate) struct IdQuery<T>(pub(crate) String, pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for IdQuery<T> {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        let PathId(id) = PathId::from_request_parts(parts, state).await?;
        let UrlQuery(query) = UrlQuery::from_request_parts(parts, state).await?;
        Ok(Self(id, query))
    }
}
