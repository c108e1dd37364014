//! Conversations: finding the one that a request continues, and storing its records.
//!
//! Owns: the index of chains, the conversations in memory, their logs on disk, the bytes held. Invariant: a
//! conversation leaves memory only when all of it is on disk and unused; it is read again when needed. Never: deciding
//! a request.

mod held;
mod quoted;
mod reading;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use context::policy::Policy;
use context::tokens::Meter;
use model::{Owner, Scope, SessionId, SessionKey, warned};
use parking_lot::Mutex;
use ports::{Conversations, LedgerError};
use prefix::chain::{self, Chain, ConversationId, MatchKind};
use tokio::sync::OwnedMutexGuard;
use transcript::dialect::Dialect;

use crate::conversation::log::{self, Logged};
use crate::conversation::party::{self, BEGINNING, Party, identity, session_of};
use crate::conversation::responses::{ResponsePlace, Responses};
use crate::conversation::state::Conversation;
use held::{COPIES, Held, HeldConversation};

/// Number of unnamed conversations of each tenant that are loaded after a restart, newest first.
const RESTORED_MAX: usize = 256;
const RECORDS_MAX: usize = 200_000;

/// A conversation, and how the request continues it.
#[derive(Debug)]
pub struct Continuation {
    pub conversation: Shared,
    pub front: usize,
    /// The conversation from which this one just branched off.
    pub left: Option<String>,
}

/// A conversation in memory.
pub type Shared = Arc<tokio::sync::Mutex<Conversation>>;

/// The conversations of a process.
#[derive(Debug)]
pub struct Store {
    pub(crate) logs: Arc<dyn Conversations>,
    policy: Policy,
    held: Mutex<Held>,
    responses: Mutex<Responses>,
    /// Tenants whose newest conversations are loaded; the lock allows one load at a time.
    loading: tokio::sync::Mutex<BTreeSet<Scope>>,
}

impl Store {
    pub fn new(logs: Arc<dyn Conversations>, policy: Policy) -> Self {
        Self {
            logs,
            policy,
            held: Mutex::default(),
            responses: Mutex::default(),
            loading: tokio::sync::Mutex::default(),
        }
    }

    /// The conversation that these messages continue, or a new one under `fresh`. If the messages branch off in the
    /// middle of an unnamed conversation, the new one starts as a copy, so that both can continue.
    pub async fn find(
        &self,
        party: &Party,
        dialect: Dialect,
        messages: &[&str],
        fresh: impl FnOnce() -> String,
    ) -> Result<Continuation, LedgerError> {
        let named = self.loaded(party).await?;
        let chain = Chain::of(&party.chain_scope(dialect), messages);
        let hinted = party.hinted();
        let matched = self.matched(&chain, hinted.as_deref());
        let known = matched.conversation.clone().filter(|_| {
            // Another branch of an unnamed conversation is a conversation of its own.
            party.conversation.is_some() || !matches!(matched.kind, MatchKind::Branched { .. })
        });
        let named_id = named.as_ref().map(|session| identity(&party.scope, session));
        if let Some(id) = known.or(named_id)
            && let Some(conversation) = self.touch(&id, party).await?
        {
            let front = match matched.kind {
                MatchKind::Truncated { front, .. } => conversation.lock().await.chain.end(front),
                _ => 0,
            };
            return Ok(Continuation {
                conversation,
                front,
                left: None,
            });
        }
        let branched = match (&matched.conversation, matched.kind) {
            (Some(id), MatchKind::Branched { at }) => self.left(id, at, party).await?,
            _ => None,
        };
        let origin = branched
            .as_ref()
            .map(|(id, ..)| party::family(session_of(id)).to_owned());
        let session = named.unwrap_or_else(|| party::unnamed(&fresh(), hinted.or(origin).as_deref()));
        let mut conversation = self.make(party, session, dialect);
        let mut left = None;
        if let Some((_, origin, at)) = branched {
            left = Some(origin.key.session.to_string());
            self.copy(&origin, origin.chain.end(at), &mut conversation)
                .await?;
        }
        Ok(Continuation {
            conversation: self.hold(conversation),
            front: 0,
            left,
        })
    }

