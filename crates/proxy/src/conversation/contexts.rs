//! The context engine as a service, for programs that call their model themselves and for views of live conversations.
//!
//! Owns: appending, assembling, compacting, and finding again what left the view. Invariants: an appended message is on disk before its id
//! is returned; a change that fails leaves the conversation as it was on disk. Never: HTTP, searching memory.

mod change;
mod compact;
mod expand;
mod look;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use context::budget::OverBudget;
use context::ladder::Attempt;
use context::policy::Policy;
use model::{Name, Owner, Scope, SessionId, SessionKey, Timestamp};
use ports::context_engine::ContextEngine;
use ports::{Chat, Clock, Conversations, LedgerError};
use prefix::shadow::ShadowEvent;
use tokio::sync::OwnedMutexGuard;
use transcript::ItemId;
use transcript::dialect::{self, Dialect};

pub use expand::tool as expand_tool;

use crate::conversation::decide::{Additions, Asked, Decided};
use crate::conversation::endings::Endings;
use crate::conversation::flush::Keeping;
use crate::conversation::hooks::Chosen;
use crate::conversation::keeper::Keeper;
use crate::conversation::log::Logged;
use crate::conversation::party::Party;
use crate::conversation::state::Conversation;
use crate::conversation::store::{Shared, Store};
use crate::conversation::variator::Variator;

/// A command or a program that receives compactions.
#[async_trait::async_trait]
pub trait Listener: Send + Sync + std::fmt::Debug {
    /// Called before a compaction; a turn may wait for it. Its answer is preserved in the summary.
    async fn before(&self, compaction: &Compaction) -> Option<String>;
    /// Called after every compaction.
    async fn after(&self, compaction: &Compaction);
}

/// A compaction, as listeners see it, with the tokens and messages of the view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compaction {
    pub conversation: SessionKey,
    pub reason: &'static str,
    pub tokens_before: usize,
    pub messages_before: usize,
    /// None before the compaction.
    pub tokens_after: Option<usize>,
    pub messages_after: Option<usize>,
}

/// The ports and settings of the service.
#[derive(Debug, Clone)]
pub struct ContextsParts {
    pub store: Arc<Store>,
    pub keeper: Keeper,
    pub chosen: Chosen,
    /// Writes summaries; without it, a summary is the digest alone.
    pub chat: Option<Arc<dyn Chat>>,
    /// Stores facts of messages that leave a view.
    pub keeping: Option<Keeping>,
    pub clock: Arc<dyn Clock>,
    /// Tasks that run after an answer.
    pub tasks: Endings,
}

impl ContextsParts {
    /// Quipu's own engine on these logs, without a model and without listeners.
    pub fn plain(logs: Arc<dyn Conversations>, policy: Policy, clock: Arc<dyn Clock>) -> Self {
        let store = Arc::new(Store::new(logs, policy.clone()));
        Self {
            keeper: Keeper::start(Arc::clone(&store)),
            store,
            chosen: Chosen {
                plugin: policy
                    .varies_results
                    .then(|| Arc::new(Variator::default()) as Arc<dyn ContextEngine>),
                policy,
                listener: None,
                clock: Arc::clone(&clock),
            },
            chat: None,
            keeping: None,
            clock,
            tasks: Endings::default(),
        }
    }
}

/// The handle. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Contexts {
    parts: Arc<ContextsParts>,
}

/// Errors of the context engine.
#[derive(Debug, thiserror::Error)]
pub enum ContextError {
    #[error(transparent)]
    OverBudget(#[from] OverBudget),
    #[error("cannot read or write the conversation's log")]
    Ledger(#[from] LedgerError),
    #[error("there is no conversation {}", .0.as_ref().map_or("without a name", SessionId::as_str))]
    NoConversation(Option<SessionId>),
    #[error("the conversation has no item or summary {0}")]
    NoItem(String),
    #[error("item {0} was deleted")]
    Deleted(ItemId),
    #[error("message {0} is not valid in this dialect: {1}")]
    NoMessage(usize, String),
    #[error("the conversation's window is not known yet: give `window_tokens`")]
    NoBudget,
    #[error("the conversation {0} already exists: fork to another name")]
    Exists(SessionId),
}

/// An original message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Original {
    pub id: ItemId,
    /// As the client wrote it, as JSON text.
    pub message: String,
}

/// Result of a compaction.
#[derive(Debug, Clone)]
pub struct Compacted {
    pub attempts: Vec<Attempt>,
    pub tokens_before: usize,
    pub tokens_after: usize,
}

impl Contexts {
    /// The file of an owner's facts that outlived their messages; none without one, or if it is empty.
    pub fn facts_of(&self, scope: &Scope, owner: &Owner) -> Option<String> {
        let party = Party {
            scope: scope.clone(),
            owner: owner.clone(),
            conversation: None,
            family: None,
        };
        let file = (self.parts.keeping.as_ref()?.place_of.lock())(&party);
        (file.read().as_deref() != Ok("")).then(|| file.place())
    }

    pub fn new(parts: ContextsParts) -> Self {
        Self {
            parts: Arc::new(parts),
        }
    }

