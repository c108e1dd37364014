//! Builds the world: the adapters of the configuration, and the engine on top of them.
//!
//! Owns: the list of parts and the order of opening them. Never: a use case.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use anyhow::Context;
use background::Offline;
use background::strategies::{Limits, agent_track, user_track};
use gateway::{Gateway, GatewaySettings};
use ledger::SqliteLedger;
use memory::library::{Knowledge, KnowledgeParts};
use memory::{Engine, MemorySettings, Parts};
use model::{EmbedderId, Scope, Zone, warned};
use ports::{Chat, Clock, DocumentReader, Ids, Index, IndexError, LedgerError};
use providers::HttpChat;
use proxy::conversation::Contexts;
use proxy::gate::Gates;
use proxy::{Direct, GatedChat};
use tokio::runtime::{Handle, Runtime};
use vault::MarkdownVault;

use crate::belonging;
use crate::clock::{RandomIds, SystemClock};
use crate::config::{Config, StrategyKeys};
use crate::contexts;
use crate::error::{Failure, Hinted as _, name};
use crate::machine;
use crate::models;
use crate::old_history;
use crate::private;
#[cfg(not(test))]
use crate::reader::ChildReader;
use crate::root::MEMORY;
use crate::serving;
use crate::upstreams;

/// Time that a person reads before the next turn: a call that began earlier would be cancelled, and would block the server until
/// the server notices.
const READING_TIME: Duration = Duration::from_secs(15);

/// Default time limit of a shutdown.
const SHUTDOWN: Duration = Duration::from_secs(10);

/// The rows of recently used owners may take one in so many bytes of the memory.
const HOT_PART: usize = 8;

/// Opens the index in a folder for vectors of a model. The binary passes this function, so that only the binary links LanceDB.
pub type OpenIndex = fn(&Path, EmbedderId) -> Result<Arc<dyn Index>, IndexError>;

/// The running system of one root.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) engine: Engine,
    pub(crate) knowledge: Knowledge,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<dyn Ids>,
    pub(crate) zone: Zone,
    pub(crate) ledger: Arc<SqliteLedger>,
    /// The service of conversations.
    pub(crate) contexts: Contexts,
    /// The API for programs that call their model themselves.
    pub(crate) direct: Direct,
    /// Limits for the model servers, shared by extraction and conversations.
    pub(crate) gates: Arc<Gates>,
    pub(crate) offline: Offline,
    /// Where memory work runs.
    threads: Handle,
}

impl World {
    /// Opens everything; the caller closes it with [`World::shutdown`]. Background runs wait for their start; with `asks_only`,
    /// for a command that only reads, other work waits too.
    pub(crate) async fn open(
        root: &Path,
        config: &Config,
        open_index: OpenIndex,
        asks_only: bool,
    ) -> Result<Self, Failure> {
        let settings = settings(config, asks_only)?;
        let ledger = locked(root)?;
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
        let ids: Arc<dyn Ids> = Arc::new(RandomIds);
        let zone = settings.zone.clone();
        let id = belonging::checked(root, &*ledger, &*ids).await?;
        let threads = if settings.asks_only {
            Handle::current()
        } else {
            old_history::set_aside(root);
            let runtime = BACKGROUND.as_ref();
            let runtime = runtime.context("cannot start the threads of memory work")?;
            runtime.handle().clone()
        };
        let vault = MarkdownVault::open(root.join(MEMORY), zone.clone(), clock.clone())
            .and_then(|vault| vault.with_name_file(root.join(belonging::NAME)));
        let vault = Arc::new(vault?.known_as(id));
        let embedder = models::embedder(root, config, &clock).await?;
        let reranker = models::reranker(root, config, &clock).await?;
        private::own_folder(&root.join("index")).context("cannot close `index` to others")?;
        let index =
            open_index(&root.join("index"), embedder.id().clone()).map_err(memory::EngineError::from)?;
        let gates = Arc::new(Gates::new(clock.clone()).idle_after(READING_TIME));
        let chat = chat(config, &clock, &gates)?;
        let contexts = contexts::contexts(config, ledger.clone(), chat.clone(), &clock)?;
        let offline = background::BackgroundParts {
            runs: ledger.clone(),
            chat: chat.clone(),
            models: chat_models(config, &clock, &gates)?,
            clock: clock.clone(),
            ids: ids.clone(),
        };
        let offline = Offline::new(offline, background(config, &zone));
        let parts = Parts {
            transcripts: ledger.clone(),
            jobs: ledger.clone(),
            file_changes: ledger.clone(),
            retention: ledger.clone(),
            vault: vault.clone(),
            vault_writer: vault.clone(),
            pages: vault.clone(),
            history: ledger.clone(),
            index,
            embedder,
            reranker,
            chat,
            events: offline.events(),
            documents: reader(root, &clock).context("cannot find this program's own file")?,
            clock: clock.clone(),
            ids: ids.clone(),
        };
        let engine = there(&threads, Engine::start(parts.clone(), settings)).await?;
        let knowledge = library(&engine, parts, vault).await;
        let world = Self {
            direct: contexts::direct(&contexts, &engine, root, config, (&clock, &ids)),
            engine,
            knowledge,
            clock,
            ids,
            zone,
            ledger,
            contexts,
            gates,
            offline,
            threads,
        };
        world.configure(config)?;
        Ok(world)
    }

