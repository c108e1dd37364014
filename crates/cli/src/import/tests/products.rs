//! Exports of other programs: the shown branch, other branches apart, memories as quotations, formats refused by name.

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
        entries of programs, left out: 1
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
fn a_chat_of_telegram_keeps_its_speakers_and_quotes_what_was_forwarded() {
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
          2 2026-02-05T11:00:00Z user user3: "The gate creaks.\u{7}"
          3 2026-02-05T11:06:00Z user me: "[document: forwarded from Otto]\n> I live in Graz."
    "#]]
    .assert_eq(&told("result.json", chat.as_bytes()));
}

#[test]
fn memories_are_quotations_and_the_past_says_so() {
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
        memories that their program deleted, left out: 1
        default/openmemory-memories
          2 2026-01-05T10:00:00Z user me: "[stored by a model: openmemory]\n> Has a cat"
    "#]]
    .assert_eq(&told("memories.json", openmemory.as_bytes()));
    let edges = r#"[{"uuid": "1", "fact": "The boat lies in Brno", "source_node_uuid": "a", "target_node_uuid": "b",
      "created_at": "2000-02-01T09:00:00Z", "valid_at": "2000-02-01T09:00:00Z", "invalid_at": "2000-02-20T08:00:00Z"}]"#;
    expect_test::expect![[r#"
        memories kept as quotations: 1
        memories that are no longer valid, marked so: 1
        default/zep-edges-memories
          1 2000-02-01T09:00:00Z user me: "[stored by a model: zep-edges]\n> The boat lies in Brno\n> valid from 2000-02-01\n> valid until 2000-02-20"
    "#]].assert_eq(&told("edges.json", edges.as_bytes()));
}

#[test]
fn a_word_within_a_message_tells_no_format() {
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
fn a_time_is_understood_or_refused_with_its_line() {
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
fn a_session_that_codex_compressed_is_read() {
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
