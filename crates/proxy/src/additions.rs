//! Text added to a turn besides the client's own: memory, core memory, an agent's skills, the time.
//!
//! Owns: which searches run at once, and the order of their results. Never: the searches (`recall`, `skills`), the
//! wrapper (`prefix`).

use async_trait::async_trait;
use context::bootstrap;
use context::tokens::Meter;
use model::{Name, Owner, Scope};
use prefix::fragment::{self, Draft, RecalledMemory, Visible};
use transcript::dialect::{self, Dialect};

use crate::conversation::{Additions, Conversation, room};
use crate::parts::DirectParts;
use crate::recall;
use crate::skills;

/// Maximum share of the operator's instructions: this fraction of the window, at this many characters a token.
const INSTRUCTIONS_PART: usize = 4;
const CHARS_PER_TOKEN: usize = 3;

/// The sources of a turn's additions, with their bounds.
pub(crate) struct TurnAdditions<'a> {
    pub(crate) parts: &'a DirectParts,
    pub(crate) dialect: Dialect,
    pub(crate) meter: &'a Meter,
    /// The model's window, in tokens.
    pub(crate) window: usize,
    /// Whether memory is recalled.
    pub(crate) recalls: bool,
    /// The agent's id, if the request has tools.
    pub(crate) agent: Option<Name>,
    /// Whether facts about the person from outside of the project are added too.
    pub(crate) with_person: bool,
}

#[async_trait]
impl Additions for TurnAdditions<'_> {
    async fn instructions(&self) -> String {
        let Some(files) = self.parts.instructions.clone() else {
            return String::new();
        };
        let chars = self.window / INSTRUCTIONS_PART * CHARS_PER_TOKEN;
        let read = move || files.read(chars.min(bootstrap::CHARS_MAX));
        tokio::task::spawn_blocking(read).await.unwrap_or_default()
    }

    async fn draft(&self, conversation: &Conversation, message: &str, visible: &Visible) -> Option<Draft> {
        if !self.recalls {
            return None;
        }
        let message = dialect::read_message(self.dialect, message).ok()?.prose();
        let scope = &conversation.key.scope;
        let whose = recall::ContextOf {
            scope,
            owner: &conversation.party.owner,
            with_person: self.with_person,
        };
        let here = &conversation.key.session;
        let (engine, clock) = (&self.parts.engine, &*self.parts.clock);
        let count = |text: &str| self.meter.roughly(text);
        let pages_max = room::pages(self.window);
        let pages = async {
            if visible.memories.iter().any(|id| id.starts_with(recall::PAGES)) {
                return None;
            }
            recall::pages(engine, clock, whose, pages_max, &count).await
        };
        // Both run at once: the turn waits only for the slower one.
        let asked = recall::Asked {
            whose,
            here,
            message: &message,
            wait: if conversation.shadow.entries().is_empty() {
                recall::FIRST_WAIT
            } else {
                recall::WAIT
            },
        };
        let recalled = recall::recall(engine, clock, self.parts.contexts.tasks(), asked);
        let (recalled, pages, skills) = tokio::join!(recalled, pages, self.skills(scope, &message));
        let tokens_max = room::fragment(self.window) + pages.as_ref().map_or(0, |pages| count(&pages.text));
        let memories = pages.iter().chain(&skills).chain(&recalled);
        let now = engine.settings().zone.render_short(clock.now());
        fragment::draft(memories, Some(&now), visible, tokens_max, &count)
    }
}

impl TurnAdditions<'_> {
    /// The skills of the agent that match the question.
    async fn skills(&self, scope: &Scope, question: &str) -> Vec<RecalledMemory> {
        match &self.agent {
            Some(agent) => {
                let agent = Owner::agent(agent.clone());
                skills::skills(&self.parts.engine, &*self.parts.clock, scope, &agent, question).await
            }
            None => Vec::new(),
        }
    }
}
