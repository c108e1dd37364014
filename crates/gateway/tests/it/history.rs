//! Changes of the files, undo and audit: over HTTP, on a real vault and ledger.

use std::sync::Arc;

use gateway::{Gateway, GatewaySettings};
use ledger::SqliteLedger;
use memory::library::Knowledge;
use memory::{EditEntry, Engine, Parts};
use model::{EntryId, Name, Owner, Scope, Zone};
use ports::{Embedder, Run};
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::clock::{CountingIds, ManualClock};
use testkit::index::MemoryIndex;
use testkit::models::HashEmbedder;
use vault::MarkdownVault;

use crate::house::{House, Reply, conversation, get, post, tokens};
use crate::library::{DOCUMENTS, at, delete, form, text};

const LEDGER: &str = "ledger.db";

/// A server on a real folder; its other stores are in memory.
struct Real {
    folder: TempDir,
    engine: Engine,
    router: axum::Router,
}

impl Real {
    async fn open() -> Self {
        let folder = TempDir::new().expect("a folder");
        let clock = Arc::new(ManualClock::new());
        let ids = Arc::new(CountingIds::new());
        let ledger = SqliteLedger::open(&folder.path().join(LEDGER)).expect("opens");
        let ledger = Arc::new(ledger);
        let embedder = Arc::new(HashEmbedder::new(64));
        let vault = MarkdownVault::open(folder.path().join("memory"), Zone::utc(), clock.clone());
        let vault = Arc::new(vault.expect("opens"));
        let parts = Parts {
            transcripts: ledger.clone(),
            jobs: ledger.clone(),
            file_changes: ledger.clone(),
            retention: ledger.clone(),
            vault: vault.clone(),
            vault_writer: vault.clone(),
            pages: vault.clone(),
            history: ledger,
            index: Arc::new(MemoryIndex::new(embedder.id().clone())),
            embedder: embedder.clone(),
            reranker: None,
            chat: None,
            events: Arc::new(testkit::NoEvents),
            documents: Arc::new(testkit::reading::DirectReader),
            clock: clock.clone(),
            ids: ids.clone(),
        };
        let engine = Engine::start(parts, memory::MemorySettings::default())
            .await
            .expect("starts");
        let library = Knowledge::new(memory::library::KnowledgeParts {
            engine: engine.clone(),
            vault: vault.clone(),
            shelf: vault,
            embedder,
            chat: None,
            clock: clock.clone(),
            ids: ids.clone(),
        });
        let gateway = Gateway::new(engine.clone(), GatewaySettings::default(), clock, ids);
        let router = gateway.with_knowledge(library).router();
        Self {
            folder,
            engine,
            router,
        }
    }

    async fn ask(&self, ask: crate::house::Ask) -> Reply {
        crate::house::sent(&self.router, ask.request()).await
    }

    async fn remember(&self, session: &str, text: &str) -> Value {
        let body = conversation(session, &[("ada", text), ("bot", "I see.")]);
        let added = self.ask(post("/api/v1/memory/add", &body)).await.data();
        let flush = json!({"session_id": session, "wait": true});
        self.ask(post("/api/v1/memory/flush", &flush)).await.data();
        added
    }

    async fn log(&self) -> Vec<Value> {
        let data = self.ask(get("/api/v1/history")).await.data();
        data["changes"].as_array().expect("a list").clone()
    }

    /// Whether a file of the folder contains a word.
    fn has(&self, word: &str) -> bool {
        let mut folders = vec![self.folder.path().to_owned()];
        let mut is_any = false;
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).expect("lists") {
                let path = entry.expect("lists").path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let bytes = std::fs::read(&path).expect("reads");
                    is_any |= bytes.windows(word.len()).any(|part| part == word.as_bytes());
                }
            }
        }
        is_any
    }

    async fn finds(&self, word: &str) -> bool {
        let search = json!({"user_id": "ada", "query": word, "method": "keyword"});
        self.ask(post("/api/v1/memory/search", &search))
            .await
            .text
            .contains(word)
    }
}

