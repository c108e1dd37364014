//! Every exit code of `docs/commands.md`, from a command that ends with it, and the state after an interrupt.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::process::{Command, Stdio};

use crate::harness::Root;

/// Number of conversations in the interrupted import: enough for a second or two.
const CONVERSATIONS: usize = 1_000;

#[test]
fn every_documented_exit_code_has_a_command_that_ends_with_it() {
    let page = include_str!("../../../../docs/commands.md");
    let code = |line: &str| line.strip_prefix("| ")?.split(' ').next()?.parse::<i32>().ok();
    let documented: BTreeSet<i32> = page.lines().filter_map(code).collect();

    let root = Root::new();
    let mut seen = BTreeSet::from([130]);
    for (arguments, code) in [
        (vec!["add", "I keep bees.", "--flush"], 0),
        (vec!["search"], 2),
        (vec!["get", "ep_20240101_x"], 4),
    ] {
        let ran = root.run(&arguments);
        assert_eq!(ran.code, code, "{arguments:?}: {}", ran.stderr);
        seen.insert(code);
    }
    for wrong in ["serach", "search -k many bees"] {
        let arguments: Vec<&str> = wrong.split(' ').chain(["--json"]).collect();
        let ran = root.run(&arguments);
        let error: serde_json::Value = serde_json::from_str(&ran.stderr).expect("one object");
        assert_eq!((ran.code, &error["error"]["code"]), (2, &"INVALID_INPUT".into()));
    }
    let mut files = root.markdown().into_iter();
    let (path, text) = files
        .find(|(path, _)| path.to_string_lossy().contains("/episodes/"))
        .unwrap();
    std::fs::write(&path, text.replacen("---", "---\n: [", 1)).unwrap();
    assert_eq!(root.run(&["sync"]).code, 1);
    seen.insert(1);
    std::fs::write(&path, text).unwrap();

    // A server that cannot be reached: nobody listens at its address.
    let server = root.serve();
    root.write("serving.addr", "127.0.0.1:9\n");
    let ran = root.run(&["search", "bees"]);
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    seen.insert(3);
    server.kill();
    assert_eq!(seen, documented);
}

#[cfg(unix)]
#[test]
fn an_interrupted_import_reports_the_stored_messages_and_the_next_one_adds_the_rest() {
    let root = Root::new();
    let mut talk = String::new();
    for at in 0..CONVERSATIONS {
        writeln!(
            talk,
            r#"{{"role": "user", "session_id": "s{at}", "content": "Hive {at} gave {at} jars of honey."}}"#
        )
        .unwrap();
    }
    let file = root.write_outside("talk.jsonl", &talk);
    let child = Command::new(env!("CARGO_BIN_EXE_quipu"))
        .env_clear()
        .env("QUIPU_ROOT", root.path())
        .arg("import")
        .arg(&file)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while root.markdown().is_empty() {
        std::thread::yield_now();
    }
    let interrupted = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(interrupted.success());
    let ended = child.wait_with_output().unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(130), "{said}");
    let stands = said
        .split_once("interrupted: ")
        .and_then(|(_, words)| words.split_once(" messages of "));
    let (stands, _) = stands.unwrap_or_else(|| panic!("nothing about what stands:\n{said}"));
    let stands: usize = stands.parse().unwrap();
    assert!((1..CONVERSATIONS).contains(&stands), "{said}");

    let rest = root.json(&["import", file.to_str().unwrap()]);
    let new = usize::try_from(rest["new_messages"].as_u64().unwrap()).unwrap();
    // The message in flight may be stored too.
    assert!(
        (CONVERSATIONS - stands - 1..=CONVERSATIONS - stands).contains(&new),
        "{stands} and {new} of {CONVERSATIONS}"
    );
}
