//! OpenAI's chat completions, text completions and embeddings.

use prefix::backend::Kind;
use serde_json::{Value, json};

use super::super::{Reply, ToolCall};
use super::{Answer, Usage, event, model, pieces};

pub(in super::super) fn answer(request: &Value, reply: &Reply, usage: &Usage) -> Answer {
    let finish = if reply.calls.is_empty() {
        "stop"
    } else {
        "tool_calls"
    };
    if request["stream"] == true {
        let mut deltas = vec![json!({"role": "assistant", "content": ""})];
        let reasoning = reply.reasoning.as_deref().unwrap_or_default();
        deltas.extend(pieces(reasoning).map(|piece| json!({"reasoning_content": piece})));
        deltas.extend(pieces(&reply.text).map(|piece| json!({"content": piece})));
        deltas.extend(reply.calls.iter().enumerate().flat_map(call_deltas));
        let chunk = |delta: &Value, finish: Value| json!({"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish});
        let mut choices: Vec<Value> = deltas.iter().map(|delta| chunk(delta, Value::Null)).collect();
        choices.push(chunk(&json!({}), json!(finish)));
        return stream(request, "chat.completion.chunk", choices, usage);
    }
    let content = if reply.text.is_empty() && !reply.calls.is_empty() {
        Value::Null
    } else {
        json!(reply.text)
    };
    let mut message = json!({"role": "assistant", "content": content});
    if let Some(reasoning) = &reply.reasoning {
        message["reasoning_content"] = json!(reasoning);
    }
    if !reply.calls.is_empty() {
        message["tool_calls"] = reply
            .calls
            .iter()
            .map(|call| tool_call(call, &call.arguments))
            .collect();
    }
    complete_answer(
        request,
        "chat.completion",
        json!({"index": 0, "message": message, "finish_reason": finish}),
        usage,
    )
}

pub(in super::super) fn completion(request: &Value, reply: &Reply, usage: &Usage) -> Answer {
    let choice = |text: &str, finish: Value| json!({"index": 0, "text": text, "finish_reason": finish});
    if request["stream"] == true {
        let mut choices: Vec<Value> = pieces(&reply.text)
            .map(|piece| choice(piece, Value::Null))
            .collect();
        choices.push(choice("", json!("stop")));
        return stream(request, "text_completion", choices, usage);
    }
    complete_answer(
        request,
        "text_completion",
        choice(&reply.text, json!("stop")),
        usage,
    )
}

/// One small vector for each input.
pub(in super::super) fn embeddings(request: &Value, tokens: usize) -> Answer {
    let count = request["input"].as_array().map_or(1, Vec::len);
    let data: Vec<Value> = (0..count)
        .map(|index| json!({"object": "embedding", "index": index, "embedding": [1.0, 0.0, 0.0]}))
        .collect();
    let usage = json!({"prompt_tokens": tokens, "total_tokens": tokens});
    Answer::json(
        200,
        &json!({"object": "list", "data": data, "model": model(request), "usage": usage}),
    )
}

fn object(request: &Value, name: &str, choices: &[Value]) -> Value {
    json!({"id": "fake-1", "object": name, "created": 0, "model": model(request), "choices": choices})
}

fn complete_answer(request: &Value, name: &str, choice: Value, usage: &Usage) -> Answer {
    let mut answer = object(request, name, &[choice]);
    answer["usage"] = usage.openai();
    usage.time(&mut answer);
    Answer::json(200, &answer)
}

/// One chunk for each choice, and the usage in its place.
fn stream(request: &Value, name: &str, choices: Vec<Value>, usage: &Usage) -> Answer {
    let wanted = request["stream_options"]["include_usage"] == true;
    let mut chunks: Vec<Value> = choices
        .into_iter()
        .map(|choice| object(request, name, &[choice]))
        .collect();
    if usage.kind == Kind::Mistral {
        if let Some(last) = chunks.last_mut() {
            last["usage"] = usage.openai();
        }
    } else if wanted {
        if !usage.kind.profile().local {
            for chunk in &mut chunks {
                chunk["usage"] = Value::Null;
            }
        }
        let mut last = object(request, name, &[]);
        last["usage"] = usage.openai();
        chunks.push(last);
    }
    if let Some(last) = chunks.last_mut() {
        usage.time(last);
    }
    let done = "data: [DONE]\n\n".to_owned();
    Answer::events(chunks.iter().map(event).chain([done]))
}

fn tool_call(call: &ToolCall, arguments: &str) -> Value {
    json!({"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}})
}

/// The call with empty arguments, and the arguments in pieces.
fn call_deltas((index, call): (usize, &ToolCall)) -> Vec<Value> {
    let mut first = tool_call(call, "");
    first["index"] = json!(index);
    let mut deltas = vec![first];
    deltas.extend(
        pieces(&call.arguments).map(|piece| json!({"index": index, "function": {"arguments": piece}})),
    );
    deltas
        .into_iter()
        .map(|call| json!({"tool_calls": [call]}))
        .collect()
}
