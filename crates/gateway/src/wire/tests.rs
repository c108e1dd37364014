//! Accepted and refused requests, with the words of the refusals.

#![expect(clippy::too_many_lines, reason = "tables of cases")]

use expect_test::expect;
use memory::{Add, Forget, List, Search};
use model::{
    Content, Doc, EntryId, Filter, MessageId, Name, Owner, Part, PartKind, Role, Scope, SessionId, ToolCall,
    Zone,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::wire::search::When;
use crate::wire::tasks::TasksQuery;
use crate::wire::*;

fn read<T: DeserializeOwned>(value: &Value) -> Result<T, Invalid> {
    json::from_slice(value.to_string().as_bytes())
}

fn with(mut base: Value, changes: &Value) -> Value {
    let base_fields = base.as_object_mut().expect("an object");
    for (key, value) in changes.as_object().expect("an object") {
        base_fields.insert(key.clone(), value.clone());
    }
    base
}

fn name(text: &str) -> Name {
    Name::parse(text).expect("a name")
}

fn message() -> Value {
    json!({"sender_id": "ada", "role": "user", "timestamp": 1_715_176_560_000_i64, "content": "hello"})
}

fn add(changes: &Value) -> Result<Add, Invalid> {
    let base = json!({"session_id": "s", "messages": [message()]});
    read::<AddRequest>(&with(base, changes))?.into_add(&Scope::default())
}

fn search(changes: &Value) -> Result<Search, Invalid> {
    let base = json!({"user_id": "ada", "query": "tea"});
    read::<SearchRequest>(&with(base, changes))?.search(&Scope::default(), &Zone::utc())
}

fn get(changes: &Value) -> Result<List, Invalid> {
    let base = json!({"user_id": "ada", "memory_type": "episode"});
    read::<GetRequest>(&with(base, changes))?.list(&Scope::default(), &Zone::utc())
}

fn refusals<T>(check: impl Fn(&Value) -> Result<T, Invalid>, cases: &[Value]) -> String {
    let mut text = String::new();
    for case in cases {
        let answer = match check(case) {
            Ok(_) => "ACCEPTED".to_owned(),
            Err(invalid) => invalid.to_string(),
        };
        let case: String = case.to_string().chars().take(60).collect();
        text.extend([case.as_str(), "\n    ", answer.as_str(), "\n"]);
    }
    text
}

#[test]
fn an_invalid_add_is_refused_with_the_field() {
    let bad = |changes: Value| json!({"messages": [message(), with(message(), &changes)]});
    let without = |key: &str| {
        let mut one = message();
        one.as_object_mut().expect("an object").remove(key);
        json!({"messages": [one]})
    };
    let cases = [
        json!({"session_id": ""}),
        json!({"session_id": "x".repeat(129)}),
        json!({"session_id": 7}),
        json!({"session_id": null}),
        json!({"app_id": "a/b"}),
        json!({"app_id": ".."}),
        json!({"app_id": "default_app"}),
        json!({"project_id": "default_project"}),
        json!({"project_id": ""}),
        json!({"messages": []}),
        json!({"messages": vec![message(); 501]}),
        json!({"messages": message()}),
        json!({"messages": ["hello"]}),
        json!({"messages": [["ada", null, "user", 5, "hello"]]}),
        json!({"async_mode": "yes"}),
        json!({"async_mode": true, "wait": true}),
        without("sender_id"),
        without("role"),
        without("timestamp"),
        without("content"),
        bad(json!({"sender_id": "ada lovelace"})),
        bad(json!({"sender_id": "x".repeat(129)})),
        bad(json!({"role": "system"})),
        bad(json!({"role": "tool"})),
        bad(json!({"role": null})),
        bad(json!({"role": 5})),
        bad(json!({"timestamp": "yesterday"})),
        bad(json!({"timestamp": 0})),
        bad(json!({"timestamp": -5})),
        bad(json!({"timestamp": 1.5})),
        bad(json!({"timestamp": 1_715_176_560_000_000_i64})),
        bad(json!({"content": 5})),
        bad(json!({"content": [{"type": "video"}]})),
        bad(json!({"content": [{"text": "no type"}]})),
        bad(json!({"content": [{"type": "text", "txt": "typo"}]})),
        bad(json!({"content": [{"type": "text", "text": "a", "extras": [1]}]})),
        bad(json!({"tool_calls": [{"id": "c1"}]})),
        bad(json!({"tool_calls": [{"id": "c1", "function": {"name": "f", "arguments": {}}}]})),
        bad(json!({"message_id": ""})),
        bad(json!({"message_id": "x".repeat(129)})),
    ];
    expect![[r#"
        {"session_id":""}
            session_id: an id must not be empty
        {"session_id":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
            session_id: an id has at most 128 characters, this one has 129
        {"session_id":7}
            session_id: must be a string, not integer `7`
        {"session_id":null}
            session_id: must be a string, not null
        {"app_id":"a/b"}
            app_id: `/` is not allowed in an id: use letters, digits and `_.@+-`
        {"app_id":".."}
            app_id: `.` and `..` are not ids
        {"app_id":"default_app"}
            app_id: `default_app` is reserved: choose another name
        {"project_id":"default_project"}
            project_id: `default_project` is reserved: choose another name
        {"project_id":""}
            project_id: an id must not be empty
        {"messages":[]}
            messages: must have 1 to 500 messages, this has 0
        {"messages":[{"sender_id":"ada","role":"user","timestamp":17
            messages: must have 1 to 500 messages, this has 501
        {"messages":{"sender_id":"ada","role":"user","timestamp":171
            messages: must be a list, not an object
        {"messages":["hello"]}
            messages.0: must be an object, not string "hello"
        {"messages":[["ada",null,"user",5,"hello"]]}
            messages.0: must be an object, not a list
        {"async_mode":"yes"}
            async_mode: must be a boolean, not string "yes"
        {"async_mode":true,"wait":true}
            wait: cannot be true when `async_mode` is
        {"messages":[{"content":"hello","role":"user","timestamp":17
            messages.0.sender_id: this field is required
        {"messages":[{"sender_id":"ada","content":"hello","timestamp
            messages.0.role: this field is required
        {"messages":[{"sender_id":"ada","role":"user","content":"hel
            messages.0.timestamp: this field is required
        {"messages":[{"sender_id":"ada","role":"user","timestamp":17
            messages.0.content: this field is required
        {"messages":[{"sender_id":"ada","role":"user","timestamp":17
            messages.1.sender_id: ` ` is not allowed in an id: use letters, digits and `_.@+-`
        {"messages":[{"sender_id":"ada","role":"user","timestamp":17
            messages.1.sender_id: an id has at most 128 characters, this one has 129
        {"messages":[{"sender_id":"ada","role":"user","timestamp":17
            messages.1.role: must be one of `user`, `assistant`, `tool`, not `system`
        {"messages":[{"sender_id":"ada","role":"user","timestamp":17
            messages.1.tool_call_id: this field is required when `role` is `tool`
        {"messages":[{"sender_id":"ada","role":"user","timestamp":17
            messages.1.role: must be a string, not null
        {"messages":[{"sender_id":"ada","role":"user","timestamp":17
            messages.1.role: must be a string, not integer `5`
        {"messages":[{"sender_id":"ada","role":"user","timestamp":17
            messages.1.timestamp: must be epoch milliseconds, as in 1715176560000, not string "yesterday"
        {"messages":[{"sender_id":"ada","role":"user","timestamp":17
            messages.1.timestamp: must be greater than 0: epoch milliseconds, as in 1715176560000
        {"messages":[{"sender_id":"ada","role":"user","timestamp":17
            messages.1.timestamp: must be greater than 0: epoch milliseconds, as in 1715176560000
        {"messages":[{"sender_id":"ada","role":"user","timestamp":17
            messages.1.timestamp: must be epoch milliseconds, as in 1715176560000, not floating point `1.5`
        {"messages":[{"sender_id":"ada","role":"user","timestamp":17
            messages.1.timestamp: is beyond the year 9999: give milliseconds, not micro- or nanoseconds
        {"messages":[{"sender_id":"ada","role":"user","timestamp":17
            messages.1.content: must be a string or a list of content items, not integer `5`
        {"messages":[{"sender_id":"ada","role":"user","timestamp":17
            messages.1.content.0.type: must be one of `text`, `image`, `audio`, `doc`, `pdf`, `html`, `email`, not `video`
        {"messages":[{"sender_id":"ada","role":"user","timestamp":17
            messages.1.content.0.type: this field is required
        {"messages":[{"sender_id":"ada","role":"user","timestamp":17
            messages.1.content.0.txt: unknown field: use one of `type`, `text`, `uri`, `base64`, `ext`, `name`, `extras`
        {"messages":[{"sender_id":"ada","role":"user","timestamp":17
            messages.1.content.0.extras: must be an object
        {"messages":[{"sender_id":"ada","role":"user","timestamp":17
            messages.1.tool_calls.0.function: this field is required
        {"messages":[{"sender_id":"ada","role":"user","timestamp":17
            messages.1.tool_calls.0.function.arguments: must be a string, not an object
        {"messages":[{"sender_id":"ada","role":"user","timestamp":17
            messages.1.message_id: must have 1 to 128 characters, this one has 0
        {"messages":[{"sender_id":"ada","role":"user","timestamp":17
            messages.1.message_id: must have 1 to 128 characters, this one has 129
    "#]]
    .assert_eq(&refusals(add, &cases));
}

#[test]
fn an_add_keeps_every_field_and_ignores_unknown_keys() {
    let parts = add(&json!({
        "session_id": "any text, even / this",
        "app_id": "app", "project_id": "p.1",
        "unknown": {"nested": true},
        "messages": [
            with(message(), &json!({"sender_name": "Ada", "message_id": "c-1", "unknown": 1, "timestamp": "1715176560000"})),
            {"sender_id": "bot", "role": "assistant", "timestamp": 1.715e12, "content": [
                {"type": "text", "text": "look"},
                {"type": "image", "uri": "file:///a.png", "name": "a.png", "base64": "AA==", "ext": "png",
                 "extras": {"z": 1, "a": [1.10]}}
            ], "tool_calls": [{"id": "t1", "function": {"name": "f", "arguments": "{not json"}}]},
            {"sender_id": "f", "role": "tool", "timestamp": 1_715_000_000_001_i64, "content": "", "tool_call_id": "t1"}
        ]
    }))
    .expect("valid");
    let session = model::SessionKey {
        scope: Scope::new(name("app"), name("p.1")),
        session: SessionId::new("any text, even / this"),
    };
    let [one, two, three] = parts.messages.as_slice() else {
        panic!("{parts:?}");
    };
    assert_eq!((&two.client_id, &three.client_id), (&None, &None));
    let own = &one.client_id;
    let (one, two, three) = (&one.message, &two.message, &three.message);
    assert_eq!(parts.session, session);
    assert_eq!(
        (own.as_deref(), one.sender_name.as_deref()),
        (Some("c-1"), Some("Ada"))
    );
    assert_eq!(
        (one.role, one.time.millis(), one.text()),
        (Role::User, 1_715_176_560_000, "hello".to_owned())
    );
    assert_eq!(
        (two.time.millis(), two.sender.as_str()),
        (1_715_000_000_000, "bot")
    );
    let text = |text: &str| Some(text.to_owned());
    let part = |kind| Part {
        kind,
        text: None,
        uri: None,
        base64: None,
        ext: None,
        name: None,
        extras_json: None,
    };
    let want = Content::Parts(vec![
        Part {
            text: text("look"),
            ..part(PartKind::Text)
        },
        Part {
            uri: text("file:///a.png"),
            base64: text("AA=="),
            ext: text("png"),
            name: text("a.png"),
            extras_json: text(r#"{"z":1,"a":[1.1]}"#),
            ..part(PartKind::Image)
        },
    ]);
    assert_eq!(*two.content, want);
    let call = ToolCall {
        id: "t1".to_owned(),
        name: "f".to_owned(),
        arguments: "{not json".to_owned(),
    };
    assert_eq!(two.tool_calls, [call]);
    assert_eq!(
        (three.role, three.tool_call_id.as_deref()),
        (Role::Tool, Some("t1"))
    );
    assert!(parts.messages.iter().all(|new| new.message.session == session));
}

#[test]
fn extras_are_returned_unchanged() {
    let body = br#"{"session_id":"s","messages":[{"sender_id":"a","role":"user","timestamp":1,
        "content":[{"type":"doc","extras":{"b":1.10, "a":  [1e3]}}]}]}"#;
    let request: AddRequest = json::from_slice(body).expect("valid");
    let parts = request.into_add(&Scope::default()).expect("valid");
    let back = items::UnprocessedMessage::of(&parts.messages[0].message, &Zone::utc());
    let text = serde_json::to_string(&back).expect("plain data");
    assert!(text.contains(r#""extras":{"b":1.10, "a":  [1e3]}"#), "{text}");
}

#[test]
fn invalid_json_is_refused_with_its_line() {
    let bodies: [&[u8]; 9] = [
        b"",
        b"{\n  \"session_id\": \"s\",\n  \"messages\": [}\n",
        b"{\"session_id\": \"s\"",
        b"[]",
        b"[\"s\", null, null, []]",
        b"null",
        b"{} trailing",
        b"{\"session_id\": \"\xff\xfe\"}",
        b"{\"session_id\": \"s\", \"session_id\": \"t\"}",
    ];
    let mut text = String::new();
    for body in bodies {
        let invalid = json::from_slice::<AddRequest>(body).expect_err("refused");
        text.extend([invalid.to_string().as_str(), "\n"]);
    }
    expect![[r"
        the body is not valid JSON: EOF while parsing a value at line 1 column 0
        the body is not valid JSON: expected value at line 3 column 16
        the body is not valid JSON: EOF while parsing an object at line 1 column 18
        must be an object, not a list
        must be an object, not a list
        must be an object, not null
        session_id: this field is required
        the body is not valid JSON: invalid unicode code point at line 1 column 17
        session_id: this field appears twice
    "]]
    .assert_eq(&text);
}

#[test]
fn deep_nesting_is_refused_without_recursion() {
    for depth in [200, 100_000] {
        let deep = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        for body in [
            deep.clone(),
            format!(r#"{{"user_id":"a","query":"q","filters":{deep}}}"#),
            format!(r#"{{"user_id":"a","query":"q","as_of":{deep}}}"#),
        ] {
            json::from_slice::<SearchRequest>(body.as_bytes()).expect_err("refused");
        }
        let ignored = format!(r#"{{"session_id":"s","unknown":{deep}}}"#);
        // Ignored nesting may be accepted or refused; it must not overflow the stack.
        drop(json::from_slice::<FlushRequest>(ignored.as_bytes()));
    }
}

#[test]
fn a_long_value_is_cut_in_the_message() {
    let invalid = add(&json!({"async_mode": "x".repeat(100_000)})).expect_err("refused");
    assert!(invalid.to_string().chars().count() < 900);
    let invalid = search(&json!({"x".repeat(100_000): 1})).expect_err("refused");
    assert!(invalid.to_string().chars().count() < 900);
}

#[test]
fn an_invalid_search_is_refused_with_the_field() {
    let cases = [
        json!({"user_id": null}),
        json!({"agent_id": "bot"}),
        json!({"user_id": ""}),
        json!({"user_id": "a/../b"}),
        json!({"query": ""}),
        json!({"query": null}),
        json!({"method": "magic"}),
        json!({"top_k": 0}),
        json!({"top_k": 101}),
        json!({"top_k": -2}),
        json!({"top_k": "5"}),
        json!({"radius": 1.01}),
        json!({"radius": -0.1}),
        json!({"min_score": 2}),
        json!({"min_score": "high"}),
        json!({"include_messages": 201}),
        json!({"include_messages": -1}),
        json!({"max_tokens": 0}),
        json!({"max_tokens": -1}),
        json!({"as_of": "last tuesday"}),
        json!({"as_of": true}),
        json!({"query_time": {}}),
        json!({"limit": 5}),
        json!({"filters": []}),
    ];
    expect![[r#"
        {"user_id":null}
            user_id: give exactly one of `user_id` and `agent_id`
        {"agent_id":"bot"}
            user_id: give exactly one of `user_id` and `agent_id`
        {"user_id":""}
            user_id: an id must not be empty
        {"user_id":"a/../b"}
            user_id: `/` is not allowed in an id: use letters, digits and `_.@+-`
        {"query":""}
            query: must not be empty
        {"query":null}
            query: must be a string, not null
        {"method":"magic"}
            method: must be one of `keyword`, `vector`, `hybrid`, `agentic`, `llm_multiround`, not `magic`
        {"top_k":0}
            top_k: must be -1 or between 1 and 100
        {"top_k":101}
            top_k: must be -1 or between 1 and 100
        {"top_k":-2}
            top_k: must be -1 or between 1 and 100
        {"top_k":"5"}
            top_k: must be an integer, not string "5"
        {"radius":1.01}
            radius: must be between 0 and 1
        {"radius":-0.1}
            radius: must be between 0 and 1
        {"min_score":2}
            min_score: must be between 0 and 1
        {"min_score":"high"}
            min_score: must be a number, not string "high"
        {"include_messages":201}
            include_messages: must be between 0 and 200
        {"include_messages":-1}
            include_messages: must be between 0 and 200
        {"max_tokens":0}
            max_tokens: must be at least 1
        {"max_tokens":-1}
            max_tokens: must be a whole number up to 4294967295, not integer `-1`
        {"as_of":"last tuesday"}
            as_of: `last tuesday` is not a time: use a date as in `2024-05-08`, ISO 8601 as in `2024-05-08T13:56:00Z`, or epoch milliseconds
        {"as_of":true}
            as_of: must be epoch milliseconds or an ISO 8601 string
        {"query_time":{}}
            query_time: must be epoch milliseconds or an ISO 8601 string
        {"limit":5}
            limit: unknown field: use one of `user_id`, `agent_id`, `app_id`, `project_id`, `query`, `method`, `top_k`, `radius`, `min_score`, `include_profile`, `include_person`, `enable_llm_rerank`, `with_readable_episode`, `filters`, `as_of`, `query_time`, `include_messages`, `max_tokens`, `include_sure`, `explain`
        {"filters":[]}
            filters: must be an object
    "#]]
    .assert_eq(&refusals(search, &cases));
}

#[test]
fn a_search_has_the_documented_defaults_and_bounds() {
    let parts = search(&json!({})).expect("valid");
    assert_eq!(
        (parts.memories_max, parts.messages_max, parts.score_min),
        (100, 0, 0.0)
    );
    assert_eq!(parts.scope, Scope::default());
    assert_eq!(parts.filter, None);
    let request: SearchRequest = read(&json!({"user_id": "a", "query": "q"})).expect("valid");
    assert_eq!(request.method, SearchMethod::Hybrid);
    assert!(!request.explain);
    for (top_k, want) in [
        (json!(-1), 100),
        (json!(1), 1),
        (json!(100), 100),
        (json!(7.0), 7),
    ] {
        assert_eq!(
            search(&json!({"top_k": top_k})).expect("valid").memories_max,
            want
        );
    }
    let parts = search(
        &json!({"radius": 0.5, "min_score": 0.25, "include_messages": 200, "max_tokens": 900,
        "with_readable_episode": true, "enable_llm_rerank": true, "include_profile": true,
        "filters": {}, "user_id": null, "agent_id": "bot"}),
    )
    .expect("valid");
    assert_eq!(
        (parts.score_min, parts.messages_max, parts.tokens_max),
        (0.5, 200, Some(900))
    );
    assert_eq!(parts.owner, Owner::agent(name("bot")));
}

#[test]
fn instants_are_milliseconds_or_iso_in_the_zone() {
    let zone = Zone::named("Europe/Berlin").expect("a zone");
    for (when, want) in [
        (json!(1_715_176_560_000_i64), "2024-05-08T13:56:00Z"),
        (json!("2024-05-08T13:56:00Z"), "2024-05-08T13:56:00Z"),
        (json!("2024-05-08T13:56:00+02:00"), "2024-05-08T11:56:00Z"),
        (json!("2024-05-08T13:56:00"), "2024-05-08T11:56:00Z"),
        (json!("2024-05-08"), "2024-05-07T22:00:00Z"),
    ] {
        let when: When = serde_json::from_value(when).expect("an instant");
        assert_eq!(
            when.resolve("as_of", &zone).expect("an instant").to_string(),
            want
        );
    }
}

#[test]
fn an_invalid_listing_is_refused_with_the_field() {
    let cases = [
        json!({"memory_type": null}),
        json!({"memory_type": "dream"}),
        json!({"memory_type": "agent_case"}),
        json!({"memory_type": "agent_skill"}),
        json!({"user_id": null, "agent_id": "bot"}),
        json!({"user_id": null, "agent_id": "bot", "memory_type": "profile"}),
        json!({"user_id": null, "agent_id": "bot", "memory_type": "atomic_fact"}),
        json!({"user_id": null}),
        json!({"page": 0}),
        json!({"page": 1_000_001}),
        json!({"page_size": 0}),
        json!({"page_size": 101}),
        json!({"sort_by": "score"}),
        json!({"sort_by": 3}),
        json!({"sort_order": "up"}),
        json!({"tags": []}),
    ];
    expect![[r#"
        {"memory_type":null}
            memory_type: must be a string, not null
        {"memory_type":"dream"}
            memory_type: must be one of `episode`, `profile`, `agent_case`, `agent_skill`, `atomic_fact`, `foresight`, not `dream`
        {"memory_type":"agent_case"}
            memory_type: `agent_case` goes with `agent_id`, not with `user_id`
        {"memory_type":"agent_skill"}
            memory_type: `agent_skill` goes with `agent_id`, not with `user_id`
        {"user_id":null,"agent_id":"bot"}
            memory_type: `episode` goes with `user_id`, not with `agent_id`
        {"user_id":null,"agent_id":"bot","memory_type":"profile"}
            memory_type: `profile` goes with `user_id`, not with `agent_id`
        {"user_id":null,"agent_id":"bot","memory_type":"atomic_fact"
            memory_type: `atomic_fact` goes with `user_id`, not with `agent_id`
        {"user_id":null}
            user_id: give exactly one of `user_id` and `agent_id`
        {"page":0}
            page: must be between 1 and 1000000
        {"page":1000001}
            page: must be between 1 and 1000000
        {"page_size":0}
            page_size: must be between 1 and 100
        {"page_size":101}
            page_size: must be between 1 and 100
        {"sort_by":"score"}
            sort_by: must be `timestamp` or `updated_at`, not `score`
        {"sort_by":3}
            sort_by: must be a string, not integer `3`
        {"sort_order":"up"}
            sort_order: must be `asc` or `desc`, not `up`
        {"tags":[]}
            tags: unknown field: use one of `user_id`, `agent_id`, `app_id`, `project_id`, `memory_type`, `page`, `page_size`, `sort_by`, `sort_order`, `filters`, `with_readable_episode`, `as_of`, `standing`
    "#]]
    .assert_eq(&refusals(get, &cases));
    let parts = get(&json!({"with_readable_episode": false})).expect("valid");
    assert_eq!((parts.page, parts.page_size), (1, 20));
    get(&json!({"user_id": null, "agent_id": "bot", "memory_type": "agent_skill"})).expect("valid");
}

fn filter(node: &Value) -> Result<Option<Filter>, Invalid> {
    filter::parse(Some(node), &Zone::utc())
}

#[test]
fn an_invalid_filter_is_refused_with_its_place() {
    let mut deep = json!({"session_id": "s"});
    for _ in 0..16 {
        deep = json!({"AND": [deep]});
    }
    let cases = [
        json!("session_id"),
        json!({"owner_id": "ada"}),
        json!({"owner_type": "user"}),
        json!({"app_id": "a"}),
        json!({"project_id": {"eq": "p"}}),
        json!({"mood": "good"}),
        json!({"and": []}),
        json!({"AND": []}),
        json!({"OR": {}}),
        json!({"OR": [1]}),
        json!({"OR": [{}]}),
        json!({"AND": null}),
        json!({"AND": [{"OR": [{"timestamp": "soon"}]}]}),
        json!({"session_id": 5}),
        json!({"session_id": null}),
        json!({"session_id": {}}),
        json!({"session_id": {"like": "s%"}}),
        json!({"session_id": {"in": []}}),
        json!({"session_id": {"in": "s"}}),
        json!({"session_id": {"in": ["s", 5]}}),
        json!({"session_id": {"in": vec!["s"; 1_001]}}),
        json!({"sender_id": {"ne": "ada"}}),
        json!({"sender_id": {"gt": "ada"}}),
        json!({"timestamp": true}),
        json!({"timestamp": 1.5}),
        deep,
    ];
    expect![[r#"
        "session_id"
            filters: must be an object
        {"owner_id":"ada"}
            filters.owner_id: `owner_id` is reserved: it is set by the request itself
        {"owner_type":"user"}
            filters.owner_type: `owner_type` is reserved: it is set by the request itself
        {"app_id":"a"}
            filters.app_id: `app_id` is reserved: it is set by the request itself
        {"project_id":{"eq":"p"}}
            filters.project_id: `project_id` is reserved: it is set by the request itself
        {"mood":"good"}
            filters.mood: unsupported field: use session_id, parent_type, parent_id, timestamp, sender_id, `AND` or `OR`
        {"and":[]}
            filters.and: unsupported field: use session_id, parent_type, parent_id, timestamp, sender_id, `AND` or `OR`
        {"AND":[]}
            filters.AND: must be a list of at least one filter
        {"OR":{}}
            filters.OR: must be a list of at least one filter
        {"OR":[1]}
            filters.OR.0: must be an object
        {"OR":[{}]}
            filters.OR.0: must have at least one condition
        {"AND":null}
            filters: must have at least one condition
        {"AND":[{"OR":[{"timestamp":"soon"}]}]}
            filters.AND.0.OR.0.timestamp: `soon` is not a time: use a date as in `2024-05-08`, ISO 8601 as in `2024-05-08T13:56:00Z`, or epoch milliseconds
        {"session_id":5}
            filters.session_id: must be a string
        {"session_id":null}
            filters.session_id: must be a string
        {"session_id":{}}
            filters.session_id: must have an operator, as in {"eq": …}
        {"session_id":{"like":"s%"}}
            filters.session_id.like: unsupported operator: use eq, ne, gt, gte, lt, lte or in
        {"session_id":{"in":[]}}
            filters.session_id.in: must be a list of 1 to 1000 values
        {"session_id":{"in":"s"}}
            filters.session_id.in: must be a list of 1 to 1000 values
        {"session_id":{"in":["s",5]}}
            filters.session_id.in.1: must be a string
        {"session_id":{"in":["s","s","s","s","s","s","s","s","s","s"
            filters.session_id.in: must be a list of 1 to 1000 values
        {"sender_id":{"ne":"ada"}}
            filters.sender_id.ne: unsupported operator: `sender_id` knows eq and in only
        {"sender_id":{"gt":"ada"}}
            filters.sender_id.gt: unsupported operator: `sender_id` knows eq and in only
        {"timestamp":true}
            filters.timestamp: must be epoch milliseconds or ISO 8601
        {"timestamp":1.5}
            filters.timestamp: must be whole epoch milliseconds
        {"AND":[{"AND":[{"AND":[{"AND":[{"AND":[{"AND":[{"AND":[{"AN
            filters.AND.0.AND.0.AND.0.AND.0.AND.0.AND.0.AND.0.AND.0.AND.0.AND.0.AND.0.AND.0.AND.0.AND.0.AND.0.AND.0: filters nest at most 16 deep
    "#]]
    .assert_eq(&refusals(filter, &cases));
}

#[test]
fn a_filter_matches_the_documented_rows() {
    assert_eq!(filter(&json!({})).expect("valid"), None);
    let doc = |session: &str, sender: &str, millis: i64| {
        let item: MessageItem = read(&with(
            message(),
            &json!({"sender_id": sender, "timestamp": millis}),
        ))
        .expect("valid");
        let session = model::SessionKey::new(Scope::default(), SessionId::new(session));
        let (message, _) = item.into_message(0, &session).expect("valid");
        Doc::of_message(&message, &Owner::user(name("ada")))
    };
    let docs = [
        doc("a", "ada", 1_000),
        doc("b", "ada", 2_000),
        doc("b", "bob", 3_000),
    ];
    for (node, want) in [
        (json!({"session_id": "b"}), "-bb"),
        (json!({"session_id": {"eq": "b"}, "sender_id": "ada"}), "-b-"),
        (json!({"session_id": {"ne": "b"}}), "a--"),
        (json!({"session_id": {"in": ["a", "b"]}}), "abb"),
        (json!({"OR": [{"session_id": "a"}, {"sender_id": "bob"}]}), "a-b"),
        (
            json!({"AND": [{"session_id": "b"}, {"sender_id": {"in": ["bob", "cyd"]}}], "OR": null}),
            "--b",
        ),
        (json!({"timestamp": 2_000}), "-b-"),
        (
            json!({"timestamp": {"gt": 1_000, "lte": "1970-01-01T00:00:02Z"}}),
            "-b-",
        ),
        (json!({"timestamp": {"gte": "1970-01-01T00:00:02"}}), "-bb"),
        (json!({"timestamp": {"lt": 2_000}}), "a--"),
        (json!({"parent_type": "episode"}), "---"),
        (json!({"parent_id": {"ne": "ep_1"}}), "abb"),
    ] {
        let parsed = filter(&node).expect("valid").expect("a filter");
        let matched: String = docs
            .iter()
            .map(|doc| {
                let session = doc.session.as_ref().expect("a session").as_str();
                if parsed.matches(doc.into()) { session } else { "-" }
            })
            .collect();
        assert_eq!(matched, want, "{node}");
    }
    let top = filter(&json!({"session_id": "b", "timestamp": {"gt": 0}})).expect("valid");
    assert_eq!(top.expect("a filter").session(), Some("b"));
}

#[test]
fn a_rendered_id_is_parsed_for_every_owner_name() {
    for owner in ["ada", "a_ep_b", "ep_", "_af_", "x_ep_20240508_0_af_1"] {
        for entry in ["ep_20240508_0kq3", "af_20240508_0kq3_1", "ep_1"] {
            let whose = name(owner);
            let text = ApiId::render(&whose, entry);
            let want = ApiId {
                owner: whose.clone(),
                entry: EntryId::new(entry),
            };
            assert_eq!(ApiId::parse("id", &text, None), Ok(want.clone()), "{text}");
            assert_eq!(ApiId::parse("id", &text, Some(&whose)), Ok(want), "{text}");
        }
    }
    // An id that a person wrote needs the owner.
    let ada = name("ada");
    let id = ApiId::parse("id", "ada_ep_the_ep_trip", Some(&ada)).expect("an id");
    assert_eq!(id.entry.as_str(), "ep_the_ep_trip");
    for text in [
        "", "ada", "ep_1", "_ep_1", "ada_ep_", "ada_xx_1", "a b_ep_1", "ada_EP_1",
    ] {
        ApiId::parse("ids.3", text, None).expect_err(text);
    }
    ApiId::parse("id", "bob_ep_1", Some(&ada)).expect_err("another owner's");
}

#[test]
fn a_delete_has_exactly_one_target() {
    let parts = |value: Value| read::<DeleteRequest>(&value)?.target(&Scope::default());
    assert!(matches!(
        parts(json!({"session_id": "s"})),
        Ok(Forget::Session(_))
    ));
    assert!(matches!(parts(json!({"user_id": "u"})), Ok(Forget::Owner(..))));
    assert!(matches!(
        parts(json!({"session_id": "s", "user_id": "u"})),
        Ok(Forget::OwnerInSession(..))
    ));
    let by_words = parts(json!({"user_id": "u", "words": "Petra", "keep": ["u_af_1", "m1"], "also": ["m2"]}));
    let Ok(Forget::Words(by_words)) = by_words else {
        panic!("{by_words:?}");
    };
    // A memory's id is accepted with and without its owner, a message's id unchanged.
    assert_eq!(by_words.keep, ["af_1", "m1", "u_af_1"].map(String::from).into());
    assert_eq!(by_words.also, ["m2".to_owned()].into());
    let cases = [
        json!({}),
        json!({"app_id": "a"}),
        json!({"user_id": "u", "agent_id": "a"}),
        json!({"session_id": ""}),
        json!({"user_id": "u", "appid": "a"}),
        json!({"user_id": "../u"}),
        json!({"words": "Petra"}),
        json!({"words": "Petra", "user_id": "u", "session_id": "s"}),
        json!({"words": "?!", "user_id": "u"}),
        json!({"keep": ["m1"], "user_id": "u"}),
        json!({"also": ["m1"], "user_id": "u"}),
    ];
    expect![[r#"
        {}
            name what to delete: `user_id`, `agent_id` or `session_id`
        {"app_id":"a"}
            name what to delete: `user_id`, `agent_id` or `session_id`
        {"user_id":"u","agent_id":"a"}
            user_id: give exactly one of `user_id` and `agent_id`
        {"session_id":""}
            session_id: an id must not be empty
        {"user_id":"u","appid":"a"}
            appid: unknown field: use one of `app_id`, `project_id`, `user_id`, `agent_id`, `session_id`, `words`, `keep`, `also`
        {"user_id":"../u"}
            user_id: `/` is not allowed in an id: use letters, digits and `_.@+-`
        {"words":"Petra"}
            words: needs `user_id` or `agent_id`: say in whose memory to look
        {"words":"Petra","user_id":"u","session_id":"s"}
            session_id: cannot be combined with `words`
        {"words":"?!","user_id":"u"}
            words: must have a letter or a digit
        {"keep":["m1"],"user_id":"u"}
            keep: needs `words`
        {"also":["m1"],"user_id":"u"}
            also: needs `words`
    "#]]
    .assert_eq(&refusals(|case| parts(case.clone()), &cases));
}

#[test]
fn invalid_ids_and_edits_are_refused_with_the_field() {
    let ids = |value: &Value| read::<DeleteByIdsRequest>(value)?.parts(&Scope::default());
    let parts = ids(
        &json!({"memory_ids": ["a_ep_1", "a_ep_1", "b_af_2"], "memory_type": "episode",
        "reason": {"code": "privacy"}}),
    )
    .expect("valid");
    assert_eq!(parts.ids.len(), 2, "each once");
    let cases = [
        json!({}),
        json!({"ids": []}),
        json!({"ids": vec!["a_ep_1"; 51]}),
        json!({"ids": ["a_ep_1", "nonsense"]}),
        json!({"ids": ["a_ep_1"], "user_id": "b"}),
        json!({"ids": "a_ep_1"}),
        json!({"ids": ["a_ep_1"], "app": "x"}),
    ];
    expect![[r#"
        {}
            ids: this field is required
        {"ids":[]}
            ids: must have 1 to 50 ids, this has 0
        {"ids":["a_ep_1","a_ep_1","a_ep_1","a_ep_1","a_ep_1","a_ep_1
            ids: must have 1 to 50 ids, this has 51
        {"ids":["a_ep_1","nonsense"]}
            ids.1: `nonsense` is not the id of a memory: give an `id` from a search or listing
        {"ids":["a_ep_1"],"user_id":"b"}
            ids.0: `a_ep_1` is not the id of a memory of `b`
        {"ids":"a_ep_1"}
            ids: must be a list, not string "a_ep_1"
        {"ids":["a_ep_1"],"app":"x"}
            app: unknown field: use one of `app_id`, `project_id`, `memory_type`, `ids`, `memory_ids`, `user_id`, `agent_id`, `reason`
    "#]]
    .assert_eq(&refusals(ids, &cases));
    let edit = |value: &Value| read::<EditRequest>(value)?.parts(&Scope::default());
    edit(&json!({"id": "a_ep_1", "summary": ""})).expect("a summary may be empty");
    let cases = [
        json!({"subject": "x"}),
        json!({"id": "a_ep_1"}),
        json!({"id": "nonsense", "subject": "x"}),
        json!({"id": "a_ep_1", "subject": "two\nlines"}),
        json!({"id": "a_ep_1", "episode": " "}),
        json!({"id": "a_ep_1", "body": "x"}),
    ];
    expect![[r#"
        {"subject":"x"}
            id: this field is required
        {"id":"a_ep_1"}
            name what to change: `subject`, `summary`, `episode` or `project_only`
        {"id":"nonsense","subject":"x"}
            id: `nonsense` is not the id of a memory: give an `id` from a search or listing
        {"id":"a_ep_1","subject":"two\nlines"}
            subject: must be one line
        {"id":"a_ep_1","episode":" "}
            episode: must not be empty: use `memory/delete_by_ids` to remove a memory
        {"id":"a_ep_1","body":"x"}
            body: unknown field: use one of `app_id`, `project_id`, `id`, `user_id`, `agent_id`, `subject`, `summary`, `episode`, `project_only`
    "#]]
    .assert_eq(&refusals(edit, &cases));
}

#[test]
fn a_task_listing_caps_its_page_size_and_refuses_invalid_fields() {
    let query = |value: &Value| read::<TasksQuery>(value)?.tasks(&Scope::default(), &Zone::utc());
    let parts = query(&json!({"page_size": 1_000})).expect("valid");
    assert_eq!(
        (parts.page, parts.page_size),
        (1, 100),
        "the size is capped, not refused"
    );
    let cases = [
        json!({"page": 0}),
        json!({"page_size": 0}),
        json!({"status": "done"}),
        json!({"session_id": ""}),
        json!({"app_id": "a b"}),
    ];
    expect![[r#"
        {"page":0}
            page: must be between 1 and 1000000
        {"page_size":0}
            page_size: must be between 1 and 100
        {"status":"done"}
            status: must be one of `queued`, `processing`, `success`, `failed`, not `done`
        {"session_id":""}
            session_id: an id must not be empty
        {"app_id":"a b"}
            app_id: ` ` is not allowed in an id: use letters, digits and `_.@+-`
    "#]]
    .assert_eq(&refusals(query, &cases));
}

#[test]
fn an_omitted_scope_is_the_callers_home() {
    let home = Scope::new(name("their-app"), name("their-project"));
    assert_eq!(scope::scope(None, None, &home), Ok(home.clone()));
    let named = scope::scope(Some("default"), Some("default"), &home);
    assert_eq!(named, Ok(Scope::default()));
}

#[test]
fn an_assistant_message_with_only_tool_calls_has_empty_text() {
    let call = json!({"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}});
    let item = json!({"sender_id": "bot", "role": "assistant", "timestamp": 5, "content": null, "tool_calls": [call]});
    let item: crate::wire::MessageItem = read(&item).expect("valid");
    assert!(matches!(item.content, crate::wire::MessageContent::Text(text) if text.is_empty()));
}

#[test]
fn requests_survive_a_round_trip() {
    let text = r#"{"session_id":"s","messages":[{"sender_id":"a","role":"tool","timestamp":5,"content":[{"type":"text","text":"x"}],"tool_call_id":"c"}],"defer_extraction":false,"async_mode":true,"wait":false,"accept_forgotten":false,"undated":false}"#;
    let request: AddRequest = json::from_slice(text.as_bytes()).expect("valid");
    assert_eq!(serde_json::to_string(&request).expect("plain data"), text);
    let search = json!({"user_id": "a", "query": "q", "method": "keyword", "top_k": 5, "include_profile": false, "include_person": false,
        "enable_llm_rerank": false, "with_readable_episode": false, "filters": {"session_id": "s"},
        "as_of": "2024-05-08", "include_messages": 3, "include_sure": false, "explain": true});
    let request: SearchRequest = read(&search).expect("valid");
    assert_eq!(serde_json::to_value(&request).expect("plain data"), search);
}

#[test]
fn a_parsed_message_has_no_id() {
    let parts = add(&json!({})).expect("valid");
    assert_eq!(parts.messages[0].message.id, MessageId::new(""));
}

/// The doors share these types, so the wire must not depend on modules that handle a request.
#[test]
fn the_wire_imports_only_the_engine_and_itself() {
    const MAY: [&str; 14] = [
        "context",
        "macro_rules_attribute",
        "memory",
        "model",
        "ports",
        "proxy",
        "serde",
        "serde_json",
        "serde_path_to_error",
        "serde_with",
        "std",
        "text",
        "transcript",
        "utoipa",
    ];
    let mut folders = vec![std::path::PathBuf::from(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/src/wire"
    ))];
    let mut lines = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if !path.ends_with("tests.rs") {
                let code = std::fs::read_to_string(&path).expect("a file");
                lines.extend(code.lines().map(|line| (path.clone(), line.trim().to_owned())));
            }
        }
    }
    let strangers: Vec<_> = lines
        .iter()
        .filter(|(_, line)| {
            let root = line.strip_prefix("use ").and_then(|path| path.split("::").next());
            let is_foreign = root.is_some_and(|root| root != "crate" && !MAY.contains(&root));
            is_foreign || line.replace("crate::wire", "").contains("crate::")
        })
        .collect();
    assert!(lines.len() > 1_000, "{} lines", lines.len());
    assert!(strangers.is_empty(), "{strangers:#?}");
}