/// A background run that changes a memory of ada's.
async fn run(engine: &Engine, id: &str, scope: &Scope, entry: &str, body: &str) {
    let edit = EditEntry {
        scope: scope.clone(),
        owner: Owner::user(Name::parse("ada").expect("a name")),
        id: EntryId::new(entry),
        subject: None,
        summary: None,
        body: Some(body.to_owned()),
        project_only: None,
    };
    let run = Run {
        id: id.into(),
        strategy: "profile".to_owned(),
        reason: "nightly".to_owned(),
    };
    let (done, change) = engine.recorded(run, engine.edit(edit)).await;
    done.expect("it edits");
    change.expect("it changed something");
}

/// The entry id of an episode, from its API id.
fn entry_of(listed: &Value) -> String {
    let id = listed["episodes"][0]["id"].as_str().expect("an id");
    id.strip_prefix("ada_").expect("it names its owner").to_owned()
}

#[tokio::test]
async fn a_run_is_shown_as_a_diff_and_undone() {
    let real = Real::open().await;
    real.remember("s", "The violin is out of tune.").await;
    let list = json!({"user_id": "ada", "memory_type": "episode"});
    let listed = real.ask(post("/api/v1/memory/get", &list)).await.data();
    run(
        &real.engine,
        "r_1",
        &Scope::default(),
        &entry_of(&listed),
        "A harpsichord stands there.",
    )
    .await;

    let log = real.log().await;
    assert_eq!((&log[0]["by"], &log[0]["run_id"]), (&json!("run"), &json!("r_1")));
    assert_eq!(log[0]["reason"], "nightly");
    assert_eq!(log[1]["strategy"], "remember");
    let id = log[0]["id"].as_str().expect("an id");
    let diff = real.ask(get(&format!("/api/v1/history/{id}"))).await.data();
    assert!(
        diff["diff"].as_str().expect("text").contains("+A harpsichord"),
        "{diff}"
    );
    let limited = real.ask(get("/api/v1/history?limit=1&user_id=ada")).await.data();
    assert_eq!(limited["changes"].as_array().expect("a list").len(), 1);
    let others = real.ask(get("/api/v1/history?user_id=bob")).await.data();
    assert_eq!(others["changes"], json!([]));

    assert!(real.finds("harpsichord").await);
    let undo = post("/api/v1/history/undo", &json!({"run_id": "r_1"}));
    let undone = real.ask(undo.clone()).await.data();
    assert_eq!(undone["change"]["undoes"], "r_1");
    assert!(!real.finds("harpsichord").await);
    assert_eq!(real.ask(undo).await.error().0, 409);
    let unknown = post("/api/v1/history/undo", &json!({"run_id": "r_9"}));
    assert_eq!(real.ask(unknown).await.error().0, 404);
    for none in ["999999", "ffffffff", "-1"] {
        assert_eq!(
            real.ask(get(&format!("/api/v1/history/{none}"))).await.error().0,
            404
        );
    }
}

#[tokio::test]
async fn deleted_text_is_in_no_file_of_the_folder_after_the_answer() {
    let real = Real::open().await;
    real.remember("s", "The violin is out of tune.").await;
    real.remember("t", "The theremin needs a cable.").await;
    let list = json!({"user_id": "ada", "memory_type": "episode"});
    let listed = real.ask(post("/api/v1/memory/get", &list)).await.data();
    run(
        &real.engine,
        "r_1",
        &Scope::default(),
        &entry_of(&listed),
        "About a violin.",
    )
    .await;
    assert!(real.has("violin"));
    let forget = post("/api/v1/memory/delete", &json!({"user_id": "ada"}));
    real.ask(forget).await.data();
    assert_eq!(real.log().await, [] as [Value; 0]);
    assert!(!real.has("violin") && !real.has("theremin"));
}

/// Moves a request to a session of another app and project.
fn elsewhere(mut body: Value, session: &str) -> Value {
    body["app_id"] = json!("b");
    body["project_id"] = json!("q");
    body["session_id"] = json!(session);
    body
}

