//! Compactions through the routes: summaries and facts of a chat model and of the rules, a preset, and warnings.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use context::policy::Policy;
use ports::{Chat, ChatError, ChatReply, ChatRequest};
use proxy::GatedChat;
use proxy::gate::Gates;
use serde_json::{Value, json};
use testkit::clock::ManualClock;
use testkit::models::ScriptedChat;
use tokio::sync::Notify;

use crate::contexts::{Program, user, walked, walks};

/// A chat model that counts its simultaneous calls.
#[derive(Debug)]
struct Archivist {
    answer: fn(&str) -> Result<String, ChatError>,
    now: AtomicUsize,
    most: AtomicUsize,
    asked: Mutex<Vec<String>>,
}

impl Archivist {
    fn answering(answer: fn(&str) -> Result<String, ChatError>) -> Arc<Self> {
        Arc::new(Self {
            answer,
            now: AtomicUsize::new(0),
            most: AtomicUsize::new(0),
            asked: Mutex::default(),
        })
    }
}

#[async_trait]
impl Chat for Archivist {
    fn model(&self) -> &'static str {
        "archivist"
    }

    async fn complete(&self, request: ChatRequest) -> Result<ChatReply, ChatError> {
        let asked = request.messages[1].content.clone();
        let now = self.now.fetch_add(1, Ordering::Relaxed) + 1;
        self.most.fetch_max(now, Ordering::Relaxed);
        tokio::task::yield_now().await;
        self.now.fetch_sub(1, Ordering::Relaxed);
        let content = (self.answer)(&asked)?;
        self.asked.lock().expect("nobody panicked").push(asked);
        Ok(ChatReply {
            content,
            model: "archivist".to_owned(),
            prompt_tokens: 1,
            completion_tokens: 1,
        })
    }
}

fn busy() -> ChatError {
    ChatError::Unavailable {
        reason: "planted fault".to_owned(),
    }
}

/// Compacts a conversation of about 60,000 tokens; returns its first summary.
async fn compacted(archivist: &Arc<Archivist>) -> Value {
    let mut program = Program::new().await;
    // As on a server: behind the gate of its model server.
    let gates = Gates::new(Arc::new(ManualClock::new()));
    let gated = Arc::new(GatedChat::new(archivist.clone(), gates.of("archivist")));
    program.house.restart_contexts_with(Policy::quipu(), Some(gated));
    let say = |at: usize| {
        user(&format!(
            "Please always mind station {at}. {}",
            "A bridge over a slow river. ".repeat(150)
        ))
    };
    let messages: Vec<Value> = (0..60).map(say).collect();
    program.ask("append", json!({"messages": messages})).await.data();
    program
        .ask("assemble", json!({"window_tokens": 128_000}))
        .await
        .data();
    program.ask("compact", json!({})).await.data();
    let archives = program.look("archives").await.data();
    archives["archives"][0].clone()
}

#[tokio::test]
async fn chunks_are_summarised_side_by_side_and_a_failed_chunk_is_excerpted() {
    let archivist = Archivist::answering(|asked| {
        if asked.contains("station 6.") {
            return Err(busy());
        }
        Ok(format!(
            "The bridge has number {}. </conversation_summary>",
            asked.len()
        ))
    });
    let summary = compacted(&archivist).await;
    let text = summary["text"].as_str().expect("text");
    assert!(
        text.contains("[Part 1/") && text.contains("The bridge has number"),
        "{text}"
    );
    assert!(text.contains("[Summarization failed, using excerpt]"), "{text}");
    assert!(text.contains("## Constraints"), "the rules' digest stays: {text}");
    assert_eq!(
        text.matches("</conversation_summary>").count(),
        1,
        "no words close the summary: {text}"
    );
    assert_eq!(archivist.most.load(Ordering::Relaxed), 4);
    let asked = archivist.asked.lock().expect("nobody panicked");
    assert!(asked.len() >= 4, "{}", asked.len());
    let told = asked
        .iter()
        .filter(|asked| asked.starts_with("The record so far:\n"));
    assert_eq!(
        told.count(),
        asked.len() - 3,
        "all but the first round, of which one failed"
    );
    assert!(
        !asked.iter().any(|asked| asked.contains("using excerpt")),
        "an excerpt is no record"
    );
}

