//! What the seed's tests pin of the manager (CM), over one conversation.

use std::sync::Arc;

use context::budget::Budget;
use context::event::NodeId;
use context::guard::{Limits, Verdict};
use context::plan::Trigger;
use context::policy::Policy;
use context::tokens::Meter;
use conversation::manager::{CleanUp, Counters};
use conversation::{Conversation, Opening, Standard, TurnMeta};
use model::{Owner, OwnerKind};
use testkit::clock::ManualClock;
use testkit::ledger::{MemoryLedger, samples};
use transcript::{Item, Role};

async fn conversation(policy: Policy) -> Conversation {
    let opening = Opening {
        store: Arc::new(MemoryLedger::new()),
        clock: Arc::new(ManualClock::new()),
        chat: None,
        engine: Arc::new(Standard::default()),
        keeping: None,
        policy,
        meter: Meter::estimate(),
    };
    let owner = Owner {
        kind: OwnerKind::User,
        id: samples::name("ann"),
    };
    Conversation::open(opening, samples::session("app", "talk"), owner)
        .await
        .unwrap()
}

/// So many items of about 100 tokens each.
async fn talk(conversation: &Conversation, count: usize) {
    let item = |at: usize| {
        let role = if at.is_multiple_of(2) {
            Role::User
        } else {
            Role::Assistant
        };
        Item::text(
            role,
            format!(
                "{at}: {}",
                "the importer retries after a pause of some seconds. ".repeat(9)
            ),
        )
    };
    conversation
        .ingest((0..count).map(item).collect(), &TurnMeta::default())
        .await
        .unwrap();
}

#[tokio::test]
async fn cm_3_stats_tell_how_full_a_view_is() {
    let conversation = conversation(Policy::quipu()).await;
    let empty = conversation.stats(&Budget::view(1_000)).await;
    assert_eq!((empty.tokens, empty.is_near_limit), (0, false));
    talk(&conversation, 10).await;
    let tokens = conversation.stats(&Budget::view(1_000)).await.tokens;
    let at = |percent: usize| Budget::view(tokens * 100 / percent);
    let near = conversation.stats(&at(80)).await;
    assert!(near.is_near_limit && !near.is_critical);
    assert!(conversation.stats(&at(95)).await.is_critical);
}

#[tokio::test]
async fn cm_6_and_cm_19_nothing_happened_at_the_start() {
    let conversation = conversation(Policy::quipu()).await;
    assert_eq!(conversation.counters().await, Counters::default());
    assert!(
        conversation
            .counters()
            .await
            .to_text()
            .contains("last compaction: never")
    );
    assert!(conversation.last_result().await.is_none());
    assert!(conversation.archives().await.is_empty());
    assert!(conversation.recover_node(NodeId(0)).await.unwrap().is_none());
}

#[tokio::test]
async fn cm_7_each_threshold_warns_once() {
    let conversation = conversation(Policy::quipu()).await;
    talk(&conversation, 4).await;
    let tokens = conversation.stats(&Budget::view(1)).await.tokens;
    let budget = Budget::view(tokens * 10 / 6);
    let warning = conversation.warning(&budget).await.unwrap();
    assert!((warning.threshold.share - 0.5).abs() < f64::EPSILON);
    assert!(conversation.warning(&budget).await.is_none(), "it was told");
    conversation.clean_up().await;
    assert!(
        conversation.warning(&budget).await.is_some(),
        "a clean-up begins anew"
    );
    let silent = Policy {
        warn_at: Vec::new(),
        ..Policy::quipu()
    };
    let silent = self::conversation(silent).await;
    talk(&silent, 4).await;
    assert!(silent.warning(&Budget::view(10)).await.is_none());
}

#[tokio::test]
async fn cm_8_compaction_is_automatic_beyond_the_threshold_alone() {
    let conversation = conversation(Policy {
        compact_at_tokens: Some(300),
        ..Policy::quipu()
    })
    .await;
    talk(&conversation, 12).await;
    let wide = Budget::view(100_000);
    assert!(
        !conversation
            .compact(&wide, Trigger::Auto)
            .await
            .unwrap()
            .is_empty(),
        "the absolute threshold is passed"
    );
    let relaxed = self::conversation(Policy::quipu()).await;
    talk(&relaxed, 12).await;
    assert!(relaxed.compact(&wide, Trigger::Auto).await.unwrap().is_empty());
}

#[tokio::test]
async fn cm_17_and_cm_22_a_clean_up_lets_go_and_archives_give_everything_back() {
    let conversation = conversation(Policy::quipu()).await;
    assert_eq!(conversation.clean_up().await, CleanUp::default());
    talk(&conversation, 30).await;
    conversation
        .compact(&Budget::view(1_500), Trigger::Auto)
        .await
        .unwrap();
    assert!(conversation.last_result().await.is_some());
    let archives = conversation.archives().await;
    let items = conversation
        .recover_node(archives[0].node)
        .await
        .unwrap()
        .unwrap();
    assert!(items.len() >= 11 && items[0].prose().starts_with("0: "));
    let counters = conversation.counters().await;
    assert_eq!((counters.session.compactions, counters.session.nodes), (1, 1));
    assert!(!counters.to_text().contains("never"));
    let cleaned = conversation.clean_up().await;
    assert!(cleaned.results_removed > 0 && cleaned.tokens_freed > 0);
    assert!(conversation.last_result().await.is_none());
    assert_eq!(conversation.counters().await.session.compactions, 0);
    assert_eq!(
        conversation.archives().await,
        archives,
        "what was compacted can be had again all the same"
    );
}

#[tokio::test]
async fn the_guard_looks_at_what_is_left() {
    let conversation = conversation(Policy::quipu()).await;
    talk(&conversation, 40).await;
    let used = conversation.stats(&Budget::view(1)).await.tokens;
    let limits = Limits::quipu();
    assert_eq!(conversation.guard(&limits, 200_000).await.verdict, Verdict::Ok);
    assert_eq!(
        conversation.guard(&limits, used + 100).await.verdict,
        Verdict::Block
    );
}
