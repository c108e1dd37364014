//! `quipu model fetch`: downloads a local model, runs it once, and prints the configuration that uses it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ports::{Clock, EmbedPurpose, Embedder, Reranker};
use providers::hub::Hub;
use providers::{BertEmbedder, BertSettings, CrossEncoder, OpenError};
use serde_json::json;

use super::interrupt::unless_interrupted;
use super::{Desk, runtime};
use crate::clock::SystemClock;
use crate::error::{Exit, Failure};
use crate::models;
use crate::output::say;
use crate::private;
use crate::progress;

const SAMPLE: &str = "The red bicycle was sold to a friend.";
const QUESTION: &str = "Who bought the bicycle?";

/// Use of a model.
enum ModelUse {
    Embedding(Arc<dyn Embedder>),
    Rerank(Arc<dyn Reranker>),
}

pub(super) fn fetch_model(desk: &Desk, id: &str) -> Result<Exit, Failure> {
    desk.standing
        .now("the part that was downloaded stays; run the same command again for the rest".to_owned());
    let hub = models::hub();
    runtime()?.block_on(unless_interrupted(desk, fetch(desk, &hub, id)))
}

async fn fetch(desk: &Desk, hub: &Hub, id: &str) -> Result<Exit, Failure> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    // An absolute path works from any current folder.
    let (folder, is_new, name) = if Path::new(id).is_dir() {
        let name = std::fs::canonicalize(id)?.display().to_string();
        (PathBuf::from(id), false, name)
    } else {
        let (folder, is_new) = downloaded(desk, hub, id, &clock).await?;
        (folder, is_new, id.to_owned())
    };
    let (opened, hub_id) = (folder.clone(), id.to_owned());
    let kind = models::opened(move || open(&opened, &hub_id)).await?;
    let size = std::fs::metadata(folder.join("model.safetensors"))?.len();
    let begun = clock.elapsed();
    let (section, result) = run(&kind).await?;
    let took = clock.elapsed().saturating_sub(begun).as_millis();
    let told = json!({
        "model": name, "folder": folder, "downloaded": is_new, "bytes": size, "use": section, "milliseconds": took,
    });
    desk.tell(&told, || {
        let new = ["was there already", "downloaded, size and checksum verified"];
        say!("folder   {}", folder.display())?;
        say!(
            "weights  {:.1} MB, {}",
            size as f64 / 1e6,
            new[usize::from(is_new)]
        )?;
        say!("check    {result}, in {took} ms")?;
        say!("\nTo use it, write into {}:\n", desk.loaded.file.display())?;
        let model = toml::Value::String(name);
        say!("[{section}]\nprovider = \"local\"\nmodel = {model}")
    })
}

/// The folder of a hub model, and whether it was downloaded now.
async fn downloaded(
    desk: &Desk,
    hub: &Hub,
    id: &str,
    clock: &Arc<dyn Clock>,
) -> Result<(PathBuf, bool), Failure> {
    private::folder(&desk.root)?;
    let (bar, is_new) = (progress::bytes(desk.watched, "model", 0), AtomicBool::new(false));
    let on_bytes = |done: u64, total: u64| {
        is_new.store(true, Ordering::Relaxed);
        bar.set_length(total);
        bar.set_position(done);
    };
    let folder = models::fetched(hub, &desk.root, id, clock, &on_bytes).await;
    bar.finish_and_clear();
    Ok((folder?, is_new.into_inner()))
}

/// A model with a score head is a reranker, any other an embedding model.
fn open(folder: &Path, id: &str) -> Result<ModelUse, OpenError> {
    match CrossEncoder::open(folder) {
        Ok(reranker) => Ok(ModelUse::Rerank(Arc::new(reranker))),
        Err(OpenError::Scoreless) => {
            let embedder = BertEmbedder::open(folder, BertSettings::of_hub_id(id))?;
            Ok(ModelUse::Embedding(Arc::new(embedder)))
        }
        Err(error) => Err(error),
    }
}

/// The section of the configuration for such a model, and a description of one forward pass.
async fn run(kind: &ModelUse) -> Result<(&'static str, String), Failure> {
    let (section, result, is_sound) = match kind {
        ModelUse::Embedding(embedder) => {
            let vectors = embedder.embed(&[SAMPLE], EmbedPurpose::Passage).await;
            let vectors = vectors.map_err(Failure::usage)?;
            let length: f32 = vectors[0].iter().map(|x| x * x).sum();
            let result = format!("a sentence became {} numbers", vectors[0].len());
            ("embedding", result, (length - 1.0).abs() < 0.01)
        }
        ModelUse::Rerank(reranker) => {
            let scores = reranker.rerank(QUESTION, &[SAMPLE]).await;
            let score = scores.map_err(Failure::usage)?[0];
            let result = format!("a question and its answer score {score:.3}");
            ("rerank", result, score.is_finite())
        }
    };
    if !is_sound {
        return Err(Failure::usage("the model's numbers are not valid").hint("choose another model"));
    }
    Ok((section, result))
}

#[cfg(test)]
mod tests;
