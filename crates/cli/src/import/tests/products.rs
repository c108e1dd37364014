//! Exports of other programs: the shown branch, other branches in sessions of their own, memories as quotations, known formats
//! that Quipu refuses.

use super::told;

#[test]
fn a_tree_is_read_along_its_shown_branch() {
    let librechat = r#"{"conversationId": "c1", "title": "Kiln", "exportAt": "10:00", "messages": [
      {"messageId": "a", "parentMessageId": "0", "isCreatedByUser": true, "text": "The kiln is red.", "createdAt": "2026-02-01T10:00:00Z",
       "children": [
        {"messageId": "b", "parentMessageId": "a", "isCreatedByUser": false, "sender": "Potter", "text": "",
         "content": [{"type": "think", "think": "hm"}, {"type": "text", "text": {"value": "Red."}}], "createdAt": "2026-02-01T10:00:05Z"},
        {"messageId": "c", "parentMessageId": "a", "isCreatedByUser": false, "text": "A red one.", "createdAt": "2026-02-01T10:01:05Z",
         "files": [{"filename": "kiln.png"}]}]},
      {"messageId": "d", "parentMessageId": "0", "isCreatedByUser": true, "text": "The kiln is blue.", "createdAt": "2026-02-01T09:00:00Z"}]}"#;
    expect_test::expect![[r#"
        answers of other branches, left out: 1
        messages of other branches, kept in sessions of their own: 1
        default/c1 "Kiln"
          a 2026-02-01T10:00:00Z user me: "The kiln is red."
          c 2026-02-01T10:01:05Z assistant assistant: "A red one.\n[file: kiln.png]"
        default/c1~d "Kiln"
          d 2026-02-01T09:00:00Z user me: "[document: another branch]\n> The kiln is blue."
    "#]]
    .assert_eq(&told("kiln.json", librechat.as_bytes()));
    let grok = r#"{"conversations": [{"conversation": {"id": "g", "title": "Owl"}, "responses": [
      {"response": {"_id": "1", "message": "An owl?", "sender": "human", "create_time": {"$date": {"$numberLong": "1770199200000"}}}},
      {"response": {"_id": "2", "message": "Yes.", "sender": "ASSISTANT", "create_time": "2026-02-04T10:00:09Z"}},
      {"response": {"_id": "3", "message": "Where?", "sender": "human", "create_time": "soon"}}]}]}"#;
    expect_test::expect![[r#"
        skipped message 3: the time "soon" is not understood: write it as 2026-03-02T10:00:00Z
        default/g "Owl"
          1 2026-02-04T10:00:00Z user me: "An owl?"
          2 2026-02-04T10:00:09Z assistant grok: "Yes."
    "#]]
    .assert_eq(&told("grok.json", grok.as_bytes()));
    let deepseek = r#"[{"id": "d", "inserted_at": "2026-03-02T12:00:00+08:00", "mapping": {
      "root": {"id": "root", "parent": null, "message": null},
      "1": {"id": "1", "parent": "root", "message": {"inserted_at": "2026-03-02T12:00:00+08:00", "fragments": [
        {"type": "REQUEST", "content": "How deep?"}]}},
      "2": {"id": "2", "parent": "1", "message": {"inserted_at": "2026-03-02T12:00:00+08:00", "fragments": [
        {"type": "THINK", "content": "hm"}, {"type": "RESPONSE", "content": "Nine."}]}}}}]"#;
    expect_test::expect![[r#"
        default/d
          1 2026-03-02T04:00:00Z user me: "How deep?"
          2 2026-03-02T04:00:00Z assistant assistant: "Nine."
    "#]]
    .assert_eq(&told("conversations.json", deepseek.as_bytes()));
    let webui = r#"[{"id": "w", "user_id": "u", "title": "Bees", "chat": {"history": {"currentId": "gone", "messages": {
      "1": {"id": "1", "parentId": null, "role": "user", "content": "Two hives.", "timestamp": 1772614800},
      "2": {"id": "2", "parentId": "1", "role": "assistant", "modelName": "Gem 3", "timestamp": 1772614806000,
        "content": "<details type=\"reasoning\">\nhm\n</details>\nTwo."}}}}}]"#;
    expect_test::expect![[r#"
        default/w "Bees"
          1 2026-03-04T09:00:00Z user me: "Two hives."
          2 2026-03-04T09:00:06Z assistant Gem-3: "Two."
    "#]]
    .assert_eq(&told("export.json", webui.as_bytes()));
}

#[test]
fn a_telegram_chat_keeps_its_speakers_and_quotes_forwarded_messages() {
    let chat = r#"{"name": "Ana", "type": "personal_chat", "id": 7, "messages": [
      {"id": 1, "type": "service", "date": "2026-02-05T11:00:00", "action": "phone_call", "text": ""},
      {"id": 2, "type": "message", "date": "2026-02-05T11:05:00", "date_unixtime": "1770285900", "from": "Ana", "from_id": "user3",
       "text": ["The gate ", {"type": "bold", "text": "creaks"}, ".\x07"]},
      {"id": 3, "type": "message", "date": "2026-02-05T11:06:00", "from": "me", "from_id": "user4", "forwarded_from": "Otto",
       "text": "I live in Graz."}]}"#;
    expect_test::expect![[r#"
        entries of programs, left out: 1
        times without a zone, read in UTC: 1
        default/7 "Ana"
          2 2026-02-05T10:05:00Z user user3: "The gate creaks.\u{7}"
          3 2026-02-05T11:06:00Z user me: "[document: forwarded from Otto]\n> I live in Graz."
    "#]]
    .assert_eq(&told("result.json", chat.as_bytes()));
}

#[test]
fn memories_are_quotations_and_past_ones_are_marked() {
    let mem0 = r#"{"results": [{"id": "1", "memory": "Drinks tea", "replaced_by": "2", "created_at": "2001-01-01T00:00:00-08:00"},
      {"id": "2", "memory": "Drinks coffee", "replaced_by": null, "expiration_date": "2030-01-01", "created_at": "2001-02-01T00:00:00Z"}]}"#;
    expect_test::expect![[r#"
        memories kept as quotations: 2
        memories that are no longer valid, marked so: 1
        default/mem0-memories
          1 2001-01-01T08:00:00Z user me: "[stored by a model: mem0]\n> Drinks tea\n> no longer valid"
          2 2001-02-01T00:00:00Z user me: "[stored by a model: mem0]\n> Drinks coffee\n> valid until 2030-01-01"
    "#]].assert_eq(&told("all.json", mem0.as_bytes()));
    let openmemory = r#"{"apps": [], "export_meta": {"version": "1"}, "memories": [
      {"id": "1", "content": "Has a dog", "state": "deleted", "created_at": "2026-01-05T10:00:00Z"},
      {"id": "2", "content": "Has a cat", "state": "active", "created_at": "2026-01-05T10:00:00Z"}]}"#;
    expect_test::expect![[r#"
        memories kept as quotations: 1
        memories that were deleted or have no statement, left out: 1
        default/openmemory-memories
          2 2026-01-05T10:00:00Z user me: "[stored by a model: openmemory]\n> Has a cat"
    "#]]
    .assert_eq(&told("memories.json", openmemory.as_bytes()));
    let edges = r#"[{"uuid": "1", "fact": "The boat lies in Brno", "source_node_uuid": "a", "target_node_uuid": "b",
      "created_at": "2000-02-01T09:00:00Z", "valid_at": "2000-02-01T09:00:00Z", "invalid_at": "2000-02-20T08:00:00Z"}]"#;
    expect_test::expect![[r#"
        memories kept as quotations: 1
        memories that are no longer valid, marked so: 1
        default/zep-memories
          1 2000-02-01T09:00:00Z user me: "[stored by a model: zep]\n> The boat lies in Brno\n> valid from 2000-02-01\n> valid until 2000-02-20"
    "#]].assert_eq(&told("edges.json", edges.as_bytes()));
}

#[test]
fn a_word_inside_a_message_does_not_decide_the_format() {
    let list = r#"[{"role": "user", "content": "\"mapping\" \"chat_messages\" \"session_1_date_time\"", "evidence": ["p. 4"]},
      {"role": "assistant", "content": "\"evidence\"", "id": 7}]"#;
    expect_test::expect![[r#"
        default/file
          message-0 2001-09-09T01:46:40Z user me: "\"mapping\" \"chat_messages\" \"session_1_date_time\""
          7 2001-09-09T01:46:40.001Z assistant assistant: "\"evidence\""
    "#]]
    .assert_eq(&told("file.json", list.as_bytes()));
    let lines =
        r#"{"role": "user", "content": "It rains.", "evidence": 1, "mapping": {}, "id": 5, "session_id": 9}"#;
    expect_test::expect![[r#"
        default/9
          5 2001-09-09T01:46:40.001Z user me: "It rains."
    "#]]
    .assert_eq(&told("file.jsonl", lines.as_bytes()));
}

#[test]
fn a_time_is_parsed_or_refused_with_its_line() {
    let times = [
        "1715176560",
        "1715176560123",
        "1715176560123456",
        "1715176560123456789",
        "\"1715176560.5\"",
        "\"2024-05-08T15:56:00\"",
        "\"2024-05-08 15:56:00+02:00\"",
        "\"yesterday\"",
        "{\"$date\": \"2024-05-08T15:56:00Z\"}",
        "null",
    ];
    let lines =
        times.map(|time| format!("{{\"role\": \"user\", \"content\": \"lit\", \"timestamp\": {time}}}\n"));
    expect_test::expect![[r#"
        skipped line 8: the time "yesterday" is not understood: write it as 2026-03-02T10:00:00Z
        times without a zone, read in UTC: 1
        default/file
          line-1 2024-05-08T13:56:00Z user me: "lit"
          line-2 2024-05-08T13:56:00.123Z user me: "lit"
          line-3 2024-05-08T13:56:00.123Z user me: "lit"
          line-4 2024-05-08T13:56:00.123Z user me: "lit"
          line-5 2024-05-08T13:56:00.5Z user me: "lit"
          line-6 2024-05-08T15:56:00Z user me: "lit"
          line-7 2024-05-08T13:56:00Z user me: "lit"
          line-9 2024-05-08T15:56:00Z user me: "lit"
          line-10 2001-09-09T01:46:40.01Z user me: "lit"
    "#]]
    .assert_eq(&told("file.jsonl", lines.concat().as_bytes()));
}

#[test]
fn other_formats_are_refused_by_name() {
    for (file, text, name) in [
        (
            "chats.json",
            r#"[{"id": 1, "prompt": "a", "response": "b", "sent_at": 1, "workspace": "w"}]"#,
            "AnythingLLM",
        ),
        (
            "box.json",
            r#"{"__exported_items": ["settings"], "settings": {}}"#,
            "Chatbox",
        ),
        (
            "s.json",
            "{\n\"sessionId\": \"s\", \"history\": [{\"message\": {\"role\": \"user\"}}]}",
            "Continue",
        ),
        (
            "q.json",
            r#"{"conversation_id": "q", "history": [{"user": {}, "assistant": {}}]}"#,
            "Amazon Q",
        ),
        (
            "list.json",
            r#"{"memories": [], "pagination": {"currentPage": 1}}"#,
            "Supermemory",
        ),
        (
            ".aider.chat.history.md",
            "\n# aider chat started at 2026-03-01 21:14:09\n",
            "Aider",
        ),
        (
            "history.csv",
            "\u{feff}Conversation,Time,Author,Message\n",
            "Microsoft Copilot",
        ),
    ] {
        let told = told(file, text.as_bytes());
        assert!(
            told.starts_with("error: ") && told.contains(&format!(": {name}. ")),
            "{told}"
        );
    }
}

#[test]
fn a_compressed_codex_session_is_read() {
    let lines = concat!(
        "{\"timestamp\":\"2026-02-03T11:00:00Z\",\"type\":\"session_meta\",\"payload\":{\"id\":\"0a\"}}\n",
        "{\"timestamp\":\"2026-02-03T11:00:01Z\",\"type\":\"response_item\",\"payload\":{\"type\":\"message\",\"role\":\"user\",",
        "\"content\":[{\"type\":\"input_text\",\"text\":\"Rename it.\"}]}}\n",
    );
    let packed = zstd::encode_all(lines.as_bytes(), 3).unwrap();
    expect_test::expect![[r#"
        default/0a
          line-2 2026-02-03T11:00:01Z user me: "Rename it."
    "#]]
    .assert_eq(&told("rollout-a.jsonl.zst", &packed));
}

/// Imports a file with this name from a folder with this name; some programs identify conversations by the folder.
fn told_in(folder: &str, file: &str, text: &str) -> String {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join(folder);
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join(file), text).unwrap();
    super::told_of(&folder.join(file))
}

#[test]
fn a_gemini_activity_is_a_question_with_its_answers() {
    let row = |title: &str, time: &str, answers: &str| {
        format!(
            r#"{{"header": "Gemini-Apps", "title": "{title}", "time": "2026-02-0{time}", "products": ["Gemini-Apps"]{answers}}}"#
        )
    };
    let answer =
        |html: &str| format!(r#", "safeHtmlItem": [{{"html": "{html}"}}, {{"html": "<p>Or so.</p>"}}]"#);
    let rows = [
        row(
            "Prompted Prompted by whom?",
            "3T10:00:00Z",
            &answer("<p>By <b>Ada</b> &amp; me.</p>"),
        ),
        row("Created a canvas", "2T10:00:00Z", ""),
        row(
            "Zadáno: Kolik je hodin?",
            "2T09:00:00Z",
            &answer("<ul><li>nine</li></ul>"),
        ),
        row("Asked Where is it?", "1T10:00:00Z", ""),
        row(
            "Prompt\u{a0}: Et l'image\u{202f}? Attached 1 file.",
            "1T11:00:00Z",
            r#", "imageFile": "b.png""#,
        ),
        r#"{"header": "Maps", "title": "Prompted me", "time": "2026-02-01T09:00:00Z", "products": ["Maps"]}"#
            .to_owned(),
    ];
    expect_test::expect![[r#"
        answers of other branches, left out: 2
        entries of programs, left out: 1
        default/gemini-apps
          2026-02-01T10:00:00Z~1 2026-02-01T10:00:00Z user me: "Where is it?"
          2026-02-01T11:00:00Z~1 2026-02-01T11:00:00Z user me: "Et l'image\u{202f}?\n[file: b.png]"
          2026-02-02T09:00:00Z~1 2026-02-02T09:00:00Z user me: "Zadáno: Kolik je hodin?"
          2026-02-02T09:00:00Z~1-0 2026-02-02T09:00:00Z assistant gemini: "- nine"
          2026-02-03T10:00:00Z~1 2026-02-03T10:00:00Z user me: "Prompted by whom?"
          2026-02-03T10:00:00Z~1-0 2026-02-03T10:00:00Z assistant gemini: "By Ada & me."
    "#]]
    .assert_eq(&told(
        "MyActivity.json",
        format!("[{}]", rows.join(",")).as_bytes(),
    ));
}

#[test]
fn an_edited_turn_of_gemini_in_workspace_is_another_branch() {
    let turn = |kind: &str, words: &str, place: u8, minute: u8| {
        format!(
            r#"{{"{kind}": {{{words}, "turn_index": {place}, "turn_last_modified": "2026-02-03T09:0{minute}:00+00:00"}}}}"#
        )
    };
    let turns = [
        turn("user_turn", r#""prompt": "Hive 5 weighs 28 kg.""#, 0, 0),
        turn(
            "system_turn",
            r#""text": [{"preamble": "Well.", "data": ""}, {"data": "Noted."}], "model_thoughts": [{"headline": "x"}]"#,
            1,
            1,
        ),
        turn("user_turn", r#""prompt": "And hive 6?""#, 2, 2),
        turn("user_turn", r#""prompt": "And hive 7?""#, 2, 3),
        turn(
            "user_turn",
            r#""prompt": "Gone", "turn_deleted_time": "2026-02-04T09:00:00Z""#,
            3,
            4,
        ),
    ];
    let text = format!(
        r#"{{"title": "Hives", "creation_time": "2026-02-03T09:00:00+00:00", "conversation_turns": [{}]}}"#,
        turns.join(",")
    );
    expect_test::expect![[r#"
        entries of programs, left out: 1
        messages of other branches, kept in sessions of their own: 1
        default/77 "Hives"
          turn-0-2026-02-03T09:00:00+00:00 2026-02-03T09:00:00Z user me: "Hive 5 weighs 28 kg."
          turn-1-2026-02-03T09:01:00+00:00 2026-02-03T09:01:00Z assistant gemini: "Well.\nNoted."
          turn-2-2026-02-03T09:03:00+00:00 2026-02-03T09:03:00Z user me: "And hive 7?"
        default/77~turn-2-2026-02-03T09:02:00+00:00 "Hives"
          turn-2-2026-02-03T09:02:00+00:00 2026-02-03T09:02:00Z user me: "[document: another branch]\n> And hive 6?"
    "#]].assert_eq(&told("conversation_77.txt", text.as_bytes()));
}

#[test]
fn messages_that_gemini_cli_rewound_are_not_imported() {
    let lines = r#"{"sessionId": "s", "projectHash": "p", "startTime": "2026-03-05T07:30:00Z", "kind": "main"}
{"id": "1", "timestamp": "2026-03-05T07:30:05Z", "type": "user", "content": [{"text": "The valve opens left."}]}
{"id": "2", "timestamp": "2026-03-05T07:30:20Z", "type": "gemini", "content": "Left"}
{"id": "2", "timestamp": "2026-03-05T07:30:20Z", "type": "gemini", "content": [{"text": "hm", "thought": true}, {"text": "Left, noted."}]}
{"id": "3", "timestamp": "2026-03-05T07:31:00Z", "type": "user", "content": "It is tin."}
{"$rewindTo": "3"}
{"id": "4", "timestamp": "2026-03-05T07:32:00Z", "type": "user", "content": [{"functionResponse": {}}, {"text": "It is brass."}]}
{"id": "5", "timestamp": "2026-03-05T07:33:00Z", "type": "info", "content": "Saved."}
{"$set": {"summary": "Valves"}}"#;
    expect_test::expect![[r#"
        entries of programs, left out: 1
        default/s "Valves"
          1 2026-03-05T07:30:05Z user me: "The valve opens left."
          2 2026-03-05T07:30:20Z assistant gemini: "Left, noted."
          4 2026-03-05T07:32:00Z user me: "It is brass."
    "#]]
    .assert_eq(&told("session.jsonl", lines.as_bytes()));
    let older = "{\n\"sessionId\": \"s\", \"projectHash\": \"p\", \"messages\": [{\"id\": \"1\", \"type\": \"user\", \"content\": \"Hi.\", \"timestamp\": \"2026-03-05T07:30:05Z\"}]}";
    expect_test::expect![[r#"
        default/s
          1 2026-03-05T07:30:05Z user me: "Hi."
    "#]]
    .assert_eq(&told("session.json", older.as_bytes()));
    let checkpoint = r#"{"history": [{"role": "user", "parts": [{"text": "This is the Gemini CLI. We are setting up."}]},
      {"role": "model", "parts": [{"text": "Got it."}]}, {"role": "user", "parts": [{"text": "No sugar."}]},
      {"role": "user", "parts": [{"functionResponse": {"name": "x"}}]}, {"role": "model", "parts": [{"text": "None."}]}]}"#;
    expect_test::expect![[r#"
        messages without a time, dated by the import: 2
        messages without words, left out: 1
        default/checkpoint-tea "tea"
          message-2 2001-09-09T01:46:40Z user me: "No sugar."
          message-4 2001-09-09T01:46:40Z assistant gemini: "None."
    "#]]
    .assert_eq(&told("checkpoint-tea.json", checkpoint.as_bytes()));
}

#[test]
fn versions_of_lm_studio_and_models_of_cherry_studio_are_branches() {
    let roof = r#"{"name": "Roof", "createdAt": 1772960400000, "messages": [
      {"currentlySelected": 1, "versions": [{"role": "user", "content": [{"type": "text", "text": "How steep?"}]},
        {"role": "user", "content": [{"type": "text", "text": "How steep is the roof?"}, {"type": "file", "name": "roof.png"}]}]},
      {"currentlySelected": 0, "versions": [{"role": "assistant", "senderInfo": {"senderName": "qwen3"}, "steps": [
        {"type": "contentBlock", "style": {"type": "thinking"}, "content": [{"type": "text", "text": "hm"}]},
        {"type": "contentBlock", "prefix": "<|channel|>analysis<|message|>", "content": [{"type": "text", "text": "so"}]},
        {"type": "contentBlock", "content": [{"type": "text", "text": "Forty degrees."}]}]}]}]}"#;
    expect_test::expect![[r#"
        messages of other branches, kept in sessions of their own: 1
        default/1.conversation "Roof"
          message-0-1 2026-03-08T09:00:00Z user me: "How steep is the roof?\n[file: roof.png]"
          message-1-0 2026-03-08T09:00:00Z assistant qwen3: "Forty degrees."
        default/1.conversation~message-0-0 "Roof"
          message-0-0 2026-03-08T09:00:00Z user me: "[document: another branch]\n> How steep?"
    "#]]
    .assert_eq(&told("1.conversation.json", roof.as_bytes()));
    let soup = r#"{"time": 1, "version": 5, "localStorage": {"persist:cherry-studio":
        "{\"assistants\": \"{\\\"assistants\\\": [{\\\"topics\\\": [{\\\"id\\\": \\\"t\\\", \\\"name\\\": \\\"Soup\\\"}]}]}\"}"},
      "indexedDB": {"topics": [{"id": "t", "messages": [
        {"id": "q", "role": "user", "createdAt": "2026-03-01T10:00:00Z", "blocks": ["1", "2"]},
        {"id": "a", "role": "assistant", "askId": "q", "model": {"name": "A"}, "createdAt": "2026-03-01T10:00:05Z", "blocks": ["3"]},
        {"id": "b", "role": "assistant", "askId": "q", "foldSelected": true, "modelId": "B", "createdAt": "2026-03-01T10:00:05Z", "blocks": ["4", "5"]},
        {"id": "c", "role": "user", "type": "clear", "blocks": []},
        {"id": "d", "role": "user", "createdAt": "2026-03-01T10:01:00Z", "blocks": ["6"]}]}],
      "message_blocks": [{"id": "1", "type": "main_text", "content": "Two onions."}, {"id": "2", "type": "file", "file": {"origin_name": "soup.txt"}},
        {"id": "3", "type": "main_text", "content": "Three."}, {"id": "4", "type": "thinking", "content": "hm"},
        {"id": "5", "type": "main_text", "content": "Two, yes."}, {"id": "6", "type": "main_text", "content": "And salt?"}]}}"#;
    expect_test::expect![[r#"
        answers of other branches, left out: 1
        default/t "Soup"
          q 2026-03-01T10:00:00Z user me: "Two onions.\n[file: soup.txt]"
          b 2026-03-01T10:00:05Z assistant B: "Two, yes."
          d 2026-03-01T10:01:00Z user me: "And salt?"
    "#]]
    .assert_eq(&told("data.json", soup.as_bytes()));
}

#[test]
fn a_persons_words_in_role_play_are_a_quotation() {
    let lines = r#"{"user_name": "unused", "character_name": "unused", "create_date": "x"}
{"name": "Mirela", "is_user": false, "is_system": false, "send_date": "March 10, 2026 12:15am", "mes": "Ahoy."}
{"name": "Ota", "is_user": true, "is_system": false, "send_date": "2026-3-10@08h16m30s", "mes": "I have nine ships."}
{"name": "Mirela", "is_user": false, "is_system": false, "send_date": "2026-03-10T08:17:00Z", "mes": "Nine!", "swipe_id": 1, "swipes": ["Ten?", "Nine!"]}
{"name": "Note", "is_user": false, "is_system": true, "send_date": "March 10, 2026 8:18pm", "mes": "Imported.", "extra": {"type": "narrator"}}
{"name": "Ota", "is_user": true, "is_system": true, "send_date": "March 10, 2026 8:18pm", "mes": "Hidden.", "extra": {}}"#;
    expect_test::expect![[r#"
        answers of other branches, left out: 1
        entries of programs, left out: 1
        times without a zone, read in UTC: 3
        default/Mirela - 1 "Mirela"
          message-0 2026-03-10T00:15:00Z assistant Mirela: "Ahoy."
          message-1 2026-03-10T08:16:30Z user me: "[document: role play]\n> I have nine ships."
          message-2 2026-03-10T08:17:00Z assistant Mirela: "Nine!"
          message-4 2026-03-10T20:18:00Z user me: "[document: role play]\n> Hidden."
    "#]]
    .assert_eq(&told("Mirela - 1.jsonl", lines.as_bytes()));
}

#[test]
fn a_cline_task_has_only_the_words_that_its_user_typed() {
    let list = r#"[{"role": "user", "ts": 1772866800000, "content": [{"type": "text", "text": "<task>\nMend the scale.\n</task>"},
        {"type": "text", "text": "<environment_details>\nnone\n</environment_details>"}]},
      {"role": "assistant", "content": [{"type": "text", "text": "I read."}, {"type": "tool_use", "name": "read_file", "input": {"path": "a"}}]},
      {"role": "user", "content": [{"type": "tool_result", "content": [{"type": "text", "text": "fn a() {}"}]},
        {"type": "text", "text": "<environment_details>\nnone\n</environment_details>"}]},
      {"role": "assistant", "content": [{"type": "tool_use", "name": "attempt_completion", "input": {"result": "It is mended."}}]},
      {"role": "user", "content": [{"type": "tool_result", "content": "Feedback:\n<feedback>\nIt is.\n</feedback>"}]},
      {"role": "user", "content": "<user_input mode=\"act\">\nNow the label.\n</user_input>"},
      {"role": "user", "isSummary": true, "content": "A summary."}]"#;
    expect_test::expect![[r#"
        entries of programs, left out: 1
        messages without words, left out: 1
        default/1772866800000
          message-0 2026-03-07T07:00:00Z user me: "Mend the scale."
          message-1 2026-03-07T07:00:00Z assistant cline: "I read."
          message-3 2026-03-07T07:00:00Z assistant cline: "It is mended."
          message-4 2026-03-07T07:00:00Z user me: "It is."
          message-5 2026-03-07T07:00:00Z user me: "Now the label."
    "#]]
    .assert_eq(&told_in("1772866800000", "api_conversation_history.json", list));
    assert!(
        told("list.json", list.as_bytes()).contains("<task>"),
        "without its name it is a list of messages"
    );
}

#[test]
fn a_letta_agent_is_imported_with_its_memory_blocks() {
    let agent = r#"{"agents": [{"name": "Gardener", "block_ids": ["b1"], "messages": [
      {"role": "system", "content": [{"type": "text", "text": "You tend."}], "created_at": "2026-01-22T02:06:30+00:00"},
      {"id": "m1", "role": "user", "created_at": "2026-01-22T02:06:34+00:00", "content": [{"type": "text",
        "text": "{\"type\": \"user_message\", \"message\": \"Tomatoes are inside.\"}"}]},
      {"id": "m2", "role": "user", "created_at": "2026-01-22T02:06:35+00:00", "content": [{"type": "text", "text": "{\"type\": \"heartbeat\"}"}]},
      {"id": "m3", "role": "assistant", "created_at": "2026-01-22T02:06:36+00:00", "content": [{"type": "text", "text": "I should save it."}],
        "tool_calls": [{"function": {"name": "send_message", "arguments": "{\"message\": \"Saved.\"}"}}]}]}],
      "blocks": [{"id": "b1", "label": "human", "value": "Ota has a greenhouse."}, {"id": "b2", "label": "human", "value": "Somebody else."}]}"#;
    let wanted = told("gardener.af", agent.as_bytes());
    expect_test::expect![[r#"
        entries of programs, left out: 2
        memories kept as quotations: 1
        messages without a time, dated by the import: 1
        default/Gardener "Gardener"
          m1 2026-01-22T02:06:34Z user me: "Tomatoes are inside."
          m3 2026-01-22T02:06:36Z assistant letta: "Saved."
        default/letta-memories
          b1 2001-09-09T01:46:40Z user me: "[stored by a model: letta human]\n> Ota has a greenhouse."
    "#]]
    .assert_eq(&wanted);
    let in_a_text = serde_json::to_string(agent).unwrap();
    assert_eq!(told("gardener.af", in_a_text.as_bytes()), wanted);
}

#[test]
fn claude_mem_prompts_are_the_users_words_and_the_rest_a_models() {
    let export = r#"{"observations": [{"id": 4, "title": "Valve", "facts": "[\"left\", \"tin\"]", "created_at": "2026-03-06T21:00:00Z"}],
      "sessions": [{"content_session_id": "c", "custom_title": "The valve"}], "summaries": [{"id": 3, "request": "Fix", "created_at": "2026-03-06T21:05:00Z"}],
      "prompts": [{"content_session_id": "c", "prompt_number": 1, "prompt_text": "Fix the valve.", "created_at": "2026-03-06T20:50:00Z"}]}"#;
    expect_test::expect![[r#"
        default/c "The valve"
          prompt-1 2026-03-06T20:50:00Z user me: "Fix the valve."
        memories kept as quotations: 2
        default/claude-mem-memories
          observation-4 2026-03-06T21:00:00Z user me: "[stored by a model: claude-mem]\n> Valve\n> left\n> tin"
          summary-3 2026-03-06T21:05:00Z user me: "[stored by a model: claude-mem]\n> Fix"
    "#]].assert_eq(&told("memories.json", export.as_bytes()));
}

const CHALET: &str = "[3/6/26, 8:59:58\u{202f}AM] Chalet: \u{200e}Messages are encrypted.
[3/6/26, 9:00:12\u{202f}AM] Ines \u{c5}rud: The key: behind the bell.
second line
\u{200e}[3/6/26, 12:02:40\u{202f}PM] Ines \u{c5}rud: \u{200e}<attached: 1.jpg>
[3/DAY/26, 11:05:09\u{202f}PM] me: It is back. \u{200e}<This message was edited>
";

#[test]
fn a_whatsapp_chat_shows_the_order_of_day_and_month() {
    expect_test::expect![[r#"
        entries of programs, left out: 2
        times without a zone, read in UTC: 2
        default/WhatsApp Chat - Chalet "WhatsApp Chat - Chalet"
          71aee4f0bbefce30-1 2026-03-06T09:00:12Z user Ines--rud-ff557e69475f11a1: "The key: behind the bell.\nsecond line"
          78827a388ea984d1-1 2026-03-13T23:05:09Z user me: "It is back."
    "#]].assert_eq(&told_in(
        "WhatsApp Chat - Chalet",
        "_chat.txt",
        &CHALET.replace("DAY", "13"),
    ));
    let android = "06.03.26, 9:00 - Ines: Ano.\n06.03.26, 9:00 - Ines: Ano.\n06.03.26, 9:01 - Ota left\n";
    expect_test::expect![[r#"
        entries of programs, left out: 1
        times without a zone, read in UTC: 2
        default/Chat "Chat"
          38de29fe072cb59c-1 2026-03-06T09:00:00Z user Ines: "Ano."
          38de29fe072cb59c-2 2026-03-06T09:00:00Z user Ines: "Ano."
    "#]]
    .assert_eq(&told("Chat.txt", android.as_bytes()));
    let sent = "06.03.26, 9:00 - Ines: \u{200e}IMG-1.jpg (file attached)\nMy dog\n06.03.26, 9:01 - Ines: \u{200e}IMG-2.jpg (file attached)\n";
    let sent = told("Chat.txt", sent.as_bytes());
    assert!(sent.contains("IMG-1.jpg (file attached)\\nMy dog"), "{sent}");
    assert!(!sent.contains("IMG-2"), "{sent}");
    assert!(
        told("chat.txt", CHALET.replace("DAY", "7").as_bytes())
            .contains("whether the day or the month is first")
    );
}

#[test]
fn front_matter_shows_which_memory_program_wrote_a_note() {
    let garden = "---\ntitle: Arbour\ntype: note\npermalink: home/arbour\nmodified: 2026-03-05T18:00:00+01:00\ntags:\n  - a\n---\n# Arbour\n\
      Built by Ota.\n- [light] Twelve bulbs #led (counted)\n- The third flickers #todo\n- [ ] buy a socket\n- [00:01:15] talk\n\
      - [shop](http://a.b)\n- part_of [[House]] #x\n- [[Garden]]\n";
    expect_test::expect![[r#"
        memories kept as quotations: 2
        memories that were deleted or have no statement, left out: 6
        default/basic-memory-memories
          memory-be84212af1ba4b3d 2026-03-05T17:00:00Z user me: "[stored by a model: basic-memory]\n> [light] Twelve bulbs #led (counted)"
          memory-e83b1b44381c5fa7 2026-03-05T17:00:00Z user me: "[stored by a model: basic-memory]\n> The third flickers #todo"
    "#]].assert_eq(&told("Arbour.md", garden.as_bytes()));
    let plugin = "---\nid: 1\ncreated_at: 2026-03-02T08:00:00Z\nconfidence: 0.9\nbranch: main\n---\nIn grams: never in pounds.\n\n---\nnot a front\n\
      ---\nid: 2\ncreated_at: 2026-03-03T08:00:00Z\nconfidence: \nbranch: \n---\nComments in English.\n";
    expect_test::expect![[r#"
        memories kept as quotations: 2
        default/mem0-memories
          1 2026-03-02T08:00:00Z user me: "[stored by a model: mem0]\n> In grams: never in pounds.\n>\n> ---\n> not a front"
          2 2026-03-03T08:00:00Z user me: "[stored by a model: mem0]\n> Comments in English."
    "#]].assert_eq(&told("export.md", plugin.as_bytes()));
    let block = "---\ndescription: \"What I know\"\n---\n\nDrinks tea.\n";
    expect_test::expect![[r#"
        memories kept as quotations: 1
        messages without a time, dated by the import: 1
        default/letta-memories
          system/human 2001-09-09T01:46:40Z user me: "[stored by a model: letta]\n> Drinks tea."
    "#]]
    .assert_eq(&told_in("system", "human.md", block));
    assert!(
        told("command.md", block.as_bytes()).contains("cannot detect the format"),
        "any program writes that"
    );
}

#[test]
fn the_open_webui_database_is_read_row_by_row() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("webui.db");
    let database = rusqlite::Connection::open(&path).unwrap();
    database
        .execute_batch(
            r#"CREATE TABLE chat (id, user_id, title, chat, created_at);
            INSERT INTO chat VALUES ('c', 'u', 'Well', '{"history": {"messages": {}, "currentId": "3"}}', 1773133200);
            CREATE TABLE memory (id, user_id, content, updated_at, created_at);
            INSERT INTO memory VALUES ('m', 'u', 'The well is behind the house.', 1773133500, 1773133500);
            CREATE TABLE chat_message (id, chat_id, role, parent_id, content, output, model_id, files, context_summary, created_at);
            INSERT INTO chat_message VALUES ('c-1', 'c', 'user', NULL, '"Eight metres."', NULL, NULL, NULL, NULL, 1773133200);
            INSERT INTO chat_message VALUES ('c-2', 'c', 'assistant', '1', '"Huit."', NULL, 'gemma', NULL, NULL, 1773133204000);
            INSERT INTO chat_message VALUES ('c-3', 'c', 'assistant', '1', 'no JSON', NULL, 'gemma', NULL, NULL, 1773133260);"#,
        )
        .unwrap();
    drop(database);
    expect_test::expect![[r#"
        answers of other branches, left out: 1
        default/c "Well"
          1 2026-03-10T09:00:00Z user me: "Eight metres."
          3 2026-03-10T09:01:00Z assistant gemma: "no JSON"
        memories kept as quotations: 1
        default/open-webui-memories
          m 2026-03-10T09:05:00Z user me: "[stored by a model: open-webui]\n> The well is behind the house."
    "#]]
    .assert_eq(&super::told_of(&path));
}

#[test]
fn uploads_with_the_same_name_stay_separate_conversations() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("api_conversation_history.json");
    let place = |text: &str| {
        let list = format!(r#"[{{"role": "user", "content": "<task>\n{text}\n</task>"}}]"#);
        std::fs::write(&path, list).unwrap();
        let sources = super::sources(std::slice::from_ref(&path)).unwrap();
        sources[0].clone().alone().folder()
    };
    let (first, again, other) = (place("Mend it."), place("Mend it."), place("Paint it."));
    assert_eq!(first, again);
    assert_ne!(first, other);
}

#[test]
fn an_empty_memory_store_is_not_an_error() {
    let export = r#"{"observations": [], "sessions": [], "summaries": [], "prompts": [
      {"content_session_id": "c", "prompt_number": 1, "prompt_text": "Fix it.", "created_at": "2026-03-06T20:50:00Z"}]}"#;
    let told = told("memories.json", export.as_bytes());
    assert!(told.contains("Fix it.") && !told.contains("skipped"), "{told}");
}

#[test]
fn importing_a_folder_names_the_files_without_conversations() {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [
        (
            "a/messages.jsonl",
            r#"{"object": "thread.message", "id": "1", "thread_id": "t", "role": "user", "content": "Hem.", "created_at": 1771581610}"#,
        ),
        (
            "a/thread.json",
            r#"{"id": "t", "object": "thread", "title": "Sail"}"#,
        ),
        ("b/chat.html", "<html>"),
        ("b/photo.jpg", "x"),
        (
            "b/chats.json",
            r#"[{"prompt": "a", "response": "b", "sent_at": 1, "workspace": "w"}]"#,
        ),
    ] {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let told = super::told_of(folder.path()).replace(&*folder.path().to_string_lossy(), "F");
    expect_test::expect![[r#"
        default/t "Sail"
          1 2026-02-20T10:00:10Z user me: "Hem."
        left out thread.json
        left out chat.html
        error: `F/b/chats.json`: AnythingLLM. Quipu does not import it: threads and people are mixed in it
    "#]]
    .assert_eq(&told);
}

#[test]
fn several_users_of_one_file_stay_apart() {
    let chat = |id: &str, owner: &str| {
        format!(
            r#"{{"id": "{id}", "user_id": "{owner}", "title": "T", "chat": {{"history": {{"currentId": "{id}1", "messages":
               {{"{id}1": {{"id": "{id}1", "parentId": null, "role": "user", "content": "I am {owner}.", "timestamp": 1772614800}}}}}}}}}}"#
        )
    };
    let both = format!(
        "[{}, {}, {}]",
        chat("a", "ana"),
        chat("b", "me"),
        r#"{"id": "c", "user_id": "ana", "chat": {"history": {}}}"#
    );
    expect_test::expect![[r#"
        conversations of other people, kept under their names: 1
        default/a "T"
          a1 2026-03-04T09:00:00Z user ana: "I am ana."
        default/b "T"
          b1 2026-03-04T09:00:00Z user me: "I am me."
        conversations of other people, kept under their names: 1
        default/c
    "#]]
    .assert_eq(&told("all.json", both.as_bytes()));
    let memory = |id: &str, owner: &str| {
        format!(
            r#"{{"id": "{id}", "memory": "Of {owner}", "user_id": "{owner}", "created_at": "2001-01-01T00:00:00Z"}}"#
        )
    };
    let memories = format!("[{}, {}]", memory("1", "ana"), memory("2", "me"));
    expect_test::expect![[r#"
        memories kept as quotations: 2
        default/mem0-memories~ana
          1 2001-01-01T00:00:00Z user ana: "[stored by a model: mem0]\n> Of ana"
        default/mem0-memories
          2 2001-01-01T00:00:00Z user me: "[stored by a model: mem0]\n> Of me"
    "#]]
    .assert_eq(&told("memories.json", memories.as_bytes()));
}

#[test]
fn unordered_messages_are_sorted_by_time() {
    let zep = r#"{"row_count": 2, "total_count": 2, "messages": [
      {"uuid": "2", "role": "assistant", "content": "Nine.", "created_at": "2026-02-01T09:00:05Z"},
      {"uuid": "1", "role": "user", "content": "How many?", "created_at": "2026-02-01T09:00:00Z"}]}"#;
    expect_test::expect![[r#"
        default/file
          1 2026-02-01T09:00:00Z user me: "How many?"
          2 2026-02-01T09:00:05Z assistant assistant: "Nine."
    "#]]
    .assert_eq(&told("thread.json", zep.as_bytes()));
    let le_chat = r#"[{"id": "2", "chatId": "c", "role": "assistant", "content": "", "createdAt": "2026-01-15T16:18:25Z",
      "contentChunks": [{"type": "text", "text": "Two "}, {"type": "text", "text": "litres."}]},
      {"id": "1", "chatId": "c", "role": "user", "content": "How much?", "contentChunks": null, "createdAt": "2026-01-15T16:18:19Z"}]"#;
    expect_test::expect![[r#"
        default/c
          1 2026-01-15T16:18:19Z user me: "How much?"
          2 2026-01-15T16:18:25Z assistant assistant: "Two litres."
    "#]]
    .assert_eq(&told("chat.json", le_chat.as_bytes()));
    let response = |id: &str, parent: &str, sender: &str, minute: u8| {
        format!(
            r#"{{"response": {{"_id": "{id}", {parent}"sender": "{sender}", "message": "Words {id}.", "create_time": "2026-02-01T09:0{minute}:00Z"}}}}"#
        )
    };
    let grok = [
        response("4", r#""parent_response_id": "gone", "#, "assistant", 4),
        response("2", r#""parent_response_id": "1", "#, "assistant", 2),
        response("3", "", "human", 3),
        response("1", "", "human", 1),
    ];
    let grok = format!(
        r#"{{"conversations": [{{"conversation": {{"id": "g"}}, "responses": [{}]}}, {{"conversation": {{"id": "h"}}, "responses": []}}]}}"#,
        grok.join(",")
    );
    expect_test::expect![[r#"
        default/g
          1 2026-02-01T09:01:00Z user me: "Words 1."
          2 2026-02-01T09:02:00Z assistant grok: "Words 2."
          3 2026-02-01T09:03:00Z user me: "Words 3."
          4 2026-02-01T09:04:00Z assistant grok: "Words 4."
        default/h
    "#]]
    .assert_eq(&told("grok.json", grok.as_bytes()));
}
