//! Conversations of a program that calls its model itself, through the routes.

use serde_json::{Value, json};

use crate::house::{House, IDLE_AFTER, Reply};

/// A program whose conversation is about stations on a line.
pub(crate) struct Program {
    pub(crate) house: House,
    turn: usize,
}

impl Program {
    pub(crate) async fn new() -> Self {
        Self {
            house: House::new().await,
            turn: 0,
        }
    }

    fn body(own: &Value) -> Value {
        let mut body = json!({"user_id": "ada", "conversation_id": "line"});
        for (key, value) in own.as_object().expect("an object") {
            body[key] = value.clone();
        }
        body
    }

    pub(crate) async fn ask(&self, route: &str, own: Value) -> Reply {
        self.house
            .post(&format!("/api/v2/context/{route}"), &Self::body(&own))
            .await
    }

    pub(crate) async fn look(&self, route: &str) -> Reply {
        let mark = if route.contains('?') { '&' } else { '?' };
        let path = format!("/api/v2/context/{route}{mark}user_id=ada&conversation_id=line");
        self.house.get(&path).await
    }

    /// One turn: append, assemble, answer. Returns the assembled request.
    pub(crate) async fn turn(&mut self, words: usize) -> Value {
        let text = format!(
            "Station {}: {}",
            self.turn,
            "a bridge over a slow river, ".repeat(words)
        );
        self.turn += 1;
        let messages = json!([{"role": "user", "content": text}]);
        self.ask("append", json!({"messages": messages})).await.data();
        let assembled = self
            .ask("assemble", json!({"window_tokens": 4_096, "system": "Be brief."}))
            .await
            .data();
        let reply = json!({"role": "assistant", "content": format!("Noted station {}.", self.turn - 1)});
        self.ask("after_turn", json!({"message": reply})).await.data();
        assembled
    }
}

fn texts(assembled: &Value) -> Vec<String> {
    let messages = assembled["messages"].as_array().expect("messages");
    messages
        .iter()
        .map(|message| message["content"].as_str().unwrap_or_default().to_owned())
        .collect()
}

#[tokio::test]
async fn a_request_extends_the_last_one_within_the_budget() {
    let mut program = Program::new().await;
    let (mut before, mut compactions): (Vec<Value>, usize) = (Vec::new(), 0);
    for _ in 0..24 {
        let assembled = program.turn(40).await;
        let messages = assembled["messages"].as_array().expect("messages").clone();
        assert!(
            assembled["tokens"].as_u64() <= assembled["limit_tokens"].as_u64(),
            "{assembled}"
        );
        assert_eq!(messages[0], json!({"role": "system", "content": "Be brief."}));
        if assembled["reasons"].as_array().is_none_or(Vec::is_empty) {
            assert_eq!(
                messages[..before.len()],
                before[..],
                "it begins with the last request"
            );
        }
        compactions += usize::from(assembled["compacted"] == true);
        before = messages;
    }
    assert!(compactions > 0, "so much does not fit");
    assert!(compactions < 12, "and not every turn compacts");
    let stats = program.look("stats").await.data();
    assert_eq!(stats["messages_ever"], 48);
    assert!(
        stats["compactions"].as_u64() > Some(0) && stats["saved_tokens"].as_u64() > Some(0),
        "{stats}"
    );
}

#[tokio::test]
async fn health_counts_the_conversations_near_their_limit() {
    let mut program = Program::new().await;
    let mut was_near = false;
    while !was_near {
        program.turn(6).await;
        let stats = program.look("stats").await.data();
        assert_eq!(stats["compactions"], 0, "{stats}");
        was_near = stats["is_near_limit"] == true;
        let health = program.house.get("/health").await.json();
        assert_eq!(health["near_limit"], u8::from(was_near), "{stats}");
    }
}

#[tokio::test]
async fn an_idle_conversation_is_compacted() {
    let mut program = Program::new().await;
    let used = loop {
        program.turn(40).await;
        let stats = program.look("stats").await.data();
        assert_eq!(stats["compactions"], 0, "not while somebody talks: {stats}");
        let used = stats["used_percent"].as_f64().expect("a share");
        if used > 70.0 {
            break used;
        }
    };
    program.house.clock.sleeping(1).await;
    program.house.clock.advance(IDLE_AFTER);
    let stats = loop {
        let stats = program.look("stats").await.data();
        if stats["compactions"] != 0 {
            break stats;
        }
        tokio::task::yield_now().await;
    };
    assert!(stats["used_percent"].as_f64() < Some(used), "{stats}");
    let assembled = program.turn(1).await;
    assert_eq!(assembled["compacted"], false, "nobody waits for it: {assembled}");
}

