//! Side calls, recognised by the form of a request and by quotations.

use serde_json::json;

use super::*;

#[test]
fn a_transcript_is_recognised_by_its_speakers_or_its_roles() {
    for text in [
        "User: hi\nAssistant: hello",
        "Gib einen Titel.\n\n**Human:** hi\n**AI:** hello\n",
        "<user>\nhi\n</user>\n<assistant>\nhello\n</assistant>",
        "### USER\nhi\n### ASSISTANT\nhello",
        r#"Tags? [1] [{"role": "user", "content": "hi"}, {"role": "assistant", "content": [{"type": "text"}]}] In JSON."#,
    ] {
        assert!(is_transcript(text), "{text}");
    }
    for text in [
        "",
        "user assistant",
        "The user: who is it?\nThe assistant: who?",
        "Ines: fine.\nBob: sure?\nInes: yes.\nBob: no.",
        "User: hi\nUser: again",
        "users: 3\nassistants: 4",
        "Users\nassistant",
        r#"[{"role": "admin", "content": "x"}] and [[[["#,
        r#"[{"name": "user", "text": "assistant"}]"#,
    ] {
        assert!(!is_transcript(text), "{text}");
    }
}

#[test]
fn only_a_single_turn_without_tools_can_be_a_side_call() {
    let of = |more: serde_json::Value, speech: Speech| {
        let mut body = json!({"model": "m", "messages": [{"role": "system", "content": "S"}, {"role": "user", "content": "U"}]});
        let fields = body.as_object_mut().expect("an object");
        fields.extend(more.as_object().expect("an object").clone());
        let text = body.to_string();
        let body = Body::read(&text).expect("a body");
        let input = Input::read(&body, speech).expect("messages");
        (
            lone(&body, &input, speech).map(|(user, _)| user),
            says_so(&body, &input),
        )
    };
    let alone = Some("\nU".to_owned());
    assert_eq!(of(json!({}), Speech::Chat), (alone.clone(), false));
    assert_eq!(
        of(json!({"max_tokens": 1}), Speech::Chat),
        (alone.clone(), true),
        "a question after the quota"
    );
    assert_eq!(
        of(json!({"metadata": {"task": "title_generation"}}), Speech::Chat),
        (alone.clone(), true)
    );
    assert_eq!(
        of(json!({"metadata": {"task": "support"}}), Speech::Chat),
        (alone, false)
    );
    let tools = json!({"tools": [{"type": "function", "function": {"name": "ls"}}]});
    assert_eq!(of(tools, Speech::Chat).0, None);
    let answered = json!({"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}, {"role": "user", "content": "c"}]});
    assert_eq!(of(answered, Speech::Chat).0, None);
    let held = json!({"input": "U", "previous_response_id": "r"});
    assert_eq!(of(held, Speech::Responses).0, None);
}

#[test]
fn a_form_of_json_bounds_an_answer_in_every_dialect() {
    for (field, is_form) in [
        (json!({"response_format": {"type": "json_schema"}}), true),
        (json!({"response_format": {"type": "text"}}), false),
        (json!({"text": {"format": {"type": "json_object"}}}), true),
        (json!({"text": {"verbosity": "low"}}), false),
        (
            json!({"output_config": {"format": {"type": "json_schema"}}}),
            true,
        ),
    ] {
        let text = field.to_string();
        assert_eq!(has_form(&Body::read(&text).expect("a body")), is_form, "{text}");
    }
}
