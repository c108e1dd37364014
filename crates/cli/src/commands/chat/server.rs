//! The running server of a chat.
//!
//! Owns: finding the server, and the hints when it does not answer or refuses. Never: the requests.

use std::net::SocketAddr;

use gateway::{Arriving, AskError, Client, ClientReply};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::api;
use crate::commands::Desk;
use crate::error::{Exit, Failure};
use crate::serving;
use crate::tokens;

/// How much of a refusal is read.
const REFUSAL_BYTES_MAX: usize = 64 << 10;

/// A server, whether it answers or not.
#[derive(Debug)]
pub(crate) struct Server(pub(crate) Client);

impl Server {
    /// The one at `url`; else the one that has the root; else whatever listens where one would.
    pub(crate) async fn find(desk: &Desk, url: Option<&str>) -> Result<Self, Failure> {
        let config = &desk.loaded.config;
        let listen = &config.server.listen;
        let address = match (url, serving::find(&desk.root)) {
            (Some(url), _) => at(url).await?,
            (None, Some(address)) => return Ok(Self(Client::there(address, serving::key(&desk.root)))),
            (None, None) => listen.parse().map_err(|_| {
                Failure::usage(format!("server.listen: `{listen}` is not an address"))
                    .hint("as in `127.0.0.1:4777`")
            })?,
        };
        let tokens = tokens::configured(config)?;
        // One for everything, if there is one.
        let token = tokens.into_iter().min_by_key(|token| token.scope.is_some());
        Ok(Self(Client::there(address, token.map(|token| token.secret))))
    }

    /// The data of a GET.
    pub(crate) async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, Failure> {
        data(self.0.get(path).await)
    }

    /// A POST that was accepted, its answer still to come.
    pub(crate) async fn stream(
        &self,
        path: &str,
        body: &Value,
        headers: &[(&str, &str)],
    ) -> Result<Arriving, Failure> {
        let asked = self.0.stream(path, body.to_string().into_bytes(), headers).await;
        let mut arriving = asked.map_err(unanswered)?;
        if (200..300).contains(&arriving.status) {
            return Ok(arriving);
        }
        let mut body = Vec::new();
        while body.len() < REFUSAL_BYTES_MAX
            && let Ok(Some(piece)) = arriving.next().await
        {
            body.extend_from_slice(piece.as_ref());
        }
        Err(refused(arriving.status, &body))
    }
}

async fn at(url: &str) -> Result<SocketAddr, Failure> {
    let wrong =
        || Failure::usage(format!("--url: `{url}` is no server")).hint("as in `http://127.0.0.1:4777`");
    let host = url
        .trim_end_matches('/')
        .strip_prefix("http://")
        .ok_or_else(wrong)?;
    let mut found = tokio::net::lookup_host(host).await.map_err(|_| wrong())?;
    found.next().ok_or_else(wrong)
}

fn data<T: DeserializeOwned>(reply: Result<ClientReply, AskError>) -> Result<T, Failure> {
    api::data(Ok(reply.map_err(unanswered)?))
}

/// The error if there is no answer, or only a part of one.
pub(super) fn unanswered(error: AskError) -> Failure {
    let hint = match &error {
        AskError::Unreachable { .. } => "start one with `quipu serve --upstream URL`",
        AskError::HungUp { .. } | AskError::BrokenOff(_) => {
            "send the message again; the server's log has the reason"
        }
    };
    Failure::from(error).hint(hint)
}

/// A refusal in the words of the server, or of the model's server behind it.
fn refused(status: u16, body: &[u8]) -> Failure {
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    let hint = match status {
        401 | 403 => "server.tokens must contain a token that the running server accepts",
        404 => "start the server with `quipu serve --upstream URL`, or name one of its models with --model",
        400..500 => "change the message, or start a new conversation with /new",
        _ => "the model server may be starting or down: send the message again",
    };
    let message = message_of(&body["error"]).unwrap_or("no reason given");
    Failure {
        exit: if status == 404 {
            Exit::NotFound
        } else {
            Exit::Failed
        },
        error: anyhow::anyhow!("the server answered with status {status}: {message}"),
        hint: Some(hint.to_owned()),
    }
}

/// Message of an `error` in any dialect.
pub(super) fn message_of(error: &Value) -> Option<&str> {
    error["message"].as_str().or(error.as_str())
}
