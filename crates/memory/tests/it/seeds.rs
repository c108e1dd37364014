//! `EverOS`' own tests of the lock of a session, with its messages and its times (seed 001).

use futures::future::join_all;
use model::Timestamp;
use ports::NewMessage;

use crate::concurrency::{add_all, check_accounted};
use crate::stage::{Stage, new_message, session};

/// A stage that cuts after each message, as the original's model, which always finds a boundary.
fn stage() -> Stage {
    let mut stage = Stage::default();
    stage.settings.messages_max = 1;
    stage
}

fn msg(session_id: &str, idx: i64, sender: &str, ts: i64) -> NewMessage {
    let text = format!("msg-{idx} from {sender}");
    let mut said = new_message(&session(session_id), sender, 0, &text);
    said.message.time = Timestamp::from_millis(ts);
    said
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_adds_same_session_no_message_loss() {
    let stage = stage();
    let engine = stage.open().await;
    let id = "s_concurrent";
    let batch_a = (0..4).map(|i| msg(id, i, "alice", 1_700_000_000_000 + i * 1_000));
    let batch_b = (0..4).map(|i| msg(id, i + 100, "bob", 1_700_000_100_000 + i * 1_000));
    add_all(&engine, &session(id), vec![batch_a.collect(), batch_b.collect()]).await;
    check_accounted(&stage, &session(id), 8).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_adds_serial_when_locked() {
    let stage = stage();
    let engine = stage.open().await;
    let id = "s_stress";
    let one = |b: i64, i: i64| {
        let n = b * 10 + i;
        msg(id, n, &format!("u{b}"), 1_700_000_000_000 + n * 1_000)
    };
    let batches = (0..4).map(|b| (0..3).map(|i| one(b, i)).collect());
    add_all(&engine, &session(id), batches.collect()).await;
    check_accounted(&stage, &session(id), 12).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn different_sessions_run_in_parallel() {
    let stage = stage();
    let engine = stage.open().await;
    let ids = ["s_a", "s_b", "s_c"];
    let keys = ids.map(session);
    let msgs = |sid: &str| {
        (0..3)
            .map(|i| msg(sid, i, sid, 1_700_000_000_000 + i * 1_000))
            .collect()
    };
    let adds = keys
        .iter()
        .zip(ids)
        .map(|(key, sid)| add_all(&engine, key, vec![msgs(sid)]));
    join_all(adds).await;
    for key in &keys {
        check_accounted(&stage, key, 3).await;
    }
}
