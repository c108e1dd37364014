//! O-1 to O-5: the content of system messages, and the place of the time.

use std::sync::atomic::Ordering;
use std::time::Duration;

use prefix::backend::Kind;
use serde_json::json;
use testkit::backend::Config;

use super::{of_role, strict};
use crate::stage::{Client, Stage, extends, messages};

/// A client whose instructions are two messages.
fn instructed() -> Client {
    let mut client = Client::new();
    client
        .history
        .push(json!({"role": "system", "content": "The project is about goats."}));
    client
}

const INSTRUCTIONS: &str = "Be brief.\n\nThe project is about goats.";

#[tokio::test]
async fn o01_the_system_text_stays_while_clock_history_memory_and_process_change() {
    let mut stage = Stage::new(strict()).await;
    let mut client = instructed();
    let mut last = Vec::new();
    for turn in 0..6 {
        let fact = format!("Person{turn} moved to town{turn} and keeps goats{turn}.");
        stage.remember(&format!("s{turn}"), &fact).await;
        stage.clock.advance(Duration::from_hours(25));
        if turn == 3 {
            stage.restart().await;
        }
        let question = format!("Does person{turn} in town{turn} have goats{turn}?");
        let got = client.turn(&stage, &question).await;
        assert!(got.injected.is_some_and(|injected| !injected.memories.is_empty()));
        let seen = stage.last();
        assert_eq!(of_role(&seen, "system").join("\n\n"), INSTRUCTIONS);
        let sent = messages(&seen);
        assert!(last.is_empty() || extends(&last, &sent), "{last:#?}\n{sent:#?}");
        assert!(turn == 0 || seen.cached_tokens > 0, "turn {turn}");
        last = sent;
    }
}

#[tokio::test]
async fn o02_the_system_text_is_only_the_clients() {
    let stage = Stage::new(strict()).await;
    stage.remember("earlier", "My sister Clara breeds goats.").await;
    let mut client = instructed();
    let got = client.turn(&stage, "Does my sister Clara breed goats?").await;
    assert!(got.injected.is_some());
    let sent = messages(&stage.last());
    let own: Vec<String> = client.history[..2].iter().map(ToString::to_string).collect();
    assert_eq!(sent[..2], own, "byte for byte");
    assert_eq!(
        of_role(&stage.last(), "system"),
        ["Be brief.", "The project is about goats."]
    );
}

#[tokio::test]
async fn o03_the_time_stands_in_the_persons_turn_and_in_no_system_message() {
    let stage = Stage::new(strict()).await;
    let mut client = instructed();
    for day in 2..8 {
        client.turn(&stage, "What day is it?").await;
        let date = format!("2026-03-{day:02}");
        let users = of_role(&stage.last(), "user");
        assert!(users.last().expect("one").contains(&date), "{users:?}");
        assert_eq!(users.iter().filter(|text| text.contains(&date)).count(), 1);
        let system = of_role(&stage.last(), "system").concat();
        assert!(!system.contains("2026") && !system.contains("quipu"), "{system}");
        stage.clock.advance(Duration::from_hours(24));
    }
}

#[tokio::test]
async fn o04_new_instructions_are_sent_at_once() {
    let stage = Stage::new(strict()).await;
    let mut client = instructed();
    let id = client.turn(&stage, "Hello").await.conversation;
    client.turn(&stage, "Hello again").await;
    client.history[1]["content"] = json!("The project is about trains now.");
    let got = client.turn(&stage, "And now?").await;
    assert_eq!(got.conversation, id, "it is the same conversation");
    let system = of_role(&stage.last(), "system");
    assert_eq!(system, ["Be brief.", "The project is about trains now."]);
    client.turn(&stage, "Still?").await;
    assert_eq!(of_role(&stage.last(), "system"), system);
}

#[tokio::test]
async fn o05_the_time_has_a_label_in_a_users_message() {
    let stage = Stage::new(strict()).await;
    Client::new().turn(&stage, "What day is it?").await;
    assert_eq!(
        of_role(&stage.last(), "user"),
        ["What day is it?\n\n<quipu-time>Current date and time: 2026-03-02 09:00</quipu-time>"]
    );
}

