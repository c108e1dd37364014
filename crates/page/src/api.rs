//! How a view asks the memory API.
//!
//! Owns: requests with the visitor's token, and the words for a person when one fails. Never: what a route does.

use axum::extract::Request;
use axum::http::StatusCode;
use gateway::{AskError, Client, ClientReply};
use serde::Serialize;
use serde::de::DeserializeOwned;
use wire::{Envelope, ErrorEnvelope};

/// The API as this visitor may use it.
#[derive(Debug, Clone)]
pub(crate) struct VisitorApi(pub(crate) Client);

/// The API refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refused {
    pub(crate) status: u16,
    pub(crate) words: String,
}

impl Refused {
    pub(crate) fn new(status: u16, words: impl Into<String>) -> Self {
        Self {
            status,
            words: words.into(),
        }
    }

    pub(crate) fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    /// The token does not open this. A view leaves that part out.
    pub(crate) fn is_closed(&self) -> bool {
        self.status == 403
    }
}

impl VisitorApi {
    /// Asks a route below `/api/v2` with GET.
    pub(crate) async fn get<T: DeserializeOwned>(&self, route: &str) -> Result<T, Refused> {
        enveloped(self.0.get(&below(route)).await)
    }

    /// Asks a route below `/api/v2` with POST.
    pub(crate) async fn post<T: DeserializeOwned>(
        &self,
        route: &str,
        body: &impl Serialize,
    ) -> Result<T, Refused> {
        let body = serde_json::to_vec(body).expect("a request of this crate");
        enveloped(self.0.post(&below(route), body).await)
    }

    /// Passes a request's form to a route below `/api/v2`, while it arrives.
    pub(crate) async fn forward<T: DeserializeOwned>(
        &self,
        route: &str,
        form: Request,
    ) -> Result<T, Refused> {
        enveloped(self.0.forward(&below(route), form).await)
    }

    /// Deletes what a route below `/api/v2` names.
    pub(crate) async fn delete(&self, route: &str) -> Result<(), Refused> {
        accepted(self.0.delete(&below(route)).await).map(|_| ())
    }

    /// Asks a route that has no envelope, by its whole path.
    pub(crate) async fn bare<T: DeserializeOwned>(&self, path: &str) -> Result<T, Refused> {
        read(&accepted(self.0.get(path).await)?)
    }
}

/// The answer, or nothing where the token does not open it.
pub(crate) fn if_open<T: Default>(answer: Result<T, Refused>) -> Result<T, Refused> {
    match answer {
        Err(refused) if refused.is_closed() => Ok(T::default()),
        answer => answer,
    }
}

fn below(route: &str) -> String {
    format!("/api/v2{route}")
}

fn enveloped<T: DeserializeOwned>(reply: Result<ClientReply, AskError>) -> Result<T, Refused> {
    let envelope: Envelope<T> = read(&accepted(reply)?)?;
    Ok(envelope.data)
}

fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, Refused> {
    serde_json::from_slice(body)
        .map_err(|_| Refused::new(500, "the server's answer cannot be read: restart the server"))
}

fn accepted(reply: Result<ClientReply, AskError>) -> Result<Vec<u8>, Refused> {
    let reply = reply.map_err(|error| Refused::new(503, error.to_string()))?;
    if (200..300).contains(&reply.status) {
        return Ok(reply.body);
    }
    let words = match serde_json::from_slice::<ErrorEnvelope>(&reply.body) {
        Ok(envelope) => envelope.error.message,
        Err(_) => format!("the server answered with status {}", reply.status),
    };
    Err(Refused::new(reply.status, words))
}
