//! O-6, O-7 and: memory's calls to a server that a client uses, over real HTTP and through the gate.

use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use memory::Flush;
use model::{Scope, SessionId, SessionKey};
use proxy::gate::{EXPIRIES_MAX, Gate, MAX_WAIT};
use serde_json::{Value, json};
use testkit::backend::{Config, Fault, Reply, Seen};

use super::{body, named_request};
use crate::stage::{Client, Stage, read, until};

/// The state of the gate at each request to the server.
#[derive(Default)]
struct Witness {
    gate: OnceLock<Gate>,
    /// For each request: whether it is an extraction, the number of streams, whether a job ran.
    seen: Mutex<Vec<(bool, usize, bool)>>,
}

fn extracts(request: &Value) -> bool {
    request["model"] == "extractor"
}

/// An answer to extraction: one part with all messages, and no fact.
fn extraction(request: &Value) -> Reply {
    if request["response_format"]["json_schema"]["name"] == "facts" {
        return Reply::text(json!({"facts": []}).to_string());
    }
    let asked = request["messages"][1]["content"].as_str().expect("text");
    let (_, last) = asked
        .rsplit_once("\"last\": ")
        .expect("the range of the last part");
    let digits = last.find(|c: char| !c.is_ascii_digit()).unwrap_or(last.len());
    let last: usize = last[..digits].parse().expect("a number");
    let part = json!({"last": last, "title": "A talk", "summary": "A talk."});
    Reply::text(json!({"parts": [part]}).to_string())
}

fn config(witness: &Arc<Witness>) -> Config {
    let witness = Arc::clone(witness);
    let reply = move |request: &Value, nth: usize| {
        if let Some(gate) = witness.gate.get() {
            let stats = gate.stats();
            let mut seen = witness.seen.lock().expect("no panic under it");
            seen.push((extracts(request), stats.foreground, stats.running));
        }
        if extracts(request) {
            extraction(request)
        } else {
            Reply::text(format!("ok {nth}"))
        }
    };
    Config {
        reply: Arc::new(reply),
        ..Config::default()
    }
}

/// A stage that learns, its witness, and the gate of its server.
async fn stage() -> (Stage, Arc<Witness>, Gate) {
    let witness = Arc::<Witness>::default();
    let stage = Stage::learning(config(&witness)).await;
    let gate = stage.proxy.gates().of(stage.backend.base_url());
    witness.gate.set(gate.clone()).expect("once");
    (stage, witness, gate)
}

/// One turn of the conversation with this name.
async fn turn(stage: &Stage, name: &str, text: &str) -> Client {
    let mut client = Client::new();
    client.says(text);
    let got = stage.got(named_request(&client, name)).await;
    assert_eq!(got.status, 200, "{}", got.text);
    client.hears(&got.text);
    client
}

async fn flush(stage: &Stage, name: &str, wait: bool) {
    let flush = Flush {
        session: SessionKey::new(Scope::default(), SessionId::new(format!("ann/{name}"))),
        task: None,
        wait,
    };
    stage.engine.flush(flush).await.expect("it is taken");
}

fn extractions(stage: &Stage) -> Vec<Seen> {
    let mut all = stage.backend.requests();
    all.retain(|seen| seen.method == "POST" && extracts(&body(seen)));
    all
}