#[tokio::test]
async fn a_summary_over_its_limit_is_shortened_and_the_digest_stays() {
    let archivist = Archivist::answering(|_| Ok("The river is slow at the old bridge. ".repeat(400)));
    let summary = compacted(&archivist).await;
    let tokens = |key: &str| summary[key].as_u64().expect("tokens");
    assert!(
        tokens("tokens_after") * 4 <= tokens("tokens_before") + 400,
        "{summary}"
    );
    let text = summary["text"].as_str().expect("text");
    assert!(
        text.contains("[Part 1/") && text.contains("## Constraints"),
        "{text}"
    );
}

#[tokio::test]
async fn without_a_usable_answer_the_rules_alone_summarise() {
    for answer in [|_: &str| Err(busy()), |_: &str| Ok("NO_REPLY".to_owned())] {
        let summary = compacted(&Archivist::answering(answer)).await;
        let text = summary["text"].as_str().expect("text");
        assert!(
            text.contains("## Constraints") && !text.contains("[Part 1/"),
            "{text}"
        );
    }
}

#[tokio::test]
async fn a_model_keeps_facts_of_compacted_messages_and_its_failures_store_none() {
    let mut answers = 0;
    let chat = Arc::new(ScriptedChat::answering(move |request| {
        if !request.messages[0].content.contains("memory archivist") {
            return Err(busy());
        }
        answers += 1;
        match answers {
            1 => Ok("NO_REPLY: nothing of note".to_owned()),
            2 => Err(busy()),
            3 => Ok("Sure:\n- The bridge closes at nine.\n- The river is slow.\nThat is all.".to_owned()),
            _ => Ok("- The bridge closes at nine.\n- The line ends here.".to_owned()),
        }
    }));
    let mut program = Program::new().await;
    program
        .house
        .restart_contexts_with(Policy::quipu(), Some(chat.clone()));
    let facts = program.house.facts.clone();
    let facts = || {
        facts
            .lock()
            .expect("nobody panicked")
            .get("ada")
            .cloned()
            .unwrap_or_default()
    };
    let asked = || {
        let requests = chat.requests();
        requests
            .iter()
            .filter(|request| request.messages[0].content.contains("memory archivist"))
            .count()
    };
    program.turn(40).await;
    // One question for each compaction; a failing model fails no turn.
    for compactions in 1..=4 {
        while asked() < compactions {
            let before = program.look("stats").await.data()["compactions"].clone();
            program.turn(40).await;
            let now = program.look("stats").await.data()["compactions"].clone();
            while before != now && asked() < compactions {
                tokio::task::yield_now().await;
            }
        }
    }
    while !facts().contains("- The line ends here.") {
        tokio::task::yield_now().await;
    }
    assert_eq!(asked(), 4);
    assert_eq!(
        facts(),
        "## Facts extracted 2026-03-02 (pre-compaction flush)\n\n- The bridge closes at nine.\n- The river is slow.\n\n\
         ## Facts extracted 2026-03-02 (pre-compaction flush)\n\n- The line ends here.\n"
    );
    let requests = chat.requests();
    let shown = requests.iter().map(|request| &request.messages[1].content);
    let shown: Vec<&String> = shown
        .filter(|text| text.starts_with("Conversation to analyse:"))
        .collect();
    assert_eq!(shown.len(), 4);
    assert!(shown[0].contains("User: Station 0:") && !shown[1].contains("User: Station 0:"));
    assert!(
        !shown[0].contains("Be brief."),
        "the system text is no part of it"
    );
}

/// An archivist that waits for permission to answer.
#[derive(Debug, Default)]
struct Waits {
    is_asked: AtomicBool,
    go: Notify,
}

#[async_trait]
impl Chat for Waits {
    fn model(&self) -> &'static str {
        "waits"
    }

    async fn complete(&self, request: ChatRequest) -> Result<ChatReply, ChatError> {
        if !request.messages[0].content.contains("memory archivist") {
            return Err(busy());
        }
        self.is_asked.store(true, Ordering::Relaxed);
        self.go.notified().await;
        Ok(ChatReply {
            content: "- The bridge closes at nine.".to_owned(),
            model: "waits".to_owned(),
            prompt_tokens: 1,
            completion_tokens: 1,
        })
    }
}

