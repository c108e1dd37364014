//! The mount of the door that agents use.
//!
//! Owns: its path, and whose memory a request to it names. Never: its protocol (`mcp`); it asks the API as any client does.

use axum::extract::Request;
use axum::middleware::Next;
use model::{Name, Scope};
use wire::json::mended;

use crate::body::arrive;
use crate::frame::{Answer, Visit};
use crate::v1;

/// Tenant and user of a request, as its token and its headers name them; an extension of the request.
#[derive(Debug, Clone)]
pub struct Asker {
    pub scope: Scope,
    /// None if neither names one.
    pub user: Option<Name>,
}

/// Finds out who asks.
pub(crate) async fn known(visit: Visit, mut request: Request, next: Next) -> Answer {
    let asker = v1::asker(&visit, request.headers())?;
    request.extensions_mut().insert(asker);
    let (head, body) = request.into_parts();
    let whole = arrive(Request::from_parts(head.clone(), body), &visit.gateway).await?;
    let request = Request::from_parts(head, mended(&whole.bytes).into_owned().into());
    Ok(next.run(request).await)
}
