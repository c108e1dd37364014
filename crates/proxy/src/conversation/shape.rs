//! The view of the next request: the items that leave it, and their replacements.
//!
//! Owns: the order ingest → compact → assemble, verifying a plug-in's view before it is used, replacing a failed
//! plug-in by Quipu's own engine, pairing calls and results in every request. Never: choosing the items that leave
//! (`context`, or the plug-in), sending.

use std::sync::Arc;

use context::budget::{Budget, OverBudget, OverBudgetCode};
use context::event::ViewEvent;
use context::ladder::Attempt;
use context::plan::Trigger;
use context::view::View;
use ports::context_engine::{ContextEngine, EngineFault, TurnMeta};
use prefix::shadow::{Reason, ShadowEdit, ShadowEvent};
use transcript::{Item, Role, order};

use crate::conversation::hooks::Chosen;
use crate::conversation::log::Logged;
use crate::conversation::state::Conversation;
use crate::conversation::state::compact::Texts;
use crate::conversation::{pairs, verify};

/// A view as it will be sent.
#[derive(Debug)]
pub(crate) struct Shaped {
    /// The events to record.
    pub(crate) events: Vec<ViewEvent>,
    /// All replacements in the client's list.
    pub(crate) edits: Vec<ShadowEdit>,
    /// Why the request cannot extend the last one.
    pub(crate) reason: Option<Reason>,
    pub(crate) attempts: Vec<Attempt>,
}

impl Conversation {
    /// Data of the turn for hooks.
    pub(crate) fn turn_meta(&self, model: &str, budget: &Budget) -> TurnMeta {
        TurnMeta {
            conversation: self.key.session.to_string(),
            model: model.to_owned(),
            limit_tokens: budget.limit(),
            turn: self
                .session
                .frontier()
                .iter()
                .filter(|piece| piece.item.asks())
                .count(),
        }
    }

    /// Data of the last turn for hooks.
    pub(crate) fn last_turn(&self) -> TurnMeta {
        let budget = self.budget.unwrap_or_else(|| Budget::view(0));
        self.turn_meta(&self.shadow.head().model, &budget)
    }

    /// The view with these new messages. None if the engine has nothing to do: the view stays as it was.
    pub(crate) async fn shaped(
        &mut self,
        chosen: &Chosen,
        model: &str,
        events: &[ShadowEvent],
        budget: &Budget,
        trigger: Trigger,
    ) -> Result<Option<Shaped>, OverBudget> {
        let is_due = trigger == Trigger::Overflow || self.may_exceed(budget, events);
        if chosen.plugin.is_none() && !is_due && !self.may_change_pairs(events) {
            return Ok(None);
        }
        let mut tried = self.clone();
        for event in events {
            tried.apply(&Logged::Sent(event.clone()));
        }
        let turn = tried.turn_meta(model, budget);
        let arrived = self.kept(events);
        let shaped = match chosen.plugin(&mut tried.health, &turn).await {
            Some(plugin) => {
                // Few turns come here: boxed, the future of a turn stays small.
                Box::pin(tried.by_plugin((chosen, &*plugin), &turn, budget, trigger, arrived)).await
            }
            None if is_due => {
                let fitted = Box::pin(tried.by_quipu(chosen, budget, trigger)).await;
                fitted.map(|(events, attempts)| tried.current_view(events, attempts, arrived))
            }
            None => Ok(tried.current_view(Vec::new(), Vec::new(), arrived)),
        };
        // The health of the engine counts even if the request fails.
        self.health = tried.health;
        shaped.map(Some)
    }

    /// Whether these new messages can require a repair, or change the present one.
    fn may_change_pairs(&self, events: &[ShadowEvent]) -> bool {
        let sent = self.shadow.entries().len();
        let cuts = |event: &ShadowEvent| match event {
            ShadowEvent::Epoch { front, kept, .. } => *front > 0 || *kept < sent,
            _ => false,
        };
        // The last request closed a running call at its end; its result can be among the new messages.
        let is_closed = self.shadow.edits().iter().any(|edit| edit.range.start == sent);
        if is_closed || events.iter().any(cuts) {
            return true;
        }
        let new = events.iter().filter_map(|event| match event {
            ShadowEvent::Message { bytes, .. } | ShadowEvent::Reply { bytes } => Some(Self::read(bytes)),
            ShadowEvent::Epoch { .. } | ShadowEvent::Edit(_) => None,
        });
        let mut items = self.session.view_items();
        items.extend(new.map(Arc::new));
        !order::openai(&items)
    }

    /// Number of messages that a request with these events repeats.
    fn kept(&self, events: &[ShadowEvent]) -> usize {
        match events.first() {
            Some(ShadowEvent::Epoch { kept, .. }) => *kept,
            _ => self.shadow.entries().len(),
        }
    }

    /// Quipu's own compaction; returns its events.
    async fn by_quipu(
        &mut self,
        chosen: &Chosen,
        budget: &Budget,
        trigger: Trigger,
    ) -> Result<(Vec<ViewEvent>, Vec<Attempt>), OverBudget> {
        let preserved = if self.would_compact(budget, trigger) {
            chosen.preserved(&self.compaction(trigger)).await
        } else {
            None
        };
        let texts = Texts {
            summary: None,
            preserved,
        };
        self.fit(budget, trigger, &texts)
    }