    /// The conversation of that name, new or with its log.
    pub async fn open(&self, party: &Party) -> Result<Shared, LedgerError> {
        if let Some(conversation) = self.opened(party).await? {
            return Ok(conversation);
        }
        let session = self.named_session(party).await?;
        Ok(self.hold(self.make(party, session, Dialect::OpenAi)))
    }

    /// The conversation of that name; none if it has no message.
    pub async fn opened(&self, party: &Party) -> Result<Option<Shared>, LedgerError> {
        let session = self.named_session(party).await?;
        self.load_named(party, &session).await?;
        self.touch(&identity(&party.scope, &session), party).await
    }

    /// The id of the named conversation.
    async fn named_session(&self, party: &Party) -> Result<SessionId, LedgerError> {
        match &party.conversation {
            Some(name) => self.session(party, name).await,
            None => Ok(SessionId::new(String::new())),
        }
    }

    /// Creates a named conversation with the first `kept` messages of another.
    pub async fn fork(&self, party: &Party, origin: &Conversation, kept: usize) -> Result<(), LedgerError> {
        let mut conversation = self.make(party, self.named_session(party).await?, origin.dialect);
        self.copy(origin, kept, &mut conversation).await?;
        self.hold(conversation);
        Ok(())
    }

    async fn copy(
        &self,
        origin: &Conversation,
        kept: usize,
        into: &mut Conversation,
    ) -> Result<(), LedgerError> {
        // A copy has new ids: if a part of the origin is private, the whole copy is.
        into.set_learns(origin.private.is_empty());
        for event in origin.shadow.fork(kept) {
            into.record(&Logged::Sent(event));
        }
        let (at, records) = into.take_unwritten();
        let (key, owner) = (&into.key, &into.party.owner);
        let written = self.logs.append(key, owner, at, None, records).await?;
        into.written.store(written, Ordering::Release);
        Ok(())
    }

