//! What a conversation's log holds, through restarts, failing stores, deletions, pins and forks.

use std::sync::Arc;

use context::budget::Budget;
use context::plan::Trigger;
use conversation::{Conversation, Standard, TurnError, TurnMeta};
use testkit::ledger::{Fault, MemoryLedger};
use transcript::{Item, ItemId};

use crate::common::{key, open, opening, owner, shown, talk, user};

#[tokio::test]
async fn i17_and_i28_what_was_compacted_is_recovered_after_a_restart() {
    let store = Arc::new(MemoryLedger::new());
    let conversation = open(opening(&store, Arc::new(Standard::default()))).await;
    talk(&conversation, 40).await;
    let attempts = conversation
        .compact(&Budget::view(2_000), Trigger::Auto)
        .await
        .unwrap();
    assert!(
        attempts.iter().any(|attempt| attempt.gain.is_some()),
        "{attempts:?}"
    );
    let before = shown(&conversation).await;
    let again = open(opening(&store, Arc::new(Standard::default()))).await;
    assert_eq!(shown(&again).await, before);
    let first = again.recover(ItemId(0)).await.unwrap();
    assert!(first.prose().starts_with("Question 0:"));
    assert!(!before.contains(&first), "it is not in the view");
    assert_eq!(again.find("QUESTION 17:", 5).await.unwrap(), vec![ItemId(34)]);
    assert!(matches!(
        again.recover(ItemId(900)).await,
        Err(TurnError::Unknown(_))
    ));
}

#[tokio::test]
async fn i19_a_forgotten_item_is_gone_and_says_so() {
    let store = Arc::new(MemoryLedger::new());
    let conversation = open(opening(&store, Arc::new(Standard::default()))).await;
    conversation
        .ingest(vec![user("We decided: the key is 7f3a9b.")], &TurnMeta::default())
        .await
        .unwrap();
    talk(&conversation, 40).await;
    conversation
        .compact(&Budget::view(2_000), Trigger::Auto)
        .await
        .unwrap();
    conversation.forget(ItemId(0)).await.unwrap();
    assert!(matches!(
        conversation.recover(ItemId(0)).await,
        Err(TurnError::Deleted(_))
    ));
    assert!(!format!("{:?}", shown(&conversation).await).contains("7f3a9b"));
    assert_eq!(conversation.find("7f3a9b", 5).await.unwrap(), vec![]);
}

#[tokio::test]
async fn pins_and_rewinds_bring_originals_back() {
    let store = Arc::new(MemoryLedger::new());
    let conversation = open(opening(&store, Arc::new(Standard::default()))).await;
    talk(&conversation, 40).await;
    conversation
        .compact(&Budget::view(2_000), Trigger::Auto)
        .await
        .unwrap();
    let first = conversation.recover(ItemId(0)).await.unwrap();
    conversation.pin(ItemId(0), true).await.unwrap();
    assert!(shown(&conversation).await.contains(&first));
    conversation.pin(ItemId(0), false).await.unwrap();
    assert!(!shown(&conversation).await.contains(&first));
    conversation.rewind(ItemId(4)).await.unwrap();
    assert_eq!(shown(&conversation).await.len(), 4);
    let ids = conversation
        .ingest(vec![user("again")], &TurnMeta::default())
        .await
        .unwrap();
    assert_eq!(ids, vec![ItemId(80)], "ids are never used again");
}

#[tokio::test]
async fn i28_a_store_that_fails_leaves_the_state_before() {
    for failing in 1..60 {
        let store = Arc::new(MemoryLedger::new());
        let conversation = open(opening(&store, Arc::new(Standard::default()))).await;
        store.fail_call(failing, Fault::Refused);
        let mut said = 0;
        for turn in 0..20 {
            let text = format!("{turn}: {}", "words without end ".repeat(20));
            said += usize::from(
                conversation
                    .ingest(vec![user(&text)], &TurnMeta::default())
                    .await
                    .is_ok(),
            );
            conversation
                .compact(&Budget::view(1_000), Trigger::Auto)
                .await
                .ok();
        }
        store.repair();
        let live = shown(&conversation).await;
        let again = open(opening(&store, Arc::new(Standard::default()))).await;
        assert_eq!(shown(&again).await, live, "call {failing} failed");
        assert_eq!(
            usize::try_from(again.inspect(context::session::Session::items).await).unwrap(),
            said
        );
    }
}

#[tokio::test]
async fn i28_an_answer_that_was_lost_writes_nothing_twice() {
    for failing in 1..60 {
        let store = Arc::new(MemoryLedger::new());
        let conversation = open(opening(&store, Arc::new(Standard::default()))).await;
        store.fail_call(failing, Fault::AnswerLost);
        for turn in 0..20 {
            let item = user(&format!("{turn}: {}", "words without end ".repeat(20)));
            while conversation
                .ingest(vec![item.clone()], &TurnMeta::default())
                .await
                .is_err()
            {}
            conversation
                .compact(&Budget::view(1_000), Trigger::Auto)
                .await
                .ok();
        }
        store.repair();
        let items = conversation.inspect(context::session::Session::items).await;
        assert_eq!(items, 20, "the answer to call {failing} was lost");
        for id in 0..20 {
            let item = conversation.recover(ItemId(id)).await.unwrap();
            assert!(item.prose().starts_with(&format!("{id}: ")));
        }
    }
}

#[tokio::test]
async fn i29_two_conversations_know_nothing_of_each_other() {
    let store = Arc::new(MemoryLedger::new());
    let one = open(opening(&store, Arc::new(Standard::default()))).await;
    let other = Conversation::open(
        opening(&store, Arc::new(Standard::default())),
        key("other"),
        owner(),
    )
    .await
    .unwrap();
    one.ingest(vec![user("apples")], &TurnMeta::default())
        .await
        .unwrap();
    other
        .ingest(vec![user("pears")], &TurnMeta::default())
        .await
        .unwrap();
    one.fork(&key("branch").session).await.unwrap();
    one.ingest(vec![user("plums")], &TurnMeta::default())
        .await
        .unwrap();
    let branch = Conversation::open(
        opening(&store, Arc::new(Standard::default())),
        key("branch"),
        owner(),
    )
    .await
    .unwrap();
    let told = |items: Vec<Arc<Item>>| items.iter().map(|item| item.prose()).collect::<Vec<_>>();
    assert_eq!(told(shown(&one).await), ["apples", "plums"]);
    assert_eq!(told(shown(&other).await), ["pears"]);
    assert_eq!(told(shown(&branch).await), ["apples"]);
}
