//! One conversation: its messages, and their view.
//!
//! Owns: the sent log and the context session, both folded from one log of records. Invariant: the log alone restores
//! the same conversation. Never: storing the log (`store`), sending, choosing the items that leave a view (`context`).

pub(crate) mod compact;
mod counts;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use context::budget::Budget;
use context::event::ViewEvent;
use context::guard::{Guard, WindowSource};
use context::ladder::Attempt;
use context::policy::Policy;
use context::session::Session;
use context::tokens::Meter;
use context::warn::Warnings;
use model::{SessionId, SessionKey, Timestamp};
use ports::NewRecord;
use prefix::Digest;
use prefix::chain::{Chain, ConversationId};
use prefix::shadow::{Reason, Shadow, ShadowEvent};
use transcript::dialect::{self, Dialect};
use transcript::spoken::without_additions;
use transcript::{Item, ItemId, Role};

use crate::conversation::hooks::Health;
use crate::conversation::log::{self, Logged, Usage};
use crate::conversation::party::{self, Party};

/// Reports of a server that correct the counts after a restart.
const USAGES_MAX: usize = 8;

/// State of a conversation.
#[derive(Debug, Clone)]
pub struct Conversation {
    pub key: SessionKey,
    /// Owner and name since its beginning.
    pub(crate) party: Party,
    /// Dialect of the newest request.
    pub dialect: Dialect,
    pub shadow: Shadow,
    /// The client's messages and the replies, hashed.
    pub chain: Chain,
    pub(crate) log: Vec<ViewEvent>,
    pub(crate) session: Session,
    /// The model whose vocabulary counts the tokens.
    counts_for: String,
    /// The text before the messages, and its tokens; it repeats from request to request.
    head: (Vec<String>, usize),
    /// The items of the shadow's entries, by place.
    pub(crate) ids: Vec<ItemId>,
    /// The messages in the log, in bytes.
    pub(crate) bytes: usize,
    /// Number of records in the log, including those that are not on disk yet: each change is one.
    pub records: u64,
    /// The last of these records, not yet passed to the keeper.
    pub(crate) unwritten: Vec<NewRecord>,
    /// Digests of replies, so that a client's echo of a reply does not count as new.
    replies: BTreeSet<Digest>,
    /// Messages of the client without an answer yet, each with its hash in the chain.
    unanswered: Vec<(String, Digest)>,
    /// Whether memory may learn from arriving messages.
    learns: bool,
    /// Items that memory may not learn from.
    pub(crate) private: BTreeSet<ItemId>,
    /// Each running turn holds a clone.
    open: Arc<()>,
    /// Reasons of epochs that have no answer yet.
    begun: Vec<Reason>,
    /// The server's token counts of the newest views.
    usages: Vec<Usage>,
    /// The last request without its messages; empty before the first one.
    pub(crate) frame: String,
    /// Appended messages that no request contained yet.
    pub(crate) appended: Vec<String>,
    /// Budget of the newest request.
    pub(crate) budget: Option<Budget>,
    pub(crate) window_source: WindowSource,
    pub(crate) warnings: Warnings,
    /// Attempts and time of the last compaction that changed something.
    pub(crate) last_result: Option<Vec<Attempt>>,
    pub(crate) last_compaction: Option<Timestamp>,
    /// Judges whether enough of the window is left for a request.
    pub(crate) guard: Guard,
    /// Health of the context engine in this conversation.
    pub(crate) health: Health,
    /// Number of records on disk.
    pub(crate) written: Arc<AtomicU64>,
}

