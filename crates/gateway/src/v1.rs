//! The model servers' routes, for clients that change only their base URL.
//!
//! Owns: headers in both directions, the switches of a request, unpacking a conversation's body. Never: the meaning
//! of a body (`proxy`), a byte of any other body or of an answer.

use axum::Json;
use axum::body::Body;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::http::header::{
    CONTENT_ENCODING, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER, SET_COOKIE, UPGRADE,
};
use axum::response::{IntoResponse, Response};
use model::SessionId;
use proxy::{MemoryUse, ProxyAnswer, Refusal, Speech};

use crate::asker::{Asker, asker, invalid, lossy, name_in, text};
use crate::body::arrive;
use crate::budget::Hold;
use crate::dialect::{Dialect, model_error};
use crate::failure::Failure;
use crate::frame::{Answer, Visit};
use crate::guard::{Caller, OURS};
use crate::mem0;
use crate::settings::TokenRole;
use crate::unpack::unpacked;
use crate::wire::{ErrorCode, Invalid};

/// Headers that concern only one connection, or would make an answer unreadable.
const NOT_SENT_ON: [&str; 12] = [
    "host",
    "connection",
    "keep-alive",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "content-length",
    "accept-encoding",
    "x-request-id",
];
/// A longer body, in bytes, is more text than any model reads: it keeps its room while the model server works.
const LONG_BYTES: usize = 2 << 20;
/// Headers in which clients name their session: conversations of one session belong together.
const SESSIONS: [&str; 4] = [
    "x-claude-code-session-id",
    "x-openwebui-chat-id",
    "x-session-id",
    "session-id",
];

/// `chat/completions`.
pub(crate) async fn chat(visit: Visit, request: Request) -> Answer {
    ask(&visit, request, Some(Speech::Chat)).await
}

/// `messages`.
pub(crate) async fn messages(visit: Visit, request: Request) -> Answer {
    ask(&visit, request, Some(Speech::Messages)).await
}

/// `responses`.
pub(crate) async fn responses(visit: Visit, request: Request) -> Answer {
    ask(&visit, request, Some(Speech::Responses)).await
}

/// All other requests: forwarded unchanged.
pub(crate) async fn other(visit: Visit, request: Request) -> Answer {
    let path = request.uri().path();
    if request.headers().contains_key(UPGRADE) {
        return Ok(no_upgrade(path));
    }
    // mem0's clients end every path with a slash; clients of models end none with it.
    if path.ends_with('/') && Dialect::of(path) == Dialect::Mem0 {
        return Err(mem0::not_here(request).await);
    }
    if leaves(path) {
        return Err(Failure::not_found("route", path));
    }
    ask(&visit, request, None).await
}

async fn ask(visit: &Visit, request: Request, speech: Option<Speech>) -> Answer {
    let Some(proxy) = &visit.gateway.proxy else {
        return Err(Failure::new(
            ErrorCode::ProviderNotConfigured,
            "no model server is configured: start with `quipu serve --upstream URL`",
        ));
    };
    let path = request.uri().path().to_owned();
    let is_talk = speech.is_some();
    // A long body, with many images, keeps its room until the model server answers.
    let (request, _hold) = read(visit, request, is_talk).await?;
    let answer = match speech {
        Some(speech) => proxy.converse(request, speech).await,
        None => proxy.forward(request).await,
    };
    Ok(match answer {
        Ok(answer) => streamed(answer),
        Err(refusal) => refused(&refusal, &path),
    })
}

/// Whether a path contains `.` or `..`, which could leave the server's `/v1`.
fn leaves(path: &str) -> bool {
    let mut path = path.to_ascii_lowercase();
    for (written, meant) in [("%2e", "."), ("%2f", "/"), ("%5c", "/"), ("\\", "/")] {
        path = path.replace(written, meant);
    }
    path.split('/').any(|step| matches!(step, "." | ".."))
}

/// Refuses a WebSocket at once: the client then uses HTTP.
fn no_upgrade(path: &str) -> Response {
    let message = "WebSocket is not supported: use HTTP, with `stream` for events";
    let status = StatusCode::UPGRADE_REQUIRED;
    let error = model_error(path, status.as_u16(), "upgrade_required", message);
    let mut response = (status, Json(error)).into_response();
    response
        .headers_mut()
        .insert(UPGRADE, HeaderValue::from_static("HTTP/1.1"));
    response
}

