//! `quipu add`, `quipu search`, `quipu get`.

use std::io::Read;

use gateway::wire::owners::OwnersData;
use gateway::wire::search::When;
use gateway::wire::{
    AddData, AddRequest, FlushData, FlushRequest, GetData, GetRequest, MemoryType, MessageItem, SearchData,
    SearchMethod, SearchRequest,
};
use model::text::counted;
use model::{Owner, OwnerKind, Role, Scope};
use serde_json::{Value, json};

use super::{Desk, time};
use crate::api::{Api, Path};
use crate::args::{AddArgs, AskArgs, GetArgs, KindArg, MethodArg, OwnerArgs, RoleArg, SearchArgs};
use crate::error::{Exit, Failure};
use crate::output::{self, Look, say};

pub(super) async fn add(desk: &Desk, api: &Api, args: AddArgs) -> Result<Exit, Failure> {
    let mut text = args.text.join(" ");
    if matches!(&*text, "" | "-") {
        text.clear();
        let read = std::io::stdin().read_to_string(&mut text);
        read.map_err(|error| Failure::usage(format!("cannot read standard input: {error}")))?;
    }
    if text.trim().is_empty() {
        return Err(Failure::usage("no text given").hint("give the text, or pipe it in"));
    }
    let (role, usual) = match args.role {
        RoleArg::User => (Role::User, args.user.as_str()),
        RoleArg::Assistant => (Role::Assistant, "assistant"),
        RoleArg::Tool => (Role::Tool, "tool"),
    };
    let scope = args.scope.scope();
    let (app_id, project_id) = ids(&scope);
    let at = match &args.at {
        Some(at) => time("--at", at, &api.zone)?,
        None => api.clock.now(),
    };
    let message = MessageItem {
        sender_name: args.name,
        tool_call_id: (role == Role::Tool).then(|| "typed".to_owned()),
        message_id: args.id,
        ..MessageItem::text(usual, role.into(), at.millis(), text)
    };
    let add = AddRequest {
        app_id,
        project_id,
        ..AddRequest::new(args.session.as_str(), vec![message])
    };
    let added: AddData = api.post("/memory/add", &add).await?;
    let mut status = word(&added.status)?;
    if args.flush {
        status = word(&flush(api, &scope, args.session.as_str(), true).await?.status)?;
    }
    let id = added.message_ids.first().map_or("", String::as_str);
    let (duplicate, forgotten) = (added.duplicates > 0, added.forgotten > 0);
    let told = json!({
        "message_id": id, "duplicate": duplicate, "forgotten": forgotten, "status": status, "redacted": added.redacted,
    });
    desk.tell(&told, || {
        match &*status {
            _ if forgotten => say!("not stored: this message was deleted before; add it with other words")?,
            _ if duplicate => say!("already stored as {id}")?,
            "accumulated" => {
                say!("stored as {id}: memories follow when the conversation ends; --flush makes them now")?;
            }
            _ => say!("stored as {id}: its memories are written")?,
        }
        if added.redacted > 0 {
            let secrets = counted(added.redacted, "secret was", "secrets were");
            say!("{secrets} removed first")?;
        }
        Ok(())
    })
}

/// Ends the segment in a session's buffer.
pub(super) async fn flush(api: &Api, scope: &Scope, session: &str, wait: bool) -> Result<FlushData, Failure> {
    let (app_id, project_id) = ids(scope);
    let flush = FlushRequest {
        session_id: session.to_owned(),
        app_id,
        project_id,
        wait,
    };
    api.post("/memory/flush", &flush).await
}

/// The serialized name of an enum value.
pub(super) fn word(value: &impl serde::Serialize) -> Result<String, Failure> {
    match serde_json::to_value(value)? {
        Value::String(word) => Ok(word),
        other => Ok(other.to_string()),
    }
}

/// A scope in the fields of a request.
pub(super) fn ids(scope: &Scope) -> (Option<String>, Option<String>) {
    (Some(scope.app.to_string()), Some(scope.project.to_string()))
}

/// An owner in the fields of a request: `user_id` or `agent_id`.
pub(super) fn named(owner: &Owner) -> (Option<String>, Option<String>) {
    let id = Some(owner.id.to_string());
    match owner.kind {
        OwnerKind::User => (id, None),
        OwnerKind::Agent => (None, id),
        OwnerKind::Library => (None, None),
    }
}

