//! The messages of each format, and the errors of broken files.

use std::fmt::Write;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use gateway::wire::MessageContent;
use gateway::wire::message::MessageRole;
use model::{Name, Role, Scope, Timestamp, Zone};

use super::{Defaults, ImportItem, Logs, Skipped, read, sources};

mod agents;
mod exports;
mod products;

/// Imports a file and returns its messages and notes, one a line.
fn told(file_name: &str, bytes: &[u8]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(file_name);
    std::fs::write(&path, bytes).unwrap();
    told_of(&path)
}

fn told_of(path: &Path) -> String {
    let defaults = Defaults {
        scope: Scope::default(),
        user: Name::parse("me").unwrap(),
        now: Timestamp::from_millis(1_000_000_000_000),
        zone: Zone::utc(),
        dates: None,
        name: "file".to_owned(),
        is_shared: false,
        logs: Logs::default(),
    };
    let mut text = String::new();
    let sources = match sources(&[path.to_owned()]) {
        Ok(sources) => sources,
        Err(failure) => return format!("error: {}\n", failure.error),
    };
    for source in sources {
        let read_bytes = Arc::default();
        let result = read(&source, &defaults, &read_bytes, &mut |found| {
            tell(&mut text, found);
            Ok(())
        });
        if let Err(failure) = result {
            writeln!(text, "error: {}", failure.error).unwrap();
        }
        assert_eq!(
            read_bytes.load(Ordering::Relaxed),
            source.bytes,
            "all of it is counted"
        );
    }
    text
}

fn tell(text: &mut String, found: ImportItem) {
    let conversation = match found {
        ImportItem::Conversation(conversation) => conversation,
        ImportItem::Noted(what, count) => {
            writeln!(text, "{what}: {count}").unwrap();
            return;
        }
        ImportItem::LeftOut(file, _) => {
            writeln!(text, "left out {file}").unwrap();
            return;
        }
        ImportItem::Skipped(Skipped { what, why }) => {
            writeln!(text, "skipped {what}: {why}").unwrap();
            return;
        }
    };
    let key = &conversation.session;
    let title = conversation
        .title
        .map_or_else(String::new, |title| format!(" \"{title}\""));
    writeln!(text, "{}/{}{title}", key.scope.project, key.session).unwrap();
    for m in conversation.messages {
        let MessageContent::Text(said) = m.content else {
            panic!("an import gives plain text");
        };
        let calls: Vec<String> = m
            .tool_calls
            .iter()
            .flatten()
            .map(|call| format!(" {}({})", call.function.name, call.function.arguments))
            .collect();
        writeln!(
            text,
            "  {} {} {} {}: {said:?}{}",
            m.message_id.unwrap(),
            Timestamp::from_millis(m.timestamp),
            model::same!(m.role, MessageRole => Role: User, Assistant, Tool).as_str(),
            m.sender_id,
            calls.concat(),
        )
        .unwrap();
    }
}

