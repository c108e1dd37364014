//! A user's own context engine, in another process: Quipu asks it over its standard input and output.
//!
//! Owns: the seven hooks as calls of protocol 1, the meaning of an answer without messages, the engine's info. Never:
//! judging a view; `conversation` verifies it, and its own engine replaces a failing one.
//!
//! Reading order: [`CommandEngine`] (the hooks), `messages` (items as chat messages and back), `protocol` (the JSON of a call), `command`
//! and `process` (the program that Quipu starts).

mod command;
mod messages;
mod process;
mod protocol;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use ports::Clock;
use ports::context_engine::{ContextEngine, EngineFault, EngineInfo, TurnMeta};
use serde_json::{Value, json};
use transcript::{Item, subagent};

use command::Program;
use messages::SentMessages;
use protocol::{EngineAnswer, Hook, HookCall};

/// Maximum time of a hook.
const TIMEOUT_MAX: Duration = Duration::from_secs(5);

/// Settings of a user's engine.
#[derive(Clone, PartialEq)]
pub struct EngineSettings {
    /// The configured name. The engine's answer to `bootstrap` can give another.
    pub id: String,
    /// The engine compacts by itself. The engine's answer to `bootstrap` can override this.
    pub owns_compaction: bool,
    /// Time of one call, including a start of the program. More than 5 s counts as 5 s.
    pub timeout: Duration,
    /// Any JSON; the engine gets it with `bootstrap`.
    pub config: Value,
}

impl EngineSettings {
    /// An engine of that name with the defaults: 5 s for a call, no compaction of its own, an empty `config`.
    pub fn new(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            owns_compaction: false,
            timeout: TIMEOUT_MAX,
            config: json!({}),
        }
    }
}

// Without `config`, which may hold a key.
model::shown!(EngineSettings {
    id,
    owns_compaction,
    timeout
});

/// A context engine that is a program. Quipu starts it with the first call and ends it with the last reference.
#[derive(Debug)]
pub struct CommandEngine {
    settings: EngineSettings,
    info: Mutex<EngineInfo>,
    program: Program,
}

impl CommandEngine {
    /// The engine of this program, given as its path or name, then its arguments. Starts nothing yet.
    pub fn new(
        settings: EngineSettings,
        command: Vec<String>,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, EngineFault> {
        let info = EngineInfo {
            id: settings.id.clone(),
            owns_compaction: settings.owns_compaction,
        };
        Ok(Self {
            program: Program::new(&settings, command, clock)?,
            settings,
            info: Mutex::new(info),
        })
    }

    async fn ask(
        &self,
        hook: Hook,
        turn: &TurnMeta,
        messages: &[Value],
        members: Value,
    ) -> Result<EngineAnswer, EngineFault> {
        let call = HookCall {
            hook,
            turn,
            messages,
            members,
        };
        EngineAnswer::read(self.program.exchange(call).await?)
    }

    /// The engine's view of these items; none if its answer has no messages.
    async fn list(
        &self,
        hook: Hook,
        turn: &TurnMeta,
        sent: &SentMessages<'_>,
        members: Value,
    ) -> Result<Option<Vec<messages::Restored>>, EngineFault> {
        let answer = self.ask(hook, turn, sent.messages(), members).await?;
        let items = answer.messages.map(|messages| sent.restored(messages));
        items.transpose()
    }

    /// Overrides the settings by an answer; omitted values stay as configured.
    fn learn(&self, answer: &EngineAnswer) {
        let mut info = self.info.lock();
        if let Some(id) = &answer.engine_id {
            info.id.clone_from(id);
        }
        if let Some(owns) = answer.owns_compaction {
            info.owns_compaction = owns;
        }
    }
}

/// The list of an answer; an error if the answer has none.
fn demanded(listed: Option<Vec<messages::Restored>>, hook: Hook) -> Result<Vec<Arc<Item>>, EngineFault> {
    let items = listed.ok_or_else(|| {
        EngineFault::Failed(format!(
            "its answer to `{}` has no `messages`; answer with a list of messages",
            hook.as_str()
        ))
    })?;
    Ok(items.into_iter().map(|restored| restored.item).collect())
}

#[async_trait]
impl ContextEngine for CommandEngine {
    fn info(&self) -> EngineInfo {
        self.info.lock().clone()
    }

    async fn bootstrap(&self, turn: &TurnMeta) -> Result<(), EngineFault> {
        let members = json!({ "config": self.settings.config });
        let answer = self.ask(Hook::Bootstrap, turn, &[], members).await?;
        self.learn(&answer);
        Ok(())
    }

    async fn ingest(&self, items: Vec<Arc<Item>>, turn: &TurnMeta) -> Result<Vec<Arc<Item>>, EngineFault> {
        let sent = SentMessages::new(&items);
        let listed = self.list(Hook::Ingest, turn, &sent, Value::Null).await?;
        match listed {
            Some(restored) => messages::one_for_each(restored, items.len()),
            None => Ok(items),
        }
    }

    async fn assemble(&self, items: Vec<Arc<Item>>, turn: &TurnMeta) -> Result<Vec<Arc<Item>>, EngineFault> {
        let sent = SentMessages::new(&items);
        let listed = self.list(Hook::Assemble, turn, &sent, Value::Null).await?;
        demanded(listed, Hook::Assemble)
    }

    async fn compact(
        &self,
        items: Vec<Arc<Item>>,
        target_tokens: usize,
        turn: &TurnMeta,
    ) -> Result<Vec<Arc<Item>>, EngineFault> {
        let sent = SentMessages::new(&items);
        let members = json!({ "target_tokens": target_tokens });
        let listed = self.list(Hook::Compact, turn, &sent, members).await?;
        demanded(listed, Hook::Compact)
    }

    async fn after_turn(
        &self,
        items: &[Arc<Item>],
        reply: &Item,
        turn: &TurnMeta,
    ) -> Result<(), EngineFault> {
        let sent = SentMessages::new(items);
        let members = json!({ "reply": sent.one(reply) });
        self.ask(Hook::AfterTurn, turn, sent.messages(), members).await?;
        Ok(())
    }

    async fn prepare_subagent_spawn(
        &self,
        items: Vec<Arc<Item>>,
        role: &str,
        turn: &TurnMeta,
    ) -> Result<Vec<Arc<Item>>, EngineFault> {
        let sent = SentMessages::new(&items);
        let members = json!({ "role": role });
        let hook = Hook::PrepareSubagentSpawn;
        let listed = self.list(hook, turn, &sent, members).await?;
        if listed.is_none() {
            // An engine without an answer leaves the choice to Quipu: that is no fault.
            return Ok(subagent::starts_with(items, role));
        }
        demanded(listed, hook)
    }

    async fn on_subagent_ended(
        &self,
        agent_id: &str,
        items: &[Arc<Item>],
        result: Option<&str>,
        turn: &TurnMeta,
    ) -> Result<(), EngineFault> {
        let sent = SentMessages::new(items);
        let members = json!({ "agent_id": agent_id, "result": result });
        self.ask(Hook::OnSubagentEnded, turn, sent.messages(), members)
            .await?;
        Ok(())
    }
}
