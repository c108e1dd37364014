//! The places of `cache_control` in a request, and the parts that it leaves unchanged.

use prefix::backend::Kind;
use prefix::compose::{Composed, Replay, Request, SystemPlace, Wanted, plan};
use prefix::mark::{Marked, mark};
use prefix::shadow::{Shadow, ShadowEvent};
use proptest::prelude::*;
use serde_json::{Value, json};

const MARK: &str = r#","cache_control":{"type":"ephemeral"}"#;

fn composed(shadow: &Shadow, system: Option<&str>, tools: &[&str], messages: &[&str]) -> Composed {
    let request = Request {
        model: "claude",
        system: SystemPlace::Field(system),
        tools,
        messages,
        front: 0,
    };
    let wanted = Wanted {
        replay: Replay::Latest,
        ..Wanted::default()
    };
    plan(shadow, request, &wanted).compose(None)
}

fn marked(system: Option<&str>, tools: &[&str], messages: &[&str]) -> Option<Marked> {
    let request = composed(&Shadow::default(), system, tools, messages);
    mark(&Kind::Anthropic.profile(), &request)
}

fn text(text: &str, marked: bool) -> String {
    let mark = if marked { MARK } else { "" };
    format!(r#"{{"type":"text","text":"{text}"{mark}}}"#)
}

fn said(role: &str, blocks: &str) -> String {
    format!(r#"{{"role":"{role}","content":[{blocks}]}}"#)
}

#[test]
fn the_clients_bytes_stay_around_a_mark() {
    let message = r#"{ "content" : [{"type" : "text", "text":"h\u00e9"  } ],"x":1.0,"role":"user"}"#;
    let put = marked(Some(r#""Be \u0062rief.""#), &[], &[message]).unwrap();
    assert_eq!(put.system, Some(format!("[{}]", text(r"Be \u0062rief.", true))));
    assert_eq!(put.messages, [message.replace("  }", &format!("  {MARK}}}"))]);
}

#[test]
fn each_request_marks_its_own_end_and_the_end_of_the_last_one() {
    let list = [
        r#"{"role":"user","content":"a"}"#,
        r#"{"role":"assistant","content":"b"}"#,
        r#"{"role":"user","content":"c"}"#,
    ];
    let first = composed(&Shadow::default(), None, &[], &list[..1]);
    let mut shadow = first.shadow;
    shadow.apply(&ShadowEvent::Reply {
        bytes: list[1].to_owned(),
    });
    let second = mark(&Kind::Anthropic.profile(), &composed(&shadow, None, &[], &list)).unwrap();
    let expected = [
        said("user", &text("a", true)),
        said("assistant", &text("b", false)),
        said("user", &text("c", true)),
    ];
    assert_eq!(second.messages, expected, "unmarked text is a block too");
}

#[test]
fn the_tools_are_marked_if_there_is_no_system_text() {
    let (tool, late) = (r#"{"name":"ls"}"#, r#"{"name":"cp","defer_loading":true}"#);
    for (system, expected) in [
        (None, format!(r#"{{"name":"ls"{MARK}}}"#)),
        (Some(r#""so""#), tool.to_owned()),
    ] {
        let put = marked(system, &[tool, late], &[r#"{"role":"user","content":"a"}"#]).unwrap();
        assert_eq!(put.tools, [expected, late.to_owned()]);
    }
}

#[test]
fn a_client_with_its_own_marks_gets_none_of_ours() {
    let plain = r#"{"role":"user","content":"the word cache_control"}"#;
    let own = r#"{"type":"text","text":"a","cache_control":{"type":"ephemeral","ttl":"1h"}}"#;
    let inner = format!(
        r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"a","content":[{own}]}}]}}"#
    );
    let tool = r#"{"name":"ls","cache_control":{"type":"ephemeral"}}"#;
    assert!(marked(None, &[], &[plain]).is_some());
    assert_eq!(marked(None, &[], &[plain, &said("user", own)]), None);
    assert_eq!(marked(None, &[], &[plain, &inner]), None);
    assert_eq!(marked(Some(&format!("[{own}]")), &[], &[plain]), None);
    assert_eq!(marked(None, &[tool], &[plain]), None);
    let request = composed(&Shadow::default(), None, &[], &[plain]);
    assert_eq!(mark(&Kind::LlamaCpp.profile(), &request), None, "it has no marks");
}

/// Contents as clients write them: strings, and lists of blocks that may or may not have a mark.
fn content() -> impl Strategy<Value = Value> {
    let block = prop_oneof![
        Just(json!({"type": "text", "text": "words"})),
        Just(json!({"type": "text", "text": " "})),
        Just(json!({"type": "thinking", "thinking": "hm", "signature": "s"})),
        Just(json!({"type": "redacted_thinking", "data": "d"})),
        Just(json!({"type": "riddle"})),
        Just(json!({"type": "tool_result", "tool_use_id": "a", "content": "x"})),
    ];
    prop_oneof![
        Just(json!("words")),
        Just(json!("")),
        prop::collection::vec(block, 0..30).prop_map(Value::from),
    ]
}

/// A message without marks and with its text as a block: as the model reads it.
fn plain(value: &Value, marks: &mut Vec<Value>) -> Value {
    let mut value = value.clone();
    if let Some(said) = value["content"].as_str().filter(|said| !said.trim().is_empty()) {
        value["content"] = json!([{"type": "text", "text": said}]);
    }
    for block in value["content"].as_array_mut().into_iter().flatten() {
        if block
            .as_object_mut()
            .and_then(|fields| fields.remove("cache_control"))
            .is_some()
        {
            marks.push(block.clone());
        }
    }
    value
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn a_mark_leaves_the_model_the_same_text(contents in prop::collection::vec(content(), 1..12), known in 0_usize..12) {
        let role = |at: usize| if at.is_multiple_of(2) { "user" } else { "assistant" };
        let messages: Vec<Value> = contents.iter().enumerate().map(|(at, content)| json!({"role": role(at), "content": content})).collect();
        let texts: Vec<String> = messages.iter().map(Value::to_string).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let before = composed(&Shadow::default(), None, &[], &texts[..known.min(texts.len())]);
        let Some(put) = mark(&Kind::Anthropic.profile(), &composed(&before.shadow, None, &[], &texts)) else {
            return Ok(());
        };
        let mut marks = Vec::new();
        for (put, message) in put.messages.iter().zip(&messages) {
            let put: Value = serde_json::from_str(put).unwrap();
            prop_assert_eq!(plain(&put, &mut marks), plain(message, &mut Vec::new()));
        }
        prop_assert!(marks.len() <= 4);
        for block in marks {
            let is_good = block["type"] == "tool_result" || block["text"] == "words";
            prop_assert!(is_good, "{}", block);
        }
    }
}
