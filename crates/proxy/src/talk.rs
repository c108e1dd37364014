//! One conversation of a client: what was sent of it, and what of it is in view.
//!
//! Owns: the shadow and the context session side by side, folded from one log. Invariant: the log alone gives the same talk.
//! Never: keeping the log (`store`), sending.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use context::budget::{Budget, OverBudget};
use context::event::Event as ViewEvent;
use context::ladder::Ladder;
use context::plan::Trigger;
use context::policy::Policy;
use context::ranges;
use context::session::{Session, What};
use context::tokens::Meter;
use model::{Owner, SessionKey};
use ports::NewRecord;
use prefix::Digest;
use prefix::canon;
use prefix::chain::{Chain, Scope};
use prefix::compose;
use prefix::diverge::Outline;
use prefix::shadow::{Edit, Event, Reason, Shadow};
use transcript::dialect::{self, Dialect};
use transcript::{Item, ItemId, Role};

use crate::idle::Frame;
use crate::said;

/// What is known of a conversation.
#[derive(Debug, Clone)]
pub(crate) struct Talk {
    pub(crate) key: SessionKey,
    pub(crate) owner: Owner,
    /// Of the newest request.
    pub(crate) dialect: Dialect,
    pub(crate) shadow: Shadow,
    /// The client's messages and the replies, hashed.
    pub(crate) chain: Chain,
    log: Vec<ViewEvent>,
    session: Session,
    /// The model whose tokens it counts.
    counts_for: String,
    /// What stands before the messages, and its weight: it is the same in request after request.
    head: (Vec<String>, usize),
    /// The items of the shadow's entries, by place.
    ids: Vec<ItemId>,
    /// Records in the log, those on their way included.
    pub(crate) records: u64,
    /// What the last request was, and what the server counted of it.
    pub(crate) last: Option<Last>,
    /// Rises with each change.
    pub(crate) version: u64,
    /// What was answered, so that a client's echo of it is not taken for something new.
    replies: BTreeSet<Digest>,
    /// Messages of the client that no answer followed yet, each with its hash in the chain.
    unanswered: Vec<(String, Digest)>,
    /// Turns under way.
    open: Arc<AtomicUsize>,
    /// Why the epochs began in which nothing was answered yet.
    begun: Vec<Reason>,
    /// What the last turn's request was made of.
    pub(crate) frame: Option<Frame>,
}

