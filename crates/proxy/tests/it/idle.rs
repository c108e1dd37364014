//! Work between turns: compaction in advance, a summary by the conversation's own model, warming of the server.
//!
//! Owns: its effect on the cost of the next turn, and that a turn which arrives meanwhile wins. Never: choosing the
//! items that leave a view (`context`).

use std::sync::Arc;

use futures::FutureExt;
use model::{Name, Owner, Scope, SessionId};
use prefix::backend::Kind;
use prefix::shadow::Reason;
use proxy::conversation::Party;
use serde_json::{Value, json};
use testkit::backend::{CacheKind, Config, Fault, Reply, Seen, ToolCall};

use crate::caches::{BORDER, CACHES, Line, server};
use crate::stage::{Client, IDLE_AFTER, Stage, until};

const RECORD: &str = "The user counts towns and keeps goats in each.";

/// The server of `caches`, which also writes a record on request.
fn writer(cache: CacheKind) -> Config {
    let answers = server(cache, 1).reply;
    let reply = move |request: &Value, nth: usize| {
        let is_asked = last(request).contains("the conversation pauses here");
        if is_asked {
            Reply::text(RECORD)
        } else {
            answers(request, nth)
        }
    };
    Config {
        reply: Arc::new(reply),
        ..server(cache, 1)
    }
}

/// Text of the last message.
fn last(request: &Value) -> String {
    let messages = request["messages"].as_array();
    let last = messages.and_then(|messages| messages.last());
    last.map(|last| last["content"].to_string()).unwrap_or_default()
}

fn body(seen: &Seen) -> Value {
    serde_json::from_slice(&seen.body).expect("JSON")
}

/// The requests to the model so far.
fn posts(stage: &Stage) -> Vec<Seen> {
    let all = stage.backend.requests().into_iter();
    all.filter(|seen| seen.method == "POST").collect()
}

fn done(stage: &Stage) -> u64 {
    stage.proxy.gates().of(stage.backend.base_url()).stats().done
}

/// Adds turns until an idle compaction is due, and no compaction in a request.
async fn long_talk(stage: &Stage) -> Line {
    let mut line = Line::new("Be brief.");
    for turn in 0..30 {
        let text = format!(
            "Town {turn} has {} goats. {}",
            turn * 7,
            "It rained and rained there. ".repeat(24)
        );
        line.says(&text);
        line.goes_on(stage).await;
    }
    assert!(done(stage) == 0, "nothing is done while somebody talks");
    line
}

/// Lets the conversation become idle, and waits for the end of the work.
async fn becomes_idle(stage: &Stage) {
    stage.clock.sleeping(1).await;
    stage.clock.advance(IDLE_AFTER);
    until(|| done(stage) == 1).await;
}

#[tokio::test]
async fn a_turn_after_a_compaction_at_idle_costs_its_own_tokens() {
    for (name, cache, over) in CACHES {
        let stage = Stage::new(writer(cache)).await;
        let mut line = long_talk(&stage).await;
        let before = line.costs.last().expect("turns").prompt;
        becomes_idle(&stage).await;
        let posts = posts(&stage);
        let [.., asked, warmed] = &posts[..] else {
            panic!("two requests")
        };
        assert!(
            last(&body(asked)).contains("the conversation pauses here"),
            "{name}"
        );
        assert!(
            asked.evaluated_tokens < 1_200,
            "{name}: the talk before it was read already"
        );
        assert_eq!(body(warmed)["max_tokens"], 0, "{name}");
        assert!(
            warmed.prompt_tokens * 4 < before * 3,
            "{name}: {} of {before}",
            warmed.prompt_tokens
        );

        line.says("And which town comes next?");
        line.goes_on(&stage).await;
        let cost = line.costs.last().expect("a turn");
        let own = cost.prompt - warmed.prompt_tokens;
        assert!(
            own < 200 && cost.evaluated <= own + over,
            "{name}: {own}, {cost:?}"
        );
        let sent = body(&stage.last())["messages"].to_string();
        assert!(sent.contains(RECORD), "{name}: {sent}");
        assert!(
            sent.contains("Town 29")
                && !sent.contains("Town 1 has 7 goats. It rained and rained there. It rained"),
            "{name}"
        );
    }
}