    /// A plug-in's view. The entries from `arrived` on were never sent.
    async fn by_plugin(
        &mut self,
        (chosen, plugin): (&Chosen, &dyn ContextEngine),
        turn: &TurnMeta,
        budget: &Budget,
        trigger: Trigger,
        arrived: usize,
    ) -> Result<Shaped, OverBudget> {
        verify::request_fits(&self.session.view_items(), budget, self.session.meter())?;
        let mut events = self.ingest(chosen, plugin, turn, arrived).await;
        let owns = plugin.info().owns_compaction;
        let (mut attempts, mut fits) = (Vec::new(), false);
        if !owns {
            let mut fitted = self.clone();
            // If Quipu's compaction cannot make the view fit, the plug-in's choice still can.
            if let Ok((compacted, tries)) = fitted.by_quipu(chosen, budget, trigger).await {
                *self = fitted;
                events.extend(compacted);
                (attempts, fits) = (tries, true);
            }
        }
        let source = self.session.view_items();
        let mut made = None;
        if owns && trigger == Trigger::Overflow {
            let target = self.session.inputs(budget).target;
            let compacting = plugin.compact(source.clone(), target, turn);
            made = chosen.ask(&mut self.health, compacting).await;
        }
        if made.is_none() {
            let assembling = plugin.assemble(source.clone(), turn);
            made = chosen.ask(&mut self.health, assembling).await;
        }
        let view = made.map_or(Ok(None), |made| self.verified(&source, made, budget))?;
        let Some(view) = view else {
            if !fits {
                let (compacted, tries) = self.by_quipu(chosen, budget, trigger).await?;
                events.extend(compacted);
                attempts = tries;
            }
            return Ok(self.current_view(events, attempts, arrived));
        };
        Ok(self.with_edits(self.edits_for(&view.items), events, attempts, arrived))
    }

    /// A plug-in's view, repaired and counted; none if it is too long: then Quipu makes its own.
    pub(crate) fn verified(
        &mut self,
        source: &[Arc<Item>],
        made: Vec<Arc<Item>>,
        budget: &Budget,
    ) -> Result<Option<View>, OverBudget> {
        let pending = self.session.pending();
        match verify::view(source, made, &pending, budget, self.session.meter()) {
            Ok(view) => {
                self.health.gave_a_view();
                Ok(Some(view))
            }
            Err(over) if over.code == OverBudgetCode::CompactionExceedsLimit => {
                let fault = EngineFault::Failed(format!(
                    "its view has {} tokens, the limit is {}",
                    over.tokens, over.limit
                ));
                Ok(self.health.note(Err(fault)))
            }
            Err(over) => Err(over),
        }
    }

    /// Replaces new items with the plug-in's versions; returns the events to record.
    async fn ingest(
        &mut self,
        chosen: &Chosen,
        plugin: &dyn ContextEngine,
        turn: &TurnMeta,
        arrived: usize,
    ) -> Vec<ViewEvent> {
        let first = self.ids.get(arrived).copied();
        let new = self.session.frontier().iter().filter_map(|piece| {
            let id = piece.item_id()?;
            (Some(id) >= first && first.is_some()).then(|| (id, Arc::clone(&piece.item)))
        });
        let new: Vec<_> = new.collect();
        if new.is_empty() {
            return Vec::new();
        }
        let items: Vec<Arc<Item>> = new.iter().map(|(_, item)| Arc::clone(item)).collect();
        let ingested = chosen.run(plugin.ingest(items, turn)).await;
        let Some(ingested) = self.health.note(verify::one_for_each(new.len(), ingested)) else {
            return Vec::new();
        };
        let changed = new
            .into_iter()
            .zip(ingested)
            .filter(|((_, old), made)| old != made && old.role != Role::System);
        let events: Vec<ViewEvent> = changed
            .map(|((id, _), item)| ViewEvent::Rewrite { id, item })
            .collect();
        for event in &events {
            self.view(event.clone());
        }
        events
    }

    /// The current view, with its calls and results paired.
    fn current_view(&self, events: Vec<ViewEvent>, attempts: Vec<Attempt>, arrived: usize) -> Shaped {
        let shown = self.session.view_items();
        let repaired = pairs::for_request(&shown, &self.session.pending());
        let edits = self.edits_for(&repaired.unwrap_or(shown));
        self.with_edits(edits, events, attempts, arrived)
    }

    fn with_edits(
        &self,
        edits: Vec<ShadowEdit>,
        events: Vec<ViewEvent>,
        attempts: Vec<Attempt>,
        arrived: usize,
    ) -> Shaped {
        let is_compacted = attempts.iter().any(|attempt| attempt.gain.is_some());
        let compaction = is_compacted.then_some(Reason::Compaction);
        Shaped {
            reason: compaction.or_else(|| self.changed(&edits, arrived)),
            events,
            edits,
            attempts,
        }
    }

    /// Reason for an epoch, if these edits change messages that were already sent.
    fn changed(&self, edits: &[ShadowEdit], sent: usize) -> Option<Reason> {
        let old = self.shadow.edits();
        let is_lost = |edit: &ShadowEdit| edit.range.end <= sent && !edits.contains(edit);
        let is_new = |edit: &ShadowEdit| edit.range.start < sent && !old.contains(edit);
        (old.iter().any(is_lost) || edits.iter().any(is_new)).then_some(Reason::Engine)
    }
}
