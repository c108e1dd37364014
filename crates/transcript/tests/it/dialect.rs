//! Reading transcripts of every dialect, and writing them back byte for byte.
use expect_test::{Expect, expect};
use transcript::dialect::{Dialect, Transcript, picture, read, system, write};

use crate::say::made_anew;
use transcript::{Block, Item, Outcome, Role, Thinking};

/// The names of its tools, in order; a provider's own tool without a name has its type.
fn tool_names(transcript: &Transcript) -> Vec<String> {
    let tools = transcript.tools.as_deref().unwrap_or("[]");
    let tools: Vec<serde_json::Value> = serde_json::from_str(tools).expect("a list");
    let name = |tool: &serde_json::Value| {
        let names = [&tool["function"]["name"], &tool["name"], &tool["type"]];
        names
            .into_iter()
            .find_map(|name| name.as_str())
            .map(str::to_owned)
    };
    tools.iter().filter_map(name).collect()
}

/// The read transcript, one line per block.
fn rendered(transcript: &Transcript) -> String {
    let (dialect, model) = (transcript.dialect.as_str(), &transcript.model);
    let (tools, skipped) = (tool_names(transcript), &transcript.skipped);
    let mut lines = vec![format!(
        "{dialect} model {model:?} tools {tools:?} skipped {skipped:?}"
    )];
    for item in &transcript.items {
        lines.push(format!("{:?}", item.role));
        lines.extend(item.blocks.iter().map(|block| match block {
            Block::Text(text) => format!("  text {text:?}"),
            Block::Image(_) => "  image".to_owned(),
            Block::Thinking(Thinking { text, raw }) => format!("  thinks {text:?} {}", !raw.is_empty()),
            Block::Call(call) => format!("  calls {:?} {} {}", call.id, call.name, call.arguments),
            Block::Outcome(Outcome {
                call_id,
                text,
                failed,
                images,
            }) => {
                format!("  result {call_id:?} {text:?} failed {failed} images {images}")
            }
            Block::Other(raw) => format!("  other {raw}"),
        }));
    }
    lines.join("\n") + "\n"
}

/// Reads, compares, and writes back: each message must have its own bytes of the file.
#[track_caller]
fn check(text: &str, expected: &Expect) -> Transcript {
    let transcript = read(text).unwrap_or_else(|error| panic!("{error}"));
    expected.assert_eq(&rendered(&transcript));
    for message in write(transcript.dialect, &transcript.items) {
        assert!(text.contains(&message), "not its own bytes: {message}");
    }
    transcript
}