#[tokio::test]
async fn stats_for_a_window_have_the_limit_of_a_turn_in_that_window() {
    let program = Program::new().await;
    let message = json!([{"role": "user", "content": "Hello."}]);
    program.ask("append", json!({"messages": message})).await.data();
    let tool = json!({"type": "function", "function": {"name": "walk", "description": "Walk far. ".repeat(40), "parameters": {}}});
    for reserve in [Value::Null, json!(700)] {
        let ask = async |window: usize| {
            let request = json!({"window_tokens": window, "reserve_tokens": reserve, "system": "Be brief.", "tools": [tool]});
            program.ask("assemble", request).await.data()["limit_tokens"].clone()
        };
        let (narrow, wide) = (ask(4_096).await, ask(16_384).await);
        for (window, limit) in [(4_096, narrow), (16_384, wide)] {
            let stats = program
                .look(&format!("stats?window_tokens={window}"))
                .await
                .data();
            assert_eq!(stats["limit_tokens"], limit, "{window}, {reserve}");
        }
    }
}

#[tokio::test]
async fn compacted_messages_are_found_and_recovered() {
    let mut program = Program::new().await;
    for _ in 0..24 {
        program.turn(40).await;
    }
    let archives = program.look("archives").await.data();
    let archive = &archives["archives"][0];
    let id = archive["id"].as_str().expect("a summary");
    let view = program.look("view").await.data();
    let in_view = |id: &str| {
        view["messages"]
            .as_array()
            .expect("a list")
            .iter()
            .any(|shown| shown["id"] == id)
    };
    assert!(in_view(id) && !in_view("m0"), "{view}");
    let all = program.look(&format!("recover?id={id}")).await.data();
    assert_eq!(all["messages"][0]["id"], "m0");
    let first = program.look("recover?id=m0").await.data();
    let text = first["messages"][0]["message"]["content"].as_str().expect("text");
    assert!(
        text.starts_with("Station 0: a bridge") && text.len() > 1_000,
        "as it was sent"
    );
    let found = program.look("find?query=Station%2011").await.data();
    assert_eq!(found["messages"][1]["id"], "m22", "{found}");
    let expanded = program.ask("expand", json!({"id": "m0"})).await.data();
    assert!(
        expanded["text"]
            .as_str()
            .expect("text")
            .starts_with("[m0] user: Station 0")
    );
    assert_eq!(program.look("recover?id=m999").await.status, 404);
    assert_eq!(program.look("recover?id=what").await.status, 404);
}

#[tokio::test]
async fn a_pinned_message_stays_and_a_rewound_one_leaves() {
    let mut program = Program::new().await;
    program.turn(5).await;
    program.ask("pin", json!({"id": "m0"})).await.data();
    for _ in 0..24 {
        program.turn(40).await;
    }
    let assembled = program.turn(5).await;
    let shown = texts(&assembled);
    assert!(
        shown.iter().any(|text| text.starts_with("Station 0:")),
        "{shown:?}"
    );
    assert!(
        !shown.iter().any(|text| text.starts_with("Station 1:")),
        "{shown:?}"
    );
    program.ask("fork", json!({"to": "branch"})).await.data();
    let newest = program.look("view").await.data();
    let newest = newest["messages"]
        .as_array()
        .and_then(|all| all.last().cloned())
        .expect("a message");
    program.ask("rewind", json!({"to": newest["id"]})).await.data();
    let view = program.look("view").await.data();
    assert!(!view.to_string().contains(newest["text"].as_str().expect("text")));
    let recovered = program
        .look(&format!("recover?id={}", newest["id"].as_str().expect("an id")))
        .await;
    assert_eq!(recovered.status, 200, "it is in the log");
    let branch = "/api/v2/context/view?user_id=ada&conversation_id=branch";
    let branch = program.house.get(branch).await.data().to_string();
    assert!(
        branch.contains(newest["text"].as_str().expect("text")),
        "the copy knows nothing of it"
    );
    assert_eq!(program.ask("fork", json!({"to": "branch"})).await.status, 409);
}

