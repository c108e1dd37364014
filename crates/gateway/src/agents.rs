//! The mount of the door that agents use.
//!
//! Owns: what its requests carry. Never: its protocol (`mcp`); it asks the API as any client does.

use axum::extract::Request;
use axum::middleware::Next;

use crate::asker::asker;
use crate::body::arrive;
use crate::frame::{Answer, Visit};
use crate::wire::json::mended;

/// Finds out who asks.
pub(crate) async fn known(visit: Visit, mut request: Request, next: Next) -> Answer {
    let asker = asker(&visit, request.headers())?;
    request.extensions_mut().insert(asker);
    let (head, body) = request.into_parts();
    let whole = arrive(Request::from_parts(head.clone(), body), &visit.gateway).await?;
    let request = Request::from_parts(head, mended(&whole.bytes).into_owned().into());
    Ok(next.run(request).await)
}
