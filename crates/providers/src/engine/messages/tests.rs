//! Items of every dialect as messages and back: the same item, or a new one.

use serde_json::json;
use transcript::{Outcome, Role};

use super::*;

fn read(dialect: Dialect, message: &Value) -> Arc<Item> {
    Arc::new(dialect::read_message(dialect, &message.to_string()).expect("a message"))
}

fn chat(message: &Value) -> Arc<Item> {
    read(Dialect::OpenAi, message)
}

fn results_and_text() -> Arc<Item> {
    let message = json!({"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "t1", "content": "boom", "is_error": true},
        {"type": "text", "text": "go on"},
    ]});
    read(Dialect::Anthropic, &message)
}

fn restored(items: &[Arc<Item>], answer: Vec<Value>) -> Vec<Arc<Item>> {
    let restored = SentMessages::new(items).restored(answer).expect("it can be read");
    restored.into_iter().map(|restored| restored.item).collect()
}

fn fault(items: &[Arc<Item>], answer: Vec<Value>) -> String {
    let restored = SentMessages::new(items).restored(answer);
    restored.expect_err("it is refused").to_string()
}

/// Items of every shape that a client of any dialect sends, and items that Quipu made.
fn samples() -> Vec<Vec<Arc<Item>>> {
    let chat = vec![
        json!({"role": "developer", "content": "be brief", "name": "x"}),
        json!({"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "image_url", "image_url": {"url": "https://x/y.png"}}]}),
        json!({"role": "assistant", "content": null, "refusal": null, "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "ls", "arguments": "{"}}]}),
        json!({"role": "tool", "tool_call_id": "c1", "content": "nothing", "id": "the client's"}),
        json!({"role": "function", "name": "old", "content": "1"}),
        json!({"role": "user", "content": [{"type": "of tomorrow", "n": 1.0}]}),
        json!({"role": "user", "content": ""}),
    ];
    let anthropic = vec![
        json!({"role": "assistant", "content": [{"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "tool_use", "id": "t1", "name": "ls", "input": {}}]}),
        json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "a"}, {"type": "tool_result", "tool_use_id": "t2", "content": "b"}, {"type": "text", "text": "go on"}]}),
        json!({"role": "user", "content": [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}, {"type": "document", "source": {}}]}),
        json!({"role": "assistant", "content": [{"type": "thinking", "thinking": "alone", "signature": "s"}]}),
    ];
    let responses = vec![
        json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "a"}]}),
        json!({"type": "reasoning", "id": "r1", "summary": []}),
        json!({"type": "function_call", "call_id": "c1", "name": "ls", "arguments": "{}"}),
        json!({"type": "function_call_output", "call_id": "c1", "output": "x"}),
        json!({"type": "of_tomorrow"}),
    ];
    let all = |dialect, messages: Vec<Value>| messages.iter().map(|one| read(dialect, one)).collect();
    let system = Item {
        raw: Some("\"the request's own system text\"".into()),
        ..Item::text(Role::System, "the request's own system text")
    };
    let edited = Item {
        blocks: vec![Block::Text("shorter".to_owned())],
        edited: true,
        ..Item::clone(&self::chat(
            &json!({"role": "user", "content": "longer", "name": "x"}),
        ))
    };
    let made = vec![
        Item::text(Role::User, "a summary"),
        Item::outcome("c1", "a stub"),
        system,
        edited,
    ];
    vec![
        all(Dialect::OpenAi, chat),
        all(Dialect::Anthropic, anthropic),
        all(Dialect::OpenAiResponses, responses),
        made.into_iter().map(Arc::new).collect(),
    ]
}

#[test]
fn every_item_is_at_least_one_message_and_comes_back_as_the_same() {
    for items in samples() {
        let sent = SentMessages::new(&items);
        for (index, item) in items.iter().enumerate() {
            let of_it: Vec<&Value> = (sent.messages.iter().zip(&sent.places))
                .filter_map(|(message, place)| (place.item == index).then_some(message))
                .collect();
            assert!(!of_it.is_empty(), "{item:?}");
            assert!(
                of_it.iter().all(|message| message["role"].is_string()),
                "{of_it:?}"
            );
        }
        let ids = sent.messages.iter().map(|message| json!({"id": message["id"]}));
        for answer in [sent.messages.clone(), ids.collect()] {
            let back = restored(&items, answer);
            assert_eq!(back.len(), items.len());
            assert!(
                back.iter()
                    .zip(&items)
                    .all(|(one, other)| Arc::ptr_eq(one, other)),
                "{back:?}"
            );
        }
    }
}

#[test]
fn a_message_spelled_differently_is_the_same() {
    let items = [chat(
        &json!({"role": "user", "content": "a", "name": null, "weight": 1.0}),
    )];
    let answers = [
        json!({"content": "a", "weight": 1, "id": "m0", "role": "user"}),
        json!({"id": "m0", "role": "user", "content": "a", "weight": 1.0, "audio": null}),
    ];
    for answer in answers {
        assert!(Arc::ptr_eq(&restored(&items, vec![answer])[0], &items[0]));
    }
}

