//! Turns of programs that call their model themselves: the same conversations, views and memory as behind the proxy.
//!
//! Owns: the order append → assemble → (their model) → after turn, with memory on both ends. Never: sending to a model,
//! HTTP, choosing a view (`conversation`).

use std::sync::Arc;

use context::guard::{Claims, ModelWindow};
use context::tokens::Meter;
use model::{Name, Owner, Scope, SessionId};
use prefix::compose::{self, Replay, SystemPlace};
use prefix::shadow::Reason;
use prefix::stream::ReplyOutcome;
use transcript::{ItemId, dialect};

use crate::additions::TurnAdditions;
use crate::after::Injected;
use crate::conversation::{Asked, ContextError, Contexts, Party, room};
use crate::idle::Idle;
use crate::learn;
use crate::parts::DirectParts;
use crate::proxy::{MemoryUse, Speech};
use crate::turn;

/// The handle. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Direct {
    parts: Arc<DirectParts>,
    idle: Idle,
}

/// A request to be assembled.
#[derive(Debug, Clone)]
pub struct Assembly {
    pub speech: Speech,
    /// The model that sets the vocabulary for counting and, without `window_tokens`, the window; empty if unknown.
    pub model: String,
    pub window_tokens: Option<usize>,
    /// Reserve for the answer in tokens; an eighth of the window by default.
    pub reserve_tokens: Option<usize>,
    /// The system text.
    pub system: Option<String>,
    /// The tools, each as JSON text.
    pub tools: Vec<String>,
    pub memory: MemoryUse,
    pub agent: Option<Name>,
    /// See [`crate::Request::with_person`].
    pub with_person: bool,
}

/// A request for a model.
#[derive(Debug, Clone)]
pub struct AssembledRequest {
    /// Each message as JSON text in the dialect; in a chat the system text is the first.
    pub messages: Vec<String>,
    /// The system text, if the dialect has a field for it.
    pub system: Option<String>,
    pub tools: Vec<String>,
    /// Tokens of the view, without system text, tools and additions.
    pub tokens: usize,
    /// Maximum tokens of the view.
    pub limit: usize,
    /// Reasons why the request does not extend the last one; empty if it does.
    pub reasons: Vec<Reason>,
    pub is_compacted: bool,
    pub injected: Option<Injected>,
    pub warning: Option<String>,
}

impl Direct {
    /// Its task ends with the last handle, or at [`Direct::shutdown`].
    pub fn start(parts: DirectParts) -> Self {
        let parts = Arc::new(parts);
        Self {
            idle: Idle::start(Arc::clone(&parts), None),
            parts,
        }
    }

    /// Ends idle compaction.
    pub async fn shutdown(&self) {
        self.idle.finish().await;
    }

    /// The parts that a proxy of the same conversations also uses.
    pub fn parts(&self) -> Arc<DirectParts> {
        Arc::clone(&self.parts)
    }

    /// The service of conversations.
    pub fn contexts(&self) -> &Contexts {
        &self.parts.contexts
    }

    /// The conversation of an owner by its name; none without an owner.
    pub fn party(&self, scope: Scope, owner: Option<Name>, conversation: SessionId) -> Option<Party> {
        Some(Party {
            scope,
            owner: Owner::user(owner.or_else(|| self.parts.owner.clone())?),
            conversation: Some(conversation),
            family: None,
        })
    }