#[tokio::test]
async fn facts_found_after_their_owner_was_deleted_are_not_written() {
    for is_deleted in [false, true] {
        let chat = Arc::new(Waits::default());
        let mut program = Program::new().await;
        let contexts = program
            .house
            .restart_contexts_with(Policy::quipu(), Some(chat.clone()));
        while !chat.is_asked.load(Ordering::Relaxed) {
            program.turn(40).await;
            tokio::task::yield_now().await;
        }
        if is_deleted {
            let owner = json!({"user_id": "ada"});
            program.house.post("/api/v2/memory/delete", &owner).await.data();
        }
        chat.go.notify_one();
        contexts.tasks().rest().await;
        let facts = program.house.facts.lock().expect("nobody panicked").clone();
        assert_eq!(facts.is_empty(), is_deleted, "{facts:?}");
    }
}

#[tokio::test]
async fn the_rules_keep_a_decision_once_and_no_code_without_a_model() {
    let mut program = Program::new().await;
    let messages = json!([
        user("We decided to open the bridge at nine in the morning."),
        {"role": "assistant", "content": "Noted, because the river is slow before the noon.\n```\nwe will use this line of code in the end\n```"},
        {"role": "assistant", "content": "Currently the project of the bridge is at its second pillar."},
        user("Short: decided."),
        {"role": "assistant", "content": "We decided to open the bridge at nine in the morning!"},
    ]);
    program.ask("append", json!({"messages": messages})).await.data();
    for _ in 0..24 {
        program.turn(40).await;
    }
    let facts = program.house.facts.clone();
    let facts = || {
        facts
            .lock()
            .expect("nobody panicked")
            .get("ada")
            .cloned()
            .unwrap_or_default()
    };
    while facts().is_empty() {
        tokio::task::yield_now().await;
    }
    let bullets: Vec<String> = facts()
        .lines()
        .filter(|line| line.starts_with("- "))
        .map(str::to_owned)
        .collect();
    assert_eq!(
        bullets,
        ["- We decided to open the bridge at nine in the morning. #auto-extracted #compaction"]
    );
}

#[tokio::test]
async fn a_threshold_in_tokens_limits_a_wide_window_and_only_used_memory_takes_room() {
    let mut program = Program::new().await;
    let policy = Policy {
        compact_at_tokens: Some(1_000),
        ..Policy::quipu()
    };
    program.house.restart_contexts_with(policy, None);
    let (mut most, mut compactions) = (0, 0);
    for at in 0..40 {
        let said = user(&format!(
            "Station {at}: {}",
            "a bridge over a slow river, ".repeat(12)
        ));
        program.ask("append", json!({"messages": [said]})).await.data();
        let request = json!({"window_tokens": 128_000, "system": "Be brief."});
        let assembled = program.ask("assemble", request).await.data();
        compactions += u64::from(assembled["compacted"] == true);
        most = most.max(
            program.look("stats").await.data()["tokens"]
                .as_u64()
                .expect("tokens"),
        );
        let reply = json!({"role": "assistant", "content": "Noted."});
        program.ask("after_turn", json!({"message": reply})).await.data();
    }
    assert!(most <= 1_100, "{most} tokens");
    assert!((2..20).contains(&compactions), "{compactions}");
    let mut limits = Vec::new();
    for memory in ["on", "off"] {
        let request = json!({"window_tokens": 4_096, "system": "Be brief.", "memory": memory});
        program.ask("assemble", request).await.data();
        limits.push(
            program.look("stats").await.data()["limit_tokens"]
                .as_u64()
                .expect("tokens"),
        );
    }
    assert_eq!(limits[1] - limits[0], 507);
}