#[tokio::test]
async fn an_epoch_that_began_at_idle_survives_a_restart_and_gives_the_next_turn_its_reason() {
    for restarts in [false, true] {
        let mut stage = Stage::new(writer(CacheKind::StrictExtension)).await;
        let mut line = long_talk(&stage).await;
        becomes_idle(&stage).await;
        let warmed = stage.last();
        if restarts {
            stage.restart().await;
        }
        line.says("And which town comes next?");
        line.goes_on(&stage).await;
        let cost = line.costs.last().expect("a turn");
        assert!(
            cost.evaluated <= cost.prompt - warmed.prompt_tokens + BORDER,
            "{cost:?}"
        );
        line.says("And then?");
        line.goes_on(&stage).await;
        let (_, turns) = stage.proxy.measures().newest(1).remove(0);
        let reasons: Vec<&[Reason]> = turns.iter().take(2).map(|turn| &turn.reasons[..]).collect();
        assert_eq!(reasons, [&[][..], &[Reason::Compaction]], "restarts: {restarts}");
    }
}

#[tokio::test]
async fn an_idle_conversation_is_compacted_after_a_restart_too() {
    let mut stage = Stage::new(writer(CacheKind::Rewindable)).await;
    let mut line = long_talk(&stage).await;
    stage.restart().await;
    // Advances the clock until the worker has looked at the disk.
    let before = posts(&stage).len();
    until(|| {
        let is_asked = posts(&stage).len() > before;
        if !is_asked {
            stage.clock.advance(IDLE_AFTER / 1_000);
        }
        is_asked
    })
    .await;
    until(|| done(&stage) == 1).await;
    let asked = posts(&stage).into_iter().rev().nth(1).expect("two requests");
    assert!(last(&body(&asked)).contains("the conversation pauses here"));
    line.says("And which town comes next?");
    line.goes_on(&stage).await;
    let sent = body(&stage.last())["messages"].to_string();
    assert!(
        sent.contains(RECORD),
        "the model's own summary stands in the view"
    );
}

/// After a restart, the server is probed before an idle conversation is examined.
#[tokio::test]
async fn a_probe_without_an_answer_does_not_block_the_conversation() {
    let mut stage = Stage::new(server(CacheKind::Rewindable, 1)).await;
    let mut client = Client::new();
    client.says("One.");
    let mut request = client.request();
    request.conversation = Some(SessionId::new("line"));
    stage.got(request).await;
    stage.restart().await;
    let before = stage.backend.requests().len();
    stage.backend.fail_next(Fault::Hang);
    until(|| {
        let is_asked = stage.backend.requests().len() > before;
        if !is_asked {
            stage.clock.advance(IDLE_AFTER / 1_000);
        }
        is_asked
    })
    .await;
    let party = Party {
        scope: Scope::default(),
        owner: Owner::user(Name::parse("ann").expect("a name")),
        conversation: Some(SessionId::new("line")),
        family: None,
    };
    let stats = stage.proxy.contexts().stats(&party, None).now_or_never();
    assert!(stats.expect("the conversation is free").is_ok());
}

#[tokio::test]
async fn a_turn_during_idle_work_wins() {
    let stage = Stage::new(writer(CacheKind::Rewindable)).await;
    let mut line = long_talk(&stage).await;
    let before = posts(&stage).len();
    stage.backend.fail_next(Fault::Hang);
    stage.clock.sleeping(1).await;
    stage.clock.advance(IDLE_AFTER);
    // The summary is requested, and does not arrive.
    until(|| posts(&stage).len() == before + 1).await;
    line.says("I am back.");
    line.goes_on(&stage).await;
    let cost = line.costs.last().expect("a turn");
    assert!(cost.evaluated < 200, "nothing was changed under it: {cost:?}");
    // The cancelled work does not resume until the conversation is idle again.
    until(|| done(&stage) == 1).await;
    assert_eq!(posts(&stage).len(), before + 2);
    stage.clock.sleeping(1).await;
    stage.clock.advance(IDLE_AFTER);
    until(|| done(&stage) == 2).await;
    assert_eq!(posts(&stage).len(), before + 4, "a summary and the warming");
    assert!(stage.last().prompt_tokens * 4 < cost.prompt * 3);
}

#[tokio::test]
async fn without_a_summary_the_rules_compact_and_a_user_message_warms_the_server() {
    let stage = Stage::new(writer(CacheKind::Rewindable)).await;
    let mut line = long_talk(&stage).await;
    for _ in 0..2 {
        stage.backend.fail_next(Fault::Status {
            code: 400,
            headers: Vec::new(),
            body: r#"{"error":{"message":"the last message must not be the assistant's"}}"#.to_owned(),
        });
    }
    becomes_idle(&stage).await;
    let warmed = stage.last();
    assert_eq!(
        body(&warmed)["messages"]
            .as_array()
            .expect("messages")
            .last()
            .expect("one")["content"],
        "."
    );
    line.says("And which town comes next?");
    line.goes_on(&stage).await;
    let cost = line.costs.last().expect("a turn");
    assert!(cost.evaluated < 200, "{cost:?}");
    assert!(cost.prompt < 16_000 && !body(&stage.last()).to_string().contains(RECORD));
}

