//! A model's files arrive completely or not at all, however often the connection breaks.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use providers::ApiKey;
use providers::hub::{Hub, HubError, fetch};
use serde_json::json;
use sha2::{Digest, Sha256};
use tempfile::TempDir;

use crate::server::{Reply, Request, Server, dead_url};
use crate::timer::Timer;

const STALL: Duration = Duration::from_secs(30);
const REPO: &str = "org/tiny-model";
const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

fn weights() -> Vec<u8> {
    (0..100_000_u32).map(|n| (n % 251) as u8).collect()
}

fn file(name: &str) -> Option<Vec<u8>> {
    match name {
        "config.json" | "tokenizer.json" | "1_Pooling/config.json" => {
            Some(format!("{{\"{name}\":1}}").into_bytes())
        }
        "model.safetensors" => Some(weights()),
        _ => None,
    }
}

fn listing(commit: &str) -> Reply {
    let hex = Sha256::digest(weights())
        .iter()
        .fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"));
    let names = [
        "README.md",
        "config.json",
        "tokenizer.json",
        "1_Pooling/config.json",
    ];
    let mut siblings: Vec<_> = names
        .iter()
        .map(|name| json!({ "rfilename": name, "size": file(name).map_or(7, |bytes| bytes.len()) }))
        .collect();
    siblings.push(json!({ "rfilename": "model.safetensors", "size": 100_000, "lfs": { "sha256": hex } }));
    Reply::json(&json!({ "sha": commit, "siblings": siblings }))
}

/// A hub that serves ranges.
fn hub(request: &Request) -> Reply {
    if request.path == "/api/models/org/tiny-model/revision/main?blobs=true" {
        return listing(COMMIT);
    }
    let name = request.path.strip_prefix(&format!("/{REPO}/resolve/{COMMIT}/"));
    let Some(bytes) = name.and_then(file) else {
        return Reply::new(404, "no such file");
    };
    match request.header("range") {
        None => Reply::new(200, bytes),
        Some(range) => {
            let from = range.trim_start_matches("bytes=").trim_end_matches('-');
            Reply::new(206, &bytes[from.parse().expect("a range from some byte on")..])
        }
    }
}

async fn fetch_from(url: String, cache: &Path) -> Result<PathBuf, HubError> {
    let hub = Hub {
        endpoint: url,
        token: Some(ApiKey::new("quite-secret-token")),
    };
    fetch(&hub, REPO, "main", cache, Timer::with_limit(STALL), &|_, _| ()).await
}

fn cache() -> TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

fn assert_complete(folder: &Path) {
    for name in [
        "config.json",
        "tokenizer.json",
        "model.safetensors",
        "1_Pooling/config.json",
    ] {
        assert_eq!(std::fs::read(folder.join(name)).ok(), file(name), "{name}");
    }
    assert!(!folder.join("README.md").exists());
    assert!(!folder.join("model.safetensors.part").exists());
}

#[tokio::test]
async fn a_model_is_fetched_once() {
    let cache = cache();
    let server = Server::new(hub);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let tell = {
        let seen = seen.clone();
        move |done, total| seen.lock().expect("nobody panics with it").push((done, total))
    };
    let source = Hub {
        endpoint: server.url(""),
        token: None,
    };
    let timer = Timer::with_limit(STALL);
    let folder = fetch(&source, REPO, "main", cache.path(), timer, &tell)
        .await
        .expect("the hub answers");
    assert_complete(&folder);
    assert!(folder.ends_with(format!("models--org--tiny-model/snapshots/{COMMIT}")));
    let seen = seen.lock().expect("nobody panics with it").clone();
    assert!(
        seen.is_sorted() && seen.last().is_some_and(|(done, total)| done == total),
        "{seen:?}"
    );
    drop(server);
    let again = fetch_from(dead_url(""), cache.path())
        .await
        .expect("it is in the cache");
    assert_eq!(again, folder);
}

#[tokio::test]
async fn a_broken_download_resumes_at_its_break() {
    let cache = cache();
    let server = Server::new(|request| {
        let reply = hub(request);
        if request.path.ends_with(".safetensors") {
            reply.torn_after(30_000)
        } else {
            reply
        }
    });
    let folder = fetch_from(server.url(""), cache.path())
        .await
        .expect("each attempt brings some");
    assert_complete(&folder);
    let starts: Vec<_> = server
        .requests()
        .iter()
        .filter(|request| request.path.ends_with(".safetensors"))
        .map(|request| request.header("range").map(str::to_owned))
        .collect();
    assert!(starts.len() >= 4 && starts[0].is_none(), "{starts:?}");
    assert!(starts[1..].iter().all(Option::is_some), "{starts:?}");
}

