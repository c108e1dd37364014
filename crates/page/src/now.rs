//! Now: counts of memories, and current activity: conversations as they arrive, with the injected memory and the
//! cache savings of each turn; background runs; health and settings.
//!
//! Owns: the view, and sending it again after a change. Never: measuring.

use std::convert::Infallible;
use std::time::Duration;

use askama::Template;
use axum::extract::Query;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use gateway::ApiError;
use gateway::wire::cache::{ConversationItem, RequestItem, reason_in_words};
use gateway::wire::{CacheData, HealthData, OverviewData};

use crate::background::{Paged, RunsPart};
use crate::frame::{PageFrame, Problem, html, written};
use crate::visit::{CLOSED, Visit, unless};
use crate::{background, conversation, health, memories, words};

/// Interval of checks for news.
const LOOK: Duration = Duration::from_secs(1);
/// Maximum number of conversations in the view, and of turns of each.
const TALKS_MAX: usize = 12;
const TURNS_MAX: usize = 6;

/// A conversation through the proxy.
struct TalkCard {
    name: String,
    user: Option<String>,
    address: String,
    upstream: String,
    turns: Vec<RequestItem>,
}

/// The part that the server sends again.
#[derive(Template)]
#[template(path = "now_live.html")]
struct TalksPart {
    talks: Vec<TalkCard>,
    /// Tokens of all prompts, and the tokens that the model servers had in their cache.
    prompt: u64,
    cached: u64,
    host: String,
}

impl TalksPart {
    fn percent(&self) -> u64 {
        words::percent(self.cached, self.prompt)
    }

    /// The percentage of the prompt that the server had in its cache.
    fn cached_percent(turn: &RequestItem) -> Option<u64> {
        turn.cached_tokens
            .map(|cached| words::percent(cached, turn.prompt_tokens))
    }

    /// The reason of a cache miss.
    fn missed(turn: &RequestItem) -> Option<String> {
        let class = turn.class.as_deref().unwrap_or_default();
        let reason = turn.reasons.first().map(String::as_str);
        let reason = match class {
            "extension" | "first" | "" => reason?,
            class => reason.unwrap_or(class),
        };
        Some(words::spaced(reason_in_words(reason)))
    }

    fn took(turn: &RequestItem) -> String {
        words::duration(turn.total_ms)
    }
}

#[derive(Template)]
#[template(path = "now.html")]
pub(crate) struct NowView {
    frame: PageFrame,
    overview: OverviewData,
    upcoming: usize,
    health: Option<HealthData>,
    /// Rules make the memories: there is no chat model.
    is_by_rules: bool,
    /// The memory in a sentence: "your memory", or with a name.
    memory: String,
    user: String,
    host: String,
    live: TalksPart,
    /// None if the token may not read background runs.
    background: Option<RunsPart>,
    is_new: bool,
}

pub(crate) async fn page(visit: Visit, Query(paged): Query<Paged>) -> Result<Response, Problem> {
    Ok(html(&view(visit, paged.page.unwrap_or(1), None).await?))
}

/// The whole view, with this page of background runs.
pub(crate) async fn view(visit: Visit, page: usize, notice: Option<String>) -> Result<NowView, ApiError> {
    let overview = memories::overview(&visit).await?;
    let health = health::of(&visit).await?;
    let live = live_part(&visit).await?;
    Ok(NowView {
        frame: PageFrame::new(&visit, "/", "Now").with_notice(notice),
        background: unless(CLOSED, background::part(&visit, page).await.map(Some))?,
        is_new: overview.months.is_empty() && live.talks.is_empty(),
        overview,
        upcoming: memories::upcoming(&visit).await?,
        is_by_rules: health::is_by_rules(health.as_ref()),
        health,
        memory: visit.owner.memory(),
        user: visit.owner.user,
        host: visit.host,
        live,
    })
}

/// Sends the part again after each change, until the visitor leaves or the server stops. The view contains the first
/// version.
pub(crate) async fn live(visit: Visit) -> Response {
    let sent = live_part(&visit)
        .await
        .map_or_else(|_| String::new(), |part| written(&part));
    let events = futures::stream::unfold((visit, sent), async |(visit, sent)| {
        loop {
            if !visit.visitor.wait(LOOK).await {
                return None;
            }
            let part = live_part(&visit).await.ok().map(|part| written(&part));
            if let Some(part) = part.filter(|part| *part != sent) {
                let event = Event::default().data(&part);
                return Some((Ok::<_, Infallible>(event), (visit, part)));
            }
        }
    });
    Sse::new(events).keep_alive(KeepAlive::default()).into_response()
}

async fn live_part(visit: &Visit) -> Result<TalksPart, ApiError> {
    let route = format!("/cache?{}", visit.owner.tenant());
    let cache: CacheData = unless(CLOSED, visit.api.get_data(&route).await)?;
    let talks = cache.conversations;
    let requests = || talks.iter().flat_map(|talk| &talk.requests);
    let prompt = requests().map(|one| one.prompt_tokens).sum();
    let cached = requests().filter_map(|one| one.cached_tokens).sum();
    let mut talks: Vec<TalkCard> = talks
        .into_iter()
        .take(TALKS_MAX)
        .map(|talk| TalkCard::of(talk, visit))
        .collect();
    if talks.is_empty() {
        let names = conversation::names(visit).await?.into_iter().take(TALKS_MAX);
        talks.extend(names.map(|name| TalkCard {
            address: conversation::address(&name, visit),
            name,
            user: None,
            upstream: String::new(),
            turns: Vec::new(),
        }));
    }
    Ok(TalksPart {
        talks,
        prompt,
        cached,
        host: visit.host.clone(),
    })
}

impl TalkCard {
    fn of(talk: ConversationItem, visit: &Visit) -> Self {
        let (user, name) = match talk.conversation.split_once('/') {
            Some((user, name)) => (Some(user.to_owned()), name.to_owned()),
            None => (None, talk.conversation),
        };
        let mut owner = visit.owner.clone();
        if let Some(user) = &user {
            owner.user.clone_from(user);
        }
        let mut turns = talk.requests;
        turns.truncate(TURNS_MAX);
        Self {
            address: owner.link("conversation", &[("id", &name)]),
            user: user.filter(|user| *user != visit.owner.user),
            name,
            upstream: talk.upstream,
            turns,
        }
    }
}
