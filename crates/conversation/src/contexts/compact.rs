//! Compactions that no request asks for, and what follows any of them.
//!
//! Owns: the summary, the listener, the flush of facts. Invariant: what arrives while a model writes is kept. Never: choosing what leaves
//! (`context`).

use std::sync::Arc;

use context::budget::Budget;
use context::event::Event as ViewEvent;
use context::flush::Unflushed;
use context::ladder::Ladder;
use context::plan::Trigger;
use prefix::compose;
use prefix::shadow::Reason;
use transcript::{Item, ItemId};

use super::{Compacted, Compaction, ContextError, Contexts};
use crate::conversation::Conversation;
use crate::decide::Decided;
use crate::log::Logged;
use crate::store::Shared;
use crate::whose::Whose;
use crate::{flush, summarise, verify};

impl Contexts {
    /// Compacts now, whatever the weight; with the budget of the last request where none is given.
    pub async fn compact(&self, whose: &Whose, budget: Option<Budget>) -> Result<Compacted, ContextError> {
        let shared = self.existing(whose).await?;
        self.compact_now(&shared, budget, Trigger::Manual).await
    }

    /// Compacts a conversation that is in memory. What arrives while a model writes the summary is kept: a summary counts only for the
    /// view that it was written for.
    async fn compact_now(
        &self,
        shared: &Shared,
        budget: Option<Budget>,
        trigger: Trigger,
    ) -> Result<Compacted, ContextError> {
        let (budget, version, before) = {
            let conversation = shared.lock().await;
            let budget = budget.or(conversation.budget).ok_or(ContextError::NoBudget)?;
            (budget, conversation.version, conversation.compaction(trigger))
        };
        if let Some(done) = self.by_plugin(shared, &budget).await? {
            return Ok(done);
        }
        let preserved = match &self.parts.listener {
            Some(listener) => listener.before(&before).await,
            None => None,
        };
        let summary = self.summary(shared, &budget, trigger).await;
        let mut conversation = shared.lock().await;
        let is_same = conversation.version == version;
        let summary = joined(summary.filter(|_| is_same), preserved);
        self.carry_out(shared, &mut conversation, &budget, trigger, summary)
            .await
    }

    /// Compacts this version of an idle conversation, with the summary that its own model wrote of it; nothing where somebody talked
    /// since.
    pub async fn compact_idle(
        &self,
        shared: &Shared,
        version: u64,
        budget: &Budget,
        summary: Option<String>,
    ) -> Result<(), ContextError> {
        let before = shared.lock().await.compaction(Trigger::Idle);
        let preserved = match &self.parts.listener {
            Some(listener) => listener.before(&before).await,
            None => None,
        };
        let mut conversation = shared.lock().await;
        if conversation.version != version || !conversation.is_at_rest() {
            return Ok(());
        }
        let summary = joined(summary, preserved);
        self.carry_out(shared, &mut conversation, budget, Trigger::Idle, summary)
            .await
            .map(drop)
    }

    async fn carry_out(
        &self,
        shared: &Shared,
        conversation: &mut Conversation,
        budget: &Budget,
        trigger: Trigger,
        summary: Option<String>,
    ) -> Result<Compacted, ContextError> {
        let before = conversation.compaction(trigger);
        let (at, first) = (conversation.records, conversation.log.len());
        conversation.last_result = None;
        let records = conversation.compact(budget, trigger, summary.as_deref(), self.now());
        self.write(conversation, at, records).await?;
        let compacted = Compacted {
            attempts: conversation.last_result.clone().unwrap_or_default(),
            tokens_before: before.tokens_before,
            tokens_after: conversation.session.view_tokens(),
        };
        if compacted.tokens_after < compacted.tokens_before {
            let left = conversation.covered_since(first);
            self.tell(shared, conversation, left, before);
        }
        Ok(compacted)
    }