/// A turn that is under way, as long as it lives.
#[derive(Debug)]
pub(crate) struct Open(Arc<AtomicUsize>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// The last request and its reply.
#[derive(Debug, Clone)]
pub(crate) struct Last {
    pub(crate) outline: Outline,
    pub(crate) tokens: usize,
    /// How many requests its server had had.
    pub(crate) turn: u64,
    /// The server's slot that was named.
    pub(crate) slot: Option<u32>,
}

/// A record of a talk's log.
#[derive(Debug, Clone)]
pub(crate) enum Logged {
    Sent(Event),
    View(ViewEvent),
}

impl Talk {
    pub(crate) fn new(
        key: SessionKey,
        owner: Owner,
        dialect: Dialect,
        scope: &Scope<'_>,
        meter: Meter,
    ) -> Self {
        Self {
            key,
            owner,
            dialect,
            shadow: Shadow::default(),
            chain: Chain::of(scope, &[]),
            log: Vec::new(),
            session: Session::new(Policy::quipu(), meter),
            counts_for: String::new(),
            head: (Vec::new(), 0),
            ids: Vec::new(),
            records: 0,
            last: None,
            version: 0,
            replies: BTreeSet::new(),
            unanswered: Vec::new(),
            open: Arc::default(),
            begun: Vec::new(),
            frame: None,
        }
    }

    /// A turn begins.
    pub(crate) fn begin(&self) -> Open {
        self.open.fetch_add(1, Ordering::AcqRel);
        Open(Arc::clone(&self.open))
    }

    /// What a call beside the talk is made of; none while somebody talks, or a tool is awaited.
    pub(crate) fn at_rest(&self) -> Option<&Frame> {
        let is_quiet = self.open.load(Ordering::Acquire) == 0 && self.session.pending().is_empty();
        self.frame.as_ref().filter(|frame| is_quiet && !frame.is_held)
    }

    /// Whether to compact now, while nobody waits.
    pub(crate) fn is_due(&self, budget: &Budget) -> bool {
        Ladder::new(*budget, Trigger::Idle).next(&self.session).is_some()
    }

    /// What to ask the conversation's own model before that, and how long its answer may be, in tokens; none where no stretch
    /// would be replaced by words.
    pub(crate) fn summary_prompt(&self, budget: &Budget) -> Option<(String, usize)> {
        let plan = Ladder::new(*budget, Trigger::Idle).next(&self.session)?;
        let stays = plan.leaves.last()? + 1;
        let end = self.session.frontier().get(stays)?.item.prose();
        let tokens_max = plan.node_tokens_max / 2;
        Some((context::prompt::summary_of_above(&end, tokens_max), tokens_max))
    }

    /// Compacts ahead of need, and begins an epoch with that; nothing where it is not due.
    pub(crate) fn compact_ahead(
        &mut self,
        scope: &Scope<'_>,
        budget: &Budget,
        summary: Option<&str>,
    ) -> Vec<NewRecord> {
        let mut ladder = Ladder::new(*budget, Trigger::Idle);
        let mut records = Vec::new();
        while let Some(plan) = ladder.next(&self.session) {
            let before = self.session.tokens();
            let events = self.session.commit(&plan, summary);
            let recorded = events.iter().flatten().cloned();
            records.extend(recorded.map(|event| self.apply(scope, &Logged::View(event))));
            let gain = events
                .is_ok()
                .then(|| before.saturating_sub(self.session.tokens()));
            ladder.tell(plan, gain);
        }
        ladder.finish(&mut self.session);
        if !records.is_empty() {
            let epoch = compose::renewal(&self.shadow, &self.edits(), vec![Reason::Compaction]);
            records.push(self.apply(scope, &Logged::Sent(epoch)));
        }
        records
    }

    /// Takes in what happened, and gives the record of it.
    pub(crate) fn apply(&mut self, scope: &Scope<'_>, logged: &Logged) -> NewRecord {
        self.version += 1;
        self.records += 1;
        let mut record = NewRecord {
            item: None,
            text: String::new(),
            body: match logged {
                Logged::Sent(event) => prefix::record::write(event),
                Logged::View(event) => context::record::write(event),
            },
        };
        match logged {
            Logged::View(event) => self.view(event.clone()),
            Logged::Sent(event) => {
                self.shadow.apply(event);
                match event {
                    Event::Epoch {
                        reasons, front, kept, ..
                    } => {
                        self.begun.extend_from_slice(reasons);
                        self.cut(scope, *front, *kept);
                    }
                    Event::Edit(_) => {}
                    Event::Message { bytes, .. } | Event::Reply { bytes } => {
                        self.chain.push(bytes);
                        if matches!(event, Event::Reply { .. }) {
                            self.begun.clear();
                            self.replies.insert(canon::read(bytes).digest);
                        }
                        let item = self.arrive();
                        record.item = self.ids.last().map(|id| id.0);
                        record.text = item.prose();
                    }
                }
            }
        }
        record
    }

    fn view(&mut self, event: ViewEvent) {
        self.session.apply(&event);
        self.log.push(event);
    }

    /// The newest entry comes into the view as it was sent.
    fn arrive(&mut self) -> Arc<Item> {
        let sent = self
            .shadow
            .entries()
            .last()
            .map(|entry| entry.sent())
            .unwrap_or_default();
        // The messages of the other dialects are messages there too.
        let read = dialect::read_message(Dialect::OpenAiResponses, &sent);
        let item = Arc::new(read.unwrap_or_else(|_| Item::text(Role::User, sent)));
        self.ids.push(ItemId(self.session.items()));
        self.view(self.session.arrival(Arc::clone(&item)));
        item
    }

    /// The client left out messages at the front, or went back to an earlier place.
    fn cut(&mut self, scope: &Scope<'_>, front: usize, kept: usize) {
        let front = front.min(self.ids.len());
        let kept = (front + kept).min(self.ids.len());
        if front == 0 && kept == self.ids.len() {
            return;
        }
        if let Some(id) = self.ids.get(kept) {
            self.log.push(ViewEvent::Rewind(*id));
        }
        self.ids.truncate(kept);
        // What a node tells of them stays told.
        let gone = self
            .ids
            .drain(..front)
            .filter(|id| self.session.shows_original(*id));
        self.log.extend(gone.map(ViewEvent::Forget));
        let (policy, meter) = (self.session.policy().clone(), self.session.meter().clone());
        self.session = Session::restore(policy, meter, self.log.clone());
        let entries = self.shadow.entries();
        let bytes: Vec<&str> = entries.iter().map(|entry| entry.bytes.as_str()).collect();
        self.chain = Chain::of(scope, &bytes);
    }

    /// Counts as this model does from now on.
    pub(crate) fn count_for(&mut self, model: &str, meter: &Meter) {
        if self.counts_for != model {
            model.clone_into(&mut self.counts_for);
            self.head.0.clear();
            self.session.set_meter(meter.clone());
        }
    }

    /// What stands before the messages, in tokens; the last part lists the tools.
    pub(crate) fn head_tokens(&mut self, system: &[&str], tools: &str, meter: &Meter) -> usize {
        let parts = || system.iter().copied().chain([tools]);
        if !parts().eq(self.head.0.iter().map(String::as_str)) {
            let tokens = system.iter().map(|text| meter.text(text)).sum::<usize>() + meter.tools(tools);
            self.head = (parts().map(str::to_owned).collect(), tokens);
        }
        self.head.1
    }

    /// Whether the view could be over the budget's threshold with these events: by bytes, which are never fewer than tokens.
    pub(crate) fn may_exceed(&self, budget: &Budget, events: &[Event]) -> bool {
        let bytes: usize = events
            .iter()
            .map(|event| match event {
                Event::Message { bytes, .. } | Event::Reply { bytes } => bytes.len(),
                Event::Epoch { .. } | Event::Edit(_) => 0,
            })
            .sum();
        let inputs = self.session.inputs(budget);
        inputs.used + bytes >= inputs.threshold
    }

    /// Takes in the messages that these events brought: they wait for an answer.
    pub(crate) fn ask(&mut self, events: &[Event]) {
        let new = events.iter().filter_map(|event| match event {
            Event::Message { bytes, .. } => Some((bytes, canon::read(bytes))),
            _ => None,
        });
        let new: Vec<_> = new.filter(|(_, meaning)| !meaning.thinks).collect();
        let links = self.chain.links();
        let new_links = &links[links.len().saturating_sub(new.len())..];
        for ((bytes, meaning), link) in new.into_iter().zip(new_links) {
            if !self.replies.contains(&meaning.digest) {
                self.unanswered.push((bytes.clone(), link.hash));
            }
        }
    }

    /// The messages that waited for an answer and are still part of the talk, each with an id that no other has.
    pub(crate) fn answered(&mut self) -> Vec<(String, String)> {
        let links = self.chain.links();
        let waited = std::mem::take(&mut self.unanswered).into_iter();
        waited
            .filter(|(_, hash)| links.iter().any(|link| link.hash == *hash))
            .map(|(bytes, hash)| (bytes, hash.to_string()))
            .collect()
    }

    /// The item of a response that has this id.
    pub(crate) fn item(&self, id: &str) -> Option<String> {
        let is_it = |bytes: &str| bytes.contains(id) && said::id(bytes).as_deref() == Some(id);
        let entry = self.shadow.entries().iter().rfind(|entry| is_it(&entry.bytes));
        entry.map(|entry| entry.bytes.clone())
    }

    /// Whether a reply that we saw is among the first messages.
    pub(crate) fn was_answered(&self, messages: usize) -> bool {
        let mut links = self.chain.links().iter().take(messages);
        links.any(|link| self.replies.contains(&link.meaning.digest))
    }

    /// Why the request that is decided is no extension of the last: epochs that began while nobody talked count too.
    pub(crate) fn begun(&self) -> Vec<Reason> {
        let mut reasons = self.begun.clone();
        reasons.sort_unstable();
        reasons.dedup();
        reasons
    }

    /// Brings the view within its budget; what was recorded for that, or why it cannot be.
    pub(crate) fn fit(&mut self, budget: &Budget, trigger: Trigger) -> Result<Vec<ViewEvent>, OverBudget> {
        let mut events = Vec::new();
        self.session
            .fit(budget, trigger, |event| events.push(event.clone()));
        self.log.extend(events.iter().cloned());
        self.session.assemble(budget)?;
        Ok(events)
    }

    /// What of the client's list is replaced in the view.
    pub(crate) fn edits(&self) -> Vec<Edit> {
        let mut edits = Vec::new();
        for piece in self.session.frontier() {
            match &piece.what {
                What::Item { masked: false, .. } => {}
                What::Item { id, masked: true } => {
                    let written = dialect::write(self.dialect, &[Item::clone(&piece.item)]);
                    edits.extend(self.place(*id).map(|at| Edit {
                        range: at..at + 1,
                        messages: written,
                    }));
                }
                What::Node(node) => {
                    let covered = |id: &ItemId| ranges::contains(&node.covers, *id);
                    let shown = |id: &ItemId| self.session.shows_original(*id);
                    let mut summary = dialect::write(self.dialect, &[Item::clone(&piece.item)]);
                    let places: Vec<bool> = self.ids.iter().map(|id| covered(id) && !shown(id)).collect();
                    let mut at = 0;
                    for run in places.chunk_by(|one, other| one == other) {
                        if run[0] {
                            edits.push(Edit {
                                range: at..at + run.len(),
                                messages: std::mem::take(&mut summary),
                            });
                        }
                        at += run.len();
                    }
                }
            }
        }
        edits.sort_by_key(|edit| edit.range.start);
        edits
    }

    fn place(&self, id: ItemId) -> Option<usize> {
        self.ids.binary_search(&id).ok()
    }

    /// A server's window in the tokens that are counted here, after it refused a prompt of so many of its own.
    pub(crate) fn window_as_counted(&mut self, window: usize, prompt_tokens: usize, beside: usize) -> usize {
        self.learn_usage(prompt_tokens, beside);
        let counted = self.session.view_tokens() + beside;
        if counted >= prompt_tokens {
            return window;
        }
        // It is not believed yet that so much more is counted there.
        window * counted / prompt_tokens
    }

    /// What the server counted of the view that was sent.
    pub(crate) fn learn_usage(&mut self, prompt_tokens: usize, beside: usize) {
        let counted = self.session.tokens();
        self.session
            .record_usage(counted, prompt_tokens.saturating_sub(beside));
    }
}

/// Reads a record back.
pub(crate) fn read(body: &str) -> Option<Logged> {
    prefix::record::read(body)
        .map(Logged::Sent)
        .ok()
        .or_else(|| context::record::read(body).map(Logged::View).ok())
}

#[cfg(test)]
mod tests {
    use model::{Name, SessionId};

    use super::*;

    #[test]
    fn a_talk_that_was_found_for_another_dialect_is_read_as_what_it_is() {
        let key = SessionKey {
            scope: model::Scope::default(),
            session: SessionId::new("a"),
        };
        let owner = Owner::user(Name::parse("ann").unwrap());
        let scope = Scope {
            tenant: "",
            owner: "ann",
            session: None,
        };
        let mut talk = Talk::new(key, owner, Dialect::OpenAi, &scope, Meter::for_model("tiny"));
        let call = r#"{"type":"function_call","call_id":"a","name":"ls","arguments":"{}"}"#;
        for (bytes, text) in [(call, ""), (r#"{"role":"assistant","content":"so"}"#, "so")] {
            let event = Event::Reply {
                bytes: bytes.to_owned(),
            };
            let record = talk.apply(&scope, &Logged::Sent(event));
            assert_eq!(record.text, text, "{bytes}");
        }
    }
}
