//! The parts of a turn that memory learns, and the parts that it does not.

use model::{Entry, EntryId, EntryKind, MessageId, Name, Origin, Owner, Role, Scope, SkillStatus};
use proxy::{Request, Speech};
use serde_json::{Value, json};
use testkit::backend::{CacheKind, Config};

use crate::stage::{Client, Stage, messages, request};

fn remembered(stage: &Stage) -> Vec<(Role, String)> {
    let everything = stage.ledger.everything();
    everything
        .iter()
        .map(|(message, _)| (message.role, message.text()))
        .collect()
}

fn plain() -> Config {
    Config {
        cache: CacheKind::None,
        ..Config::default()
    }
}

#[tokio::test]
async fn a_clients_text_around_a_persons_words_is_sent_and_not_remembered() {
    let stage = Stage::new(plain()).await;
    let mut client = Client::new();
    for (role, text) in [
        ("user", "Change get_factorial() to use math.factorial"),
        ("assistant", "Here are the blocks."),
        (
            "user",
            "I switched to a new code base. Please don't consider the above files or edit them.",
        ),
        ("assistant", "Ok."),
        (
            "user",
            "<environment_context>\n<cwd>/srv</cwd>\n</environment_context>",
        ),
    ] {
        client.history.push(json!({"role": role, "content": text}));
    }
    let asked = "I moved to Porto.\n<system-reminder>\nI live in Rome.\n</system-reminder>";
    client.turn(&stage, asked).await;
    let sent = messages(&stage.last());
    assert!(sent.last().expect("one").contains("Rome"), "{sent:?}");
    assert!(
        sent.iter().any(|message| message.contains("environment_context")),
        "{sent:?}"
    );
    let told = remembered(&stage);
    let roles: Vec<Role> = told.iter().map(|(role, _)| *role).collect();
    assert_eq!(roles, [Role::User, Role::Assistant], "{told:?}");
    assert_eq!(told[0].1, "I moved to Porto.");
}

#[tokio::test]
async fn a_message_that_is_only_a_clients_text_is_answered_and_not_remembered() {
    let stage = Stage::new(plain()).await;
    let mut client = Client::new();
    client
        .turn(&stage, "<task-notification>\nA task ended.\n</task-notification>")
        .await;
    assert_eq!(remembered(&stage), []);
    client.turn(&stage, "And now?").await;
    assert_eq!(remembered(&stage)[0], (Role::User, "And now?".to_owned()));
}

fn side_calls() -> [(Speech, Value); 3] {
    let quoted = "Wie heißt das Gespräch?\nUser: Where does my sister Clara live?\nAssistant: In Lisbon.";
    let user = json!([{"role": "user", "content": quoted}]);
    let form = json!({"format": {"type": "json_schema", "name": "name", "schema": {"type": "object"}}});
    [
        (
            Speech::Chat,
            json!({"model": "tiny", "stream": false, "max_tokens": 60, "messages": user}),
        ),
        (
            Speech::Messages,
            json!({"model": "tiny", "max_tokens": 32, "messages": user}),
        ),
        (
            Speech::Responses,
            json!({"model": "tiny", "text": form, "input": user}),
        ),
    ]
}

#[tokio::test]
async fn a_side_call_is_sent_on_unchanged_and_leaves_no_trace() {
    for (speech, body) in side_calls() {
        let stage = Stage::new(plain()).await;
        stage
            .remember("earlier", "My sister Clara lives in Lisbon and breeds goats.")
            .await;
        let before = remembered(&stage);
        let asked: Request = request(&body);
        let bytes = asked.body.clone();
        let got = stage.got_in(speech, asked).await;
        assert_eq!((got.status, got.conversation, got.injected), (200, None, None));
        assert_eq!(stage.last().body, bytes, "{speech:?}");
        assert_eq!(remembered(&stage), before, "{speech:?}");
    }
}

#[tokio::test]
async fn a_persons_request_for_a_title_is_a_conversation() {
    let stage = Stage::new(plain()).await;
    let got = Client::new()
        .turn(&stage, "Give me a title for my novel about salt.")
        .await;
    assert!(got.conversation.is_some());
    assert_eq!(remembered(&stage).len(), 2);
}

/// Planted: a side call that quotes recent messages under any label, and is remembered; a person's next question, or
/// own older words in a new chat, that are not remembered.
#[tokio::test]
async fn a_call_that_quotes_the_newest_messages_is_a_side_call() {
    let stage = Stage::new(plain()).await;
    let older = "My boat had another name before, it was Orchid.";
    let said = "My boat Marula lies in Voss since the storm.";
    let mut client = Client::new();
    client.turn(&stage, older).await;
    client.turn(&stage, said).await;
    let before = remembered(&stage);
    let lone = |text: &str, more: Value| {
        let mut body = json!({"model": "tiny", "messages": [{"role": "user", "content": text}]});
        let fields = body.as_object_mut().expect("an object");
        fields.extend(more.as_object().expect("an object").clone());
        request(&body)
    };
    let sides = [
        (format!("Navngi dette: «{said}»"), json!({"max_tokens": 400})),
        (
            format!("Tags?\n{said}"),
            json!({"response_format": {"type": "json_object"}}),
        ),
        (said.to_owned(), json!({"max_tokens": 20})),
    ];
    for (text, more) in sides {
        assert_eq!(stage.got(lone(&text, more)).await.conversation, None, "{text}");
        assert_eq!(remembered(&stage), before, "{text}");
    }
    let persons = [
        (format!("You said something about this: {said}"), json!({})),
        (
            format!("I once wrote to you: {older} Was that wise?"),
            json!({"max_tokens": 400}),
        ),
        (
            "Where can I paint my boat?".to_owned(),
            json!({"max_tokens": 400}),
        ),
        (said.to_owned(), json!({"max_tokens": 4_000})),
        (
            "Summarise:\nInes: fine.\nBob: sure?\nInes: yes.\nBob: no.".to_owned(),
            json!({"max_tokens": 400}),
        ),
    ];
    for (text, more) in persons {
        assert!(
            stage.got(lone(&text, more)).await.conversation.is_some(),
            "{text}"
        );
    }
}

