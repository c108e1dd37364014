//! Sorting of documents, and sweeping of unused originals, on fakes.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use memory::library::{Knowledge, KnowledgeParts, Upload};
use memory::{Engine, MemorySettings};
use model::{Scope, Zone};
use ports::{Chat, ChatError, ChatReply, ChatRequest, Embedder};
use testkit::clock::{CountingIds, ManualClock};
use testkit::index::MemoryIndex;
use testkit::ledger::MemoryLedger;
use testkit::models::{HashEmbedder, ScriptedChat};
use testkit::vault::MemoryVault;

const TAXONOMY: &str = "default/default/libraries/default/.taxonomy.md";

/// A library with categories that a person wrote.
async fn library(chat: Option<Arc<dyn Chat>>) -> Knowledge {
    let vault = MemoryVault::new(Zone::utc());
    vault.write(
        TAXONOMY,
        "- Law: contracts and courts\n- Bread: sour dough flour oven\n",
    );
    opened(vault, chat).await
}

async fn opened(vault: MemoryVault, chat: Option<Arc<dyn Chat>>) -> Knowledge {
    on_clock(vault, chat, &Arc::new(ManualClock::new())).await
}

async fn on_clock(vault: MemoryVault, chat: Option<Arc<dyn Chat>>, clock: &Arc<ManualClock>) -> Knowledge {
    let embedder = Arc::new(HashEmbedder::new(256));
    let vault = Arc::new(vault);
    let ledger = Arc::new(MemoryLedger::new());
    let (clock, ids) = (clock.clone(), Arc::new(CountingIds::new()));
    let parts = memory::Parts {
        transcripts: ledger.clone(),
        jobs: ledger.clone(),
        file_changes: ledger.clone(),
        retention: ledger.clone(),
        vault: vault.clone(),
        vault_writer: vault.clone(),
        pages: vault.clone(),
        history: ledger,
        events: Arc::new(testkit::NoEvents),
        index: Arc::new(MemoryIndex::new(embedder.id().clone())),
        embedder: embedder.clone(),
        reranker: None,
        chat: None,
        documents: Arc::new(testkit::reading::DirectReader),
        clock: clock.clone(),
        ids: ids.clone(),
    };
    let engine = Engine::start(parts, MemorySettings::default())
        .await
        .expect("it starts");
    Knowledge::new(KnowledgeParts {
        engine,
        vault: vault.clone(),
        shelf: vault,
        embedder,
        chat,
        clock,
        ids,
    })
}

fn upload(text: &str) -> Upload {
    Upload {
        scope: Scope::default(),
        file_name: "a.txt".to_owned(),
        media_type: String::new(),
        file: text.as_bytes().to_vec().into(),
        title: None,
        source_type: None,
        category: None,
    }
}

async fn category(library: &Knowledge, text: &str) -> String {
    library.create(upload(text)).await.expect("it is stored").category
}

#[tokio::test]
async fn without_a_model_a_document_is_sorted_by_similarity() {
    let library = library(None).await;
    assert_eq!(category(&library, "flour, oven, sour dough").await, "Bread");
    assert_eq!(category(&library, "zzz qqq xxx").await, "Others");
}

#[tokio::test]
async fn a_model_is_asked_first_and_only_a_valid_category_is_used() {
    let answers = [
        Ok(r#"{"category_id": "Law"}"#),
        Ok("I cannot say."),
        Err(ChatError::Unavailable {
            reason: "it sleeps".to_owned(),
        }),
    ];
    let chat = Arc::new(ScriptedChat::replies(answers));
    let library = library(Some(chat.clone())).await;
    for (text, expected) in [
        ("oven flour", "Law"),
        ("oven dough", "Bread"),
        ("sour oven", "Bread"),
    ] {
        assert_eq!(category(&library, text).await, expected);
    }
    assert!(
        chat.requests()[0].messages[1]
            .content
            .contains("- Bread: sour dough flour oven")
    );
}

/// A model that other calls keep busy for ever.
#[derive(Debug)]
struct Busy;

#[async_trait]
impl Chat for Busy {
    fn model(&self) -> &'static str {
        "busy"
    }
    async fn complete(&self, _: ChatRequest) -> Result<ChatReply, ChatError> {
        std::future::pending().await
    }
}

#[tokio::test]
async fn an_upload_does_not_wait_long_for_a_busy_model() {
    let clock = Arc::new(ManualClock::new());
    let vault = MemoryVault::new(Zone::utc());
    vault.write(TAXONOMY, "- Bread: sour dough flour oven\n");
    let library = on_clock(vault, Some(Arc::new(Busy)), &clock).await;
    let time_passes = async {
        for _ in 0..100_000 {
            tokio::task::yield_now().await;
            clock.advance(Duration::from_millis(100));
        }
    };
    let sorted = tokio::select! {
        biased;
        sorted = category(&library, "flour, oven, sour dough") => sorted,
        () = time_passes => panic!("it waits for the model"),
    };
    assert_eq!(sorted, "Bread");
}

/// Leftovers of an upload, a replacement and a deletion whose process died after the first step; and a person's own
/// files.
#[tokio::test]
async fn only_originals_without_a_document_are_swept() {
    const SHELF: &str = "default/default/libraries/default";
    let vault = MemoryVault::new(Zone::utc());
    let library = opened(vault.clone(), None).await;
    let mut stored = Vec::new();
    for text in ["the first text", "the second text", "the third text"] {
        stored.push(library.create(upload(text)).await.expect("it is stored"));
    }
    let originals = format!("{SHELF}/originals");
    let orphan = format!("{originals}/d_0123456789ab/0a1b2c3d-a.txt");
    let version = format!("{originals}/{}/0a1b2c3d-a.txt", stored[0].id);
    let notes = format!("{originals}/{}/my notes.txt", stored[0].id);
    let scan = format!("{originals}/my scans/a.txt");
    for path in [&orphan, &version, &notes, &scan] {
        vault.write(path, "x");
    }
    // One document was moved, and the file of another broke.
    let bytes = |path: &str| vault.bytes(path).expect("it is there");
    vault.write(&format!("{SHELF}/topics/mine/renamed.md"), bytes(&stored[1].path));
    vault.delete(&stored[1].path);
    let kept: Vec<_> = vault
        .paths()
        .into_iter()
        .filter(|path| **path != *orphan && **path != *version)
        .collect();
    opened(vault.clone(), None)
        .await
        .sweep()
        .await
        .expect("it is swept");
    assert_eq!(vault.paths(), kept);
    vault.write(&stored[2].path, b"---\nquipu: [".to_vec());
    let broken = format!("{SHELF}/topics/renamed-and-broken.md");
    vault.write(&broken, b"---\nquipu: 99\n---\n".to_vec());
    vault.delete(&format!("{SHELF}/topics/mine/renamed.md"));
    let kept = vault.paths();
    let library = opened(vault.clone(), None).await;
    library.sweep().await.expect("it is swept");
    assert_eq!(vault.paths(), kept, "what cannot be read may be the document");
    vault.delete(&broken);
    vault.delete(&stored[2].path);
    library.sweep().await.expect("it is swept");
    assert!(vault.bytes(&stored[0].original).is_some());
    for gone in &stored[1..] {
        assert!(vault.bytes(&gone.original).is_none());
    }
}
