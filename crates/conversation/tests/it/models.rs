//! What a model is asked for: summaries, and facts of what is about to leave.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use context::budget::Budget;
use context::flush::{Destination, Unwritable};
use context::plan::Trigger;
use conversation::flush::Keeping;
use conversation::{Opening, Standard, TurnMeta};
use ports::{Chat, ChatError};
use testkit::ledger::MemoryLedger;
use testkit::models::ScriptedChat;

use crate::common::{open, opening, shown, talk, user};

#[tokio::test]
async fn a_model_summarises_and_what_comes_meanwhile_is_kept() {
    let store = Arc::new(MemoryLedger::new());
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let chat = ScriptedChat::answering(move |_| {
        counted.fetch_add(1, Ordering::SeqCst);
        Ok("They talked about retries of the importer.".to_owned())
    });
    let opening = Opening {
        chat: Some(Arc::new(chat) as Arc<dyn Chat>),
        ..opening(&store, Arc::new(Standard::default()))
    };
    let conversation = open(opening).await;
    talk(&conversation, 40).await;
    let budget = Budget::view(2_000);
    let meta = TurnMeta::default();
    let (attempts, more) = tokio::join!(
        conversation.compact(&budget, Trigger::Auto),
        conversation.ingest(vec![user("meanwhile")], &meta)
    );
    assert!(attempts.unwrap().iter().any(|attempt| attempt.gain.is_some()));
    more.unwrap();
    assert!(calls.load(Ordering::SeqCst) > 0);
    let view = shown(&conversation).await;
    assert!(
        view.iter()
            .any(|item| item.prose().contains("They talked about retries"))
    );
    assert_eq!(view.last().unwrap().prose(), "meanwhile");
}

/// A file of facts in memory.
#[derive(Debug, Default)]
struct Facts {
    text: String,
    broken: bool,
}

impl Destination for Facts {
    fn read(&self) -> Result<String, Unwritable> {
        if self.broken {
            Err(Unwritable)
        } else {
            Ok(self.text.clone())
        }
    }

    fn append(&mut self, section: &str) -> Result<String, Unwritable> {
        self.text.push_str(section);
        Ok("facts.md".to_owned())
    }
}

async fn flushed(chat: Option<Arc<dyn Chat>>, broken: bool) -> (String, bool) {
    let store = Arc::new(MemoryLedger::new());
    let place = Arc::new(Mutex::new(Facts {
        broken,
        ..Facts::default()
    }));
    let keeping = Keeping {
        policy: context::flush::Policy::default(),
        place: Arc::<Mutex<Facts>>::clone(&place),
    };
    let opening = Opening {
        chat,
        keeping: Some(keeping),
        ..opening(&store, Arc::new(Standard::default()))
    };
    let conversation = open(opening).await;
    let told = "We decided to keep the importer on SQLite because it needs no server at all.";
    conversation
        .ingest(vec![user(told)], &TurnMeta::default())
        .await
        .unwrap();
    talk(&conversation, 40).await;
    let attempts = conversation
        .compact(&Budget::view(2_000), Trigger::Auto)
        .await
        .unwrap();
    let compacted = attempts.iter().any(|attempt| attempt.gain.is_some());
    let text = place.lock().unwrap().text.clone();
    (text, compacted)
}

#[tokio::test]
async fn i35_facts_are_kept_once_before_the_stretch_leaves_and_a_failure_holds_nothing_up() {
    let (by_rules, compacted) = flushed(None, false).await;
    assert!(compacted && by_rules.contains("SQLite"), "{by_rules}");
    let chat = |answer: &str| {
        let answer = answer.to_owned();
        Some(Arc::new(ScriptedChat::answering(move |_| Ok(answer.clone()))) as Arc<dyn Chat>)
    };
    let (by_model, _) = flushed(chat("- The importer stays on SQLite."), false).await;
    assert_eq!(by_model.matches("- The importer stays on SQLite.").count(), 1);
    assert_eq!(flushed(chat("NO_REPLY"), false).await, (String::new(), true));
    assert_eq!(flushed(chat("- x"), true).await, (String::new(), true));
    let down = Arc::new(ScriptedChat::answering(|_| {
        Err(ChatError::Unavailable {
            reason: "down".to_owned(),
        })
    }));
    assert_eq!(flushed(Some(down), false).await, (String::new(), true));
}
