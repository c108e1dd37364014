//! requests over the window, failures during a compaction, and messages during a compaction.

use context::guard::{Claims, ModelWindow};
use context::tokens::Meter;
use proxy::Refusal;
use testkit::backend::{CacheKind, Config, WINDOW_TOKENS};
use testkit::ledger::Fault;

use super::{body, named_request};
use crate::stage::{Client, Stage, extends, messages, read};

fn config() -> Config {
    Config {
        cache: CacheKind::Rewindable,
        ..Config::default()
    }
}

/// A note of about this many tokens.
fn note(number: usize, tokens: usize) -> String {
    format!(
        "Note {number}: {}",
        "the quick brown fox jumps over it. ".repeat(tokens / 8)
    )
}

/// Tokens of the last request, as the proxy counts them.
fn weight(stage: &Stage) -> usize {
    let meter = Meter::for_model("tiny");
    messages(&stage.last())
        .iter()
        .map(|message| meter.text(message))
        .sum()
}

fn posts(stage: &Stage) -> usize {
    let all = stage.backend.requests();
    all.iter().filter(|seen| seen.method == "POST").count()
}

#[tokio::test]
async fn x08_a_request_over_the_window_is_compacted_or_refused_and_never_sent() {
    let window = ModelWindow::resolve(&Claims {
        backend: Some(WINDOW_TOKENS),
        ..Claims::default()
    });
    assert_eq!(window.tokens, WINDOW_TOKENS);
    let stage = Stage::new(config()).await;
    let mut client = Client::new();
    let (mut compacted, mut refused) = (0, 0);
    for turn in 0..24 {
        let tokens = [1_000, 6_000, 3_000, 50_000][turn % 4];
        client.says(&note(turn, tokens));
        let before = posts(&stage);
        match stage.ask(client.request()).await {
            Ok(answer) => {
                let got = read(answer).await;
                stage.proxy.rest().await;
                assert_eq!(got.status, 200, "{}", got.text);
                client.hears(&got.text);
                assert!(weight(&stage) <= WINDOW_TOKENS, "turn {turn}: {}", weight(&stage));
                let sent = messages(&stage.last());
                compacted += usize::from(sent.iter().any(|text| text.contains("conversation_summary")));
                assert!(sent.last().expect("one").contains(&format!("Note {turn}:")));
            }
            Err(Refusal {
                status,
                code,
                message,
                ..
            }) => {
                assert_eq!((status, code), (400, "context_length_exceeded"));
                assert!(message.contains("current_request"), "{message}");
                assert_eq!(posts(&stage), before, "turn {turn} was sent");
                client.history.pop();
                refused += 1;
            }
        }
    }
    assert_eq!(refused, 6, "no note of 50,000 tokens fits");
    assert!(compacted > 6, "{compacted}");
}

#[tokio::test]
async fn x09_a_compaction_that_cannot_be_stored_loses_no_message() {
    for call in 1..8 {
        let mut stage = Stage::new(config()).await;
        let mut client = Client::new();
        let mut seen_summary = false;
        for turn in 0..10 {
            client.says(&note(turn, 5_000));
            if turn == 4 {
                // The fourth and fifth notes do not fit beside the reserves.
                stage.ledger.fail_call(call, Fault::Refused);
            }
            let got = stage.got(client.request()).await;
            assert_eq!(got.status, 200, "{}", got.text);
            client.hears(&got.text);
            assert!(weight(&stage) <= WINDOW_TOKENS);
            let sent = body(&stage.last()).to_string();
            seen_summary |= sent.contains("conversation_summary");
            if turn == 6 {
                stage.restart().await;
            }
            assert!(
                sent.contains(&format!("Note {turn}:")),
                "the newest turn is there"
            );
        }
        assert!(seen_summary, "call {call}");
        let said = stage.ledger.everything();
        for turn in [0, 1, 2, 3, 5, 6, 7, 8, 9] {
            let start = format!("Note {turn}:");
            assert!(
                said.iter().any(|(message, _)| message.text().starts_with(&start)),
                "call {call}: {start} is lost"
            );
        }
    }
}

#[tokio::test]
async fn x10_messages_during_a_compaction_survive_it() {
    let stage = Stage::new(config()).await;
    let mut client = Client::new();
    let mut turn = 0;
    // Up to the request before the compacted one.
    while weight_of(&client) < 22_000 {
        client.says(&note(turn, 5_000));
        let got = stage.got(named_request(&client, "talk")).await;
        client.hears(&got.text);
        turn += 1;
    }
    stage.backend.hold(true);
    let mut other = client.clone();
    client.says(&note(100, 5_000));
    let slow = stage
        .ask(named_request(&client, "talk"))
        .await
        .expect("an answer");
    assert!(
        body(&stage.last()).to_string().contains("conversation_summary"),
        "it is compacted"
    );
    stage.backend.hold(false);
    other.says("Meanwhile, from another window: the axolotl is called Tim.");
    let got = stage.got(named_request(&other, "talk")).await;
    assert_eq!(got.status, 200, "{}", got.text);
    stage.backend.release();
    let got = read(slow).await;
    stage.proxy.rest().await;
    client.hears(&got.text);
    client.says("What did I say last?");
    let got = stage.got(named_request(&client, "talk")).await;
    client.hears(&got.text);
    let said = stage.ledger.everything();
    for words in ["Note 100:", "Meanwhile, from another window"] {
        assert!(
            said.iter().any(|(message, _)| message.text().starts_with(words)),
            "{words}"
        );
    }
    let sent = messages(&stage.last());
    assert!(sent.iter().any(|text| text.contains("Note 100:")), "{sent:#?}");
    assert!(weight(&stage) <= WINDOW_TOKENS);
    client.says("And before that?");
    stage.got(named_request(&client, "talk")).await;
    assert!(
        extends(&sent, &messages(&stage.last())),
        "the prefix is warm again"
    );
}

fn weight_of(client: &Client) -> usize {
    let meter = Meter::for_model("tiny");
    client
        .history
        .iter()
        .map(|message| meter.text(&message.to_string()))
        .sum()
}
