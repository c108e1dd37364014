//! Edited items: only the changed parts have other bytes.
use transcript::dialect::{Dialect, read, write};
use transcript::{Block, Call, Item, Outcome, Role};

/// Reads one message, edits its blocks, and writes it.
#[track_caller]
fn check(dialect: Dialect, raw: &str, edit: impl FnOnce(&mut Vec<Block>), expected: &str) {
    let mut item = read(&format!("[{raw}]")).expect("a message").items.remove(0);
    edit(&mut item.blocks);
    item.edited = true;
    assert_eq!(write(dialect, &[item]).join("\n"), expected);
}

fn text(text: &str) -> Block {
    Block::Text(text.to_owned())
}

fn result(blocks: &mut [Block], at: usize, text: &str, images: usize) {
    let Block::Outcome(outcome) = &mut blocks[at] else {
        panic!("no result at {at}")
    };
    text.clone_into(&mut outcome.text);
    outcome.images = images;
}

const CHAT: &str = r#"{ "role":"assistant", "x":[1, 2], "content":"see \u00e9", "reasoning_content":"hm", "tool_calls":[ {"id":"a","type":"function","function":{"name":"f","arguments":"{ \"k\" : 1.0 }"}}, {"id":"b","function":{"name":"g","arguments":""}} ] }"#;

