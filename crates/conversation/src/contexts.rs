//! The context engine as a service, for programs that call their model themselves and for people who look at a live conversation.
//!
//! Owns: appending, assembling, compacting, and finding again what left the view. Invariants: an appended message is on disk before its id
//! is returned; a change that fails leaves the conversation as it was on disk. Never: HTTP, searching memory.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use context::budget::{Budget, OverBudget};
use context::event::{Event as ViewEvent, NodeId};
use context::flush::Unflushed;
use context::guard::{self, Finding, Limits};
use context::ladder::{Attempt, Ladder};
use context::plan::Trigger;
use context::policy::Policy;
use context::ranges;
use model::{SessionId, SessionKey, Timestamp};
use ports::{Chat, Clock, Conversations, LedgerError, NewRecord};
use prefix::compose;
use prefix::shadow::{Event, Reason};
use transcript::dialect::{self, Dialect};
use transcript::{Item, ItemId};

use crate::conversation::{Conversation, words};
use crate::decide::{Additions, Asked, Decided};
use crate::endings::Endings;
use crate::flush::{self, Keeping};
use crate::hooks::Chosen;
use crate::keeper::Keeper;
use crate::log::{self, Logged};
use crate::report::{Archived, Shown, Stats, role_name};
use crate::store::{Shared, Store};
use crate::whose::Whose;
use crate::{subagent, summarise};

/// The most items that a search of originals returns.
const FOUND_MAX: usize = 100;
/// Of an id that names nothing an error shows so much.
const ID_SHOWN_CHARS: usize = 40;

/// A command or a program that is told of compactions.
#[async_trait::async_trait]
pub trait Listener: Send + Sync + std::fmt::Debug {
    /// Before a compaction that nobody waits for. Its answer is preserved in the summary.
    async fn before(&self, compaction: &Compaction) -> Option<String>;
    /// After any compaction.
    async fn after(&self, compaction: &Compaction);
}

/// The message of a record; none of an item that was deleted.
fn original(body: &str) -> Option<String> {
    match log::read(body)? {
        Logged::Sent(Event::Message { bytes, .. } | Event::Reply { bytes }) | Logged::Appended(bytes) => {
            Some(bytes)
        }
        Logged::View(ViewEvent::Item { item, .. }) => {
            let written = || {
                dialect::write(Dialect::OpenAi, std::slice::from_ref(&*item))
                    .into_iter()
                    .next()
            };
            item.raw.as_deref().map(str::to_owned).or_else(written)
        }
        _ => None,
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

/// A compaction, as listeners are told of it. Tokens and messages of the view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compaction {
    pub conversation: SessionKey,
    pub reason: &'static str,
    pub tokens_before: usize,
    pub messages_before: usize,
    /// None before it.
    pub tokens_after: Option<usize>,
    pub messages_after: Option<usize>,
}

/// What the service stands on.
#[derive(Debug, Clone)]
pub struct Parts {
    pub store: Arc<Store>,
    pub keeper: Keeper,
    pub chosen: Chosen,
    /// Writes summaries; without it the digest alone stands.
    pub chat: Option<Arc<dyn Chat>>,
    /// Keeps facts of what leaves a view.
    pub keeping: Option<Keeping>,
    pub listener: Option<Arc<dyn Listener>>,
    pub clock: Arc<dyn Clock>,
    /// What is done after an answer.
    pub tasks: Endings,
}

impl Parts {
    /// Quipu's own engine on these logs, without a model and without listeners.
    pub fn plain(logs: Arc<dyn Conversations>, policy: Policy, clock: Arc<dyn Clock>) -> Self {
        let store = Arc::new(Store::new(logs, policy.clone()));
        Self {
            keeper: Keeper::start(Arc::clone(&store)),
            store,
            chosen: Chosen {
                policy,
                plugin: None,
                clock: Arc::clone(&clock),
            },
            chat: None,
            keeping: None,
            listener: None,
            clock,
            tasks: Endings::default(),
        }
    }
}

/// The handle. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Contexts {
    parts: Arc<Parts>,
}

