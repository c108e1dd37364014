//! The view of the next request: what leaves it, and what stands for what left.
//!
//! Owns: the order ingest → compact → assemble, that a plug-in's view is verified before it counts, that Quipu's own engine takes the
//! place of one that failed. Never: choosing what leaves (`context`, or the plug-in), sending.

use std::sync::Arc;

use context::budget::{Budget, OverBudget};
use context::event::Event as ViewEvent;
use context::ladder::Attempt;
use context::plan::Trigger;
use ports::context_engine::{ContextEngine, TurnMeta};
use prefix::shadow::{Edit, Event, Reason};
use transcript::{Item, Role};

use crate::conversation::Conversation;
use crate::hooks::{Chosen, Health};
use crate::log::Logged;
use crate::verify;

/// A view as it will be sent.
#[derive(Debug, Default)]
pub(crate) struct Shaped {
    /// What is recorded of it.
    pub(crate) events: Vec<ViewEvent>,
    /// All that is replaced in the client's list.
    pub(crate) edits: Vec<Edit>,
    /// Why the request cannot extend the last one.
    pub(crate) reason: Option<Reason>,
    pub(crate) attempts: Vec<Attempt>,
    pub(crate) health: Health,
}

impl Conversation {
    /// What hooks are told of the turn.
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

    /// The view with these new messages. None where the engine has nothing to do: the view is as it was.
    pub(crate) async fn shaped(
        &self,
        chosen: &Chosen,
        model: &str,
        events: &[Event],
        budget: &Budget,
        trigger: Trigger,
    ) -> Result<Option<Shaped>, OverBudget> {
        let must = trigger == Trigger::Overflow;
        let is_due = must || self.may_exceed(budget, events);
        if chosen.plugin.is_none() && !is_due {
            return Ok(None);
        }
        let mut tried = self.clone();
        for event in events {
            tried.apply(&Logged::Sent(event.clone()));
        }
        let turn = tried.turn_meta(model, budget);
        let Some(plugin) = chosen.plugin(&mut tried.health, &turn).await else {
            let shaped = if is_due {
                tried.own(budget, trigger)?
            } else {
                Shaped::standing(&tried)
            };
            return Ok(Some(shaped));
        };
        let arrived = self.shadow.entries().len();
        tried
            .by_plugin(chosen, &*plugin, &turn, arrived, budget, trigger)
            .await
            .map(Some)
    }

    /// Quipu's own view.
    fn own(&mut self, budget: &Budget, trigger: Trigger) -> Result<Shaped, OverBudget> {
        let (events, attempts) = self.fit(budget, trigger)?;
        Ok(Shaped {
            reason: (!events.is_empty()).then_some(Reason::Compaction),
            edits: self.edits(),
            events,
            attempts,
            health: self.health.clone(),
        })
    }

    /// A plug-in's view. The entries from `arrived` on were never sent.
    async fn by_plugin(
        &mut self,
        chosen: &Chosen,
        plugin: &dyn ContextEngine,
        turn: &TurnMeta,
        arrived: usize,
        budget: &Budget,
        trigger: Trigger,
    ) -> Result<Shaped, OverBudget> {
        verify::request_fits(&self.session.shown(), budget, self.session.meter())?;
        let mut events = self.ingest(chosen, plugin, turn, arrived).await;
        let owns = plugin.info().owns_compaction;
        let mut attempts = Vec::new();
        if !owns {
            // What cannot be made to fit by itself may fit the plug-in's way.
            if let Ok((compacted, tries)) = self.fit(budget, trigger) {
                events.extend(compacted);
                attempts = tries;
            }
        }
        let source = self.session.shown();
        let mut made = None;
        if owns && trigger == Trigger::Overflow {
            let target = self.session.inputs(budget).target;
            let compacted = chosen.run(plugin.compact(source.clone(), target, turn)).await;
            made = self.health.note(compacted);
        }
        if made.is_none() {
            let assembled = chosen.run(plugin.assemble(source.clone(), turn)).await;
            made = self.health.note(assembled).map(|assembled| assembled.items);
        }
        let Some(made) = made else {
            let mut own = self.own(budget, trigger)?;
            own.events.splice(0..0, events);
            own.reason = own.reason.or(self.changed(&own.edits, arrived));
            return Ok(own);
        };
        self.health.gave_a_view();
        let view = verify::view(
            &source,
            made,
            &self.session.pending(),
            budget,
            self.session.meter(),
        )?;
        let edits = self.edits_for(&view.items);
        let compacted = attempts.iter().any(|attempt| attempt.gain.is_some());
        Ok(Shaped {
            reason: compacted
                .then_some(Reason::Compaction)
                .or(self.changed(&edits, arrived)),
            events,
            edits,
            attempts,
            health: self.health.clone(),
        })
    }

    /// Shows new items as the plug-in wants them; the events to be recorded.
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
            self.session.apply(event);
            self.log.push(event.clone());
        }
        events
    }

    /// The reason for an epoch, where these edits show messages otherwise that were sent before.
    fn changed(&self, edits: &[Edit], sent: usize) -> Option<Reason> {
        let of_sent = |edits: &[Edit]| -> Vec<Edit> {
            edits
                .iter()
                .filter(|edit| edit.range.start < sent)
                .cloned()
                .collect()
        };
        (of_sent(edits) != of_sent(self.shadow.edits())).then_some(Reason::Engine)
    }
}

impl Shaped {
    /// The view as it is.
    fn standing(conversation: &Conversation) -> Self {
        Self {
            edits: conversation.edits(),
            health: conversation.health.clone(),
            ..Self::default()
        }
    }
}
