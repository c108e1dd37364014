//! An engine on fakes that outlive it, so that it can die and be opened again.
//!
//! Owns: building it, moving its clock, and the checks that must hold whenever it is at rest.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use memory::{Add, Engine, EngineError, Flush, Found, MemorySettings, Method, Parts, Search};
use model::{
    Content, Doc, DocKey, Entry, EntryKind, Message, MessageId, Name, Owner, Role, Scope, SessionId,
    SessionKey, Timestamp, Zone,
};
use ports::runs::{Events, MemoryEvent};
use ports::{Accepted, Chat, FileChanges, LedgerError, NewMessage, Vault, VaultWriter};
use testkit::clock::{CountingIds, ManualClock};
use testkit::index::MemoryIndex;
use testkit::ledger::MemoryLedger;
use testkit::models::{HashEmbedder, ScriptedChat, ScriptedReranker};
use testkit::vault::MemoryVault;
use tokio::task::yield_now;

use crate::paper::{PaperVault, PaperWriter, digest};
use crate::slow::Slow;
use testkit::faults::{Faults, Faulty};

/// Keeps the events that it receives.
#[derive(Debug, Default)]
pub(crate) struct Listener(Mutex<Vec<MemoryEvent>>);

impl Listener {
    pub(crate) fn heard(&self) -> Vec<MemoryEvent> {
        self.0.lock().expect("no panic").clone()
    }
}

#[async_trait]
impl Events for Listener {
    async fn emit(&self, events: Vec<MemoryEvent>) -> Result<(), LedgerError> {
        self.0.lock().expect("no panic").extend(events);
        Ok(())
    }
}

/// Fakes and settings that an engine is opened on.
pub(crate) struct Stage {
    pub(crate) listener: Arc<Listener>,
    pub(crate) ledger: Arc<MemoryLedger>,
    pub(crate) vault: Arc<PaperVault>,
    pub(crate) pages: MemoryVault,
    pub(crate) index: MemoryIndex,
    pub(crate) embedder: Arc<HashEmbedder>,
    pub(crate) reranker: Option<Arc<ScriptedReranker>>,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) ids: Arc<CountingIds>,
    pub(crate) chat: Option<Arc<ScriptedChat>>,
    pub(crate) settings: MemorySettings,
    pub(crate) faults: Arc<Faults>,
}

impl Default for Stage {
    fn default() -> Self {
        let embedder = Arc::new(HashEmbedder::new(64));
        Self {
            listener: Arc::default(),
            ledger: Arc::default(),
            vault: Arc::default(),
            pages: MemoryVault::new(model::Zone::utc()),
            index: MemoryIndex::new(ports::Embedder::id(&*embedder).clone()),
            embedder,
            reranker: None,
            clock: Arc::default(),
            ids: Arc::default(),
            chat: None,
            settings: MemorySettings::default(),
            faults: Arc::default(),
        }
    }
}

impl Stage {
    pub(crate) fn parts(&self) -> Parts {
        let faults = &self.faults;
        Parts {
            transcripts: Faulty::<dyn ports::Transcripts>::new(self.ledger.clone(), faults),
            jobs: Faulty::<dyn ports::Jobs>::new(self.ledger.clone(), faults),
            file_changes: Faulty::<dyn FileChanges>::new(self.ledger.clone(), faults),
            retention: self.ledger.clone(),
            vault: Faulty::<dyn Vault>::new(self.vault.clone(), faults),
            vault_writer: Faulty::<dyn VaultWriter>::new(self.writer(), faults),
            history: Faulty::<dyn ports::History>::new(self.ledger.clone(), faults),
            pages: Faulty::<dyn ports::Pages>::new(Arc::new(self.pages.clone()), faults),
            index: Faulty::<dyn ports::Index>::new(Arc::new(self.index.clone()), faults),
            embedder: Faulty::<dyn ports::Embedder>::new(self.embedder.clone(), faults),
            reranker: self
                .reranker
                .clone()
                .map(|reranker| reranker as Arc<dyn ports::Reranker>),
            chat: self.chat.clone().map(|chat| chat as Arc<dyn Chat>),
            events: Faulty::<dyn Events>::new(self.listener.clone(), faults),
            documents: Arc::new(testkit::reading::DirectReader),
            clock: self.clock.clone(),
            ids: self.ids.clone(),
        }
    }

    fn writer(&self) -> Arc<PaperWriter> {
        Arc::new(PaperWriter {
            vault: self.vault.clone(),
            pages: self.pages.clone(),
        })
    }

    pub(crate) async fn open(&self) -> Engine {
        Engine::start(self.parts(), self.settings.clone())
            .await
            .expect("nothing is planned to fail")
    }