#[tokio::test]
async fn the_operators_instructions_follow_the_clients_and_change_with_an_epoch() {
    let mut stage = Stage::new(strict()).await;
    let set = |stage: &Stage, text: &str| text.clone_into(&mut stage.sheet.0.lock().expect("unpoisoned"));
    set(&stage, "Answer in verse.");
    let mut client = instructed();
    let mut last = Vec::new();
    for turn in 0..4 {
        if turn == 2 {
            set(&stage, "Answer in prose.");
            stage.restart().await;
        }
        client.turn(&stage, "Are there goats?").await;
        let system = of_role(&stage.last(), "system");
        let expected = "The project is about goats.\n\nAnswer in verse.";
        assert_eq!(system, ["Be brief.", expected], "turn {turn}");
        let sent = messages(&stage.last());
        assert!(last.is_empty() || extends(&last, &sent));
        last = sent;
    }
    let reads = || stage.sheet.1.load(Ordering::SeqCst);
    assert_eq!(reads(), 1, "files are read when an epoch begins");
    client.history[0]["content"] = json!("Be long.");
    client.turn(&stage, "Still?").await;
    assert_eq!(reads(), 2);
    let expected = "The project is about goats.\n\nAnswer in prose.";
    assert_eq!(of_role(&stage.last(), "system"), ["Be long.", expected]);
}

#[tokio::test]
async fn new_instructions_of_the_operator_are_sent_once_the_servers_cache_has_expired() {
    for (kind, minutes, is_sent) in [
        (Kind::OpenAi, 4, false),
        (Kind::OpenAi, 6, true),
        (Kind::LlamaCpp, 60, false),
    ] {
        let stage = Stage::new(Config {
            kind,
            ..Config::default()
        })
        .await;
        let set = |text: &str| text.clone_into(&mut stage.sheet.0.lock().expect("unpoisoned"));
        set("Answer in verse.");
        let mut client = Client::new();
        client.turn(&stage, "Hello").await;
        let idle = Duration::from_mins(minutes);
        stage.clock.advance(idle);
        client.turn(&stage, "Hello again").await;
        assert_eq!(
            of_role(&stage.last(), "system"),
            ["Be brief.\n\nAnswer in verse."],
            "nothing has changed"
        );
        let before = messages(&stage.last());
        set("Answer in prose.");
        stage.clock.advance(idle);
        client.turn(&stage, "And now?").await;
        let sent = messages(&stage.last());
        let text = if is_sent {
            "Be brief.\n\nAnswer in prose."
        } else {
            "Be brief.\n\nAnswer in verse."
        };
        assert_eq!(of_role(&stage.last(), "system"), [text], "{kind:?} {minutes}");
        assert!(extends(&before[1..], &sent[1..]), "the messages stay");
        client.turn(&stage, "Still?").await;
        assert!(extends(&sent, &messages(&stage.last())));
    }
}

#[tokio::test]
async fn instructions_are_bounded_and_count_in_the_window() {
    let stage = Stage::new(strict()).await;
    let set = |text: &str| text.clone_into(&mut stage.sheet.0.lock().expect("unpoisoned"));
    // The longest question that still fits, in thousands of characters.
    let longest = async || {
        let (mut sent, mut refused) = (0, 400_usize);
        while refused - sent > 4 {
            let thousands = usize::midpoint(sent, refused);
            let mut client = Client::new();
            client.says(&"goats ".repeat(thousands * 1_000 / 6));
            if stage.ask(client.request()).await.is_ok() {
                sent = thousands;
            } else {
                refused = thousands;
            }
        }
        sent
    };
    let without = longest().await;
    set(&"Answer in verse. ".repeat(2_000));
    let with = longest().await;
    assert!(with + 15 < without, "{with} {without}");
    Client::new().turn(&stage, "Are there goats?").await;
    let system = of_role(&stage.last(), "system").concat();
    assert_eq!(system.len(), "Be brief.\n\n".len() + 20_000);
}