/// A call of the tool `walk`.
pub(crate) fn walks(id: &str) -> Value {
    let function = json!({"name": "walk", "arguments": "{}"});
    json!({"role": "assistant", "content": null, "tool_calls": [{"id": id, "type": "function", "function": function}]})
}

pub(crate) fn walked(id: &str, result: &str) -> Value {
    json!({"role": "tool", "tool_call_id": id, "content": result})
}

pub(crate) fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

#[tokio::test]
async fn an_interrupted_call_gets_a_placeholder_until_its_result_arrives() {
    let program = Program::new().await;
    let request = async |appended: Value| {
        program
            .ask("append", json!({"messages": [appended]}))
            .await
            .data();
        program.ask("assemble", json!({})).await.data()
    };
    let first = request(user("Walk to the bridge.")).await["messages"].clone();
    let first = first[0].clone();
    program
        .ask("after_turn", json!({"message": walks("one")}))
        .await
        .data();
    let stopped = request(user("Stop.")).await;
    let lost = walked("one", "[result lost]");
    let messages = json!([first, walks("one"), lost, user("Stop.")]);
    assert_eq!(
        (&stopped["messages"], &stopped["reasons"]),
        (&messages, &json!([]))
    );
    let reply = json!({"role": "assistant", "content": "I stopped."});
    program.ask("after_turn", json!({"message": reply})).await.data();
    let goes_on = request(user("Where are you?")).await;
    let messages = json!([
        first,
        walks("one"),
        lost,
        user("Stop."),
        reply,
        user("Where are you?")
    ]);
    assert_eq!(
        (&goes_on["messages"], &goes_on["reasons"]),
        (&messages, &json!([]))
    );
    let late = request(walked("one", "at the bridge")).await;
    let messages = json!([
        first,
        walks("one"),
        walked("one", "at the bridge"),
        user("Stop."),
        reply,
        user("Where are you?")
    ]);
    assert_eq!(
        (&late["messages"], &late["reasons"]),
        (&messages, &json!(["engine"]))
    );
}

#[tokio::test]
async fn a_call_whose_result_was_rewound_is_shown_as_running_until_a_result_arrives() {
    let program = Program::new().await;
    let append = json!({"messages": [user("Walk.")]});
    program.ask("append", append).await.data();
    let first = program.ask("assemble", json!({})).await.data()["messages"][0].clone();
    program
        .ask("after_turn", json!({"message": walks("one")}))
        .await
        .data();
    let append = async |message: Value| program.ask("append", json!({"messages": [message]})).await.data();
    append(walked("one", "at the bridge")).await;
    program.ask("assemble", json!({})).await.data();
    program.ask("rewind", json!({"to": "m2"})).await.data();
    let waits = program.ask("assemble", json!({})).await.data();
    assert_eq!(
        waits["messages"],
        json!([first, walks("one"), walked("one", "[executing...]")])
    );
    append(walked("one", "at the river")).await;
    let done = program.ask("assemble", json!({})).await.data();
    assert_eq!(
        done["messages"],
        json!([first, walks("one"), walked("one", "at the river")])
    );
    assert_eq!(done["reasons"], json!(["truncated", "engine"]));
}

#[tokio::test]
async fn calls_without_ids_are_sent_unchanged() {
    let program = Program::new().await;
    let messages = json!([
        user("Walk."),
        walks(""),
        walked("", "at the bridge"),
        walked("", "at the river")
    ]);
    program.ask("append", json!({"messages": messages})).await.data();
    let assembled = program.ask("assemble", json!({})).await.data();
    let sent = assembled["messages"].as_array().expect("messages");
    assert_eq!(sent[1..], messages.as_array().expect("messages")[1..]);
}