    /// Opens an engine on an index that can be blocked.
    pub(crate) async fn open_slow(&self) -> (Arc<Slow>, Engine) {
        let slow = Slow::new(self.index.clone());
        let parts = Parts {
            index: slow.clone(),
            ..self.parts()
        };
        let engine = Engine::start(parts, self.settings.clone()).await;
        (slow, engine.expect("nothing is planned to fail"))
    }

    /// Runs work while time passes: the clock moves whenever nothing else has moved for a while.
    pub(crate) async fn drive<T>(&self, work: impl Future<Output = T>) -> T {
        tokio::select! {
            biased;
            done = work => done,
            () = self.pass_time() => unreachable!("time does not end"),
        }
    }

    async fn pass_time(&self) {
        loop {
            for _ in 0..100 {
                yield_now().await;
            }
            self.clock.advance(Duration::from_millis(700));
        }
    }

    /// Waits until all work is done and the index shows the vault.
    pub(crate) async fn rest(&self, engine: &Engine) -> usize {
        self.drive(async {
            let failed = persist(|| engine.settle()).await;
            persist(|| engine.sync()).await;
            failed
        })
        .await
    }

    /// Checks that must hold whenever the engine is at rest.
    pub(crate) async fn check(&self) {
        let entries = self.vault.entries();
        let messages = self.ledger.everything();
        let ids: BTreeSet<&MessageId> = messages.iter().map(|(message, _)| &message.id).collect();
        assert_eq!(ids.len(), messages.len(), "a message is there twice");

        let mut told: BTreeMap<(&Owner, &MessageId), usize> = BTreeMap::new();
        let mut seen = BTreeSet::new();
        for (_, entry) in &entries {
            assert!(
                seen.insert((&entry.scope, &entry.owner, &entry.id)),
                "{} was written twice",
                entry.id
            );
            for turn in &entry.turns {
                *told.entry((&entry.owner, &turn.id)).or_default() += 1;
            }
        }
        assert!(told.values().all(|count| *count == 1), "a message is told twice");
        self.check_heard(&entries);

        let mut expected: BTreeMap<DocKey, Doc> = BTreeMap::new();
        for (path, entry) in &entries {
            expected.extend(
                extract::digested(Doc::of_entry(entry, path), entry, &Zone::utc())
                    .into_iter()
                    .map(|doc| (doc.key.clone(), doc)),
            );
        }
        let rows: BTreeMap<DocKey, Doc> = self
            .index
            .rows()
            .into_iter()
            .map(|doc| (doc.key.clone(), doc))
            .collect();
        assert_eq!(
            rows.keys().collect::<Vec<_>>(),
            expected.keys().collect::<Vec<_>>(),
            "the index does not show the vault"
        );
        for (key, row) in rows {
            assert!(row.vector.is_some(), "{key:?} has no vector");
            assert_eq!(
                Doc { vector: None, ..row },
                expected[&key],
                "the index shows something else"
            );
        }
        self.check_records(&entries).await;
    }

    /// Checks that the listener received an event for every episode that a job wrote.
    fn check_heard(&self, entries: &[(Arc<str>, Entry)]) {
        let cells = self.ledger.everything();
        let cells = cells.iter().filter_map(|(_, cell)| cell.as_ref());
        let written: BTreeSet<String> = cells
            .filter_map(|cell| Some(format!("ep_{}", cell.as_str().strip_prefix("mc_")?)))
            .collect();
        let heard = self.listener.heard();
        for (_, entry) in entries
            .iter()
            .filter(|(_, entry)| written.contains(entry.id.as_str()))
        {
            let is_it = |event: &MemoryEvent| {
                matches!(event, MemoryEvent::EpisodeWritten { owner, episode, .. }
                    if *owner == entry.owner && *episode == entry.id)
            };
            assert!(heard.iter().any(is_it), "nobody was told of {}", entry.id);
        }
    }

    async fn check_records(&self, entries: &[(Arc<str>, Entry)]) {
        let stats = FileChanges::stats(&*self.ledger).await.expect("no fault is left");
        assert_eq!(stats, self.vault.stats(), "the records are of other files");
        for stat in stats {
            let record = self
                .ledger
                .record(&stat.path)
                .await
                .expect("no fault is left")
                .expect("it has a stat");
            let marks: BTreeMap<_, _> = record
                .marks
                .iter()
                .map(|mark| (mark.entry.clone(), mark.digest))
                .collect();
            let standing = entries.iter().filter(|(path, _)| *path == stat.path);
            let standing: BTreeMap<_, _> = standing
                .map(|(_, entry)| (entry.id.clone(), digest(entry)))
                .collect();
            assert_eq!(marks, standing, "the record of {} is of another state", stat.path);
        }
    }