/// Marks a running turn until it is dropped.
#[derive(Debug)]
pub struct Open(#[expect(dead_code, reason = "its holder is what counts")] Arc<()>);

impl Conversation {
    pub(crate) fn new(
        party: Party,
        session: SessionId,
        dialect: Dialect,
        policy: Policy,
        meter: Meter,
    ) -> Self {
        let warnings = Warnings::new(policy.warn_at.clone());
        Self {
            key: SessionKey::new(party.scope.clone(), session),
            chain: Chain::of(&party.chain_scope(dialect), &[]),
            party,
            dialect,
            shadow: Shadow::default(),
            bytes: 0,
            log: Vec::new(),
            session: Session::new(policy, meter),
            counts_for: String::new(),
            head: (Vec::new(), 0),
            ids: Vec::new(),
            records: 0,
            unwritten: Vec::new(),
            replies: BTreeSet::new(),
            unanswered: Vec::new(),
            learns: true,
            private: BTreeSet::new(),
            open: Arc::default(),
            begun: Vec::new(),
            usages: Vec::new(),
            frame: String::new(),
            appended: Vec::new(),
            budget: None,
            window_source: WindowSource::Default,
            warnings,
            last_result: None,
            last_compaction: None,
            guard: Guard::default(),
            health: Health::default(),
            written: Arc::default(),
        }
    }

    /// `APP/PROJECT/SESSION`.
    pub fn identity(&self) -> ConversationId {
        party::identity(&self.key.scope, &self.key.session)
    }

    /// Marks the beginning of a turn.
    pub fn begin(&self) -> Open {
        Open(Arc::clone(&self.open))
    }

    /// No turn is running, and no tool result is pending.
    pub fn is_at_rest(&self) -> bool {
        Arc::strong_count(&self.open) == 1 && self.session.pending().is_empty()
    }

    /// Appends a message for the next request.
    pub(crate) fn append(&mut self, bytes: &str) -> ItemId {
        let id = ItemId(self.session.items() + self.appended.len() as u64);
        let bytes = bytes.to_owned();
        self.record(&Logged::Appended { bytes });
        id
    }

    /// All messages, as the client wrote them: the sent ones, the replies, and those that wait for a request.
    pub fn messages(&self) -> Vec<String> {
        let sent = self.shadow.entries().iter().map(|entry| entry.bytes.clone());
        sent.chain(self.appended.iter().cloned()).collect()
    }

    /// From here on, memory may learn from the messages, or may not.
    pub(crate) fn set_learns(&mut self, learns: bool) {
        if self.learns != learns {
            self.record(&Logged::Learns { learns });
        }
    }

    /// Adds the waiting messages to the list as if a request had contained them.
    pub(crate) fn take_appended(&mut self) {
        let count = self.appended.len();
        if count > 0 {
            self.record(&Logged::Taken { count });
        }
    }

    /// Applies an event, and queues its record for the keeper.
    pub(crate) fn record(&mut self, logged: &Logged) {
        let record = self.apply(logged);
        self.unwritten.push(record);
    }

    /// The unwritten records, and the number of records before them.
    pub(crate) fn take_unwritten(&mut self) -> (u64, Vec<NewRecord>) {
        let records = std::mem::take(&mut self.unwritten);
        (self.records - records.len() as u64, records)
    }

    /// Applies an event, and returns its record.
    pub(crate) fn apply(&mut self, logged: &Logged) -> NewRecord {
        self.records += 1;
        let mut record = NewRecord {
            item: None,
            text: String::new(),
            body: log::write(logged),
        };
        let restores = match logged {
            Logged::View(ViewEvent::Pin(id)) => self.session.must_restore(*id, true),
            Logged::View(ViewEvent::Unpin(id)) => self.session.must_restore(*id, false),
            _ => false,
        };
        match logged {
            Logged::View(event) => {
                self.view(event.clone());
                if restores {
                    self.restore();
                }
            }
            Logged::Sent(event) => {
                // The record of an appended message already holds its item.
                let waited = matches!(event, ShadowEvent::Message { bytes, .. } if self.appended.first() == Some(bytes));
                if waited {
                    self.appended.remove(0);
                }
                if let Some((id, item)) = self.sent(event).filter(|_| !waited) {
                    record.item = Some(id.0);
                    record.text = without_additions(&item).words();
                }
            }
            Logged::Appended { bytes } => {
                self.bytes += bytes.len();
                record.item = Some(self.session.items() + self.appended.len() as u64);
                record.text = Self::read(bytes).words();
                self.appended.push(bytes.clone());
            }
            Logged::Budget(record) => (self.budget, self.window_source) = record.read(),
            Logged::Usage { usage } => {
                if usage.model == self.counts_for {
                    self.session.record_usage(usage.counted, usage.reported);
                }
                if self.usages.len() == USAGES_MAX {
                    self.usages.remove(0);
                }
                self.usages.push(usage.clone());
            }
            Logged::Frame { text } => self.frame.clone_from(text),
            Logged::Learns { learns } => self.learns = *learns,
            Logged::Taken { count } => {
                let count = (*count).min(self.appended.len());
                for bytes in self.appended.drain(..count).collect::<Vec<_>>() {
                    self.sent(&ShadowEvent::Message {
                        bytes,
                        fragment: None,
                    });
                }
            }
        }
        record
    }

    /// Applies an event of the shadow; returns the item that arrived with it.
    fn sent(&mut self, event: &ShadowEvent) -> Option<(ItemId, Arc<Item>)> {
        self.shadow.apply(event);
        match event {
            ShadowEvent::Epoch {
                reasons, front, kept, ..
            } => {
                self.begun.extend_from_slice(reasons);
                self.cut(*front, *kept);
                None
            }
            ShadowEvent::Edit(_) => None,
            ShadowEvent::Message { bytes, .. } | ShadowEvent::Reply { bytes } => {
                self.bytes += bytes.len();
                let meaning = self.shadow.entries().last()?.meaning;
                self.chain.push(meaning);
                if matches!(event, ShadowEvent::Reply { .. }) {
                    self.begun.clear();
                    self.replies.insert(meaning.digest);
                }
                Some(self.arrive())
            }
        }
    }

    pub(super) fn view(&mut self, event: ViewEvent) {
        self.session.apply(&event);
        self.log.push(event);
    }

    /// Adds the newest entry to the view as it was sent.
    fn arrive(&mut self) -> (ItemId, Arc<Item>) {
        let sent = self
            .shadow
            .entries()
            .last()
            .map(|entry| entry.sent())
            .unwrap_or_default();
        let item = Arc::new(Self::read(&sent));
        let id = ItemId(self.session.items());
        self.ids.push(id);
        if !self.learns {
            self.private.insert(id);
        }
        self.view(self.session.arrival(Arc::clone(&item)));
        (id, item)
    }

    /// Reads a message as an item.
    pub(crate) fn read(bytes: &str) -> Item {
        // This dialect also reads the messages of the other dialects.
        let read = dialect::read_message(Dialect::OpenAiResponses, bytes);
        read.unwrap_or_else(|_| Item::text(Role::User, bytes))
    }

    /// The client left out messages at the front, or went back to an earlier place.
    fn cut(&mut self, front: usize, kept: usize) {
        let front = front.min(self.ids.len());
        let kept = (front + kept).min(self.ids.len());
        if front == 0 && kept == self.ids.len() {
            return;
        }
        if let Some(id) = self.ids.get(kept) {
            self.log.push(ViewEvent::Rewind(*id));
        }
        self.ids.truncate(kept);
        // The text of a summary of these items stays.
        let gone = self
            .ids
            .drain(..front)
            .filter(|id| self.session.shows_original(*id));
        self.log.extend(gone.map(ViewEvent::Forget));
        self.restore();
        self.chain_again();
    }

    fn chain_again(&mut self) {
        let meanings = self.shadow.entries().iter().map(|entry| entry.meaning);
        self.chain = Chain::of_meanings(&self.party.chain_scope(self.dialect), meanings);
    }

    /// The dialect of the last request, after a restart.
    pub(crate) fn speaks_as_framed(&mut self) {
        let speech = serde_json::from_str::<serde_json::Value>(&self.frame).unwrap_or_default();
        let dialect = match speech["speech"].as_str() {
            Some("messages") => Dialect::Anthropic,
            Some("responses") => Dialect::OpenAiResponses,
            _ => return,
        };
        self.dialect = dialect;
        self.chain_again();
    }

    /// Restores the session from the log.
    fn restore(&mut self) {
        let (policy, meter) = (self.session.policy().clone(), self.session.meter().clone());
        let mut session = Session::restore(policy, meter, self.log.clone());
        session.succeed(&self.session);
        self.session = session;
    }

    /// Whether the view may exceed the budget's threshold with these events. Counts bytes, which are never fewer than
    /// tokens.
    pub fn may_exceed(&self, budget: &Budget, events: &[ShadowEvent]) -> bool {
        let bytes: usize = events
            .iter()
            .map(|event| match event {
                ShadowEvent::Message { bytes, .. } | ShadowEvent::Reply { bytes } => bytes.len(),
                ShadowEvent::Epoch { .. } | ShadowEvent::Edit(_) => 0,
            })
            .sum();
        let inputs = self.session.inputs(budget);
        inputs.used + bytes >= inputs.threshold
    }

    /// Records this number of the newest messages as waiting for an answer.
    pub(crate) fn ask(&mut self, messages: usize) {
        let entries = self.shadow.entries().iter().rev().take(messages);
        let new: Vec<_> = entries.filter(|entry| !entry.meaning.thinks).collect();
        let links = self.chain.links().iter().rev();
        for (entry, link) in new.into_iter().zip(links).rev() {
            if !self.replies.contains(&entry.meaning.digest) {
                self.unanswered.push((entry.bytes.clone(), link.hash));
            }
        }
    }

    /// Keeps the newest reply with the messages that wait: a later turn adds all of them to memory.
    pub fn hold(&mut self) {
        let newest = self.shadow.entries().last().zip(self.chain.links().last());
        let reply = newest.filter(|(entry, _)| Self::read(&entry.bytes).role == Role::Assistant);
        let reply = reply.map(|(entry, link)| (entry.bytes.clone(), link.hash));
        self.unanswered.extend(reply);
    }

    /// The messages that waited for an answer and are still part of the conversation, each with a unique id.
    pub fn answered(&mut self) -> Vec<(String, String)> {
        let links = self.chain.links();
        let waited = std::mem::take(&mut self.unanswered).into_iter();
        waited
            .filter(|(_, hash)| links.iter().any(|link| link.hash == *hash))
            .map(|(bytes, hash)| (bytes, hash.to_string()))
            .collect()
    }

    /// The newest message that matches.
    pub fn newest(&self, is_it: impl Fn(&str) -> bool) -> Option<String> {
        let entry = self.shadow.entries().iter().rfind(|entry| is_it(&entry.bytes));
        entry.map(|entry| entry.bytes.clone())
    }

    /// Whether the first messages contain a reply that we saw.
    pub fn was_answered(&self, messages: usize) -> bool {
        let mut links = self.chain.links().iter().take(messages);
        links.any(|link| self.replies.contains(&link.meaning.digest))
    }

    /// Reasons why the next request does not extend the last one, including epochs that began while the conversation
    /// was idle.
    pub fn begun(&self) -> Vec<Reason> {
        let mut reasons = self.begun.clone();
        reasons.sort_unstable();
        reasons.dedup();
        reasons
    }

    pub(crate) fn place(&self, id: ItemId) -> Option<usize> {
        self.ids.binary_search(&id).ok()
    }
}

#[cfg(test)]
mod tests {
    use model::{Name, Owner};

    use super::*;

    #[test]
    fn an_item_of_another_dialect_in_a_conversation_is_still_read() {
        let party = Party {
            scope: model::Scope::default(),
            owner: Owner::user(Name::parse("ann").unwrap()),
            conversation: None,
            family: None,
        };
        let (session, meter) = (SessionId::new("a"), Meter::for_model("tiny"));
        let mut conversation = Conversation::new(party, session, Dialect::OpenAi, Policy::quipu(), meter);
        let call = r#"{"type":"function_call","call_id":"a","name":"ls","arguments":"{}"}"#;
        for (bytes, text) in [(call, "ls\n{}"), (r#"{"role":"assistant","content":"so"}"#, "so")] {
            let event = ShadowEvent::Reply {
                bytes: bytes.to_owned(),
            };
            let record = conversation.apply(&Logged::Sent(event));
            assert_eq!(record.text, text, "{bytes}");
        }
    }
}