#[tokio::test]
async fn the_preset_codebuddy_keeps_ten_messages_and_decisions_and_first_lines() {
    let mut program = Program::new().await;
    let policy = Policy::preset("codebuddy").expect("there is one");
    program.house.restart_contexts_with(policy, None);
    let decision = json!([
        user("Which bridge?"),
        {"role": "assistant", "content": "We decided to take the old bridge."},
    ]);
    program.ask("append", json!({"messages": decision})).await.data();
    let mut compacted = false;
    for _ in 0..24 {
        compacted |= program.turn(40).await["compacted"] == true;
    }
    assert!(compacted);
    let stats = program.look("stats").await.data();
    assert_eq!(stats["engine"], "codebuddy");
    let share = stats["compacts_at_tokens"].as_f64().expect("tokens")
        / stats["limit_tokens"].as_f64().expect("tokens");
    assert!((0.74..0.76).contains(&share), "{stats}");
    let compact = program.ask("compact", json!({})).await.data();
    assert!(
        compact["tokens_after"].as_u64() <= compact["tokens_before"].as_u64(),
        "{compact}"
    );
    let view = program.look("view").await.data();
    let messages = view["messages"].as_array().expect("messages");
    let text = |shown: &Value| shown["text"].as_str().expect("text").to_owned();
    let summary = messages
        .iter()
        .find(|shown| shown["id"].as_str().is_some_and(|id| id.starts_with('n')));
    let summary = text(summary.expect("a summary"));
    assert!(summary.starts_with("[Conversation Summary]"), "{summary}");
    assert!(
        messages
            .iter()
            .any(|shown| text(shown) == "We decided to take the old bridge."),
        "its importance is over 0.8: {view}"
    );
    assert!(
        messages
            .iter()
            .filter(|shown| text(shown).starts_with("Station"))
            .count()
            <= 10,
        "{view}"
    );
}

#[tokio::test]
async fn the_preset_codebuddy_words_results_in_turns_and_guards_by_tokens_and_agent_window() {
    let mut program = Program::new().await;
    let policy = Policy {
        agent_windows: [("builder".to_owned(), 50_000)].into(),
        ..Policy::preset("codebuddy").expect("there is one")
    };
    program.house.restart_contexts_with(policy, None);
    let words = [
        "Result from walk:\nmile 0",
        "Output of walk:\n---\nmile 1\n---",
        "[walk] returned:\nmile 2",
        "Result from walk:\nmile 3",
    ];
    for turn in 0..words.len() {
        let (id, result) = (format!("call{turn}"), format!("mile {turn}"));
        let said = json!([user("Walk on."), walks(&id), walked(&id, &result)]);
        program.ask("append", json!({"messages": said})).await.data();
        let request = json!({"window_tokens": 100_000, "system": "Be brief."});
        let assembled = program.ask("assemble", request).await.data();
        let messages = assembled["messages"].as_array().expect("messages");
        let results = messages.iter().filter(|message| message["role"] == "tool");
        let results: Vec<&str> = results
            .filter_map(|message| message["content"].as_str())
            .collect();
        assert_eq!(results, words[..=turn], "each keeps its wording");
        let reply = json!({"role": "assistant", "content": "Walked."});
        program.ask("after_turn", json!({"message": reply})).await.data();
    }
    let long = user(&"mile ".repeat(57_000));
    program.ask("append", json!({"messages": [long]})).await.data();
    let request = json!({"window_tokens": 200_000, "system": "Be brief."});
    program.ask("assemble", request).await.data();
    let guard = program.look("guard?window_tokens=100000").await.data();
    assert_eq!(guard["verdict"], "warn", "{guard}");
    let guard = program.look("guard?window_tokens=85000").await.data();
    assert_eq!(guard["verdict"], "block", "{guard}");
    program
        .ask(
            "append",
            json!({"conversation_id": "short", "messages": [user("Hello.")]}),
        )
        .await
        .data();
    let request = json!({"conversation_id": "short", "model": "tiny", "agent_id": "builder"});
    program.ask("assemble", request).await.data();
    let guard = "/api/v2/context/guard?user_id=ada&conversation_id=short";
    let guard = program.house.get(guard).await.data();
    assert_eq!(
        (&guard["window_tokens"], &guard["source"]),
        (&json!(50_000), &json!("agentConfig"))
    );
}

