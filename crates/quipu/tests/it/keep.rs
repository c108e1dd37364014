//! A root that is backed up during writes and restored elsewhere; tokens that open it.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::harness::{Root, Server};

/// One sentence of Ana's; each ends the segment before it, so files are written all the time.
fn message(at: usize) -> Value {
    note("ana", at)
}

fn note(user: &str, at: usize) -> Value {
    json!({"session_id": format!("s{}", at % 3), "messages": [{
        "sender_id": user, "role": "user", "timestamp": 1_700_000_000_000_i64 + i64::try_from(at).unwrap() * 2_400_000,
        "content": format!("Note {at} is about hive quokka{at}."),
    }]})
}

fn texts(found: &Value) -> Vec<String> {
    let lists = ["episodes", "facts", "messages"].map(|list| found[list].as_array().unwrap().clone());
    let text = |hit: Value| format!("{} {}", hit["id"], hit["content"]);
    lists.concat().into_iter().map(text).collect()
}

fn search(root: &Root, query: &str) -> Value {
    root.json(&["search", "--user", "ana", "--messages", "20", "-k", "20", query])
}

#[test]
fn a_backup_under_load_loses_nothing_and_changes_no_answer() {
    let (root, away) = (Root::new(), Root::new());
    let server = root.serve();
    // Bob says nothing more: his answers must stay the same, including the order of their hits.
    for at in 0..30 {
        assert_eq!(server.post("/api/v2/memory/add", &note("bob", at)).0, 200);
    }
    for session in ["s0", "s1", "s2"] {
        let flush = json!({"session_id": session, "wait": true});
        assert_eq!(server.post("/api/v2/memory/flush", &flush).0, 200);
    }
    let queries = [
        "which hive is note 7 about?",
        "quokka21",
        "the hive of the twelfth note",
    ];
    let answers = |root: &Root| {
        queries
            .map(|query| texts(&root.json(&["search", "--user", "bob", "-k", "9", "--messages", "9", query])))
    };
    let before = answers(&root);
    let (stop, acknowledged) = (AtomicBool::new(false), AtomicUsize::new(0));
    let backups = tempfile::tempdir().unwrap();
    let folder = backups.path().join("monday");
    let until = std::thread::scope(|threads| {
        threads.spawn(|| {
            for at in 0.. {
                if stop.load(Ordering::Relaxed) {
                    break;
                }
                let other = json!({"session_id": "under-load", "messages": message(at)["messages"]});
                assert_eq!(server.post("/api/v2/memory/add", &other).0, 200);
                acknowledged.store(at + 1, Ordering::SeqCst);
            }
        });
        while acknowledged.load(Ordering::SeqCst) < 30 {
            std::thread::yield_now();
        }
        let until = acknowledged.load(Ordering::SeqCst);
        let ran = root.run(&["backup", folder.to_str().unwrap()]);
        let after = acknowledged.load(Ordering::SeqCst);
        stop.store(true, Ordering::Relaxed);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert!(after > until, "it wrote all the time: {until} and {after}");
        until
    });
    drop(server);
    let told = away.json(&["restore", folder.to_str().unwrap()]);
    assert_eq!(told["problems"], json!([]), "{told}");
    let there = away.serve();
    for at in 0..until {
        let query = format!("quokka{at}");
        let query = json!({"user_id": "ana", "query": query, "method": "keyword", "include_messages": 5});
        let (_, found) = there.post("/api/v2/memory/search", &query);
        let exact = format!("quokka{at}.");
        let messages = found["data"]["messages"].as_array().unwrap();
        let is_it = |message: &&Value| message["content"].as_str().unwrap().ends_with(&exact);
        assert_eq!(messages.iter().filter(is_it).count(), 1, "quokka{at}: {found}");
    }
    drop(there);
    assert_eq!(answers(&away), before);
    for place in [&*folder, root.path(), away.path()] {
        assert_private(place);
    }
}

/// No file or folder below is readable by others.
fn assert_private(folder: &Path) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        for path in all_below(folder) {
            let mode = path.metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o077, 0, "{}: {mode:o}", path.display());
        }
    }
}

fn all_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path.clone());
            }
            found.push(path);
        }
    }
    found
}

