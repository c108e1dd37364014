//! Conversations: finding the one that a request continues, keeping what happened to it.
//!
//! Owns: the index of chains, the talks in memory, their logs on disk, how many are held. Never: deciding what is sent.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use context::tokens::Meter;
use model::{Owner, Scope, SessionId, SessionKey};
use ports::{Conversations, LedgerError, NewRecord};
use prefix::chain::{self, Chain, ConversationId, Kind};
use tokio::sync::OwnedMutexGuard;
use transcript::dialect::Dialect;

use crate::responses::{Place, Responses};
use crate::said::{self, Said};
use crate::talk::{self, Talk};
use crate::whose::{self, BEGINNING, Whose};

/// So many are found again after a restart, the newest of each tenant.
const RESTORED_MAX: usize = 256;
/// So many are held in memory; a client that comes back to an older one that it did not name begins anew.
const HELD_MAX: usize = 512;
/// How many go when there are too many, so that it does not happen at each request.
const DROPPED: usize = 64;
const RECORDS_MAX: usize = 200_000;

/// A talk, and how the request continues it.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) talk: Shared,
    pub(crate) front: usize,
    /// The conversation that this one has just left half-way.
    pub(crate) left: Option<String>,
}

pub(crate) type Shared = Arc<tokio::sync::Mutex<Talk>>;

#[derive(Debug)]
pub(crate) struct Store {
    logs: Arc<dyn Conversations>,
    held: Mutex<Held>,
    responses: Mutex<Responses>,
    /// One at a time looks at the disk.
    loading: tokio::sync::Mutex<BTreeSet<Scope>>,
}

#[derive(Debug, Default)]
struct Held {
    index: chain::Conversations,
    talks: BTreeMap<ConversationId, Kept>,
    uses: u64,
}

#[derive(Debug)]
struct Kept {
    talk: Shared,
    owner: Owner,
    used: u64,
}

impl Store {
    pub(crate) fn new(logs: Arc<dyn Conversations>) -> Self {
        Self {
            logs,
            held: Mutex::default(),
            responses: Mutex::default(),
            loading: tokio::sync::Mutex::default(),
        }
    }

    fn held(&self) -> std::sync::MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The talk that these messages continue, or a new one under `fresh`. A talk that they leave halfway is copied first, so
    /// that both go on.
    pub(crate) async fn find(
        &self,
        whose: &Whose,
        dialect: Dialect,
        messages: &[&str],
        meter: &Meter,
        fresh: impl FnOnce() -> String,
    ) -> Result<Found, LedgerError> {
        let named = self.loaded(whose, dialect, meter).await?;
        let chain = whose.with(|scope| Chain::of(scope, messages));
        let hinted = whose.hinted();
        let matched = self.matched(&chain, hinted.as_deref());
        let known = matched.conversation.clone().filter(|_| {
            // Another branch of an unnamed conversation is a conversation of its own.
            whose.conversation.is_some() || !matches!(matched.kind, Kind::Branched { .. })
        });
        let named_id = named.as_ref().map(|session| identity(&whose.scope, session));
        if let Some(talk) = known.or(named_id).and_then(|id| self.held().touch(&id, whose)) {
            let front = match matched.kind {
                Kind::Truncated { front, .. } => talk.lock().await.chain.end(front),
                _ => 0,
            };
            return Ok(Found {
                talk,
                front,
                left: None,
            });
        }
        let branched = match (&matched.conversation, matched.kind) {
            (Some(id), Kind::Branched { at }) => self.left(id, at, whose).await,
            _ => None,
        };
        let origin = branched
            .as_ref()
            .map(|(id, ..)| whose::family(session_of(id)).to_owned());
        let session = named.unwrap_or_else(|| whose::unnamed(&fresh(), hinted.or(origin).as_deref()));
        let mut talk = Self::make(whose, session, dialect, meter.clone());
        let mut left = None;
        if let Some((_, origin, at)) = branched {
            left = Some(origin.key.session.to_string());
            let events = origin.shadow.fork(origin.chain.end(at));
            let records = whose.with(|scope| {
                let record = |event| talk.apply(scope, &talk::Logged::Sent(event));
                events.into_iter().map(record).collect::<Vec<_>>()
            });
            self.logs.append(&talk.key, &talk.owner, 0, None, records).await?;
        }
        Ok(Found {
            talk: self.hold(talk),
            front: 0,
            left,
        })
    }

