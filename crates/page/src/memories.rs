//! Memories: lists by kind, the time line, and the memories of a past date; `search` has the search.
//!
//! Owns: the query of the view, and its lists. Never: ranking.

use std::fmt::Display;

use askama::Template;
use axum::extract::Query;
use axum::response::Response;
use gateway::wire::search::When;
use gateway::wire::survey::MonthItem;
use gateway::wire::{GetData, GetRequest, MemoryStanding, MemoryType, OverviewData, OverviewRequest};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::cards::{EPISODE, EVENT, MemoryCard, MessageQuote};
use crate::frame::{PageFrame, Problem, html};
use crate::visit::{MemoryOwner, Visit};
use crate::{draw, health, search, words};
use gateway::ApiError;

/// Memories on a page of a list.
const PAGE_SIZE: i64 = 12;

/// The query of the view; an empty field filters nothing.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ListQuery {
    q: String,
    /// `fact`, `episode`, `event` or `profile`; empty: any kind.
    kind: String,
    /// `superseded` or `all`; empty: current memories.
    standing: String,
    /// A date: memories as known at the end of that day.
    as_of: String,
    /// `2026-03`
    month: String,
    page: Option<i64>,
}

#[derive(Default, Template)]
#[template(path = "results.html")]
pub(crate) struct ResultsPart {
    pub(crate) cards: Vec<MemoryCard>,
    pub(crate) quotes: Vec<MessageQuote>,
    /// Hits below the fold, which may not answer the question, and their number in words.
    pub(crate) less: Vec<MemoryCard>,
    pub(crate) less_quotes: Vec<MessageQuote>,
    pub(crate) less_summary: String,
    /// One line above the results; none on the second and later pages of a list.
    pub(crate) summary: Option<String>,
    pub(crate) warnings: Vec<String>,
    pub(crate) next: Option<String>,
    pub(crate) is_search: bool,
    /// Address of the preview that deletes everything with the words of the search.
    pub(crate) forget: Option<String>,
    /// The user has no memory at all.
    pub(crate) is_new: bool,
    pub(crate) host: String,
    pub(crate) query: String,
}

impl ResultsPart {
    pub(crate) fn empty(visit: &Visit) -> Self {
        Self {
            host: visit.host.clone(),
            query: visit.owner.query(),
            ..Self::default()
        }
    }
}

#[derive(Template)]
#[template(path = "memories.html")]
struct MemoriesView {
    frame: PageFrame,
    wanted: ListQuery,
    overview: OverviewData,
    upcoming: usize,
    /// The months of the time line.
    months: Vec<MonthItem>,
    results: ResultsPart,
    /// Rules make the memories: there is no chat model.
    is_by_rules: bool,
    /// The person to forget, in a sentence: "you", or a name.
    person: String,
    /// An example of a question.
    example: String,
}

impl MemoriesView {
    /// The months, for the slider.
    fn dates(&self) -> String {
        let months: Vec<&str> = self.overview.months.iter().map(|month| &*month.month).collect();
        months.join(" ")
    }
}

pub(crate) async fn page(visit: Visit, Query(wanted): Query<ListQuery>) -> Result<Response, Problem> {
    let mut results = if wanted.question().is_empty() {
        list(&visit, &wanted).await?
    } else {
        search::results(&visit, &wanted).await?
    };
    if visit.wants_part {
        return Ok(html(&results));
    }
    let overview = overview(&visit).await?;
    results.is_new = overview.months.is_empty() && overview.statements == 0;
    Ok(html(&MemoriesView {
        frame: PageFrame::new(&visit, "/page/memories", "Memories"),
        upcoming: upcoming(&visit).await?,
        is_by_rules: health::is_by_rules(health::of(&visit).await?.as_ref()),
        person: visit.owner.person().to_owned(),
        example: if visit.owner.is_you() {
            "where do I live?".to_owned()
        } else {
            format!("where does {} live?", visit.owner.user)
        },
        months: draw::months(&overview.months),
        wanted,
        overview,
        results,
    }))
}

/// Counts of a user's memories.
pub(crate) async fn overview(visit: &Visit) -> Result<OverviewData, ApiError> {
    let request = OverviewRequest {
        user_id: visit.owner.user.clone(),
        app_id: Some(visit.owner.app.clone()),
        project_id: Some(visit.owner.project.clone()),
    };
    visit.api.post_data("/memory/overview", &request).await
}

/// The number of current facts.
pub(crate) fn holding(overview: &OverviewData) -> usize {
    overview.facts.saturating_sub(overview.superseded)
}

/// The number of upcoming events.
pub(crate) async fn upcoming(visit: &Visit) -> Result<usize, ApiError> {
    let request = GetRequest {
        page_size: 1,
        standing: Some(MemoryStanding::Current),
        ..request(&visit.owner, MemoryType::Foresight)
    };
    let data: GetData = visit.api.post_data("/memory/get", &request).await?;
    Ok(data.total_count)
}

