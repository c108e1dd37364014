//! The meaning of each exit of the process for its document, with `sh` as the process.

use testkit::clock::ManualClock;

use super::*;
use crate::clock::SystemClock;

fn reader(script: &str) -> (ChildReader, Arc<ManualClock>, tempfile::TempDir) {
    let (folder, clock) = (
        tempfile::tempdir().expect("a folder"),
        Arc::new(ManualClock::new()),
    );
    let arguments = vec!["-c".to_owned(), script.to_owned()];
    let reader = ChildReader::of("/bin/sh".into(), arguments, folder.path().into(), clock.clone());
    (reader, clock, folder)
}

async fn reading(script: &str) -> Result<ReadDocument, ReadError> {
    let (reader, _, folder) = reader(script);
    let read = reader.read(b"text".to_vec().into(), "a.txt", "").await;
    let left = std::fs::read_dir(folder.path()).expect("a folder").count();
    assert_eq!(left, 0, "a file stays behind");
    read
}

#[tokio::test]
async fn a_killed_process_is_a_refusal_with_a_reason() {
    let cases = [
        ("kill -ABRT $$", Unreadable::NeedsMemory),
        ("kill -KILL $$", Unreadable::NeedsMemory),
        ("kill -XCPU $$", Unreadable::NeedsTime),
        ("kill -SEGV $$", Unreadable::Damaged),
        ("exit 101", Unreadable::Damaged),
        (r#"echo '{"Unreadable":"Scanned"}'"#, Unreadable::Scanned),
    ];
    for (script, expected) in cases {
        let refusal = reading(script).await.expect_err(script);
        assert!(
            matches!(&refusal, ReadError::Unreadable(reason) if *reason == expected),
            "{script}: {refusal}"
        );
    }
    for script in [
        "exit 1",
        "exit 0",
        "echo nonsense",
        r#"echo '{"Read":{"title":"","summary":"","beginning":"","text_bytes":0,"topics":[{}]}}'"#,
    ] {
        let refusal = reading(script).await.expect_err(script);
        assert!(
            matches!(refusal, ReadError::Unavailable { .. }),
            "{script}: {refusal}"
        );
    }
}

#[tokio::test]
async fn the_process_has_the_file_as_input_and_an_empty_environment() {
    let told = r#"printf '{"Read":{"title":"%s","summary":"%s","beginning":"%s","text_bytes":4,"topics":[]}}' "$(cat)" "${HOME-none}" x"#;
    let read = reading(told).await.expect("an answer");
    assert_eq!(
        (
            read.title.as_str(),
            read.summary.as_str(),
            read.beginning.as_str()
        ),
        ("text", "none", "x")
    );
}

#[tokio::test]
async fn a_process_that_hangs_is_killed_and_the_next_file_is_read() {
    let (hanging, clock, folder) = reader("echo $$ > \"$0\"; exec sleep 600");
    let pid = folder.path().join("pid");
    let mut hanging = hanging;
    hanging.arguments.push(pid.display().to_string());
    let (read, ()) = tokio::join!(hanging.read(b"x".to_vec().into(), "", ""), async {
        while std::fs::read_to_string(&pid).unwrap_or_default().is_empty() {
            SystemClock::new().sleep(Duration::from_millis(5)).await;
        }
        clock.advance(PATIENCE);
    });
    assert!(matches!(read, Err(ReadError::Unreadable(Unreadable::NeedsTime))));
    let pid = std::fs::read_to_string(&pid).expect("a number");
    let gone = || !std::path::Path::new("/proc").join(pid.trim()).exists();
    for _ in 0..400 {
        if gone() && hanging.turn.available_permits() == 1 {
            return;
        }
        SystemClock::new().sleep(Duration::from_millis(5)).await;
    }
    panic!("process {pid} goes on");
}

#[tokio::test]
async fn a_file_that_waits_too_long_for_its_turn_is_refused() {
    let (reader, clock, _folder) = reader("exec sleep 600");
    let _turn = reader.turn.acquire().await.expect("open");
    let (read, ()) = tokio::join!(reader.read(b"x".to_vec().into(), "", ""), async {
        clock.sleeping(1).await;
        clock.advance(TURN_WAIT);
    });
    assert!(matches!(read, Err(ReadError::Unavailable { source: None })));
}