#[test]
fn a_changed_or_unknown_message_is_a_new_item() {
    let items = [chat(&json!({"role": "user", "content": "a"}))];
    let answers = [
        json!({"id": "m0", "role": "user", "content": "b"}),
        json!({"id": "m1", "role": "user", "content": "b"}),
        json!({"role": "user", "content": "b"}),
        json!({"id": 7, "role": "user", "content": "b"}),
    ];
    for answer in answers {
        let back = restored(&items, vec![answer]);
        assert_eq!(*back[0], Item::text(Role::User, "b"));
    }
    let hidden = restored(&items, vec![json!({"id": "m0", "role": "user", "content": ""})]);
    assert!(hidden[0].blocks.is_empty());
}

#[test]
fn the_parts_of_an_item_are_joined_only_if_all_of_them_return() {
    let items = [chat(&json!({"role": "user", "content": "a"})), results_and_text()];
    let sent = SentMessages::new(&items);
    assert_eq!(
        sent.messages()[1..],
        [
            json!({"id": "m1.0", "role": "tool", "tool_call_id": "t1", "content": "boom", "is_error": true}),
            json!({"id": "m1.1", "role": "user", "content": "go on"}),
        ]
    );
    let [plain, result, words] = [0, 1, 2].map(|at| sent.messages()[at].clone());
    let mut shorter = result.clone();
    shorter["content"] = json!("…");
    let changed = restored(&items, vec![shorter, words.clone()]);
    let outcome = Outcome {
        call_id: "t1".to_owned(),
        text: "…".to_owned(),
        failed: true,
        images: 0,
    };
    let blocks = vec![Block::Outcome(outcome), Block::Text("go on".to_owned())];
    assert_eq!((&changed[0].blocks, changed[0].role), (&blocks, Role::User));
    assert_eq!((changed.len(), &changed[0].raw), (1, &None));
    for apart in [
        vec![words.clone()],
        vec![result.clone()],
        vec![words.clone(), result.clone()],
        vec![result, plain, words],
    ] {
        let back = restored(&items, apart);
        assert!(!back.iter().any(|item| Arc::ptr_eq(item, &items[1])), "{back:?}");
    }
}

#[test]
fn pictures_take_the_dialect_of_their_reader() {
    let source =
        json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}});
    let url = json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}});
    let items = [read(
        Dialect::Anthropic,
        &json!({"role": "user", "content": [source.clone()]}),
    )];
    let sent = SentMessages::new(&items);
    assert_eq!(sent.messages()[0]["content"], json!([url.clone()]));
    let back = restored(&items, vec![json!({"role": "user", "content": [url]})]);
    assert_eq!(
        back[0].blocks,
        vec![Block::Image(Image {
            raw: source.to_string()
        })]
    );
    // An item that Quipu or the engine made earlier in such a conversation.
    let made = Item {
        raw: None,
        ..Item::clone(&items[0])
    };
    let items = [Arc::new(made), results_and_text()];
    assert_eq!(
        SentMessages::new(&items).messages()[0]["content"][0]["type"],
        "image_url"
    );
}

#[test]
fn a_malformed_message_is_refused_with_its_position() {
    let items = [chat(&json!({"role": "function", "name": "old", "content": "1"}))];
    let known = json!({"id": "m0"});
    for (answer, words) in [
        (json!("hi"), "messages[1] of its answer is not an object"),
        (
            json!({"content": "a"}),
            "messages[1] of its answer is not a chat message",
        ),
        (json!({"role": "robot", "content": "a"}), "`.role`"),
        (
            json!({"role": "function", "content": "2"}),
            "return such a message unchanged",
        ),
        (
            json!({"role": "assistant", "function_call": {}}),
            "return such a message unchanged",
        ),
    ] {
        let fault = fault(&items, vec![known.clone(), answer]);
        assert!(fault.contains(words), "{fault}");
    }
}

#[test]
fn a_dialect_is_recognised_by_its_own_parts() {
    let anthropic = json!({"type": "message", "role": "assistant", "content": [{"type": "tool_use"}]});
    let responses = json!({"type": "message", "role": "user", "content": [{"type": "input_text"}]});
    for (message, dialect) in [
        (anthropic, Some(Dialect::Anthropic)),
        (responses, Some(Dialect::OpenAiResponses)),
        (json!({"type": "reasoning"}), Some(Dialect::OpenAiResponses)),
        (json!({"type": "message", "role": "user", "content": "a"}), None),
        (
            json!({"role": "user", "content": [{"type": "of tomorrow"}]}),
            None,
        ),
        (json!({"role": "user", "content": [{"type": "text"}]}), None),
        (json!("system text"), None),
    ] {
        assert_eq!(foreign(&message.to_string()), dialect, "{message}");
    }
}

#[test]
fn an_ingest_keeps_the_order() {
    let items = ["a", "b"].map(|text| chat(&json!({"role": "user", "content": text})));
    let ingested = |answer: Vec<Value>| {
        let restored = SentMessages::new(&items)
            .restored(answer)
            .expect("it can be read");
        one_for_each(restored, items.len())
    };
    let (first, second) = (json!({"id": "m0"}), json!({"id": "m1"}));
    let new = json!({"id": "m1", "role": "user", "content": "B"});
    assert!(ingested(vec![first.clone(), new]).is_ok());
    for wrong in [vec![second.clone(), first.clone()], vec![first.clone()], vec![]] {
        let fault = ingested(wrong).expect_err("it is refused").to_string();
        assert!(fault.contains("`ingest` got 2 messages"), "{fault}");
    }
}
