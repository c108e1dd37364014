//! X-2, X-3 and X-13: the same bytes again, and a reason for each change.

use std::time::Duration;

use prefix::shadow::Reason;
use proxy::Request;
use serde_json::json;

use super::{named_request, strict};
use crate::stage::{Client, Stage, extends, messages, request};

/// A body with formatting that no serializer of ours produces.
fn odd(rest: &str) -> Request {
    let text = format!(
        r#"{{ "stream":false, "temperature" : 0.70,"x":{{"b":1E2,"a":null}}, "model":"tiny",
        "tools":[ {{"type":"function" , "function":{{"name":"ls","parameters":{{"z":1.0,"a":{{}}}}}}}} ],
        "messages":[ {{"content":"Be\u0020brief.","role":"system"}} , {{"role":"user","content":"Does Cl\u00e1ra breed goats\/kids?", "n" : -0.0}}{rest} ]}}"#
    );
    let mut asked = request(&json!({}));
    asked.body = text.into();
    asked.conversation = Some(model::SessionId::new("odd"));
    asked
}

#[tokio::test]
async fn x02_a_restart_changes_no_byte() {
    let mut stage = Stage::new(strict()).await;
    stage.remember("earlier", "Clára breeds goats and kids.").await;
    let got = stage.got(odd("")).await;
    assert!(got.injected.is_some_and(|injected| !injected.memories.is_empty()));
    let first = stage.last();
    for text in [
        r#""temperature":0.70"#,
        r#"{"b":1E2,"a":null}"#,
        r#""z":1.0,"a":{}"#,
        r"Cl\u00e1ra",
        r"goats\/kids",
        "\"n\" : -0.0",
    ] {
        let body = String::from_utf8_lossy(&first.body);
        assert!(body.contains(text), "{text} is missing in {body}");
    }
    stage
        .remember("meanwhile", "Clára breeds goats in Lisbon too.")
        .await;
    stage.clock.advance(Duration::from_hours(30));
    stage.restart().await;
    stage.got(odd("")).await;
    let again = stage.last();
    assert_eq!(
        String::from_utf8_lossy(&again.body),
        String::from_utf8_lossy(&first.body),
        "the same request, the same bytes"
    );
    stage.restart().await;
    stage
        .got(odd(
            r#",{"role":"assistant","content":"ok 2"},{"role":"user","content":"Good."}"#,
        ))
        .await;
    assert!(extends(&messages(&first), &messages(&stage.last())));
    assert!(stage.last().cached_tokens > 0, "and the server finds them");
}

#[tokio::test]
async fn x03_the_addition_to_a_turn_keeps_its_bytes() {
    let mut stage = Stage::new(strict()).await;
    let mut client = Client::new();
    let mut added: Vec<String> = Vec::new();
    for turn in 0..8 {
        let fact = format!("Person{turn} moved to town{turn} and keeps goats{turn}.");
        stage.remember(&format!("s{turn}"), &fact).await;
        if turn == 5 {
            stage.restart().await;
        }
        stage.clock.advance(Duration::from_hours(26));
        let question = format!("Does person{turn} in town{turn} have goats{turn}?");
        client.turn(&stage, &question).await;
        let sent = messages(&stage.last());
        for (at, before) in added.iter().enumerate() {
            assert_eq!(sent[1 + 2 * at], *before, "turn {at} in turn {turn}");
        }
        let newest = sent.last().expect("one");
        assert!(
            newest.contains(&fact) && newest.contains("quipu-time"),
            "{newest}"
        );
        added.push(newest.clone());
    }
}

#[tokio::test]
async fn x13_a_prefix_breaks_for_a_recorded_reason_and_for_all_changes_at_once() {
    let mut stage = Stage::new(strict()).await;
    let mut client = Client::new();
    client.stream = false;
    let mut tools = json!([]);
    let mut last: Vec<String> = Vec::new();
    let mut recorded = Vec::new();
    for turn in 0..8 {
        match turn {
            3 => {
                client.history[0]["content"] = json!("Be kind.");
                tools = json!([{"type": "function", "function": {"name": "ls"}}]);
            }
            5 => client.history.truncate(3),
            6 => stage.restart().await,
            _ => {}
        }
        client.says(&format!("Turn {turn}"));
        let mut asked = named_request(&client, "talk");
        let body = json!({"model": "tiny", "messages": client.history, "tools": tools});
        asked.body = body.to_string().into();
        let got = stage.got(asked).await;
        client.hears(&got.text);
        let sent = messages(&stage.last());
        let measured = stage.proxy.measures().conversation("default/default/ann/talk");
        let reasons = measured.first().expect("it is measured").reasons.clone();
        assert_eq!(
            turn > 0 && extends(&last, &sent),
            reasons.is_empty(),
            "turn {turn}: {reasons:?}"
        );
        last = sent;
        recorded.push(reasons);
    }
    assert_eq!(
        recorded,
        [
            vec![Reason::Opened],
            vec![],
            vec![],
            vec![Reason::SystemChanged, Reason::ToolsChanged],
            vec![],
            vec![Reason::Edited],
            vec![],
            vec![],
        ]
    );
}
