//! A conversation: the window as a picture, the view, the compactions, the injected memory, and every original
//! message.
//!
//! Owns: the page of a conversation, and its pins. Never: choosing the messages that a model sees.

use std::collections::BTreeSet;

use askama::Template;
use axum::Form;
use axum::extract::Query;
use axum::response::{IntoResponse, Redirect, Response};
use gateway::wire::cache::reason_in_words;
use gateway::wire::conversation::{
    ArchiveItem, ArchivesData, ContextStatsData, ConversationsData, DoneData, GivenData, GivenItem,
    OriginalItem, OriginalsData, ViewData, ViewItem,
};
use gateway::wire::{EpisodeItem, GetData, GetRequest, MemoryType};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::background::Paged;
use crate::draw::{self, DrawnWindow};
use crate::frame::{PageFrame, Problem, html};
use crate::visit::{LACKING, Visit, unless};
use crate::{cards, memories, words};
use gateway::ApiError;

/// Maximum number of the proxy's conversations in the list.
const LISTED_MAX: usize = 200;
/// Maximum number of conversations without memory whose first message is read for a title.
const READ_MAX: usize = 30;
/// Episodes on a page of the list.
const PAGE_SIZE: usize = 100;

#[derive(Template)]
#[template(path = "conversations.html")]
struct ListView {
    frame: PageFrame,
    talks: Vec<TalkRow>,
    next: Option<String>,
    host: String,
}

/// A conversation in the list.
struct TalkRow {
    title: String,
    address: String,
    /// The date of the newest memory; empty without memory.
    date: String,
    /// The other speakers.
    with: String,
    /// The conversation has a window that a view can draw.
    is_live: bool,
}

/// The names of a user's conversations; empty if the server records none.
pub(crate) async fn names(visit: &Visit) -> Result<Vec<String>, ApiError> {
    let route = visit
        .owner
        .route("/context/conversations", &[("limit", &LISTED_MAX)]);
    let data: ConversationsData = unless(LACKING, visit.api.get_data(&route).await)?;
    Ok(data.conversations)
}

pub(crate) fn address(name: &str, visit: &Visit) -> String {
    visit.owner.link("conversation", &[("id", &name)])
}

/// All conversations, from the proxy, an import or the API: first those without memory, then those with memory.
pub(crate) async fn list(visit: Visit, Query(paged): Query<Paged>) -> Result<Response, Problem> {
    let page = paged.page.unwrap_or(1);
    let names = names(&visit).await?;
    let stored = episodes(&visit, page, None).await?;
    let mut told = stored.episodes;
    let mut talks = Vec::new();
    if page == 1 && !names.is_empty() {
        let filter = json!({"session_id": {"in": names}});
        let live = episodes(&visit, 1, Some(filter)).await?.episodes;
        let has_memory = |name: &&String| live.iter().any(|one| one.session_id.as_ref() == Some(*name));
        for name in names.iter().filter(|name| !has_memory(name)) {
            talks.push(TalkRow::without_memory(name, &visit, talks.len() < READ_MAX).await?);
        }
        told.extend(live);
        told.sort_by(|a, b| b.timestamp.cmp(&a.timestamp));
    }
    let mut seen = BTreeSet::new();
    for episode in told {
        let session = episode.session_id.as_ref().unwrap_or(&episode.id);
        if seen.insert(session.clone()) {
            talks.push(TalkRow::of(&episode, names.contains(session), &visit));
        }
    }
    let next = (page * PAGE_SIZE < stored.total_count)
        .then(|| visit.owner.link("conversations", &[("page", &(page + 1))]));
    Ok(html(&ListView {
        frame: PageFrame::new(&visit, "/page/conversations", "Conversations"),
        talks,
        next,
        host: visit.host.clone(),
    }))
}

/// A page of a user's episodes, the newest first.
async fn episodes(visit: &Visit, page: usize, filters: Option<Value>) -> Result<GetData, ApiError> {
    let request = GetRequest {
        page: i64::try_from(page).unwrap_or(i64::MAX),
        filters,
        ..memories::request(&visit.owner, MemoryType::Episode)
    };
    visit.api.post_data("/memory/get", &request).await
}

impl TalkRow {
    fn of(episode: &EpisodeItem, is_live: bool, visit: &Visit) -> Self {
        let session = episode.session_id.as_deref().unwrap_or_default();
        let others = episode.sender_ids.iter().filter(|id| **id != visit.owner.user);
        Self {
            title: episode.subject.clone(),
            address: if is_live {
                address(session, visit)
            } else {
                cards::address(&episode.id, &visit.owner)
            },
            date: words::date(&episode.timestamp),
            with: others.cloned().collect::<Vec<_>>().join(", "),
            is_live,
        }
    }

    /// The title is the user's first message, or the name if `is_read` is false.
    async fn without_memory(name: &str, visit: &Visit, is_read: bool) -> Result<Self, ApiError> {
        let mut first = None;
        if is_read {
            let route = visit.owner.route("/context/view", &[("conversation_id", &name)]);
            let view: ViewData = visit.api.get_data(&route).await?;
            first = view.messages.into_iter().find(|message| message.role == "user");
        }
        Ok(Self {
            title: first.map_or_else(
                || name.to_owned(),
                |first| words::beginning(first.text.lines().next().unwrap_or(name), 80),
            ),
            address: address(name, visit),
            date: String::new(),
            with: String::new(),
            is_live: true,
        })
    }
}

