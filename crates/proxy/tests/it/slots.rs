//! The slot that a server is asked to use for a conversation, and how long the choice lasts.

use serde_json::{Value, json};
use testkit::backend::CacheKind;

use crate::caches::{Line, server};
use crate::stage::{Stage, request};

/// The slot that the next turn of a conversation names.
async fn slot(stage: &Stage, line: &mut Line) -> Option<u64> {
    line.says("And then?");
    line.goes_on(stage).await;
    let sent: Value = serde_json::from_slice(&stage.last().body).expect("JSON");
    sent["id_slot"].as_u64()
}

/// Planted: a slot that is kept for ever; a slot that is taken from an active conversation; a slot for two
/// conversations.
#[tokio::test]
async fn the_slot_of_a_long_idle_conversation_goes_to_another() {
    let stage = Stage::new(server(CacheKind::Rewindable, 2)).await;
    let [mut ann, mut bob, mut cyd] =
        ["Ann", "Bob", "Cyd"].map(|name| Line::new(&format!("You are {name}.")));
    assert_eq!(slot(&stage, &mut ann).await, Some(0));
    assert_eq!(slot(&stage, &mut bob).await, Some(1));
    for _ in 0..3 {
        assert_eq!(slot(&stage, &mut cyd).await, None, "there are two");
        assert_eq!(slot(&stage, &mut ann).await, Some(0), "each keeps its own");
        assert_eq!(slot(&stage, &mut bob).await, Some(1));
    }
    for _ in 0..8 {
        assert_eq!(slot(&stage, &mut bob).await, Some(1));
    }
    assert_eq!(slot(&stage, &mut cyd).await, Some(0), "Ann was quiet");
    assert_eq!(slot(&stage, &mut ann).await, None, "and has none any more");
    assert_eq!(slot(&stage, &mut cyd).await, Some(0));
}

/// Planted: another slot for the edited conversation, which would read all of its prompt again; an empty slot for the
/// original one.
#[tokio::test]
async fn a_branch_continues_in_the_slot_of_its_origin() {
    let stage = Stage::new(server(CacheKind::Rewindable, 4)).await;
    let mut first = Line::new("Be brief.");
    for _ in 0..6 {
        assert_eq!(slot(&stage, &mut first).await, Some(0));
    }
    let mut edited = first.clone();
    let said = edited
        .history
        .iter()
        .rposition(|message| message["role"] == "user");
    edited.history.truncate(said.expect("somebody spoke"));
    edited.says("And what else?");
    edited.goes_on(&stage).await;
    let seen = stage.last();
    let sent: Value = serde_json::from_slice(&seen.body).expect("JSON");
    assert_eq!(sent["id_slot"], 0);
    assert!(seen.cached_tokens > seen.evaluated_tokens, "{seen:?}");
    assert_eq!(slot(&stage, &mut edited).await, Some(0), "and stays there");
    assert_eq!(
        slot(&stage, &mut first).await,
        None,
        "the server finds what begins alike"
    );
    let seen = stage.last();
    assert!(seen.cached_tokens > seen.evaluated_tokens, "{seen:?}");
    assert_eq!(slot(&stage, &mut edited).await, Some(0));
}

/// Planted: a restart that forgets the slots. The first active conversation then gets another one's slot.
#[tokio::test]
async fn a_conversation_finds_its_slot_after_a_restart() {
    let mut stage = Stage::new(server(CacheKind::Rewindable, 2)).await;
    let [mut ann, mut bob] = ["Ann", "Bob"].map(|name| Line::new(&format!("You are {name}. ").repeat(40)));
    for _ in 0..2 {
        assert_eq!(slot(&stage, &mut ann).await, Some(0));
        assert_eq!(slot(&stage, &mut bob).await, Some(1));
    }
    stage.restart().await;
    for (line, its) in [(&mut bob, 1), (&mut ann, 0)] {
        assert_eq!(slot(&stage, line).await, Some(its));
        let seen = stage.last();
        assert!(seen.cached_tokens > 2 * seen.evaluated_tokens, "{seen:?}");
    }
}

/// Planted: a side call that takes the slot of its conversation.
#[tokio::test]
async fn a_side_call_leaves_a_conversation_its_slot() {
    let stage = Stage::new(server(CacheKind::Rewindable, 2)).await;
    let mut ann = Line::new("You are Ann.");
    assert_eq!(slot(&stage, &mut ann).await, Some(0));
    let title = json!({"model": "tiny", "max_tokens": 9, "messages": [
        {"role": "user", "content": "A title, please.\nUser: And then?\nAssistant: Nothing."},
    ]});
    assert_eq!(stage.got(request(&title)).await.conversation, None);
    let sent: Value = serde_json::from_slice(&stage.last().body).expect("JSON");
    assert_eq!(sent["id_slot"], 1);
    assert_eq!(slot(&stage, &mut ann).await, Some(0));
}

/// Planted: an extraction that names no slot, and an extraction in the slot of a conversation.
#[tokio::test]
async fn an_extraction_leaves_a_conversation_its_slot_and_names_none_before_a_conversation_has_one() {
    let stage = Stage::learning(server(CacheKind::Rewindable, 2)).await;
    let extractions = || -> Vec<Value> {
        let seen = stage.backend.requests().into_iter();
        let bodies = seen.filter_map(|seen| serde_json::from_slice::<Value>(&seen.body).ok());
        let extractions = bodies.filter(|body| body["model"] == "extractor");
        extractions.map(|body| body["id_slot"].clone()).collect()
    };
    stage.remember("before", "I live in Porto.").await;
    let before = extractions();
    assert!(
        !before.is_empty() && before.iter().all(Value::is_null),
        "{before:?}"
    );
    let mut ann = Line::new("You are Ann.");
    assert_eq!(slot(&stage, &mut ann).await, Some(0));
    stage.remember("after", "I live in Lisbon.").await;
    let after = extractions();
    assert!(after.len() > before.len());
    assert!(after[before.len()..].iter().all(|slot| *slot == 1), "{after:?}");
    let mut bob = Line::new("You are Bob.");
    assert_eq!(slot(&stage, &mut bob).await, Some(1));
    stage.remember("none is left", "I live in Faro.").await;
    assert_eq!(extractions().last(), Some(&Value::Null));
}
