//! The OpenAPI description of a route.
//!
//! Owns: the failures that every route may answer with, the shape of a success, and the expansion of a row of the
//! table of routes. Never: the table (`routes`), or the whole document (`openapi`).

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

/// Describes a route: docs, method, path, name, input and answers. The input is one body or query by its type, or
/// everything in the parentheses. The answer is data in the envelope, with optional further successes; `bare` data;
/// or everything in the parentheses.
macro_rules! described {
    ($doc:tt get $path:tt $name:ident ($query:ident) $answer:tt) => {
        $crate::describe::described! { @ $doc get $path $name [params($query),] $answer }
    };
    ($doc:tt $method:ident $path:tt $name:ident ($body:ident) $answer:tt) => {
        $crate::describe::described! { @ $doc $method $path $name [request_body = $body,] $answer }
    };
    ($doc:tt $method:ident $path:tt $name:ident ($($takes:tt)*) $answer:tt) => {
        $crate::describe::described! { @ $doc $method $path $name [$($takes)*] $answer }
    };
    (@ $doc:tt $method:ident $path:tt $name:ident $takes:tt (bare $meaning:literal $data:ident)) => {
        $crate::describe::described! { @ $doc $method $path $name $takes ((status = 200, description = $meaning, body = $data)) }
    };
    (@ $doc:tt $method:ident $path:tt $name:ident $takes:tt ($meaning:literal $data:ident $($more:tt)*)) => {
        $crate::describe::described! { @ $doc $method $path $name $takes
            ((status = 200, description = $meaning, body = $crate::wire::Envelope<$data>) $($more)*)
        }
    };
    (@ [$($doc:tt)*] $method:ident $path:tt $name:ident [$($takes:tt)*] ($($answer:tt)+)) => {
        $($doc)*
        #[utoipa::path($method, path = $path, $($takes)* responses($($answer),+, $crate::describe::Errors))]
        #[expect(dead_code, reason = "the description of the API has its name")]
        fn $name() {}
    };
}
pub(crate) use described;

/// Routes with a version before their path, a row each: for the router, the guard and the description of the API.
macro_rules! versioned {
    ($($(#[doc = $doc:tt])+ $method:ident $path:tt $([$($access:ident),+])? $module:ident::$handler:ident $takes:tt => $answer:tt;)+) => {
        /// The access of each route.
        pub(crate) const ACCESS: AccessTable = AccessTable(&[$(($path, &[$($(Access::$access),+)?])),+]);

        /// The routes under a version.
        pub(crate) fn versioned(version: &str) -> Router<Gateway> {
            let path = |path: &str| format!("{version}{path}");
            Router::new()$(.route(&path($path), MethodRouter::new().$method($module::$handler)))+
        }

        $($crate::describe::described! { [$(#[doc = $doc])+] $method $path $handler $takes $answer })+

        #[derive(OpenApi)]
        #[openapi(paths($($handler),+))]
        pub(crate) struct Versioned;
    };
}
pub(crate) use versioned;
