//! One memory: its text, its sources, its history; and every way to change it.
//!
//! Owns: the edit, and the form that undoes it. Never: deleting (see `forget`).

use askama::Template;
use axum::Form;
use axum::extract::{Path, Query};
use axum::http::HeaderValue;
use axum::response::Response;
use gateway::wire::history::{DiffData, HistoryData};
use gateway::wire::{
    EditData, EditRequest, GetData, GetRequest, MemoryType, SearchData, SearchRequest, SourcesData,
};
use serde::Deserialize;
use serde_json::json;

use crate::cards::{Before, CardMode, EPISODE, MemoryCard, MessageQuote, StaleCopy, cards};
use crate::frame::{PageFrame, Problem, html};
use crate::memories;
use crate::past::{self, PastChange};
use crate::visit::{CLOSED, IdPath, Visit, unless};
use crate::{background, words};
use gateway::ApiError;

/// Maximum number of changes of the user's files that are searched for changes of the memory.
const CHANGES_LOOKED_AT: usize = 200;
/// Maximum number of a memory's changes on the view.
const CHANGES_SHOWN: usize = 12;
/// Maximum number of facts that are compared with the old text.
const LOOKED_AT: i64 = 20;

/// Length of the summary of an edited episode, in characters.
const SUMMARY_CHARS: usize = 200;

/// A memory from the API.
struct ReadMemory {
    card: MemoryCard,
    /// The full text of an episode; the card has its summary.
    text: String,
}

#[derive(Template)]
#[template(path = "memory.html")]
struct MemoryView {
    frame: PageFrame,
    card: MemoryCard,
    text: String,
    quotes: Vec<MessageQuote>,
    facts: Vec<MemoryCard>,
    past: Vec<PastChange>,
    /// The person and the day of a correction.
    corrected: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct ModeQuery {
    edit: Option<String>,
}

pub(crate) async fn page(
    visit: Visit,
    Path(IdPath { id }): Path<IdPath>,
    Query(mode): Query<ModeQuery>,
) -> Result<Response, Problem> {
    let mut found = found(&visit, &id).await?;
    if mode.edit.is_some() {
        found.card.mode = CardMode::Edited;
        found.card.text.clone_from(&found.text);
    }
    if visit.wants_part {
        return Ok(html(&found.card.view()));
    }
    Ok(html(&view(&visit, found).await?))
}

/// The fields of the edit form.
#[derive(Deserialize)]
pub(crate) struct EditForm {
    text: String,
    title: Option<String>,
    /// Only the form of a fact has this field.
    reach: Option<String>,
    /// The form undoes an edit.
    undo: Option<String>,
}

pub(crate) async fn save(
    visit: Visit,
    Path(IdPath { id }): Path<IdPath>,
    Form(change): Form<EditForm>,
) -> Result<Response, Problem> {
    let before = found(&visit, &id).await?;
    // Browsers send the line ends of a form as CR LF.
    let text = change.text.replace("\r\n", "\n");
    let is_new = |new: &str, old: &str| new != old;
    let request = EditRequest {
        user_id: Some(visit.owner.user.clone()),
        id: id.clone(),
        subject: change.title.filter(|title| is_new(title, &before.card.title)),
        summary: (before.card.kind == EPISODE && is_new(&text, &before.text))
            .then(|| words::beginning(&text, SUMMARY_CHARS)),
        project_only: change
            .reach
            .map(|reach| reach == "project")
            .filter(|only| *only != before.card.project_only),
        episode: Some(text).filter(|text| is_new(text, &before.text)),
        ..EditRequest::default().within(&visit.owner.app, &visit.owner.project)
    };
    if !request.changed().is_empty() {
        visit.api.post_data::<EditData>("/memory/edit", &request).await?;
    }
    let mut after = found(&visit, &id).await?;
    if !request.changed().is_empty() {
        let stale_copy = if after.text == before.text {
            None
        } else {
            stale_copy(&visit, &before.card).await?
        };
        after.card.mode = CardMode::Saved(Before {
            stale_copy,
            title: before.card.title,
            text: before.text,
            project_only: before.card.project_only,
            is_undone: change.undo.is_some(),
        });
    }
    if visit.wants_part {
        let mut card = html(&after.card.view());
        // The view of a memory then reads its sources and history again.
        card.headers_mut()
            .insert("hx-trigger", HeaderValue::from_static("saved"));
        return Ok(card);
    }
    Ok(html(&view(&visit, after).await?))
}

async fn found(visit: &Visit, id: &str) -> Result<ReadMemory, ApiError> {
    let route = visit
        .owner
        .route(&format!("/memories/{}", words::encoded(id)), &[]);
    let data: GetData = visit.api.get_data(&route).await?;
    let card = cards(&data, &visit.owner).into_iter().next();
    let card =
        card.ok_or_else(|| ApiError::refused(404, format!("memory `{id}` has no text for the user")))?;
    let whole = data.episodes.first().map(|episode| episode.episode.clone());
    Ok(ReadMemory {
        text: whole.unwrap_or_else(|| card.text.clone()),
        card,
    })
}

async fn view(visit: &Visit, mut found: ReadMemory) -> Result<MemoryView, Problem> {
    let owner = &visit.owner;
    let id = found.card.id.clone();
    let sources = format!("/memories/{}/sources", words::encoded(&id));
    let sources: SourcesData = visit.api.get_data(&owner.route(&sources, &[])).await?;
    let facts = if found.card.kind == EPISODE {
        let request = GetRequest {
            filters: Some(json!({"parent_id": entry(&id, &owner.user)})),
            ..memories::request(owner, MemoryType::AtomicFact)
        };
        let data: GetData = visit.api.post_data("/memory/get", &request).await?;
        cards(&data, owner)
    } else {
        Vec::new()
    };
    let past = past(visit, &id, &found).await?;
    let corrected = past::corrected(&past, &found.text);
    if corrected.is_some() && found.card.is_fact {
        found.card.when = "First said";
    }
    let title = Some(&found.card.title).filter(|title| !title.is_empty());
    let title = words::beginning(title.unwrap_or(&found.text), 60);
    Ok(MemoryView {
        frame: PageFrame::new(visit, "/page/memories", title),
        text: found.text,
        quotes: sources
            .messages
            .into_iter()
            .map(|message| MessageQuote::of(message, owner))
            .collect(),
        facts,
        past,
        corrected,
        card: found.card,
    })
}

/// The changes of a memory, the newest first; empty if the token may not read the history.
async fn past(visit: &Visit, id: &str, found: &ReadMemory) -> Result<Vec<PastChange>, ApiError> {
    let mut reader = past::Reader {
        entry: entry(id, &visit.owner.user),
        // The API does not name the file of a profile.
        path: if found.card.is_statement() {
            past::PROFILE
        } else {
            &found.card.path
        },
        known: if found.card.is_statement() {
            past::KnownBy::Words(Some(found.text.clone()))
        } else {
            past::KnownBy::Mark
        },
        is_one_person: !visit.visitor.needs_token,
    };
    let route = visit.owner.route("/history", &[("limit", &CHANGES_LOOKED_AT)]);
    let data: HistoryData = unless(CLOSED, visit.api.get_data(&route).await)?;
    let mut past = Vec::new();
    let path = reader.path;
    let touching = data
        .changes
        .iter()
        .filter(|change| change.files.iter().any(|file| file.ends_with(path)));
    for change in touching.take(CHANGES_SHOWN) {
        let data: DiffData = unless(CLOSED, background::diff(visit, &change.id).await)?;
        past.extend(reader.read(&data.diff, change));
    }
    Ok(past)
}

/// An id as the files have it: without its owner.
fn entry<'a>(id: &'a str, user: &str) -> &'a str {
    id.strip_prefix(user)
        .and_then(|rest| rest.strip_prefix('_'))
        .unwrap_or(id)
}