/// Lets every task run that waits neither for the clock nor for the test.
async fn settle() {
    for _ in 0..500 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn o06_extractions_wait_for_the_end_of_all_streams_and_then_run_one_after_the_other() {
    let (stage, witness, gate) = stage().await;
    for name in ["first", "second", "third"] {
        turn(&stage, name, &format!("I am in the {name} talk.")).await;
    }
    stage.backend.hold(true);
    let (mut one, mut other) = (Client::new(), Client::new());
    one.says("Tell me a story");
    other.says("Tell me another");
    let one = stage.ask(named_request(&one, "fourth")).await.expect("an answer");
    let other = stage
        .ask(named_request(&other, "fifth"))
        .await
        .expect("an answer");
    for name in ["first", "second", "third"] {
        flush(&stage, name, false).await;
    }
    settle().await;
    drop(one);
    settle().await;
    assert_eq!(gate.stats().foreground, 1, "the other one still streams");
    assert!(gate.stats().waiting > 0);
    assert_eq!(extractions(&stage).len(), 0);
    stage.backend.release();
    read(other).await;
    for name in ["first", "second", "third"] {
        flush(&stage, name, true).await;
    }
    stage.engine.settle().await.expect("it is done");
    let texts: Vec<String> = extractions(&stage)
        .iter()
        .map(|seen| body(seen).to_string())
        .collect();
    let order = ["first", "second", "third"].map(|name| {
        texts
            .iter()
            .position(|text| text.contains(&format!("in the {name} talk")))
    });
    assert_eq!(order, [Some(0), Some(1), Some(2)]);
    let seen = witness.seen.lock().expect("no panic under it");
    let jobs = seen.iter().filter(|(extracts, ..)| *extracts);
    assert!(jobs.clone().count() >= 3);
    assert!(
        jobs.clone()
            .all(|(_, streams, running)| *streams == 0 && *running),
        "{seen:?}"
    );
}

#[tokio::test]
async fn o07_work_after_an_answer_passes_the_gate_once_for_its_own_session() {
    let (stage, _, gate) = stage().await;
    for (name, animal) in [("goats", "goat"), ("trains", "engine driver")] {
        for nth in 0..4 {
            turn(&stage, name, &format!("Number {nth}: I am a {animal} in {name}.")).await;
        }
    }
    assert_eq!(
        (extractions(&stage).len(), gate.stats().done),
        (0, 0),
        "nothing is due yet"
    );
    for (nth, (name, other)) in [("goats", "trains"), ("trains", "goats")].into_iter().enumerate() {
        flush(&stage, name, true).await;
        let all = extractions(&stage);
        assert_eq!(all.len(), nth + 1, "each once");
        assert!(gate.stats().done > nth as u64, "by the gate");
        let asked = body(&all[nth])["messages"].to_string();
        for number in 0..4 {
            assert!(asked.contains(&format!("Number {number}:")), "{asked}");
        }
        assert!(!asked.contains(&format!("in {other}")), "{asked}");
        let sent = body(&all[nth]);
        assert!(sent.get("session_id").is_none() && sent.get("cache_prompt").is_none());
    }
}

#[tokio::test]
async fn x04_a_turn_cancels_a_background_call_before_it_reaches_the_server() {
    let (stage, witness, gate) = stage().await;
    turn(&stage, "first", "I am a goat.").await;
    stage.backend.fail_next(Fault::Hang);
    let before = stage.backend.requests().len();
    flush(&stage, "first", false).await;
    stage.backend.arrived(before + 1).await;
    assert_eq!((extractions(&stage).len(), gate.stats().running), (1, true));
    turn(&stage, "second", "I do not wait for it.").await;
    assert_eq!(gate.stats().cancelled, 1);
    let seen = witness.seen.lock().expect("no panic under it").clone();
    let mine = seen.iter().rfind(|(extracts, ..)| !extracts);
    assert_eq!(mine, Some(&(false, 1, false)), "no job ran when the turn arrived");
    flush(&stage, "first", true).await;
    stage.engine.settle().await.expect("it is done");
    assert_eq!(gate.stats().done, 2, "and it was done later: parts and facts");
}

#[tokio::test]
async fn x05_an_overdue_call_is_put_off_then_dropped_and_never_runs_beside_a_stream() {
    let (stage, _, gate) = stage().await;
    turn(&stage, "first", "I am a goat.").await;
    // As long as a stream holds it, beyond the maximum silence of a stream.
    let stream = gate.foreground();
    flush(&stage, "first", false).await;
    settle().await;
    for round in 1..=EXPIRIES_MAX {
        assert_eq!(
            (gate.stats().waiting, gate.stats().dropped),
            (1, 0),
            "round {round}"
        );
        stage.clock.advance(MAX_WAIT);
        settle().await;
        assert_eq!(gate.stats().expired, u64::from(round));
    }
    assert_eq!(gate.stats().dropped, 1);
    assert_eq!(extractions(&stage).len(), 0);
    drop(stream);
    let kept = stage.ledger.everything();
    assert!(
        kept.iter().any(|(message, _)| message.text() == "I am a goat."),
        "not a word is lost"
    );
}

#[tokio::test]
async fn x06_a_shutdown_ends_in_its_bound_and_a_restart_makes_one_call_at_a_time() {
    let (mut stage, _, gate) = stage().await;
    for number in 0..12 {
        turn(
            &stage,
            &format!("talk{number}"),
            &format!("I am number {number}."),
        )
        .await;
    }
    stage.backend.hold(true);
    let mut client = Client::new();
    client.says("Tell me a long story");
    let held = stage.ask(client.request()).await.expect("an answer");
    for number in 0..12 {
        flush(&stage, &format!("talk{number}"), false).await;
    }
    settle().await;
    let bound = Duration::from_secs(1);
    stage.proxy.shutdown(bound).await;
    let stats = gate.stats();
    assert_eq!(
        (stats.waiting, stats.running),
        (0, false),
        "the clock has not moved: nothing waited"
    );
    drop(held);
    stage.backend.hold(false);
    stage.backend.fail_next(Fault::Hang);
    let before = stage.backend.requests().len();
    stage.restart().await;
    let gate = stage.proxy.gates().of(stage.backend.base_url());
    stage.clock.advance(Duration::from_hours(1));
    stage.backend.arrived(before + 1).await;
    settle().await;
    assert_eq!(extractions(&stage).len(), 1, "the others wait for it");
    assert!(gate.stats().running);
    stage.backend.release();
    stage.engine.settle().await.expect("it is done");
    let all = extractions(&stage);
    for number in 0..12 {
        let words = format!("I am number {number}.");
        assert!(
            all.iter().any(|seen| body(seen).to_string().contains(&words)),
            "{words}"
        );
    }
}

/// The handle stays alive, so that nothing ends by being dropped. Planted: the worker of idle conversations, the gates,
/// or the work after an answer does not end.
#[tokio::test]
async fn x06_a_shutdown_leaves_no_task_and_sends_no_more_requests() {
    let (stage, _, gate) = stage().await;
    turn(&stage, "first", "I am a goat.").await;
    turn(&stage, "second", "I am a parrot.").await;
    stage.backend.hold(true);
    let mut client = Client::new();
    client.says("Tell me a long story");
    let read_later = stage.ask(client.request()).await.expect("an answer");
    let gone = stage
        .ask(named_request(&client, "third"))
        .await
        .expect("an answer");
    flush(&stage, "first", false).await;
    drop(gone);
    settle().await;
    assert!(gate.stats().waiting > 0, "there is something to end");
    stage.proxy.shutdown(Duration::from_secs(1)).await;
    let asked = stage.backend.requests().len();
    stage.backend.release();
    read(read_later).await;
    flush(&stage, "second", false).await;
    stage.clock.advance(Duration::from_hours(1));
    settle().await;
    assert_eq!(stage.backend.requests().len(), asked);
    stage.engine.shutdown().await;
    let Stage { backend, proxy, .. } = stage;
    // The server's connections end here; the HTTP client's own tasks live as long as the client.
    drop(backend);
    let runtime = tokio::runtime::Handle::current();
    until(|| runtime.metrics().num_alive_tasks() <= 1).await;
    drop((proxy, gate));
    until(|| runtime.metrics().num_alive_tasks() == 0).await;
}

#[tokio::test]
async fn x07_a_failure_for_one_session_delays_no_other() {
    let (stage, _, gate) = stage().await;
    turn(&stage, "first", "My goat is called Tim.").await;
    turn(&stage, "second", "My parrot is called Kiko.").await;
    stage.backend.fail_next(Fault::Status {
        code: 401,
        headers: Vec::new(),
        body: "planted".to_owned(),
    });
    flush(&stage, "first", false).await;
    flush(&stage, "second", true).await;
    assert_eq!((gate.stats().failed, gate.stats().done), (1, 1));
    let told = extractions(&stage);
    assert!(told.iter().any(|seen| body(seen).to_string().contains("Kiko")));
    stage.engine.settle().await.expect("it is done");
    let files: String = stage
        .vault
        .paths()
        .iter()
        .filter_map(|path| stage.vault.bytes(path))
        .map(|bytes| String::from_utf8(bytes).expect("text"))
        .collect();
    assert!(files.contains("Tim") && files.contains("Kiko"), "{files}");
}