#[test]
fn a_backup_has_no_secrets_and_a_restore_refuses_to_mix() {
    let root = Root::new();
    let configuration = "# mine\n[chat]\nmodel = \"m\"\nbase_url = \"http://127.0.0.1:9/v1\"\napi_key = \"sk-very-secret\"\n\
                         [server]\ntokens = [{ secret = \"hush-hush\" }, { secret = \"env:QUIPU_TOKEN\" }]\n";
    root.write("quipu.toml", configuration);
    let backups = tempfile::tempdir().unwrap();
    let folder = backups.path().join("b");
    let text = folder.to_str().unwrap();
    let ran = root.run(&["backup", text]);
    assert_eq!(ran.code, 4, "there is no memory: {}", ran.stderr);
    root.json(&["add", "--user", "ana", "I keep bees."]);
    let inside = root.path().join("backup");
    assert_eq!(root.run(&["backup", inside.to_str().unwrap()]).code, 2);
    let told = root.json(&["backup", text]);
    assert_eq!(
        told["secrets_left_out"],
        json!(["chat.api_key", "server.tokens[0].secret"])
    );
    for path in all_below(&folder).iter().filter(|path| path.is_file()) {
        let bytes = std::fs::read(path).unwrap();
        for secret in ["sk-very-secret", "hush-hush"] {
            let there = bytes
                .windows(secret.len())
                .any(|window| window == secret.as_bytes());
            assert!(!there, "{}: {secret}", path.display());
        }
    }
    let ran = root.run(&["backup", text]);
    assert!(
        ran.code == 2 && ran.stderr.contains("is not empty"),
        "{}",
        ran.stderr
    );
    let ran = root.run(&["restore", text]);
    assert!(
        ran.code == 2 && ran.stderr.contains("the root `"),
        "{}",
        ran.stderr
    );
    let away = Root::new();
    let ran = away.run(&["restore", text]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("write chat.api_key"), "{}", ran.stdout);
    assert_eq!(search(&away, "bees")["messages"][0]["content"], "I keep bees.");
    // Without its tokens a server would be open to everybody on its machine.
    let ran = away.run(&["serve", "--listen", "127.0.0.1:0"]);
    assert!(
        ran.code == 2 && ran.stderr.contains("QUIPU_TOKEN_2"),
        "{}",
        ran.stderr
    );
    std::fs::write(folder.join("ledger.sqlite"), "no ledger").unwrap();
    let third = Root::new();
    let ran = third.run(&["restore", text]);
    assert!(
        ran.code == 1 && ran.stderr.contains("not as it was written"),
        "{}",
        ran.stderr
    );
    assert_eq!(
        std::fs::read_dir(third.path()).unwrap().count(),
        0,
        "nothing of it was used"
    );
}

fn created(root: &Root, user: &str, role: &str) -> (String, String) {
    let told = root.json(&["token", "create", "--user", user, "--role", role]);
    let text = |key: &str| told[key].as_str().unwrap().to_owned();
    (text("token"), text("id"))
}

fn find(server: &Server, token: &str, user: &str) -> u16 {
    let search = json!({"user_id": user, "query": "bees"});
    server.post_as(token, "/api/v2/memory/search", &search).0
}

