//! An engine, an offline engine, and fakes under both that outlive them.
//!
//! Owns: opening them, adding messages, and running everything that is due. Never: a check.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use background::{BackgroundSettings, Offline};
use memory::{Add, Curate, Engine, Flush, Hit, List, Method, Search};
use model::{
    Content, Entry, EntryId, EntryKind, Message, MessageId, Name, Owner, Page, Role, Scope, SessionId,
    SessionKey, Timestamp,
};
use ports::runs::{MemoryEvent, Runs};
use ports::{
    Chat, Edit, Embedder as _, FileChanges, FileStat, History, Jobs, NewMessage, Pages, Retention,
    Transcripts, VaultError, VaultPath, VaultWriter, Written,
};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use testkit::clock::{CountingIds, ManualClock};
use testkit::index::MemoryIndex;
use testkit::ledger::MemoryLedger;
use testkit::models::{HashEmbedder, ScriptedChat};
use testkit::vault::MemoryVault;
use tokio::task::yield_now;

/// Pages that fail, or panic like a process that dies, at the n-th call.
#[derive(Debug)]
pub(crate) struct Fragile {
    inner: MemoryVault,
    made: AtomicUsize,
    fails_at: AtomicUsize,
}

impl Fragile {
    fn check(&self) -> Result<(), VaultError> {
        let n = self.made.fetch_add(1, Ordering::SeqCst) + 1;
        if n == self.fails_at.load(Ordering::SeqCst) {
            return Err(VaultError::Io {
                path: "planned".to_owned(),
                source: std::io::Error::other("planned fault"),
            });
        }
        Ok(())
    }
}

#[async_trait]
impl VaultWriter for Fragile {
    async fn append(&self, entries: &[Entry], fresh: bool) -> Result<Vec<Written>, VaultError> {
        self.inner.append(entries, fresh).await
    }
    async fn edit(&self, path: &VaultPath, edits: &[Edit]) -> Result<Option<FileStat>, VaultError> {
        self.inner.edit(path, edits).await
    }
    async fn replace_page(
        &self,
        scope: &Scope,
        owner: &Owner,
        page: Page,
        before: Option<&str>,
        text: &str,
    ) -> Result<bool, VaultError> {
        self.check()?;
        let done = self.inner.replace_page(scope, owner, page, before, text).await?;
        // The call took effect, but its answer is lost.
        self.check()?;
        Ok(done)
    }
}

#[async_trait]
impl Pages for Fragile {
    fn path_of(&self, scope: &Scope, owner: &Owner, page: Page) -> VaultPath {
        Pages::path_of(&self.inner, scope, owner, page)
    }
    async fn page(&self, scope: &Scope, owner: &Owner, page: Page) -> Result<Option<String>, VaultError> {
        self.check()?;
        self.inner.page(scope, owner, page).await
    }
    async fn made(&self, scope: &Scope, owner: &Owner) -> Result<BTreeSet<String>, VaultError> {
        self.check()?;
        self.inner.made(scope, owner).await
    }
    async fn set_made(&self, scope: &Scope, owner: &Owner, ids: &BTreeSet<String>) -> Result<(), VaultError> {
        self.check()?;
        self.inner.set_made(scope, owner, ids).await?;
        self.check()
    }
    async fn drop_previous(&self, scope: &Scope, owner: &Owner) -> Result<(), VaultError> {
        self.inner.drop_previous(scope, owner).await
    }
    async fn remove_pages(&self, scope: &Scope, owner: &Owner) -> Result<(), VaultError> {
        self.inner.remove_pages(scope, owner).await
    }
}

/// Everything that outlives a process.
pub(crate) struct Stage {
    pub(crate) ledger: Arc<MemoryLedger>,
    pub(crate) vault: MemoryVault,
    pub(crate) pages: Arc<Fragile>,
    pub(crate) index: MemoryIndex,
    embedder: Arc<HashEmbedder>,
    clock: Arc<ManualClock>,
    ids: Arc<CountingIds>,
    pub(crate) chat: Option<Arc<ScriptedChat>>,
    /// Extracts segments; the rules do if it is none.
    pub(crate) teller: Option<Arc<ScriptedChat>>,
}

/// The engines of one process.
pub(crate) struct Process {
    pub(crate) engine: Engine,
    pub(crate) offline: Offline,
}