/// Another memory that still has the old text of a changed memory.
async fn stale_copy(visit: &Visit, before: &MemoryCard) -> Result<Option<StaleCopy>, ApiError> {
    let owner = &visit.owner;
    let (others, place) = if before.is_fact {
        let request = memories::request(owner, MemoryType::Profile);
        let data: GetData = visit.api.post_data("/memory/get", &request).await?;
        let place = if owner.is_you() {
            "Your profile".to_owned()
        } else {
            format!("The profile of {}", owner.user)
        };
        (cards(&data, owner), place)
    } else if before.is_statement() {
        let request = SearchRequest {
            user_id: Some(owner.user.clone()),
            top_k: LOOKED_AT,
            ..SearchRequest::new(before.text.clone()).within(&owner.app, &owner.project)
        };
        let data: SearchData = visit.api.post_data("/memory/search", &request).await?;
        let facts = data.facts.iter().map(|fact| MemoryCard::fact(fact, owner));
        let holding = facts.filter(|fact| fact.superseded_by.is_none() && fact.ended.is_none());
        (holding.collect(), "A fact".to_owned())
    } else {
        return Ok(None);
    };
    let other = others.into_iter().find(|other| same(&other.text, &before.text));
    Ok(other.map(|other| StaleCopy {
        place,
        text: other.text,
        address: other.address,
    }))
}

/// Whether two texts are equal apart from spaces, capital letters and full stops.
fn same(one: &str, other: &str) -> bool {
    let words = |text: &str| -> Vec<String> {
        let words = text.split_whitespace();
        words
            .map(|word| word.trim_end_matches('.').to_lowercase())
            .collect()
    };
    words(one) == words(other)
}
