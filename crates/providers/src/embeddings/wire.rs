//! The JSON of the embeddings dialect.
//!
//! Owns: its field names. Never: sending it.

use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
struct EmbeddingList {
    data: Vec<EmbeddingItem>,
}

#[derive(Deserialize)]
struct EmbeddingItem {
    index: Option<usize>,
    embedding: Vec<f32>,
}

/// The body of a request.
pub(super) fn request(model: &str, texts: &[&str]) -> Value {
    json!({ "model": model, "input": texts })
}

/// The vectors of an answer in the order of the texts, or why the answer is unusable.
pub(super) fn vectors(answer: Value, count: usize) -> Result<Vec<Vec<f32>>, String> {
    let answer: EmbeddingList =
        serde_json::from_value(answer).map_err(|_| "JSON without `data[].embedding`".to_owned())?;
    if answer.data.len() != count {
        return Err(format!("{} vectors for {count} texts", answer.data.len()));
    }
    let mut vectors: Vec<Option<Vec<f32>>> = vec![None; count];
    for (place, item) in answer.data.into_iter().enumerate() {
        let place = item.index.unwrap_or(place);
        match vectors.get_mut(place) {
            Some(slot @ None) => *slot = Some(item.embedding),
            _ => return Err(format!("index {place} twice or out of range")),
        }
    }
    Ok(vectors.into_iter().flatten().collect())
}
