//! The tools that read: `search`, `read`, `list`, `profile`, `recall_session`.

use gateway::wire::conversation::OriginalsData;
use gateway::wire::search::When;
use gateway::wire::{GetData, GetRequest, MemoryStanding, MemoryType, SearchData, SearchRequest, SortOrder};
use model::percent_encoded;
use rmcp::model::JsonObject;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{ToolAnswer, arguments};
use crate::api::{MemoryApi, ToolRefusal};
use crate::door::Door;
use crate::render::{self, ToolMemory};

/// Hits of a search without a limit.
const HITS: i64 = 8;
/// Memories on a page without a limit.
const PAGE: i64 = 20;
/// Maximum of a day's memories of each kind.
const DAY_MAX: i64 = 100;
/// Separates an id from its project; no project contains it.
const PLACE: char = '#';
/// The prefix of message ids.
const MESSAGE: &str = "m_";
/// Maximum of upcoming events with a profile.
const EVENTS: i64 = 10;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SearchArguments {
    query: String,
    limit: Option<i64>,
    session: Option<String>,
    as_of: Option<String>,
}

pub(super) async fn search<A: MemoryApi>(door: &Door<A>, given: JsonObject) -> ToolAnswer {
    let wanted: SearchArguments = arguments(given)?;
    let limit = wanted.limit.unwrap_or(HITS);
    let request = SearchRequest {
        top_k: limit,
        include_messages: limit,
        filters: wanted.session.map(|session| json!({"session_id": session})),
        as_of: wanted.as_of.map(When::Text),
        explain: true,
        ..question(door, wanted.query)?
    };
    let mut data: SearchData = door.post("/memory/search", &request).await?;
    name_other_projects(&mut data, &door.owner.project);
    let hits = render::found(&data, usize::try_from(limit).unwrap_or_default());
    Ok(render::memories(&hits, &Value::Null))
}

/// Appends the project to ids of other projects than the door's, so that [`id_and_project`] finds them again.
fn name_other_projects(data: &mut SearchData, own: &str) {
    let name = |id: &mut String, project: &Option<String>| {
        let project = project.as_deref().unwrap_or("default");
        if project != own {
            id.push(PLACE);
            id.push_str(project);
        }
    };
    for fact in &mut data.facts {
        name(&mut fact.id, &fact.project_id);
    }
    for message in &mut data.messages {
        if let Some(id) = &mut message.episode_id {
            name(id, &message.project_id);
        }
    }
    for episode in &mut data.episodes {
        name(&mut episode.id, &Some(episode.project_id.clone()));
    }
}

/// A memory's id and project, from the id in a search's answer.
pub(super) fn id_and_project<'a, A: MemoryApi>(door: &'a Door<A>, id: &'a str) -> (&'a str, &'a str) {
    id.rsplit_once(PLACE).unwrap_or((id, &door.owner.project))
}