    /// The next request: all messages, within its budget, with recalled memory.
    pub async fn assemble(
        &self,
        party: &Party,
        assembly: &Assembly,
    ) -> Result<AssembledRequest, ContextError> {
        let (counts_for, meter) = Meter::for_models(&[&assembly.model]);
        let window = ModelWindow::resolve(&Claims {
            session: assembly.window_tokens,
            agent: self.parts.contexts.agent_window(assembly.agent.as_ref()),
            model: Some(assembly.model.clone()),
            ..Claims::default()
        });
        let (window, window_source) = (window.tokens, window.source);
        let tools: Vec<&str> = assembly.tools.iter().map(String::as_str).collect();
        let tools_text = format!("[{}]", assembly.tools.join(","));
        let system = assembly
            .system
            .as_ref()
            .map(|text| serde_json::Value::from(text.as_str()).to_string());
        let asked = Asked {
            dialect: assembly.speech.dialect(),
            request: compose::Request {
                model: &assembly.model,
                system: SystemPlace::Field(system.as_deref()),
                tools: &tools,
                messages: &[],
                front: 0,
            },
            replay: Replay::Frozen,
            counts_for,
            meter: &meter,
            window,
            window_source,
            reserve: room::reserve(window, assembly.reserve_tokens),
            injected: room::additions(window, assembly.memory.recalls()),
            tools: if tools.is_empty() { "" } else { &tools_text },
            is_held: false,
            is_cold: false,
            overflow: None,
            learns: assembly.memory.learns(),
            now: self.parts.clock.now(),
        };
        let additions = self.additions(assembly, &meter, window);
        let decided = self.parts.contexts.assemble(party, &asked, &additions).await?;
        let composed = &decided.composed;
        let system = composed.system.as_deref().and_then(text_of);
        let is_chat = assembly.speech == Speech::Chat;
        let leading = system.as_deref().filter(|_| is_chat);
        let leading = leading.map(|text| serde_json::json!({"role": "system", "content": text}).to_string());
        let sent = composed.messages.iter().map(|sent| sent.bytes.clone());
        Ok(AssembledRequest {
            messages: leading.into_iter().chain(sent).collect(),
            system: system.filter(|_| !is_chat),
            tools: composed.tools.clone(),
            tokens: decided.view_tokens,
            limit: decided.budget.limit(),
            is_compacted: decided.compaction.is_some(),
            injected: turn::injected(composed, &meter),
            warning: decided.warning,
            reasons: decided.reasons,
        })
    }

    /// Memory, skills and instructions for this request.
    fn additions<'a>(&'a self, assembly: &Assembly, meter: &'a Meter, window: usize) -> TurnAdditions<'a> {
        let agent = learn::agent(assembly.agent.as_ref());
        TurnAdditions {
            parts: &self.parts,
            dialect: assembly.speech.dialect(),
            meter,
            window,
            recalls: assembly.memory.recalls(),
            agent: agent.filter(|_| !assembly.tools.is_empty()),
            with_person: assembly.with_person,
        }
    }

    /// Records a model's reply; adds the turn to memory if it `learns`.
    pub async fn after_turn(
        &self,
        party: &Party,
        speech: Speech,
        reply: &str,
        prompt_tokens: Option<usize>,
        agent: Option<&Name>,
        learns: bool,
    ) -> Result<ItemId, ContextError> {
        let (id, shared) = self
            .parts
            .contexts
            .after_turn(party, speech.dialect(), reply, prompt_tokens, learns)
            .await?;
        let read = dialect::read_message(speech.dialect(), reply);
        let outcome = ReplyOutcome {
            message: Some(if speech == Speech::Responses {
                format!("[{reply}]")
            } else {
                reply.to_owned()
            }),
            text: read.map(|item| item.prose()).unwrap_or_default(),
            ..ReplyOutcome::default()
        };
        let turn = {
            let mut conversation = shared.lock().await;
            let now = self.parts.clock.elapsed();
            self.idle.turn(now, conversation.identity(), None);
            learn::AnsweredTurn::of(&mut conversation, agent, speech, &outcome)
        };
        if learns && !turn.said.is_empty() {
            learn::learn(&self.parts.engine, &*self.parts.clock, &*self.parts.ids, &turn).await;
        }
        Ok(id)
    }
}

/// A system text that may be a JSON string or a list of blocks.
fn text_of(json: &str) -> Option<String> {
    match serde_json::from_str(json).ok()? {
        serde_json::Value::String(text) => Some(text),
        other => Some(other.to_string()),
    }
}