    pub fn store(&self) -> &Arc<Store> {
        &self.parts.store
    }

    pub fn keeper(&self) -> &Keeper {
        &self.parts.keeper
    }

    /// Writes the queue to disk and ends; work after answers has this time limit. Calls in the meantime are lost.
    pub async fn shutdown(&self, bound: Duration) {
        self.parts.tasks.finish(&*self.parts.clock, bound).await;
        self.parts.keeper.finish().await;
    }

    /// Tasks that run after answers.
    pub fn tasks(&self) -> &Endings {
        &self.parts.tasks
    }

    pub fn chosen(&self) -> &Chosen {
        &self.parts.chosen
    }

    /// The configured window of an agent, in tokens.
    pub fn agent_window(&self, agent: Option<&Name>) -> Option<usize> {
        self.parts
            .chosen
            .policy
            .agent_windows
            .get(agent?.as_str())
            .copied()
    }

    fn now(&self) -> Timestamp {
        self.parts.clock.now()
    }

    /// Appends messages for the next request; returns their ids once they are on disk.
    pub async fn append(
        &self,
        party: &Party,
        dialect: Dialect,
        messages: &[String],
    ) -> Result<Vec<ItemId>, ContextError> {
        for (index, message) in messages.iter().enumerate() {
            dialect::read_message(dialect, message)
                .map_err(|error| ContextError::NoMessage(index, error.to_string()))?;
        }
        let shared = self.parts.store.open(party).await?;
        let mut conversation = shared.lock().await;
        conversation.dialect = dialect;
        let ids = messages.iter().map(|bytes| conversation.append(bytes)).collect();
        self.write(&mut conversation).await?;
        Ok(ids)
    }

    /// Decides the next request: all messages, within its budget. The messages are the conversation's own, whatever the
    /// request contains.
    pub async fn assemble(
        &self,
        party: &Party,
        asked: &Asked<'_>,
        additions: &dyn Additions,
    ) -> Result<Decided, ContextError> {
        let shared = self.existing(party).await?;
        let mut conversation = shared.lock().await;
        let messages = conversation.messages();
        let messages: Vec<&str> = messages.iter().map(String::as_str).collect();
        let mut asked = *asked;
        asked.request.messages = &messages;
        let decided = conversation.decide(&asked, &self.parts.chosen, additions).await?;
        self.write(&mut conversation).await?;
        self.left_view(&shared, &conversation, &decided);
        Ok(decided)
    }

    /// Records a model's reply. Unless memory `learns`, no fact of it is stored when it leaves the view.
    pub async fn after_turn(
        &self,
        party: &Party,
        dialect: Dialect,
        reply: &str,
        prompt_tokens: Option<usize>,
        learns: bool,
    ) -> Result<(ItemId, Shared), ContextError> {
        dialect::read_message(dialect, reply)
            .map_err(|error| ContextError::NoMessage(0, error.to_string()))?;
        let shared = self.existing(party).await?;
        let mut conversation = shared.lock().await;
        let beside = conversation.budget.map_or(0, |budget| budget.tools);
        if let Some(tokens) = prompt_tokens {
            conversation.learn_usage(tokens, beside);
        }
        conversation.set_learns(learns);
        let waiting = conversation.appended.len();
        conversation.take_appended();
        // Memory also learns these messages, which no request contained.
        conversation.ask(waiting);
        let id = ItemId(conversation.session.items());
        let bytes = reply.to_owned();
        conversation.record(&Logged::Sent(ShadowEvent::Reply { bytes }));
        self.write(&mut conversation).await?;
        drop(conversation);
        self.replied(&shared, &[reply]);
        Ok((id, shared))
    }

    /// Passes recorded replies to a plug-in, in the background.
    pub fn replied(&self, shared: &Shared, replies: &[&str]) {
        if self.parts.chosen.plugin.is_none() {
            return;
        }
        let (this, shared) = (self.clone(), Arc::clone(shared));
        let replies: Vec<String> = replies.iter().map(|reply| (*reply).to_owned()).collect();
        self.parts.tasks.spawn(async move {
            let mut conversation = shared.lock().await;
            let turn = conversation.last_turn();
            let chosen = &this.parts.chosen;
            let Some(plugin) = chosen.plugin(&mut conversation.health, &turn).await else {
                return;
            };
            for reply in replies {
                let (items, reply) = (conversation.session.view_items(), Conversation::read(&reply));
                let telling = plugin.after_turn(&items, &reply, &turn);
                chosen.ask(&mut conversation.health, telling).await;
            }
        });
    }

    pub(super) async fn existing(&self, party: &Party) -> Result<Shared, ContextError> {
        let found = self.parts.store.opened(party).await?;
        found.ok_or_else(|| ContextError::NoConversation(party.conversation.clone()))
    }

    async fn locked(&self, party: &Party) -> Result<OwnedMutexGuard<Conversation>, ContextError> {
        Ok(self.existing(party).await?.lock_owned().await)
    }

    async fn write(&self, conversation: &mut Conversation) -> Result<(), LedgerError> {
        self.parts.store.learn(conversation);
        self.parts.keeper.write(conversation).await
    }
}