#[derive(Template)]
#[template(path = "conversation.html")]
struct ConversationView {
    frame: PageFrame,
    id: String,
    stats: ContextStatsData,
    reasons: Vec<String>,
    /// The limit and the window, if a request named them.
    bounds: String,
    window: DrawnWindow,
    messages: Vec<ViewItem>,
    archives: Vec<ArchiveItem>,
    injected: GivenData,
}

impl ConversationView {
    /// The memory that was injected into a message.
    fn injected(&self, message: &ViewItem) -> Option<&GivenItem> {
        self.injected.turns.iter().find(|turn| turn.id == message.id)
    }

    /// The person's own text: the injected memory has a place of its own below.
    fn own_words(&self, message: &ViewItem) -> String {
        match self.injected(message) {
            Some(injected) => message.text.replace(&injected.text, "").trim().to_owned(),
            None => message.text.clone(),
        }
    }

    fn original(&self, message: &ViewItem) -> String {
        let (id, item) = (words::encoded(&self.id), words::encoded(&message.id));
        format!(
            "/page/conversation/original?{}&id={id}&item={item}",
            self.frame.query
        )
    }

    /// The summary of older messages, if the message is one.
    fn archive(&self, message: &ViewItem) -> Option<&ArchiveItem> {
        self.archives.iter().find(|archive| archive.id == message.id)
    }
}

#[derive(Deserialize)]
pub(crate) struct TalkQuery {
    id: String,
}

pub(crate) async fn page(
    visit: Visit,
    Query(TalkQuery { id }): Query<TalkQuery>,
) -> Result<Response, Problem> {
    let route = |route| visit.owner.route(route, &[("conversation_id", &id)]);
    let stats: ContextStatsData = visit.api.get_data(&route("/context/stats")).await?;
    let view: ViewData = visit.api.get_data(&route("/context/view")).await?;
    let archives: ArchivesData = visit.api.get_data(&route("/context/archives")).await?;
    let injected: GivenData = visit.api.get_data(&route("/context/given")).await?;
    let bound =
        |tokens: Option<usize>, what: &str| tokens.map(|tokens| format!("{what} {}", words::number(tokens)));
    let bounds = [
        bound(stats.limit_tokens, "limit"),
        bound(stats.window_tokens, "window"),
    ];
    Ok(html(&ConversationView {
        bounds: bounds.into_iter().flatten().collect::<Vec<_>>().join(", "),
        frame: PageFrame::new(&visit, "/page/conversations", id.clone()),
        reasons: stats
            .reasons
            .iter()
            .map(|reason| words::spaced(reason_in_words(reason)))
            .collect(),
        id,
        window: draw::window(&stats, &view.messages),
        messages: view.messages,
        archives: archives.archives,
        injected,
        stats,
    }))
}

#[derive(Deserialize)]
pub(crate) struct OriginalOf {
    id: String,
    item: String,
}

#[derive(Template)]
#[template(path = "original_page.html")]
struct OriginalView {
    frame: PageFrame,
    back: String,
    originals: Vec<OriginalItem>,
}

impl OriginalView {
    fn original_text(original: &OriginalItem) -> String {
        message_text(&original.message)
    }
}

pub(crate) async fn original(visit: Visit, Query(of): Query<OriginalOf>) -> Result<Response, Problem> {
    let route = visit.owner.route(
        "/context/recover",
        &[("conversation_id", &of.id), ("id", &of.item)],
    );
    let data: OriginalsData = visit.api.get_data(&route).await?;
    Ok(html(&OriginalView {
        frame: PageFrame::new(&visit, "/page/conversations", format!("Originals of {}", of.item)),
        back: address(&of.id, &visit),
        originals: data.messages,
    }))
}

/// The text of a message in any dialect; the whole JSON of a message without text.
fn message_text(message: &Value) -> String {
    let content = &message["content"];
    let parts = content.as_array().into_iter().flatten();
    let texts: Vec<&str> = parts.filter_map(|part| part["text"].as_str()).collect();
    match content.as_str() {
        Some(text) if !text.is_empty() => text.to_owned(),
        _ if !texts.is_empty() => texts.join("\n"),
        _ => serde_json::to_string_pretty(message).unwrap_or_default(),
    }
}

#[derive(Deserialize)]
pub(crate) struct PinForm {
    id: String,
    item: String,
    pinned: String,
}

pub(crate) async fn pin(visit: Visit, Form(pin): Form<PinForm>) -> Result<Response, Problem> {
    let request = json!({
        "user_id": visit.owner.user, "app_id": visit.owner.app, "project_id": visit.owner.project,
        "conversation_id": pin.id, "id": pin.item, "pinned": pin.pinned == "true",
    });
    visit.api.post_data::<DoneData>("/context/pin", &request).await?;
    Ok(Redirect::to(&format!("{}#{}", address(&pin.id, &visit), pin.item)).into_response())
}
