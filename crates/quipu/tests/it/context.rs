//! `quipu context` on transcripts as clients write them.

use serde_json::{Value, json};

use crate::harness::Root;

/// A session of an agent: a rule at the beginning, then this many rounds of a call and its result.
fn transcript(rounds: usize) -> Value {
    let mut messages = vec![
        json!({"role": "system", "content": "You mend code."}),
        json!({"role": "user", "content": "Make the importer retry. Never touch the vault folder."}),
    ];
    for round in 0..rounds {
        let call = json!({"id": format!("call_{round}"), "type": "function",
            "function": {"name": "read_file", "arguments": format!("{{\"path\": \"src/part{round}.rs\"}}")}});
        messages.push(json!({"role": "assistant", "content": null, "tool_calls": [call]}));
        let lines = format!("fn part{round}() {{}}\n").repeat(40);
        messages.push(json!({"role": "tool", "tool_call_id": format!("call_{round}"), "content": lines}));
    }
    messages.push(json!({"role": "user", "content": "How far are you?"}));
    json!({"model": "gpt-4o", "messages": messages})
}

/// Whether every result follows its call, and every call has one.
fn pairs_hold(view: &[Value]) -> bool {
    let mut open: Vec<&str> = Vec::new();
    for message in view {
        if message["role"] == "tool" {
            let Some(at) = open.iter().position(|id| *id == message["tool_call_id"]) else {
                return false;
            };
            open.remove(at);
            continue;
        }
        if !open.is_empty() {
            return false;
        }
        open = message["tool_calls"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|call| call["id"].as_str())
            .collect();
    }
    open.is_empty()
}

#[test]
fn a_view_fits_its_budget_in_the_transcripts_own_dialect() {
    let root = Root::new();
    let source = transcript(60);
    let file = root.write_outside("talk.json", &source.to_string());
    let file = file.to_str().unwrap();
    let told = root.json(&["context", file, "--budget", "4000"]);
    let view = told["view"].as_array().unwrap();
    assert!(told["tokens"].as_u64().unwrap() <= 4_000);
    assert_eq!(told["budget"], 4_000);
    assert_eq!(told["events"][0]["event"], "node");
    assert!(told["report"]["attempts"][0]["gain"].as_u64().unwrap() > 0);
    let all = source["messages"].as_array().unwrap();
    assert_eq!(view.first(), all.first(), "the system item stands as it was");
    assert_eq!(view.last(), all.last(), "so does the newest request");
    assert!(pairs_hold(view));
    assert!(
        view[1]["content"]
            .as_str()
            .unwrap()
            .contains("Never touch the vault folder."),
        "the rule survives"
    );
    let recovered = root.run(&["context", file, "--budget", "4000", "--recover", "m3"]);
    assert_eq!(serde_json::from_str::<Value>(&recovered.stdout).unwrap(), all[3]);
    let node = root.run(&["context", file, "--budget", "4000", "--recover", "n0"]);
    assert!(
        node.stdout.lines().count() > 50,
        "a node gives all that it stands for"
    );
}

#[test]
fn a_transcript_within_its_budget_is_unchanged() {
    let root = Root::new();
    let source = transcript(3);
    let file = root.write_outside("short.json", &source.to_string());
    let told = root.json(&["context", file.to_str().unwrap()]);
    assert_eq!(told["view"], source["messages"]);
    assert_eq!(told["events"], json!([]));
}

#[test]
fn a_message_keeps_its_bytes() {
    let root = Root::new();
    let deep = format!("{}1{}", "[".repeat(200), "]".repeat(200));
    let odd = format!(
        r#"{{"role": "user",  "content": "half \ud800 of a pair, caf\u00e9", "n": 1e400, "m": 1.0, "deep": {deep}}}"#
    );
    let answer = r#"{"role": "assistant", "content": "Hm."}"#;
    let file = root.write_outside("odd.json", &format!("[{odd}, {answer}]"));
    let told = root.run(&["context", file.to_str().unwrap(), "--json"]);
    assert_eq!(told.code, 0, "{}", told.stderr);
    assert!(told.stdout.contains(&odd), "{}", told.stdout);
    let recovered = root.run(&["context", file.to_str().unwrap(), "--recover", "m0"]);
    assert_eq!(recovered.stdout.trim_end(), odd);
}

#[test]
fn an_impossible_budget_is_reported_with_its_parts_and_a_bad_message_with_its_place() {
    let root = Root::new();
    let file = root.write_outside("talk.json", &transcript(60).to_string());
    let ran = root.run(&["context", file.to_str().unwrap(), "--budget", "5", "--json"]);
    assert_ne!(ran.code, 0);
    let error: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(error["error"]["code"], "CURRENT_REQUEST_EXCEEDS_BUDGET");
    assert!(error["error"]["parts"]["current_request"].as_u64().unwrap() > 5);
    let broken = root.write_outside("broken.json", "{\"messages\": [{\"role\": \"alien\"}]}");
    let ran = root.run(&["context", broken.to_str().unwrap()]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("messages[0].role"), "{}", ran.stderr);
    let ran = root.run(&["context", file.to_str().unwrap(), "--recover", "n9"]);
    assert_eq!(ran.code, 4);
}
