//! `context/…`: the context engine for programs that call their model themselves, and views of live conversations.
//!
//! Owns: the requests' way to the engine and back. Never: choosing what a model sees (`conversation`).

pub(crate) mod look;

use axum::response::Response;
use context::ladder::Attempt;
use conversation::contexts::expand_tool;
use conversation::{ContextError, Whose};
use macro_rules_attribute::apply;
use ports::NoRoom;
use proxy::{Assembly, Direct, MemoryUse, Speech};
use serde_json::Value;
use text::chain;
use transcript::ItemId;
use wire::conversation::{
    AfterTurnData, AfterTurnRequest, AppendData, AppendRequest, AssembleData, AssembleRequest, CleanupData,
    CleanupRequest, CompactData, CompactRequest, ConversationAt, Dialect, DoneData, EndedRequest, ExpandData,
    ExpandRequest, ForkRequest, MemoryMode, PinRequest, RewindRequest, SpawnData, SpawnRequest, StepItem,
    ToolsData, ToolsQuery, agent, window,
};
use wire::{ErrorCode, Invalid};

use crate::body::{JsonBody, UrlQuery};
use crate::describe::described;
use crate::failure::Failure;
use crate::frame::{Answer, Visit};

/// The engine's door, and the conversation that a request names.
fn at(visit: &Visit, at: Result<ConversationAt, Invalid>) -> Result<(&Direct, Whose), Failure> {
    let at = at?;
    visit.caller.enter(&at.scope)?;
    let user = visit.caller.as_user(at.user)?;
    let direct = visit
        .gateway
        .direct
        .as_ref()
        .ok_or_else(|| Failure::lacks("does not store conversations"))?;
    let whose = direct.whose(at.scope, user, at.conversation);
    let whose = whose.ok_or_else(|| Invalid::at("user_id", "the request names no user: give `user_id`"))?;
    Ok((direct, whose))
}

/// Append messages
///
/// They are on disk when the answer comes. The next `assemble` contains them.
#[apply(described!)]
#[post("/context/append", AppendRequest => "The ids of the messages" AppendData)]
pub(crate) async fn context_append(
    visit: Visit,
    JsonBody { value, hold, .. }: JsonBody<AppendRequest>,
) -> Answer {
    let (direct, whose) = at(&visit, value.at(&visit.caller.home))?;
    let texts = value.texts()?;
    let (contexts, dialect) = (direct.contexts().clone(), speech(value.dialect).dialect());
    let append = async move {
        let _hold = hold;
        Ok(contexts.append(&whose, dialect, &texts).await?)
    };
    let ids: Vec<ItemId> = visit.gateway.see_through(append).await?;
    Ok(visit.answer(AppendData {
        ids: ids.iter().map(ToString::to_string).collect(),
    }))
}

/// Assemble the next request
///
/// All messages, within the budget: compacted if due, with recalled memory in the newest message. Unless there is a
/// reason, the request begins with the bytes of the request before it.
#[apply(described!)]
#[post("/context/assemble", AssembleRequest => "A request for your model" AssembleData)]
pub(crate) async fn context_assemble(
    visit: Visit,
    JsonBody { value, .. }: JsonBody<AssembleRequest>,
) -> Answer {
    let (direct, whose) = at(&visit, value.at(&visit.caller.home))?;
    let assembly = Assembly {
        speech: speech(value.dialect),
        window_tokens: window(value.window_tokens)?,
        reserve_tokens: value.reserve_tokens.map(|tokens| tokens as usize),
        tools: value.tools(),
        memory: memory(value.memory),
        agent: agent(value.agent_id.as_deref())?,
        with_person: visit.caller.sees_person(),
        model: value.model.unwrap_or_default(),
        system: value.system,
    };
    let direct = direct.clone();
    let assembled = visit
        .write(async move { direct.assemble(&whose, &assembly).await })
        .await?;
    Ok(visit.answer(AssembleData {
        messages: values(&assembled.messages),
        system: assembled.system,
        tools: values(&assembled.tools),
        tokens: assembled.tokens,
        limit_tokens: assembled.limit,
        compacted: assembled.is_compacted,
        reasons: assembled
            .reasons
            .iter()
            .map(|reason| reason.as_str().to_owned())
            .collect(),
        memory_ids: assembled
            .injected
            .map_or_else(Vec::new, |injected| injected.memories),
        warning: assembled.warning,
    }))
}

