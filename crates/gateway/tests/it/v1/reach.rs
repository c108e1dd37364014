//! Objects on a model server with a shared key: a person reaches only their own.

use gateway::{Auth, GatewaySettings, Secret, Token, TokenRole};
use model::{Name, Owner, Scope};
use ports::Conversations;
use serde_json::{Value, json};
use testkit::backend::Backend;

use super::stage::{Got, RESPONSES, Stage, chat, echo};
use crate::house::{Ask, get, post};

const TOKENS: [(&str, TokenRole, Option<&str>); 4] = [
    ("root", TokenRole::Admin, None),
    ("anns", TokenRole::Write, Some("ann")),
    ("bobs", TokenRole::Write, Some("bob")),
    ("reader", TokenRole::Read, Some("bob")),
];

fn guarded() -> GatewaySettings {
    let token = |(secret, role, user): &(&str, TokenRole, Option<&str>)| Token {
        secret: Secret::new(*secret),
        role: *role,
        scope: user.map(|_| Scope::default()),
        user: user.map(|user| Name::parse(user).expect("a name")),
        person: false,
    };
    GatewaySettings {
        auth: Auth {
            tokens: TOKENS.iter().map(token).collect(),
            ..Auth::default()
        },
        ..GatewaySettings::default()
    }
}

/// Whether the model server receives a request.
async fn passes(stage: &Stage, backend: &Backend, ask: Ask) -> (bool, Got) {
    let before = backend.requests().len();
    let got = stage.ask(ask).await;
    (backend.requests().len() > before, got)
}

fn delete(path: &str) -> Ask {
    Ask {
        method: "DELETE",
        ..get(path)
    }
}

/// Paths with data of everybody who uses the key.
fn shared() -> Vec<Ask> {
    let listed = [
        "files",
        "files/f/content",
        "batches",
        "responses",
        "responses/",
        "conversations",
        "vector_stores",
        "chat/completions",
        "chat/completions/c",
        "messages/batches",
        "fine_tuning/jobs",
        "containers/k/files",
        "/files",
        "Files",
        "evals",
        "threads/t",
        "assistants",
        "modelsx",
        "audio/speech",
    ];
    let made = [
        "files",
        "batches",
        "conversations",
        "vector_stores",
        "messages/batches",
        "threads",
        "uploads",
    ];
    let path = |path: &str| format!("/v1/{path}");
    let listed = listed.iter().map(|at| get(&path(at)));
    let made = made.iter().map(|at| post(&path(at), &json!({"model": "tiny"})));
    let deleted = ["files/f", "batches/b", "models/m", "vector_stores/v"]
        .iter()
        .map(|at| delete(&path(at)));
    listed.chain(made).chain(deleted).collect()
}

#[tokio::test]
async fn with_tokens_no_path_opens_objects_of_others() {
    let backend = Backend::start(echo()).await;
    let stage = Stage::with(backend.base_url(), guarded()).await;
    for (token, ..) in TOKENS {
        for ask in shared() {
            let (method, path) = (ask.method, ask.path.clone());
            let (passed, got) = passes(&stage, &backend, ask.token(token)).await;
            assert!(!passed, "{token}: {method} {path}");
            assert_eq!(got.failure(&path).0, 403, "{token}: {method} {path}");
            let says = got.text().contains(&path) && got.text().contains("proxy.passthrough");
            assert!(says || token == "reader", "{method} {path}: {}", got.text());
        }
    }
    let said =
        json!({"model": "tiny", "input": "a", "prompt": "a", "messages": [{"role": "user", "content": "a"}]});
    for path in [
        "completions",
        "messages/count_tokens",
        "embeddings",
        "rerank",
        "rankings",
        "moderations",
        "tokenize",
        "detokenize",
        "count_tokens",
        "audio/speech",
        "images/generations",
        "responses/input_tokens",
    ] {
        let path = format!("/v1/{path}");
        assert!(
            passes(&stage, &backend, post(&path, &said).token("anns")).await.0,
            "{path}"
        );
        assert!(
            !passes(&stage, &backend, post(&path, &said).token("reader"))
                .await
                .0,
            "{path}"
        );
        let zipped = post(&path, &said).token("anns").bytes([31, 139, 8, 0]);
        assert!(
            !passes(&stage, &backend, zipped).await.0,
            "{path}: nobody sees what it names"
        );
    }
    for path in ["/v1/models", "/v1/models/tiny", "/v1/models?limit=3"] {
        assert!(
            passes(&stage, &backend, get(path).token("reader")).await.0,
            "{path}"
        );
    }

    let open = Stage::new(backend.base_url()).await;
    for ask in shared() {
        let path = ask.path.clone();
        assert!(passes(&open, &backend, ask).await.0, "without tokens: {path}");
    }
}

#[tokio::test]
async fn object_ids_in_form_fields_are_refused() {
    let backend = Backend::start(echo()).await;
    let stage = Stage::with(backend.base_url(), guarded()).await;
    let field =
        |name: &str| format!("--b\r\nContent-Disposition: form-data; name={name}\r\n\r\nx\r\n--b--\r\n");
    for (form, expected) in [
        ("--b--".to_owned(), true),
        (field("\"language\""), true),
        (field("\"prompt\""), true),
        (field("\"file_id\""), false),
        (field("file_ids[]"), false),
        (field("\"image[file_id]\""), false),
        (field("\"image[0].file_id\""), false),
        (field("\"prompt[text]\""), true),
        (field("\"previous_response_id\""), false),
        ("no form".to_owned(), false),
    ] {
        let ask = post("/v1/audio/transcriptions", &Value::Null)
            .header("content-type", "multipart/form-data; boundary=b")
            .token("anns");
        let (passed, _) = passes(&stage, &backend, ask.bytes(form.clone())).await;
        assert_eq!(passed, expected, "{form}");
    }
}

