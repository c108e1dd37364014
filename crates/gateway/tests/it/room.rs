//! The limit of bodies in memory at once.

use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::body::Body;
use axum::http::Request;
use futures::{StreamExt as _, stream};
use gateway::GatewaySettings;
use model::Zone;
use serde_json::{Value, json};

use crate::gate::Plan;
use crate::house::{House, Reply, TEA, conversation, post};
use crate::library::{DOCUMENTS, form, with_fields};

const MEBIBYTE: usize = 1 << 20;

fn tight() -> GatewaySettings {
    GatewaySettings {
        body_bytes_max: MEBIBYTE,
        upload_bytes_max: MEBIBYTE,
        ..GatewaySettings::default()
    }
}

/// A request with an announced length and an endless body.
fn hanging(path: &str, kind: &str, bytes: usize) -> Request<Body> {
    let never = stream::pending::<Result<Vec<u8>, std::io::Error>>();
    let request = Request::post(path)
        .header("host", "localhost")
        .header("content-type", kind)
        .header("content-length", bytes);
    request.body(Body::from_stream(never)).expect("a request")
}

/// Lets earlier requests proceed as far as possible.
async fn polled() {
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}

fn add(text_bytes: usize) -> Request<Body> {
    let text = "tea ".repeat(text_bytes / 4);
    post("/api/v1/memory/add", &conversation("s", &[("ada", &text)])).request()
}

fn refused(reply: &Reply) {
    let (status, code, message) = reply.error();
    assert_eq!(
        (status, code.as_str()),
        (503, "CAPABILITY_UNAVAILABLE"),
        "{message}"
    );
    assert_eq!(reply.headers["retry-after"], "1");
}

#[tokio::test]
async fn a_large_body_waits_for_the_previous_one_and_a_small_body_does_not() {
    let house = House::with(tight(), Zone::utc()).await;
    let slow = house.send(hanging("/api/v1/memory/add", "application/json", MEBIBYTE));
    let others = async {
        polled().await;
        // The server does not read it while the slow request has the room.
        let (late, ()) = tokio::join!(house.send(add(MEBIBYTE / 2)), async {
            polled().await;
            house
                .post("/api/v1/memory/add", &conversation("t", &TEA))
                .await
                .data();
            house.clock.advance(Duration::from_secs(30));
        });
        refused(&late);
    };
    tokio::select! {
        biased;
        reply = slow => unreachable!("it never ends: {}", reply.text),
        () = others => {}
    }
    // The slow client is gone, and its room is free.
    house.send(add(MEBIBYTE / 2)).await.data();
    house.send(add(MEBIBYTE / 2)).await.data();
}

#[tokio::test]
async fn a_body_without_a_length_takes_the_maximum_room_until_it_is_complete() {
    let house = House::with(tight(), Zone::utc()).await;
    let text = conversation("s", &TEA).to_string();
    let unsized_body = || {
        let whole = stream::iter([Ok::<_, std::io::Error>(text.clone().into_bytes())]);
        let request = Request::post("/api/v1/memory/add").header("host", "localhost");
        request.body(Body::from_stream(whole.chain(stream::pending())))
    };
    let slow = house.send(unsized_body().expect("a request"));
    let others = async {
        polled().await;
        let (late, ()) = tokio::join!(house.send(add(MEBIBYTE / 8)), async {
            polled().await;
            house.clock.advance(Duration::from_secs(30));
        });
        refused(&late);
    };
    tokio::select! {
        biased;
        reply = slow => unreachable!("it never ends: {}", reply.text),
        () = others => {}
    }
}

#[tokio::test]
async fn a_write_keeps_its_room_after_its_client_is_gone() {
    let text = "tea ".repeat(MEBIBYTE * 3 / 16);
    let said = conversation("s", &[("ada", &text)]);
    let said_to = json!({"user_id": "ada", "messages": [{"role": "user", "content": text}]});
    for (path, body) in [("/api/v2/memory/add", said), ("/v3/memories/add/", said_to)] {
        let house = House::with(tight(), Zone::utc()).await;
        house.gated.set(Plan::Hold("append"));
        tokio::select! {
            biased;
            reply = house.post(path, &body) => unreachable!("it is held: {}", reply.text),
            () = house.gated.reached() => {}
        }
        // The client is gone; the write still has the room.
        let (late, ()) = tokio::join!(house.send(add(MEBIBYTE / 2)), async {
            polled().await;
            house.clock.advance(Duration::from_secs(30));
        });
        refused(&late);
        house.gated.set(Plan::Open);
        house.send(add(MEBIBYTE / 2)).await.data();
        assert_eq!(house.ledger.everything().len(), 2, "{path}");
    }
}

fn twice() -> GatewaySettings {
    GatewaySettings {
        body_bytes_max: 2 * MEBIBYTE,
        ..tight()
    }
}

#[tokio::test]
async fn the_ledger_gets_the_only_copy_of_a_long_message() {
    let house = House::with(twice(), Zone::utc()).await;
    for more in 0..2 {
        house.send(add(MEBIBYTE * 3 / 2 + 4 * more)).await.data();
    }
    assert_eq!(house.gated.contents_max.load(Ordering::Relaxed), 1);
    assert_eq!(house.ledger.everything().len(), 2);
}