#[test]
fn a_chat_message() {
    let check = |edit: fn(&mut Vec<Block>), expected: &str| check(Dialect::OpenAi, CHAT, edit, expected);
    check(|_| (), CHAT);
    check(
        |blocks| blocks[1] = text("say \"é\"\n"),
        &CHAT.replace(r#""see \u00e9""#, r#""say \"é\"\n""#),
    );
    check(
        |blocks| drop(blocks.remove(1)),
        &CHAT.replace(r#""see \u00e9""#, "null"),
    );
    check(
        |blocks| drop(blocks.remove(0)),
        &CHAT.replace(r#", "reasoning_content":"hm""#, ""),
    );
    let one_call = r#", {"id":"b","function":{"name":"g","arguments":""}}"#;
    check(|blocks| drop(blocks.pop()), &CHAT.replace(one_call, ""));
    let first_call =
        r#"{"id":"a","type":"function","function":{"name":"f","arguments":"{ \"k\" : 1.0 }"}}, "#;
    check(|blocks| drop(blocks.remove(2)), &CHAT.replace(first_call, ""));
    check(
        |blocks| blocks.truncate(2),
        r#"{ "role":"assistant", "x":[1, 2], "content":"see \u00e9", "reasoning_content":"hm" }"#,
    );
    let changed = r#"{"id":"b","type":"function","function":{"name":"g","arguments":"{}"}}"#;
    check(
        |blocks| {
            blocks[3] = Block::Call(Call {
                id: "b".to_owned(),
                name: "g".to_owned(),
                arguments: "{}".to_owned(),
            });
        },
        &CHAT.replace(r#"{"id":"b","function":{"name":"g","arguments":""}}"#, changed),
    );
}

#[test]
fn a_tools_message() {
    let raw = r#"{"role":"tool","name":"f","content":"long","tool_call_id":"a"}"#;
    check(
        Dialect::OpenAi,
        raw,
        |blocks| result(blocks, 0, "short", 0),
        &raw.replace("long", "short"),
    );
    let parts = r#"{"role":"tool","content":[{"type":"text","text":"x"}, {"type":"image_url","image_url":{"url":"u"}}],"tool_call_id":"a"}"#;
    let kept = r#"{"role":"tool","content":[{"type":"text","text":"y"},{"type":"image_url","image_url":{"url":"u"}}],"tool_call_id":"a"}"#;
    check(Dialect::OpenAi, parts, |blocks| result(blocks, 0, "y", 1), kept);
    check(
        Dialect::OpenAi,
        parts,
        |blocks| result(blocks, 0, "y", 0),
        r#"{"role":"tool","content":"y","tool_call_id":"a"}"#,
    );
}

const RESULTS: &str = r#"{"content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"x"},{"type":"image","source":{}}],"cache_control":{"type":"ephemeral"}}, {"type":"tool_result","tool_use_id":"b","content":"y"}, {"type":"text","text":"and"}],"role":"user"}"#;

#[test]
fn anthropics_results() {
    let check =
        |edit: fn(&mut Vec<Block>), expected: &str| check(Dialect::Anthropic, RESULTS, edit, expected);
    check(
        |blocks| result(blocks, 1, "[gone]", 0),
        &RESULTS.replace(r#""y""#, r#""[gone]""#),
    );
    check(
        |blocks| result(blocks, 0, "z", 1),
        &RESULTS.replace(r#""x""#, r#""z""#),
    );
    check(
        |blocks| result(blocks, 0, "z", 0),
        &RESULTS.replace(
            r#"[{"type":"text","text":"x"},{"type":"image","source":{}}]"#,
            r#""z""#,
        ),
    );
    check(
        |blocks| drop(blocks.pop()),
        &RESULTS.replace(r#", {"type":"text","text":"and"}"#, ""),
    );
    check(
        |blocks| drop(blocks.drain(..2)),
        r#"{"content":[{"type":"text","text":"and"}],"role":"user"}"#,
    );
    check(|blocks| blocks[2] = text("but"), &RESULTS.replace("and", "but"));
    check(
        |blocks| blocks.push(text("more")),
        &RESULTS
            .replace(", {", ",{")
            .replace(r#""and"}"#, r#""and"},{"type":"text","text":"more"}"#),
    );
}

#[test]
fn an_anthropic_text_becomes_a_list_when_a_block_is_added() {
    let raw = r#"{"role":"user","content":"a","x":1}"#;
    let expected =
        r#"{"role":"user","content":[{"type":"text","text":"0"},{"type":"text","text":"a"}],"x":1}"#;
    check(
        Dialect::Anthropic,
        raw,
        |blocks| blocks.insert(0, text("0")),
        expected,
    );
    check(
        Dialect::Anthropic,
        raw,
        |blocks| blocks[0] = text("0"),
        r#"{"role":"user","content":"0","x":1}"#,
    );
}

#[test]
fn an_overridden_value_does_not_return() {
    let raw = r#"{"role":"assistant","reasoning_content":"old","reasoning_content":"new","content":"a"}"#;
    check(
        Dialect::OpenAi,
        raw,
        |blocks| drop(blocks.remove(0)),
        r#"{"role":"assistant","content":"a"}"#,
    );
}

#[test]
fn codex_items() {
    let raw = r#"{"type":"function_call_output","output":"long","call_id":"a","status":"s"}"#;
    check(
        Dialect::Codex,
        raw,
        |blocks| result(blocks, 0, "short", 0),
        &raw.replace("long", "short"),
    );
    let nested =
        r#"{"type":"custom_tool_call_output","call_id":"a","output":{"content":"long","success":true}}"#;
    check(
        Dialect::Codex,
        nested,
        |blocks| result(blocks, 0, "short", 0),
        &nested.replace("long", "short"),
    );
    let call = r#"{"type":"function_call","call_id":"a","name":"f","arguments":"{}"}"#;
    check(Dialect::Codex, call, Vec::clear, "");
}

#[test]
fn results_of_one_turn_are_joined_if_one_of_them_was_made() {
    let raw = read(&format!("[{RESULTS}]")).expect("a message").items.remove(0);
    let made = Item::outcome("c", "[lost]");
    let alone = Outcome {
        call_id: "d".to_owned(),
        text: "D".to_owned(),
        failed: true,
        images: 0,
    };
    let alone = Item {
        role: Role::Tool,
        blocks: vec![Block::Outcome(alone)],
        raw: None,
        edited: false,
    };
    let added = r#"{"content":[{"type":"tool_result","tool_use_id":"c","content":"[lost]"},{"type":"tool_result","tool_use_id":"a""#;
    let messages = write(Dialect::Anthropic, &[made.clone(), raw.clone()]);
    assert_eq!(messages.len(), 1);
    assert!(
        messages[0].starts_with(added)
            && messages[0].ends_with(r#"{"type":"text","text":"and"}],"role":"user"}"#),
        "{}",
        messages[0]
    );
    assert_eq!(
        write(Dialect::Anthropic, &[raw.clone(), raw.clone()]),
        [RESULTS, RESULTS],
        "nothing was made: the bytes stay"
    );
    assert_eq!(
        write(Dialect::Anthropic, &[made.clone(), alone]),
        [
            r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"[lost]"},{"type":"tool_result","tool_use_id":"d","content":"D","is_error":true}]}"#
        ]
    );
    assert_eq!(
        write(Dialect::OpenAi, &[made]),
        [r#"{"role":"tool","tool_call_id":"c","content":"[lost]"}"#]
    );
}

#[test]
fn items_made_by_quipu_are_written_in_each_dialect() {
    let said = |dialect| {
        write(
            dialect,
            &[
                Item::text(Role::System, "s"),
                Item::text(Role::User, "u"),
                Item::outcome("c", "r"),
            ],
        )
    };
    assert_eq!(
        said(Dialect::OpenAi),
        [
            r#"{"role":"system","content":"s"}"#,
            r#"{"role":"user","content":"u"}"#,
            r#"{"role":"tool","tool_call_id":"c","content":"r"}"#
        ]
    );
    assert_eq!(
        said(Dialect::ClaudeCode),
        [
            r#"{"role":"user","content":"u"}"#,
            r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"r"}]}"#
        ]
    );
    assert_eq!(
        said(Dialect::Codex),
        [
            r#"{"type":"message","role":"developer","content":[{"type":"input_text","text":"s"}]}"#,
            r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"u"}]}"#,
            r#"{"type":"function_call_output","call_id":"c","output":"r"}"#,
        ]
    );
}