    /// Starts background runs.
    pub(crate) async fn start_runs(&self) -> Result<(), LedgerError> {
        let offline = self.offline.clone();
        there(&self.threads, async move { offline.start().await }).await
    }

    /// Applies the settings of background runs; other settings need a restart. A configuration with an error changes nothing.
    pub(crate) fn configure(&self, config: &Config) -> Result<(), Failure> {
        let keys = &config.consolidation;
        let chars_max = keys.pages_chars_max;
        let limits = Limits { chars_max };
        let mut strategies = user_track(&self.engine, limits);
        strategies.extend(agent_track(&self.engine, self.ledger.clone()));
        let settings = background(config, &self.zone);
        settings
            .check(&strategies)
            .map_err(|error| Failure::usage(format!("consolidation.strategies: {error}")))?;
        self.offline.configure(settings);
        self.offline.register(strategies);
        Ok(())
    }

    /// The API of this world.
    pub(crate) fn gateway(&self, settings: GatewaySettings) -> Gateway {
        let (engine, clock, ids) = (self.engine.clone(), self.clock.clone(), self.ids.clone());
        Gateway::new(engine, settings, clock, ids)
            .with_offline(self.offline.clone())
            .with_direct(self.direct.clone())
            .with_knowledge(self.knowledge.clone())
    }

    /// Closes everything within ten seconds.
    pub(crate) async fn shutdown(&self) {
        self.shutdown_within(SHUTDOWN).await;
    }

    /// Closes everything within the bound; background runs have half of it.
    pub(crate) async fn shutdown_within(&self, bound: Duration) {
        let end = self.clock.elapsed() + bound;
        tokio::select! {
            biased;
            () = self.offline.stop() => {}
            () = self.clock.sleep(bound / 2) => tracing::warn!("shutdown timeout; unfinished background runs restart with the next start"),
        }
        let left = || end.saturating_sub(self.clock.elapsed());
        self.direct.shutdown().await;
        self.contexts.shutdown(left() / 2).await;
        self.engine.shutdown_within(left()).await;
        // The strategies hold the memory engine, which sends events here: until the engine has ended, its writes cause runs.
        self.offline.register(Vec::new());
    }
}

/// The threads of memory work. They live as long as the process; the engine ends its tasks.
static BACKGROUND: LazyLock<std::io::Result<Runtime>> = LazyLock::new(|| {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    // They give way to requests. Elsewhere niceness is the whole process's.
    #[cfg(target_os = "linux")]
    builder.on_thread_start(|| {
        rustix::process::nice(10).ok();
    });
    builder.enable_all().build()
});

