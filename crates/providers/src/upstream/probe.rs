//! Properties of a server, found once by read-only requests.
//!
//! Owns: the requests, and how a real answer is distinguished from any other page. Never: probing a hosted
//! API.
//!
//! All are sent to the server's root, the base URL without its final `/v1`, one after the other until one is
//! answered:
//!
//! | server | question | the answer's fields |
//! |---|---|---|
//! | llama.cpp | `/props` | `default_generation_settings.n_ctx`: the window of one slot (0 for a router); `total_slots`: requests at a time; `model_path` |
//! | LM Studio | `/api/v0/models` | `data[].loaded_context_length`: the window of a loaded model; `data[].max_context_length`: its maximum; `data[].id` |
//! | Ollama | `/api/version` | `version`; `ollama` asks for its windows |
//! | `SGLang` | `/get_server_info` | `context_length`: the window if it was set, else null; `max_total_num_tokens`: shared by all requests; `model_path` |
//! | vLLM | `/version` and `/v1/models` | `version`; `data[].max_model_len`: the window of a model; `data[].root` |
//!
//! If a server reports several models, the smallest window counts, because it fits each of them; none of them
//! then counts as loaded.

use std::time::Duration;

use bytes::Bytes;
use ports::Probed;
use prefix::backend::{Kind, Locality, locality};
use reqwest::{StatusCode, Url};
use serde_json::Value;
use tokio::sync::Mutex;

use super::{HttpUpstream, join};

/// Time limit of one question.
pub(super) const LIMIT: Duration = Duration::from_secs(2);
/// A server that did not answer is probed again only after this time.
pub(super) const AGAIN: Duration = Duration::from_secs(30);
const ANSWER_BYTES_MAX: usize = 4 << 20;

/// Locked while the server is probed, so that it is probed once at a time.
#[derive(Debug, Default)]
pub(super) struct ProbeMemory(Mutex<Asked>);

#[derive(Debug, Default)]
struct Asked {
    found: ProbeResult,
    /// By `Clock::elapsed`; ignored once the answer is settled.
    not_before: Duration,
}

#[derive(Debug, Default)]
struct ProbeResult {
    probed: Probed,
    /// Whether another probe would find nothing new.
    is_settled: bool,
}

/// The server was unreachable, too slow, or not ready.
pub(super) struct Unasked;

