//! Health and metrics.

use model::Zone;
use ports::{NoRoom, Room};
use serde_json::json;

use crate::gate::Plan;
use crate::house::{House, TEA, conversation, get, tokens};

#[tokio::test]
async fn health_has_the_documented_fields() {
    let house = House::new().await;
    house.remember("s", &TEA).await;
    let health = house.get("/health").await.json();
    let keys: Vec<&String> = health.as_object().expect("an object").keys().take(6).collect();
    assert_eq!(
        keys,
        [
            "status",
            "version",
            "capabilities",
            "disabled_features",
            "cascade",
            "memorize_queue"
        ]
    );
    assert_eq!(health["status"], "ok");
    assert_eq!(health["problems"], json!([]));
    assert_eq!(health["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(
        health["capabilities"],
        json!({"llm": false, "embed": true, "rerank": false,
        "multimodal_llm": false, "parser": false})
    );
    let rows = health["index"]["rows"].as_u64().expect("a number");
    assert!(rows >= 5, "live: an episode and its turns");
    assert_eq!(health["cascade"]["index_rows"]["memories"], rows);
    assert_eq!(health["cascade"]["healthy"], true);
    assert_eq!(health["memorize_queue"]["pending"], 0);
    for key in [
        "failed_permanent",
        "failed_retryable",
        "drain_consecutive_failures",
        "unrecoverable_total",
        "optimize_failure_streak",
    ] {
        assert_eq!(health["cascade"][key], 0);
    }
}

#[tokio::test]
async fn health_is_degraded_by_a_broken_file() {
    let house = House::new().await;
    house.remember("s", &TEA).await;
    let path = house
        .vault
        .paths()
        .into_iter()
        .find(|path| path.contains("episode"))
        .expect("a file");
    house.vault.write(&path, "---\nnot: [closed\n");
    house.engine.sync().await.expect("synced");
    let health = house.get("/health").await;
    assert_eq!(health.status, 200);
    let health = health.json();
    assert_eq!(health["status"], "degraded");
    assert_eq!(health["cascade"]["healthy"], false);
    assert_eq!(health["cascade"]["failed_permanent"], 1);
    assert_eq!(health["broken_files"][0]["path"], *path);
    assert!(health["problems"][0].as_str().expect("a text").contains(&*path));
    assert_eq!(
        house.get("/health/ready").await.status,
        200,
        "everything else is served"
    );
}

#[tokio::test]
async fn probes_answer_ok() {
    let house = House::new().await;
    assert_eq!(house.get("/health/live").await.json(), json!({"status": "ok"}));
    assert_eq!(house.get("/health/ready").await.json(), json!({"status": "ok"}));
    assert_eq!(house.ask(get("/health/live").without("host")).await.status, 200);
}

#[tokio::test]
async fn metrics_count_requests_adds_and_searches() {
    let house = House::new().await;
    house.remember("s", &TEA).await;
    let body = json!({"user_id": "ada", "query": "tea", "method": "keyword"});
    house.post("/api/v2/memory/search", &body).await.data();
    house.get("/nowhere/ada").await.error();
    let reply = house.get("/metrics").await;
    assert_eq!(
        reply.headers["content-type"],
        "text/plain; version=0.0.4; charset=utf-8"
    );
    assert!(
        reply
            .text
            .contains("# TYPE quipu_http_requests_total counter\nquipu_http_requests_total{")
    );
    for line in [
        "quipu_http_requests_total{method=\"POST\",route=\"/api/v1/memory/add\",status=\"200\"} 1",
        "quipu_http_requests_total{method=\"GET\",route=\"unmatched\",status=\"404\"} 1",
        "quipu_http_request_duration_seconds_count{route=\"/api/v2/memory/search\"} 1",
        "quipu_http_request_duration_seconds_bucket{le=\"30.0\",route=\"/api/v2/memory/search\"} 1",
        "quipu_http_request_duration_seconds_bucket{le=\"+Inf\",route=\"/api/v2/memory/search\"} 1",
        "quipu_adds_total 1",
        "quipu_messages_total 4",
        "quipu_duplicate_messages_total 0",
        "quipu_searches_total{method=\"keyword\"} 1",
        "quipu_jobs{state=\"queued\"} 0",
        "quipu_jobs{state=\"failed\"} 0",
        "quipu_jobs{state=\"stuck\"} 0",
        "quipu_loop_restarts 0",
        "quipu_model_answers{state=\"facts\"} 0",
        "quipu_model_answers{state=\"left_out\"} 0",
        "quipu_model_answers{state=\"unusable\"} 0",
        "quipu_broken_files 0",
        "quipu_buffered_messages 0",
    ] {
        assert!(
            reply.text.lines().any(|have| have == line),
            "{line} in\n{}",
            reply.text
        );
    }
    for name in [
        "quipu_index_rows",
        "quipu_index_fragments",
        "quipu_index_unindexed_rows",
        "quipu_index_size_bytes",
    ] {
        assert!(
            reply
                .text
                .lines()
                .any(|line| line.starts_with(&format!("{name} "))),
            "{name}"
        );
    }
    assert!(!reply.text.contains("ada"), "no name of a client becomes a label");
}

fn set_room(house: &House, free_bytes: u64, is_read_only: bool) {
    house.vault.set_room(Some(Room {
        path: "/data/memory".to_owned(),
        free_bytes,
        total_bytes: 1 << 30,
        is_read_only,
    }));
}

#[tokio::test]
async fn a_full_disk_refuses_writes_with_its_own_code_and_degrades_health_until_there_is_room() {
    let house = House::new().await;
    for (why, code, free_bytes) in [
        (NoRoom::Full, (507, "DISK_FULL"), 0),
        (NoRoom::ReadOnly, (503, "DISK_READ_ONLY"), 1 << 29),
    ] {
        set_room(&house, free_bytes, why == NoRoom::ReadOnly);
        house.gated.set(Plan::NoRoom("append", why));
        let add = house
            .post("/api/v2/memory/add", &conversation(code.1, &TEA[..1]))
            .await;
        let (status, told, message) = add.error();
        assert_eq!((status, told.as_str()), code, "{message}");
        assert!(
            message.contains(&why.to_string()) && message.contains("send the request again"),
            "{message}"
        );
        assert_eq!(house.get("/health/ready").await.status, 503);
        let health = house.get("/health").await.json();
        assert_eq!(
            (&health["status"], &health["memorize_queue"]["accepting"]),
            (&json!("degraded"), &json!(false))
        );
        let problem = health["problems"][0].as_str().expect("words");
        assert!(
            problem.contains(&why.to_string().replace("the disk ", "")),
            "{problem}"
        );
        assert!(problem.contains("/data/memory"), "{problem}");
        assert!(
            house
                .get("/metrics")
                .await
                .text
                .contains("quipu_disk_refuses_writes 1")
        );

        house.gated.set(Plan::Open);
        set_room(&house, 1 << 29, false);
        if why == NoRoom::Full {
            assert_eq!(
                house.get("/health/ready").await.status,
                200,
                "there is room again"
            );
        }
        house.remember("s", &TEA).await;
        assert_eq!(house.get("/health").await.json()["status"], "ok");
    }
    let failures = house.get("/metrics").await.text;
    assert!(!failures.contains("quipu_disk_write_failures 0"), "{failures}");
}

#[tokio::test]
async fn an_almost_full_disk_degrades_health_and_takes_writes_and_a_tenant_sees_no_path() {
    let house = House::with(tokens(), Zone::utc()).await;
    set_room(&house, 5_000_000, false);
    let health = house.ask(get("/health").token("root")).await.json();
    assert_eq!(health["status"], "degraded");
    assert!(
        health["problems"][0]
            .as_str()
            .expect("words")
            .contains("almost full: 5.0 MB are free"),
        "{health}"
    );
    assert_eq!(house.ask(get("/health/ready").token("root")).await.status, 200);
    let of_one = house.ask(get("/health").token("a")).await.json();
    assert!(!of_one.to_string().contains("/data"), "{of_one}");
}