/// Does work on other threads, where what it spawns runs too.
async fn there<T: Send + 'static>(on: &Handle, work: impl Future<Output = T> + Send + 'static) -> T {
    let done = on.spawn(work).await;
    done.unwrap_or_else(|panicked| std::panic::resume_unwind(panicked.into_panic()))
}

/// The time zone of the output.
pub(crate) fn zone(config: &Config) -> Result<Zone, Failure> {
    if config.memory.timezone.is_empty() {
        return Ok(crate::environment::zone());
    }
    Zone::named(&config.memory.timezone).map_err(|error| Failure::usage(format!("memory.timezone: {error}")))
}

/// Opens the root's ledger, whose lock is the root's lock.
fn locked(root: &Path) -> Result<Arc<SqliteLedger>, Failure> {
    private::folder(root)
        .with_context(|| format!("cannot create `{}`", root.display()))
        .hint("choose another folder with --root DIR")?;
    let ledger = SqliteLedger::open(&root.join(serving::LEDGER))?;
    serving::clear(root);
    Ok(Arc::new(ledger))
}

/// Opens the library of documents, and removes the remains of unfinished uploads.
async fn library(engine: &Engine, parts: Parts, vault: Arc<MarkdownVault>) -> Knowledge {
    let knowledge = Knowledge::new(KnowledgeParts {
        engine: engine.clone(),
        vault: vault.clone(),
        shelf: vault,
        embedder: parts.embedder,
        chat: parts.chat,
        clock: parts.clock,
        ids: parts.ids,
    });
    warned!(
        knowledge.sweep().await,
        "cannot remove the files of unfinished uploads"
    );
    knowledge
}

/// The settings of background runs.
fn background(config: &Config, zone: &Zone) -> background::BackgroundSettings {
    let keys = &config.consolidation;
    background::BackgroundSettings {
        zone: zone.clone(),
        concurrency: keys.concurrency,
        tokens_per_day_max: (keys.tokens_per_day_max > 0).then_some(keys.tokens_per_day_max),
        disabled: keys.disabled.iter().cloned().collect(),
        is_quiet: keys.quiet,
        strategies: keys.strategies.iter().map(of_strategy).collect(),
        ..background::BackgroundSettings::default()
    }
}

fn of_strategy(keys: &StrategyKeys) -> (String, background::StrategySettings) {
    let seconds = |seconds: Option<u32>| seconds.map(|seconds| Duration::from_secs(seconds.into()));
    let settings = background::StrategySettings {
        cron: keys.cron.clone(),
        idle: seconds(keys.idle_seconds),
        count: keys.count,
        cooldown: seconds(keys.cooldown_seconds),
        attempts_max: keys.attempts_max,
        model: keys.model.clone(),
        instructions: keys.instructions.clone(),
    };
    (keys.name.clone(), settings)
}

/// Memory for the rows of recently used owners, in bytes.
fn hot_bytes(mebibytes: usize) -> usize {
    if mebibytes > 0 {
        return mebibytes << 20;
    }
    let of_machine = machine::memory_bytes().unwrap_or_default() / HOT_PART;
    of_machine.max(MemorySettings::default().hot_bytes_max)
}

fn settings(config: &Config, asks_only: bool) -> Result<MemorySettings, Failure> {
    Ok(MemorySettings {
        zone: zone(config)?,
        gap_minutes: config.memory.gap_minutes,
        messages_max: config.memory.messages_max,
        tokens_max: config.memory.tokens_max,
        hot_bytes_max: hot_bytes(config.search.hot_mebibytes_max),
        hot_rows_max: config.search.hot_rows_max,
        workers: config.tasks.workers,
        attempts_max: config.tasks.attempts_max,
        session_pending_max: config.tasks.session_pending_max,
        idle_after: Duration::from_secs(config.consolidation.idle_seconds.into()),
        rerank_wait: Duration::from_secs(config.rerank.timeout_seconds.into()),
        task_retention_hours: config.tasks.retention_hours,
        keep_days: config.memory.keep_days,
        describes_media: config.chat.media,
        redacts: config.memory.redact,
        records_history: config.history.enabled,
        shared: shared(config)?,
        asks_only,
    })
}