/// Record the model's reply
///
/// The turn goes to memory, and the server's token counts correct those of the next request.
#[apply(described!)]
#[post("/context/after_turn", AfterTurnRequest => "The id of the reply" AfterTurnData)]
pub(crate) async fn context_after_turn(
    visit: Visit,
    JsonBody { value, hold, .. }: JsonBody<AfterTurnRequest>,
) -> Answer {
    let (direct, whose) = at(&visit, value.at(&visit.caller.home))?;
    let (agent, direct, speech) = (
        agent(value.agent_id.as_deref())?,
        direct.clone(),
        speech(value.dialect),
    );
    let work = async move {
        let _hold = hold;
        let (reply, tokens) = (
            value.message.to_string(),
            value.prompt_tokens.map(|tokens| tokens as usize),
        );
        let learns = value.memory == MemoryMode::On;
        let id = direct
            .after_turn(&whose, speech, &reply, tokens, agent.as_ref(), learns)
            .await?;
        Ok(id.to_string())
    };
    let id = visit.gateway.see_through(work).await?;
    Ok(visit.answer(AfterTurnData { id }))
}

/// Compact now
///
/// A summary replaces old messages, even if the context is not full. A configured chat model writes it; without one, it
/// is the digest alone.
#[apply(described!)]
#[post("/context/compact", CompactRequest => "Tokens before and after the compaction" CompactData)]
pub(crate) async fn context_compact(
    visit: Visit,
    JsonBody { value, .. }: JsonBody<CompactRequest>,
) -> Answer {
    let (direct, whose) = at(&visit, value.at(&visit.caller.home))?;
    let (window, contexts) = (window(value.window_tokens)?, direct.contexts().clone());
    let compacted = visit
        .write(async move { contexts.compact(&whose, window).await })
        .await?;
    Ok(visit.answer(CompactData {
        tokens_before: compacted.tokens_before,
        tokens_after: compacted.tokens_after,
        steps: steps(&compacted.attempts),
    }))
}

/// Pin a message
///
/// It stays verbatim through every compaction.
#[apply(described!)]
#[post("/context/pin", PinRequest => "Done" DoneData)]
pub(crate) async fn context_pin(visit: Visit, JsonBody { value, .. }: JsonBody<PinRequest>) -> Answer {
    let (direct, whose) = at(&visit, value.at(&visit.caller.home))?;
    let (id, contexts) = (item("id", &value.id)?, direct.contexts().clone());
    visit
        .write(async move { contexts.pin(&whose, id, value.pinned).await })
        .await?;
    Ok(done(&visit, &value.conversation_id))
}

/// Drop reports
///
/// Resets the counters and warnings, and drops the last compaction's steps. The conversation stays as it is.
#[apply(described!)]
#[post("/context/cleanup", CleanupRequest => "The reports" CleanupData)]
pub(crate) async fn context_cleanup(
    visit: Visit,
    JsonBody { value, .. }: JsonBody<CleanupRequest>,
) -> Answer {
    let (direct, whose) = at(&visit, value.at(&visit.caller.home))?;
    let (steps_removed, saved_tokens) = direct.contexts().clean_up(&whose).await?;
    Ok(visit.answer(CleanupData {
        steps_removed,
        saved_tokens,
    }))
}

