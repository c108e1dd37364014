//! `memory/search` and `memory/get`.
//!
//! Owns: translating the requests and answers of the engine. Never: ranking and sorting.

use memory::{EngineError, Hit, List, Listed};
use model::{DocKind, EntryKind, Filter, Owner, OwnerKind, Scope};
use proxy::ContextOf;

use crate::body::{IdQuery, JsonBody};
use crate::failure::Failure;
use crate::frame::{Answer, Visit};
use crate::lookup;
use crate::present;
use crate::state::Gateway;
use crate::wire::{
    ContextData, ContextRequest, ErrorCode, GetData, GetRequest, OneQuery, SearchMethod, SearchRequest,
    SureItem,
};

pub(crate) async fn search_memory(visit: Visit, JsonBody(value, ..): JsonBody<SearchRequest>) -> Answer {
    let gateway = &visit.gateway;
    let mut search = value.search(&visit.caller.home, gateway.zone())?;
    visit.caller.enter_memory(&search.scope, &search.owner)?;
    search.with_person &= visit.caller.sees_person();
    let found = match value.method {
        SearchMethod::Agentic | SearchMethod::LlmMultiround => {
            let found = gateway.engine.search_in_rounds(search.clone()).await?;
            found.ok_or_else(|| no_chat_model(value.method))?
        }
        _ => gateway.engine.search(search.clone()).await?,
    };
    let profile = if value.include_profile && search.owner.kind == OwnerKind::User {
        profile(gateway, &search.scope, &search.owner, None).await?
    } else {
        Vec::new()
    };
    gateway.metrics.searched(value.method.as_str());
    let mut data = present::search(&found, &profile, &search, gateway.zone(), value.explain);
    if value.include_sure {
        let sure = proxy::sure(found, &search, gateway.zone()).map(|line| SureItem {
            id: line.id,
            text: line.said,
            until: line.until.map(|at| gateway.zone().render(at)),
        });
        data.sure = Some(sure.into_iter().collect());
    }
    Ok(visit.answer(data))
}

pub(crate) async fn memory_context(visit: Visit, JsonBody(value, ..): JsonBody<ContextRequest>) -> Answer {
    let parts = value.parts(&visit.caller.home)?;
    visit.caller.enter_memory(&parts.scope, &parts.owner)?;
    let engine = &visit.gateway.engine;
    let whose = ContextOf {
        scope: &parts.scope,
        owner: &parts.owner,
        with_person: value.include_person && visit.caller.sees_person(),
    };
    let told = match &value.query {
        Some(query) => {
            let here = parts.session.as_ref();
            let known = value.known_ids.into_iter().collect();
            proxy::context(engine, whose, here, query, known, parts.tokens_max).await?
        }
        None => proxy::opening(engine, &*visit.gateway.clock, whose, parts.tokens_max).await?,
    };
    Ok(visit.answer(ContextData {
        context: told.text,
        memory_ids: told.memories,
        tokens: told.tokens,
    }))
}

/// The rows of a user's profile, the newest first.
pub(crate) async fn profile(
    gateway: &Gateway,
    scope: &Scope,
    owner: &Owner,
    filter: Option<Filter>,
) -> Result<Vec<Hit>, EngineError> {
    let list = List {
        filter,
        ..List::all(scope.clone(), owner.clone(), EntryKind::Profile)
    };
    Ok(gateway.engine.list(list).await?.hits)
}

fn no_chat_model(method: SearchMethod) -> Failure {
    let method = method.as_str();
    let message = format!(
        "method: `{method}` needs a chat model, and none is configured: use `hybrid`, or set `chat.model`"
    );
    Failure::new(ErrorCode::ProviderNotConfigured, message)
}

/// The memory that a path names, with its tenant and owner.
pub(crate) async fn named_in_path(
    visit: &Visit,
    memory_id: &str,
    query: &OneQuery,
) -> Result<(Scope, Owner, Hit), Failure> {
    let home = &visit.caller.home;
    let anybodys = OneQuery {
        user_id: None,
        ..query.clone()
    };
    let mut parts = anybodys.parts(memory_id, home)?;
    if query.user_id.is_some() && visit.gateway.engine.settings().shared.contains(&parts.scope) {
        // A caller who may search a shared project may read the hits of a search.
        visit.caller.enter(&parts.scope)?;
        parts.owner = parts.ids.first().map(|id| Owner::user(id.owner.clone()));
    } else {
        parts = query.parts(memory_id, home)?;
        visit.caller.enter_ids(&mut parts)?;
    }
    let scope = parts.scope.clone();
    let found = lookup::find(&visit.gateway.engine, parts).await?;
    let (owner, hit) = found.ok_or_else(|| Failure::not_found("memory", memory_id))?;
    Ok((scope, owner, hit))
}

pub(crate) async fn one_memory(visit: Visit, IdQuery(memory_id, query): IdQuery<OneQuery>) -> Answer {
    let (scope, owner, hit) = named_in_path(&visit, &memory_id, &query).await?;
    let DocKind::Entry(kind) = hit.doc.kind else {
        return Err(Failure::not_found("memory", &hit.doc.key.id));
    };
    let list = List::all(scope, owner, kind);
    let listed = Listed {
        total: 1,
        hits: vec![hit],
    };
    Ok(visit.answer(present::list(&listed, &list, visit.gateway.zone())))
}

pub(crate) async fn get_memory(visit: Visit, JsonBody(value, ..): JsonBody<GetRequest>) -> Answer {
    let gateway = &visit.gateway;
    let list = value.list(&visit.caller.home, gateway.zone())?;
    visit.caller.enter_memory(&list.scope, &list.owner)?;
    if list.kind == EntryKind::Profile {
        let rows = profile(gateway, &list.scope, &list.owner, list.filter).await?;
        let mut profiles = present::profile_of(&rows);
        profiles.truncate(usize::from(list.page == 1));
        return Ok(visit.answer(GetData {
            count: profiles.len(),
            profiles,
            total_count: usize::from(!rows.is_empty()),
            ..GetData::default()
        }));
    }
    let listed = gateway.engine.list(list.clone()).await?;
    Ok(visit.answer(present::list(&listed, &list, gateway.zone())))
}
