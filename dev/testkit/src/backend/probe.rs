//! The server's answers to probes.
//!
//! Owns: the routes without a body, each only for kinds that have it. Never: a model.

use prefix::backend::Kind;
use serde_json::{Value, json};

use super::Shared;
use super::answer::Answer;

pub(super) fn answer(shared: &Shared, path: &str) -> Answer {
    let (kind, slots, window) = (shared.kind, shared.slots, shared.window_tokens);
    let value = match (path, kind) {
        ("/v1/models", _) => models(kind, window),
        ("/props", Kind::LlamaCpp) => json!({
            "default_generation_settings": {"n_ctx": window},
            "total_slots": slots,
            "model_path": "fake.gguf",
            "build_info": "fake",
        }),
        ("/slots", Kind::LlamaCpp) => (0..slots)
            .map(|id| json!({"id": id, "n_ctx": window, "is_processing": false}))
            .collect(),
        ("/api/v0/models", Kind::LmStudio) => json!({"object": "list", "data": [{
            "id": "fake",
            "object": "model",
            "type": "llm",
            "state": "loaded",
            "max_context_length": window,
            "loaded_context_length": window,
        }]}),
        ("/api/version", Kind::Ollama) => json!({"version": "0.12.0"}),
        ("/version", Kind::Vllm) => json!({"version": "0.11.0"}),
        ("/get_server_info", Kind::Sglang) => json!({
            "version": "0.5.0",
            "model_path": "fake",
            "context_length": window,
            "max_running_requests": slots,
        }),
        _ => return Answer::not_found(),
    };
    Answer::json(200, &value)
}

fn models(kind: Kind, window: usize) -> Value {
    let mut model = json!({"id": "fake", "object": "model", "created": 0, "owned_by": kind.as_str()});
    match kind {
        Kind::LlamaCpp => {
            model["owned_by"] = json!("llamacpp");
            model["meta"] = json!({"n_ctx_train": window});
        }
        Kind::Vllm | Kind::Sglang => model["max_model_len"] = json!(window),
        _ => {}
    }
    json!({"object": "list", "data": [model]})
}