/// Planted: a side call without a bound that quotes both sides and is remembered as the user's words; a person's
/// request with such a quotation that is lost.
#[tokio::test]
async fn a_first_turn_that_quotes_both_sides_is_remembered_with_the_second() {
    let stage = Stage::new(plain()).await;
    let said = "My boat Marula lies in Voss since the storm.";
    let reply = "Then look after its ropes before winter.";
    let mut first = Client::new();
    for (role, text) in [("user", said), ("assistant", reply)] {
        first.history.push(json!({"role": role, "content": text}));
    }
    first.turn(&stage, "I will.").await;
    let before = remembered(&stage);
    let mut client = Client::new();
    let text = format!("{said}\n{reply}\nGive me this as a poem.");
    assert!(client.turn(&stage, &text).await.conversation.is_some());
    assert_eq!(remembered(&stage), before);
    client.turn(&stage, "And shorter?").await;
    let after = remembered(&stage);
    let new: Vec<&str> = after[before.len()..].iter().map(|(_, text)| &**text).collect();
    assert_eq!(new.len(), 4, "{new:?}");
    assert_eq!([new[0], new[2]], [&*text, "And shorter?"]);
}

async fn learnt(stage: &Stage, agent: &str, name: &str, status: SkillStatus) {
    let owner = Owner::agent(Name::parse(agent).expect("a name"));
    let whose = (Scope::default(), owner.clone());
    let id = EntryId::new(format!("sk_{name}"));
    let now = ports::Clock::now(&*stage.clock);
    let entry = Entry {
        author: Some("practice/1".to_owned()),
        sources: vec![MessageId::new("ac_1")],
        labels: vec![SkillStatus::Draft.as_str().to_owned()],
        confidence_percent: Some(75),
        subject: name.to_owned(),
        summary: "Deploy the billing service to staging.".to_owned(),
        body: format!("1. `run` on `{name} billing --env staging`"),
        ..Entry::new(id, EntryKind::Skill, whose, now, Origin::Assistant)
    };
    // A skill requires its cases.
    let case = Entry {
        id: EntryId::new("ac_1"),
        kind: EntryKind::Case,
        session: Some(model::SessionId::new("s1")),
        labels: Vec::new(),
        subject: "Pet a heron.".to_owned(),
        ..entry.clone()
    };
    for entry in [case, entry.clone()] {
        let curate = memory::Curate::new(&Scope::default(), &owner, vec![entry], Vec::new());
        stage.engine.curate(curate).await.expect("it is put");
    }
    if status != SkillStatus::Draft {
        let judged = stage.engine.judge(&entry.scope, &owner, &entry.id, status).await;
        judged.expect("it is judged");
    }
}

#[tokio::test]
async fn only_an_agent_with_tools_gets_its_approved_skill() {
    let tools = json!([{"type": "function", "function": {"name": "run", "parameters": {"type": "object"}}}]);
    let asked = "Deploy the billing service to staging, please.";
    for (tools, agent, question, is_told) in [
        (Some(&tools), Some("coder"), asked, true),
        (None, Some("coder"), asked, false),
        (Some(&tools), None, asked, false),
        (Some(&tools), Some("coder"), "What is a heron?", false),
    ] {
        let stage = Stage::new(plain()).await;
        learnt(&stage, "coder", "shipit", SkillStatus::Approved).await;
        learnt(&stage, "coder", "drafted", SkillStatus::Draft).await;
        let mut body =
            json!({"model": "tiny", "stream": false, "messages": [{"role": "user", "content": question}]});
        if let Some(tools) = tools {
            body["tools"] = tools.clone();
        }
        let got = stage
            .got(Request {
                agent: agent.map(|agent| Name::parse(agent).expect("a name")),
                ..request(&body)
            })
            .await;
        let sent = messages(&stage.last()).join("\n");
        assert_eq!(got.status, 200);
        assert_eq!(sent.contains("shipit billing --env staging"), is_told, "{sent}");
        assert!(!sent.contains("drafted"), "{sent}");
    }
}

#[tokio::test]
async fn an_image_is_sent_unchanged_and_remembered_as_a_line_of_text() {
    let stage = Stage::new(plain()).await;
    let picture = json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}});
    let words = json!({"type": "text", "text": "What flower is this?"});
    for (content, told_as) in [
        (json!([words, picture]), "What flower is this?\n[image]"),
        (json!([picture]), "[image]"),
    ] {
        let before = remembered(&stage).len();
        let body =
            json!({"model": "tiny", "stream": false, "messages": [{"role": "user", "content": content}]});
        let got = stage.got_in(Speech::Chat, request(&body)).await;
        assert_eq!(got.status, 200);
        let sent = messages(&stage.last());
        assert!(sent.last().expect("one").contains("iVBORw0KGgo="), "{sent:?}");
        let told = remembered(&stage);
        assert_eq!(told.len(), before + 2, "{told:?}");
        assert_eq!(told[before], (Role::User, told_as.to_owned()));
    }
}
