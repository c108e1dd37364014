//! Which conversation a server is told to keep in which slot, and for how long.

use serde_json::Value;
use testkit::backend::CacheKind;

use crate::caches::{Line, server};
use crate::stage::Stage;

/// The slot that the next turn of a conversation names.
async fn slot(stage: &Stage, line: &mut Line) -> Option<u64> {
    line.says("And then?");
    line.goes_on(stage).await;
    let sent: Value = serde_json::from_slice(&stage.last().body).expect("JSON");
    sent["id_slot"].as_u64()
}

/// Planted: a slot that is kept for ever; one that is taken while its conversation goes on; one that two are told of.
#[tokio::test]
async fn a_slot_goes_to_another_once_its_conversation_was_quiet_for_long() {
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

/// Planted: another slot for the edited conversation, which would read all of it again; an empty slot for the one that was left.
#[tokio::test]
async fn a_conversation_that_leaves_another_half_way_goes_on_in_its_slot() {
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
