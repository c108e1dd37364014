//! The tools of a model.
//!
//! Owns: the tools' arguments, and their translation into requests. Names, descriptions and schemas are in
//! `tools.json`: together they cost a model less than 1,000 tokens. Never: a decision about memory.

mod change;
pub(crate) mod find;

use std::sync::LazyLock;

use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Tool};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::api::{MemoryApi, ToolRefusal};
use crate::door::Door;

static TOOLS: LazyLock<Vec<Tool>> =
    LazyLock::new(|| serde_json::from_str(include_str!("tools.json")).expect("tools of this crate"));

/// Every tool, always in the same order: a list that never changes keeps a model's prompt in its cache.
pub(crate) fn all() -> &'static [Tool] {
    &TOOLS
}

/// The answer of a tool.
type ToolAnswer = Result<CallToolResult, ToolRefusal>;

/// Calls a tool; none if no tool has the name. A refusal is a result: the model can read it and correct its call.
pub(crate) async fn call<A: MemoryApi>(
    door: &Door<A>,
    name: &str,
    given: JsonObject,
) -> Option<CallToolResult> {
    let answer = match name {
        "search" => find::search(door, given).await,
        "read" => find::read(door, given).await,
        "list" => find::list(door, given).await,
        "profile" => find::profile(door, given).await,
        "recall_session" => find::recall_session(door, given).await,
        "remember" => change::remember(door, given).await,
        "update" => change::update(door, given).await,
        "forget" => change::forget(door, given).await,
        _ => return None,
    };
    Some(answer.unwrap_or_else(|refused| CallToolResult::error(vec![ContentBlock::text(refused.message)])))
}

/// Parses the arguments of a call. The refusal names the wrong argument and lists the valid ones.
fn arguments<T: DeserializeOwned>(given: JsonObject) -> Result<T, ToolRefusal> {
    serde_json::from_value(Value::Object(given))
        .map_err(|error| ToolRefusal::new(format!("wrong arguments: {error}")))
}

#[cfg(test)]
pub(crate) mod tests;