/// Why the context engine cannot do it.
#[derive(Debug, thiserror::Error)]
pub enum ContextError {
    #[error(transparent)]
    OverBudget(#[from] OverBudget),
    #[error("the conversation's log cannot be used")]
    Ledger(#[from] LedgerError),
    #[error("there is no conversation {}", .0.as_ref().map_or("without a name", SessionId::as_str))]
    NoConversation(Option<SessionId>),
    #[error("the conversation has no item or summary {0}")]
    NoItem(String),
    #[error("item {0} was deleted")]
    Deleted(ItemId),
    #[error("message {0} is no message of the dialect: {1}")]
    NoMessage(usize, String),
    #[error("no budget is known for this conversation yet: give `model` or `window_tokens`")]
    NoBudget,
    #[error("the conversation {0} exists already: fork to another name")]
    Exists(SessionId),
}

/// An original.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Original {
    pub id: ItemId,
    /// As the client wrote it, as JSON text.
    pub message: String,
}

/// What a compaction did.
#[derive(Debug, Clone)]
pub struct Compacted {
    pub attempts: Vec<Attempt>,
    pub tokens_before: usize,
    pub tokens_after: usize,
}

impl Contexts {
    pub fn new(parts: Parts) -> Self {
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

    /// Writes what waits, and ends: what is done after answers has so long. A door that is open meanwhile loses what it brings.
    pub async fn shutdown(&self, bound: Duration) {
        self.parts.tasks.finish(&*self.parts.clock, bound).await;
        self.parts.keeper.finish().await;
    }

    /// What is done after answers.
    pub fn tasks(&self) -> &Endings {
        &self.parts.tasks
    }

    pub fn chosen(&self) -> &Chosen {
        &self.parts.chosen
    }

    fn now(&self) -> Timestamp {
        self.parts.clock.now()
    }

    /// Appends messages that the next request will carry; gives their ids once they are on disk.
    pub async fn append(
        &self,
        whose: &Whose,
        dialect: Dialect,
        messages: &[String],
    ) -> Result<Vec<ItemId>, ContextError> {
        for (index, message) in messages.iter().enumerate() {
            dialect::read_message(dialect, message)
                .map_err(|error| ContextError::NoMessage(index, error.to_string()))?;
        }
        let shared = self.parts.store.open(whose).await?;
        let mut conversation = shared.lock().await;
        conversation.dialect = dialect;
        let before = conversation.records;
        let (ids, records) = messages.iter().map(|bytes| conversation.append(bytes)).unzip();
        self.write(&conversation, before, records).await?;
        Ok(ids)
    }

    /// Decides the next request: all that was said, within its budget. The messages are the conversation's own, whatever is asked.
    pub async fn assemble(
        &self,
        whose: &Whose,
        asked: &Asked<'_>,
        additions: &dyn Additions,
    ) -> Result<Decided, ContextError> {
        let shared = self.existing(whose).await?;
        let mut conversation = shared.lock().await;
        let messages = conversation.messages();
        let messages: Vec<&str> = messages.iter().map(String::as_str).collect();
        let mut asked = *asked;
        asked.request.messages = &messages;
        let mut decided = conversation.decide(&asked, &self.parts.chosen, additions).await?;
        let records = std::mem::take(&mut decided.records);
        self.write(&conversation, decided.at, records).await?;
        self.left_view(&shared, &conversation, &decided);
        Ok(decided)
    }

    /// Records a model's reply.
    pub async fn after_turn(
        &self,
        whose: &Whose,
        dialect: Dialect,
        reply: &str,
        prompt_tokens: Option<usize>,
    ) -> Result<(ItemId, Shared), ContextError> {
        dialect::read_message(dialect, reply)
            .map_err(|error| ContextError::NoMessage(0, error.to_string()))?;
        let shared = self.existing(whose).await?;
        let mut conversation = shared.lock().await;
        let before = conversation.records;
        if let Some(prompt_tokens) = prompt_tokens {
            let beside = conversation.budget.map_or(0, |budget| budget.tools);
            conversation.learn_usage(prompt_tokens, beside);
        }
        let mut records = conversation.take_appended();
        let id = ItemId(conversation.session.items());
        records.push(conversation.apply(&Logged::Sent(Event::Reply {
            bytes: reply.to_owned(),
        })));
        self.write(&conversation, before, records).await?;
        drop(conversation);
        self.replied(&shared, &[reply]);
        Ok((id, shared))
    }

    /// Tells a plug-in of replies that are recorded. Nobody waits for it.
    pub fn replied(&self, shared: &Shared, replies: &[&str]) {
        if self.parts.chosen.plugin.is_none() {
            return;
        }
        let (this, shared) = (self.clone(), Arc::clone(shared));
        let replies: Vec<String> = replies.iter().map(|reply| (*reply).to_owned()).collect();
        self.parts.tasks.spawn(async move {
            let mut conversation = shared.lock().await;
            let budget = conversation.budget.unwrap_or_else(|| Budget::view(0));
            let turn = conversation.turn_meta(&conversation.shadow.head().model, &budget);
            let chosen = &this.parts.chosen;
            let Some(plugin) = chosen.plugin(&mut conversation.health, &turn).await else {
                return;
            };
            for reply in replies {
                let (items, reply) = (conversation.session.shown(), conversation.read(&reply));
                let told = chosen.run(plugin.after_turn(&items, &reply, &turn)).await;
                conversation.health.note(told);
            }
        });
    }

    /// Compacts now, whatever the weight; with the budget of the last request where none is given.
    pub async fn compact(&self, whose: &Whose, budget: Option<Budget>) -> Result<Compacted, ContextError> {
        let shared = self.existing(whose).await?;
        self.compact_now(&shared, budget, Trigger::Manual).await
    }

    /// Compacts a conversation that is in memory. What arrives while a model writes the summary is kept: a summary counts only for the
    /// view that it was written for.
    pub async fn compact_now(
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
            crate::verify::view(&source, made, &pending, budget, meter)
        });
        let Some(view) = view.transpose()? else {
            self.write(&conversation, at, records).await?;
            return Ok(None);
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

    /// The figures of a conversation.
    pub async fn stats(&self, whose: &Whose, budget: Option<Budget>) -> Result<Stats, ContextError> {
        let shared = self.existing(whose).await?;
        let conversation = shared.lock().await;
        Ok(conversation.stats(budget))
    }

    /// Whether so much of a window is left that a request may go out.
    pub async fn guard(
        &self,
        whose: &Whose,
        limits: &Limits,
        window_tokens: Option<usize>,
    ) -> Result<Finding, ContextError> {
        let stats = self.stats(whose, None).await?;
        let window = window_tokens.or(stats.window).ok_or(ContextError::NoBudget)?;
        Ok(guard::evaluate(limits, window, stats.tokens + stats.head_tokens))
    }

    /// The owner's conversations, as they are named: the last by name first.
    pub async fn list(&self, whose: &Whose, limit: usize) -> Result<Vec<String>, ContextError> {
        Ok(self.parts.store.list(whose, limit).await?)
    }

    /// The view, message by message.
    pub async fn view(&self, whose: &Whose) -> Result<Vec<Shown>, ContextError> {
        let shared = self.existing(whose).await?;
        let conversation = shared.lock().await;
        Ok(conversation.view_shown())
    }

    /// The summaries in view, each with what it stands for.
    pub async fn archives(&self, whose: &Whose) -> Result<Vec<Archived>, ContextError> {
        let shared = self.existing(whose).await?;
        let conversation = shared.lock().await;
        Ok(conversation.archives())
    }

    /// The original of an item (`m17`), or all that a summary (`n3`) stands for.
    pub async fn recover(&self, whose: &Whose, id: &str) -> Result<Vec<Original>, ContextError> {
        let shared = self.existing(whose).await?;
        let unknown = || ContextError::NoItem(id.chars().take(ID_SHOWN_CHARS).collect());
        let (key, wanted) = {
            let conversation = shared.lock().await;
            let covers = match (ItemId::parse(id), NodeId::parse(id)) {
                (Some(item), _) => vec![(item, item)],
                (None, Some(node)) => {
                    let nodes = conversation.log.iter().filter_map(|event| match event {
                        ViewEvent::Node(found) if found.id == node => Some(found.covers.clone()),
                        _ => None,
                    });
                    nodes.last().ok_or_else(unknown)?
                }
                (None, None) => return Err(unknown()),
            };
            (conversation.key.clone(), covers)
        };
        let mut originals = Vec::new();
        for (first, last) in &wanted {
            for record in self
                .parts
                .store
                .items(&key, first.0..last.0.saturating_add(1))
                .await?
            {
                if let (Some(item), Some(message)) = (record.item, original(&record.body)) {
                    originals.push(Original {
                        id: ItemId(item),
                        message,
                    });
                }
            }
        }
        originals.retain(|found| ranges::contains(&wanted, found.id));
        match (originals.is_empty(), ItemId::parse(id)) {
            (true, Some(item)) if self.parts.store.item(&key, item.0).await?.is_some() => {
                Err(ContextError::Deleted(item))
            }
            (true, _) => Err(unknown()),
            (false, _) => Ok(originals),
        }
    }

    /// The text of originals for a model that asked for them, of at most so many characters.
    pub async fn expand(&self, whose: &Whose, id: &str, chars_max: usize) -> Result<String, ContextError> {
        let originals = self.recover(whose, id).await?;
        let shared = self.existing(whose).await?;
        let conversation = shared.lock().await;
        let mut text = String::new();
        for original in &originals {
            let item = conversation.read(&original.message);
            let (id, role) = (original.id, role_name(item.role));
            let words = words(&item);
            // Writing to a string cannot fail.
            let _ = writeln!(text, "[{id}] {role}: {words}");
        }
        if text.chars().count() > chars_max {
            text = text.chars().take(chars_max).collect();
            text.push_str("\n[… cut here; ask for a single message by its id]");
        }
        Ok(text)
    }

    /// The newest originals that hold all these words.
    pub async fn find(
        &self,
        whose: &Whose,
        words: &str,
        limit: usize,
    ) -> Result<Vec<Original>, ContextError> {
        let shared = self.existing(whose).await?;
        let key = shared.lock().await.key.clone();
        let found = self.parts.store.search(&key, words, limit.min(FOUND_MAX)).await?;
        let mut originals = Vec::new();
        for item in found {
            let record = self.parts.store.item(&key, item).await?;
            if let Some(message) = record.and_then(|record| original(&record.body)) {
                originals.push(Original {
                    id: ItemId(item),
                    message,
                });
            }
        }
        Ok(originals)
    }

    /// Keeps an item verbatim through every compaction, or no longer.
    pub async fn pin(&self, whose: &Whose, id: ItemId, pinned: bool) -> Result<(), ContextError> {
        let shared = self.existing(whose).await?;
        let mut conversation = shared.lock().await;
        let before = conversation.records;
        let mut records = conversation.take_appended();
        if id.0 >= conversation.session.items() {
            self.write(&conversation, before, records).await?;
            return Err(ContextError::NoItem(id.to_string()));
        }
        let event = if pinned {
            ViewEvent::Pin(id)
        } else {
            ViewEvent::Unpin(id)
        };
        records.push(conversation.apply(&Logged::View(event)));
        Ok(self.write(&conversation, before, records).await?)
    }

    /// Begins another conversation of the same owner with a copy: of all of this one, or of what came before an item.
    pub async fn fork(
        &self,
        whose: &Whose,
        before: Option<ItemId>,
        to: &SessionId,
    ) -> Result<(), ContextError> {
        let shared = self.existing(whose).await?;
        let to_whose = Whose {
            conversation: Some(to.clone()),
            ..whose.clone()
        };
        if self.parts.store.opened(&to_whose).await?.is_some() {
            return Err(ContextError::Exists(to.clone()));
        }
        let mut conversation = shared.lock().await;
        let records_before = conversation.records;
        let records = conversation.take_appended();
        self.write(&conversation, records_before, records).await?;
        let kept = match before {
            Some(id) => conversation
                .place(id)
                .ok_or_else(|| ContextError::NoItem(id.to_string()))?,
            None => conversation.ids.len(),
        };
        Ok(self.parts.store.fork(&to_whose, &conversation, kept).await?)
    }

    /// Goes on from just before this item. The later ones stay in the log and can be recovered.
    pub async fn rewind(&self, whose: &Whose, to: ItemId) -> Result<(), ContextError> {
        let shared = self.existing(whose).await?;
        let mut conversation = shared.lock().await;
        let before = conversation.records;
        let mut records = conversation.take_appended();
        let Some(kept) = conversation.place(to) else {
            self.write(&conversation, before, records).await?;
            return Err(ContextError::NoItem(to.to_string()));
        };
        let epoch = compose::rewound(&conversation.shadow, kept);
        records.push(conversation.apply(&Logged::Sent(epoch)));
        Ok(self.write(&conversation, before, records).await?)
    }

    /// The messages that a sub-agent of that role starts with, in the conversation's dialect. Nothing of the sub-agent enters the
    /// conversation but what is appended.
    pub async fn spawn(&self, whose: &Whose, role: &str) -> Result<Vec<String>, ContextError> {
        let shared = self.existing(whose).await?;
        let mut conversation = shared.lock().await;
        let budget = conversation.budget.unwrap_or_else(|| Budget::view(0));
        let turn = conversation.turn_meta(&conversation.shadow.head().model, &budget);
        let items = conversation.with_waiting();
        let chosen = &self.parts.chosen;
        let made = match chosen.plugin(&mut conversation.health, &turn).await {
            Some(plugin) => {
                let made = chosen
                    .run(plugin.prepare_subagent_spawn(items.clone(), role, &turn))
                    .await;
                conversation.health.note(made)
            }
            None => None,
        };
        let made = made.unwrap_or_else(|| subagent::for_subagent(items, role));
        let made: Vec<Item> = made.iter().map(|item| Item::clone(item)).collect();
        Ok(dialect::write(conversation.dialect, &made))
    }

    /// Tells the engine that a sub-agent ended.
    pub async fn ended(
        &self,
        whose: &Whose,
        agent_id: &str,
        messages: &[String],
        result: Option<&str>,
    ) -> Result<(), ContextError> {
        let shared = self.existing(whose).await?;
        let mut conversation = shared.lock().await;
        let budget = conversation.budget.unwrap_or_else(|| Budget::view(0));
        let turn = conversation.turn_meta(&conversation.shadow.head().model, &budget);
        let items: Vec<Arc<Item>> = messages
            .iter()
            .map(|bytes| Arc::new(conversation.read(bytes)))
            .collect();
        let chosen = &self.parts.chosen;
        if let Some(plugin) = chosen.plugin(&mut conversation.health, &turn).await {
            let told = chosen
                .run(plugin.on_subagent_ended(agent_id, &items, result, &turn))
                .await;
            conversation.health.note(told);
        }
        Ok(())
    }

    async fn existing(&self, whose: &Whose) -> Result<Shared, ContextError> {
        let found = self.parts.store.opened(whose).await?;
        found.ok_or_else(|| ContextError::NoConversation(whose.conversation.clone()))
    }

    async fn write(
        &self,
        conversation: &Conversation,
        at: u64,
        records: Vec<NewRecord>,
    ) -> Result<(), LedgerError> {
        self.parts.store.learn(conversation);
        self.parts.keeper.write(conversation, at, records).await
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
