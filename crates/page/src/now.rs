//! Now: what memory holds, and conversations as they come, with what each turn was given and what the cache saved.
//!
//! Owns: the view, and sending it again when it changed. Never: measuring.

use std::convert::Infallible;
use std::time::Duration;

use askama::Template;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use wire::cache::{ConversationItem, RequestItem, reason_in_words};
use wire::{CacheData, HealthData, OverviewData};

use crate::around::{Around, Nav, Problem, html, written};
use crate::conversation;
use crate::guest::{Guest, if_open};
use crate::{health, memories, words};
use gateway::ApiError;

/// How often to look for something new.
const LOOK: Duration = Duration::from_secs(1);
/// Conversations in the view, and turns of each.
const TALKS_MAX: usize = 12;
const TURNS_MAX: usize = 6;

/// A turn of a conversation.
struct TurnRow {
    at: String,
    prompt: String,
    /// Tokens of memory in it; none of a turn that got none.
    given: Option<String>,
    /// Percent of the prompt that the server had in its cache.
    cached: Option<u64>,
    /// Why the cache missed, if it did.
    missed: Option<String>,
    took: String,
    is_failed: bool,
    status: u16,
}

/// A conversation through the proxy.
struct TalkCard {
    name: String,
    user: Option<String>,
    address: String,
    upstream: String,
    turns: Vec<TurnRow>,
}

/// The part that is sent again.
#[derive(Template)]
#[template(path = "now_live.html")]
struct TalksPart {
    talks: Vec<TalkCard>,
    saved: String,
    prompt: String,
    percent: u64,
    requests: u64,
    host: String,
}

#[derive(Template)]
#[template(path = "now.html")]
struct NowView {
    around: Around,
    overview: OverviewData,
    upcoming: usize,
    health: Option<HealthData>,
    /// No chat model makes memories.
    is_by_rules: bool,
    /// "your memory", or with a name.
    memory: String,
    host: String,
    live: TalksPart,
    is_new: bool,
}

impl NowView {
    /// Facts that hold.
    fn holding(&self) -> usize {
        self.overview.facts.saturating_sub(self.overview.superseded)
    }
}

pub(crate) async fn page(guest: Guest) -> Result<Response, Problem> {
    let overview = memories::overview(&guest).await?;
    let health = health::of(&guest).await?;
    let live = live_part(&guest).await?;
    let is_new = overview.months.is_empty() && live.talks.is_empty();
    Ok(html(&NowView {
        around: Around::new(&guest, Nav::Now, "Now"),
        overview,
        upcoming: memories::upcoming(&guest).await?,
        is_by_rules: health::is_by_rules(health.as_ref()),
        health,
        memory: guest.whose.memory(),
        host: guest.host.clone(),
        live,
        is_new,
    }))
}

/// The part again each time it changed, until the visitor leaves or the server stops.
pub(crate) async fn live(guest: Guest) -> Response {
    let events = futures::stream::unfold((guest, None::<String>), async |(guest, mut sent)| {
        loop {
            let part = live_part(&guest).await.ok().map(|part| written(&part));
            if let Some(part) = part.filter(|part| sent.as_ref() != Some(part)) {
                let is_first = sent.is_none();
                sent = Some(part.clone());
                // The view came with it.
                if !is_first {
                    let event = Event::default().data(part);
                    return Some((Ok::<_, Infallible>(event), (guest, sent)));
                }
            }
            if !guest.visitor.wait(LOOK).await {
                return None;
            }
        }
    });
    Sse::new(events).keep_alive(KeepAlive::default()).into_response()
}

async fn live_part(guest: &Guest) -> Result<TalksPart, ApiError> {
    let tenant = guest.whose.tenant();
    let cache: Option<CacheData> = if_open(guest.api.get_data(&format!("/cache?{tenant}")).await.map(Some))?;
    let cache = cache.unwrap_or(CacheData {
        upstreams: Vec::new(),
        conversations: Vec::new(),
    });
    let sum = |of: fn(&RequestItem) -> u64| -> u64 {
        let requests = cache.conversations.iter().flat_map(|talk| &talk.requests);
        requests.map(of).sum()
    };
    let (prompt, cached) = (
        sum(|request| request.prompt_tokens),
        sum(|request| request.cached_tokens.unwrap_or_default()),
    );
    let talks = cache.conversations.iter().take(TALKS_MAX);
    let mut talks: Vec<TalkCard> = talks.map(|talk| TalkCard::of(talk, guest)).collect();
    if talks.is_empty() {
        talks = conversation::names(guest)
            .await?
            .into_iter()
            .take(TALKS_MAX)
            .map(|name| TalkCard {
                address: conversation::address(&name, guest),
                name,
                user: None,
                upstream: String::new(),
                turns: Vec::new(),
            })
            .collect();
    }
    Ok(TalksPart {
        talks,
        saved: words::number(cached),
        prompt: words::number(prompt),
        percent: (cached * 100).checked_div(prompt).unwrap_or_default(),
        requests: cache
            .conversations
            .iter()
            .map(|talk| talk.requests.len() as u64)
            .sum(),
        host: guest.host.clone(),
    })
}

impl TalkCard {
    fn of(talk: &ConversationItem, guest: &Guest) -> Self {
        let (user, name) = match talk.conversation.split_once('/') {
            Some((user, name)) => (Some(user.to_owned()), name.to_owned()),
            None => (None, talk.conversation.clone()),
        };
        let mut whose = guest.whose.clone();
        if let Some(user) = &user {
            whose.user.clone_from(user);
        }
        Self {
            address: whose.link("conversation", &[("id", &name)]),
            user: user.filter(|user| *user != guest.whose.user),
            name,
            upstream: talk.upstream.clone(),
            turns: talk.requests.iter().take(TURNS_MAX).map(TurnRow::of).collect(),
        }
    }
}

impl TurnRow {
    fn of(request: &RequestItem) -> Self {
        let cached = request.cached_tokens;
        let class = request.class.as_deref().unwrap_or_default();
        let missed = match (class, request.reasons.first()) {
            ("extension" | "first" | "", None) => None,
            (_, Some(reason)) => Some(words::spaced(reason_in_words(reason))),
            (class, None) => Some(words::spaced(reason_in_words(class))),
        };
        Self {
            at: words::time(&request.at),
            prompt: words::number(request.prompt_tokens),
            given: (request.injected_tokens > 0).then(|| words::number(request.injected_tokens)),
            cached: cached.map(|cached| {
                let percent = (cached * 100).checked_div(request.prompt_tokens);
                percent.unwrap_or_default().min(100)
            }),
            missed,
            took: words::duration(request.total_ms),
            is_failed: request.status >= 400,
            status: request.status,
        }
    }
}