impl Default for Stage {
    fn default() -> Self {
        let embedder = Arc::new(HashEmbedder::new(64));
        let vault = MemoryVault::new(model::Zone::utc());
        Self {
            ledger: Arc::default(),
            pages: Arc::new(Fragile {
                inner: vault.clone(),
                made: AtomicUsize::new(0),
                fails_at: AtomicUsize::new(0),
            }),
            vault,
            index: MemoryIndex::new(embedder.id().clone()),
            embedder,
            clock: Arc::default(),
            ids: Arc::default(),
            chat: None,
            teller: None,
        }
    }
}

impl Stage {
    /// A stage with a model.
    pub(crate) fn asking(chat: ScriptedChat) -> Self {
        Self {
            chat: Some(Arc::new(chat)),
            ..Self::default()
        }
    }

    pub(crate) async fn open(&self) -> Process {
        self.open_on(self.ledger.clone()).await
    }

    /// A process on another ledger.
    pub(crate) async fn open_on(
        &self,
        ledger: Arc<impl Transcripts + Jobs + FileChanges + History + Retention + Runs + 'static>,
    ) -> Process {
        let engine = memory::Parts {
            transcripts: ledger.clone(),
            jobs: ledger.clone(),
            file_changes: ledger.clone(),
            retention: ledger.clone(),
            vault: Arc::new(self.vault.clone()),
            vault_writer: self.pages.clone(),
            pages: self.pages.clone(),
            history: ledger.clone(),
            index: Arc::new(self.index.clone()),
            embedder: self.embedder.clone(),
            reranker: None,
            chat: self.teller.clone().map(|chat| chat as Arc<dyn Chat>),
            events: Arc::new(testkit::NoEvents),
            documents: Arc::new(testkit::reading::DirectReader),
            clock: self.clock.clone(),
            ids: self.ids.clone(),
        };
        let engine = Engine::start(engine, memory::MemorySettings::default())
            .await
            .expect("it starts");
        let parts = background::BackgroundParts {
            runs: ledger,
            chat: self.chat.clone().map(|chat| chat as Arc<dyn Chat>),
            models: BTreeMap::default(),
            clock: self.clock.clone(),
            ids: self.ids.clone(),
        };
        let offline = Offline::new(parts, BackgroundSettings::default());
        offline.register(background::strategies::user_track(
            &engine,
            background::strategies::Limits::default(),
        ));
        offline.start().await.expect("it starts");
        Process { engine, offline }
    }

    /// Makes the n-th page call from now fail.
    pub(crate) fn fail_page_call(&self, n: usize) {
        let made = self.pages.made.load(Ordering::SeqCst);
        self.pages.fails_at.store(made + n, Ordering::SeqCst);
    }

    /// Number of page calls so far.
    pub(crate) fn page_calls(&self) -> usize {
        self.pages.made.load(Ordering::SeqCst)
    }

    /// Runs work while the clock moves.
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

    /// A sender says these texts in a session, which becomes an episode; the offline engine gets its event.
    pub(crate) async fn say(&self, process: &Process, session: &str, sender: &str, texts: &[&str]) {
        self.say_on(process, session, sender, 0, texts).await;
    }

    /// As [`Self::say`], and once more in another session on the next day.
    pub(crate) async fn say_twice(&self, process: &Process, session: &str, sender: &str, texts: &[&str]) {
        self.say_on(process, session, sender, 0, texts).await;
        self.say_on(process, &format!("{session}-again"), sender, 1, texts)
            .await;
    }

    async fn say_on(&self, process: &Process, session: &str, sender: &str, day: i64, texts: &[&str]) {
        let key = SessionKey::new(Scope::default(), SessionId::new(session));
        let now = Timestamp::from_millis(ManualClock::START_MILLIS + day * 86_400_000);
        let messages = texts.iter().map(|text| new_message(&key, sender, now, text));
        let add = Add {
            title: None,
            session: key.clone(),
            messages: messages.collect(),
            defer_extraction: false,
            task: None,
        };
        let flush = Flush {
            session: key.clone(),
            task: None,
            wait: false,
        };
        process.engine.add(add).await.expect("it is accepted");
        process.engine.flush(flush).await.expect("it cuts");
        self.drive(process.engine.settle()).await.expect("it settles");
        let episodes = hits(&process.engine, "ann", EntryKind::Episode).await;
        let written = episodes
            .iter()
            .filter(|hit| hit.doc.session.as_ref() == Some(&key.session));
        let mut events = Vec::new();
        for hit in written {
            let id = model::CellId::new(hit.doc.parent.clone().expect("a memcell").id);
            let cell = process.engine.cell(&id).await.expect("it reads");
            events.push(MemoryEvent::EpisodeWritten {
                scope: Scope::default(),
                owner: user("ann"),
                session: key.session.clone(),
                cell: Arc::new(cell.expect("it is there")),
                episode: EntryId::new(hit.doc.key.id.clone()),
            });
        }
        process.offline.events().emit(events).await.expect("it is told");
    }