#[tokio::test]
async fn a_long_segment_waits_for_the_room_of_bodies() {
    let house = House::with(twice(), Zone::utc()).await;
    house.send(add(MEBIBYTE * 3 / 2)).await.data();
    let slow = house.send(hanging("/api/v1/memory/add", "application/json", 2 * MEBIBYTE));
    let others = async {
        polled().await;
        house.gated.set(Plan::Hold("cell"));
        house
            .post("/api/v1/memory/flush", &json!({"session_id": "s"}))
            .await
            .data();
        tokio::select! {
            biased;
            () = house.gated.reached() => unreachable!("the slow one has the room"),
            () = async { for _ in 0..20 { polled().await } } => {}
        }
    };
    tokio::select! {
        biased;
        reply = slow => unreachable!("it never ends: {}", reply.text),
        () = others => {}
    }
    house.gated.reached().await;
    house.gated.set(Plan::Open);
}

#[tokio::test]
async fn an_add_releases_its_room_before_it_waits_for_memories() {
    let house = House::with(twice(), Zone::utc()).await;
    house.send(add(MEBIBYTE * 3 / 2)).await.data();
    let text = "cup ".repeat(MEBIBYTE * 3 / 8);
    let mut waiting = conversation("s", &[("ada", &text)]);
    waiting["wait"] = json!(true);
    house.post("/api/v2/memory/add", &waiting).await.data();
    assert!(!house.vault.paths().is_empty());
}

#[tokio::test]
async fn four_of_the_largest_files_fill_the_room_for_uploads() {
    let house = House::with(tight(), Zone::utc()).await;
    let slow = || {
        house.send(hanging(
            DOCUMENTS,
            "multipart/form-data; boundary=xyz",
            MEBIBYTE + 1_000,
        ))
    };
    let four = futures::future::join_all([slow(), slow(), slow(), slow()]);
    let others = async {
        polled().await;
        house.send(add(MEBIBYTE / 2)).await.data();
        let fifth = form("POST", DOCUMENTS, "a.md", &vec![b'x'; MEBIBYTE / 2]).request();
        let (fifth, ()) = tokio::join!(house.send(fifth), async {
            polled().await;
            house.clock.advance(Duration::from_secs(30));
        });
        refused(&fifth);
        // A small file needs no room.
        house.store("b.md", b"# Tea", &[]).await;
    };
    tokio::select! {
        biased;
        replies = four => unreachable!("they never end: {}", replies.len()),
        () = others => {}
    }
}

#[tokio::test]
async fn a_too_large_body_is_refused_before_it_is_read() {
    let house = House::new().await;
    for (path, kind, bytes) in [
        ("/api/v1/memory/add", "application/json", 33 * MEBIBYTE),
        ("/api/v1/memory/import", "application/json", 33 * MEBIBYTE),
        (DOCUMENTS, "multipart/form-data; boundary=xyz", 51 * MEBIBYTE),
    ] {
        let (status, _, _) = house.send(hanging(path, kind, bytes)).await.error();
        assert_eq!(status, 413, "{path}");
    }
}

#[tokio::test]
async fn a_body_with_too_many_json_values_is_refused_before_parsing() {
    let house = House::new().await;
    let append = |messages: String| {
        let body = format!(r#"{{"user_id": "ada", "conversation_id": "house", "messages": [{messages}]}}"#);
        house.ask(post("/api/v1/context/append", &Value::Null).bytes(body))
    };
    let (status, _, message) = append("0,".repeat(300_000) + "0").await.error();
    assert!(status == 413 && message.contains("250000 values"), "{message}");
    // Brackets inside a text do not count as values.
    let text = json!({"role": "user", "content": format!("\"{}", "0,[{".repeat(300_000))});
    assert_eq!(append(text.to_string()).await.status, 200);
}

#[tokio::test]
async fn an_upload_waits_in_a_nameless_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let settings = |path: std::path::PathBuf| GatewaySettings {
        upload_folder: Some(path),
        ..tight()
    };
    let house = House::with(settings(folder.path().into()), Zone::utc()).await;
    let text = "# Tea\n\nGreen tea wants 80 degrees.\n".repeat(9_000);
    house.store("tea.md", text.as_bytes(), &[]).await;
    let kept = house.originals();
    assert_eq!(kept.len(), 1);
    assert_eq!(house.vault.bytes(&kept[0]).as_deref(), Some(text.as_bytes()));
    let over = house
        .ask(form("POST", DOCUMENTS, "a.md", &vec![b'x'; MEBIBYTE + 1]))
        .await;
    assert_eq!(over.error().0, 413);
    let twice = house
        .ask(with_fields("POST", DOCUMENTS, "b.md", text.as_bytes(), &[]))
        .await;
    assert_eq!(twice.error().0, 409);
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0);

    let absent = House::with(settings(folder.path().join("absent")), Zone::utc()).await;
    let failed = absent.ask(form("POST", DOCUMENTS, "a.md", b"# Tea")).await;
    let (status, _, message) = failed.error();
    assert!(status == 500 && !message.contains("absent"), "{status} {message}");
}