pub(crate) const OPENAI: &str = r#"{"model":"gpt-x","tools":[{"type":"function","function":{"name":"ls","parameters":{}}}],
 "messages": [
  {"role":"developer","content":"Be brief."},
  {"role":"user","content":[{"type":"text","text":"see"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AA"}}],"name":"ann"},
  {"content":null,"role":"assistant","reasoning_content":"hm","tool_calls":[
    {"id":"c1","type":"function","function":{"name":"ls","arguments":"{\"a\" : 1.0, \"b\":\"\\u00e9\"}"}},
    {"id":"c2","type":"custom","custom":{"name":"sh","input":"ls -l"}}]},
  {"role":"tool","tool_call_id":"c1","content":"a\nb"},
  {"role":"tool","tool_call_id":"c2","content":[{"type":"text","text":"x"},{"type":"text","text":"y"}]},
  {"role":"assistant","content":"","refusal":"no","function_call":{"name":"old","arguments":"{}"}},
  {"role":"function","name":"old","content":"1"}
 ]}"#;

#[test]
fn openai() {
    let transcript = check(
        OPENAI,
        &expect![[r#"
            openai model Some("gpt-x") tools ["ls"] skipped {}
            System
              text "Be brief."
            User
              text "see"
              image
            Assistant
              thinks "hm" false
              calls "c1" ls {"a" : 1.0, "b":"\u00e9"}
              calls "c2" sh ls -l
            Tool
              result "c1" "a\nb" failed false images 0
            Tool
              result "c2" "x\ny" failed false images 0
            Assistant
              text "no"
              other {"name":"old","arguments":"{}"}
            Tool
              other {"role":"function","name":"old","content":"1"}
        "#]],
    );
    assert_eq!(write(Dialect::OpenAi, &transcript.items).len(), 7);
    assert_eq!(
        transcript.tools.as_deref(),
        Some(r#"[{"type":"function","function":{"name":"ls","parameters":{}}}]"#)
    );
}

pub(crate) const ANTHROPIC: &str = r#"{"model":"claude-x","system":[{"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral"}}],
 "tools":[{"name":"ls","input_schema":{}},{"type":"web_search_20250305"}],"messages":[
  {"role":"user","content":"see"},
  {"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"redacted_thinking","data":"d"},
    {"type":"tool_use","id":"t1","name":"ls","input":{"b": 1, "a" :2}},{"type":"tool_use","id":"t2","name":"ls","input":{}}]},
  {"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":[{"type":"text","text":"no"},{"type":"image","source":{}}]},
    {"type":"tool_result","tool_use_id":"t2"},{"type":"document","source":{}},{"type":"text","text":"and?"}]}]}"#;

#[test]
fn anthropic() {
    let transcript = check(
        ANTHROPIC,
        &expect![[r#"
            anthropic model Some("claude-x") tools ["ls", "web_search_20250305"] skipped {}
            System
              text "Be brief."
            User
              text "see"
            Assistant
              thinks "hm" true
              thinks "" true
              calls "t1" ls {"b": 1, "a" :2}
              calls "t2" ls {}
            User
              result "t1" "no" failed true images 1
              result "t2" "" failed false images 0
              other {"type":"document","source":{}}
              text "and?"
        "#]],
    );
    assert_eq!(
        write(Dialect::Anthropic, &transcript.items).len(),
        3,
        "the system's item is no message"
    );
    let beside = system(Dialect::Anthropic, &transcript.items);
    assert_eq!(
        beside.as_deref(),
        Some(r#"[{"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral"}}]"#)
    );
    let mut more = transcript.items;
    more.push(Item::text(Role::System, "More."));
    expect![[r#"[{"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral"}},{"type":"text","text":"More."}]"#]]
        .assert_eq(&system(Dialect::Anthropic, &more).unwrap_or_default());
}

pub(crate) const CLAUDE: &str = r#"{"type":"summary","summary":"s","leafUuid":"u"}
{"type":"user","uuid":"1","isSidechain":false,"message":{"role":"user","content":"go"}}
{"type":"assistant","uuid":"2","message":{"id":"m1","type":"message","role":"assistant","model":"claude-x","content":[{"type":"thinking","thinking":"hm","signature":"s"}],"usage":{"output_tokens":1}}}
{"type":"assistant","uuid":"3","message":{"id":"m1","type":"message","role":"assistant","model":"claude-x","content":[{"type":"tool_use","id":"t1","name":"ls","input":{"p":"."}}],"usage":{"output_tokens":2}}}
{"type":"user","uuid":"4","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"a"}]},"toolUseResult":{}}
{"type":"assistant","uuid":"5","message":{"id":"m1","type":"message","role":"assistant","model":"claude-x","content":[{"type":"tool_use","id":"t2","name":"ls","input":{}}],"usage":{"output_tokens":3}}}
{"type":"assistant","uuid":"6","isSidechain":true,"message":{"id":"m2","role":"assistant","content":[]}}
{"type":"system","subtype":"compact_boundary","content":"x"}
{"type":"user","uuid":"4","message":{"role":"user","content":"again"}}
{"type":"file-history-snapshot","snapshot":{}}
{"type":"user","uuid":"7","isMeta":true,"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t2","content":"b"}]}}
{"type":"assistant","uuid":"8","message":{"id":"m3","role":"assistant","model":"<synthetic>","content":[{"type":"text","text":"do"#;

#[test]
fn claude_code() {
    let transcript = read(CLAUDE).expect("a session");
    expect![[r#"
        claude-code model Some("claude-x") tools [] skipped {"a last line that was cut off": 1, "file-history-snapshot": 1, "record that was written before": 1, "side chain": 1, "summary": 1, "system": 1}
        User
          text "go"
        Assistant
          thinks "hm" true
          calls "t1" ls {"p":"."}
          calls "t2" ls {}
        User
          result "t1" "a" failed false images 0
        User
          result "t2" "b" failed false images 0
    "#]]
    .assert_eq(&rendered(&transcript));
    expect![[r#"
        {"role":"user","content":"go"}
        {"id":"m1","type":"message","role":"assistant","model":"claude-x","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"tool_use","id":"t1","name":"ls","input":{"p":"."}},{"type":"tool_use","id":"t2","name":"ls","input":{}}],"usage":{"output_tokens":3}}
        {"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"a"}]}
        {"role":"user","content":[{"type":"tool_result","tool_use_id":"t2","content":"b"}]}"#]]
    .assert_eq(&write(Dialect::ClaudeCode, &transcript.items).join("\n"));
}

pub(crate) const CODEX: &str = r#"{"timestamp":"t","type":"session_meta","payload":{"id":"x","instructions":"i"}}
{"timestamp":"t","type":"turn_context","payload":{"model":"gpt-x-codex"}}
{"timestamp":"t","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"go"},{"type":"input_image","image_url":"data:x"}]}}
{"timestamp":"t","type":"event_msg","payload":{"type":"user_message","message":"go"}}
{"timestamp":"t","type":"response_item","payload":{"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"e"}}
{"timestamp":"t","type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{\"command\":[\"ls\"]}","call_id":"c1"}}
{"timestamp":"t","type":"response_item","payload":{"type":"custom_tool_call","call_id":"c2","name":"apply_patch","input":"*** Begin"}}
{"timestamp":"t","type":"response_item","payload":{"type":"local_shell_call","call_id":"c3","status":"completed","action":{"type":"exec","command":["ls"]}}}
{"timestamp":"t","type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"{\"output\":\"no\",\"metadata\":{\"exit_code\":2}}"}}
{"timestamp":"t","type":"response_item","payload":{"type":"custom_tool_call_output","call_id":"c2","output":{"content":"ok","success":false}}}
{"timestamp":"t","type":"response_item","payload":{"type":"function_call_output","call_id":"c3","output":[{"type":"input_text","text":"a"},{"type":"input_image","image_url":"data:x"}]}}
{"timestamp":"t","type":"response_item","payload":{"type":"web_search_call","id":"w","status":"completed","action":{"type":"search"}}}
{"timestamp":"t","type":"compacted","payload":{"message":"m"}}
{"timestamp":"t","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"done"}]}}
"#;

#[test]
fn codex() {
    let transcript = check(
        CODEX,
        &expect![[r#"
            codex model Some("gpt-x-codex") tools [] skipped {"compacted": 1, "event_msg": 1, "session_meta": 1, "turn_context": 1}
            User
              text "go"
              image
            Assistant
              thinks "hm" true
            Assistant
              calls "c1" shell {"command":["ls"]}
            Assistant
              calls "c2" apply_patch *** Begin
            Assistant
              calls "c3" local_shell {"type":"exec","command":["ls"]}
            Tool
              result "c1" "{\"output\":\"no\",\"metadata\":{\"exit_code\":2}}" failed true images 0
            Tool
              result "c2" "ok" failed true images 0
            Tool
              result "c3" "a" failed false images 1
            Assistant
              other {"type":"web_search_call","id":"w","status":"completed","action":{"type":"search"}}
            Assistant
              text "done"
        "#]],
    );
    assert_eq!(
        transcript.items.len(),
        write(Dialect::Codex, &transcript.items).len()
    );
    assert!(transcript::order::openai(&transcript.items));
}

#[test]
fn older_codex_versions_write_bare_items() {
    let text = "{\"id\":\"x\",\"timestamp\":\"t\",\"instructions\":null}\r\n\r\n\
        {\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":\"go\"}]}\r\n\
        {\"record_type\":\"state\"}\r\n{\"type\":\"function_call\",\"name\":\"shell\",\"arguments\":\"{}\",\"call_id\":\"c\"}\r\n";
    check(
        text,
        &expect![[r#"
            codex model None tools [] skipped {"a record of no type": 2}
            User
              text "go"
            Assistant
              calls "c" shell {}
        "#]],
    );
}

#[test]
fn a_request_of_the_responses_api() {
    let text = r#"{"model":"m","instructions":"Be brief.","input":[{"role":"user","content":"go"},
        {"type":"function_call","call_id":"c","name":"ls","arguments":"{}"},{"type":"item_reference","id":"r"}]}"#;
    let transcript = check(
        text,
        &expect![[r#"
            openai-responses model Some("m") tools [] skipped {}
            System
              text "Be brief."
            User
              text "go"
            Assistant
              calls "c" ls {}
            Assistant
              other {"type":"item_reference","id":"r"}
        "#]],
    );
    assert_eq!(
        system(transcript.dialect, &transcript.items).as_deref(),
        Some(r#""Be brief.""#)
    );
    assert_eq!(
        read(r#"{"model":"m","input":"go"}"#).map(|read| read.items[0].prose()),
        Ok("go".to_owned())
    );
}

#[test]
fn arrays_and_lines_are_distinguished_by_their_content() {
    let dialect = |text: &str| read(text).map(|read| (read.dialect.as_str(), read.items.len()));
    assert_eq!(dialect(r#"[{"role":"user","content":"hi"}]"#), Ok(("openai", 1)));
    assert_eq!(dialect("[]"), Ok(("openai", 0)));
    assert_eq!(
        dialect("{\"role\":\"user\",\"content\":\"hi\"}\n{\"role\":\"assistant\",\"content\":\"ho\"}"),
        Ok(("openai", 2))
    );
    assert_eq!(
        dialect("\u{feff}{\"role\":\"user\",\"content\":\"hi\"}"),
        Ok(("openai", 1))
    );
    let thinks = r#"{"role":"assistant","content":[{"type":"thinking","thinking":"","signature":""}]}"#;
    assert_eq!(dialect(&format!("[{thinks}]")), Ok(("anthropic", 1)));
    assert_eq!(dialect(&format!("{thinks}\n{thinks}\n")), Ok(("anthropic", 2)));
    assert_eq!(
        dialect(r#"[{"type":"reasoning","summary":[]}]"#),
        Ok(("openai-responses", 1))
    );
    assert_eq!(
        dialect(CLAUDE.lines().nth(1).unwrap_or_default()),
        Ok(("claude-code", 1))
    );
}

#[test]
fn an_error_names_the_place_where_reading_fails() {
    let error = |text: &str| read(text).map(|_| ()).expect_err(text).to_string();
    expect!["line 1, column 1: expected a transcript of OpenAI, Anthropic, Claude Code or Codex, found nothing; give a request, an array of messages, or a session's JSONL"]
        .assert_eq(&error(" \n"));
    expect!["line 1, column 1: expected a transcript of OpenAI, Anthropic, Claude Code or Codex, found a number; give a request, an array of messages, or a session's JSONL"]
        .assert_eq(&error("7"));
    expect!["line 2, column 18 (`messages[1].role`): expected one of `system`, `developer`, `user`, `assistant`, `tool`, `function`, found `boss`; repair or remove that message"]
        .assert_eq(&error("{\"messages\":[{\"role\":\"user\",\"content\":\"é\"},\n {\"é\":1, \"role\": \"boss\"}]}"));
    expect!["line 1, column 2 (`[0]`): expected a message with a `role`, found no `role`; repair or remove that message"]
        .assert_eq(&error("[{\"content\":1}]"));
    expect!["line 2, column 6: expected JSON, found expected value; repair the JSON there"].assert_eq(
        &error("{\"role\":\"user\",\"content\":\"hi\"}\n{\"a\":]}\n{\"role\":\"user\",\"content\":\"ho\"}\n"),
    );
    expect!["line 2, column 8: expected JSON, found EOF while parsing an object; the file ends too early: write it again, or remove the incomplete part"]
        .assert_eq(&error("{\"messages\":[\n  {\"a\":1"));
    expect!["line 1, column 1: expected a transcript of OpenAI, Anthropic, Claude Code or Codex, found no message; give a request, an array of messages, or a session's JSONL"]
        .assert_eq(&error("{\"a\":1}"));
    expect!["line 1, column 13 (`messages`): expected an array of messages, found null; give a request, an array of messages, or a session's JSONL"]
        .assert_eq(&error("{\"messages\":null}"));
    expect!["line 1, column 1 (`[0]`): expected a transcript of OpenAI, Anthropic, Claude Code or Codex, found a line of many that is a request of its own; give one of them in a file of its own"]
        .assert_eq(&error("{\"messages\":[]}\n{\"messages\":[]}"));
}

#[test]
fn odd_texts_are_read_unchanged() {
    let big = "é".repeat(500_000);
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let text = format!(
        r#"[{{"role":"boss","role":"user","content":"a\u0000\ud800b\ud83d\ude00"}},{{"role":"user","content":"{big}"}},{{"role":"user","x":{deep},"content":[{deep}]}}]"#
    );
    let transcript = read(&text).expect("all of it is JSON");
    assert_eq!(transcript.items[0].prose(), "a\u{0}\u{fffd}b😀");
    assert_eq!(transcript.items[1].prose().len(), big.len());
    assert_eq!(
        format!("[{}]", write(Dialect::OpenAi, &transcript.items).join(",")),
        text
    );
}

#[test]
fn items_without_an_original_text_are_written_in_the_plainest_form_of_each_dialect() {
    let codex = made_anew(&read(CODEX).expect("a rollout").items);
    expect![[r#"
        {"role":"user","content":"go"}
        {"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"shell","arguments":"{\"command\":[\"ls\"]}"}},{"id":"c2","type":"function","function":{"name":"apply_patch","arguments":"*** Begin"}},{"id":"c3","type":"function","function":{"name":"local_shell","arguments":"{\"type\":\"exec\",\"command\":[\"ls\"]}"}}]}
        {"role":"tool","tool_call_id":"c1","content":"{\"output\":\"no\",\"metadata\":{\"exit_code\":2}}"}
        {"role":"tool","tool_call_id":"c2","content":"ok"}
        {"role":"tool","tool_call_id":"c3","content":"a"}
        {"role":"assistant","content":"done"}"#]].assert_eq(&write(Dialect::OpenAi, &codex).join("\n"));
    expect![[r#"
        {"role":"user","content":"go"}
        {"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"shell","input":{"command":["ls"]}},{"type":"tool_use","id":"c2","name":"apply_patch","input":{"arguments":"*** Begin"}},{"type":"tool_use","id":"c3","name":"local_shell","input":{"type":"exec","command":["ls"]}}]}
        {"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"{\"output\":\"no\",\"metadata\":{\"exit_code\":2}}","is_error":true},{"type":"tool_result","tool_use_id":"c2","content":"ok","is_error":true},{"type":"tool_result","tool_use_id":"c3","content":"a"}]}
        {"role":"assistant","content":"done"}"#]].assert_eq(&write(Dialect::Anthropic, &codex).join("\n"));
    let anthropic = made_anew(&read(ANTHROPIC).expect("a request").items);
    expect![[r#"
        {"type":"message","role":"developer","content":[{"type":"input_text","text":"Be brief."}]}
        {"type":"message","role":"user","content":[{"type":"input_text","text":"see"}]}
        {"type":"function_call","call_id":"t1","name":"ls","arguments":"{\"b\": 1, \"a\" :2}"}
        {"type":"function_call","call_id":"t2","name":"ls","arguments":"{}"}
        {"type":"function_call_output","call_id":"t1","output":"no"}
        {"type":"function_call_output","call_id":"t2","output":""}
        {"type":"message","role":"user","content":[{"type":"input_text","text":"and?"}]}"#]]
    .assert_eq(&write(Dialect::Codex, &anthropic).join("\n"));
}

#[test]
fn a_picture_is_converted_to_another_dialect() {
    let (chat, responses) = (
        r#"{"type":"image_url","image_url":{"url":"data:image/png;base64,AA"}}"#,
        r#"{"type":"input_image","image_url":"data:image/png;base64,AA"}"#,
    );
    let claude = r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA"}}"#;
    let all = [
        (Dialect::OpenAi, chat),
        (Dialect::OpenAiResponses, responses),
        (Dialect::Anthropic, claude),
    ];
    for (from, raw) in all {
        for (to, made) in all {
            let expected = (from != to).then(|| made.to_owned());
            assert_eq!(picture(raw, from, to), expected, "{from:?} {to:?}");
        }
    }
    let far = r#"{"type":"image_url","image_url":{"url":"https://a.example/b.png"}}"#;
    assert_eq!(
        picture(far, Dialect::OpenAi, Dialect::ClaudeCode).as_deref(),
        Some(r#"{"type":"image","source":{"type":"url","url":"https://a.example/b.png"}}"#)
    );
    assert_eq!(picture("{}", Dialect::OpenAi, Dialect::Anthropic), None);
    assert_eq!(picture("{", Dialect::OpenAi, Dialect::Anthropic), None);
}

#[test]
fn cache_marks_decide_the_dialect_only_without_other_features() {
    let mark = r#"[{"type":"text","text":"go","cache_control":{"type":"ephemeral"}}]"#;
    let of = |text: String| read(&text).unwrap().dialect;
    let user = format!(r#"{{"role":"user","content":{mark}}}"#);
    let system = format!(r#"{{"role":"system","content":{mark}}}"#);
    assert_eq!(of(format!("[{user}]")), Dialect::Anthropic);
    assert_eq!(of(format!("[{system},{user}]")), Dialect::OpenAi);
}
