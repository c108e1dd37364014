//! Assertions of code-buddy's tests for its `ContextManagerV2`, through the routes.

use context::policy::Policy;
use serde_json::{Value, json};

use crate::contexts::{Program, user};

/// A program with code-buddy's preset and one message.
async fn program() -> Program {
    let mut program = Program::new().await;
    let policy = Policy::preset("codebuddy").expect("there is one");
    program.house.restart_contexts_with(policy, None);
    let messages = json!([user("Which bridge?")]);
    program.ask("append", json!({"messages": messages})).await.data();
    program
}

#[tokio::test]
async fn cm_6_cm_19_a_new_conversation_has_no_counts_and_no_compactions() {
    let program = program().await;
    let stats = program.look("stats").await.data();
    for count in [
        "summaries",
        "summaries_tokens",
        "messages_peak",
        "compactions",
        "saved_tokens",
        "warnings",
    ] {
        assert_eq!(stats[count], 0, "{count}: {stats}");
    }
    assert_eq!(
        (&stats["last_compaction"], &stats["last_steps"]),
        (&Value::Null, &json!([]))
    );
    assert_eq!(program.look("archives").await.data(), json!({"archives": []}));
    assert_eq!(program.look("recover?id=nonexistent").await.status, 404);
}

#[tokio::test]
async fn cm_7_cm_17_cm_22_a_warning_comes_once_and_every_cleanup_resets_it() {
    let mut program = program().await;
    let nothing = json!({"steps_removed": 0, "saved_tokens": 0});
    assert_eq!(program.ask("cleanup", json!({})).await.data(), nothing);
    let mut warning = Value::Null;
    while warning.is_null() {
        warning = program.turn(6).await["warning"].clone();
    }
    assert!(
        warning
            .as_str()
            .is_some_and(|text| text.starts_with("context is 5")),
        "at a half: {warning}"
    );
    assert_eq!(program.look("stats").await.data()["warnings"], 1);
    assert_eq!(program.turn(1).await["warning"], Value::Null, "it was said");
    while program.turn(40).await["compacted"] != true {}
    let before = program.look("stats").await.data();
    assert_ne!(before["last_steps"], json!([]));
    assert!(before["messages_peak"].as_u64() > Some(10), "{before}");
    let removed = program.ask("cleanup", json!({})).await.data();
    assert!(removed["saved_tokens"].as_u64() > Some(0), "{removed}");
    for _ in 0..3 {
        assert_eq!(program.ask("cleanup", json!({})).await.data(), nothing);
        let stats = program.look("stats").await.data();
        assert_eq!(
            (&stats["warnings"], &stats["last_steps"], &stats["messages_peak"]),
            (&json!(0), &json!([]), &json!(0)),
            "{stats}"
        );
    }
}