/// Fork a conversation
///
/// A copy under another name; the two are independent afterwards.
#[apply(described!)]
#[post("/context/fork", ForkRequest => "The copy" DoneData)]
pub(crate) async fn context_fork(visit: Visit, JsonBody { value, .. }: JsonBody<ForkRequest>) -> Answer {
    let (direct, whose) = at(&visit, value.at(&visit.caller.home))?;
    let (to, contexts) = (value.to()?, direct.contexts().clone());
    let before = value.before.as_deref().map(|id| item("before", id)).transpose()?;
    visit
        .write(async move { contexts.fork(&whose, before, &to).await })
        .await?;
    Ok(done(&visit, &value.to))
}

/// Rewind a conversation
///
/// It continues from just before a message. Later messages can still be recovered.
#[apply(described!)]
#[post("/context/rewind", RewindRequest => "Done" DoneData)]
pub(crate) async fn context_rewind(visit: Visit, JsonBody { value, .. }: JsonBody<RewindRequest>) -> Answer {
    let (direct, whose) = at(&visit, value.at(&visit.caller.home))?;
    let (to, contexts) = (item("to", &value.to)?, direct.contexts().clone());
    visit
        .write(async move { contexts.rewind(&whose, to).await })
        .await?;
    Ok(done(&visit, &value.conversation_id))
}

/// Start a sub-agent
///
/// The messages that it starts with. Only what you append to the conversation enters it.
#[apply(described!)]
#[post("/context/subagent/spawn", SpawnRequest => "Its first messages" SpawnData)]
pub(crate) async fn context_subagent_spawn(
    visit: Visit,
    JsonBody { value, .. }: JsonBody<SpawnRequest>,
) -> Answer {
    let (direct, whose) = at(&visit, value.at(&visit.caller.home))?;
    let messages = direct.contexts().spawn(&whose, &value.role).await?;
    Ok(visit.answer(SpawnData {
        messages: values(&messages),
    }))
}

/// End a sub-agent
///
/// A plug-in context engine is notified.
#[apply(described!)]
#[post("/context/subagent/end", EndedRequest => "Done" DoneData)]
pub(crate) async fn context_subagent_end(
    visit: Visit,
    JsonBody { value, .. }: JsonBody<EndedRequest>,
) -> Answer {
    let (direct, whose) = at(&visit, value.at(&visit.caller.home))?;
    let (texts, result) = (value.texts(), value.result.as_deref());
    direct
        .contexts()
        .ended(&whose, &value.subagent_id, &texts, result)
        .await?;
    Ok(done(&visit, &value.conversation_id))
}

/// List tools for your model
///
/// The definition of `context_expand`: offer it, and answer its calls with `context/expand`.
#[apply(described!)]
#[get("/context/tools", ToolsQuery => "Tools" ToolsData)]
pub(crate) async fn context_tools(visit: Visit, UrlQuery(query): UrlQuery<ToolsQuery>) -> Response {
    let tool = expand_tool(speech(query.dialect).dialect());
    visit.answer(ToolsData { tools: vec![tool] })
}

/// Answer `context_expand`
///
/// The text of the originals, for the tool's result.
#[apply(described!)]
#[post("/context/expand", ExpandRequest => "The tool's result" ExpandData)]
pub(crate) async fn context_expand(visit: Visit, JsonBody { value, .. }: JsonBody<ExpandRequest>) -> Answer {
    let (direct, whose) = at(&visit, value.at(&visit.caller.home))?;
    let text = direct.contexts().expand(&whose, value.id.trim()).await?;
    Ok(visit.answer(ExpandData { text }))
}

/// The steps of a compaction.
fn steps(attempts: &[Attempt]) -> Vec<StepItem> {
    let step = |attempt: &Attempt| StepItem {
        effort: attempt.plan.effort.as_str().to_owned(),
        saved_tokens: attempt.gain,
    };
    attempts.iter().map(step).collect()
}

fn speech(dialect: Dialect) -> Speech {
    match dialect {
        Dialect::OpenAi => Speech::Chat,
        Dialect::Anthropic => Speech::Messages,
        Dialect::Responses => Speech::Responses,
    }
}

fn memory(mode: MemoryMode) -> MemoryUse {
    text::same!(mode, MemoryMode => MemoryUse: On, ReadOnly, Off)
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