/// Id, run and diff of each change of ada's.
async fn of_ada(real: &Real) -> Vec<(String, Value, Value)> {
    let of_ada = "/api/v1/history?app_id=default&project_id=default&user_id=ada";
    let log = real.ask(get(of_ada)).await.data();
    let mut seen = Vec::new();
    for change in log["changes"].as_array().expect("a list") {
        let id = change["id"].as_str().expect("an id").to_owned();
        let shown = real.ask(get(&format!("/api/v1/history/{id}"))).await.data();
        let diff = shown["diff"].as_str().expect("text");
        seen.push((id, change["run_id"].clone(), json!(diff)));
    }
    seen
}

/// Neither a delete without effect nor several at once changes it, and no object contains the deleted text.
#[tokio::test]
async fn a_tenants_delete_does_not_change_another_tenants_history() {
    let real = Real::open().await;
    real.remember("s", "The violin is out of tune.").await;
    let list = json!({"user_id": "ada", "memory_type": "episode"});
    let listed = real.ask(post("/api/v1/memory/get", &list)).await.data();
    run(
        &real.engine,
        "r_0",
        &Scope::default(),
        &entry_of(&listed),
        "About a viola.",
    )
    .await;
    let sessions: Vec<String> = (0..6).map(|n| format!("o{n}")).collect();
    for session in &sessions {
        let said = conversation(
            session,
            &[("eve", "My harpsichord is broken."), ("bot", "I see.")],
        );
        let added = post("/api/v1/memory/add", &elsewhere(said, session));
        real.ask(added).await.data();
        let flush = elsewhere(json!({"wait": true}), session);
        real.ask(post("/api/v1/memory/flush", &flush)).await.data();
    }
    run(
        &real.engine,
        "r_1",
        &Scope::default(),
        &entry_of(&listed),
        "About a piano.",
    )
    .await;
    let before = of_ada(&real).await;
    assert_eq!(before.len(), 3, "{before:?}");
    let forget = |session: &str| post("/api/v1/memory/delete", &elsewhere(json!({}), session));
    real.ask(forget("never-existed")).await;
    assert_eq!(of_ada(&real).await, before);
    let deletes = sessions.iter().map(|session| real.ask(forget(session)));
    for deleted in futures::future::join_all(deletes).await {
        assert!(deleted.status.is_success(), "{}", deleted.text);
    }
    assert_eq!(of_ada(&real).await, before);
    assert!(!real.has("harpsichord"));
    let undo = post("/api/v1/history/undo", &json!({"run_id": "r_1"}));
    real.ask(undo).await.data();
    assert!(real.finds("viola").await);
    real.engine.shutdown().await;
}

#[tokio::test]
async fn a_deleted_document_is_in_no_file_of_the_folder() {
    let real = Real::open().await;
    let body = b"# Guide\n\nThe samovar hums.";
    let stored = real.ask(form("POST", DOCUMENTS, "guide.md", body)).await.data();
    let log = real.ask(get("/api/v1/history")).await;
    let path = text(&stored, "md_path");
    assert!(log.text.contains(path), "{}", log.text);
    assert!(real.has("samovar"));
    let gone = delete(&at(text(&stored, "doc_id")));
    assert_eq!(real.ask(gone.clone()).await.data()["deleted_topics"], 1);
    assert_eq!(real.log().await, [] as [Value; 0]);
    assert!(!real.has("samovar"));
    let memory = real.folder.path().join("memory");
    assert!(!memory.join(path).exists());
    assert!(!memory.join(text(&stored, "original_file_path")).exists());
    // A delete of an unknown document removes no history.
    real.remember("s", "The violin is out of tune.").await;
    assert_eq!(real.ask(gone).await.status, 204);
    real.engine.shutdown().await;
    assert_eq!(real.log().await.len(), 1);
}

#[tokio::test]
async fn private_text_is_in_no_file_and_no_search() {
    let real = Real::open().await;
    let said = "I keep bees. <private>The samovar is my secret.</private>";
    let added = real.remember("s", said).await;
    assert_eq!(added["redacted"], 1);
    assert!(!real.has("samovar") && real.has("bees"));
    let search = json!({"user_id": "ada", "query": "samovar secret bees", "include_messages": 9});
    let found = real.ask(post("/api/v1/memory/search", &search)).await.data();
    let found = found.to_string();
    assert!(
        found.contains("I keep bees. [redacted:private]") && !found.contains("samovar"),
        "{found}"
    );
}

