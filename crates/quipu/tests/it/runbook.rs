//! Rows of the runbook that no other test of the binary covers: each symptom is caused, and each action heals
//! it.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::{Root, Server};

/// Two minutes: a job that failed waits at most 90 s before its next try, and a busy machine is slow.
const LOOKS: usize = 1_200;
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

fn add(server: &Server, minute: i64, text: &str) {
    let message = json!({"sender_id": "ana", "role": "user", "timestamp": 1_700_000_000_000_i64 + minute * 60_000, "content": text});
    let (status, answer) = server.post(
        "/api/v2/memory/add",
        &json!({"session_id": "s", "messages": [message]}),
    );
    assert_eq!(status, 200, "{answer}");
}

fn flush(server: &Server, wait: bool) {
    let (status, answer) = server.post(
        &format!("/api/v2/memory/flush?wait={wait}"),
        &json!({"session_id": "s"}),
    );
    assert!(status < 300, "{answer}");
}

/// Waits until the health meets the condition.
fn health(server: &Server, what: &str, is_so: impl Fn(&Value) -> bool) -> Value {
    for _ in 0..LOOKS {
        let (_, health) = server.get("/health");
        if is_so(&health) {
            return health;
        }
        std::thread::sleep(BETWEEN_LOOKS);
    }
    panic!("{what}: {}", server.get("/health").1);
}

fn episodes(root: &Root) -> (PathBuf, String) {
    let mut files = root.markdown().into_iter();
    files
        .find(|(path, _)| path.to_string_lossy().contains("episodes"))
        .unwrap()
}

#[cfg(unix)]
#[test]
fn tasks_that_cannot_run_wait_for_the_file_and_resume_by_themselves() {
    let root = Root::new();
    let server = root.serve();
    add(&server, 0, "I keep bees.");
    flush(&server, true);
    let (path, _) = episodes(&root);
    let elsewhere = root.path().join("elsewhere.md");
    std::fs::rename(&path, &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &path).unwrap();
    add(&server, 10, "I sold the honey.");
    flush(&server, false);
    let red = health(&server, "a task is stuck", |health| health["tasks"]["stuck"] == 1);
    assert_eq!(red["status"], "degraded", "{red}");
    let ran = root.run(&["status"]);
    assert!(
        ran.code == 1 && ran.stdout.contains("1 task is blocked"),
        "{}",
        ran.stdout
    );
    let found = root.json(&["search", "honey", "--user", "ana", "--messages", "1"]);
    assert!(found.to_string().contains("sold"), "{found}");
    std::fs::rename(&elsewhere, &path).unwrap();
    health(&server, "it goes on", |health| {
        health["status"] == "ok" && health["tasks"]["queued"] == 0
    });
    assert!(episodes(&root).1.contains("honey"));
}

#[cfg(unix)]
#[test]
fn a_socket_in_place_of_a_memory_is_reported_until_it_is_gone() {
    let root = Root::new();
    root.json(&["add", "--user", "ana", "I keep bees.", "--flush"]);
    let socket = episodes(&root).0.with_file_name("2020-01-01.md");
    let listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    assert_eq!(root.run(&["sync"]).code, 1);
    let ran = root.run(&["status"]);
    assert!(
        ran.code == 1 && ran.stdout.contains("2020-01-01.md"),
        "{}",
        ran.stdout
    );
    drop(listener);
    std::fs::remove_file(&socket).unwrap();
    root.json(&["sync"]);
    assert_eq!(root.run(&["status"]).code, 0);
}

#[test]
fn a_damaged_index_is_rebuilt_and_gives_the_same_answers() {
    let root = Root::new();
    root.json(&["add", "--user", "ana", "I keep bees.", "--flush"]);
    let before = root.json(&["search", "bees", "--user", "ana"]);
    for entry in std::fs::read_dir(root.path().join("index")).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            std::fs::write(path, "damaged").unwrap();
        }
    }
    let server = root.serve();
    health(&server, "it is built again", |health| health["status"] == "ok");
    assert_eq!(
        root.json(&["search", "bees", "--user", "ana"])["episodes"][0]["id"],
        before["episodes"][0]["id"]
    );
    assert_eq!(root.run(&["rebuild"]).code, 0);
}

#[test]
fn a_damaged_list_of_tokens_stops_the_start_until_it_is_gone() {
    let root = Root::new();
    let file = root.write("tokens.json", "{");
    let ran = root.run(&["serve", "--listen", "127.0.0.1:0"]);
    assert!(
        ran.code == 1 && ran.stderr.contains("tokens.json"),
        "{} {}",
        ran.code,
        ran.stderr
    );
    std::fs::remove_file(file).unwrap();
    assert_eq!(root.serve().stop(), 0);
}

#[test]
fn a_command_that_may_not_read_the_servers_key_reports_it() {
    let root = Root::new();
    root.write("quipu.toml", "[server]\ntokens = [{ secret = \"theirs\" }]\n");
    let server = root.serve();
    std::fs::remove_file(root.path().join("serving.key")).unwrap();
    let ran = root.run(&["search", "bees"]);
    assert!(
        ran.code == 1 && ran.stderr.contains("token"),
        "{} {}",
        ran.code,
        ran.stderr
    );
    assert!(ran.stderr.contains("as the user who runs it"), "{}", ran.stderr);
    assert_eq!(server.stop(), 0);
}
