//! Compactions that no request asks for, and the work after every compaction.
//!
//! Owns: the summary, the listener, the flush of facts. Invariant: messages that arrive while a model writes are kept.
//! Never: choosing the items that leave (`context`).

use std::sync::Arc;

use context::budget::Budget;
use context::event::ViewEvent;
use context::flush::{FlushWork, Unflushed, by_rules};
use context::ladder::Ladder;
use context::plan::Trigger;
use model::warned;
use prefix::compose;
use prefix::shadow::Reason;
use transcript::spoken::without_additions;
use transcript::{Item, ItemId};

use super::{Compacted, Compaction, ContextError, Contexts};
use crate::conversation::decide::Decided;
use crate::conversation::log::Logged;
use crate::conversation::party::Party;
use crate::conversation::state::Conversation;
use crate::conversation::state::compact::Texts;
use crate::conversation::store::Shared;
use crate::conversation::{flush, summarise};

impl Contexts {
    /// Compacts now, at any size of the view, for a window of this many tokens; without a given window, for the window
    /// of the last request. Messages that arrive while a model writes the summary are kept: a summary is valid only for
    /// the view for which it was written.
    pub async fn compact(
        &self,
        party: &Party,
        window_tokens: Option<usize>,
    ) -> Result<Compacted, ContextError> {
        let (shared, trigger) = (self.existing(party).await?, Trigger::Manual);
        let (budget, version, before) = {
            let conversation = shared.lock().await;
            let budget = conversation.budget_in(window_tokens);
            let budget = budget.ok_or(ContextError::NoBudget)?;
            (budget, conversation.records, conversation.compaction(trigger))
        };
        if let Some(done) = self.by_plugin(&shared, &budget).await? {
            return Ok(done);
        }
        let preserved = self.parts.chosen.preserved(&before).await;
        let summary = self.summary(&shared, &budget, trigger).await;
        let mut conversation = shared.lock().await;
        let is_same = conversation.records == version;
        let texts = Texts {
            summary: summary.filter(|_| is_same),
            preserved,
        };
        self.carry_out(&shared, &mut conversation, &budget, trigger, &texts)
            .await
    }

    /// Compacts an idle conversation if it is due; a configured model writes the summary.
    pub async fn compact_at_rest(&self, shared: &Shared) -> Result<(), ContextError> {
        let (budget, version) = {
            let conversation = shared.lock().await;
            let budget = conversation.budget.filter(|budget| conversation.is_due(budget));
            let Some(budget) = budget.filter(|_| conversation.is_at_rest()) else {
                return Ok(());
            };
            (budget, conversation.records)
        };
        let summary = self.summary(shared, &budget, Trigger::Idle).await;
        self.compact_idle(shared, version, &budget, summary).await
    }

    /// Compacts this version of an idle conversation, with a summary by its own model; does nothing if it has a new
    /// message.
    pub async fn compact_idle(
        &self,
        shared: &Shared,
        version: u64,
        budget: &Budget,
        summary: Option<String>,
    ) -> Result<(), ContextError> {
        let before = shared.lock().await.compaction(Trigger::Idle);
        let preserved = self.parts.chosen.preserved(&before).await;
        let mut conversation = shared.lock().await;
        if conversation.records != version || !conversation.is_at_rest() {
            return Ok(());
        }
        let texts = Texts { summary, preserved };
        self.carry_out(shared, &mut conversation, budget, Trigger::Idle, &texts)
            .await
            .map(drop)
    }

