//! Current exports of ChatGPT and Claude: entries that are not conversations, exports in parts, archives, folders, and broken
//! files.

use std::io::Write as _;
use std::path::Path;

use super::{told, told_of};

/// A conversation with every kind of message that an export has.
const ROAD_BIKE: &str = r#"{"title": "Road bike", "create_time": 1715176560.5, "update_time": 1715176700.1, "id": "aa11",
  "conversation_id": "aa11", "current_node": "n9", "is_archived": false, "safe_urls": [], "voice": null, "plugin_ids": null,
  "gizmo_id": null, "something_new": {"of": ["tomorrow"]}, "mapping": {
  "client-created-root": {"id": "client-created-root", "message": null, "parent": null, "children": ["n0"]},
  "n0": {"id": "n0", "parent": "client-created-root", "children": ["n1"], "message": {"id": "n0", "weight": 0.0,
    "author": {"role": "user", "name": null, "metadata": {}}, "create_time": null,
    "content": {"content_type": "text", "parts": ["Original custom instructions"]},
    "metadata": {"is_visually_hidden_from_conversation": true}, "recipient": "all"}},
  "n1": {"id": "n1", "parent": "n0", "children": ["n2"], "message": {"id": "n1", "weight": 1.0, "author": {"role": "user"},
    "create_time": null, "content": {"content_type": "user_editable_context", "user_profile": "I am Ana", "user_instructions": "Be brief"},
    "metadata": {"is_user_system_message": true}, "recipient": "all"}},
  "n2": {"id": "n2", "parent": "n1", "children": ["n3", "x3"], "message": {"id": "n2", "author": {"role": "user"},
    "create_time": 1715176561.25, "content": {"content_type": "multimodal_text", "parts": [
      {"content_type": "image_asset_pointer", "asset_pointer": "file-service://file-1", "width": 10, "height": 10},
      "Which size is this?"]},
    "metadata": {"attachments": [{"id": "file-1", "name": "frame.png", "mime_type": "image/png"},
      {"id": "file-2", "name": "geometry.pdf", "mime_type": "application/pdf"}]}, "recipient": "all"}},
  "x3": {"id": "x3", "parent": "n2", "children": [], "message": {"id": "x3", "author": {"role": "assistant"},
    "create_time": 1715176999.0, "content": {"content_type": "text", "parts": ["An answer that was made again"]}}},
  "n3": {"id": "n3", "parent": "n2", "children": ["n4"], "message": {"id": "n3", "author": {"role": "assistant"},
    "create_time": 1715176562.0, "content": {"content_type": "thoughts", "thoughts": [{"summary": "Sizing", "content": "hm"}],
    "source_analysis_msg_id": "n0"}, "metadata": {}, "recipient": "all"}},
  "n4": {"id": "n4", "parent": "n3", "children": ["n5"], "message": {"id": "n4", "author": {"role": "assistant"},
    "create_time": 1715176563.0, "content": {"content_type": "code", "language": "unknown", "response_format_name": null,
    "text": "print(54 * 0.67)"}, "metadata": {}, "recipient": "python"}},
  "n5": {"id": "n5", "parent": "n4", "children": ["n6"], "message": {"id": "n5", "weight": 0.0,
    "author": {"role": "tool", "name": "python"}, "create_time": 1715176564.0,
    "content": {"content_type": "execution_output", "text": "36.18"}, "metadata": {}, "recipient": "all"}},
  "n6": {"id": "n6", "parent": "n5", "children": ["n7"], "message": {"id": "n6", "author": {"role": "assistant"},
    "create_time": 1715176565.0, "content": {"content_type": "reasoning_recap", "content": "Thought for 8 seconds"}}},
  "n7": {"id": "n7", "parent": "n6", "children": ["n8"], "message": {"id": "n7", "author": {"role": "assistant"},
    "create_time": 1715176560.75, "content": {"content_type": "text", "parts": ["It is a 54."]}, "recipient": "all"}},
  "n8": {"id": "n8", "parent": "n7", "children": ["n9"], "message": {"id": "n8", "author": {"role": "user"},
    "create_time": 1715176570.0, "content": {"content_type": "multimodal_text", "parts": [
      {"content_type": "audio_transcription", "text": "And for my wife?", "direction": "in", "decoding_id": null},
      {"content_type": "real_time_user_audio_video_asset_pointer", "audio_asset_pointer": {}}]},
    "metadata": {"voice_mode_message": true}}},
  "n9": {"id": "n9", "parent": "n8", "children": [], "message": {"id": "n9", "author": {"role": "assistant"},
    "create_time": 1715176571.0, "content": {"content_type": "text", "parts": ["A 48."]}, "recipient": "all"}}}}"#;