async fn read(
    visit: &Visit,
    request: Request,
    is_talk: bool,
) -> Result<(proxy::Request, Option<Hold>), Failure> {
    let (mut headers, method) = (request.headers().clone(), request.method().to_string());
    let path = request.uri().path_and_query().map_or("", |path| path.as_str());
    let path = path.strip_prefix("/v1/").unwrap_or(path).to_owned();
    let Asker { scope, user } = asker(visit, &headers)?;
    let (mut body, mut hold) = arrive(request, &visit.gateway).await?;
    if is_talk {
        body = unpacked(&headers, body, visit.gateway.settings.body_bytes_max).await?;
        headers.remove(CONTENT_ENCODING);
    }
    hold.shrink(body.len());
    let hold = (body.len() > LONG_BYTES).then_some(hold);
    let request = proxy::Request {
        path,
        method,
        owner: user,
        agent: name_in(&headers, "x-quipu-agent")?,
        conversation: text(&headers, "x-quipu-conversation")?
            .map(SessionId::parse)
            .transpose()
            .map_err(|error| invalid("x-quipu-conversation", &error))?,
        family: SESSIONS.iter().find_map(|name| lossy(&headers, name)),
        memory: match memory(&headers)? {
            // Memory stores a model's answers with the conversation; a caller who may only read must not add to it.
            _ if !visit.caller.may(TokenRole::Write) => MemoryUse::Incognito,
            chosen => chosen,
        },
        with_person: visit.caller.sees_person(),
        is_guarded: visit.caller.has_token(),
        headers: sent_on(&headers, &visit.caller),
        body,
        scope,
    };
    Ok((request, hold))
}

fn memory(headers: &HeaderMap) -> Result<MemoryUse, Failure> {
    if text(headers, "x-quipu-incognito")?.is_some_and(|value| !matches!(value, "0" | "false")) {
        return Ok(MemoryUse::Incognito);
    }
    match text(headers, "x-quipu-memory")? {
        None | Some("on") => Ok(MemoryUse::On),
        Some("read-only") => Ok(MemoryUse::ReadOnly),
        Some("off") => Ok(MemoryUse::Off),
        Some(_) => Err(Invalid::request("x-quipu-memory: write `on`, `read-only` or `off`").into()),
    }
}

/// The client's headers for the model server, without ours and without the one that contains our token.
fn sent_on(headers: &HeaderMap, caller: &Caller) -> Vec<(String, String)> {
    let goes = |name: &str| {
        let is_ours = name.starts_with(OURS) || caller.keeps(name);
        !is_ours && !NOT_SENT_ON.contains(&name)
    };
    let pair = |(name, value): (&HeaderName, &HeaderValue)| {
        Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()))
    };
    headers
        .iter()
        .filter(|(name, _)| goes(name.as_str()))
        .filter_map(pair)
        .collect()
}

/// The answer while it arrives, with headers that describe the injected memory.
fn streamed(answer: ProxyAnswer) -> Response {
    let mut response = Response::new(Body::from_stream(answer.body));
    *response.status_mut() = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::BAD_GATEWAY);
    let injected = answer.injected.map(|injected| {
        let (fragment, tokens, memories) = (injected.fragment, injected.tokens, injected.memories.len());
        format!("{fragment}; memories={memories}; tokens={tokens}")
    });
    let ours = [
        ("x-quipu-conversation", answer.conversation),
        ("x-quipu-injected", injected),
        ("x-quipu-context-warning", answer.warning),
    ];
    let ours = ours
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)));
    // A browser would store a cookie of the model server as a cookie of this server.
    let theirs = answer
        .headers
        .into_iter()
        .filter(|(name, _)| *name != SET_COOKIE.as_str());
    for (name, value) in theirs.chain(ours) {
        let pair = (HeaderName::try_from(name), HeaderValue::try_from(value));
        if let (Ok(name), Ok(value)) = pair {
            response.headers_mut().append(name, value);
        }
    }
    response
}

/// A refusal in the error format of the client's dialect.
fn refused(refusal: &Refusal, path: &str) -> Response {
    let error = model_error(path, refusal.status, refusal.code, &refusal.message);
    let status = StatusCode::from_u16(refusal.status).unwrap_or(StatusCode::BAD_GATEWAY);
    let mut response = (status, Json(error)).into_response();
    if let Some(seconds) = refusal.retry_after_seconds {
        let headers = response.headers_mut();
        headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unreadable_switch_is_refused() {
        let mut headers = HeaderMap::new();
        assert_eq!(memory(&headers).unwrap(), MemoryUse::On);
        headers.insert("x-quipu-incognito", HeaderValue::from_static("1"));
        assert_eq!(memory(&headers).unwrap(), MemoryUse::Incognito);
        headers.insert("x-quipu-incognito", HeaderValue::from_bytes(b"\xff").unwrap());
        assert!(memory(&headers).is_err());
    }
}
