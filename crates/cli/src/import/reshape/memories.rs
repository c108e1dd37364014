//! Programs that keep memories as well as conversations: Letta and claude-mem.
//!
//! Owns: separating a model's memories from a person's words. Never: quoting memories (`talk` does).

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::import::table::{first, word};

/// A person's words are in an envelope; an older agent's are in a tool call. The blocks of an agent are its memory.
pub(super) fn letta(value: &Value) -> Vec<Value> {
    let agents = match first(value, "agents.*") {
        agents if agents.is_empty() => vec![value],
        agents => agents,
    };
    let conversation = |agent: &Value| {
        let all = first(agent, "messages.*");
        let is_call = |call: &&Value| call["function"]["name"] == "send_message";
        let calls = |said: &Value| first(said, "tool_calls.*").iter().any(is_call);
        let has_calls = all.iter().any(|said| calls(said));
        let messages = all.iter().enumerate().map(|(at, said)| {
            let texts = first(said, "content.*.text|content");
            let mut texts = texts.iter();
            let envelope =
                texts.find_map(|text| serde_json::from_str::<Map<String, Value>>(text.as_str()?).ok());
            let sent = first(said, "tool_calls.*").into_iter().filter(is_call);
            let sent = sent.filter_map(|call| {
                serde_json::from_str::<Value>(call["function"]["arguments"].as_str()?).ok()
            });
            let (role, text) = match (said["role"].as_str(), &envelope) {
                (Some("user"), Some(envelope)) if envelope.get("type") == Some(&json!("user_message")) => {
                    ("user", json!(envelope.get("message")))
                }
                (Some("user"), Some(envelope)) if envelope.contains_key("type") => ("event", Value::Null),
                (Some("assistant"), _) if has_calls => {
                    ("assistant", sent.map(|mut sent| sent["message"].take()).collect())
                }
                (role, _) => (role.unwrap_or_default(), said["content"].clone()),
            };
            let id = word(said, "id").unwrap_or_else(|| format!("message-{at}"));
            json!({"id": id, "role": role, "time": in_utc(&said["created_at"]), "text": text})
        });
        let own = first(agent, "block_ids.*");
        let is_own = |block: &&Value| own.contains(&&block["id"]);
        let blocks = first(value, "blocks.*").into_iter().filter(is_own);
        let blocks = blocks.chain(first(agent, "core_memory.*"));
        let memories = blocks.map(|block| {
            let time = in_utc(&block["updated_at"]);
            json!({"id": block["id"], "label": block["label"], "text": block["value"], "time": time})
        });
        json!({
            "id": agent["name"], "title": agent["name"], "messages": messages.collect::<Vec<_>>(),
            "memories": memories.collect::<Vec<_>>(),
        })
    };
    agents.into_iter().map(conversation).collect()
}

/// The first version of the file writes times without a zone; the envelopes show that they are in UTC.
fn in_utc(time: &Value) -> Value {
    match time.as_str() {
        Some(text)
            if !text.ends_with('Z') && text.get(10..).is_some_and(|hour| !hour.contains(['+', '-'])) =>
        {
            Value::from(format!("{text}Z"))
        }
        _ => time.clone(),
    }
}

/// Prompts are a person's own words; a model wrote observations and summaries.
pub(super) fn claude_mem(value: &Value) -> Vec<Value> {
    let mut sessions: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for prompt in first(value, "prompts.*") {
        let id = word(prompt, "content_session_id|claude_session_id").unwrap_or_default();
        let number = word(prompt, "prompt_number|id").unwrap_or_default();
        let message = json!({"id": format!("prompt-{number}"), "role": "user", "time": prompt["created_at"], "text": prompt["prompt_text"]});
        sessions.entry(id).or_default().push(message);
    }
    let memory = |kind: &str, keys: &[&str], row: &Value| {
        let texts = keys.iter().filter_map(|key| word(row, key));
        let lines = |text: String| serde_json::from_str(&text).unwrap_or_else(|_| vec![text]);
        let text = texts.flat_map(lines).collect::<Vec<String>>().join("\n");
        json!({"id": format!("{kind}-{}", word(row, "id").unwrap_or_default()), "text": text, "time": row["created_at"]})
    };
    let observed = ["title", "subtitle", "text", "narrative", "facts"];
    let summed = [
        "request", "investigated", "learned", "completed", "next_steps", "notes",
    ];
    let observations = first(value, "observations.*").into_iter();
    let observations = observations.map(|row| memory("observation", &observed, row));
    let summaries = first(value, "summaries.*").into_iter();
    let summaries = summaries.map(|row| memory("summary", &summed, row));
    let memories: Vec<Value> = observations.chain(summaries).collect();
    let titles = first(value, "sessions.*");
    let own = |session: &Value| word(session, "content_session_id|claude_session_id");
    let title = |id: &str| titles.iter().find(|session| own(session).as_deref() == Some(id));
    let talks = sessions.into_iter().map(|(id, messages)| {
        json!({"id": id, "title": title(&id).map(|session| &session["custom_title"]), "messages": messages})
    });
    talks.chain([json!({"memories": memories})]).collect()
}
