//! Summaries contain the text that a listener wants preserved.

use async_trait::async_trait;

use super::*;
use crate::conversation::stage::{assembled, chat_message, parts, party};

/// A listener that wants a branch preserved.
#[derive(Debug)]
struct Notes;

#[async_trait]
impl Listener for Notes {
    async fn before(&self, compaction: &Compaction) -> Option<String> {
        Some(format!("Branch: main. Why: {}.", compaction.reason))
    }

    async fn after(&self, _: &Compaction) {}
}

#[tokio::test]
async fn a_summary_that_a_request_needs_contains_the_preserved_text_of_a_listener() {
    let mut parts = parts();
    parts.chosen.listener = Some(Arc::new(Notes));
    let (contexts, party) = (Contexts::new(parts), party("line"));
    for station in 0..40 {
        let long = format!("Station {station}: {}", "a bridge over a slow river, ".repeat(40));
        let message = [chat_message("user", &long)];
        let appended = contexts.append(&party, Dialect::OpenAi, &message).await;
        appended.expect("it is on disk");
        let decided = assembled(&contexts, &party, 4_096).await;
        let reply = contexts
            .after_turn(
                &party,
                Dialect::OpenAi,
                &chat_message("assistant", "Noted."),
                None,
                true,
            )
            .await;
        drop(reply.expect("it is recorded"));
        if decided.compaction.is_some() {
            let archives = contexts.archives(&party).await.expect("summaries");
            let told = "<preserved_context>\nBranch: main. Why: threshold.\n</preserved_context>";
            let texts: Vec<&str> = archives.iter().map(|archive| archive.text.as_str()).collect();
            assert_eq!(texts.concat().matches(told).count(), 1, "{texts:?}");
            return;
        }
    }
    panic!("so much does not fit");
}