#[test]
fn tokens_are_added_and_revoked_next_to_a_running_server() {
    let root = Root::new();
    let ran = root.run(&["token", "create", "--user", "ana", "--role", "read"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let early = ran.stdout.trim();
    assert!(
        early.starts_with("quipu_") && !early.contains(char::is_whitespace),
        "{early}"
    );
    root.json(&[
        "token",
        "revoke",
        root.json(&["token", "list"])["tokens"][0]["id"].as_str().unwrap(),
    ]);

    let server = root.serve();
    assert_eq!(find(&server, "none", "ana"), 200, "nobody needs one");
    let (reader, reader_id) = created(&root, "ana", "read");
    assert_eq!(
        (find(&server, &reader, "ana"), find(&server, &reader, "bob")),
        (200, 403)
    );
    assert_eq!(
        (find(&server, "none", "ana"), find(&server, early, "ana")),
        (401, 401)
    );
    let add = |token: &str| {
        let body = json!({"session_id": "ana/s", "messages": [
            {"sender_id": "ana", "role": "user", "timestamp": 1_700_000_000_000_i64, "content": "I keep bees."}]});
        server.post_as(token, "/api/v2/memory/add", &body).0
    };
    let (writer, _) = created(&root, "ana", "write");
    assert_eq!((add(&reader), add(&writer)), (403, 200));
    let rebuild = |token: &str| server.post_as(token, "/api/v2/index/rebuild", &Value::Null).0;
    let (admin, _) = created(&root, "root", "admin");
    assert_eq!((rebuild(&writer), rebuild(&admin)), (403, 200));
    // A command that can read the root needs no token.
    assert_eq!(search(&root, "bees")["messages"][0]["content"], "I keep bees.");
    root.json(&["token", "revoke", &reader_id]);
    assert_eq!(
        (find(&server, &reader, "ana"), find(&server, &writer, "ana")),
        (401, 200)
    );
    let list = root.json(&["token", "list"]);
    assert_eq!(list["tokens"].as_array().unwrap().len(), 2, "{list}");
    assert!(!list.to_string().contains(&writer), "{list}");
    let file = std::fs::read_to_string(root.path().join("tokens.json")).unwrap();
    assert!(!file.contains(writer.trim_start_matches("quipu_")), "{file}");
    assert_eq!(root.run(&["token", "revoke", "t_none"]).code, 4);
}

#[test]
fn one_users_exported_memory_is_the_same_after_an_import() {
    let (root, away, third) = (Root::new(), Root::new(), Root::new());
    let server = root.serve();
    for at in 0..12 {
        assert_eq!(server.post("/api/v2/memory/add", &message(at)).0, 200);
    }
    let flush = json!({"session_id": "s0", "wait": true});
    assert_eq!(server.post("/api/v2/memory/flush", &flush).0, 200);
    root.json(&["add", "--user", "bob", "Bob's own words"]);
    // A person's edits are exported too.
    let episode = root.json(&["get", "--user", "ana"])["episodes"][0]["id"].clone();
    let edit = json!({"id": episode, "summary": "All about hives."});
    assert_eq!(server.post("/api/v2/memory/edit", &edit).0, 200);
    let exported = |root: &Root, name: &str| {
        let file = root.path().join(name);
        let told = root.json(&["export", "--user", "ana", file.to_str().unwrap()]);
        (file, told)
    };
    let (file, told) = exported(&root, "ana.jsonl");
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(
        text.contains("All about hives.") && !text.contains("Bob's own"),
        "{text}"
    );
    assert!(
        text.contains("quokka11") && told["messages"].as_u64().unwrap() > 0,
        "{told}"
    );

    let path = file.to_str().unwrap();
    let first = away.json(&["import", path]);
    assert_eq!(
        (&first["new_memories"], &first["new_messages"]),
        (&first["memories"], &first["messages"])
    );
    let again = away.json(&["import", path]);
    assert_eq!(
        (&again["new_memories"], &again["new_messages"]),
        (&json!(0), &json!(0)),
        "{again}"
    );
    let (copy, _) = exported(&away, "again.jsonl");
    assert_eq!(std::fs::read_to_string(copy).unwrap(), text);
    assert_eq!(texts(&search(&away, "quokka3")), texts(&search(&root, "quokka3")));

    // As Markdown, without the messages that are in no episode.
    let folder = root.path().join("markdown");
    let told = root.json(&["export", "--user", "ana", folder.to_str().unwrap()]);
    assert!(told["left_out"].as_u64().unwrap() > 0, "{told}");
    assert!(!folder.join(".locks").exists());
    third.json(&["import", folder.to_str().unwrap()]);
    let (copy, _) = exported(&third, "third.jsonl");
    let kept = |line: &&str| !line.starts_with("{\"type\":\"message\"");
    let expected: Vec<&str> = text.lines().filter(kept).collect();
    assert_eq!(
        std::fs::read_to_string(copy).unwrap().lines().collect::<Vec<_>>(),
        expected
    );
    let ran = root.run(&["export", "--user", "nobody", "nobody.jsonl"]);
    assert_eq!(ran.code, 4, "{}", ran.stderr);
}
