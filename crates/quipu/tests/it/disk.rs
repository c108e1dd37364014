//! The real binary on a disk that is full or read-only.
//!
//! Each test runs itself again where it may mount: on a small disk in memory, in a namespace of its own.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::{Root, Server};

const INSIDE: &str = "QUIPU_TEST_INSIDE";
/// Commands that may allow a test to mount.
const WAYS: [&[&str]; 2] = [
    &["unshare", "--user", "--map-root-user", "--mount"],
    &["sudo", "-n", "unshare", "--mount"],
];
const DISK_BYTES: usize = 24 << 20;
/// Two minutes: a job that failed waits at most 90 s before its next try, and a busy machine is slow.
const LOOKS: usize = 1_200;
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

/// Runs the check with a root on a small disk.
#[expect(
    clippy::disallowed_methods,
    reason = "the test starts itself again, and is told so"
)]
#[expect(clippy::print_stderr, reason = "a test that checks nothing says so")]
fn on_a_small_disk(test: &str, check: impl FnOnce(&Root, &SmallDisk)) {
    if std::env::var_os(INSIDE).is_some() {
        let root = Root::new();
        let disk = SmallDisk::mount(root.path());
        check(&root, &disk);
        return;
    }
    let runs = |way: &[&str], more: &[&str]| Command::new(way[0]).args(&way[1..]).args(more).status();
    let may_mount = |way: &&&[&str]| {
        let mount = ["mount", "-t", "tmpfs", "none", "/tmp"];
        runs(way, &mount).is_ok_and(|status| status.success())
    };
    let Some(way) = WAYS.iter().find(may_mount) else {
        eprintln!("this machine lets no test mount a disk: nothing is checked");
        return;
    };
    let (inside, program) = (format!("{INSIDE}=1"), std::env::current_exe().unwrap());
    let again = [
        "env",
        &inside,
        program.to_str().unwrap(),
        "--exact",
        test,
        "--nocapture",
    ];
    assert!(runs(way, &again).unwrap().success(), "{test}");
}

struct SmallDisk {
    ballast: std::path::PathBuf,
    path: String,
}

impl SmallDisk {
    fn mount(folder: &Path) -> Self {
        let path = folder.to_str().unwrap().to_owned();
        let size = format!("size={DISK_BYTES},mode=700");
        mount(&["-t", "tmpfs", "-o", &size, "none", &path]);
        Self {
            ballast: folder.join("ballast"),
            path,
        }
    }

    /// Fills the disk to the last page.
    fn fill(&self) {
        let mut ballast = File::create(&self.ballast).unwrap();
        for bytes in [1 << 20, 4_096, 1] {
            let piece = vec![0; bytes];
            while ballast.write_all(&piece).is_ok() {}
        }
    }

    fn make_room(&self) {
        std::fs::remove_file(&self.ballast).unwrap();
    }

    fn set_writable(&self, is_writable: bool) {
        let way = if is_writable { "remount,rw" } else { "remount,ro" };
        mount(&["-o", way, &self.path]);
    }
}

fn mount(arguments: &[&str]) {
    let status = Command::new("mount").args(arguments).status().unwrap();
    assert!(status.success(), "mount {arguments:?}");
}

/// Waits until the condition holds.
fn eventually(what: &str, is_so: impl Fn() -> bool) {
    let is_so_now = (0..LOOKS).any(|look| {
        if look > 0 {
            std::thread::sleep(BETWEEN_LOOKS);
        }
        is_so()
    });
    assert!(is_so_now, "{what}: not within {LOOKS} looks");
}

fn add(server: &Server, word: &str, filler: usize) -> (u16, Value) {
    let content = format!("The {word} sleeps. {}", "lorem ".repeat(filler));
    let at = 1_700_000_000_000_i64;
    let message = json!({"sender_id": "ana", "role": "user", "timestamp": at, "content": content});
    server.post(
        "/api/v2/memory/add",
        &json!({"session_id": "s", "messages": [message]}),
    )
}

fn flush(server: &Server) {
    let (status, answer) = server.post("/api/v2/memory/flush?wait=true", &json!({"session_id": "s"}));
    assert_eq!(status, 200, "{answer}");
}

/// How often a word occurs in the results of a search for it.
fn found(server: &Server, word: &str) -> usize {
    let query = json!({"user_id": "ana", "query": word, "method": "keyword", "include_messages": 9});
    let (status, answer) = server.post("/api/v2/memory/search", &query);
    assert_eq!(status, 200, "{answer}");
    let messages = answer["data"]["messages"].as_array().unwrap().iter();
    let exact = format!("The {word} sleeps.");
    messages
        .filter(|one| one["content"].as_str().unwrap().starts_with(&exact))
        .count()
}

fn problem(server: &Server) -> String {
    let (_, health) = server.get("/health");
    health["problems"][0].as_str().unwrap_or_default().to_owned()
}

fn is_well(server: &Server) -> bool {
    let (_, health) = server.get("/health");
    health["status"] == "ok" && health["tasks"]["queued"] == 0 && health["tasks"]["processing"] == 0
}

/// Every command and route reports a disk that refuses writes.
fn assert_reported(root: &Root, disk: &SmallDisk, server: &Server, words: &str) {
    eventually("ready", || server.get("/health/ready").0 == 503);
    let problem = problem(server);
    assert!(
        problem.contains(words) && problem.contains(&disk.path),
        "{problem}"
    );
    let metrics = server.text("/metrics");
    assert!(metrics.contains("\nquipu_disk_refuses_writes 1\n"), "{metrics}");
    for command in ["status", "doctor"] {
        let ran = root.run(&[command]);
        assert_eq!(ran.code, 1, "{command}: {}{}", ran.stdout, ran.stderr);
        assert!(ran.stdout.contains(words), "{command}: {}", ran.stdout);
    }
}

