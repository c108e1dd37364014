//! `quipu model fetch`: a local model, downloaded, run once, and the configuration that uses it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use embed::{BertEmbedder, BertSettings, CrossEncoder, OpenError};
use ports::{Clock, EmbedPurpose, Embedder, Reranker};
use providers::hub::Hub;
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

/// What a model is for.
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
    let (folder, is_new) = if Path::new(id).is_dir() {
        (PathBuf::from(id), false)
    } else {
        downloaded(desk, hub, id, &clock).await?
    };
    let kind = models::opened({
        let (folder, id) = (folder.clone(), id.to_owned());
        move || open(&folder, &id)
    });
    let kind = kind.await?;
    let size = std::fs::metadata(folder.join("model.safetensors"))?.len();
    let begun = clock.elapsed();
    let (section, result) = run(&kind).await?;
    let took = clock.elapsed().saturating_sub(begun);
    show(
        desk,
        &Checked {
            id,
            folder,
            is_new,
            size,
            section,
            result,
            took,
        },
    )
}

/// The folder of a hub's model, and whether it was not there before.
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

/// A model that ends in a score is a reranker, any other an embedding model.
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

/// The section of the configuration that names such a model, and one forward pass in words.
async fn run(kind: &ModelUse) -> Result<(&'static str, String), Failure> {
    let (section, result, is_sound) = match kind {
        ModelUse::Embedding(embedder) => {
            let vectors = embedder.embed(&[SAMPLE], EmbedPurpose::Passage).await;
            let vectors = vectors.map_err(Failure::usage)?;
            let length: f32 = vectors[0].iter().map(|x| x * x).sum();
            let dims = vectors[0].len();
            (
                "embedding",
                format!("a sentence became {dims} numbers"),
                (length - 1.0).abs() < 0.01,
            )
        }
        ModelUse::Rerank(reranker) => {
            let scores = reranker
                .rerank(QUESTION, &[SAMPLE])
                .await
                .map_err(Failure::usage)?;
            (
                "rerank",
                format!("a question and its answer score {:.3}", scores[0]),
                scores[0].is_finite(),
            )
        }
    };
    if !is_sound {
        return Err(Failure::usage("the model's numbers are not valid").hint("choose another model"));
    }
    Ok((section, result))
}

/// A model that works.
struct Checked<'a> {
    id: &'a str,
    folder: PathBuf,
    is_new: bool,
    size: u64,
    section: &'static str,
    result: String,
    took: Duration,
}

fn show(desk: &Desk, model: &Checked<'_>) -> Result<Exit, Failure> {
    let (section, took) = (model.section, model.took.as_millis());
    // A folder is found from anywhere.
    let name = if Path::new(model.id).is_dir() {
        std::fs::canonicalize(model.id)?.display().to_string()
    } else {
        model.id.to_owned()
    };
    desk.tell(&json!({
            "model": name, "folder": model.folder, "downloaded": model.is_new, "bytes": model.size, "use": section,
            "milliseconds": took,
        }), || {
    let mut source = "was there already";
    if model.is_new {
        source = "downloaded, size and checksum verified";
    }
    say!("folder   {}", model.folder.display())?;
    say!("weights  {:.1} MB, {source}", model.size as f64 / 1e6)?;
    say!("check    {}, in {took} ms", model.result)?;
    say!("\nTo use it, write into {}:\n", desk.loaded.file.display())?;
    let model = toml::Value::String(name);
    say!("[{section}]\nprovider = \"local\"\nmodel = {model}")?;
    Ok(())
    })
}

#[cfg(test)]
mod tests;
