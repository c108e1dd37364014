//! What a server tells of itself.
//!
//! Owns: the routes without a body, each only where its kind has it. Never: a model.

use prefix::backend::Kind;
use serde_json::{Value, json};

use super::WINDOW_TOKENS;
use super::answer::Answer;

pub(super) fn answer(kind: Kind, slots: usize, path: &str) -> Answer {
    let value = match (path, kind) {
        ("/v1/models", _) => models(kind),
        ("/props", Kind::LlamaCpp) => json!({
            "default_generation_settings": {"n_ctx": WINDOW_TOKENS},
            "total_slots": slots,
            "model_path": "fake.gguf",
            "build_info": "fake",
        }),
        ("/slots", Kind::LlamaCpp) => (0..slots)
            .map(|id| json!({"id": id, "n_ctx": WINDOW_TOKENS, "is_processing": false}))
            .collect(),
        ("/api/v0/models", Kind::LmStudio) => json!({"object": "list", "data": [{
            "id": "fake",
            "object": "model",
            "type": "llm",
            "state": "loaded",
            "max_context_length": WINDOW_TOKENS,
            "loaded_context_length": WINDOW_TOKENS,
        }]}),
        ("/api/version", Kind::Ollama) => json!({"version": "0.12.0"}),
        ("/version", Kind::Vllm) => json!({"version": "0.11.0"}),
        ("/get_server_info", Kind::Sglang) => json!({
            "version": "0.5.0",
            "model_path": "fake",
            "context_length": WINDOW_TOKENS,
            "max_running_requests": slots,
        }),
        _ => return Answer::not_found(),
    };
    Answer::json(200, &value)
}

fn models(kind: Kind) -> Value {
    let mut model = json!({"id": "fake", "object": "model", "created": 0, "owned_by": kind.name()});
    match kind {
        Kind::LlamaCpp => {
            model["owned_by"] = json!("llamacpp");
            model["meta"] = json!({"n_ctx_train": WINDOW_TOKENS});
        }
        Kind::Vllm | Kind::Sglang => model["max_model_len"] = json!(WINDOW_TOKENS),
        _ => {}
    }
    json!({"object": "list", "data": [model]})
}