pub(super) async fn search(desk: &Desk, api: &Api, args: SearchArgs) -> Result<Exit, Failure> {
    let query = args.query.join(" ");
    if !(0.0..=1.0).contains(&args.min_score) {
        return Err(Failure::usage("--min-score: must be between 0 and 1"));
    }
    let at = |option, text: &Option<String>| {
        let instant = |text: &str| time(option, text, &api.zone);
        let when = text.as_deref().map(instant).transpose()?;
        Ok::<_, Failure>(when.map(|at| When::Millis(at.millis())))
    };
    let (owner, about) = question(&args.whose, &query);
    let request = SearchRequest {
        method: model::same!(args.method, MethodArg => SearchMethod: Keyword, Vector, Hybrid),
        top_k: i64::from(args.top_k),
        min_score: Some(args.min_score),
        filters: args.session.as_ref().map(|id| json!({"session_id": id})),
        as_of: at("--as-of", &args.as_of)?,
        query_time: at("--asked-at", &args.asked_at)?,
        include_messages: i64::from(args.messages),
        max_tokens: args.max_tokens,
        explain: args.explain,
        ..about
    };
    let look = Look {
        query: &query,
        project: Some(args.whose.scope.project.as_str()).filter(|project| *project != "default"),
        ids: args.ids,
        explain: args.explain,
    };
    let found: SearchData = api.post("/memory/search", &request).await?;
    desk.tell(&found, || output::found(&found, look))?;
    let is_nothing = found.messages.is_empty() && found.episodes.is_empty() && found.facts.is_empty();
    if is_nothing && !desk.json {
        tell_if_nobody(api, &owner).await?;
    }
    Ok(Exit::Ok)
}

/// The owner, and a search of their memory, including facts that hold in all projects.
fn question(whose: &OwnerArgs, query: &str) -> (Owner, SearchRequest) {
    let (owner, scope) = (whose.owner(), &whose.scope);
    let (user_id, agent_id) = named(&owner);
    let about = SearchRequest {
        user_id,
        agent_id,
        include_person: true,
        ..SearchRequest::new(query).within(scope.app.as_str(), scope.project.as_str())
    };
    (owner, about)
}

pub(super) async fn ask(desk: &Desk, api: &Api, args: AskArgs) -> Result<Exit, Failure> {
    let (owner, about) = question(&args.whose, &args.question.join(" "));
    let request = SearchRequest {
        // The same numbers that a turn of a conversation chooses from.
        top_k: 12,
        include_messages: 40,
        include_sure: true,
        ..about
    };
    let found: SearchData = api.post("/memory/search", &request).await?;
    let reply = output::reply(&found);
    desk.tell(&json!({"answer": reply}), || match &reply {
        Some(reply) => say!("{reply}"),
        None => say!("nothing sure; `quipu search` shows what is nearest"),
    })?;
    if reply.is_none() && !desk.json {
        tell_if_nobody(api, &owner).await?;
    }
    Ok(Exit::found(reply.is_some()))
}

/// Prints a note if no owner has this name, as the reason for an empty result.
pub(super) async fn tell_if_nobody(api: &Api, owner: &Owner) -> Result<(), Failure> {
    let OwnersData { owners } = api.get("/owners").await?;
    if owners.iter().any(|known| known.id == owner.id.as_str()) {
        return Ok(());
    }
    let name = &owner.id;
    say!("nobody here is called `{name}`: `quipu status users` lists everybody")
}

pub(super) async fn get(desk: &Desk, api: &Api, args: GetArgs) -> Result<Exit, Failure> {
    let (owner, scope) = (args.whose.owner(), args.whose.scope.scope());
    if let Some(id) = &args.id {
        return one(desk, api, &scope, &owner, id).await;
    }
    let (user_id, agent_id) = named(&owner);
    let (memory_type, kind) = match args.kind {
        KindArg::Episode => (MemoryType::Episode, "episode"),
        KindArg::Fact => (MemoryType::AtomicFact, "fact"),
        KindArg::Foresight => (MemoryType::Foresight, "event"),
        KindArg::Profile => (MemoryType::Profile, "profile"),
        KindArg::Case => (MemoryType::AgentCase, "case"),
    };
    let request = GetRequest {
        user_id,
        agent_id,
        page: i64::from(args.page),
        page_size: i64::from(args.page_size),
        ..GetRequest::newest(memory_type).within(scope.app.as_str(), scope.project.as_str())
    };
    let listed: GetData = api.post("/memory/get", &request).await?;
    let page = (args.page, args.page_size);
    desk.tell(&listed, || output::listed(&listed, kind, owner.id.as_str(), page))?;
    if listed.total_count == 0 && !desk.json {
        tell_if_nobody(api, &owner).await?;
    }
    Ok(Exit::Ok)
}

async fn one(desk: &Desk, api: &Api, scope: &Scope, owner: &Owner, id: &str) -> Result<Exit, Failure> {
    let whole = whole_id(owner, id);
    let mut path = Path::new("/memories/", &whole).within(&scope.app, &scope.project);
    if is_of(owner, &whole) {
        let key = match owner.kind {
            OwnerKind::User => "user_id",
            OwnerKind::Agent | OwnerKind::Library => "agent_id",
        };
        path = path.with(key, &owner.id);
    }
    let found: GetData = api.get(path.text()).await?;
    desk.tell(&found, || output::memory(&found))
}

/// The full id for the API; people may omit the owner, as files do.
pub(super) fn whole_id(owner: &Owner, id: &str) -> String {
    let is_bare = ["ep_", "af_", "fs_", "pf_", "ac_", "sk_"]
        .iter()
        .any(|kind| id.starts_with(kind));
    if is_bare && !is_of(owner, id) {
        format!("{}_{id}", owner.id)
    } else {
        id.to_owned()
    }
}

fn is_of(owner: &Owner, id: &str) -> bool {
    id.strip_prefix(owner.id.as_str())
        .is_some_and(|rest| rest.starts_with('_'))
}