fn question<A: MemoryApi>(door: &Door<A>, query: String) -> Result<SearchRequest, ToolRefusal> {
    Ok(SearchRequest {
        user_id: Some(door.owner.user()?.to_owned()),
        include_person: true,
        ..SearchRequest::new(query).within(&door.owner.app, &door.owner.project)
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReadArguments {
    id: String,
    conversation: Option<String>,
}

pub(super) async fn read<A: MemoryApi>(door: &Door<A>, given: JsonObject) -> ToolAnswer {
    let wanted: ReadArguments = arguments(given)?;
    let read = match wanted.conversation {
        Some(conversation) => originals(door, "recover", &conversation, ("id", &wanted.id)).await?,
        None if wanted.id.starts_with(MESSAGE) => {
            return Err(ToolRefusal::new(
                "this message is in no episode yet: `search` shows it whole",
            ));
        }
        None => vec![one(door, &wanted.id).await?],
    };
    Ok(render::memories(&read, &Value::Null))
}

/// One memory of the user.
pub(crate) async fn one<A: MemoryApi>(door: &Door<A>, id: &str) -> Result<ToolMemory, ToolRefusal> {
    let (id, project) = id_and_project(door, id);
    let path = format!("/memories/{}?{}", percent_encoded(id), url_query(door, project)?);
    let data: GetData = door.get(&path).await?;
    let mut read = render::all(&data).into_iter();
    read.next()
        .ok_or_else(|| ToolRefusal::new(format!("`{id}` has no text for the user")))
}

/// User and tenant as a URL query.
fn url_query<A: MemoryApi>(door: &Door<A>, project: &str) -> Result<String, ToolRefusal> {
    let (user, app) = (door.owner.user()?, &door.owner.app);
    let (user, app, project) = (
        percent_encoded(user),
        percent_encoded(app),
        percent_encoded(project),
    );
    Ok(format!("user_id={user}&app_id={app}&project_id={project}"))
}

/// Original messages of a conversation, also those that a compaction replaced.
async fn originals<A: MemoryApi>(
    door: &Door<A>,
    route: &str,
    conversation: &str,
    (key, value): (&str, &str),
) -> Result<Vec<ToolMemory>, ToolRefusal> {
    // The session of a conversation is `user/conversation`.
    let own = format!("{}/", door.owner.user()?);
    let name = percent_encoded(conversation.strip_prefix(&own).unwrap_or(conversation));
    let (owner, value) = (url_query(door, &door.owner.project)?, percent_encoded(value));
    let path = format!("/context/{route}?{owner}&conversation_id={name}&{key}={value}");
    let data: OriginalsData = door.get(&path).await?;
    Ok(data.messages.iter().map(render::original).collect())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ListArguments {
    #[serde(default)]
    kind: ListKind,
    limit: Option<i64>,
    page: Option<i64>,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ListKind {
    #[default]
    Episode,
    Fact,
    Upcoming,
}

pub(super) async fn list<A: MemoryApi>(door: &Door<A>, given: JsonObject) -> ToolAnswer {
    let wanted: ListArguments = arguments(given)?;
    let (kind, standing) = match wanted.kind {
        ListKind::Episode => (MemoryType::Episode, None),
        ListKind::Fact => (MemoryType::AtomicFact, None),
        ListKind::Upcoming => (MemoryType::Foresight, Some(MemoryStanding::Current)),
    };
    let request = GetRequest {
        page: wanted.page.unwrap_or(1),
        page_size: wanted.limit.unwrap_or(PAGE),
        standing,
        ..page(door, kind)?
    };
    let data: GetData = door.post("/memory/get", &request).await?;
    let episodes = data.episodes.iter().map(render::summary);
    let facts = data.facts.iter().map(render::of_fact);
    let events = data.foresights.iter().map(render::of_event);
    let others = facts.chain(events).map(render::brief);
    let listed: Vec<ToolMemory> = episodes.chain(others).collect();
    Ok(render::memories(&listed, &json!({"total": data.total_count})))
}

fn page<A: MemoryApi>(door: &Door<A>, memory_type: MemoryType) -> Result<GetRequest, ToolRefusal> {
    Ok(GetRequest {
        user_id: Some(door.owner.user()?.to_owned()),
        page_size: PAGE,
        ..GetRequest::newest(memory_type).within(&door.owner.app, &door.owner.project)
    })
}

/// Days of the latest episodes, the newest first; none for a client that may not list episodes.
pub(crate) async fn days<A: MemoryApi>(door: &Door<A>) -> Vec<String> {
    let listed = async {
        let request = page(door, MemoryType::Episode)?;
        door.post::<GetData>("/memory/get", &request).await
    };
    let episodes = listed.await.map(|data| data.episodes).unwrap_or_default();
    let mut days: Vec<String> = episodes
        .iter()
        .map(|episode| render::date(&episode.timestamp))
        .collect();
    days.dedup();
    days
}

/// The episodes and then the facts of a day.
pub(crate) async fn of_day<A: MemoryApi>(door: &Door<A>, day: &str) -> Result<Vec<ToolMemory>, ToolRefusal> {
    let mut found = Vec::new();
    for kind in [MemoryType::Episode, MemoryType::AtomicFact] {
        let (from, to) = (format!("{day}T00:00:00"), format!("{day}T23:59:59.999"));
        let request = GetRequest {
            page_size: DAY_MAX,
            sort_order: SortOrder::Asc,
            filters: Some(json!({"timestamp": {"gte": from, "lte": to}})),
            ..page(door, kind)?
        };
        let data: GetData = door.post("/memory/get", &request).await?;
        found.extend(render::all(&data));
    }
    Ok(found)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ProfileArguments {}

pub(super) async fn profile<A: MemoryApi>(door: &Door<A>, given: JsonObject) -> ToolAnswer {
    let ProfileArguments {} = arguments(given)?;
    Ok(render::memories(&about_user(door).await?, &Value::Null))
}

/// The user's profile and upcoming events.
pub(crate) async fn about_user<A: MemoryApi>(door: &Door<A>) -> Result<Vec<ToolMemory>, ToolRefusal> {
    let request = page(door, MemoryType::Profile)?;
    let data: GetData = door.post("/memory/get", &request).await?;
    let mut profiles = data.profiles;
    if door.owner.project != "default" {
        let home = GetRequest {
            project_id: Some("default".to_owned()),
            ..request
        };
        // A token for one project may not read the profile of the default project.
        let data: Result<GetData, _> = door.post("/memory/get", &home).await;
        profiles.extend(data.map(|data| data.profiles).unwrap_or_default());
    }
    let profiles = profiles.iter().map(|profile| &profile.profile_data);
    let mut about: Vec<ToolMemory> = profiles.flat_map(render::of_profile).map(render::brief).collect();
    let request = GetRequest {
        page_size: EVENTS,
        standing: Some(MemoryStanding::Current),
        ..page(door, MemoryType::Foresight)?
    };
    let data: GetData = door.post("/memory/get", &request).await?;
    about.extend(data.foresights.iter().map(render::of_event).map(render::brief));
    Ok(about)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SessionArguments {
    session: String,
    words: Option<String>,
}

pub(super) async fn recall_session<A: MemoryApi>(door: &Door<A>, given: JsonObject) -> ToolAnswer {
    let wanted: SessionArguments = arguments(given)?;
    let recalled = match &wanted.words {
        Some(words) => originals(door, "find", &wanted.session, ("query", words)).await?,
        None => of_session(door, &wanted.session).await?,
    };
    Ok(render::memories(&recalled, &Value::Null))
}

/// The last episodes of a session, and its messages that no episode contains yet.
async fn of_session<A: MemoryApi>(door: &Door<A>, session: &str) -> Result<Vec<ToolMemory>, ToolRefusal> {
    let in_session = Some(json!({"session_id": session}));
    let request = GetRequest {
        filters: in_session.clone(),
        ..page(door, MemoryType::Episode)?
    };
    let data: GetData = door.post("/memory/get", &request).await?;
    let mut memories: Vec<ToolMemory> = data.episodes.iter().map(render::of_episode).rev().collect();
    // A search within one session also returns its messages without an episode, whatever the query.
    let request = SearchRequest {
        top_k: 1,
        filters: in_session,
        ..question(door, session.to_owned())?
    };
    let data: SearchData = door.post("/memory/search", &request).await?;
    memories.extend(data.unprocessed_messages.iter().map(render::waiting));
    Ok(memories)
}