#[test]
fn a_full_disk_is_reported_loses_nothing_and_work_resumes_once_there_is_room() {
    let test = "disk::a_full_disk_is_reported_loses_nothing_and_work_resumes_once_there_is_room";
    on_a_small_disk(test, |root, disk| {
        let server = root.serve();
        assert_eq!(add(&server, "quokka", 1).0, 200);
        flush(&server);
        disk.fill();
        let mut accepted = vec!["quokka".to_owned()];
        let (status, answer) = loop {
            let word = format!("wombat{}", accepted.len());
            let (status, answer) = add(&server, &word, 4_000);
            if status != 200 {
                break (status, answer);
            }
            accepted.push(word);
        };
        let error = &answer["error"];
        assert_eq!((status, &error["code"]), (507, &json!("DISK_FULL")), "{answer}");
        assert!(
            error["message"]
                .as_str()
                .unwrap()
                .contains("the disk is full: free space"),
            "{answer}"
        );
        assert_reported(root, disk, &server, "is full");
        let ran = root.run(&["add", "--user", "ana", &"no room ".repeat(9_000)]);
        assert!(
            ran.code == 1 && ran.stderr.contains("free space"),
            "{}",
            ran.stderr
        );
        assert_eq!(found(&server, "quokka"), 1);

        disk.make_room();
        assert_eq!(server.get("/health/ready").0, 200, "{}", problem(&server));
        assert_eq!(add(&server, "numbat", 1).0, 200);
        accepted.push("numbat".to_owned());
        flush(&server);
        eventually("all work is done", || is_well(&server));
        for word in &accepted {
            assert_eq!(found(&server, word), 1, "{word}");
        }
        let episodes = |word: &String| {
            root.markdown()
                .iter()
                .any(|(_, text)| text.contains(word.as_str()))
        };
        assert!(accepted.iter().all(episodes), "all are in files");
        assert_eq!(server.stop(), 0);
    });
}

#[test]
fn a_server_starts_on_a_full_disk_and_recovers_once_there_is_room() {
    let test = "disk::a_server_starts_on_a_full_disk_and_recovers_once_there_is_room";
    on_a_small_disk(test, |root, disk| {
        for (word, is_killed) in [("quokka", false), ("wombat", true)] {
            let server = root.serve();
            assert_eq!(add(&server, word, 1).0, 200);
            if is_killed {
                server.kill();
            } else {
                flush(&server);
                assert_eq!(server.stop(), 0);
            }
            disk.fill();
            let server = root.serve();
            assert_eq!(found(&server, word), 1, "{word}");
            let listed = server.post(
                "/api/v2/memory/get",
                &json!({"user_id": "ana", "memory_type": "episode"}),
            );
            assert_eq!(listed.0, 200, "{}", listed.1);
            let (status, answer) = std::iter::repeat_with(|| add(&server, "numbat", 9_000))
                .find(|(status, _)| *status != 200)
                .unwrap();
            assert_eq!(
                (status, &answer["error"]["code"]),
                (507, &json!("DISK_FULL")),
                "{answer}"
            );
            eventually("ready", || server.get("/health/ready").0 == 503);
            assert!(problem(&server).contains("is full"), "{}", problem(&server));

            disk.make_room();
            assert_eq!(add(&server, &format!("{word}-after"), 1).0, 200);
            flush(&server);
            eventually("all work is done", || is_well(&server));
            eventually("commands find the server", || root.run(&["status"]).code == 0);
            assert_eq!(found(&server, word), 1, "{word}");
            assert_eq!(found(&server, &format!("{word}-after")), 1);
            assert_eq!(server.stop(), 0);
        }
    });
}

#[test]
fn a_read_only_disk_can_be_read_and_writes_fail_with_a_message() {
    let test = "disk::a_read_only_disk_can_be_read_and_writes_fail_with_a_message";
    on_a_small_disk(test, |root, disk| {
        for (word, is_killed) in [("quokka", false), ("wombat", true)] {
            let server = root.serve();
            assert_eq!(add(&server, word, 1).0, 200);
            if is_killed {
                // The message is only in the write-ahead log.
                server.kill();
            } else {
                flush(&server);
                assert_eq!(server.stop(), 0);
            }
            disk.set_writable(false);
            let searched = root.json(&["search", word, "--user", "ana", "--messages", "1"]);
            assert!(searched.to_string().contains(word), "{searched}");
            let listed = root.json(&["get", "--user", "ana"]);
            assert!(listed.to_string().contains("quokka"), "{listed}");
            let ran = root.run(&["add", "--user", "ana", "A note"]);
            assert!(
                ran.code == 1 && ran.stderr.contains("mount it writable"),
                "{}",
                ran.stderr
            );

            let server = root.serve();
            assert_eq!(found(&server, word), 1, "{word}");
            let (status, answer) = add(&server, "numbat", 1);
            assert_eq!(
                (status, &answer["error"]["code"]),
                (503, &json!("DISK_READ_ONLY")),
                "{answer}"
            );
            assert_reported(root, disk, &server, "read-only");

            disk.set_writable(true);
            assert_eq!(server.get("/health/ready").0, 200, "{}", problem(&server));
            assert_eq!(add(&server, &format!("{word}-after"), 1).0, 200);
            flush(&server);
            eventually("all work is done", || is_well(&server));
            assert_eq!(found(&server, &format!("{word}-after")), 1);
            assert_eq!(server.stop(), 0);
        }
    });
}
