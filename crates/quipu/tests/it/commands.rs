//! The commands that a newcomer types.

use std::process::{Command, Stdio};

use crate::harness::Root;

const TALK: &str = r#"{"role": "user", "sender_id": "ana", "session_id": "s1", "timestamp": "2024-03-04T09:00:00Z", "content": "I adopted a parrot named Kiko last week."}
{"role": "assistant", "session_id": "s1", "timestamp": "2024-03-04T09:00:30Z", "content": "Kiko is a lovely name for a parrot!"}
{"role": "user", "sender_id": "ana", "session_id": "s2", "timestamp": "2024-06-10T18:00:00Z", "content": "I live in Berlin and work as a nurse."}
{"role": "user", "sender_id": "ana", "session_id": "s3", "timestamp": "2025-01-15T18:00:00Z", "content": "I moved to Lisbon in December."}
"#;

#[test]
fn the_demo_runs_to_its_end() {
    let root = Root::new();
    let kept = root.write_outside("kept", "");
    std::fs::remove_file(&kept).unwrap();
    let kept = kept.to_str().unwrap();
    let ran = root.run(&["demo", "--quiet", "--keep", kept]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.lines().count() < 40, "{}", ran.stdout);
    let place = format!("{kept}/memory");
    for part in [
        "Biscuit",
        "new home is in Porto",
        "As of 2025-06-01",
        "My home is in Lisbon",
        &place,
        "serve --root",
    ] {
        assert!(
            ran.stdout.contains(part),
            "the demo does not show {part:?}:\n{}",
            ran.stdout
        );
    }
}

#[test]
fn import_search_get_edit_forget() {
    let root = Root::new();
    let file = root.write_outside("talk.jsonl", TALK);
    let file = file.to_str().unwrap();
    let imported = root.json(&["import", file]);
    assert_eq!(
        (&imported["messages"], &imported["new_messages"]),
        (&4.into(), &4.into()),
        "{imported}"
    );
    let again = root.json(&["import", file]);
    assert_eq!(again["new_messages"], 0, "importing again adds nothing: {again}");

    let found = root.json(&["search", "the parrot's name", "--user", "ana"]);
    assert!(
        found["episodes"][0]["episode"].as_str().unwrap().contains("Kiko"),
        "{found}"
    );

    let all = root.json(&["get", "--user", "ana"]);
    assert_eq!(all["total_count"], 3, "{all}");

    let (path, text) = root
        .markdown()
        .into_iter()
        .find(|(path, text)| path.to_string_lossy().contains("episodes") && text.contains("Kiko"))
        .unwrap();
    std::fs::write(&path, text.replace("Kiko", "Zazu")).unwrap();
    root.json(&["sync"]);
    let found = root.json(&["search", "Zazu", "--user", "ana", "--method", "keyword"]);
    assert!(found.to_string().contains("Zazu"), "{found}");

    let forgot = root.json(&["forget", "--user", "ana", "--all", "--yes"]);
    assert!(forgot["entries"].as_u64().unwrap() >= 3, "{forgot}");
    assert!(root.markdown().iter().all(|(_, text)| !text.contains("Zazu")));
    let found = root.json(&["search", "Zazu parrot", "--user", "ana"]);
    assert_eq!(found["episodes"].as_array().unwrap().len(), 0, "{found}");
}

#[test]
fn a_question_is_answered_in_one_line_or_not_at_all() {
    let root = Root::new();
    let talk = [
        ("2024-03-01", "My home is in Berlin."),
        ("2025-09-01", "My new home is in Lisbon."),
    ];
    for (day, text) in talk {
        root.json(&[
            "add", "--user", "ana", "--at", day, "--session", day, "--flush", text,
        ]);
    }
    let asked = |question: &str| root.run(&["ask", "--user", "ana", question]);
    let ran = asked("Where is my home?");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(
        ran.stdout
            .starts_with("My new home is in Lisbon. (ana, 1 September 2025, "),
        "{}",
        ran.stdout
    );
    let before = "; before, on 1 March 2024: ana says: \"My home is in Berlin\".)\n";
    assert!(ran.stdout.ends_with(before), "{}", ran.stdout);
    assert_eq!(ran.stdout.lines().count(), 1);
    // It states no new home, but the old fact is in doubt.
    let doubt = "My home isn't that flat in Lisbon anymore, I sold it last week.";
    root.json(&[
        "add", "--user", "ana", "--at", "2025-11-01", "--session", "sold", "--flush", doubt,
    ]);
    let ran = asked("Where is my home?");
    assert!(ran.stdout.starts_with(doubt), "{}", ran.stdout);
    for question in ["Where does Petra live?", "How many legs has a spider?"] {
        let ran = asked(question);
        assert_eq!(ran.code, 4, "{question}: {}", ran.stdout);
        assert!(
            ran.stdout.starts_with("nothing sure"),
            "{question}: {}",
            ran.stdout
        );
    }
    assert_eq!(
        root.run(&["ask", "--user", "ana", "--json", "Where does Petra live?"])
            .stdout
            .trim(),
        "{\n  \"answer\": null\n}"
    );
}

#[test]
fn a_deleted_index_comes_back_with_the_same_answers() {
    let root = Root::new();
    let file = root.write_outside("talk.jsonl", TALK);
    root.json(&["import", file.to_str().unwrap()]);
    let ask = [
        "search",
        "Where does Ana live?",
        "--user",
        "ana",
        "--messages",
        "3",
        "--asked-at",
        "2025-02-01",
    ];
    let before = root.json(&ask);
    std::fs::remove_dir_all(root.path().join("index")).unwrap();
    root.json(&["rebuild"]);
    assert_eq!(root.json(&ask), before);
}

