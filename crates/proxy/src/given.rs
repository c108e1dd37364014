//! Text that a turn is given beside the client's words: memory, core memory, an agent's skills, the time.
//!
//! Owns: what is asked for at once, and the order in which it is added. Never: what search finds (`recall`, `skills`), the wrapper
//! (`prefix`).

use context::tokens::Meter;
use conversation::{Conversation, Endings};
use memory::Engine;
use model::{Name, Owner, Scope};
use ports::Clock;
use prefix::fragment;
use transcript::dialect::{self, Dialect};

use crate::recall;
use crate::skills;

/// The most that memory adds to a turn, in tokens.
const FRAGMENT_TOKENS_MAX: usize = 350;
/// The most that core memory adds to the first turn that does not show it, in tokens.
const PAGES_TOKENS_MAX: usize = 400;
/// In a small window memory may not crowd out the conversation: so many'th of it.
const WINDOW_PART: usize = 16;

/// Who gives, and within which bounds.
pub(crate) struct Giver<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) clock: &'a dyn Clock,
    pub(crate) endings: &'a Endings,
    pub(crate) dialect: Dialect,
    pub(crate) meter: &'a Meter,
    /// The model's window, in tokens.
    pub(crate) window: usize,
    /// The agent that works here, where it has tools at all.
    pub(crate) agent: Option<Name>,
}

/// The most that memory adds in such a window, in tokens.
fn fragment_tokens_max(window: usize) -> usize {
    FRAGMENT_TOKENS_MAX.min(window / WINDOW_PART)
}

fn pages_tokens_max(window: usize) -> usize {
    PAGES_TOKENS_MAX.min(window / WINDOW_PART)
}

/// The room that a request keeps for all of it, in tokens. They are counted roughly, the window is not.
pub(crate) fn room(window: usize) -> usize {
    (fragment_tokens_max(window) + pages_tokens_max(window)) * 5 / 4
}

impl Giver<'_> {
    /// What memory and the calendar add to the message that asks.
    pub(crate) async fn draft(
        &self,
        conversation: &Conversation,
        message: &str,
        visible: &fragment::Visible,
    ) -> Option<fragment::Draft> {
        let message = dialect::read_message(self.dialect, message).ok()?.prose();
        let scope = &conversation.key.scope;
        let here = &conversation.key.session;
        let count = |text: &str| self.meter.roughly(text);
        let pages_max = pages_tokens_max(self.window);
        let pages = async {
            if visible.memories.iter().any(|id| id.starts_with(recall::PAGES)) {
                return None;
            }
            recall::pages(
                self.engine,
                self.clock,
                scope,
                &conversation.owner,
                pages_max,
                &count,
            )
            .await
        };
        // Both at once: the turn waits for memory no longer than for one of them.
        let asked = recall::Asked {
            scope,
            owner: &conversation.owner,
            here,
            message: &message,
            wait: if conversation.shadow.entries().is_empty() {
                recall::FIRST_WAIT
            } else {
                recall::WAIT
            },
        };
        let recalled = recall::recall(self.engine, self.clock, self.endings, asked);
        let (recalled, pages, skills) = tokio::join!(recalled, pages, self.skills(scope, &message));
        let tokens_max = fragment_tokens_max(self.window) + pages.as_ref().map_or(0, |_| pages_max);
        let memories: Vec<fragment::Memory<'_>> = pages
            .iter()
            .chain(&skills)
            .chain(&recalled)
            .map(|memory| fragment::Memory {
                id: &memory.id,
                text: &memory.text,
            })
            .collect();
        let now = self.engine.settings().zone.render_short(self.clock.now());
        let told = visible.clock.as_deref().filter(|told| hour(told) == hour(&now));
        fragment::draft(&memories, Some(told.unwrap_or(&now)), visible, tokens_max, &count)
    }

    /// The skills of the agent that fit the question.
    async fn skills(&self, scope: &Scope, question: &str) -> Vec<recall::Recalled> {
        match &self.agent {
            Some(agent) => {
                let agent = Owner::agent(agent.clone());
                skills::skills(self.engine, self.clock, scope, &agent, question).await
            }
            None => Vec::new(),
        }
    }
}

/// The hour of a time as it is shown: a conversation is shown the time once in each.
fn hour(time: &str) -> &str {
    time.split_once(':').map_or(time, |(hour, _)| hour)
}
