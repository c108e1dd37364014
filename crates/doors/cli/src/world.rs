//! Building the world: the adapters that the configuration names, and the engine on top of them.
//!
//! Owns: which parts there are and in which order they open. Never: a use case.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use embed::{BertEmbedder, BertSettings, StaticEmbedder};
use engine::{Engine, Parts, Settings};
use ledger::SqliteLedger;
use model::{EmbedderId, Zone};
use ports::{Chat, Clock, Embedder, Ids, Index, IndexError};
use providers::{ApiKey, ChatSettings, EmbedSettings, HttpChat, HttpEmbedder, hub};
use proxy::GatedChat;
use proxy::gate::Gates;
use vault::MarkdownVault;

use crate::clock::{RandomIds, SystemClock};
use crate::config::{Config, EmbeddingProvider};
use crate::error::Failure;
use crate::serving;
use crate::upstreams;

/// Opens the index in a folder for vectors of a model; the binary gives it, so that only the binary links LanceDB.
pub type OpenIndex = fn(&Path, EmbedderId) -> Result<Arc<dyn Index>, IndexError>;

/// The running system of one root.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) engine: Engine,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<dyn Ids>,
    pub(crate) zone: Zone,
    pub(crate) ledger: Arc<SqliteLedger>,
    /// Extraction and conversations share the model servers.
    pub(crate) gates: Arc<Gates>,
}

impl World {
    /// Opens everything; the caller ends it with [`Engine::shutdown`].
    pub(crate) async fn open(root: &Path, config: &Config, open_index: OpenIndex) -> Result<Self, Failure> {
        std::fs::create_dir_all(root)
            .with_context(|| format!("cannot create `{}`", root.display()))
            .map_err(|error| Failure::from(error).hint("choose another folder with --root DIR"))?;
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
        let ids: Arc<dyn Ids> = Arc::new(RandomIds);
        let settings = settings(config)?;
        let zone = settings.zone.clone();
        let ledger = SqliteLedger::open(&root.join("ledger.sqlite")).map_err(engine::EngineError::from)?;
        let ledger = Arc::new(ledger);
        // The ledger's lock is the root's.
        serving::clear(root);
        let vault = MarkdownVault::open(root.join("memory"), zone.clone(), clock.clone())
            .map_err(engine::EngineError::from)?;
        let embedder = embedder(root, config, &clock).await?;
        let index =
            open_index(&root.join("index"), embedder.id().clone()).map_err(engine::EngineError::from)?;
        let gates = Arc::new(Gates::new(clock.clone()));
        let parts = Parts {
            transcripts: ledger.clone(),
            jobs: ledger.clone(),
            file_changes: ledger.clone(),
            vault: Arc::new(vault),
            index,
            embedder,
            chat: chat(config, &clock, &gates)?,
            clock: clock.clone(),
            ids: ids.clone(),
        };
        let engine = Engine::start(parts, settings).await?;
        Ok(Self {
            engine,
            clock,
            ids,
            zone,
            ledger,
            gates,
        })
    }
}

/// The zone that people see.
pub(crate) fn zone(config: &Config) -> Result<Zone, Failure> {
    Zone::named(&config.memory.timezone).map_err(|error| Failure::usage(format!("memory.timezone: {error}")))
}

fn settings(config: &Config) -> Result<Settings, Failure> {
    Ok(Settings {
        zone: zone(config)?,
        gap_minutes: config.memory.gap_minutes,
        messages_max: config.memory.messages_max,
        tokens_max: config.memory.tokens_max,
        hot_bytes_max: config.search.hot_mebibytes_max << 20,
        hot_rows_max: config.search.hot_rows_max,
        workers: config.tasks.workers,
        attempts_max: config.tasks.attempts_max,
        session_pending_max: config.tasks.session_pending_max,
        idle_after: Duration::from_secs(config.consolidation.idle_seconds.into()),
        task_retention_hours: config.tasks.retention_hours,
    })
}

