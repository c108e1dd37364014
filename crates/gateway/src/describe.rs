//! How a handler describes its route.
//!
//! Owns: the failures that every route may answer with, and the shape of a success. Never: the whole document (`openapi`).

use std::collections::BTreeMap;

use utoipa::IntoResponses;
use utoipa::openapi::{Ref, RefOr, Response};

/// The failures that every route may answer with, all in the error envelope.
pub(crate) struct Errors;

/// Status, name in the document, and meaning.
const ERRORS: &str = "\
400 BadRequest The request cannot be read
401 Unauthorized No token, or an unknown token
403 Forbidden The token has no access to this tenant; or, without tokens, the request is not from this machine
404 NotFound No such route, memory, task, change, run, document or topic
409 Conflict A fault must be repaired first; or the same document is already stored
413 PayloadTooLarge The body is too large
415 UnsupportedFormat The body is not JSON or not a form, or the file format is not supported
422 InvalidInput A field is invalid: `message` names the field and the fix
429 QueueSaturated Too many unfinished tasks
500 InternalError Internal error; the server log has the reason
503 Unavailable Shutting down, a model or the index is unavailable, or the disk is read-only
507 DiskFull The disk is full: nothing was stored";

/// Status, name and meaning of each failure.
pub(crate) fn errors() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    ERRORS.lines().filter_map(|line| {
        let (status, rest) = line.split_once(' ')?;
        let (name, meaning) = rest.split_once(' ')?;
        Some((status, name, meaning))
    })
}

impl IntoResponses for Errors {
    /// References: the document describes each failure once.
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        let reference = |name| RefOr::Ref(Ref::from_response_name(name));
        errors()
            .map(|(status, name, _)| (status.to_owned(), reference(name)))
            .collect()
    }
}

/// Describes a route that answers with data in the envelope, by its body, its query, or in brackets all that it takes. Behind the data
/// other successes can follow; `bare` data has no envelope.
macro_rules! described {
    ($(#[doc $($doc:tt)*])* #[post($path:tt, $body:ident => $($answer:tt)+)] $($handler:tt)+) => {
        described! { $(#[doc $($doc)*])* #[route(post $path [request_body = $body] => $($answer)+)] $($handler)+ }
    };
    ($(#[doc $($doc:tt)*])* #[get($path:tt, $query:ident => $($answer:tt)+)] $($handler:tt)+) => {
        described! { $(#[doc $($doc)*])* #[route(get $path [params($query)] => $($answer)+)] $($handler)+ }
    };
    ($(#[doc $($doc:tt)*])* #[route($method:ident $path:tt $takes:tt => bare $meaning:literal $data:ident)] $($handler:tt)+) => {
        described! { $(#[doc $($doc)*])* #[route($method $path $takes => (status = 200, description = $meaning, body = $data))] $($handler)+ }
    };
    ($(#[doc $($doc:tt)*])* #[route($method:ident $path:tt $takes:tt => $meaning:literal $data:ident $($more:tt)*)] $($handler:tt)+) => {
        described! {
            $(#[doc $($doc)*])*
            #[route($method $path $takes => (status = 200, description = $meaning, body = crate::wire::Envelope<$data>) $($more)*)]
            $($handler)+
        }
    };
    ($(#[doc $($doc:tt)*])* #[route($method:ident $path:tt [$($($takes:tt)+)?] => $(($($answer:tt)+))+)] $($handler:tt)+) => {
        $(#[doc $($doc)*])*
        #[utoipa::path(
            $method,
            path = $path,
            $($($takes)+,)?
            responses($(($($answer)+)),+, crate::describe::Errors),
        )]
        $($handler)+
    };
}
pub(crate) use described;
