//! How wide a window is: who says so, and a server that says it by refusing.

use prefix::shadow::Reason;
use testkit::backend::{CacheKind, Config, Fault};

use crate::stage::{Client, Stage, messages};

/// A server that tells of a window, and takes no longer prompts than another.
fn server(tells: usize, takes: Option<usize>) -> Config {
    Config {
        cache: CacheKind::Rewindable,
        window_tokens: tells,
        prompt_tokens_max: takes,
        ..Config::default()
    }
}

/// About so many tokens, two bytes each: those of the server are bytes.
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
async fn a_conversation_goes_on_where_the_server_has_a_smaller_window_than_it_told() {
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
async fn what_the_server_says_of_a_prompt_that_cannot_be_shortened_is_the_answer() {
    let stage = Stage::new(server(1_000_000, Some(1_000))).await;
    let mut client = Client::new();
    client.says(&note(0, 4_000));
    let got = stage.got(client.request()).await;
    assert_eq!((got.status, posts(&stage)), (400, 1));
    assert!(got.text.contains(r#""n_ctx":1000"#), "{}", got.text);
}

#[tokio::test]
async fn a_prompt_that_is_refused_twice_is_not_sent_again() {
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
async fn a_configured_window_wins_over_what_the_server_tells() {
    let stage = Stage::with_window(server(1_000_000, None), 8_192).await;
    let mut client = Client::new();
    for turn in 0..30 {
        client.turn(&stage, &note(turn, 500)).await;
    }
    let sent = messages(&stage.last()).concat();
    assert!(sent.contains("conversation_summary") && sent.len() < 2 * 8_192);
}
