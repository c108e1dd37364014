//! OpenAI's responses, as far as a proxy reads them.

use prefix::Digest;
use serde_json::{Value, json};

use super::super::Reply;
use super::{Answer, Usage, model, pieces, typed_event};

pub(in super::super) fn answer(request: &Value, id: &str, items: &[Value], usage: &Usage) -> Answer {
    let mut told = json!({
        "input_tokens": usage.prompt,
        "output_tokens": usage.generated,
        "total_tokens": usage.prompt + usage.generated,
    });
    if usage.kind.profile().cached_tokens.is_some() {
        told["input_tokens_details"] = json!({"cached_tokens": usage.cached});
    }
    let response = |status: &str, output: &[Value], usage: &Value| {
        json!({
            "id": id,
            "object": "response",
            "conversation": {"id": format!("conv_{id}")},
            "created_at": 0,
            "status": status,
            "model": model(request),
            "output": output,
            "usage": usage,
        })
    };
    let whole = response("completed", items, &told);
    if request["stream"] != true {
        return Answer::json(200, &whole);
    }
    let begun = response("in_progress", &[], &Value::Null);
    let mut events = vec![json!({"type": "response.created", "response": begun})];
    for (index, item) in items.iter().enumerate() {
        events.push(
            json!({"type": "response.output_item.added", "output_index": index, "item": started(item)}),
        );
        events.extend(deltas(index, item));
        events.push(json!({"type": "response.output_item.done", "output_index": index, "item": item}));
    }
    events.push(json!({"type": "response.completed", "response": whole}));
    for (number, event) in events.iter_mut().enumerate() {
        event["sequence_number"] = json!(number);
    }
    Answer::events(events.iter().map(typed_event))
}

/// The model's answer, as items.
pub(in super::super) fn output(reply: &Reply) -> Vec<Value> {
    let id = |kind: &str, text: &str| format!("{kind}_{}", Digest::of(text.as_bytes()));
    let mut items = Vec::new();
    if let Some(reasoning) = &reply.reasoning {
        let summary = json!([{"type": "summary_text", "text": reasoning}]);
        items.push(json!({"type": "reasoning", "id": id("rs", reasoning), "summary": summary}));
    }
    if !reply.text.is_empty() || reply.calls.is_empty() {
        let content = json!([{"type": "output_text", "text": reply.text, "annotations": []}]);
        items.push(json!({
            "type": "message", "id": id("msg", &reply.text), "status": "completed", "role": "assistant", "content": content,
        }));
    }
    items.extend(reply.calls.iter().map(|call| {
        json!({
            "type": "function_call",
            "id": format!("fc_{}", call.id),
            "call_id": call.id,
            "name": call.name,
            "arguments": call.arguments,
            "status": "completed",
        })
    }));
    items
}

/// An item before its first delta.
fn started(item: &Value) -> Value {
    let mut item = item.clone();
    match item["type"].as_str() {
        Some("message") => item["content"] = json!([]),
        Some("function_call") => item["arguments"] = json!(""),
        _ => return item,
    }
    item["status"] = json!("in_progress");
    item
}

fn deltas(index: usize, item: &Value) -> Vec<Value> {
    let (name, field, whole) = match item["type"].as_str() {
        Some("message") => ("output_text", "text", &item["content"][0]["text"]),
        Some("function_call") => ("function_call_arguments", "arguments", &item["arguments"]),
        _ => return Vec::new(),
    };
    let whole = whole.as_str().unwrap_or_default();
    let about = |step: &str, field: &str, text: &str| {
        json!({
            "type": format!("response.{name}.{step}"),
            "item_id": item["id"],
            "output_index": index,
            "content_index": 0,
            field: text,
        })
    };
    let mut events: Vec<Value> = pieces(whole)
        .map(|piece| about("delta", "delta", piece))
        .collect();
    events.push(about("done", field, whole));
    events
}