/// A failing server or one with a too small window does not get the same request in another form.
#[tokio::test]
async fn a_warming_that_fails_for_another_reason_is_not_retried_in_another_form() {
    let too_long = r#"{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}}"#;
    for (code, said) in [(500, "the assistant broke"), (400, too_long)] {
        let stage = Stage::new(writer(CacheKind::Rewindable)).await;
        long_talk(&stage).await;
        let count = posts(&stage).len();
        for _ in 0..2 {
            stage.backend.fail_next(Fault::Status {
                code,
                headers: Vec::new(),
                body: said.to_owned(),
            });
        }
        stage.clock.sleeping(1).await;
        stage.clock.advance(IDLE_AFTER);
        let gate = stage.proxy.gates().of(stage.backend.base_url());
        until(|| gate.stats().failed == 1).await;
        assert_eq!(
            posts(&stage).len(),
            count + 2,
            "{code}: a summary and one warming"
        );
    }
}

#[tokio::test]
async fn a_hosted_server_gets_no_request_of_our_own() {
    let stage = Stage::new(Config {
        kind: Kind::OpenAi,
        ..server(CacheKind::Rewindable, 1)
    })
    .await;
    let mut line = Line::new("Be brief.");
    // It reports no window: the model's window is assumed, and an answer of this length leaves little of it.
    for turn in 0..20 {
        line.says(&format!(
            "Town {turn} has {} goats. {}",
            turn * 7,
            "7 3 9 1 ".repeat(490)
        ));
        line.goes_on(&stage).await;
    }
    let before = line.costs.last().expect("turns").prompt;
    let count = posts(&stage).len();
    stage.clock.sleeping(1).await;
    stage.clock.advance(IDLE_AFTER);
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    line.says("And which town comes next?");
    line.goes_on(&stage).await;
    assert_eq!(posts(&stage).len(), count + 1);
    let after = line.costs.last().expect("a turn").prompt;
    assert!(after * 4 < before * 3, "{after} of {before}");
}

#[tokio::test]
async fn a_conversation_that_awaits_a_tool_is_not_idle() {
    let stage = Stage::new(Config {
        reply: Arc::new(|request: &Value, nth| {
            if last(request).contains("work") {
                let arguments = "{}".to_owned();
                let (id, name) = (format!("call{nth}"), "ls".to_owned());
                Reply::calls([ToolCall { id, name, arguments }])
            } else {
                Reply::text("Yes.")
            }
        }),
        ..server(CacheKind::Rewindable, 1)
    })
    .await;
    let mut line = long_talk(&stage).await;
    line.says("Now work.");
    assert!(line.goes_on(&stage).await, "a tool is called");
    let count = posts(&stage).len();
    stage.clock.sleeping(1).await;
    stage.clock.advance(IDLE_AFTER * 3);
    line.goes_on(&stage).await;
    assert_eq!(posts(&stage).len(), count + 1);
    assert_eq!(line.history.last().expect("an answer")["content"], json!("Yes."));
}

/// If tool results weigh enough, stubs replace them, and there is no text to summarise. For digits, the proxy counts as
/// many tokens as this server does.
#[tokio::test]
async fn stubs_replace_large_results_without_a_summary() {
    let stage = Stage::new(writer(CacheKind::Rewindable)).await;
    let mut line = Line::new("Be brief.");
    for turn in 0..3 {
        line.says(&format!("Look at town {turn}, then work."));
        assert!(line.goes_on(&stage).await, "a tool is called");
        let result = line.history.last_mut().expect("its result");
        result["content"] = json!(format!("{}\n", "27".repeat(500)).repeat(5));
        line.goes_on(&stage).await;
    }
    for turn in 0..5 {
        line.says(&format!("Note {turn}: {}", "31".repeat(500)));
        line.goes_on(&stage).await;
    }
    let (before, count) = (line.costs.last().expect("turns").prompt, posts(&stage).len());
    becomes_idle(&stage).await;
    assert_eq!(posts(&stage).len(), count + 1, "the warming alone");
    let warmed = stage.last().prompt_tokens;
    assert!(warmed * 2 < before, "{warmed} of {before}");
}
