//! A request's body and query as wire types.
//!
//! Owns: content type, size, time to arrive. Never: bounds of single fields (`wire` checks them).

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::rejection::{BytesRejection, FailedToBufferBody};
use axum::extract::{FromRequest, FromRequestParts, Query, Request};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderMap};
use axum::http::request::Parts;
use serde::de::DeserializeOwned;
use wire::ErrorCode;

use crate::failure::Failure;
use crate::state::Gateway;

/// A body that takes longer to arrive is given up.
const ARRIVAL: Duration = Duration::from_mins(1);

/// A JSON body.
#[derive(Debug)]
pub(crate) struct JsonBody<T> {
    pub(crate) value: T,
    pub(crate) bytes: usize,
}

impl<T: DeserializeOwned> FromRequest<Gateway> for JsonBody<T> {
    type Rejection = Failure;

    async fn from_request(request: Request<Body>, gateway: &Gateway) -> Result<Self, Failure> {
        if !is_json(request.headers()) {
            return Err(Failure::new(
                ErrorCode::UnsupportedFormat,
                "send the body as JSON, with `Content-Type: application/json`",
            ));
        }
        let body = arrive(request, gateway).await?;
        let value = wire::json::from_slice(&body)?;
        Ok(Self {
            value,
            bytes: body.len(),
        })
    }
}

/// A whole body, of whatever type, within its size and its time.
pub(crate) async fn arrive(request: Request<Body>, gateway: &Gateway) -> Result<Bytes, Failure> {
    let max = gateway.settings.body_bytes_max;
    if announced(request.headers()).is_some_and(|bytes| bytes > max) {
        return Err(too_large(max));
    }
    let body = tokio::select! {
        body = Bytes::from_request(request, gateway) => body,
        () = gateway.clock.sleep(ARRIVAL) => {
            return Err(Failure::new(ErrorCode::BadRequest, "the body did not arrive in time"));
        }
    };
    body.map_err(|rejection| match rejection {
        BytesRejection::FailedToBufferBody(FailedToBufferBody::LengthLimitError(_)) => too_large(max),
        _ => Failure::new(ErrorCode::BadRequest, "the body ended too early"),
    })
}

/// The refusal of a body that is larger than this.
pub(crate) fn too_large(bytes_max: usize) -> Failure {
    Failure::new(
        ErrorCode::PayloadTooLarge,
        format!(
            "the body has more than {} MiB: send fewer or shorter messages at a time",
            bytes_max >> 20
        ),
    )
}

/// A body without a type is taken for JSON: a browser's form always has a type, and a foreign page an origin.
fn is_json(headers: &HeaderMap) -> bool {
    headers.get(CONTENT_TYPE).is_none_or(|kind| {
        let kind = kind.to_str().unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default().trim();
        kind.eq_ignore_ascii_case("application/json")
            || (kind.len() > 5 && kind.is_char_boundary(kind.len() - 5) && {
                kind[kind.len() - 5..].eq_ignore_ascii_case("+json")
            })
    })
}

/// The length that a request announces.
pub(crate) fn announced(headers: &HeaderMap) -> Option<usize> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// The query of a URL.
#[derive(Debug)]
pub(crate) struct UrlQuery<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for UrlQuery<T> {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        match Query::<T>::from_request_parts(parts, state).await {
            Ok(Query(value)) => Ok(Self(value)),
            Err(rejection) => {
                let text = rejection.body_text();
                let problem = text
                    .split_once(": ")
                    .map_or(text.as_str(), |(_, problem)| problem);
                Err(wire::Invalid::whole(problem).into())
            }
        }
    }
}