    /// The talk that a list leaves after so many messages. Only a reply that we saw makes it one: what several talks begin with as
    /// their client wrote it, an example with its answer, is no talk that any of them goes on from.
    async fn left<'a>(
        &self,
        id: &'a ConversationId,
        at: usize,
        whose: &Whose,
    ) -> Option<(&'a ConversationId, OwnedMutexGuard<Talk>, usize)> {
        let talk = self.held().touch(id, whose)?;
        let talk = talk.lock_owned().await;
        talk.was_answered(at).then_some((id, talk, at))
    }

    /// The messages that a server holds under this id of a response or a conversation: up to it, or all of a talk that the
    /// client names. None of an id that is not known, and of a talk that went another way since.
    pub(crate) async fn held_by_server(
        &self,
        whose: &Whose,
        id: &str,
        meter: &Meter,
    ) -> Result<Vec<String>, LedgerError> {
        let dialect = Dialect::OpenAiResponses;
        let named = self.loaded(whose, dialect, meter).await?;
        let named = named.map(|session| identity(&whose.scope, &session));
        let place = self.responses().place(whose, id);
        let talk = place.as_ref().map(|place| place.talk.clone()).or(named);
        let Some(talk) = talk.and_then(|id| self.held().touch(&id, whose)) else {
            return Ok(Vec::new());
        };
        let talk = talk.lock().await;
        let up_to = |place: Place| talk.chain.links().iter().position(|link| link.hash == place.hash);
        let entries = talk.shadow.entries();
        let count = place.map_or(entries.len(), |place| {
            up_to(place).map_or(0, |at| talk.chain.end(at + 1))
        });
        Ok(entries
            .iter()
            .take(count)
            .map(|entry| entry.bytes.clone())
            .collect())
    }

    /// The items that a request names and does not send, by place, as far as they were seen.
    pub(crate) async fn referred(&self, whose: &Whose, said: &Said<'_>) -> Vec<Option<String>> {
        let mut known = Vec::new();
        for (at, message) in said.messages.iter().enumerate() {
            let Some(id) = said::reference(message) else {
                continue;
            };
            let place = self.responses().place(whose, &id);
            let talk = place.and_then(|place| self.held().touch(&place.talk, whose));
            if let Some(talk) = talk {
                known.resize(at + 1, None);
                known[at] = talk.lock().await.item(&id);
            }
        }
        known
    }

    /// The talk's end goes by these ids of the server's from now on.
    pub(crate) fn learn_responses<'a>(
        &self,
        whose: &Whose,
        talk: &Talk,
        ids: impl Iterator<Item = &'a String>,
    ) {
        let Some(link) = talk.chain.links().last() else {
            return;
        };
        for id in ids {
            let place = Place {
                talk: identity(&talk.key.scope, &talk.key.session),
                hash: link.hash,
            };
            self.responses().learn(whose, id, place);
        }
    }

    fn responses(&self) -> std::sync::MutexGuard<'_, Responses> {
        self.responses.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn make(whose: &Whose, session: SessionId, dialect: Dialect, meter: Meter) -> Talk {
        let key = SessionKey {
            scope: whose.scope.clone(),
            session,
        };
        whose.with(|scope| Talk::new(key, whose.owner.clone(), dialect, scope, meter))
    }

    fn hold(&self, talk: Talk) -> Shared {
        let id = identity(&talk.key.scope, &talk.key.session);
        let mut held = self.held();
        held.index.learn(&id, &talk.chain);
        let owner = talk.owner.clone();
        let talk = Arc::new(tokio::sync::Mutex::new(talk));
        held.uses += 1;
        let kept = Kept {
            talk: Arc::clone(&talk),
            owner,
            used: held.uses,
        };
        held.talks.insert(id, kept);
        if held.talks.len() > HELD_MAX {
            held.shrink();
        }
        talk
    }

    /// The talk, if it is in memory; that it was looked at does not count as a use.
    pub(crate) fn peek(&self, id: &ConversationId) -> Option<Shared> {
        self.held().talks.get(id).map(|kept| Arc::clone(&kept.talk))
    }

    /// What was said last is found from now on.
    pub(crate) fn learn(&self, talk: &Talk) {
        let id = identity(&talk.key.scope, &talk.key.session);
        self.held().index.learn(&id, &talk.chain);
    }

    /// Writes what happened to a talk behind what is there, `at` records.
    pub(crate) async fn keep(
        &self,
        key: &SessionKey,
        owner: &Owner,
        at: u64,
        records: Vec<NewRecord>,
    ) -> Result<(), LedgerError> {
        self.logs.append(key, owner, at, None, records).await.map(drop)
    }

    /// Forgets a talk in memory; whoever deletes its session deletes its log.
    pub(crate) fn forget(&self, key: &SessionKey) {
        let id = identity(&key.scope, &key.session);
        let mut held = self.held();
        held.talks.remove(&id);
        held.index.forget(&id);
    }

    /// Lets go of every talk of a tenant; what is still on disk is found again.
    pub(crate) async fn reload(&self, scope: &Scope) {
        let mut loaded = self.loading.lock().await;
        loaded.remove(scope);
        let beginning = format!("{}/{}/", scope.app, scope.project);
        let mut held = self.held();
        let gone: Vec<ConversationId> = held
            .talks
            .keys()
            .filter(|id| id.0.starts_with(&beginning))
            .cloned()
            .collect();
        for id in gone {
            held.talks.remove(&id);
            held.index.forget(&id);
        }
    }

    /// Brings what is on disk and may be meant into memory; the conversation's id, where the client names one.
    async fn loaded(
        &self,
        whose: &Whose,
        dialect: Dialect,
        meter: &Meter,
    ) -> Result<Option<SessionId>, LedgerError> {
        let Some(name) = &whose.conversation else {
            self.load_unnamed(whose, dialect, meter).await?;
            return Ok(None);
        };
        let session = self.session(whose, name).await?;
        self.load_named(whose, &session, dialect, meter).await?;
        Ok(Some(session))
    }

    /// The id of a named conversation: one of ours that this owner was told of, else one made of the owner's and the client's names.
    async fn session(&self, whose: &Whose, name: &SessionId) -> Result<SessionId, LedgerError> {
        if name.as_str().starts_with(BEGINNING) {
            let id = identity(&whose.scope, name);
            let held = self.held().talks.get(&id).map(|kept| kept.owner == whose.owner);
            let is_own = match held {
                Some(is_own) => is_own,
                None => self
                    .logs
                    .named(&whose.scope, name.as_str(), 1)
                    .await?
                    .contains(&(name.clone(), whose.owner.clone())),
            };
            if is_own {
                return Ok(name.clone());
            }
        }
        Ok(whose.session(name))
    }

    async fn load_named(
        &self,
        whose: &Whose,
        session: &SessionId,
        dialect: Dialect,
        meter: &Meter,
    ) -> Result<(), LedgerError> {
        let id = identity(&whose.scope, session);
        if self.held().talks.contains_key(&id) {
            return Ok(());
        }
        let _one = self.loading.lock().await;
        if !self.held().talks.contains_key(&id) {
            let talk = Self::make(whose, session.clone(), dialect, meter.clone());
            self.load(whose, talk).await?;
        }
        Ok(())
    }

    /// The conversation that a list continues; of several that begin alike, one of the client's own family.
    fn matched(&self, chain: &Chain, family: Option<&str>) -> chain::Matched {
        let held = self.held();
        let is_kin = |id: &ConversationId| family == Some(whose::family(session_of(id)));
        chain::match_chain(&held.index.preferring(&is_kin), chain)
    }

    async fn load_unnamed(&self, whose: &Whose, dialect: Dialect, meter: &Meter) -> Result<(), LedgerError> {
        let mut loaded = self.loading.lock().await;
        if loaded.contains(&whose.scope) {
            return Ok(());
        }
        let newest = self.logs.named(&whose.scope, BEGINNING, RESTORED_MAX).await?;
        for (session, owner) in newest.into_iter().rev() {
            let whose = Whose {
                scope: whose.scope.clone(),
                owner,
                conversation: None,
                family: None,
            };
            let talk = Self::make(&whose, session, dialect, meter.clone());
            self.load(&whose, talk).await?;
        }
        loaded.insert(whose.scope.clone());
        Ok(())
    }

    /// Folds a log into a talk. What cannot be read ends it: what comes after may stand on it.
    async fn load(&self, whose: &Whose, mut talk: Talk) -> Result<(), LedgerError> {
        let records = self.logs.read(&talk.key, 0, RECORDS_MAX).await?;
        let total = records.len() as u64;
        whose.with(|scope| {
            for record in records {
                let Some(logged) = talk::read(&record.body) else {
                    tracing::warn!(conversation = %talk.key.session, record = record.position, "a record cannot be read");
                    break;
                };
                talk.apply(scope, &logged);
            }
        });
        talk.records = total;
        if total > 0 {
            self.hold(talk);
        }
        Ok(())
    }
}

impl Held {
    /// The talk, if it is this owner's.
    fn touch(&mut self, id: &ConversationId, whose: &Whose) -> Option<Shared> {
        self.uses += 1;
        let uses = self.uses;
        let kept = self.talks.get_mut(id).filter(|kept| kept.owner == whose.owner)?;
        kept.used = uses;
        Some(Arc::clone(&kept.talk))
    }

    fn shrink(&mut self) {
        let mut by_use: Vec<(u64, ConversationId)> = self
            .talks
            .iter()
            .map(|(id, kept)| (kept.used, id.clone()))
            .collect();
        by_use.sort_unstable();
        for (_, id) in by_use.into_iter().take(DROPPED) {
            self.talks.remove(&id);
            self.index.forget(&id);
        }
    }
}

/// `APP/PROJECT/SESSION`.
pub(crate) fn identity(scope: &Scope, session: &SessionId) -> ConversationId {
    ConversationId(format!("{}/{}/{session}", scope.app, scope.project))
}

/// The session of an identity: names of apps and projects have no slash.
fn session_of(id: &ConversationId) -> &str {
    id.0.splitn(3, '/').nth(2).unwrap_or_default()
}
