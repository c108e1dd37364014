//! `quipu import` on the command line: titles, new messages, skipped parts and the output.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Parser as _;
use tempfile::TempDir;

use crate::api::Api;
use crate::args::{ApiCommand, Cli, Command};
use crate::commands::tests::{desk, typed};
use crate::error::Exit;
use crate::output::tests::SAID;
use crate::world::World;

/// A ChatGPT conversation of these messages, one minute apart.
fn conversation(id: &str, title: &str, said: &[&str]) -> String {
    let mut mapping = String::from("\"root\": {\"parent\": null, \"message\": null}");
    for (at, text) in said.iter().enumerate() {
        let parent = if at == 0 {
            "root".to_owned()
        } else {
            format!("{id}-{}", at - 1)
        };
        let role = ["user", "assistant"][at % 2];
        let time = 1_715_176_560 + 60 * at;
        mapping.extend([format!(
            ",\"{id}-{at}\": {{\"parent\": \"{parent}\", \"message\": {{\"author\": {{\"role\": \"{role}\"}}, \"create_time\": \
             {time}, \"content\": {{\"content_type\": \"text\", \"parts\": [\"{text}\"]}}}}}}"
        )]);
    }
    let last = format!("{id}-{}", said.len() - 1);
    format!(
        "{{\"id\": \"{id}\", \"conversation_id\": \"{id}\", \"title\": \"{title}\", \"current_node\": \"{last}\", \
         \"mapping\": {{{mapping}}}}}"
    )
}

const BIKE: [&str; 2] = [
    "Since there is no arrow from X to Y, I took the 54 frame.",
    "A good choice.",
];

fn export(folder: &Path, name: &str, conversations: &[String]) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, format!("[{}]", conversations.join(","))).expect("is written");
    path
}

/// The text of the default user's episode files.
fn episodes(root: &Path) -> String {
    let folder = root.join("memory/default/default/users/me/episodes");
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .expect("episodes were written")
        .map(|entry| entry.expect("a file").path())
        .collect();
    files.sort();
    files
        .iter()
        .map(|file| fs::read_to_string(file).expect("text"))
        .collect()
}

#[tokio::test]
async fn an_episode_has_the_title_of_its_conversation() {
    let (root, folder) = (
        TempDir::new().expect("a folder"),
        TempDir::new().expect("a folder"),
    );
    let long = "word ".repeat(40);
    let conversations = [
        conversation("c1", "Road  bike", &BIKE),
        conversation(
            "c2",
            "New chat",
            &["I baked sourdough bread with rye today.", "Well done."],
        ),
        conversation(
            "c3",
            &long,
            &["I planted three apple trees behind the house.", "Nice."],
        ),
    ];
    let path = export(folder.path(), "conversations.json", &conversations);
    let desk = desk(root.path(), &[]);
    let told = typed(&desk, &[&format!("import {}", path.display())]).await;
    assert_eq!(told.expect("it is read").exit, Exit::Ok);
    let told = episodes(root.path());
    assert!(told.contains("\n## Road bike <!--ep_20240508_"), "{told}");
    assert!(!told.contains("## Since there is no arrow"), "{told}");
    assert!(
        !told.contains("## New chat"),
        "a name that says nothing is none: {told}"
    );
    let heading = told
        .lines()
        .find(|line| line.starts_with("## word"))
        .expect("a title");
    let heading = heading.split(" <!--").next().expect("the title itself");
    assert_eq!(heading.chars().count(), "## ".len() + 80, "{heading}");
}