async fn list(visit: &Visit, wanted: &ListQuery) -> Result<ResultsPart, ApiError> {
    let page = wanted.page.unwrap_or(1);
    let (mut cards, mut totals, mut has_more) = (Vec::new(), Vec::new(), false);
    for memory_type in wanted.memory_types() {
        let request = GetRequest {
            page,
            page_size: PAGE_SIZE,
            filters: wanted.filter(),
            as_of: wanted.as_of(),
            standing: wanted.standing(),
            ..request(&visit.owner, memory_type)
        };
        let is_profile = memory_type == MemoryType::Profile;
        // A profile has one page, and its lines have no time.
        if is_profile && (page > 1 || wanted.is_narrowed() && !wanted.is_kind("profile")) {
            continue;
        }
        let data: GetData = visit.api.post_data("/memory/get", &request).await?;
        let some = crate::cards::cards(&data, &visit.owner);
        let total = if is_profile { some.len() } else { data.total_count };
        has_more |= !is_profile && page.saturating_mul(PAGE_SIZE) < i64::try_from(total).unwrap_or(i64::MAX);
        totals.push((memory_type, total));
        cards.extend(some);
    }
    let next = has_more.then(|| {
        let query: [(&str, &dyn Display); 5] = [
            ("kind", &wanted.kind),
            ("standing", &wanted.standing),
            ("as_of", &wanted.as_of),
            ("month", &wanted.month),
            ("page", &(page + 1)),
        ];
        visit.owner.link("memories", &query)
    });
    Ok(ResultsPart {
        summary: (page == 1).then(|| wanted.summary(&totals)),
        cards,
        next,
        ..ResultsPart::empty(visit)
    })
}

/// A request for a user's memories of one kind, the newest first.
pub(crate) fn request(owner: &MemoryOwner, memory_type: MemoryType) -> GetRequest {
    GetRequest {
        user_id: Some(owner.user.clone()),
        page_size: 100,
        ..GetRequest::newest(memory_type).within(&owner.app, &owner.project)
    }
}

impl ListQuery {
    pub(crate) fn question(&self) -> &str {
        self.q.trim()
    }

    pub(crate) fn is_kind(&self, kind: &str) -> bool {
        self.kind == kind
    }

    /// Whether the query restricts the time.
    pub(crate) fn is_at_a_time(&self) -> bool {
        !self.as_of.trim().is_empty() || !self.month.is_empty()
    }

    /// Whether the query restricts the current memories.
    fn is_narrowed(&self) -> bool {
        self.is_at_a_time() || !self.kind.is_empty() || !self.standing.is_empty()
    }

    /// For any kind, the shortest kinds come first.
    fn memory_types(&self) -> Vec<MemoryType> {
        use MemoryType::{AtomicFact, Episode, Foresight, Profile};
        match &*self.kind {
            "fact" => vec![AtomicFact],
            "episode" => vec![Episode],
            "event" => vec![Foresight],
            "profile" => vec![Profile],
            _ => vec![Profile, Foresight, AtomicFact, Episode],
        }
    }

    fn standing(&self) -> Option<MemoryStanding> {
        match &*self.standing {
            "all" => None,
            "superseded" => Some(MemoryStanding::Superseded),
            _ => Some(MemoryStanding::Current),
        }
    }

    /// The end of the requested day.
    pub(crate) fn as_of(&self) -> Option<When> {
        let day = self.as_of.trim();
        (!day.is_empty()).then(|| When::Text(format!("{day}T23:59:59")))
    }

    pub(crate) fn filter(&self) -> Option<Value> {
        let (month, next) = draw::month_and_next(&self.month)?;
        Some(json!({"timestamp": {"gte": format!("{month}-01"), "lt": format!("{next}-01")}}))
    }

    pub(crate) fn keeps(&self, card: &MemoryCard) -> bool {
        let is_kind = match &*self.kind {
            "fact" => card.is_fact,
            "episode" => card.kind == EPISODE,
            "event" => card.kind == EVENT,
            "profile" => card.is_statement(),
            _ => true,
        };
        let has_ended = card.superseded_by.is_some();
        is_kind && (self.standing != "superseded" || has_ended)
    }

    /// The content of a list in a sentence.
    fn summary(&self, totals: &[(MemoryType, usize)]) -> String {
        let part = |(memory_type, total): &(MemoryType, usize)| {
            let (one, more) = match memory_type {
                MemoryType::Episode => ("summary of a conversation", "summaries of conversations"),
                MemoryType::Foresight if self.standing() == Some(MemoryStanding::Current) => {
                    ("upcoming event", "upcoming events")
                }
                MemoryType::Foresight => ("event", "events"),
                MemoryType::Profile => ("line of the profile", "lines of the profile"),
                _ => ("fact", "facts"),
            };
            let hold = match self.standing() {
                Some(MemoryStanding::Superseded) => words::noun(total, " no longer holds", " no longer hold"),
                Some(MemoryStanding::Current) if *memory_type == MemoryType::AtomicFact => {
                    words::noun(total, " holds", " hold")
                }
                _ => "",
            };
            format!("{}{hold}", words::count(total, one, more))
        };
        let some = totals.iter().filter(|(_, total)| *total > 0 || totals.len() == 1);
        let parts: Vec<String> = some.map(part).collect();
        let mut text = if parts.is_empty() {
            "Nothing".to_owned()
        } else {
            parts.join(", ")
        };
        if !self.month.is_empty() {
            text.push_str(", from ");
            text.push_str(&words::month(&self.month));
        }
        if !self.as_of.is_empty() {
            text.push_str(", as of ");
            text.push_str(&words::date(&self.as_of));
        }
        text.push_str(", the newest first.");
        text
    }
}