#[tokio::test]
async fn a_stored_response_is_reachable_only_by_its_owner() {
    let backend = Backend::start(echo()).await;
    let stage = Stage::with(backend.base_url(), guarded()).await;
    let first = post(RESPONSES, &json!({"model": "tiny", "input": "Hi"})).token("anns");
    let first = stage.ask(first).await;
    let id = first.json()["id"].as_str().expect("an id").to_owned();
    // Stored in the ledger: a restart does not change the owner.
    let ann = Owner::user(Name::parse("ann").expect("a name"));
    let owned = stage
        .house
        .ledger
        .owned_objects(&Scope::default(), &ann, vec![id.clone()])
        .await;
    assert_eq!(owned.expect("reads"), [&*id]);
    let one = format!("/v1/responses/{id}");
    let next = json!({"model": "tiny", "input": "Go on.", "previous_response_id": id});
    let asks = || {
        [
            get(&one),
            get(&format!("{one}/input_items?limit=1")),
            post(&format!("{one}/cancel"), &json!({})),
            post(RESPONSES, &next),
            delete(&one),
        ]
    };
    for ask in asks() {
        let (method, path) = (ask.method, ask.path.clone());
        for (token, header) in [("bobs", None), ("reader", None), ("root", Some("bob"))] {
            let mut ask = ask.clone().token(token);
            if let Some(user) = header {
                ask = ask.header("x-quipu-user", user);
            }
            let (passed, got) = passes(&stage, &backend, ask).await;
            assert!(!passed, "{token}: {method} {path}");
            assert_eq!(got.failure(&path).0, 403, "{token}: {method} {path}");
        }
        assert!(
            passes(&stage, &backend, ask.token("anns")).await.0,
            "{method} {path}"
        );
    }
    let root = post(RESPONSES, &next).token("root").header("x-quipu-user", "ann");
    assert!(passes(&stage, &backend, root).await.0);
    let kept_in = first.json()["conversation"]["id"].clone();
    let goes_on = json!({"model": "tiny", "input": "Go on.", "conversation": kept_in});
    for (token, is_theirs) in [("anns", true), ("bobs", false)] {
        let passed = passes(&stage, &backend, post(RESPONSES, &goes_on).token(token))
            .await
            .0;
        assert_eq!(
            passed, is_theirs,
            "{token}: the conversation that the server keeps"
        );
    }
    let items = first.json()["output"][0]["id"].clone();
    let refers = json!({"model": "tiny", "input": [{"type": "item_reference", "id": items}]});
    assert!(
        !passes(&stage, &backend, post(RESPONSES, &refers).token("bobs"))
            .await
            .0
    );
    assert!(
        passes(&stage, &backend, post(RESPONSES, &refers).token("anns"))
            .await
            .0
    );
}

#[tokio::test]
async fn object_ids_in_a_body_are_refused_unless_the_path_is_open() {
    let backend = Backend::start(echo()).await;
    let closed = Stage::with(backend.base_url(), guarded()).await;
    let open = Stage::open_for(backend.base_url(), guarded(), &["files", "responses"]).await;
    let says = |more: Value| {
        let mut body = json!({"model": "tiny", "input": "Hi", "max_tokens": 9,
            "messages": [{"role": "user", "content": "Hi"}]});
        body.as_object_mut()
            .expect("an object")
            .extend(more.as_object().expect("an object").clone());
        body
    };
    for (more, id, is_opened) in [
        (json!({"previous_response_id": "x1"}), "x1", true),
        (json!({"conversation": "x2"}), "x2", false),
        (json!({"conversation": {"id": "x3"}}), "x3", false),
        (json!({"container": "x4"}), "x4", false),
        (json!({"prompt": {"id": "x5"}}), "x5", false),
        (
            json!({"tools": [{"type": "file_search", "vector_store_ids": ["x6"]}]}),
            "x6",
            false,
        ),
        (json!({"attachments": [{"file_id": "x7"}]}), "x7", true),
    ] {
        for path in [
            RESPONSES,
            "/v1/chat/completions",
            "/v1/messages",
            "/v1/embeddings",
        ] {
            let ask = || post(path, &says(more.clone())).token("bobs");
            let (passed, got) = passes(&closed, &backend, ask()).await;
            assert!(!passed, "{path}: {more}");
            assert_eq!(got.failure(path).0, 403, "{path}: {more}");
            assert!(got.text().contains(&format!("`{id}`")), "{}", got.text());
            let passed = passes(&open, &backend, ask()).await.0;
            assert_eq!(passed, is_opened, "{path}: {more}");
        }
    }
    assert!(
        passes(&open, &backend, get("/v1/files/f/content").token("reader"))
            .await
            .0
    );
    assert!(
        !passes(&open, &backend, get("/v1/filesystem").token("bobs"))
            .await
            .0
    );
    assert!(
        passes(&closed, &backend, chat("Hi", false).token("reader"))
            .await
            .0
    );
}
