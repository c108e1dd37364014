//! `memory/export` and `memory/import`: all memory of one user as lines of JSON.
//!
//! Owns: converting lines to values and back. Never: choosing the memory of a user (the engine does).

use axum::extract::Request;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use memory::OwnedMemory;
use model::{Owner, Page, Scope};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::body::{UrlQuery, arrive, parsed};
use crate::failure::Failure;
use crate::frame::{Answer, Visit};
use crate::wire::portable::{ExportHead, ExportLine, ExportQuery, ImportedData, MessageLine};
use crate::wire::{ErrorCode, Invalid};

pub(crate) const JSON_LINES: &str = "application/jsonl";

pub(crate) async fn export_memory(visit: Visit, UrlQuery(query): UrlQuery<ExportQuery>) -> Answer {
    let (scope, owner) = query.parts(&visit.caller.home)?;
    visit.caller.enter_memory(&scope, &owner)?;
    let mut memory = visit.gateway.engine.export(&scope, &owner).await?;
    if visit.caller.only_user().is_some() {
        // The digests belong to the whole project.
        memory.carried.forgotten.clear();
    }
    if let Some(path) = memory.broken.first() {
        let files = memory.broken.len();
        return Err(Failure::new(
            ErrorCode::Conflict,
            format!(
                "{files} files cannot be read whole, the first is `{path}`: repair them, so that nothing is left out"
            ),
        ));
    }
    let mut text = line(&ExportHead::new(&scope, &owner))?;
    for each in ExportLine::all(memory, &scope) {
        text.push_str(&line(&each)?);
    }
    Ok(([(CONTENT_TYPE, JSON_LINES)], text).into_response())
}

fn line(value: &impl Serialize) -> Result<String, Failure> {
    let json = serde_json::to_string(value).map_err(|error| Failure::internal(error.to_string()))?;
    Ok(json + "\n")
}

pub(crate) async fn import_memory(visit: Visit, request: Request) -> Answer {
    let (body, hold) = arrive(request, &visit.gateway).await?;
    let (_, head) = numbered(&body)
        .next()
        .ok_or_else(|| Invalid::request("the body has no lines"))?;
    let (scope, owner) = line_of::<ExportHead>(1, head)?.parts(&visit.caller.home)?;
    visit.caller.enter_memory(&scope, &owner)?;
    let whose = (scope.clone(), owner.clone());
    let memory = parsed(body, move |body| Ok(memory_of(body, &whose.0, &whose.1)?)).await?;
    let engine = visit.gateway.engine.clone();
    let write = async move {
        let _hold = hold;
        Ok(engine.import(&scope, &owner, memory).await?)
    };
    let taken = visit.gateway.see_through(write).await?;
    Ok(visit.answer(ImportedData::of(&taken)))
}

/// The non-empty lines of a body, each with its number.
fn numbered(body: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let lines = (1..).zip(body.split(|byte| *byte == b'\n'));
    lines.filter(|(_, line)| !line.is_empty())
}

/// The memory in the lines after the first.
fn memory_of(body: &[u8], scope: &Scope, owner: &Owner) -> Result<OwnedMemory, Invalid> {
    let mut memory = OwnedMemory::default();
    for (at, line) in numbered(body).skip(1) {
        match line_of(at, line)? {
            ExportLine::Memory(line) => {
                let ids = line.messages.iter().filter_map(MessageLine::ids);
                memory.carried.client_ids.extend(ids);
                memory.entries.push(line.entry(scope, owner)?);
            }
            ExportLine::Page { name, text } => {
                let page = Page::parse(&name);
                let page = page
                    .ok_or_else(|| Invalid::at(format!("line {at}"), format!("there is no page `{name}`")))?;
                memory.pages.push((page, text));
            }
            ExportLine::Made { ids } => memory.made.extend(ids),
            ExportLine::Message(line) => {
                memory.carried.client_ids.extend(line.ids());
                memory.messages.push(line.into_message(scope)?);
            }
            ExportLine::Forgotten { digests } if digests.iter().all(|digest| is_digest(digest)) => {
                memory.carried.forgotten.extend(digests);
            }
            ExportLine::Forgotten { .. } => {
                return Err(Invalid::at(format!("line {at}"), "a digest has 64 hex digits"));
            }
        }
    }
    Ok(memory)
}

fn is_digest(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn line_of<T: DeserializeOwned>(at: usize, line: &[u8]) -> Result<T, Invalid> {
    serde_json::from_slice(line).map_err(|error| Invalid::at(format!("line {at}"), error))
}
