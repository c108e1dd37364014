//! The width of a window: its sources, and a server that reveals it by a refusal.

use std::sync::Arc;
use std::time::Duration;

use model::{Name, Owner, Scope, SessionId};
use prefix::shadow::Reason;
use proxy::conversation::Party;
use serde_json::Value;
use testkit::backend::{CacheKind, Config, Fault, Reply};

use crate::stage::{Client, Stage, messages};

/// A server that reports one window, and refuses prompts longer than another.
fn server(tells: usize, takes: Option<usize>) -> Config {
    Config {
        cache: CacheKind::Rewindable,
        window_tokens: tells,
        prompt_tokens_max: takes,
        ..Config::default()
    }
}

/// About this many tokens, two bytes each: the server counts bytes.
fn note(at: usize, tokens: usize) -> String {
    format!("Note {at}: {}", "7 3 9 1 ".repeat(tokens / 4))
}

fn posts(stage: &Stage) -> usize {
    let all = stage.backend.requests();
    all.iter().filter(|seen| seen.method == "POST").count()
}

fn refusal(window: usize) -> Fault {
    Fault::Status {
        code: 400,
        headers: Vec::new(),
        body: format!(
            r#"{{"error":{{"type":"exceed_context_size_error","message":"no {window}","n_prompt_tokens":9000,"n_ctx":{window}}}}}"#
        ),
    }
}

#[tokio::test]
async fn a_conversation_continues_if_the_servers_window_is_smaller_than_reported() {
    let stage = Stage::new(server(1_000_000, Some(20_000))).await;
    let mut client = Client::new();
    let mut again = 0;
    for turn in 0..40 {
        let before = posts(&stage);
        let got = client.turn(&stage, &note(turn, 500)).await;
        let sent = posts(&stage) - before;
        assert!(sent <= 2, "once more and no further");
        if sent == 2 {
            again += 1;
            let id = format!("default/default/{}", got.conversation.expect("it is named"));
            let measured = stage.proxy.measures().conversation(&id);
            let last = measured.first().expect("one");
            assert!(last.reasons.contains(&Reason::Compaction), "{last:?}");
        }
    }
    assert!(
        (1..=3).contains(&again),
        "what it said is known from then on: {again}"
    );
    let sent = messages(&stage.last()).concat();
    assert!(sent.contains("conversation_summary"));
}

#[tokio::test]
async fn the_servers_error_about_a_prompt_that_cannot_be_shortened_is_the_answer() {
    let stage = Stage::new(server(1_000_000, Some(1_000))).await;
    let mut client = Client::new();
    client.says(&note(0, 4_000));
    let got = stage.got(client.request()).await;
    assert_eq!((got.status, posts(&stage)), (400, 1));
    assert!(got.text.contains(r#""n_ctx":1000"#), "{}", got.text);
}

#[tokio::test]
async fn a_prompt_refused_twice_is_not_sent_again() {
    let stage = Stage::new(server(1_000_000, None)).await;
    let mut client = Client::new();
    for turn in 0..30 {
        client.turn(&stage, &note(turn, 500)).await;
    }
    stage.backend.fail_next(refusal(8_192));
    stage.backend.fail_next(refusal(8_191));
    let before = posts(&stage);
    client.says("And now?");
    let got = stage.got(client.request()).await;
    assert_eq!((got.status, posts(&stage) - before), (400, 2));
    assert!(got.text.contains("no 8191"), "the last word: {}", got.text);
    assert_eq!(client.goes_on(&stage).await.status, 200);
    let sent = messages(&stage.last()).concat();
    assert!(sent.contains("conversation_summary") && sent.contains("And now?"));
}

#[tokio::test]
async fn a_configured_window_overrides_the_servers_report() {
    let stage = Stage::with_window(server(1_000_000, None), 8_192).await;
    let mut client = Client::new();
    for turn in 0..30 {
        client.turn(&stage, &note(turn, 500)).await;
    }
    let sent = messages(&stage.last()).concat();
    assert!(sent.contains("conversation_summary") && sent.len() < 2 * 8_192);
}

/// Additions to a turn are for that turn only: they appear in no summary and no search.
#[tokio::test]
async fn additions_to_a_turn_appear_in_no_summary_and_no_search() {
    let config = Config {
        reply: Arc::new(|_: &Value, nth| {
            Reply::text(format!("Station {nth}. {}", "A slow river. ".repeat(80)))
        }),
        ..Config::default()
    };
    let stage = Stage::with_window(config, 4_096).await;
    let mut client = Client::new();
    let party = Party {
        scope: Scope::default(),
        owner: Owner::user(Name::parse("ann").expect("a name")),
        conversation: Some(SessionId::new("line")),
        family: None,
    };
    let contexts = stage.proxy.contexts();
    for turn in 0..60 {
        client.says(&format!("Which station comes after number {turn}?"));
        let mut request = client.request();
        request.conversation.clone_from(&party.conversation);
        let got = stage.got(request).await;
        client.hears(&got.text);
        // The time is added to each turn.
        stage.clock.advance(Duration::from_hours(1));
        let archives = contexts.archives(&party).await.expect("summaries");
        let texts: Vec<&str> = archives.iter().map(|archive| archive.text.as_str()).collect();
        let texts = texts.concat();
        if texts.contains("Which station comes after number") {
            assert!(
                !texts.contains("quipu-time") && !texts.contains("Current date"),
                "{texts}"
            );
            let found = contexts.find(&party, "Current date and time", 10).await;
            assert_eq!(found.expect("a search"), []);
            return;
        }
    }
    panic!("so much does not fit");
}
