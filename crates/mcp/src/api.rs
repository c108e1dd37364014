//! How the door asks the memory API.
//!
//! Owns: requests, and error messages for a model. Never: the behaviour of a route.

use gateway::{Client, ClientReply};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::door::Door;

/// The way to the API: a server, or a gateway in this process.
pub trait MemoryApi: Clone + Send + Sync + 'static {
    /// Sends one request.
    fn ask(&self, request: ApiRequest) -> impl Future<Output = Result<ClientReply, Unanswered>> + Send;
}

/// A request to the API.
#[derive(Debug, Clone)]
pub struct ApiRequest {
    pub path: String,
    /// JSON to post; without it, the request is a GET.
    pub json: Option<Vec<u8>>,
}

/// The API did not answer: the reason, and a remedy.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{0}")]
pub struct Unanswered(pub String);

impl ApiRequest {
    /// Sends the request through a client.
    pub async fn through(&self, client: &Client) -> Result<ClientReply, gateway::AskError> {
        match &self.json {
            Some(json) => client.post(&self.path, json.clone()).await,
            None => client.get(&self.path).await,
        }
    }
}

impl MemoryApi for Client {
    async fn ask(&self, request: ApiRequest) -> Result<ClientReply, Unanswered> {
        let reply = request.through(self).await;
        reply.map_err(|error| Unanswered(error.to_string()))
    }
}

/// Why a tool did nothing: a message for a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ToolRefusal {
    pub(crate) message: String,
    /// The HTTP status of the API's answer, if the API refused.
    pub(crate) status: Option<u16>,
}

impl ToolRefusal {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            status: None,
        }
    }
}

/// Fields of the API, and the arguments of tools that fill them.
const ARGUMENTS: [(&str, &str); 7] = [
    ("memory_id:", "id:"),
    ("top_k:", "limit:"),
    ("page_size:", "limit:"),
    ("filters.session_id", "session"),
    ("session_id:", "session:"),
    ("conversation_id:", "conversation:"),
    ("episode:", "text:"),
];

impl<A: MemoryApi> Door<A> {
    /// Posts a body to a route below `/api/v2`.
    pub(crate) async fn post<T: DeserializeOwned>(
        &self,
        route: &str,
        body: &impl Serialize,
    ) -> Result<T, ToolRefusal> {
        let json = serde_json::to_vec(body).expect("a request of this crate");
        self.ask(route, Some(json)).await
    }

    /// Gets a route below `/api/v2`.
    pub(crate) async fn get<T: DeserializeOwned>(&self, route: &str) -> Result<T, ToolRefusal> {
        self.ask(route, None).await
    }

    async fn ask<T: DeserializeOwned>(&self, route: &str, json: Option<Vec<u8>>) -> Result<T, ToolRefusal> {
        let path = format!("/api/v2{route}");
        let reply = self.api.ask(ApiRequest { path, json }).await;
        let reply = reply.map_err(|error| ToolRefusal::new(error.0))?;
        reply.data().map_err(|refused| ToolRefusal {
            message: in_arguments(refused.to_string()),
            status: Some(refused.status()),
        })
    }
}

/// Replaces the API's field at the beginning of an error by the tool's argument.
fn in_arguments(message: String) -> String {
    let renamed = ARGUMENTS
        .iter()
        .find_map(|(field, argument)| Some(format!("{argument}{}", message.strip_prefix(field)?)));
    renamed.unwrap_or(message)
}