    /// Runs a strategy by hand until its runs are over, however often the store fails.
    pub(crate) async fn run(&self, process: &Process, name: &str) -> Vec<ports::runs::Run> {
        loop {
            let triggered = process.offline.trigger(name, Duration::from_hours(1), true);
            if let Ok(triggered) = self.drive(triggered).await {
                return triggered.expect("it is a strategy").runs;
            }
        }
    }
}

fn new_message(key: &SessionKey, sender: &str, time: Timestamp, text: &str) -> NewMessage {
    let role = match sender {
        "bot" => Role::Assistant,
        "tool" => Role::Tool,
        _ => Role::User,
    };
    let message = Message {
        id: MessageId::new(""),
        session: key.clone(),
        sender: name(sender),
        sender_name: Some(if sender == "ann" {
            "Ann".to_owned()
        } else {
            sender.to_owned()
        }),
        role,
        time,
        content: Content::Text(text.to_owned()).into(),
        tool_calls: Vec::new(),
        tool_call_id: (role == Role::Tool).then(|| "call".to_owned()),
    };
    NewMessage::new(message, None)
}

pub(crate) fn name(text: &str) -> Name {
    Name::parse(text).expect("a proper name")
}

pub(crate) fn user(text: &str) -> Owner {
    Owner::user(name(text))
}

pub(crate) async fn hits(engine: &Engine, owner: &str, kind: EntryKind) -> Vec<Hit> {
    let list = List {
        descending: false,
        ..List::all(Scope::default(), user(owner), kind)
    };
    engine.list(list).await.expect("it lists").hits
}

/// A search for at most ten memories of an owner.
pub(crate) fn search(owner: Owner, query: &str, messages_max: usize) -> Search {
    Search {
        scope: Scope::default(),
        owner,
        query: query.to_owned(),
        method: Method::Hybrid,
        memories_max: 10,
        messages_max,
        filter: None,
        as_of: None,
        asked_at: None,
        score_min: 0.0,
        tokens_max: None,
        with_person: false,
        rerank: None,
    }
}

/// The texts of all entries of a kind, sorted.
pub(crate) async fn texts(engine: &Engine, owner: &str, kind: EntryKind) -> Vec<String> {
    let hits = hits(engine, owner, kind).await;
    let mut texts: Vec<String> = hits.iter().map(|hit| hit.doc.text.clone()).collect();
    texts.sort();
    texts
}

pub(crate) async fn page(engine: &Engine, page: Page) -> String {
    let page = engine.page(&Scope::default(), &user("ann"), page).await;
    page.expect("it reads").unwrap_or_default()
}

/// Stores a fact of Ann's with a given origin.
pub(crate) async fn put_fact(engine: &Engine, id: &str, origin: model::Origin, body: &str) {
    put(engine, user("ann"), EntryKind::Fact, id, origin, body).await;
}

/// Stores an entry for any owner.
pub(crate) async fn put(
    engine: &Engine,
    owner: Owner,
    kind: EntryKind,
    id: &str,
    origin: model::Origin,
    body: &str,
) {
    let whose = (Scope::default(), owner.clone());
    let time = Timestamp::from_millis(ManualClock::START_MILLIS);
    let entry = Entry {
        sources: vec![MessageId::new(format!("m_{id}"))],
        senders: vec![name("ann")],
        body: body.to_owned(),
        ..Entry::new(EntryId::new(id), kind, whose, time, origin)
    };
    let curate = Curate {
        scope: Scope::default(),
        owner,
        put: vec![entry],
        remove: Vec::new(),
    };
    engine.curate(curate).await.expect("it is put");
}
