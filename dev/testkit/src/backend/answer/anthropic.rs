//! Anthropic's messages.

use serde_json::{Value, json};

use super::super::Reply;
use super::super::prompt::input_of;
use super::{Answer, Usage, model, pieces, typed_event};

pub(in super::super) fn answer(request: &Value, reply: &Reply, usage: &Usage) -> Answer {
    let stop = if reply.calls.is_empty() {
        "end_turn"
    } else {
        "tool_use"
    };
    let mut message = json!({
        "id": "msg_fake",
        "type": "message",
        "role": "assistant",
        "model": model(request),
        "content": [],
        "stop_reason": null,
        "stop_sequence": null,
        "usage": {
            "input_tokens": usage.prompt - usage.cached - usage.created,
            "cache_creation_input_tokens": usage.created,
            "cache_read_input_tokens": usage.cached,
            "output_tokens": 1,
        },
    });
    if request["stream"] == true {
        let mut events = vec![json!({"type": "message_start", "message": message})];
        for (index, (start, deltas)) in blocks(reply).into_iter().enumerate() {
            events.push(json!({"type": "content_block_start", "index": index, "content_block": start}));
            let delta = |delta| json!({"type": "content_block_delta", "index": index, "delta": delta});
            events.extend(deltas.into_iter().map(delta));
            events.push(json!({"type": "content_block_stop", "index": index}));
        }
        events.push(json!({
            "type": "message_delta",
            "delta": {"stop_reason": stop, "stop_sequence": null},
            "usage": {"output_tokens": usage.generated},
        }));
        events.push(json!({"type": "message_stop"}));
        return Answer::events(events.iter().map(typed_event));
    }
    message["content"] = content(reply).into();
    message["stop_reason"] = json!(stop);
    message["usage"]["output_tokens"] = json!(usage.generated);
    Answer::json(200, &message)
}

fn content(reply: &Reply) -> Vec<Value> {
    let thinking = reply.reasoning.iter();
    let mut blocks: Vec<Value> = thinking
        .map(|text| json!({"type": "thinking", "thinking": text, "signature": "fake"}))
        .collect();
    if !reply.text.is_empty() || reply.calls.is_empty() {
        blocks.push(json!({"type": "text", "text": reply.text}));
    }
    let uses = reply.calls.iter();
    blocks.extend(
        uses.map(
            |call| json!({"type": "tool_use", "id": call.id, "name": call.name, "input": input_of(call)}),
        ),
    );
    blocks
}

/// Each block as it starts, and its deltas.
fn blocks(reply: &Reply) -> Vec<(Value, Vec<Value>)> {
    let streamed = |mut block: Value| {
        let (field, kind) = match block["type"].as_str() {
            Some("thinking") => ("thinking", "thinking_delta"),
            Some("tool_use") => ("input", "input_json_delta"),
            _ => ("text", "text_delta"),
        };
        let is_input = field == "input";
        let whole = std::mem::replace(&mut block[field], if is_input { json!({}) } else { json!("") });
        let whole = whole.as_str().map_or_else(|| whole.to_string(), str::to_owned);
        let name = if is_input { "partial_json" } else { field };
        let mut deltas: Vec<Value> = pieces(&whole)
            .map(|piece| json!({"type": kind, name: piece}))
            .collect();
        if let Some(signature) = block.get_mut("signature") {
            let signature = std::mem::replace(signature, json!(""));
            deltas.push(json!({"type": "signature_delta", "signature": signature}));
        }
        (block, deltas)
    };
    content(reply).into_iter().map(streamed).collect()
}