    /// The conversation that a list continues after this many messages. Only a reply that we saw decides this: a client
    /// can begin several conversations with the same text, such as an example with its answer, and none of them
    /// continues another.
    async fn left<'a>(
        &self,
        id: &'a ConversationId,
        at: usize,
        party: &Party,
    ) -> Result<Option<(&'a ConversationId, OwnedMutexGuard<Conversation>, usize)>, LedgerError> {
        let Some(conversation) = self.touch(id, party).await? else {
            return Ok(None);
        };
        let conversation = conversation.lock_owned().await;
        Ok(conversation.was_answered(at).then_some((id, conversation, at)))
    }

    /// The messages that a server stores under this id of a response or a conversation: up to the response, or all
    /// messages of a named conversation. Empty for an unknown id, and if the conversation has branched since.
    pub async fn held_by_server(&self, party: &Party, id: &str) -> Result<Vec<String>, LedgerError> {
        let named = self.loaded(party).await?;
        let named = named.map(|session| identity(&party.scope, &session));
        let place = self.responses.lock().place(party, id);
        let Some(id) = place.as_ref().map(|place| place.conversation.clone()).or(named) else {
            return Ok(Vec::new());
        };
        let Some(conversation) = self.touch(&id, party).await? else {
            return Ok(Vec::new());
        };
        let conversation = conversation.lock().await;
        let links = conversation.chain.links();
        let up_to = |place: ResponsePlace| links.iter().position(|link| link.hash == place.hash);
        let entries = conversation.shadow.entries();
        let count = place.map_or(entries.len(), |place| {
            up_to(place).map_or(0, |at| conversation.chain.end(at + 1))
        });
        Ok(entries
            .iter()
            .take(count)
            .map(|entry| entry.bytes.clone())
            .collect())
    }

    /// The conversation that contains a response or an item with this id of the server.
    pub async fn of_response(&self, party: &Party, id: &str) -> Result<Option<Shared>, LedgerError> {
        let place = self.responses.lock().place(party, id);
        match place {
            Some(place) => self.touch(&place.conversation, party).await,
            None => Ok(None),
        }
    }

    /// Records the server's ids for the present end of the conversation.
    pub fn learn_responses<'a>(
        &self,
        party: &Party,
        conversation: &Conversation,
        ids: impl Iterator<Item = &'a String>,
    ) {
        let Some(link) = conversation.chain.links().last() else {
            return;
        };
        for id in ids {
            let place = ResponsePlace {
                conversation: conversation.identity(),
                hash: link.hash,
            };
            self.responses.lock().learn(party, id, place);
        }
    }

    /// Records that the server stores objects with these ids for the owner.
    pub async fn record_objects(&self, party: &Party, ids: BTreeSet<String>) {
        let ids = ids.into_iter().collect();
        let recorded = self.logs.record_objects(&party.scope, &party.owner, ids).await;
        warned!(
            recorded,
            "cannot store whose a response is; its ids will be refused"
        );
    }

    fn make(&self, party: &Party, session: SessionId, dialect: Dialect) -> Conversation {
        // The first request sets the model for counting.
        Conversation::new(
            party.clone(),
            session,
            dialect,
            self.policy.clone(),
            Meter::estimate(),
        )
    }

    /// Puts a conversation into memory, unless another request loaded it meanwhile; returns the one in memory.
    fn hold(&self, conversation: Conversation) -> Shared {
        let id = conversation.identity();
        let mut held = self.held.lock();
        if let Some(known) = held.known.get(&id)
            && let Some(there) = &known.conversation
            && known.party.owner == conversation.party.owner
        {
            return Arc::clone(there);
        }
        held.index.learn(&id, &conversation.chain);
        held.uses += 1;
        let mut known = HeldConversation {
            conversation: None,
            party: conversation.party.clone(),
            used: held.uses,
            bytes: COPIES * conversation.bytes,
            records: conversation.records,
            written: Arc::clone(&conversation.written),
        };
        let shared = Arc::new(tokio::sync::Mutex::new(conversation));
        known.conversation = Some(Arc::clone(&shared));
        held.bytes += known.bytes;
        if let Some(before) = held.known.insert(id, known) {
            held.bytes -= before.bytes;
        }
        held.forget_oldest();
        held.shrink();
        shared
    }

    /// The conversation of any owner; this does not count as a use.
    pub async fn get(&self, id: &ConversationId) -> Result<Option<Shared>, LedgerError> {
        match self.known(id) {
            Some((Some(conversation), _)) => Ok(Some(conversation)),
            _ => self.read_again(id).await,
        }
    }

    /// Indexes a conversation by its present end.
    pub fn learn(&self, conversation: &Conversation) {
        let id = conversation.identity();
        let mut held = self.held.lock();
        held.index.learn(&id, &conversation.chain);
        let Some(known) = held.known.get_mut(&id) else {
            return;
        };
        let before = std::mem::replace(&mut known.bytes, COPIES * conversation.bytes);
        known.records = conversation.records;
        held.bytes = held.bytes + COPIES * conversation.bytes - before;
        held.shrink();
    }

    /// Drops a conversation from memory; the deletion of its session deletes its log.
    pub(crate) fn forget(&self, key: &SessionKey) {
        self.held.lock().forget(&identity(&key.scope, &key.session));
    }

    /// Drops every conversation of a tenant from memory; those still on disk are read again.
    pub async fn reload(&self, scope: &Scope) {
        let mut loaded = self.loading.lock().await;
        loaded.remove(scope);
        let beginning = format!("{}/{}/", scope.app, scope.project);
        let mut held = self.held.lock();
        let gone: Vec<ConversationId> = held
            .known
            .keys()
            .filter(|id| id.0.starts_with(&beginning))
            .cloned()
            .collect();
        for id in &gone {
            held.forget(id);
        }
    }

    /// Loads the conversations on disk that the request can mean; returns the conversation's id, if the client names one.
    async fn loaded(&self, party: &Party) -> Result<Option<SessionId>, LedgerError> {
        let Some(name) = &party.conversation else {
            self.load_unnamed(party).await?;
            return Ok(None);
        };
        let session = self.session(party, name).await?;
        self.load_named(party, &session).await?;
        Ok(Some(session))
    }

    /// The owner of a conversation on disk.
    pub async fn owner_of(&self, key: &SessionKey) -> Result<Option<Owner>, LedgerError> {
        let found = self
            .logs
            .by_prefix(&key.scope, key.session.as_str(), usize::MAX)
            .await?;
        let found = found.into_iter().find(|(name, _)| *name == key.session);
        Ok(found.map(|(_, owner)| owner))
    }

    /// The id of a named conversation: one of our own ids that this owner knows, else one made from the owner's and the
    /// client's names.
    async fn session(&self, party: &Party, name: &SessionId) -> Result<SessionId, LedgerError> {
        if name.as_str().starts_with(BEGINNING) {
            let id = identity(&party.scope, name);
            let held = self
                .held
                .lock()
                .known
                .get(&id)
                .map(|known| known.party.owner == party.owner);
            let is_own = match held {
                Some(is_own) => is_own,
                None => self
                    .logs
                    .by_prefix(&party.scope, name.as_str(), 1)
                    .await?
                    .contains(&(name.clone(), party.owner.clone())),
            };
            if is_own {
                return Ok(name.clone());
            }
        }
        Ok(party.session(name))
    }

    async fn load_named(&self, party: &Party, session: &SessionId) -> Result<(), LedgerError> {
        let id = identity(&party.scope, session);
        if self.held.lock().known.contains_key(&id) {
            return Ok(());
        }
        let _one = self.loading.lock().await;
        if !self.held.lock().known.contains_key(&id) {
            self.load(party, session.clone()).await?;
        }
        Ok(())
    }

    /// The conversation that a list continues; among several with the same beginning, one of the client's own family.
    fn matched(&self, chain: &Chain, family: Option<&str>) -> chain::Matched {
        let held = self.held.lock();
        let is_kin = |id: &ConversationId| family == Some(party::family(session_of(id)));
        chain::match_chain(&held.index, chain, &is_kin)
    }

    async fn load_unnamed(&self, party: &Party) -> Result<(), LedgerError> {
        let mut loaded = self.loading.lock().await;
        if loaded.contains(&party.scope) {
            return Ok(());
        }
        let newest = self.logs.by_prefix(&party.scope, BEGINNING, RESTORED_MAX).await?;
        for (session, owner) in newest.into_iter().rev() {
            let party = Party {
                owner,
                conversation: None,
                family: None,
                ..party.clone()
            };
            self.load(&party, session).await?;
        }
        loaded.insert(party.scope.clone());
        Ok(())
    }

    /// Folds a log into a conversation; none without a log.
    async fn load(&self, party: &Party, session: SessionId) -> Result<Option<Shared>, LedgerError> {
        let mut conversation = self.make(party, session, Dialect::OpenAi);
        let records = self.logs.read(&conversation.key, 0, RECORDS_MAX).await?;
        let total = records.len() as u64;
        for record in records {
            // An unreadable record ends the conversation: later records can depend on it.
            let Some(logged) = log::read(&record.body) else {
                tracing::warn!(conversation = %conversation.key.session, record = record.position, "unreadable record; the conversation ends before it");
                break;
            };
            conversation.apply(&logged);
        }
        conversation.speaks_as_framed();
        conversation.records = total;
        conversation.written.store(total, Ordering::Release);
        Ok((total > 0).then(|| self.hold(conversation)))
    }

    /// The conversation, if it is this owner's.
    async fn touch(&self, id: &ConversationId, party: &Party) -> Result<Option<Shared>, LedgerError> {
        {
            let mut held = self.held.lock();
            held.uses += 1;
            let uses = held.uses;
            let known = held
                .known
                .get_mut(id)
                .filter(|known| known.party.owner == party.owner);
            let Some(known) = known else { return Ok(None) };
            known.used = uses;
        }
        self.get(id).await
    }

    /// Reads a conversation that left memory.
    async fn read_again(&self, id: &ConversationId) -> Result<Option<Shared>, LedgerError> {
        let _one = self.loading.lock().await;
        let Some((found, party)) = self.known(id) else {
            return Ok(None);
        };
        match found {
            Some(conversation) => Ok(Some(conversation)),
            None => self.load(&party, SessionId::new(session_of(id))).await,
        }
    }

    fn known(&self, id: &ConversationId) -> Option<(Option<Shared>, Party)> {
        let held = self.held.lock();
        let known = held.known.get(id)?;
        Some((known.conversation.clone(), known.party.clone()))
    }
}
