//! The conversation that a request continues, and the equality of messages.

use expect_test::{Expect, expect};
use prefix::canon;
use prefix::chain::{Chain, MatchKind, MatchScope};
use proptest::prelude::*;
use transcript::Role;

use crate::bench::{Index, SCOPE, assistant, call, outcome, user};

fn talk() -> Vec<String> {
    vec![
        user("hi"),
        assistant("hello"),
        user("plan a trip"),
        assistant("where to?"),
    ]
}

fn check(client: &[String], expect: &Expect) {
    let mut index = Index::default();
    index.learn("one", &SCOPE, &talk());
    let found = index.find(&SCOPE, client);
    let name = found.conversation.map_or_else(|| "-".to_owned(), |id| id.0);
    expect.assert_eq(&format!("{name} {} {:?}", found.shared, found.kind));
}

#[test]
fn every_kind_of_match() {
    let [hi, hello, plan, where_to] = <[String; 4]>::try_from(talk()).unwrap();
    let go = user("Rome");
    let list = |messages: &[&String]| messages.iter().map(|text| (*text).clone()).collect::<Vec<_>>();
    check(
        &list(&[&hi, &hello, &plan, &where_to, &go]),
        &expect!["one 4 Continued"],
    );
    check(
        &list(&[&hi, &hello, &plan, &go]),
        &expect!["one 3 Branched { at: 3 }"],
    );
    check(&list(&[&hi, &hello, &plan]), &expect!["one 3 Regenerated"]);
    check(&list(&[&hi, &hello, &go]), &expect!["one 2 Branched { at: 2 }"]);
    check(
        &list(&[&hi, &hello, &plan, &assistant("I will not say"), &go]),
        &expect!["one 3 EchoRewritten { at: 3 }"],
    );
    check(
        &list(&[&hi, &hello]),
        &expect!["one 2 Truncated { front: 0, back: 2 }"],
    );
    check(
        &list(&[&hello, &plan, &where_to, &go]),
        &expect!["one 3 Truncated { front: 1, back: 0 }"],
    );
    check(&list(&[&plan, &where_to, &go]), &expect!["- 0 New"]);
    check(&list(&[&hi]), &expect!["- 0 New"]);
    check(&list(&[&hi, &go]), &expect!["- 0 New"]);
    check(&[], &expect!["- 0 New"]);
}

#[test]
fn conversations_with_the_same_beginning_differ_by_their_reply() {
    let mut index = Index::default();
    index.learn("one", &SCOPE, &talk());
    let mut second = vec![user("hi"), assistant("good day")];
    index.learn("two", &SCOPE, &second);
    second.push(user("and now?"));
    let found = index.find(&SCOPE, &second);
    assert_eq!(
        (found.conversation.unwrap().0.as_str(), found.kind),
        ("two", MatchKind::Continued)
    );
}

#[test]
fn a_named_conversation_matches_without_a_reply() {
    let named = MatchScope {
        session: Some("s1"),
        ..SCOPE
    };
    let mut index = Index::default();
    index.learn("one", &named, &talk());
    assert_eq!(
        index.find(&named, &talk()[..1]).kind,
        MatchKind::Truncated { front: 0, back: 3 }
    );
    for other in [
        SCOPE,
        MatchScope {
            session: Some("s2"),
            ..SCOPE
        },
    ] {
        assert_eq!(index.find(&other, &talk()).kind, MatchKind::New);
    }
}

#[test]
fn a_forgotten_conversations_messages_match_its_sibling() {
    let mut index = Index::default();
    index.learn("old", &SCOPE, &talk());
    index.learn("new", &SCOPE, &[&talk()[..2], &[user("else")]].concat());
    index.0.forget(&prefix::chain::ConversationId("new".to_owned()));
    let found = index.find(&SCOPE, &[&talk()[..2], &[user("third")]].concat());
    assert_eq!(found.conversation.unwrap().0, "old");
}

#[test]
fn an_echo_without_the_parts_that_clients_drop_is_equal() {
    let reply = r#"{"role":"assistant","content":"<think>hm</think>\n\n Yes.\r\nNo. ","reasoning_content":"hm","refusal":null,"annotations":[]}"#;
    let echoes = [
        r#"{"content":"Yes.\nNo.","role":"assistant"}"#,
        r#"{ "role": "assistant", "name": null, "content": [ {"text": "Yes.\nNo.", "type": "text", "cache_control": {"type":"ephemeral"}} ], "tool_calls": null }"#,
        r#"{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"x"},{"type":"text","text":"Yes.\nNo."}]}"#,
    ];
    for echo in echoes {
        assert_eq!(canon::read(reply).digest, canon::read(echo).digest, "{echo}");
    }
    let changed = [
        r#"{"role":"assistant","content":"Yes. No."}"#,
        r#"{"role":"user","content":"Yes.\nNo."}"#,
        r#"{"role":"assistant","content":"Yes.\nNo.","tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}]}"#,
    ];
    for other in changed {
        assert_ne!(canon::read(reply).digest, canon::read(other).digest, "{other}");
    }
}