type Sign = (&'static str, fn(&Value) -> Option<ProbeResult>);

const SIGNS: [Sign; 4] = [
    ("props", llama_cpp),
    ("api/v0/models", lm_studio),
    ("api/version", ollama),
    ("get_server_info", sglang),
];

impl HttpUpstream {
    /// Properties of the server; probes it if needed.
    pub(super) async fn found(&self) -> Probed {
        if locality(self.base.as_str()) == Locality::Hosted {
            return Probed::default();
        }
        let mut asked = self.memory.0.lock().await;
        if !asked.found.is_settled && self.clock.elapsed() >= asked.not_before {
            if let Ok(found) = self.ask_all().await {
                asked.found = found;
            }
            asked.not_before = self.clock.elapsed() + AGAIN;
        }
        asked.found.probed.clone()
    }

    async fn ask_all(&self) -> Result<ProbeResult, Unasked> {
        for (path, read) in SIGNS {
            if let Some(found) = self.ask(path).await?.as_ref().and_then(read) {
                return Ok(found);
            }
        }
        let version = self.ask("version").await?;
        let is_versioned = version.is_some_and(|version| version["version"].is_string());
        let models = if is_versioned {
            self.ask("v1/models").await?
        } else {
            None
        };
        Ok(models
            .as_ref()
            .and_then(vllm)
            .unwrap_or_else(|| settled(Probed::default())))
    }

    /// The JSON at a path; none if the answer is something else.
    pub(super) async fn ask(&self, path: &str) -> Result<Option<Value>, Unasked> {
        tokio::select! {
            said = self.read("GET", path, None) => said,
            () = self.clock.sleep(LIMIT) => Err(Unasked),
        }
    }

    /// The JSON at a path for this request, within a time limit.
    pub(super) async fn ask_for(
        &self,
        path: &str,
        what: &Value,
        limit: Duration,
    ) -> Result<Option<Value>, Unasked> {
        tokio::select! {
            said = self.read("POST", path, Some(what.to_string().into())) => said,
            () = self.clock.sleep(limit) => Err(Unasked),
        }
    }

    async fn read(&self, method: &str, path: &str, body: Option<Bytes>) -> Result<Option<Value>, Unasked> {
        let request = self.request(join(&root(&self.base), path), method, &[], body);
        let answer = self.client.execute(request.map_err(|_| Unasked)?).await;
        let mut answer = answer.map_err(|_| Unasked)?;
        // The server is still loading a model.
        if answer.status() == StatusCode::SERVICE_UNAVAILABLE {
            return Err(Unasked);
        }
        let mut bytes = Vec::new();
        while let Some(chunk) = answer.chunk().await.map_err(|_| Unasked)? {
            if bytes.len() + chunk.len() > ANSWER_BYTES_MAX {
                return Ok(None);
            }
            bytes.extend_from_slice(&chunk);
        }
        let is_there = answer.status().is_success();
        Ok(serde_json::from_slice(&bytes).ok().filter(|_| is_there))
    }
}

/// The root address of the server.
fn root(base: &Url) -> Url {
    let mut root = base.clone();
    let path = base.path().trim_end_matches('/');
    root.set_path(path.strip_suffix("/v1").unwrap_or(path));
    root
}

fn settled(probed: Probed) -> ProbeResult {
    ProbeResult {
        probed,
        is_settled: true,
    }
}

fn probed(kind: Kind, window_tokens: Option<usize>) -> Probed {
    Probed {
        kind: Some(kind),
        window_tokens,
        ..Probed::default()
    }
}

/// A model's name from the path of a file or a hub: `Qwen3-8B-Q4_K_M`.
fn name(path: &Value) -> Option<String> {
    let name = path.as_str()?.rsplit(['/', '\\']).next()?;
    let name = name.strip_suffix(".gguf").unwrap_or(name);
    (!name.is_empty()).then(|| name.to_owned())
}

/// The only item; none if there are several.
fn only<T>(mut all: impl Iterator<Item = T>) -> Option<T> {
    all.next().filter(|_| all.next().is_none())
}

fn llama_cpp(props: &Value) -> Option<ProbeResult> {
    let window = &props["default_generation_settings"]["n_ctx"];
    window.as_u64()?;
    let slots = props["total_slots"].as_u64();
    Some(settled(Probed {
        slots: slots.and_then(|slots| u32::try_from(slots).ok()),
        model: name(&props["model_path"]),
        ..probed(Kind::LlamaCpp, tokens(window))
    }))
}

/// A window with which no model is loaded yet is a guess, and not settled.
fn lm_studio(models: &Value) -> Option<ProbeResult> {
    let models = models["data"].as_array()?;
    let is_known = |model: &Value| model["max_context_length"].is_u64();
    if !models.iter().any(is_known) {
        return None;
    }
    let chats = || models.iter().filter(|model| model["type"] != "embeddings");
    let loaded = chats()
        .filter_map(|model| tokens(&model["loaded_context_length"]))
        .min();
    let most = || {
        chats()
            .filter_map(|model| tokens(&model["max_context_length"]))
            .min()
    };
    let names = chats().filter(|model| model["loaded_context_length"].is_u64());
    Some(ProbeResult {
        probed: Probed {
            model: only(names).and_then(|model| name(&model["id"])),
            ..probed(Kind::LmStudio, loaded.or_else(most))
        },
        is_settled: loaded.is_some(),
    })
}

fn ollama(version: &Value) -> Option<ProbeResult> {
    version["version"].as_str()?;
    Some(settled(probed(Kind::Ollama, None)))
}

fn sglang(info: &Value) -> Option<ProbeResult> {
    let windows = ["context_length", "max_total_num_tokens"].map(|name| info.get(name));
    if windows == [None, None] {
        return None;
    }
    let window = windows.into_iter().flatten().filter_map(tokens).min();
    Some(settled(Probed {
        model: name(&info["model_path"]),
        ..probed(Kind::Sglang, window)
    }))
}

fn vllm(models: &Value) -> Option<ProbeResult> {
    let models = models["data"].as_array()?;
    let window = models
        .iter()
        .filter_map(|model| tokens(&model["max_model_len"]))
        .min()?;
    let served = models.iter().filter(|model| model["max_model_len"].is_u64());
    Some(settled(Probed {
        model: only(served).and_then(|model| name(&model["root"])),
        ..probed(Kind::Vllm, Some(window))
    }))
}

/// A number of tokens; 0 means unknown.
pub(super) fn tokens(value: &Value) -> Option<usize> {
    let tokens = usize::try_from(value.as_u64()?).ok()?;
    (tokens > 0).then_some(tokens)
}
