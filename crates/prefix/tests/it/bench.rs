//! A client and a host that use the crate as the product does.
//!
//! Owns: the client's list, the store of records, the fake backend's reply. Never: checking anything.

use std::borrow::Cow;

use prefix::chain::{Chain, ConversationId, ConversationIndex, MatchScope, Matched, match_chain};
use prefix::compose::{Composed, Request, SystemPlace, Wanted, plan};
use prefix::fragment::{RecalledMemory, draft};
use prefix::record;
use prefix::shadow::{Shadow, ShadowEvent};

pub(crate) const SCOPE: MatchScope<'static> = MatchScope {
    tenant: Cow::Borrowed("acme"),
    owner: "ada",
    session: None,
};

pub(crate) fn user(text: &str) -> String {
    format!(r#"{{"role":"user","content":{}}}"#, serde_json::json!(text))
}

pub(crate) fn assistant(text: &str) -> String {
    format!(r#"{{"role":"assistant","content":{}}}"#, serde_json::json!(text))
}

pub(crate) fn system(text: &str) -> String {
    format!(r#"{{"role":"system","content":{}}}"#, serde_json::json!(text))
}

pub(crate) fn call(id: &str, arguments: &str) -> String {
    let arguments = serde_json::json!(arguments);
    format!(
        r#"{{"role":"assistant","content":null,"tool_calls":[{{"id":"{id}","type":"function","function":{{"name":"read","arguments":{arguments}}}}}]}}"#
    )
}

pub(crate) fn outcome(id: &str, text: &str) -> String {
    format!(
        r#"{{"role":"tool","tool_call_id":"{id}","content":{}}}"#,
        serde_json::json!(text)
    )
}

pub(crate) fn refs(texts: &[String]) -> Vec<&str> {
    texts.iter().map(String::as_str).collect()
}

/// The messages as they go out.
pub(crate) fn sent(composed: &Composed) -> Vec<String> {
    composed
        .messages
        .iter()
        .map(|message| message.bytes.clone())
        .collect()
}

/// A host with one conversation: only its records survive a turn.
#[derive(Default)]
pub(crate) struct Host {
    pub(crate) records: Vec<String>,
    pub(crate) wanted: Wanted,
    pub(crate) tools: Vec<String>,
    pub(crate) front: usize,
}

impl Host {
    /// The shadow as a freshly started process reads it.
    pub(crate) fn shadow(&self) -> Shadow {
        let events: Vec<ShadowEvent> = self
            .records
            .iter()
            .map(|text| record::read(text).expect("what was written"))
            .collect();
        Shadow::fold(&events)
    }

    /// One request with these memories from recall and this time.
    pub(crate) fn turn(
        &mut self,
        messages: &[String],
        memories: &[(&str, &str)],
        clock: Option<&str>,
    ) -> Composed {
        let (messages, tools) = (refs(messages), refs(&self.tools));
        let request = Request {
            model: "m",
            system: SystemPlace::Messages,
            tools: &tools,
            messages: &messages,
            front: self.front,
        };
        let plan = plan(&self.shadow(), request, &self.wanted);
        let memories: Vec<RecalledMemory> = memories
            .iter()
            .map(|(id, text)| RecalledMemory {
                id: (*id).to_owned(),
                text: (*text).to_owned(),
                said_millis: None,
            })
            .collect();
        let draft = draft(&memories, clock, &plan.visible(), 10_000, &str::len);
        let composed = plan.compose(draft.as_ref());
        self.records.extend(composed.events.iter().map(record::write));
        composed
    }

    pub(crate) fn reply(&mut self, bytes: &str) {
        self.records.push(record::write(&ShadowEvent::Reply {
            bytes: bytes.to_owned(),
        }));
    }
}

/// Learns conversations under names and matches lists against them.
#[derive(Default)]
pub(crate) struct Index(pub(crate) ConversationIndex);

impl Index {
    pub(crate) fn learn(&mut self, name: &str, scope: &MatchScope<'_>, messages: &[String]) {
        let chain = Chain::of(scope, &refs(messages));
        self.0.learn(&ConversationId(name.to_owned()), &chain);
    }

    pub(crate) fn find(&self, scope: &MatchScope<'_>, messages: &[String]) -> Matched {
        match_chain(&self.0, &Chain::of(scope, &refs(messages)), &|_| false)
    }
}
