//! The embedding model, the reranker and the files of models.
//!
//! Owns: from configuration to an adapter, and the cache of downloaded models. Never: running a model.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use ports::{Clock, Embedder, Reranker};
use providers::hub::{self, Hub, OnBytes};
use providers::{
    ApiKey, BertEmbedder, BertSettings, EndpointSettings, HttpEmbedder, HttpReranker, OpenError,
    StaticEmbedder,
};

use crate::config::{Config, EmbeddingProvider, RerankProvider};
use crate::error::{Failure, Hinted as _};
use crate::world::{required, secret};

/// The embedding model of the configuration.
pub(crate) async fn embedder(
    root: &Path,
    config: &Config,
    clock: &Arc<dyn Clock>,
) -> Result<Arc<dyn Embedder>, Failure> {
    let keys = &config.embedding;
    match keys.provider {
        EmbeddingProvider::Static => Ok(Arc::new(StaticEmbedder::new())),
        EmbeddingProvider::Local => {
            let key = ("embedding.model", &*keys.model, "BAAI/bge-small-en-v1.5");
            let (folder, settings) = local(root, key, clock).await?;
            let embedder = opened(move || BertEmbedder::open(&folder, settings)).await?;
            Ok(Arc::new(embedder))
        }
        EmbeddingProvider::OpenAi => {
            let url = (&*keys.base_url, "http://127.0.0.1:11434/v1");
            let settings = endpoint("embedding", url, &keys.api_key, &keys.model, keys.timeout_seconds)?;
            let what = "the model's name at that endpoint";
            required("embedding.model", &keys.model, what)?;
            let dims = match keys.dims {
                0 => HttpEmbedder::probe_dims(&settings, clock.clone())
                    .await
                    .map_err(Failure::usage)
                    .hint("set embedding.dims to start without the endpoint")?,
                dims => dims,
            };
            let embedder = HttpEmbedder::new(settings, dims, clock.clone()).map_err(Failure::usage)?;
            Ok(Arc::new(embedder))
        }
    }
}

/// The reranker of the configuration.
pub(crate) async fn reranker(
    root: &Path,
    config: &Config,
    clock: &Arc<dyn Clock>,
) -> Result<Option<Arc<dyn Reranker>>, Failure> {
    let keys = &config.rerank;
    match keys.provider {
        RerankProvider::Off => Ok(None),
        RerankProvider::Local => {
            let example = "sentence-transformers/all-MiniLM-L6-v2";
            let (folder, settings) = local(root, ("rerank.model", &keys.model, example), clock).await?;
            let reranker = opened(move || providers::open_reranker(&folder, settings)).await?;
            Ok(Some(reranker))
        }
        RerankProvider::Http => {
            let url = (&*keys.base_url, "http://127.0.0.1:8080/v1");
            let settings = endpoint("rerank", url, &keys.api_key, &keys.model, keys.timeout_seconds)?;
            let reranker = HttpReranker::new(settings, clock.clone()).map_err(Failure::usage)?;
            Ok(Some(Arc::new(reranker)))
        }
    }
}

/// A model at an endpoint with the settings of `section` in the configuration; `example` is an address for the error message.
pub(crate) fn endpoint(
    section: &str,
    (base_url, example): (&str, &str),
    api_key: &str,
    model: &str,
    timeout_seconds: u32,
) -> Result<EndpointSettings, Failure> {
    required(
        &format!("{section}.base_url"),
        base_url,
        &format!("as in `{example}`"),
    )?;
    Ok(EndpointSettings {
        api_key: secret(&format!("{section}.api_key"), api_key)?.map(ApiKey::new),
        timeout: Duration::from_secs(timeout_seconds.into()),
        ..EndpointSettings::new(base_url, model)
    })
}

/// The folder of a local model, and the settings for its id.
async fn local(
    root: &Path,
    (key, model, example): (&str, &str, &str),
    clock: &Arc<dyn Clock>,
) -> Result<(PathBuf, BertSettings), Failure> {
    let what = format!("a folder, or a hub id as in `{example}`");
    required(key, model, &what)?;
    match Path::new(model) {
        folder if folder.is_dir() => Ok((folder.to_owned(), BertSettings::default())),
        _ => {
            let folder = fetched(&hub(), root, model, clock, &|_, _| {}).await?;
            Ok((folder, BertSettings::of_hub_id(model)))
        }
    }
}

/// Opens a model on a thread where blocking is allowed.
pub(crate) async fn opened<T: Send + 'static>(
    open: impl FnOnce() -> Result<T, OpenError> + Send + 'static,
) -> Result<T, Failure> {
    tokio::task::spawn_blocking(open).await?.map_err(Failure::input)
}

/// The hub with the settings of the environment.
pub(crate) fn hub() -> Hub {
    let mut hub = Hub::default();
    if let Some(endpoint) = crate::environment::variable("HF_ENDPOINT") {
        hub.endpoint = endpoint;
    }
    hub.token = crate::environment::variable("HF_TOKEN").map(ApiKey::new);
    hub
}

/// The folder of a hub model, downloaded once into `<root>/models`.
pub(crate) async fn fetched(
    hub: &Hub,
    root: &Path,
    model: &str,
    clock: &Arc<dyn Clock>,
    progress: OnBytes<'_>,
) -> Result<PathBuf, Failure> {
    let cache = root.join("models");
    let fetched = hub::fetch(hub, model, "main", &cache, clock.clone(), progress);
    fetched.await.map_err(Failure::input)
}