#[test]
fn a_chatgpt_conversation_has_the_messages_that_its_user_saw() {
    expect_test::expect![[r#"
        answers of other branches, left out: 1
        entries of programs, left out: 4
        messages without words, left out: 2
        default/aa11 "Road bike"
          n2 2024-05-08T13:56:01.25Z user me: "[image]\nWhich size is this?\n[file: frame.png]\n[file: geometry.pdf]"
          n7 2024-05-08T13:56:05Z assistant chatgpt: "It is a 54."
          n8 2024-05-08T13:56:10Z user me: "And for my wife?"
          n9 2024-05-08T13:56:11Z assistant chatgpt: "A 48."
    "#]]
    .assert_eq(&told("conversations.json", format!("[{ROAD_BIKE}]").as_bytes()));
}

/// A conversation of one sentence.
fn says(id: &str, title: &str, text: &str) -> String {
    format!(
        r#"{{"id": "{id}", "conversation_id": "{id}", "title": {title}, "create_time": 1715176560, "mapping": {{
           "{id}-1": {{"id": "{id}-1", "parent": null, "children": [], "message": {{"author": {{"role": "user"}},
           "content": {{"content_type": "text", "parts": ["{text}"]}}}}}}}}}}"#
    )
}

#[test]
fn a_broken_conversation_is_skipped_and_named() {
    let export = [
        says("c1", "\"New chat\"", "First"),
        r#"{"id": "c2", "title": "Torn", "mapping": ["no", "tree"]}"#.to_owned(),
        r#"{"id": "c3", "title": "\ud83d half a sign", "mapping": {}}"#.to_owned(),
        "17".to_owned(),
        says("c5", "null", "Last"),
    ];
    expect_test::expect![[r#"
        default/c1
          c1-1 2024-05-08T13:56:00Z user me: "First"
        default/c2 "Torn"
        default/c3 "� half a sign"
        skipped conversation 4: it has no `mapping`
        default/c5
          c5-1 2024-05-08T13:56:00Z user me: "Last"
    "#]]
    .assert_eq(&told(
        "conversations.json",
        format!("[{}]", export.join(",")).as_bytes(),
    ));
}

#[test]
fn a_single_conversation_is_an_export_too() {
    let one = says("c1", "\"Bread\"", "How long does it rise?");
    expect_test::expect![[r#"
        default/c1 "Bread"
          c1-1 2024-05-08T13:56:00Z user me: "How long does it rise?"
    "#]]
    .assert_eq(&told("bread.json", one.as_bytes()));
}

/// The files of an export in parts, and other files of its folder.
fn parts() -> Vec<(&'static str, String)> {
    let part = |id: &str, title: &str, text: &str| format!("[{}]", says(id, title, text));
    vec![
        ("conversations-001.json", part("c2", "\"Two\"", "Second")),
        ("conversations-000.json", part("c1", "\"One\"", "First")),
        ("conversations-000.json.index", "x".to_owned()),
        ("shared_conversations.json", "[]".to_owned()),
        ("export_manifest.json", "{}".to_owned()),
        ("user.json", "{}".to_owned()),
        ("chat.html", "<html>".to_owned()),
    ]
}

const IN_PARTS: &str = r#"default/c1 "One"
  c1-1 2024-05-08T13:56:00Z user me: "First"
default/c2 "Two"
  c2-1 2024-05-08T13:56:00Z user me: "Second"
"#;

/// The imported messages, without the names of files that have no conversations.
fn conversations(path: &Path) -> String {
    let told = told_of(path);
    let lines = told
        .split_inclusive('\n')
        .filter(|line| !line.starts_with("left out"));
    lines.collect()
}

fn write(folder: &Path, files: &[(&str, String)]) {
    for (name, text) in files {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

#[test]
fn an_unzipped_export_in_parts_is_imported() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &parts());
    assert_eq!(conversations(folder.path()), IN_PARTS);
}

#[test]
fn a_zipped_export_in_parts_is_imported() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("export.ZIP");
    let mut archive = zip::ZipWriter::new(std::fs::File::create(&path).unwrap());
    let mut files = parts();
    files.push(("__MACOSX/conversations-000.json", "no".to_owned()));
    for (name, text) in files {
        let options = zip::write::SimpleFileOptions::default();
        archive.start_file(name, options).unwrap();
        archive.write_all(text.as_bytes()).unwrap();
    }
    archive.finish().unwrap();
    assert_eq!(conversations(&path), IN_PARTS);
    // Some services pack the parts a second time.
    let outer = folder.path().join("outer.zip");
    let mut archive = zip::ZipWriter::new(std::fs::File::create(&outer).unwrap());
    archive
        .start_file("Online Activity/1.zip", zip::write::SimpleFileOptions::default())
        .unwrap();
    archive.write_all(&std::fs::read(&path).unwrap()).unwrap();
    archive.finish().unwrap();
    assert_eq!(conversations(&outer), IN_PARTS);
}

#[test]
fn a_missing_path_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    assert!(told_of(&folder.path().join("nowhere")).contains("cannot read"));
}

#[test]
fn a_claude_export_is_read_without_its_projects() {
    let conversations = r#"[{"uuid": "u-1", "name": "Sourdough", "summary": "**Overview**", "created_at": "2025-03-01T09:00:00.5Z",
      "updated_at": "2025-03-01T09:10:00Z", "account": {"uuid": "acc"}, "settings": null, "chat_messages": [
      {"uuid": "m-1", "text": "Read this", "content": [{"type": "text", "text": "Read this", "start_timestamp": null, "citations": []}],
       "sender": "human", "created_at": "2025-03-01T09:00:01Z", "updated_at": "2025-03-01T09:00:01Z",
       "parent_message_uuid": "00000000-0000-4000-8000-000000000000",
       "attachments": [{"file_name": "recipe.txt", "file_size": 6, "file_type": "txt", "extracted_content": "1 kg flour"}],
       "files": [{"file_uuid": "f-1", "file_name": "loaf.jpg"}]},
      {"uuid": "m-2", "text": "not so", "content": [{"type": "text", "text": "An answer that was made again"}],
       "sender": "assistant", "created_at": "2025-03-01T09:00:02Z", "parent_message_uuid": "m-1", "attachments": [], "files": []},
      {"uuid": "m-3", "text": "```\nThis block is not supported on your current device yet.\n```",
       "content": [{"type": "thinking", "thinking": "hm", "summaries": []}, {"type": "text", "text": "That is dry dough."},
         {"type": "tool_use", "name": "web_search", "input": {"query": "hydration"}},
         {"type": "tool_result", "name": "web_search", "content": [{"type": "text", "text": "a page"}]},
         {"type": "text", "text": "Use 700 g of water."}, {"type": "token_budget"}],
       "sender": "assistant", "created_at": "2025-03-01T09:00:03Z", "parent_message_uuid": "m-1", "attachments": [], "files": []},
      {"uuid": "m-4", "text": "", "content": [{"type": "thinking", "thinking": "only this"}], "sender": "assistant",
       "created_at": null, "parent_message_uuid": "m-3", "attachments": null, "files": null}]},
      {"uuid": "u-2", "name": "", "chat_messages": []},
      {"uuid": "u-3", "name": "Lost", "account": {}}]"#;
    let folder = tempfile::tempdir().unwrap();
    let beside = "data-2026-02-16-18-17-35-batch-0000";
    write(
        &folder.path().join(beside),
        &[
            ("conversations.json", conversations.to_owned()),
            ("projects.json", r#"[{"uuid": "p", "docs": []}]"#.to_owned()),
            ("users.json", "[]".to_owned()),
        ],
    );
    expect_test::expect![[r#"
        answers of other branches, left out: 1
        messages without words, left out: 1
        default/u-1 "Sourdough"
          m-1 2025-03-01T09:00:01Z user me: "Read this\n\n[document: recipe.txt]\n> 1 kg flour\n[file: loaf.jpg]"
          m-3 2025-03-01T09:00:03Z assistant claude: "That is dry dough.\nUse 700 g of water."
        default/u-2
        skipped conversation 3, "Lost": it has no `chat_messages`
        left out projects.json
        left out users.json
    "#]]
    .assert_eq(&told_of(folder.path()));
}
