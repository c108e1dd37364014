//! Commands next to a running server: they work through it and print the same as without it.

use serde_json::json;

use crate::harness::{Ran, Root};

const TALK: &str = r#"{"role": "user", "sender_id": "ana", "session_id": "s1", "timestamp": "2024-03-04T09:00:00Z", "content": "I adopted a parrot named Kiko last week."}
{"role": "assistant", "session_id": "s1", "timestamp": "2024-03-04T09:00:30Z", "content": "Kiko is a lovely name for a parrot!"}
{"role": "user", "sender_id": "ana", "session_id": "s2", "timestamp": "2024-06-10T18:00:00Z", "content": "I live in Berlin and work as a nurse."}
"#;

/// Commands that change nothing, with their output on both streams.
fn outputs(root: &Root) -> Vec<(String, Ran)> {
    let search = [
        "search",
        "the parrot's name",
        "--user",
        "ana",
        "--asked-at",
        "2025-02-01",
    ];
    let all: [&[&str]; 13] = [
        &search,
        &[&search[..], &["--explain", "--messages", "3", "--json"]].concat(),
        &["search", "nothing of the kind", "--user", "bob"],
        &["search", "x", "--user", "a/b"],
        &["search", "x", "--session", ""],
        &["get", "--user", "ana"],
        &["get", "--user", "ana", "--kind", "fact", "--json"],
        &["get", "ep_20240304_none", "--user", "ana"],
        &["status"],
        &["--json", "status", "--tasks"],
        &["sync"],
        &["runs", "retry"],
        &["runs", "retry", "none"],
    ];
    all.iter()
        .map(|arguments| (arguments.join(" "), root.run(arguments)))
        .collect()
}

#[test]
fn every_command_prints_the_same_next_to_a_server() {
    let root = Root::new();
    let file = root.write_outside("talk.jsonl", TALK);
    let file = file.to_str().unwrap();
    root.json(&["import", file]);
    let alone = outputs(&root);
    let server = root.serve();
    for ((command, alone), (_, beside)) in alone.into_iter().zip(outputs(&root)) {
        assert_eq!(beside, alone, "{command}");
    }

    // The same for commands that change something.
    assert_eq!(root.json(&["import", file])["new_messages"], 0);
    let added = root.json(&[
        "add",
        "--user",
        "ana",
        "--id",
        "mine",
        "The violin is out of tune",
        "--flush",
    ]);
    assert_eq!(
        (&added["status"], &added["duplicate"]),
        (&json!("extracted"), &json!(false))
    );
    let again = root.json(&[
        "add",
        "--user",
        "ana",
        "--id",
        "mine",
        "The violin is out of tune",
    ]);
    assert_eq!(
        (&again["message_id"], &again["duplicate"]),
        (&added["message_id"], &json!(true))
    );
    let found = root.json(&["search", "violin", "--user", "ana"]);
    let violin = found["episodes"][0]["id"].as_str().unwrap().to_owned();
    assert!(root.run(&["get", &violin]).stdout.contains("out of tune"));
    let rebuilt = root.json(&["rebuild"]);
    assert!(rebuilt["files"].as_u64().unwrap() >= 4, "{rebuilt}");
    let forgot = root.json(&["forget", "--user", "ana", &violin, "--yes"]);
    assert_eq!(
        (&forgot["messages"], &forgot["missing"]),
        (&json!(1), &json!([])),
        "{forgot}"
    );
    let ran = root.run(&["forget", "--user", "ana", &violin, "--yes"]);
    assert_eq!(
        (ran.code, ran.stdout.contains("not found")),
        (4, true),
        "{}",
        ran.stdout
    );
    let forgot = root.json(&["forget", "--user", "ana", "--session", "s1", "--yes"]);
    assert_eq!(forgot["messages"], 2, "{forgot}");
    assert!(
        root.markdown()
            .iter()
            .all(|(_, text)| !text.contains("Kiko") && !text.contains("violin"))
    );
    let (status, answer) = server.get("/health");
    assert_eq!((status, &answer["status"]), (200, &json!("ok")), "{answer}");
}

#[test]
fn a_killed_server_misleads_no_command() {
    let root = Root::new();
    let server = root.serve();
    root.json(&["add", "--user", "ana", "Beside the server"]);
    server.kill();
    assert!(
        root.path().join("serving.addr").exists(),
        "it had no time to tidy up"
    );
    root.json(&["add", "--user", "ana", "After the server"]);
    assert!(!root.path().join("serving.addr").exists());
    let found = root.json(&["search", "server", "--user", "ana", "--messages", "9"]);
    assert_eq!(found["messages"].as_array().unwrap().len(), 2, "{found}");
}

#[test]
fn a_server_that_stops_removes_its_address_file() {
    let root = Root::new();
    let server = root.serve();
    assert!(root.path().join("serving.addr").exists());
    assert_eq!(server.stop(), 0);
    assert!(!root.path().join("serving.addr").exists());
}

#[test]
fn a_server_that_does_not_answer_is_reported_with_a_remedy() {
    let root = Root::new();
    let _server = root.serve();
    root.write("serving.addr", "127.0.0.1:9\n");
    let ran = root.run(&["search", "x"]);
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    assert!(
        ran.stderr.contains("no server answers at http://127.0.0.1:9"),
        "{}",
        ran.stderr
    );
    assert!(ran.stderr.contains("hint: "), "{}", ran.stderr);
    // A process that holds the root without an address file is reported as such.
    std::fs::remove_file(root.path().join("serving.addr")).unwrap();
    for command in [&["search", "x"][..], &["serve", "--listen", "127.0.0.1:0"]] {
        let ran = root.run(command);
        assert_eq!(ran.code, 3, "{}", ran.stderr);
        assert!(ran.stderr.contains("another quipu process"), "{}", ran.stderr);
    }
}

#[test]
fn a_command_next_to_a_server_needs_no_token() {
    let root = Root::new();
    let tokens = |all: &str| root.write("quipu.toml", &format!("[server]\ntokens = [{all}]\n"));
    tokens(r#"{ secret = "theirs", app = "shop", project = "eu" }"#);
    let server = root.serve();
    assert_eq!(server.get("/health").0, 401);
    for configured in [r#"{ secret = "another" }"#, ""] {
        tokens(configured);
        root.json(&["add", "--user", "ana", "Beside the server"]);
        root.json(&["sync"]);
    }
    // The key is useless once the server is gone.
    let key = std::fs::read_to_string(root.path().join("serving.key")).unwrap();
    assert_eq!(server.stop(), 0);
    assert!(!root.path().join("serving.key").exists());
    tokens(r#"{ secret = "theirs" }"#);
    let server = root.serve();
    assert_eq!(server.post_as(&key, "/api/v2/index/sync", &json!(null)).0, 401);
}

#[test]
fn commands_at_the_same_time_wait_for_each_other() {
    let root = Root::new();
    let running: Vec<_> = (0..6)
        .map(|n| root.start(&["add", "--user", "ana", &format!("Note number {n}")]))
        .collect();
    for mut one in running {
        assert!(one.wait().unwrap().success());
    }
    let found = root.json(&["search", "note number", "--user", "ana", "--messages", "9"]);
    assert_eq!(found["messages"].as_array().unwrap().len(), 6, "{found}");
}
