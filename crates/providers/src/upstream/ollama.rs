//! The window of a model on an Ollama server. Ollama's OpenAI routes cut a longer prompt silently.
//!
//! Owns: the questions, and how long an answer is valid. Never: asking a server of another kind.
//!
//! | question | the answer's fields |
//! |---|---|
//! | `GET /api/ps` | `models[].context_length`: the window of a loaded model |
//! | `POST /api/show` | `parameters`: a line `num_ctx N` if its author set one; `model_info.*.context_length`: its maximum; `remote_model` if it runs elsewhere |
//!
//! The window also depends on the server's memory and environment, and the server reports it only for a
//! loaded model. So a model that is not loaded is loaded by `POST /api/generate` without a prompt: the turn
//! that asks would load it next anyway.

use std::collections::BTreeMap;
use std::time::Duration;

use parking_lot::Mutex;
use prefix::backend::{Locality, locality};
use serde_json::{Value, json};

use super::probe::{AGAIN, LIMIT, tokens};
use super::{HEAD_LIMIT, HttpUpstream};

/// Window of a server with default settings and little memory.
const WINDOW_LEAST: usize = 4_096;

/// Windows by model, each with its expiry by `Clock::elapsed`: a model can be reloaded with another window.
#[derive(Debug, Default)]
pub(super) struct Windows(Mutex<BTreeMap<String, (usize, Duration)>>);

impl HttpUpstream {
    pub(super) async fn ollama_window(&self, model: &str) -> Option<usize> {
        if model.is_empty() || locality(self.base.as_str()) == Locality::Hosted {
            return None;
        }
        let now = self.clock.elapsed();
        let windows = || self.windows.0.lock();
        let known = windows().get(model).copied();
        if let Some((window, _)) = known.filter(|(_, until)| now < *until) {
            return Some(window);
        }
        let window = self.ask_ollama(model).await?;
        windows().insert(model.to_owned(), (window, self.clock.elapsed() + AGAIN));
        Some(window)
    }

    async fn ask_ollama(&self, model: &str) -> Option<usize> {
        if let Some(window) = self.loaded(model).await {
            return Some(window);
        }
        let said = self.ask_for("api/show", &json!({"model": model}), LIMIT).await;
        let shown = said.ok().flatten()?;
        let most = most(&shown).unwrap_or(usize::MAX);
        let set = if shown["remote_model"].is_string() {
            Some(most)
        } else {
            num_ctx(&shown)
        };
        if let Some(window) = set {
            return Some(window.min(most)).filter(|window| *window < usize::MAX);
        }
        let load = json!({"model": model, "stream": false});
        self.ask_for("api/generate", &load, HEAD_LIMIT).await.ok();
        let loaded = self.loaded(model).await;
        Some(loaded.unwrap_or(WINDOW_LEAST.min(most)))
    }

    async fn loaded(&self, model: &str) -> Option<usize> {
        let running = self.ask("api/ps").await.ok().flatten()?;
        let is_it = |one: &&Value| {
            let names = ["name", "model"].map(|field| one[field].as_str().unwrap_or_default());
            names.contains(&model) || names.contains(&&*format!("{model}:latest"))
        };
        let models = running["models"].as_array()?;
        tokens(&models.iter().find(is_it)?["context_length"])
    }
}

/// The maximum window of a model.
fn most(shown: &Value) -> Option<usize> {
    let fields = shown["model_info"].as_object()?;
    let mut lengths = fields
        .iter()
        .filter(|(name, _)| name.ends_with(".context_length"));
    tokens(lengths.next()?.1)
}

/// The window that the model's author set.
fn num_ctx(shown: &Value) -> Option<usize> {
    let lines = shown["parameters"].as_str()?.lines();
    let mut set = lines.filter_map(|line| line.trim().strip_prefix("num_ctx"));
    set.next()?.trim().parse().ok().filter(|tokens| *tokens > 0)
}