async fn embedder(
    root: &Path,
    config: &Config,
    clock: &Arc<dyn Clock>,
) -> Result<Arc<dyn Embedder>, Failure> {
    let keys = &config.embedding;
    match keys.provider {
        EmbeddingProvider::Static => Ok(Arc::new(StaticEmbedder::new())),
        EmbeddingProvider::Local => {
            required(
                "embedding.model",
                &keys.model,
                "a folder, or a hub id as in `BAAI/bge-small-en-v1.5`",
            )?;
            let folder = match Path::new(&keys.model) {
                folder if folder.is_dir() => folder.to_owned(),
                _ => fetched(root, config, clock).await?,
            };
            let opening =
                tokio::task::spawn_blocking(move || BertEmbedder::open(&folder, BertSettings::default()));
            let opened = opening.await.map_err(anyhow::Error::from)?;
            Ok(Arc::new(opened.map_err(|error| {
                Failure::usage(format!("{:#}", anyhow::Error::from(error)))
            })?))
        }
        EmbeddingProvider::OpenAi => {
            required(
                "embedding.base_url",
                &keys.base_url,
                "as in `http://127.0.0.1:11434/v1`",
            )?;
            required(
                "embedding.model",
                &keys.model,
                "the model's name at that endpoint",
            )?;
            let mut settings = EmbedSettings::new(&keys.base_url, &keys.model);
            settings.api_key = secret("embedding.api_key", &keys.api_key)?.map(ApiKey::new);
            settings.timeout = Duration::from_secs(u64::from(keys.timeout_seconds));
            settings.dims = match keys.dims {
                0 => HttpEmbedder::probe_dims(&settings, clock.clone())
                    .await
                    .map_err(|error| {
                        Failure::usage(error).hint("set embedding.dims to start without the endpoint")
                    })?,
                dims => dims,
            };
            let embedder = HttpEmbedder::new(settings, clock.clone()).map_err(Failure::usage)?;
            Ok(Arc::new(embedder))
        }
    }
}

/// The folder of a model from the hub, downloaded once into `<root>/models`.
async fn fetched(root: &Path, config: &Config, clock: &Arc<dyn Clock>) -> Result<PathBuf, Failure> {
    let mut hub = hub::Hub::default();
    if let Some(endpoint) = crate::environment::variable("HF_ENDPOINT") {
        hub.endpoint = endpoint;
    }
    hub.token = crate::environment::variable("HF_TOKEN").map(ApiKey::new);
    let quiet = |_: u64, _: u64| {};
    hub::fetch(
        &hub,
        &config.embedding.model,
        "main",
        &root.join("models"),
        clock.clone(),
        &quiet,
    )
    .await
    .map_err(|error| Failure::usage(format!("{:#}", anyhow::Error::from(error))))
}

fn chat(config: &Config, clock: &Arc<dyn Clock>, gates: &Gates) -> Result<Option<Arc<dyn Chat>>, Failure> {
    let keys = &config.chat;
    if keys.model.is_empty() {
        return Ok(None);
    }
    required(
        "chat.base_url",
        &keys.base_url,
        "as in `http://127.0.0.1:8080/v1`",
    )?;
    let mut settings = ChatSettings::new(&keys.base_url, &keys.model);
    settings.api_key = secret("chat.api_key", &keys.api_key)?.map(ApiKey::new);
    settings.timeout = Duration::from_secs(u64::from(keys.timeout_seconds));
    let chat = HttpChat::new(settings, clock.clone()).map_err(Failure::usage)?;
    let gate = gates.of(&upstreams::under_v1(&keys.base_url));
    Ok(Some(Arc::new(GatedChat::new(Arc::new(chat), gate))))
}

fn required(key: &str, text: &str, what: &str) -> Result<(), Failure> {
    if text.is_empty() {
        return Err(Failure::usage(format!("{key} is not set")).hint(format!("it must be {what}")));
    }
    Ok(())
}

/// A secret as written, or the variable that it names with `env:`.
pub(crate) fn secret(key: &str, text: &str) -> Result<Option<String>, Failure> {
    match text.strip_prefix("env:") {
        None => Ok((!text.is_empty()).then(|| text.to_owned())),
        Some(variable) => crate::environment::variable(variable).map(Some).ok_or_else(|| {
            Failure::usage(format!("{key} names the variable `{variable}`, which is not set"))
                .hint(format!("set {variable}, or write the secret itself"))
        }),
    }
}