#[tokio::test]
async fn routes_compact_guard_and_run_subagents() {
    let mut program = Program::new().await;
    for _ in 0..8 {
        program.turn(10).await;
    }
    let compacted = program.ask("compact", json!({})).await.data();
    assert!(
        compacted["tokens_after"].as_u64() < compacted["tokens_before"].as_u64(),
        "{compacted}"
    );
    assert_eq!(
        program.look("guard?window_tokens=128000").await.data()["verdict"],
        "ok"
    );
    assert_eq!(program.look("guard").await.data()["source"], "sessionConfig");
    let stats = program.look("stats").await.data();
    assert_eq!(
        (&stats["engine"], &stats["owns_compaction"]),
        (&json!("quipu"), &json!(false))
    );
    assert_eq!(stats["last_steps"], compacted["steps"]);
    let share = stats["compacts_at_tokens"].as_f64().expect("tokens")
        / stats["limit_tokens"].as_f64().expect("tokens");
    assert!((0.84..0.86).contains(&share), "{stats}");
    let dropped = program.ask("cleanup", json!({})).await.data();
    assert!(dropped["steps_removed"].as_u64() > Some(0), "{dropped}");
    assert!(dropped["saved_tokens"].as_u64() > Some(0), "{dropped}");
    let dropped = program.ask("cleanup", json!({})).await.data();
    assert_eq!(dropped, json!({"steps_removed": 0, "saved_tokens": 0}));
    let stats = program.look("stats").await.data();
    assert!(stats["compactions"].as_u64() > Some(0), "{stats}");
    assert!(stats["saved_tokens"].as_u64() > Some(0), "{stats}");
    let spawned = program
        .ask("subagent/spawn", json!({"role": "explorer"}))
        .await
        .data();
    let messages = spawned["messages"].as_array().expect("messages");
    assert!(
        messages.len() <= 11 && messages[0]["role"] == "system",
        "{spawned}"
    );
    let ended = json!({"subagent_id": "one", "result": "done"});
    program.ask("subagent/end", ended).await.data();
    let tools = program.look("tools?dialect=anthropic").await;
    assert_eq!(tools.status, 422, "it is no conversation's");
    let tools = program
        .house
        .get("/api/v2/context/tools?dialect=anthropic")
        .await
        .data();
    assert_eq!(tools["tools"][0]["name"], "context_expand");
}

#[tokio::test]
async fn the_guard_blocks_or_warns_as_the_query_allows() {
    let mut program = Program::new().await;
    program.turn(40).await;
    assert_eq!(
        program.look("guard?window_tokens=128000").await.data()["verdict"],
        "ok"
    );
    let blocked = program.look("guard?window_tokens=256").await.data();
    assert_eq!(
        (&blocked["verdict"], &blocked["source"]),
        (&json!("block"), &json!("sessionConfig"))
    );
    assert_eq!(blocked["events"], json!(["blocked", "threshold-crossed"]));
    let used = blocked["used_tokens"].as_i64().expect("tokens");
    assert_eq!(
        (&blocked["remaining_tokens"], &blocked["safe_tokens"]),
        (&json!(256 - used), &json!(213))
    );
    assert_eq!(
        blocked["used_percent"].as_f64(),
        Some(100.0 * used as f64 / 256.0)
    );
    let lenient = program.look("guard?window_tokens=256&block=false").await.data();
    assert_eq!(
        (&lenient["verdict"], &lenient["events"]),
        (&json!("warn"), &json!(["warning"]))
    );
    let silent = program
        .look("guard?window_tokens=256&warn=false&block=false")
        .await
        .data();
    assert_eq!(
        (&silent["verdict"], &silent["message"], &silent["events"]),
        (&json!("ok"), &Value::Null, &json!([]))
    );
}

#[tokio::test]
async fn the_guard_names_the_source_of_a_default_window() {
    let program = Program::new().await;
    program
        .ask("append", json!({"messages": [user("Hello.")]}))
        .await
        .data();
    for (model, source) in [("gpt-4o", "model"), ("nobody-knows-it", "default")] {
        program.ask("assemble", json!({"model": model})).await.data();
        assert_eq!(program.look("guard").await.data()["source"], source);
    }
}

#[tokio::test]
async fn turns_without_memory_store_no_facts_even_after_a_restart() {
    let mut program = Program::new().await;
    let facts = program.house.facts.clone();
    let facts = move |owner: &str| {
        facts
            .lock()
            .expect("nobody panicked")
            .get(owner)
            .cloned()
            .unwrap_or_default()
    };
    for (memory, said) in [
        ("off", "Please always call me Colonel, from now on."),
        ("read-only", "Please always call my dog Captain, from now on."),
        ("on", "Please always write to me in English, from now on."),
    ] {
        program
            .ask("append", json!({"messages": [user(said)]}))
            .await
            .data();
        let request = json!({"window_tokens": 4_096, "system": "Be brief.", "memory": memory});
        program.ask("assemble", request).await.data();
        let reply = json!({"role": "assistant", "content": "I will."});
        program
            .ask("after_turn", json!({"message": reply, "memory": memory}))
            .await
            .data();
        program.house.restart_contexts();
    }
    for _ in 0..24 {
        program.turn(40).await;
    }
    while !facts("ada").contains("in English") {
        tokio::task::yield_now().await;
    }
    assert!(
        !facts("ada").contains("Colonel") && !facts("ada").contains("Captain"),
        "{}",
        facts("ada")
    );
    assert_eq!(facts("bob"), "");
}