    /// A plug-in that owns compaction shows a smaller list at once; none where there is no such plug-in, or it failed.
    async fn by_plugin(&self, shared: &Shared, budget: &Budget) -> Result<Option<Compacted>, ContextError> {
        let mut conversation = shared.lock().await;
        let turn = conversation.turn_meta(&conversation.shadow.head().model, budget);
        let chosen = &self.parts.chosen;
        let plugin = chosen.plugin(&mut conversation.health, &turn).await;
        let Some(plugin) = plugin.filter(|plugin| plugin.info().owns_compaction) else {
            return Ok(None);
        };
        let at = conversation.records;
        let mut records = conversation.take_appended();
        let source = conversation.session.shown();
        let target = conversation.session.inputs(budget).target;
        let made = chosen.run(plugin.compact(source.clone(), target, &turn)).await;
        let made = conversation.health.note(made);
        let tokens_before = conversation.session.view_tokens();
        let view = made.map(|made| {
            let (pending, meter) = (conversation.session.pending(), conversation.session.meter());
            verify::view(&source, made, &pending, budget, meter)
        });
        let view = match view.transpose() {
            Ok(Some(view)) => view,
            unusable => {
                // The messages that waited are taken all the same.
                self.write(&conversation, at, records).await?;
                return Ok(unusable.map(|_| None)?);
            }
        };
        let edits = conversation.edits_for(&view.items);
        let epoch = compose::renewal(&conversation.shadow, &edits, vec![Reason::Compaction]);
        records.push(conversation.apply(&Logged::Sent(epoch)));
        self.write(&conversation, at, records).await?;
        Ok(Some(Compacted {
            attempts: Vec::new(),
            tokens_before,
            tokens_after: view.tokens,
        }))
    }

    async fn summary(&self, shared: &Shared, budget: &Budget, trigger: Trigger) -> Option<String> {
        let chat = self.parts.chat.as_ref()?;
        let (leaving, tokens_max, meter) = {
            let conversation = shared.lock().await;
            let session = &conversation.session;
            let mut ladder = Ladder::new(*budget, trigger);
            // The first plan may mask results only.
            let mut plan = ladder.next(session)?;
            while plan.leaves.is_empty() {
                ladder.tell(plan, None);
                plan = ladder.next(session)?;
            }
            let leaving: Vec<Item> = session
                .leaving(&plan)
                .into_iter()
                .map(|(_, item)| item.clone())
                .collect();
            (leaving, plan.node_tokens_max / 2, session.meter().clone())
        };
        summarise::by_model(&**chat, &leaving, tokens_max, &meter).await
    }

    /// What is done after a request was decided that took something out of the view; nobody waits for it.
    pub fn left_view(&self, shared: &Shared, conversation: &Conversation, decided: &Decided) {
        if let Some((compaction, left)) = decided.compaction.clone() {
            self.tell(shared, conversation, left, compaction);
        }
    }

    /// Keeps facts of the items that left, and tells the listener.
    fn tell(
        &self,
        shared: &Shared,
        conversation: &Conversation,
        left: Vec<(ItemId, Arc<Item>)>,
        mut compaction: Compaction,
    ) {
        compaction.tokens_after = Some(conversation.session.view_tokens());
        compaction.messages_after = Some(conversation.session.frontier().len());
        let (this, shared) = (self.clone(), Arc::clone(shared));
        if this.parts.listener.is_none() && this.parts.keeping.is_none() {
            return;
        }
        self.parts.tasks.spawn(async move {
            this.flush(&shared, &left).await;
            if let Some(listener) = &this.parts.listener {
                listener.after(&compaction).await;
            }
        });
    }

    /// Keeps facts of a stretch that left the view, once for each stretch.
    async fn flush(&self, shared: &Shared, left: &[(ItemId, Arc<Item>)]) {
        let Some(keeping) = &self.parts.keeping else {
            return;
        };
        let span: Vec<(ItemId, &Item)> = left.iter().map(|(id, item)| (*id, &**item)).collect();
        let Some(work) = flush::work(keeping, &span) else {
            return;
        };
        if shared.lock().await.session.has_flushed(work.key()) {
            return;
        }
        let key = work.key().to_owned();
        let report = work
            .carry_out(keeping, self.parts.chat.as_deref(), self.now())
            .await;
        if matches!(report.reason, Some(Unflushed::Failed | Unflushed::Unwritable)) {
            return;
        }
        let mut conversation = shared.lock().await;
        let at = conversation.records;
        let flushed = ViewEvent::Flush {
            key,
            facts: report.facts,
        };
        let record = conversation.apply(&Logged::View(flushed));
        if let Err(error) = self.write(&conversation, at, vec![record]).await {
            tracing::warn!(%error, "a flush could not be recorded: it may be repeated");
        }
    }
}

/// A summary with what a listener wants preserved.
fn joined(summary: Option<String>, preserved: Option<String>) -> Option<String> {
    let preserved = preserved.filter(|text| !text.trim().is_empty());
    let Some(preserved) = preserved else {
        return summary;
    };
    let preserved = format!("<preserved_context>\n{}\n</preserved_context>", preserved.trim());
    Some(summary.map_or(preserved.clone(), |summary| format!("{summary}\n{preserved}")))
}