    async fn carry_out(
        &self,
        shared: &Shared,
        conversation: &mut Conversation,
        budget: &Budget,
        trigger: Trigger,
        texts: &Texts,
    ) -> Result<Compacted, ContextError> {
        let before = conversation.compaction(trigger);
        let first = conversation.log.len();
        conversation.last_result = None;
        conversation.compact(budget, trigger, texts, self.now());
        self.write(conversation).await?;
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

    /// Has a plug-in that owns compaction return its smaller list, at once; none without such a plug-in, or if it
    /// failed.
    async fn by_plugin(&self, shared: &Shared, budget: &Budget) -> Result<Option<Compacted>, ContextError> {
        let mut conversation = shared.lock().await;
        let turn = conversation.turn_meta(&conversation.shadow.head().model, budget);
        let chosen = &self.parts.chosen;
        let plugin = chosen.plugin(&mut conversation.health, &turn).await;
        let Some(plugin) = plugin.filter(|plugin| plugin.info().owns_compaction) else {
            return Ok(None);
        };
        conversation.take_appended();
        let source = conversation.session.view_items();
        let target = conversation.session.inputs(budget).target;
        let compacting = plugin.compact(source.clone(), target, &turn);
        let made = chosen.ask(&mut conversation.health, compacting).await;
        let tokens_before = conversation.session.view_tokens();
        let view = made.map_or(Ok(None), |made| conversation.verified(&source, made, budget));
        let view = match view {
            Ok(Some(view)) => view,
            unusable => {
                // The waiting messages are taken even so.
                self.write(&mut conversation).await?;
                return Ok(unusable.map(|_| None)?);
            }
        };
        let edits = conversation.edits_for(&view.items);
        let epoch = compose::renewal(&conversation.shadow, &edits, vec![Reason::Compaction]);
        conversation.record(&Logged::Sent(epoch));
        self.write(&mut conversation).await?;
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
            // The first plan may only mask results.
            let mut plan = ladder.next(session)?;
            while plan.leaves.is_empty() {
                ladder.tell(plan, None);
                plan = ladder.next(session)?;
            }
            let leaving: Vec<Item> = session
                .leaving(&plan)
                .into_iter()
                .map(|(_, item)| without_additions(item).into_owned())
                .collect();
            (leaving, plan.node_tokens_max / 2, session.meter().clone())
        };
        let is_awaited = trigger == Trigger::Manual;
        summarise::by_model(&**chat, &leaving, (tokens_max, is_awaited), &meter).await
    }

    /// Work after a request whose compaction removed items from the view; it runs in the background.
    pub fn left_view(&self, shared: &Shared, conversation: &Conversation, decided: &Decided) {
        if let Some((compaction, left)) = decided.compaction.clone() {
            self.tell(shared, conversation, left, compaction);
        }
    }

    /// Stores facts of the removed items, and notifies the listener.
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
        if this.parts.chosen.listener.is_none() && this.parts.keeping.is_none() {
            return;
        }
        self.parts.tasks.spawn(async move {
            this.flush(&shared, &left).await;
            if let Some(listener) = &this.parts.chosen.listener {
                listener.after(&compaction).await;
            }
        });
    }

    /// Stores facts of a stretch that left the view, once for each stretch.
    async fn flush(&self, shared: &Shared, left: &[(ItemId, Arc<Item>)]) {
        let Some(keeping) = &self.parts.keeping else {
            return;
        };
        let span: Vec<(ItemId, &Item)> = left.iter().map(|(id, item)| (*id, &**item)).collect();
        let Some(work) = FlushWork::of(&span, &keeping.policy) else {
            return;
        };
        let party = {
            let conversation = shared.lock().await;
            if conversation.session.has_flushed(&work.key) {
                return;
            }
            conversation.party.clone()
        };
        let answer = match self.parts.chat.as_deref() {
            Some(chat) => flush::ask(chat, &work).await,
            None => Some(by_rules(&span)),
        };
        // If the conversation was deleted while a model answered, its facts must not appear after the deletion's
        // answer.
        if self.existing(&party).await.is_err() {
            return;
        }
        let facts = match keeping.keep(answer, &party, self.now()).await {
            Err(Unflushed::Unwritable) => {
                return tracing::warn!(owner = %party.owner.id, "cannot write to context.flush_folder; compacted messages yield no facts");
            }
            Err(Unflushed::Failed) => return,
            kept => kept.unwrap_or(0),
        };
        let mut conversation = shared.lock().await;
        let flushed = ViewEvent::Flush { key: work.key, facts };
        conversation.record(&Logged::View(flushed));
        let recorded = self.write(&mut conversation).await;
        warned!(recorded, "cannot record a flush; it can run again");
    }
}
