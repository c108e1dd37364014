//! `context/…`: the context engine for programs that call their model themselves, and views of live conversations.
//!
//! Owns: translating the requests and answers of the engine. Never: choosing the messages that a model sees
//! (`conversation`).

pub(crate) mod look;

use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::response::Response;
use model::SessionId;
use model::text::chain;
use ports::NoRoom;
use proxy::conversation::contexts::expand_tool;
use proxy::conversation::{ContextError, Contexts, Party};
use proxy::{Assembly, Direct, MemoryUse, Speech};
use serde::de::DeserializeOwned;
use serde_json::Value;
use transcript::ItemId;

use crate::body::{JsonBody, UrlQuery};
use crate::budget::Hold;
use crate::failure::Failure;
use crate::frame::{Answer, Visit};
use crate::present;
use crate::state::Gateway;
use crate::wire::conversation::{
    AfterTurnData, AfterTurnRequest, AppendData, AppendRequest, AssembleData, AssembleRequest, CleanupData,
    CleanupRequest, CompactData, CompactRequest, Dialect, DoneData, EndedRequest, ExpandData, ExpandRequest,
    ForkRequest, MemoryMode, OfConversation, PinRequest, RewindRequest, SpawnData, SpawnRequest, StepItem,
    ToolsData, ToolsQuery, agent, texts, window,
};
use crate::wire::{ErrorCode, Invalid};

/// A request to a conversation that the caller may enter.
pub(crate) struct Live<T> {
    visit: Visit,
    value: T,
    /// The room of the body. A write keeps it until it ends.
    hold: Hold,
    direct: Direct,
    contexts: Contexts,
    whose: Party,
}

impl<T: OfConversation + DeserializeOwned + Send + 'static> FromRequest<Gateway> for Live<T> {
    type Rejection = Failure;

    async fn from_request(request: Request, gateway: &Gateway) -> Result<Self, Failure> {
        let (mut head, body) = request.into_parts();
        let Ok(visit) = Visit::from_request_parts(&mut head, gateway).await;
        let (value, hold) = if head.method.is_safe() {
            let UrlQuery(value) = UrlQuery::<T>::from_request_parts(&mut head, gateway).await?;
            (value, Hold::default())
        } else {
            let JsonBody(value, hold, _) =
                JsonBody::from_request(Request::from_parts(head, body), gateway).await?;
            (value, hold)
        };
        let at = value.at(&visit.caller.home)?;
        visit.caller.enter(&at.scope)?;
        let user = visit.caller.as_user(at.user)?;
        let direct = gateway
            .direct
            .clone()
            .ok_or_else(|| Failure::lacks("does not store conversations"))?;
        let whose = direct.party(at.scope, user, at.conversation);
        let whose =
            whose.ok_or_else(|| Invalid::at("user_id", "the request names no user: give `user_id`"))?;
        Ok(Self {
            visit,
            value,
            hold,
            contexts: direct.contexts().clone(),
            direct,
            whose,
        })
    }
}

pub(crate) async fn context_append(live: Live<AppendRequest>) -> Answer {
    let texts = live.value.texts()?;
    let dialect = speech(live.value.dialect).dialect();
    let append = async move {
        let _hold = live.hold;
        Ok(live.contexts.append(&live.whose, dialect, &texts).await?)
    };
    let ids: Vec<ItemId> = live.visit.gateway.see_through(append).await?;
    Ok(live.visit.answer(AppendData {
        ids: ids.iter().map(ToString::to_string).collect(),
    }))
}

pub(crate) async fn context_assemble(live: Live<AssembleRequest>) -> Answer {
    let assembly = Assembly {
        speech: speech(live.value.dialect),
        window_tokens: window(live.value.window_tokens)?,
        reserve_tokens: live.value.reserve_tokens.map(|tokens| tokens as usize),
        tools: texts(&live.value.tools),
        memory: memory(live.value.memory),
        agent: agent(live.value.agent_id.as_deref())?,
        with_person: live.visit.caller.sees_person(),
        model: live.value.model.unwrap_or_default(),
        system: live.value.system,
    };
    let assembled = live
        .visit
        .write(async move { live.direct.assemble(&live.whose, &assembly).await })
        .await?;
    Ok(live.visit.answer(AssembleData {
        messages: values(&assembled.messages),
        system: assembled.system,
        tools: values(&assembled.tools),
        tokens: assembled.tokens,
        limit_tokens: assembled.limit,
        compacted: assembled.is_compacted,
        reasons: present::names(&assembled.reasons, |reason| reason.as_str()),
        memory_ids: assembled
            .injected
            .map_or_else(Vec::new, |injected| injected.memories),
        warning: assembled.warning,
    }))
}