#[tokio::test]
async fn a_later_process_resumes_the_part_file() {
    let cache = cache();
    let down = Server::new(|request| match request.path.ends_with(".safetensors") {
        true if request.header("range").is_none() => hub(request).torn_after(60_000),
        true => Reply::new(503, "down"),
        false => hub(request),
    });
    let error = fetch_from(down.url(""), cache.path())
        .await
        .expect_err("the hub went down");
    assert!(
        matches!(&error, HubError::Unreachable { reason, .. } if reason.contains("503")),
        "{error}"
    );
    let server = Server::new(hub);
    assert_complete(
        &fetch_from(server.url(""), cache.path())
            .await
            .expect("the hub is back"),
    );
    let ranged = server
        .requests()
        .iter()
        .filter(|request| request.header("range").is_some())
        .count();
    assert_eq!(ranged, 1, "what was there is not fetched again");
}

#[tokio::test]
async fn a_damaged_file_is_detected_and_fetched_again_once() {
    for always in [false, true] {
        let cache = cache();
        let count = AtomicUsize::new(0);
        let server = Server::new(move |request| {
            let is_weights = request.path.ends_with(".safetensors");
            if is_weights && (always || count.fetch_add(1, Ordering::SeqCst) == 0) {
                return Reply::new(200, vec![7; 100_000]);
            }
            hub(request)
        });
        match fetch_from(server.url(""), cache.path()).await {
            Ok(folder) => assert!(!always && folder.is_dir()),
            Err(error) => assert!(always && matches!(error, HubError::Damaged { .. }), "{error}"),
        }
        let weights = cache.path().join(format!(
            "models--org--tiny-model/snapshots/{COMMIT}/model.safetensors"
        ));
        assert_eq!(weights.exists(), !always, "damaged weights never get their name");
    }
}

#[tokio::test]
async fn the_cache_of_other_tools_is_recognised() {
    let cache = cache();
    let home = cache.path().join("models--org--tiny-model");
    let folder = home.join("snapshots").join(COMMIT);
    for dir in [folder.clone(), home.join("blobs"), home.join("refs")] {
        std::fs::create_dir_all(dir).expect("a fresh folder");
    }
    std::fs::write(home.join("refs/main"), COMMIT).expect("a fresh folder");
    for name in ["config.json", "tokenizer.json", "model.safetensors"] {
        let blob = home.join("blobs").join(name);
        std::fs::write(&blob, file(name).expect("one of ours")).expect("a fresh folder");
        std::os::unix::fs::symlink(&blob, folder.join(name)).expect("a fresh folder");
    }
    assert_eq!(
        fetch_from(dead_url(""), cache.path())
            .await
            .expect("it is all there"),
        folder
    );
    std::fs::remove_file(home.join("blobs/config.json")).expect("it was just written");
    assert!(
        fetch_from(dead_url(""), cache.path()).await.is_err(),
        "a dangling link is not a file"
    );
}

#[tokio::test]
async fn missing_models_and_refusals_differ() {
    let cache = cache();
    let error = fetch_from(dead_url(""), cache.path()).await.expect_err("offline");
    assert!(error.to_string().contains("name a folder"), "{error}");

    let server = Server::new(|_| Reply::new(401, "quite-secret-token"));
    let error = fetch_from(server.url(""), cache.path())
        .await
        .expect_err("not for us");
    assert!(
        matches!(&error, HubError::Refused { reason, .. } if reason.contains("token")),
        "{error}"
    );
    assert!(!error.to_string().contains("quite-secret-token"), "{error}");

    let server =
        Server::new(|_| Reply::json(&json!({ "sha": COMMIT, "siblings": [{ "rfilename": "config.json" }] })));
    let error = fetch_from(server.url(""), cache.path())
        .await
        .expect_err("no weights");
    assert!(matches!(error, HubError::Missing { .. }), "{error}");

    let server = Server::new(|_| listing("../../../escaped"));
    let error = fetch_from(server.url(""), cache.path())
        .await
        .expect_err("no commit");
    assert!(matches!(error, HubError::Refused { .. }), "{error}");
}

#[tokio::test]
async fn no_id_leads_out_of_the_cache() {
    let cache = cache();
    for (repo, revision) in [
        ("../x", "main"),
        ("a/../b", "main"),
        ("a/b/c", "main"),
        ("", "main"),
        ("a/b", "../x"),
        ("a/b", ""),
        ("a\\b", "m"),
    ] {
        let hub = Hub {
            endpoint: dead_url(""),
            token: None,
        };
        let result = fetch(
            &hub,
            repo,
            revision,
            cache.path(),
            Timer::with_limit(STALL),
            &|_, _| (),
        )
        .await;
        assert!(matches!(result, Err(HubError::Id(_))), "{repo}@{revision}");
    }
}