#[tokio::test]
async fn invalid_context_requests_are_refused_with_a_reason() {
    let program = Program::new().await;
    assert_eq!(program.look("stats").await.status, 404, "nothing was said in it");
    let (status, _, message) = program.ask("append", json!({"messages": []})).await.error();
    assert_eq!(
        (status, message.as_str()),
        (422, "messages: give 1 to 1000 messages")
    );
    let broken = json!({"messages": [{"role": "user", "content": "a"}, 7]});
    let (status, _, message) = program.ask("append", broken).await.error();
    assert_eq!(status, 422);
    assert!(
        message.starts_with("message 1 is not valid in this dialect"),
        "{message}"
    );
    program
        .ask(
            "append",
            json!({"messages": [{"role": "user", "content": "a ".repeat(9_000)}]}),
        )
        .await
        .data();
    let (status, _, message) = program
        .ask("assemble", json!({"window_tokens": 512}))
        .await
        .error();
    assert_eq!(status, 422);
    assert!(
        message.contains("shorten the last message or use a wider window"),
        "{message}"
    );
    let nobody = json!({"conversation_id": "line", "messages": [{"role": "user", "content": "a"}]});
    let reply = program.house.post("/api/v2/context/append", &nobody).await;
    assert!(reply.error().2.contains("user_id"));
}

#[tokio::test]
async fn memory_learns_from_a_turn_and_adds_to_the_next_conversation() {
    let program = Program::new().await;
    let said = json!([{"role": "user", "content": "My locker at the station has number 4711."}]);
    program.ask("append", json!({"messages": said})).await.data();
    program.ask("assemble", json!({})).await.data();
    let reply = json!({"role": "assistant", "content": "I will remember it."});
    program.ask("after_turn", json!({"message": reply})).await.data();
    program.house.engine.settle().await.expect("settled");
    let other = |own: Value| {
        let mut body = Program::body(&own);
        body["conversation_id"] = json!("other");
        body
    };
    let asked = json!([{"role": "user", "content": "What number does my locker at the station have?"}]);
    let append = other(json!({"messages": asked}));
    program.house.post("/api/v2/context/append", &append).await.data();
    let assembled = program
        .house
        .post("/api/v2/context/assemble", &other(json!({})))
        .await
        .data();
    assert!(texts(&assembled).join(" ").contains("4711"), "{assembled}");
    assert_ne!(assembled["memory_ids"], json!([]));
}

#[tokio::test]
async fn a_restart_keeps_view_budget_and_originals() {
    let mut program = Program::new().await;
    for _ in 0..24 {
        program.turn(40).await;
    }
    program.ask("pin", json!({"id": "m0"})).await.data();
    let waits = json!([{"role": "user", "content": "And the last station?"}]);
    program.ask("append", json!({"messages": waits})).await.data();
    let (view, stats) = (
        program.look("view").await.data(),
        program.look("stats").await.data(),
    );
    assert!(stats["compactions"].as_u64() > Some(0), "a pin keeps the figures");
    program.house.restart_contexts();
    assert_eq!(program.look("view").await.data(), view);
    let recovered = program.look("recover?id=m3").await.data();
    assert!(recovered.to_string().contains("Noted station 1."));
    let compacted = program.ask("compact", json!({})).await.data();
    assert!(
        compacted["tokens_after"].as_u64() <= compacted["tokens_before"].as_u64(),
        "the budget is known"
    );
    let assembled = program
        .ask("assemble", json!({"window_tokens": 4_096, "system": "Be brief."}))
        .await
        .data();
    let last = texts(&assembled).pop().expect("messages");
    assert!(last.starts_with("And the last station?"), "{last}");
}