#[tokio::test]
async fn the_same_export_adds_nothing_and_a_grown_one_adds_new_messages() {
    let (root, folder) = (
        TempDir::new().expect("a folder"),
        TempDir::new().expect("a folder"),
    );
    let desk = desk(root.path(), &[]);
    let mut said = BIKE.to_vec();
    let mut counts = Vec::new();
    for title in [
        "Road bike",
        "Road bike",
        "Renamed by its owner",
        "Renamed by its owner",
    ] {
        let path = export(
            folder.path(),
            "conversations.json",
            &[conversation("c1", title, &said)],
        );
        let told = typed(&desk, &[&format!("--json import {}", path.display())]).await;
        let told = told.expect("it is read").json();
        counts.push((told["messages"].as_u64(), told["new_messages"].as_u64()));
        if title.starts_with("Renamed") {
            said.extend(["I sold the bike in Graz.", "A pity."]);
        }
    }
    let some = |read, new| (Some(read), Some(new));
    assert_eq!(counts, [some(2, 2), some(2, 0), some(2, 0), some(4, 2)]);
    let told = episodes(root.path());
    assert_eq!(
        told.matches(&format!(" {} <!--_", BIKE[0])).count(),
        1,
        "once, word for word: {told}"
    );
}

#[tokio::test]
async fn unreadable_parts_are_skipped_counted_and_named() {
    let (root, folder) = (
        TempDir::new().expect("a folder"),
        TempDir::new().expect("a folder"),
    );
    let torn = "{\"title\": \"Torn\"}".to_owned();
    let good = |id: &str| conversation(id, "Bike", &BIKE);
    export(
        folder.path(),
        "conversations-000.json",
        &[good("c1"), torn, good("c2")],
    );
    fs::write(
        folder.path().join("conversations-001.json"),
        "[{\"mapping\": 17}, ",
    )
    .expect("is written");
    export(folder.path(), "conversations-002.json", &[good("c3")]);
    let desk = desk(root.path(), &[]);
    let told = typed(&desk, &[&format!("import {}", folder.path().display())]).await;
    let told = told.expect("the rest is read");
    assert_eq!(told.exit, Exit::Failed, "a script must know");
    // A chat that branched off repeats the messages of the first one.
    let said = told.said.replace(&*folder.path().to_string_lossy(), "F");
    let said = said.replace(&*root.path().to_string_lossy(), "R");
    expect_test::expect![[r#"
        6 messages of 3 conversations read, 2 of them new; stored in R
        4 messages stored before
        3 skipped:
          `F/conversations-000.json`, conversation 2, "Torn": it has no `mapping`
          `F/conversations-001.json`, conversation 1: it has no `mapping`
          `F/conversations-001.json`: the file is broken: EOF while parsing a value at line 1 column 18: everything before that place was imported; a second import adds only new messages
        1 background run waits: profile, events and core memory come while `quipu serve` runs, or with `quipu runs start NAME`
        next: `quipu search "…"`, `quipu review` to say what of it is true, or read the files in R/memory
    "#]]
    .assert_eq(&said);
    let told = typed(&desk, &[&format!("--json import {}", folder.path().display())]).await;
    let told = told.expect("the rest is read").json();
    assert_eq!(told["skipped"][0]["why"], "it has no `mapping`");
    assert_eq!(told["skipped"].as_array().map(Vec::len), Some(3));
}

#[tokio::test]
async fn waiting_background_runs_are_reported_only_without_a_server() {
    let (root, folder) = (
        TempDir::new().expect("a folder"),
        TempDir::new().expect("a folder"),
    );
    let file = |name: &str, said: &[&str]| export(folder.path(), name, &[conversation(name, "Bike", said)]);
    let desk = desk(root.path(), &[]);
    let import = format!("import {}", file("c1.json", &BIKE).display());
    let said = typed(&desk, &[&import]).await.expect("it is read").said;
    assert!(said.contains("`quipu runs start NAME`"), "{said}");
    let lines = [&*import, "runs start extract_user_profile", &import];
    let said = typed(&desk, &lines).await.expect("it is read").said;
    assert!(!said.contains("quipu runs start"), "nothing waits: {said}");

    // The same API, as the server of the root would provide it.
    let world = World::open(&desk.root, &desk.loaded.config, desk.open_index, false).await;
    let api = Api::here(world.expect("it opens"));
    let server = Api::of(api.client.clone(), api.clock.clone(), api.zone.clone());
    let apples = file(
        "c2.json",
        &["I planted three apple trees behind the house.", "Nice."],
    );
    let args = Cli::parse_from(["quipu".into(), "import".into(), apples.into_os_string()]);
    let Command::Asking(ApiCommand::Import(args)) = args.command else {
        panic!("an import");
    };
    super::import(&desk, &server, args).await.expect("it is read");
    let said = SAID.take();
    assert!(
        said.contains("next:") && !said.contains("quipu runs start"),
        "{said}"
    );
    api.close().await;
}

#[tokio::test]
async fn a_root_with_dates_of_another_zone_stays_unchanged() {
    let root = TempDir::new().expect("a folder");
    let zone = |name: &str| {
        fs::write(
            root.path().join("quipu.toml"),
            format!("[memory]\ntimezone = \"{name}\"\n"),
        )
    };
    zone("UTC").expect("is written");
    typed(
        &desk(root.path(), &[]),
        &["add --flush --at 2024-05-08T23:30:00Z I-live-in-Graz."],
    )
    .await
    .expect("it is remembered");
    let before = episodes(root.path());
    let folder = root.path().join("memory/default/default/users/me/episodes");
    // The file is read again.
    fs::write(folder.join("2024-05-08.md"), &before).expect("is written");
    zone("Asia/Tokyo").expect("is written");
    let lines = [
        "--json sync",
        "add --flush --at 2024-05-08T23:40:00Z --session later I-have-a-parrot.",
        "--json status",
    ];
    let synced = typed(&desk(root.path(), &[]), &lines[..1])
        .await
        .expect("it looks")
        .json();
    for what in [
        "entries_added",
        "entries_changed",
        "entries_removed",
        "broken_files",
    ] {
        assert_eq!(synced[what], 0, "{synced}");
    }
    let status = typed(&desk(root.path(), &[]), &lines[1..])
        .await
        .expect("it is well");
    assert_eq!(status.exit, Exit::Ok, "{}", status.said);
    let told = |day: &str| fs::read_to_string(folder.join(day)).expect("a file");
    assert_eq!(told("2024-05-08.md"), before, "not a byte of it changes");
    assert!(
        told("2024-05-09.md").contains("I-have-a-parrot."),
        "filed where people see it"
    );
}

#[tokio::test]
async fn deleted_messages_are_left_out_of_the_next_import_and_counted() {
    let (root, folder) = (
        TempDir::new().expect("a folder"),
        TempDir::new().expect("a folder"),
    );
    let desk = desk(root.path(), &[]);
    let said = [
        "I took the 54 frame.",
        "A good choice.",
        "Petra took the 52 frame.",
        "It fits.",
    ];
    let path = export(
        folder.path(),
        "conversations.json",
        &[conversation("c1", "Road bike", &said)],
    );
    let import = format!("import {}", path.display());
    typed(&desk, &[&import]).await.expect("it is read");
    let refused = typed(&desk, &["forget --user me --words petra"]).await;
    let refused = refused.expect_err("nobody confirms it");
    assert!(
        format!("{:#}", refused.error).contains("this would delete"),
        "{refused:?}"
    );
    let told = typed(&desk, &["forget --user me --words petra --yes"]).await;
    let told = told.expect("it is forgotten").said;
    assert!(
        told.contains("1 message\n1 memory lost some of its messages"),
        "{told}"
    );
    assert!(!episodes(root.path()).contains("Petra"));
    assert!(episodes(root.path()).contains("It fits."));

    let told = typed(&desk, &[&import]).await.expect("it is read").said;
    assert!(
        told.contains("0 of them new")
            && told.contains("1 message forgotten before, left out; `--forgotten` stores them again"),
        "{told}"
    );
    assert!(!episodes(root.path()).contains("Petra"));
    let anew = format!("{import} --forgotten");
    let told = typed(&desk, &[&anew]).await.expect("it is read").said;
    assert!(
        told.contains("read, 0 of them new;")
            && told.contains("\n1 message forgotten before, stored again\n"),
        "{told}"
    );
    assert!(episodes(root.path()).contains("Petra"));
    let (forget, import) = ("forget --user me --words petra --yes", format!("--json {anew}"));
    let again = typed(&desk, &[forget, &import]).await;
    let again = again.expect("it is read").json();
    let counts = ["new_messages", "restored_messages", "forgotten_messages"];
    assert_eq!(counts.map(|key| again[key].as_u64()), [Some(0), Some(1), Some(0)]);
    let again = typed(&desk, &[&import]).await.expect("it is read").json();
    assert_eq!(
        counts.map(|key| again[key].as_u64()),
        [Some(0); 3],
        "all are there"
    );
}

#[tokio::test]
async fn the_next_step_names_the_user_and_the_tenant() {
    let (root, folder) = (
        TempDir::new().expect("a folder"),
        TempDir::new().expect("a folder"),
    );
    let desk = desk(root.path(), &[]);
    let path = export(
        folder.path(),
        "conversations.json",
        &[conversation("c1", "Bike", &BIKE)],
    );
    let import = format!("import {} --user nadia --app shop --project boat", path.display());
    let said = typed(&desk, &[&import]).await.expect("it is read").said;
    let search = "search --user nadia --project boat --app shop";
    assert!(said.contains(&format!("next: `quipu {search} \"…\"`")), "{said}");
    let found = typed(&desk, &[&format!("{search} frame")])
        .await
        .expect("it answers");
    assert!(found.said.contains("I took the 54 frame."), "{}", found.said);
}

#[tokio::test]
async fn an_export_keeps_its_user_and_its_tenant() {
    let (root, folder) = (
        TempDir::new().expect("a folder"),
        TempDir::new().expect("a folder"),
    );
    let desk = desk(root.path(), &[]);
    let file = folder.path().join("me.jsonl");
    fs::write(&file, "{\"quipu_export\":1,\"user_id\":\"me\"}\n").expect("is written");
    let import = format!("import {}", file.display());
    typed(&desk, &[&import]).await.expect("it is read");
    for option in ["--user me", "--app shop", "--project boat"] {
        let refused = typed(&desk, &[&format!("{import} {option}")]).await;
        let refused = refused.expect_err(option);
        assert_eq!(refused.exit, Exit::Usage);
        assert!(
            refused.error.to_string().contains("its own user"),
            "{option}: {refused:?}"
        );
    }
}

#[tokio::test]
async fn the_hint_names_the_readable_format_and_the_imported_part() {
    let (root, folder) = (
        TempDir::new().expect("a folder"),
        TempDir::new().expect("a folder"),
    );
    let desk = desk(root.path(), &[]);
    let path = folder.path().join("chats.txt");
    let begun = format!("[{}, ", conversation("c1", "Bike", &BIKE));
    for (text, hint) in [
        (
            "dear diary",
            "`*.jsonl` with `role`, `content` and `timestamp` on each line",
        ),
        ("[{\"mapping\": ", "nothing was imported"),
        (&begun, "everything before that place was imported"),
    ] {
        fs::write(&path, text).expect("is written");
        let failure = typed(&desk, &[&format!("import {}", path.display())]).await;
        let told = failure.expect_err("it is broken").hint.expect("a hint");
        assert!(told.contains(hint), "{text}: {told}");
    }
}

/// A Codex session: its own first record, then the records copied from other sessions, then its own messages.
fn codex(folder: &Path, id: &str, hour: u32, records: &[&str]) -> PathBuf {
    let meta = format!(
        "{{\"timestamp\":\"2026-06-01T{hour}:00:00.000Z\",\"type\":\"session_meta\",\"payload\":{{\"id\":\"{id}\",\"cwd\":\"/p\"}}}}"
    );
    let path = folder.join(format!("rollout-2026-06-01T{hour}-00-00-{id}.jsonl"));
    let lines: Vec<&str> = [&*meta].into_iter().chain(records.iter().copied()).collect();
    fs::write(&path, lines.join("\n")).expect("is written");
    path
}

const TRAIN: [&str; 3] = [
    r#"{"timestamp":"2026-06-01T10:00:01.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"The release train leaves on Thursdays at 16:20."}]}}"#,
    r#"{"timestamp":"2026-06-01T10:00:05.000Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Thursdays at 16:20, understood."}]}}"#,
    r#"{"timestamp":"2026-06-01T11:00:09.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"On holidays the train leaves on Wednesdays."}]}}"#,
];

#[tokio::test]
async fn a_session_that_continues_another_adds_only_new_messages() {
    let (root, folder) = (
        TempDir::new().expect("a folder"),
        TempDir::new().expect("a folder"),
    );
    let desk = desk(root.path(), &[]);
    let first = codex(folder.path(), "019a-1", 10, &TRAIN[..2]);
    let fork = codex(folder.path(), "019a-2", 11, &TRAIN);
    let counts = ["messages", "new_messages", "known_messages", "forgotten_messages"];
    let import = async |path: &Path| {
        let told = typed(&desk, &[&format!("--json import {}", path.display())]).await;
        let told = told.expect("it is read").json();
        counts.map(|key| told[key].as_u64().expect("a count"))
    };
    assert_eq!(import(&first).await, [2, 2, 0, 0]);
    assert_eq!(import(&fork).await, [3, 1, 2, 0], "days later");
    let told = episodes(root.path());
    for text in [
        "leaves on Thursdays at 16:20. <!--_",
        "leaves on Wednesdays. <!--_",
    ] {
        assert_eq!(told.matches(text).count(), 1, "{told}");
    }
    assert_eq!(import(folder.path()).await, [5, 0, 5, 0], "both at once");
    let said = typed(&desk, &[&format!("import {}", fork.display())]).await;
    let said = said.expect("it is read").said;
    assert!(said.contains("\n3 messages stored before\n"), "{said}");

    typed(&desk, &["forget --session 019a-1 --yes"])
        .await
        .expect("it is forgotten");
    let third = codex(folder.path(), "019a-3", 12, &TRAIN);
    assert_eq!(import(&third).await, [3, 0, 1, 2], "what was forgotten stays out");
    assert!(!episodes(root.path()).contains("leaves on Thursdays"));
}

#[tokio::test]
async fn a_fork_with_new_times_is_recognised_by_its_parent_session() {
    let (root, folder) = (
        TempDir::new().expect("a folder"),
        TempDir::new().expect("a folder"),
    );
    let desk = desk(root.path(), &[]);
    let first = codex(folder.path(), "019a-1", 10, &TRAIN[..2]);
    let told = typed(&desk, &[&format!("--json import {}", first.display())]).await;
    assert_eq!(told.expect("it is read").json()["new_messages"], 2);
    let copied = TRAIN.map(|record| record.replace("T10:00:0", "T11:00:0"));
    let copied: Vec<&str> = copied.iter().map(String::as_str).collect();
    let fork = codex(folder.path(), "019a-2", 11, &copied);
    let text = fs::read_to_string(&fork).expect("is read");
    let named = text.replacen("\"cwd\"", "\"forked_from_id\":\"019a-1\",\"cwd\"", 1);
    fs::write(&fork, named).expect("is written");
    let told = typed(&desk, &[&format!("--json import {}", folder.path().display())]).await;
    let told = told.expect("it is read").json();
    assert_eq!(
        (&told["new_messages"], &told["known_messages"]),
        (&1.into(), &4.into()),
        "{told}"
    );
}

#[tokio::test]
async fn a_resumed_claude_code_session_adds_only_new_messages() {
    let (root, folder) = (
        TempDir::new().expect("a folder"),
        TempDir::new().expect("a folder"),
    );
    let desk = desk(root.path(), &[]);
    let record = |session: &str, (n, text): (usize, &str)| {
        let (role, content) = match n % 2 {
            0 => ("user", format!("\"{text}\"")),
            _ => (
                "assistant",
                format!("[{{\"type\":\"text\",\"text\":\"{text}\"}}]"),
            ),
        };
        format!(
            "{{\"sessionId\":\"{session}\",\"type\":\"{role}\",\"uuid\":\"0f8fad5b-d9cb-469f-a165-7086772895{n:02}\",\
             \"timestamp\":\"2026-02-03T10:00:0{n}.000Z\",\"message\":{{\"role\":\"{role}\",\"content\":{content}}}}}"
        )
    };
    let said = ["The harbour gate opens at five.", "Noted.", "On Sundays at nine."];
    let write = |session: &str, said: &[&str]| {
        let lines: Vec<String> = said
            .iter()
            .copied()
            .enumerate()
            .map(|it| record(session, it))
            .collect();
        let path = folder.path().join(format!("{session}.jsonl"));
        fs::write(&path, lines.join("\n")).expect("is written");
        path
    };
    for (path, new, known) in [(write("9a", &said[..2]), 2, 0), (write("1b", &said), 1, 2)] {
        let told = typed(&desk, &[&format!("--json import {}", path.display())]).await;
        let told = told.expect("it is read").json();
        assert_eq!(told["new_messages"], new, "{told}");
        assert_eq!(told["known_messages"], known, "{told}");
    }
    let told = episodes(root.path());
    assert_eq!(told.matches("opens at five. <!--_").count(), 1, "{told}");
}

#[tokio::test]
async fn a_file_without_messages_fails_and_left_out_records_are_counted() {
    let (root, folder) = (
        TempDir::new().expect("a folder"),
        TempDir::new().expect("a folder"),
    );
    let desk = desk(root.path(), &[]);
    let path = folder.path().join("memories.json");
    let memories = |state: &str| {
        format!(
            "{{\"apps\": [], \"export_meta\": {{\"version\": \"1\"}}, \"memories\": [{{\"id\": \"1\", \"content\": \"Has a dog\", \
             \"state\": \"{state}\", \"created_at\": \"2026-01-05T10:00:00Z\"}}]}}"
        )
    };
    for (state, exit, note) in [
        (
            "deleted",
            Exit::Failed,
            "memories that were deleted or have no statement, left out",
        ),
        ("active", Exit::Ok, "memories kept as quotations"),
    ] {
        fs::write(&path, memories(state)).expect("is written");
        let told = typed(&desk, &[&format!("--json import {}", path.display())]).await;
        let told = told.expect("it is read");
        assert_eq!(told.exit, exit, "{state}");
        assert_eq!(told.json()["notes"][note], 1, "{state}");
    }
    let empty = folder.path().join("empty");
    fs::create_dir(&empty).expect("a folder");
    fs::write(empty.join("user.json"), "{}").expect("is written");
    let told = typed(&desk, &[&format!("import {}", empty.display())]).await;
    let failure = told.expect_err("nothing was read");
    assert_eq!(failure.error.to_string(), "no conversations were found");
    assert_eq!(
        failure.hint.as_deref(),
        Some("files without conversations: user.json")
    );
    fs::write(empty.join("My Activity.html"), "<!doctype html><p>Hi").expect("is written");
    let told = typed(&desk, &[&format!("import {}", empty.display())]).await;
    let failure = told.expect_err("nothing was read");
    let hint = failure.hint.expect("a hint");
    assert!(hint.contains("choose JSON for My Activity"), "{hint}");
}

#[tokio::test]
async fn a_chat_without_the_user_names_its_speakers() {
    let (root, folder) = (
        TempDir::new().expect("a folder"),
        TempDir::new().expect("a folder"),
    );
    let desk = desk(root.path(), &[]);
    let path = folder.path().join("Chat.txt");
    fs::write(&path, "06.03.26, 9:00 - Ines: The key is behind the bell.\n").expect("is written");
    let said = typed(&desk, &[&format!("import {}", path.display())])
        .await
        .expect("it is read")
        .said;
    assert!(
        said.contains("nobody in it is `me`; it was said by Ines (`Ines`)"),
        "{said}"
    );
    assert!(said.contains("quipu search --user Ines"), "{said}");
}