#[test]
fn user_errors_differ_by_exit_code() {
    let root = Root::new();
    let broken = root.write_outside(
        "broken.jsonl",
        "{\"role\": \"user\", \"content\": \"kept\"}\nnot json\n",
    );
    for (arguments, code, words) in [
        (vec!["import", broken.to_str().unwrap()], 2, "line 2"),
        (vec!["search"], 2, "QUERY"),
        (vec!["serach", "x"], 2, "search"),
        (vec!["search", "x", "--agent", "a/b"], 2, "`/` is not allowed"),
        (vec!["search", "x", "--as-of", "soon"], 2, "`soon` is not a time"),
        (vec!["import", "no-such-file"], 2, "cannot read"),
        (vec!["forget", "--all"], 2, "no owner given"),
        (vec!["get", "ep_20240101_x", "--user", "me"], 4, "does not exist"),
    ] {
        let ran = root.run(&arguments);
        assert_eq!(ran.code, code, "{arguments:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(words), "{arguments:?}: {}", ran.stderr);
    }
    let kept = root.json(&["search", "kept", "--user", "me", "--messages", "1"]);
    assert_eq!(
        kept["messages"][0]["content"], "kept",
        "what stood before the broken line is remembered"
    );
}

#[test]
fn a_broken_file_stops_nothing_and_is_reported() {
    let root = Root::new();
    let file = root.write_outside("talk.jsonl", TALK);
    root.json(&["import", file.to_str().unwrap()]);
    let (path, text) = root
        .markdown()
        .into_iter()
        .find(|(path, _)| path.to_string_lossy().contains("2024-06-10"))
        .unwrap();
    std::fs::write(&path, text.replacen("---", "---\n: [", 1)).unwrap();
    let ran = root.run(&["sync"]);
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    let ran = root.run(&["status"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stdout.contains("2024-06-10.md"), "{}", ran.stdout);
    assert!(
        root.json(&["search", "parrot", "--user", "ana"])
            .to_string()
            .contains("Kiko")
    );
}

#[cfg(unix)]
#[test]
fn a_link_in_place_of_a_file_is_reported_and_stops_nothing() {
    let root = Root::new();
    let file = root.write_outside("talk.jsonl", TALK);
    root.json(&["import", file.to_str().unwrap()]);
    let (path, text) = root
        .markdown()
        .into_iter()
        .find(|(path, _)| path.to_string_lossy().contains("episodes/2024-06-10"))
        .unwrap();
    let elsewhere = root.write_outside("elsewhere.md", &text);
    std::fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &path).unwrap();
    for command in ["sync", "rebuild", "sync"] {
        let ran = root.run(&[command]);
        assert_eq!(ran.code, 1, "{}", ran.stdout);
        assert!(
            ran.stdout.contains("1 file is broken"),
            "{command}: {}",
            ran.stdout
        );
    }
    let status = root.run(&["status"]);
    assert_eq!(status.code, 1);
    assert!(
        status.stdout.contains("2024-06-10.md: a link is in its place"),
        "{}",
        status.stdout
    );
    let found = root.json(&["search", "parrot", "--user", "ana"]);
    assert!(found.to_string().contains("Kiko"), "{found}");
    std::fs::remove_file(&path).unwrap();
    std::fs::rename(&elsewhere, &path).unwrap();
    root.json(&["sync"]);
    let found = root.json(&["search", "Berlin nurse", "--user", "ana"]);
    assert!(found.to_string().contains("Berlin"), "{found}");
    assert_eq!(root.run(&["status"]).code, 0);
}

#[test]
fn a_command_that_only_reads_creates_no_root() {
    let home = Root::new();
    let run = |root: Option<&std::path::Path>, line: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_quipu"));
        command.env_clear().env("HOME", home.path()).stdin(Stdio::null());
        command.args(line.split(' '));
        if let Some(root) = root {
            command.env("QUIPU_ROOT", root);
        }
        let output = command.output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (usual, typo) = (home.path().join(".quipu"), home.path().join("tpyo"));
    for line in [
        "status",
        "search x",
        "get",
        "skill list",
        "forget --words x",
        "forget --session s --yes",
        "history log",
        "history diff",
        "history undo r",
        "audit",
        "status users",
        "rebuild",
        "sync",
        "runs retry",
        "runs",
        "runs start dream",
        "knowledge list",
        "knowledge search x",
        "knowledge show x",
        "knowledge delete --all --yes",
        "context list",
        "context show c",
        "token list",
        "token revoke t_1",
        "export to.jsonl --user me",
    ] {
        let (code, said) = run(Some(&typo), line);
        assert!(said.contains("there is no Quipu root at `"), "{line}: {said}");
        assert!(
            said.contains("hint: check --root and QUIPU_ROOT"),
            "{line}: {said}"
        );
        assert_eq!(code, Some(2), "{line}");
        let (code, said) = run(None, line);
        assert!(
            said.contains("nothing is remembered yet: there is no folder `"),
            "{line}: {said}"
        );
        assert!(said.contains("`quipu init` connects agents"), "{line}: {said}");
        assert_eq!(code, Some(4), "{line}");
        assert!(!typo.exists() && !usual.exists(), "{line}");
    }
    let file = home.write("talk.jsonl", TALK).display().to_string();
    for line in [
        "add I-sail.",
        &format!("import {file}"),
        &format!("knowledge add {file}"),
        "token create --role read",
    ] {
        let (code, said) = run(Some(&typo), line);
        assert_eq!(code, Some(0), "{line}: {said}");
        std::fs::remove_dir_all(&typo).unwrap();
    }
}
