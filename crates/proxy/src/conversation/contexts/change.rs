//! Changes to a conversation outside of its turns: pins, copies, rewinds, sub-agents.
//!
//! Owns: that a change is on disk before it is answered. Never: compaction (`compact`).

use std::sync::Arc;

use context::event::ViewEvent;
use model::SessionId;
use prefix::compose;
use transcript::{Item, ItemId, dialect, subagent};

use super::{ContextError, Contexts};
use crate::conversation::log::Logged;
use crate::conversation::party::Party;
use crate::conversation::state::Conversation;

impl Contexts {
    /// Pins an item, which keeps it verbatim through every compaction, or unpins it.
    pub async fn pin(&self, party: &Party, id: ItemId, pinned: bool) -> Result<(), ContextError> {
        let mut conversation = self.locked(party).await?;
        conversation.take_appended();
        let is_known = id.0 < conversation.session.items();
        if is_known {
            let event = if pinned { ViewEvent::Pin } else { ViewEvent::Unpin };
            conversation.record(&Logged::View(event(id)));
        }
        self.write(&mut conversation).await?;
        is_known
            .then_some(())
            .ok_or_else(|| ContextError::NoItem(id.to_string()))
    }

    /// Drops the steps of the last compaction, and resets the warnings and the counters that do not count compactions;
    /// returns the number of those steps and the tokens that they saved. The log and the view stay.
    pub async fn clean_up(&self, party: &Party) -> Result<(usize, usize), ContextError> {
        let mut conversation = self.locked(party).await?;
        conversation.warnings.reset();
        conversation.session.clean_up();
        conversation.guard.reset_warning();
        let attempts = conversation.last_result.take().unwrap_or_default();
        let saved = attempts.iter().filter_map(|attempt| attempt.gain).sum();
        Ok((attempts.len(), saved))
    }

    /// Creates another conversation of the same owner: a copy of this one, or of its messages before an item.
    pub async fn fork(
        &self,
        party: &Party,
        before: Option<ItemId>,
        to: &SessionId,
    ) -> Result<(), ContextError> {
        let mut conversation = self.locked(party).await?;
        let to_party = Party {
            conversation: Some(to.clone()),
            ..party.clone()
        };
        if self.parts.store.opened(&to_party).await?.is_some() {
            return Err(ContextError::Exists(to.clone()));
        }
        conversation.take_appended();
        self.write(&mut conversation).await?;
        let kept = match before {
            Some(id) => conversation
                .place(id)
                .ok_or_else(|| ContextError::NoItem(id.to_string()))?,
            None => conversation.ids.len(),
        };
        Ok(self.parts.store.fork(&to_party, &conversation, kept).await?)
    }

    /// Continues from just before this item. Later items stay in the log and can be recovered.
    pub async fn rewind(&self, party: &Party, to: ItemId) -> Result<(), ContextError> {
        let mut conversation = self.locked(party).await?;
        conversation.take_appended();
        let kept = conversation.place(to);
        if let Some(kept) = kept {
            let epoch = compose::rewound(&conversation.shadow, kept);
            conversation.record(&Logged::Sent(epoch));
        }
        self.write(&mut conversation).await?;
        kept.map(drop).ok_or_else(|| ContextError::NoItem(to.to_string()))
    }

    /// The messages that a sub-agent with this role starts with, in the conversation's dialect. Of the sub-agent, only
    /// appended messages enter the conversation.
    pub async fn spawn(&self, party: &Party, role: &str) -> Result<Vec<String>, ContextError> {
        let mut conversation = self.locked(party).await?;
        let turn = conversation.last_turn();
        let items = conversation.with_waiting();
        let chosen = &self.parts.chosen;
        let made = match chosen.plugin(&mut conversation.health, &turn).await {
            Some(plugin) => {
                let spawning = plugin.prepare_subagent_spawn(items.clone(), role, &turn);
                chosen.ask(&mut conversation.health, spawning).await
            }
            None => None,
        };
        let made = made.unwrap_or_else(|| subagent::starts_with(items, role));
        let made: Vec<Item> = made.iter().map(|item| Item::clone(item)).collect();
        Ok(dialect::write(conversation.dialect, &made))
    }

    /// Notifies the engine of the end of a sub-agent.
    pub async fn ended(
        &self,
        party: &Party,
        agent_id: &str,
        messages: &[String],
        result: Option<&str>,
    ) -> Result<(), ContextError> {
        let mut conversation = self.locked(party).await?;
        let turn = conversation.last_turn();
        let items: Vec<Arc<Item>> = messages
            .iter()
            .map(|bytes| Arc::new(Conversation::read(bytes)))
            .collect();
        let chosen = &self.parts.chosen;
        if let Some(plugin) = chosen.plugin(&mut conversation.health, &turn).await {
            let telling = plugin.on_subagent_ended(agent_id, &items, result, &turn);
            chosen.ask(&mut conversation.health, telling).await;
        }
        Ok(())
    }
}
