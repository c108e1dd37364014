//! Conversations that two requests begin at once, and conversations that leave memory.

use model::Name;
use ports::NewRecord;

use super::held::HELD_BYTES_MAX;
use super::*;
use crate::conversation::contexts::Contexts;
use crate::conversation::decide::Decided;
use crate::conversation::stage::{assembled, chat_message, parts, party};

/// Large enough for all messages.
const WINDOW: usize = 4_000_000;

fn messages(decided: &Decided) -> Vec<String> {
    let sent = decided.composed.messages.iter();
    sent.map(|sent| sent.bytes.clone()).collect()
}

#[tokio::test]
async fn two_requests_that_begin_a_conversation_at_once_share_it() {
    let contexts = Contexts::new(parts());
    let (store, party) = (contexts.store(), party("line"));
    let made = || store.make(&party, party.session(&SessionId::new("line")), Dialect::OpenAi);
    // Both requests have searched, and found nothing.
    let (first, second) = (made(), made());
    let (first, second) = (store.hold(first), store.hold(second));
    assert!(Arc::ptr_eq(&first, &second));
    drop((first, second));
    let (one, two) = ([chat_message("user", "One.")], [chat_message("user", "Two.")]);
    let (one, two) = tokio::join!(
        contexts.append(&party, Dialect::OpenAi, &one),
        contexts.append(&party, Dialect::OpenAi, &two),
    );
    assert_ne!(one.expect("it lands"), two.expect("it lands"));
}

#[tokio::test]
async fn a_conversation_that_left_memory_goes_on_with_the_same_prefix() {
    let contexts = Contexts::new(parts());
    let store = contexts.store();
    let long = "a bridge over a slow river ".repeat(40_000);
    let append = async |name: &str| {
        let message = [chat_message("user", &long)];
        let appended = contexts.append(&party(name), Dialect::OpenAi, &message).await;
        appended.expect("it is on disk");
        assert!(
            store.held.lock().bytes <= HELD_BYTES_MAX,
            "{}",
            store.held.lock().bytes
        );
    };
    append("first").await;
    let before = messages(&assembled(&contexts, &party("first"), WINDOW).await);
    let reply = chat_message("assistant", "Noted.");
    let after = contexts
        .after_turn(&party("first"), Dialect::OpenAi, &reply, None, true)
        .await;
    drop(after.expect("it is recorded"));
    let id = identity(
        &Scope::default(),
        &party("first").session(&SessionId::new("first")),
    );
    let in_memory = || {
        store
            .known(&id)
            .is_some_and(|(conversation, _)| conversation.is_some())
    };
    assert!(in_memory());
    for other in 0..12 {
        append(&format!("other{other}")).await;
    }
    assert!(!in_memory(), "the longest unused has left");
    assert!(store.known(&id).is_some(), "and is known");
    let next = [chat_message("user", "And now?")];
    let appended = contexts.append(&party("first"), Dialect::OpenAi, &next).await;
    appended.expect("it is read again");
    let decided = assembled(&contexts, &party("first"), WINDOW).await;
    let now = messages(&decided);
    assert_eq!(now[..before.len()], before[..]);
    assert_eq!(now[before.len()..], [reply, next[0].clone()]);
    assert_eq!(decided.reasons, [], "the server has read all of it");
    assert!(store.held.lock().bytes <= HELD_BYTES_MAX);
}

/// The tenant's last names in order all belong to another owner.
#[tokio::test]
async fn a_list_names_an_owners_conversations_however_many_others_there_are() {
    let contexts = Contexts::new(parts());
    let store = contexts.store();
    let begin = async |owner: &str, session: String| {
        let owner = Owner::user(Name::parse(owner).expect("a name"));
        let key = SessionKey::new(Scope::default(), SessionId::new(session));
        let record = NewRecord {
            item: None,
            text: String::new(),
            body: log::write(&Logged::Taken { count: 0 }),
        };
        let kept = store.logs.append(&key, &owner, 0, None, vec![record]).await;
        kept.expect("kept");
    };
    for name in ["ann/a", "ann/b", "px-0192-ab"] {
        begin("ann", name.to_owned()).await;
    }
    begin("bob", "px-0193-cd".to_owned()).await;
    for at in 0..10_000 {
        begin("bob", format!("bob/{at}")).await;
    }
    let list = async |limit| contexts.list(&party("a"), limit).await.expect("a list");
    assert_eq!(list(10).await, ["px-0192-ab", "b", "a"]);
    assert_eq!(list(2).await, ["px-0192-ab", "b"]);
}