/// The projects in which a search also covers the memory of the other users.
fn shared(config: &Config) -> Result<Vec<Scope>, Failure> {
    let projects = config.memory.shared_projects.iter();
    let scope = |text: &String| {
        let (app, project) = text.split_once('/').unwrap_or(("default", text));
        let part = |text| name(&format!("memory.shared_projects: `{text}`"), text);
        Ok(Scope::new(part(app)?, part(project)?))
    };
    projects.map(scope).collect()
}

fn chat(config: &Config, clock: &Arc<dyn Clock>, gates: &Gates) -> Result<Option<Arc<dyn Chat>>, Failure> {
    let model = Some(&config.chat.model).filter(|model| !model.is_empty());
    model
        .map(|model| chat_with(model, config, clock, gates))
        .transpose()
}

/// The models that replace the chat model in strategies, by name.
fn chat_models(
    config: &Config,
    clock: &Arc<dyn Clock>,
    gates: &Gates,
) -> Result<BTreeMap<String, Arc<dyn Chat>>, Failure> {
    let strategies = config.consolidation.strategies.iter();
    let names = strategies.filter_map(|one| one.model.as_ref());
    names
        .map(|name| Ok((name.clone(), chat_with(name, config, clock, gates)?)))
        .collect()
}

fn chat_with(
    model: &str,
    config: &Config,
    clock: &Arc<dyn Clock>,
    gates: &Gates,
) -> Result<Arc<dyn Chat>, Failure> {
    let chat = chat_client(model, config, clock)?;
    let gate = gates.of(&upstreams::under_v1(&config.chat.base_url));
    Ok(Arc::new(GatedChat::new(Arc::new(chat), gate)))
}

/// A client of a model at the chat model's server; its requests do not wait at the server's gate.
pub(crate) fn chat_client(model: &str, config: &Config, clock: &Arc<dyn Clock>) -> Result<HttpChat, Failure> {
    let keys = &config.chat;
    let url = (&*keys.base_url, "http://127.0.0.1:8080/v1");
    let settings = models::endpoint("chat", url, &keys.api_key, model, keys.timeout_seconds)?;
    HttpChat::new(settings, clock.clone()).map_err(Failure::usage)
}

pub(crate) fn required(key: &str, text: &str, what: &str) -> Result<(), Failure> {
    if text.is_empty() {
        return Err(Failure::usage(format!("{key} is not set")).hint(format!("it must be {what}")));
    }
    Ok(())
}

/// A secret from the configuration, or from the variable that `env:` names.
pub(crate) fn secret(key: &str, text: &str) -> Result<Option<String>, Failure> {
    match text.strip_prefix("env:") {
        None => Ok((!text.is_empty()).then(|| text.to_owned())),
        Some(variable) => crate::environment::variable(variable).map(Some).ok_or_else(|| {
            Failure::usage(format!("{key} names the variable `{variable}`, which is not set"))
                .hint(format!("set {variable}, or write the secret itself"))
        }),
    }
}

/// Reads documents in a process of its own.
#[cfg(not(test))]
fn reader(root: &Path, clock: &Arc<dyn Clock>) -> std::io::Result<Arc<dyn DocumentReader>> {
    Ok(Arc::new(ChildReader::new(root.to_owned(), clock.clone())?))
}

/// A test reads documents in its own process.
#[cfg(test)]
#[expect(clippy::unnecessary_wraps, reason = "as the one above")]
fn reader(_: &Path, _: &Arc<dyn Clock>) -> std::io::Result<Arc<dyn DocumentReader>> {
    Ok(Arc::new(testkit::reading::DirectReader))
}