    /// Checks that every message of these texts is in the ledger once, in a segment, and in an episode of each owner
    /// once.
    pub(crate) fn check_written(&self, texts: &[String], owners: &[&str]) {
        let messages = self.ledger.everything();
        let entries = self.vault.entries();
        for text in texts {
            let found: Vec<_> = messages
                .iter()
                .filter(|(message, _)| message.text() == *text)
                .collect();
            assert_eq!(found.len(), 1, "`{text}` is in the ledger {} times", found.len());
            assert!(found[0].1.is_some(), "`{text}` is in no memcell");
            for owner in owners {
                let theirs = entries.iter().filter(|(_, entry)| entry.owner == user(owner));
                let turns = theirs.flat_map(|(_, entry)| &entry.turns);
                let told = turns.filter(|turn| turn.text() == *text).count();
                assert_eq!(told, 1, "`{text}` is told {told} times to {owner}");
            }
        }
    }
}

/// Repeats work until it succeeds, as a client that retries does.
pub(crate) async fn persist<T, F: Future<Output = Result<T, EngineError>>>(mut work: impl FnMut() -> F) -> T {
    for _ in 0..20 {
        match work().await {
            Ok(done) => return done,
            Err(
                EngineError::Ledger(_)
                | EngineError::Vault(_)
                | EngineError::Index(_)
                | EngineError::Embed(_),
            ) => {
                yield_now().await;
            }
            Err(error) => panic!("{error:?}"),
        }
    }
    panic!("it never succeeds");
}

pub(crate) fn name(text: &str) -> Name {
    Name::parse(text).expect("a proper name")
}

pub(crate) fn user(text: &str) -> Owner {
    Owner::user(name(text))
}

pub(crate) fn session(text: &str) -> SessionKey {
    SessionKey::new(Scope::default(), SessionId::parse(text).expect("a proper id"))
}

/// 2024-05-08T10:00:00Z plus this number of minutes.
pub(crate) fn minute(minutes: i64) -> Timestamp {
    Timestamp::from_millis(1_715_162_400_000 + minutes * 60_000)
}

pub(crate) fn new_message(session: &SessionKey, sender: &str, minutes: i64, text: &str) -> NewMessage {
    let role = if sender == "bot" {
        Role::Assistant
    } else {
        Role::User
    };
    let message = Message {
        id: MessageId::new(""),
        session: session.clone(),
        sender: name(sender),
        sender_name: None,
        role,
        time: minute(minutes),
        content: Content::Text(text.to_owned()).into(),
        tool_calls: Vec::new(),
        tool_call_id: None,
    };
    NewMessage::new(message, Some(format!("{sender}/{text}")))
}

pub(crate) fn add(session: &SessionKey, messages: Vec<NewMessage>) -> Add {
    Add {
        title: None,
        session: session.clone(),
        messages,
        defer_extraction: false,
        task: None,
    }
}

pub(crate) fn flush(session: &SessionKey) -> Flush {
    Flush {
        session: session.clone(),
        task: None,
        wait: false,
    }
}

pub(crate) async fn say(
    engine: &Engine,
    session: &SessionKey,
    sender: &str,
    minutes: i64,
    text: &str,
) -> Accepted {
    let added = engine
        .add(add(session, vec![new_message(session, sender, minutes, text)]))
        .await
        .expect("it is accepted");
    added
        .accepted
        .into_iter()
        .next()
        .expect("one message, one answer")
}

pub(crate) fn question(owner: &str, query: &str) -> Search {
    Search {
        scope: Scope::default(),
        owner: user(owner),
        query: query.to_owned(),
        method: Method::Hybrid,
        memories_max: 20,
        messages_max: 20,
        filter: None,
        as_of: None,
        asked_at: Some(minute(100_000)),
        score_min: 0.0,
        tokens_max: None,
        with_person: false,
        rerank: None,
    }
}

pub(crate) async fn ask(engine: &Engine, owner: &str, query: &str) -> Found {
    engine
        .search(question(owner, query))
        .await
        .expect("it is answered")
}

/// The verbatim messages that a search finds.
pub(crate) async fn turns(engine: &Engine, owner: &str, query: &str) -> Vec<String> {
    let found = ask(engine, owner, query).await;
    found.messages.iter().map(|hit| hit.doc.text.clone()).collect()
}

/// Whether a search finds an entry or a message with this text.
pub(crate) async fn finds(engine: &Engine, owner: &str, query: &str, text: &str) -> bool {
    let found = ask(engine, owner, query).await;
    let facts = found.memories.iter().flat_map(|hit| &hit.facts);
    let hits = found.memories.iter().chain(facts).chain(&found.messages);
    hits.into_iter()
        .any(|hit| hit.doc.text.contains(text) || hit.doc.subject.contains(text))
}

/// An entry as a person would write it.
pub(crate) fn written(owner: &str, kind: EntryKind, id: &str, minutes: i64, body: &str) -> Entry {
    let (id, whose) = (model::EntryId::new(id), (Scope::default(), user(owner)));
    Entry {
        senders: vec![name(owner)],
        body: body.to_owned(),
        ..Entry::new(id, kind, whose, minute(minutes), model::Origin::Hand)
    }
}
