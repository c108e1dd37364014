//! A model server without a model, for trying a client or a proxy by hand: `cargo run -p testkit --example
//! backend`.
//!
//! Prints its base URL and serves until its input ends. It answers with the last words of the user, and calls
//! the request's first tool if they contain "tool".
#![expect(clippy::print_stdout, reason = "whoever starts it reads the address")]

use std::io::Read as _;
use std::sync::Arc;

use serde_json::Value;
use testkit::backend::{Backend, Config, Reply, ToolCall};

fn reply(request: &Value, nth: usize) -> Reply {
    let messages = request["messages"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let last = messages.last().cloned().unwrap_or_default();
    let words = match &last["content"] {
        Value::String(text) => text.clone(),
        parts => parts
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|part| part["text"].as_str())
            .collect(),
    };
    let tool = &request["tools"][0];
    let name = tool["function"]["name"]
        .as_str()
        .or_else(|| tool["name"].as_str());
    match name {
        Some(name) if last["role"] == "user" && words.contains("tool") => Reply::calls([ToolCall {
            id: format!("call_{nth}"),
            name: name.to_owned(),
            arguments: r#"{"city": "Lisbon"}"#.to_owned(),
        }]),
        _ => Reply::text(format!("You said: {}", words.lines().next().unwrap_or_default())),
    }
}

#[tokio::main]
async fn main() {
    let backend = Backend::start(Config {
        reply: Arc::new(reply),
        ..Config::default()
    })
    .await;
    println!("{}", backend.base_url());
    let until_end = || std::io::stdin().read_to_end(&mut Vec::new());
    tokio::task::spawn_blocking(until_end).await.ok();
}