pub(crate) async fn context_after_turn(live: Live<AfterTurnRequest>) -> Answer {
    let agent = agent(live.value.agent_id.as_deref())?;
    let work = async move {
        let _hold = live.hold;
        let (speech, reply) = (speech(live.value.dialect), live.value.message.to_string());
        let tokens = live.value.prompt_tokens.map(|tokens| tokens as usize);
        let learns = live.value.memory == MemoryMode::On;
        let id = live
            .direct
            .after_turn(&live.whose, speech, &reply, tokens, agent.as_ref(), learns)
            .await?;
        Ok(id.to_string())
    };
    let id = live.visit.gateway.see_through(work).await?;
    Ok(live.visit.answer(AfterTurnData { id }))
}

pub(crate) async fn context_compact(live: Live<CompactRequest>) -> Answer {
    let window = window(live.value.window_tokens)?;
    let compacted = live
        .visit
        .write(async move { live.contexts.compact(&live.whose, window).await })
        .await?;
    Ok(live.visit.answer(CompactData {
        tokens_before: compacted.tokens_before,
        tokens_after: compacted.tokens_after,
        steps: compacted.attempts.iter().map(StepItem::of).collect(),
    }))
}

pub(crate) async fn context_pin(live: Live<PinRequest>) -> Answer {
    let id = item("id", &live.value.id)?;
    live.visit
        .write(async move { live.contexts.pin(&live.whose, id, live.value.pinned).await })
        .await?;
    Ok(done(&live.visit, &live.value.conversation_id))
}

pub(crate) async fn context_cleanup(live: Live<CleanupRequest>) -> Answer {
    let (steps_removed, saved_tokens) = live.contexts.clean_up(&live.whose).await?;
    Ok(live.visit.answer(CleanupData {
        steps_removed,
        saved_tokens,
    }))
}

pub(crate) async fn context_fork(live: Live<ForkRequest>) -> Answer {
    let to = SessionId::parse(&live.value.to).map_err(|error| Invalid::at("to", error))?;
    let before = live.value.before.as_deref();
    let before = before.map(|id| item("before", id)).transpose()?;
    live.visit
        .write(async move { live.contexts.fork(&live.whose, before, &to).await })
        .await?;
    Ok(done(&live.visit, &live.value.to))
}

pub(crate) async fn context_rewind(live: Live<RewindRequest>) -> Answer {
    let to = item("to", &live.value.to)?;
    live.visit
        .write(async move { live.contexts.rewind(&live.whose, to).await })
        .await?;
    Ok(done(&live.visit, &live.value.conversation_id))
}

pub(crate) async fn context_subagent_spawn(live: Live<SpawnRequest>) -> Answer {
    let messages = live.contexts.spawn(&live.whose, &live.value.role).await?;
    Ok(live.visit.answer(SpawnData {
        messages: values(&messages),
    }))
}

pub(crate) async fn context_subagent_end(live: Live<EndedRequest>) -> Answer {
    let (texts, result) = (texts(&live.value.messages), live.value.result.as_deref());
    live.contexts
        .ended(&live.whose, &live.value.subagent_id, &texts, result)
        .await?;
    Ok(done(&live.visit, &live.value.conversation_id))
}

pub(crate) async fn context_tools(visit: Visit, UrlQuery(query): UrlQuery<ToolsQuery>) -> Response {
    let tool = expand_tool(speech(query.dialect).dialect());
    visit.answer(ToolsData { tools: vec![tool] })
}

pub(crate) async fn context_expand(live: Live<ExpandRequest>) -> Answer {
    let text = live.contexts.expand(&live.whose, live.value.id.trim()).await?;
    Ok(live.visit.answer(ExpandData { text }))
}

fn speech(dialect: Dialect) -> Speech {
    match dialect {
        Dialect::OpenAi => Speech::Chat,
        Dialect::Anthropic => Speech::Messages,
        Dialect::Responses => Speech::Responses,
    }
}

fn memory(mode: MemoryMode) -> MemoryUse {
    model::same!(mode, MemoryMode => MemoryUse: On, ReadOnly, Off)
}

fn item(field: &'static str, id: &str) -> Result<ItemId, Invalid> {
    ItemId::parse(id.trim()).ok_or_else(|| Invalid::at(field, "must be a message's id, like `m17`"))
}

fn values(texts: &[String]) -> Vec<Value> {
    texts.iter().map(|text| value(text)).collect()
}

fn value(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::from(text))
}

fn done(visit: &Visit, conversation: &str) -> Response {
    visit.answer(DoneData {
        conversation_id: conversation.to_owned(),
    })
}

impl From<ContextError> for Failure {
    fn from(error: ContextError) -> Self {
        let message = error.to_string();
        let code = match error {
            ContextError::NoConversation(_) | ContextError::NoItem(_) => ErrorCode::NotFound,
            ContextError::Deleted(_)
            | ContextError::Exists(_)
            | ContextError::Ledger(ports::LedgerError::OtherOwner) => ErrorCode::Conflict,
            ContextError::OverBudget(_) | ContextError::NoMessage(..) | ContextError::NoBudget => {
                ErrorCode::InvalidInput
            }
            ContextError::Ledger(_) => {
                let no_room = NoRoom::of(&error).map(Self::from);
                return no_room.unwrap_or_else(|| Self::internal(chain(&error)));
            }
        };
        Self::new(code, message)
    }
}
