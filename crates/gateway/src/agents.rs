//! The mount of the agents' door.
//!
//! Owns: the extension and the body of its requests. Never: its protocol (`mcp`); the door calls the API as any
//! client does.

use axum::extract::Request;
use axum::middleware::Next;

use crate::asker::asker;
use crate::body::arrive;
use crate::frame::{Answer, Visit};
use crate::wire::json::mended;

/// Adds the [`Asker`](crate::Asker) to a request, and repairs half surrogate pairs in its body.
pub(crate) async fn attach(visit: Visit, mut request: Request, next: Next) -> Answer {
    let asker = asker(&visit, request.headers())?;
    request.extensions_mut().insert(asker);
    let (head, body) = request.into_parts();
    let (bytes, _hold) = arrive(Request::from_parts(head.clone(), body), &visit.gateway).await?;
    let request = Request::from_parts(head, mended(&bytes).into_owned().into());
    Ok(next.run(request).await)
}