#[test]
fn chat_jsonl_is_imported() {
    let file = r#"
{"role": "system", "content": "be kind"}
{"role": "user", "content": "Hello", "timestamp": "2024-05-08T13:56:00Z", "session_id": "s1", "sender": "Ana Lima"}
{"role": "assistant", "content": [{"type": "text", "text": "Hi"}, {"type": "image_url"}], "timestamp": 1715176561}
"#;
    expect_test::expect![[r#"
        default/file
          line-4 2024-05-08T13:56:01Z assistant assistant: "Hi\n[image]"
        default/s1
          line-3 2024-05-08T13:56:00Z user Ana-Lima: "Hello"
    "#]]
    .assert_eq(&told("file.jsonl", file.as_bytes()));
}

#[test]
fn a_broken_line_is_named_and_the_lines_before_it_are_kept() {
    let file = "{\"role\": \"user\", \"content\": \"kept\"}\n{\"role\": \"user\", \"content\": \"torn";
    expect_test::expect![[r#"
        default/file
          line-1 2001-09-09T01:46:40.001Z user me: "kept"
        error: line 2: EOF while parsing a string at line 1 column 33
    "#]]
    .assert_eq(&told("file.jsonl", file.as_bytes()));
}

#[test]
fn an_array_of_openai_messages_is_imported() {
    let file = r#"{"messages": [{"role": "developer", "content": "x"}, {"role": "user", "content": "weather?"},
        {"role": "assistant", "content": null, "tool_calls": [{"id": "c1", "type": "function",
         "function": {"name": "weather", "arguments": "{\"city\": \"Porto\"}"}}]},
        {"role": "tool", "tool_call_id": "c1", "content": "sunny"}]}"#;
    expect_test::expect![[r#"
        default/file
          message-1 2001-09-09T01:46:40.001Z user me: "weather?"
          message-2 2001-09-09T01:46:40.002Z assistant assistant: "" weather({"city": "Porto"})
          message-3 2001-09-09T01:46:40.003Z tool tool: "sunny"
    "#]]
    .assert_eq(&told("file.json", file.as_bytes()));
}

const CHATGPT: &str = r#"[{"id": "c-1", "title": "Trip", "create_time": 1715176560.5, "current_node": "n3", "mapping": {
  "root": {"parent": null, "message": null},
  "n1": {"parent": "root", "message": {"author": {"role": "user"}, "create_time": 1715176561,
        "content": {"content_type": "text", "parts": ["Where to?"]}}},
  "n2": {"parent": "n1", "message": {"author": {"role": "assistant"}, "content": {"parts": ["A branch not taken"]}}},
  "n3": {"parent": "n1", "message": {"author": {"role": "assistant"}, "create_time": 1715176562,
        "content": {"parts": ["To Porto"]}}}}}, {"id": "c-2", "#;

#[test]
fn a_cut_off_chatgpt_export_keeps_the_conversations_before_the_cut() {
    expect_test::expect![[r#"
        answers of other branches, left out: 1
        default/c-1 "Trip"
          n1 2024-05-08T13:56:01Z user me: "Where to?"
          n3 2024-05-08T13:56:02Z assistant chatgpt: "To Porto"
        error: the file is broken: EOF while parsing an object at line 7 column 62
    "#]]
    .assert_eq(&told("conversations.json", CHATGPT.as_bytes()));
}

#[test]
fn a_claude_export_is_read_from_its_zip() {
    let json = r#"[{"uuid": "u-1", "name": "Plan", "created_at": "2024-05-08T13:56:00Z", "chat_messages": [
        {"uuid": "m-1", "sender": "human", "text": "Read this", "created_at": "2024-05-08T13:56:01Z",
         "attachments": [{"file_name": "a.txt", "extracted_content": "inside"}]},
        {"uuid": "m-2", "sender": "assistant", "text": "old", "content": [{"type": "text", "text": "Done"}]}]}]"#;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("export.zip");
    let mut archive = zip::ZipWriter::new(std::fs::File::create(&path).unwrap());
    archive
        .start_file(
            "data/conversations.json",
            zip::write::SimpleFileOptions::default(),
        )
        .unwrap();
    archive.write_all(json.as_bytes()).unwrap();
    archive.finish().unwrap();
    expect_test::expect![[r#"
        default/u-1 "Plan"
          m-1 2024-05-08T13:56:01Z user me: "Read this\n\n[document: a.txt]\n> inside"
          m-2 2024-05-08T13:56:01Z assistant claude: "Done"
    "#]]
    .assert_eq(&told_of(&path));
}

#[test]
fn a_file_of_an_unknown_format_is_refused() {
    assert!(told("notes.txt", b"dear diary").contains("cannot detect the format of"));
    assert!(told("empty.json", b"").contains("cannot detect the format of"));
    let program = b"export = {\"mapping\": {}, \"messages\": []}";
    assert!(told("make.py", program).contains("cannot detect the format of"));
}

#[test]
fn ids_and_times_that_the_api_refuses_are_replaced() {
    let long = "x".repeat(300);
    let file = format!(
        "{{\"role\": \"user\", \"content\": \"a\", \"id\": \"{long}1\", \"timestamp\": 0}}\n\
         {{\"role\": \"user\", \"content\": \"b\", \"id\": \"{long}2\", \"timestamp\": -5}}\n\
         {{\"role\": \"user\", \"content\": \"c\", \"id\": \"\"}}\n"
    );
    let told = told("file.jsonl", file.as_bytes());
    let ids: Vec<&str> = told
        .lines()
        .skip(1)
        .map(|line| line.trim().split(' ').next().unwrap())
        .collect();
    assert_eq!(ids.len(), 3, "{told}");
    assert!(ids.iter().all(|id| (1..=128).contains(&id.len())), "{told}");
    assert_ne!(ids[0], ids[1]);
    assert!(
        told.contains("2001-09-09T01:46:40.001Z user me: \"a\""),
        "as undated ones: {told}"
    );
}

#[test]
fn several_messages_with_one_id_are_all_kept() {
    let line = |text: &str| format!("{{\"role\": \"user\", \"content\": \"{text}\", \"id\": \"c1\"}}\n");
    let file = [line("one"), line("two"), line("one"), line("two"), line("three")].concat();
    expect_test::expect![[r#"
        default/file
          c1 2001-09-09T01:46:40.001Z user me: "one"
          c1~2 2001-09-09T01:46:40.002Z user me: "two"
          c1 2001-09-09T01:46:40.003Z user me: "one"
          c1~2 2001-09-09T01:46:40.004Z user me: "two"
          c1~3 2001-09-09T01:46:40.005Z user me: "three"
    "#]]
    .assert_eq(&told("file.jsonl", file.as_bytes()));
}