#[test]
fn reasoning_in_a_message_of_its_own_is_no_link() {
    let thought = r#"{"type":"reasoning","id":"rs_1","summary":[]}"#.to_owned();
    let reference = r#"{"type":"item_reference","id":"msg_1"}"#;
    let list = [user("q"), thought, assistant("a"), user("more")];
    let mut index = Index::default();
    index.learn("one", &SCOPE, &list[..3]);
    let dropped = [user("q"), assistant("a"), user("more")];
    assert_eq!(index.find(&SCOPE, &list).kind, MatchKind::Continued);
    assert_eq!(index.find(&SCOPE, &dropped).kind, MatchKind::Continued);
    let list: Vec<&str> = list.iter().map(String::as_str).collect();
    let chain = Chain::of(&SCOPE, &list);
    assert_eq!([0, 1, 2, 3].map(|links| chain.end(links)), [0, 1, 3, 4]);
    let role = |item: &str| canon::read(item).role;
    assert_eq!(role(reference), Some(Role::Assistant));
    assert_eq!(
        role(r#"{"type":"web_search_call","id":"ws_1"}"#),
        Some(Role::Assistant)
    );
    assert_eq!(
        role(r#"{"type":"shell_call_output","call_id":"a"}"#),
        Some(Role::Tool)
    );
}

#[test]
fn calls_are_compared_as_json_and_results_by_their_call() {
    let one = canon::read(&call("a", r#"{"path":"x","n":1}"#));
    assert_eq!(
        one.digest,
        canon::read(&call("a", r#"{ "n": 1, "path": "x" }"#)).digest
    );
    assert_ne!(
        one.digest,
        canon::read(&call("b", r#"{"path":"x","n":1}"#)).digest
    );
    assert_ne!(
        one.digest,
        canon::read(&call("a", r#"{"path":"y","n":1}"#)).digest
    );
    assert_ne!(
        canon::read(&outcome("a", "x")).digest,
        canon::read(&outcome("b", "x")).digest
    );
    let result = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"x"}]}"#;
    assert!(!canon::read(result).asks && canon::read(&user("x")).asks);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    // Planted: a seed without the tenant.
    #[test]
    fn lists_of_two_scopes_never_match(one in "[a-c]{0,2}", other in "[a-c]{0,2}", owner in "[a-c]{0,2}", session in "[a-c]{0,2}") {
        let scopes = [
            MatchScope { tenant: (&*one).into(), owner: &owner, session: None },
            MatchScope { tenant: (&*other).into(), owner: &owner, session: None },
            MatchScope { tenant: (&*owner).into(), owner: &other, session: None },
            MatchScope { tenant: (&*one).into(), owner: &owner, session: Some(&session) },
        ];
        let mut index = Index::default();
        index.learn("one", &scopes[0], &talk());
        for scope in &scopes {
            prop_assert_eq!(index.find(scope, &talk()).kind == MatchKind::New, *scope != scopes[0]);
        }
    }

    // Planted: an `unwrap` of the JSON.
    #[test]
    fn any_text_has_a_meaning(text in "\\PC{0,40}", role in "[a-z]{0,9}", content in "\\PC{0,9}") {
        let wrapped = serde_json::json!({ "role": role, "content": content, "tool_calls": [content, null] }).to_string();
        for text in [&text, &wrapped] {
            prop_assert_eq!(canon::read(text), canon::read(text));
            canon::value_digest(text);
        }
    }

    // Planted: outer white space that counts.
    #[test]
    fn a_trimmed_echo_continues(reply in "[ \n]{0,3}[a-zé☃]{1,9}[ \n]{0,3}", key_order in any::<bool>()) {
        let mut index = Index::default();
        index.learn("one", &SCOPE, &[user("q"), assistant(&reply)]);
        let text = serde_json::json!(reply.trim());
        let echo = if key_order {
            format!(r#"{{ "content" : {text}, "role" : "assistant", "refusal" : null }}"#)
        } else {
            format!(r#"{{"role":"assistant","content":[{{"type":"text","text":{text}}}]}}"#)
        };
        prop_assert_eq!(index.find(&SCOPE, &[user("q"), echo, user("more")]).kind, MatchKind::Continued);
    }
}

/// Planted: matching without hidden parts; the latest of several conversations with different hidden parts.
#[test]
fn hidden_parts_belong_to_their_message() {
    let thought = |text: &str| {
        let block = serde_json::json!({"type": "thinking", "thinking": text, "signature": text});
        format!(r#"{{"role":"assistant","content":[{block},{{"type":"text","text":"hello"}}]}}"#)
    };
    let field =
        |text: &str| format!(r#"{{"role":"assistant","content":"hello","reasoning_content":"{text}"}}"#);
    let think = |text: &str| assistant(&format!("<think>{text}</think>hello"));
    let plain = assistant("hello");
    for hides in [&thought as &dyn Fn(&str) -> String, &field, &think] {
        let mut index = Index::default();
        let found = |index: &Index, reply: &String| {
            let found = index.find(&SCOPE, &[user("hi"), reply.clone(), user("go on")]);
            found.conversation.map_or_else(|| "-".to_owned(), |id| id.0)
        };
        index.learn("a", &SCOPE, &[user("hi"), hides("a")]);
        assert_eq!(found(&index, &hides("a")), "a");
        assert_eq!(found(&index, &plain), "a", "clients drop it");
        assert_eq!(found(&index, &hides("b")), "-", "another's");
        index.learn("b", &SCOPE, &[user("hi"), hides("b")]);
        assert_eq!(found(&index, &hides("a")), "a");
        assert_eq!(found(&index, &hides("b")), "b");
        assert_eq!(found(&index, &plain), "-", "nobody knows whose");
        index.learn("none", &SCOPE, &[user("hi"), plain.clone()]);
        index.learn("c", &SCOPE, &[user("hi"), hides("c")]);
        assert_eq!(found(&index, &plain), "none");
    }
    let other_name = r#"{"role":"assistant","content":"hello","reasoning":"a"}"#;
    assert_eq!(canon::read(other_name).hidden, canon::read(&field("a")).hidden);
    assert_eq!(canon::read(&think("a")).hidden, canon::read(&field("a")).hidden);
}