#[tokio::test]
async fn an_audit_lists_problems_and_an_add_counts_redactions() {
    let real = Real::open().await;
    let added = real.remember("s", "The password=hunter22 opens the shed.").await;
    assert_eq!(added["redacted"], 1);
    let list = json!({"user_id": "ada", "memory_type": "episode"});
    let listed = real.ask(post("/api/v1/memory/get", &list)).await.data();
    assert!(!listed.to_string().contains("hunter22"));
    let told = "<quipu-memory>The shed is open</quipu-memory>";
    run(&real.engine, "r_1", &Scope::default(), &entry_of(&listed), told).await;
    let audit = real.ask(get("/api/v1/audit")).await.data();
    let found = &audit["findings"][0];
    assert_eq!(
        (&found["fault"], &found["id"]),
        (&json!("loop"), &listed["episodes"][0]["id"])
    );
    assert!(found["run_id"].is_string(), "{audit}");
}

/// Two tenants, each with a memory that a run of its own has changed.
async fn two_tenants() -> House {
    let house = House::with(tokens(), Zone::utc()).await;
    for tenant in ["a", "b"] {
        let said = format!("The cake of {tenant} is ready.");
        let body = conversation("s", &[("ada", &said)]);
        house
            .ask(post("/api/v1/memory/add", &body).token(tenant))
            .await
            .data();
        let flush = json!({"session_id": "s", "wait": true});
        house
            .ask(post("/api/v1/memory/flush", &flush).token(tenant))
            .await
            .data();
    }
    let scope = |app: &str| {
        let part = |text: &str| Name::parse(text).expect("a name");
        Scope::new(part(app), part("p"))
    };
    let list = json!({"user_id": "ada", "memory_type": "episode"});
    for (tenant, run_id) in [("a", "r_a"), ("b", "r_b")] {
        let listed = house
            .ask(post("/api/v1/memory/get", &list).token(tenant))
            .await
            .data();
        run(
            &house.engine,
            run_id,
            &scope(tenant),
            &entry_of(&listed),
            &format!("<quipu-memory {tenant}>"),
        )
        .await;
    }
    house
}

#[tokio::test]
async fn a_tenant_sees_and_undoes_only_its_own_changes() {
    let house = Box::pin(two_tenants()).await;
    let everyones = house.ask(get("/api/v1/history").token("root")).await.data();
    assert_eq!(everyones["changes"].as_array().expect("a list").len(), 4);
    let seen = house.ask(get("/api/v1/history").token("b")).await.data();
    let seen = seen["changes"].as_array().expect("a list");
    assert_eq!((seen.len(), &seen[0]["run_id"]), (2, &json!("r_b")));
    let data = house.ask(get("/api/v1/history").token("a")).await.data();
    let of_a = data["changes"].as_array().expect("a list");
    let foreign = &of_a[0];
    let path = format!("/api/v1/history/{}", foreign["id"].as_str().expect("an id"));
    assert_eq!(house.ask(get(&path).token("b")).await.error().0, 404);
    assert!(
        house
            .ask(get(&path).token("a"))
            .await
            .text
            .contains("quipu-memory a")
    );
    for run_id in ["r_a", of_a[1]["run_id"].as_str().expect("an id")] {
        let undo = post("/api/v1/history/undo", &json!({"run_id": run_id}));
        assert_eq!(house.ask(undo.token("b")).await.error().0, 404, "{run_id}");
    }
    assert_eq!(
        house
            .ask(get("/api/v1/history?app_id=a&project_id=p").token("b"))
            .await
            .error()
            .0,
        403
    );
    let audit = house.ask(get("/api/v1/audit").token("b")).await;
    assert!(
        audit.text.contains("\"loop\"") && !audit.text.contains("\"app_id\":\"a\""),
        "{}",
        audit.text
    );
    let undo = post("/api/v1/history/undo", &json!({"run_id": "r_b"}));
    assert_eq!(house.ask(undo.token("b")).await.data()["change"]["undoes"], "r_b");
}