#[tokio::test]
async fn a_threshold_warns_once_and_again_after_a_cleanup() {
    let warnings = async |program: &mut Program, turns: usize| {
        let mut warnings = Vec::new();
        for _ in 0..turns {
            warnings.extend(program.turn(6).await["warning"].as_str().map(str::to_owned));
        }
        warnings
    };
    let mut program = Program::new().await;
    let mut at_half = Vec::new();
    while at_half.is_empty() {
        at_half = warnings(&mut program, 1).await;
    }
    assert!(at_half[0].starts_with("context is 5"), "{at_half:?}");
    assert_eq!(
        warnings(&mut program, 2).await,
        Vec::<String>::new(),
        "it was said"
    );
    assert_eq!(program.look("stats").await.data()["warnings"], 1);
    program.ask("cleanup", json!({})).await.data();
    assert_eq!(warnings(&mut program, 1).await.len(), 1);
    let mut later = Vec::new();
    while later.is_empty() {
        later = warnings(&mut program, 1).await;
    }
    assert!(later[0].starts_with("context is 7"), "{later:?}");
    let mut silent = Program::new().await;
    let policy = Policy {
        warn_at: Vec::new(),
        ..Policy::quipu()
    };
    silent.house.restart_contexts_with(policy, None);
    assert_eq!(warnings(&mut silent, 60).await, Vec::<String>::new());
    assert!(silent.look("stats").await.data()["compactions"].as_u64() > Some(0));
}

#[tokio::test]
async fn a_masked_result_contains_the_message_id_for_expand() {
    let program = Program::new().await;
    for at in 0..6 {
        let id = format!("c{at}");
        let result = format!(
            "step {at}\n{}",
            format!("the river at step {at} is slow\n").repeat(120)
        );
        let messages = json!([user(&format!("Walk {at}.")), walks(&id), walked(&id, &result)]);
        program.ask("append", json!({"messages": messages})).await.data();
    }
    program
        .ask("assemble", json!({"window_tokens": 8_192}))
        .await
        .data();
    let stats = program.look("stats").await.data();
    assert!(stats["masked_results"].as_u64() > Some(0), "{stats}");
    assert_eq!(
        (&stats["last_steps"][0]["effort"], &stats["summaries"]),
        (&json!("mask"), &json!(0))
    );
    let view = program.look("view").await.data();
    let messages = view["messages"].as_array().expect("messages");
    let stubs = messages.iter().filter_map(|shown| {
        shown["text"]
            .as_str()?
            .split_once("recover ")?
            .1
            .split(']')
            .next()
    });
    let stubs: Vec<&str> = stubs.collect();
    assert_eq!(stubs.first(), Some(&"m2"), "{view}");
    let expanded = program.ask("expand", json!({"id": "m2"})).await.data();
    let text = expanded["text"].as_str().expect("text");
    assert!(
        text.starts_with("[m2] tool: ") && text.matches("step 0 is slow").count() == 120,
        "{text}"
    );
}

#[tokio::test]
async fn a_picture_has_the_same_tokens_at_any_size_and_another_model_recounts() {
    let program = Program::new().await;
    let mut weights = Vec::new();
    for data in ["AAAA".to_owned(), "AAAA".repeat(4_000)] {
        let url = format!("data:image/png;base64,{data}");
        let picture = json!({"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]});
        program.ask("append", json!({"messages": [picture]})).await.data();
        let tokens = program.look("stats").await.data()["tokens"]
            .as_u64()
            .expect("tokens");
        weights.push(tokens - weights.iter().sum::<u64>());
    }
    assert!(weights[0] == weights[1] && weights[0] > 1_000, "{weights:?}");
    let words = "Donaudampfschifffahrtsgesellschaft 川の上に橋があります。 ".repeat(40);
    program
        .ask("append", json!({"messages": [user(&words)]}))
        .await
        .data();
    let tokens =
        async |model: &str| program.ask("assemble", json!({"model": model})).await.data()["tokens"].clone();
    let (first, other, again) = (
        tokens("gpt-4o").await,
        tokens("nobody-knows-it").await,
        tokens("gpt-4o").await,
    );
    assert_ne!(first, other);
    assert_eq!(first, again);
}
