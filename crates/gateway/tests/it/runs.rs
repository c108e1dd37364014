//! Background runs over HTTP: listed for their tenant, triggered with a token for all tenants.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use background::{About, Failure, Offline, RunContext, RunOutcome, Strategy, Triggers};
use gateway::GatewaySettings;
use model::Zone;
use ports::runs::MemoryEvent;
use serde_json::{Value, json};
use testkit::clock::CountingIds;

use crate::gate::Plan;
use crate::house::{House, TEA, conversation, get, post, tokens};

/// A strategy about everything, which fails or succeeds by its name.
#[derive(Debug)]
struct Sweep(&'static str);

#[async_trait]
impl Strategy for Sweep {
    fn name(&self) -> &'static str {
        self.0
    }

    fn triggers(&self) -> Triggers {
        Triggers {
            cron: Some("0 3 * * *".into()),
            ..Triggers::default()
        }
    }

    fn about(&self, _: &MemoryEvent) -> Option<About> {
        None
    }

    async fn run(&self, _: &RunContext) -> Result<RunOutcome, Failure> {
        match self.0 {
            "fails" => Err(Failure::GiveUp("planted".to_owned())),
            _ => Ok(RunOutcome {
                change: "2 merged".to_owned(),
                events: Vec::new(),
            }),
        }
    }
}

/// A house with two strategies.
async fn open(settings: GatewaySettings) -> (House, Offline) {
    let mut house = House::with(settings, Zone::utc()).await;
    let parts = background::BackgroundParts {
        runs: house.ledger.clone(),
        chat: None,
        models: BTreeMap::default(),
        clock: house.clock.clone(),
        ids: Arc::new(CountingIds::new()),
    };
    let offline = Offline::new(parts, background::BackgroundSettings::default());
    offline.register(vec![Arc::new(Sweep("merge")), Arc::new(Sweep("fails"))]);
    offline.start().await.expect("starts");
    house.gateway = house.gateway.clone().with_offline(offline.clone());
    house.router = house.gateway.router();
    (house, offline)
}

#[tokio::test]
async fn a_triggered_strategy_runs_and_is_listed() {
    let (house, _offline) = open(GatewaySettings::default()).await;
    let ask = async |body: Value| house.post("/api/v1/ome/trigger", &body).await;
    let told = ask(json!({"name": "merge"})).await.json();
    assert_eq!(told["status"], "ok");
    assert_eq!(told["name"], "merge");
    assert_eq!(told["dispatched"], 1);
    assert_eq!(told["runs"][0]["status"], "success");
    assert!(told["runs"][0].get("error").is_none(), "{told}");
    assert_eq!(house.get("/health").await.json()["status"], "ok");
    let failed = ask(json!({"name": "fails", "timeout": 5, "force": true}))
        .await
        .json();
    assert_eq!(failed["runs"][0]["error"], "planted");
    assert_eq!(ask(json!({"name": "nobody"})).await.error().0, 404);
    let included = ask(json!({"name": "trigger_skill_clustering"})).await.json();
    assert_eq!(
        (&included["status"], &included["dispatched"]),
        (&json!("not_dispatched"), &json!(0))
    );
    assert_eq!(ask(json!({"name": "merge", "timeout": -1})).await.error().0, 422);

    let page = house
        .get("/api/v2/runs?strategy=merge&status=success")
        .await
        .data();
    assert_eq!(page["total"], 1);
    assert_eq!(page["items"][0]["change"], "2 merged");
    assert_eq!(page["items"][0]["reason"], "asked for by hand");
    assert_eq!(page["items"][0]["run_id"], told["runs"][0]["run_id"]);
    let health = house.get("/health").await.json();
    let runs = json!({"queued": 0, "running": 0, "failed": 0, "dead_letters": 1});
    assert_eq!(
        health["runs"], runs,
        "what the night will call for is no work that waits"
    );
    assert_eq!(health["status"], "degraded");
}

#[tokio::test]
async fn quiesce_stops_background_work() {
    let (house, offline) = open(GatewaySettings::default()).await;
    let told = house.post("/api/v1/cascade/quiesce", &Value::Null).await.json();
    assert_eq!(told["quiesced"], true);
    assert_eq!(told["failed_permanent"], 0);
    assert!(!offline.is_running().await);
    let asked = house.post("/api/v1/ome/trigger", &json!({"name": "merge"})).await;
    assert_eq!(asked.json()["status"], "not_dispatched");
}

#[tokio::test]
async fn quiesce_waits_for_tasks_and_due_runs_and_syncs_edits() {
    let (house, offline) = open(GatewaySettings::default()).await;
    house.remember("s", &TEA).await;
    let is_facts = |path: &Arc<str>| path.contains("/facts/");
    let path = house.vault.paths().into_iter().find(is_facts).expect("a file");
    let mut bytes = house.vault.bytes(&path).expect("bytes");
    bytes.extend_from_slice(b"\n## Ada owns a theremin\n");
    house.vault.write(&path, bytes);
    house.gated.set(Plan::Hold("cell"));
    let body = conversation("t", &[("ada", "I keep a heron in the garden.")]);
    house.post("/api/v1/memory/add", &body).await.data();
    let flush = json!({"session_id": "t"});
    house.post("/api/v1/memory/flush", &flush).await.data();
    house.gated.reached().await;

    let mut quiescing = Box::pin(house.post("/api/v1/cascade/quiesce", &Value::Null));
    let is_early = tokio::select! {
        _ = &mut quiescing => true,
        () = async { for _ in 0..300 { tokio::task::yield_now().await } } => false,
    };
    assert!(!is_early, "a memcell is being told");
    assert!(offline.is_running().await);
    house.gated.set(Plan::Open);
    let told = quiescing.await.json();
    assert!(told["pending_before"].as_u64().expect("a number") >= 1, "{told}");
    assert_eq!(told["drained"], told["pending_before"], "{told}");
    assert_eq!(told["pending_after"], 0);
    let search = async |query: &str| {
        let ask = json!({"user_id": "ada", "query": query});
        house.post("/api/v1/memory/search", &ask).await.data().to_string()
    };
    assert!(search("theremin").await.contains("theremin"));
    assert!(search("heron").await.contains("ep_"), "it is an episode");
    assert_eq!(house.get("/health").await.json()["tasks"]["processing"], 0);
}

#[tokio::test]
async fn a_token_of_one_tenant_lists_its_runs_and_starts_none() {
    let (house, _offline) = open(tokens()).await;
    for (route, body) in [
        ("ome/trigger", json!({"name": "merge"})),
        ("cascade/quiesce", Value::Null),
    ] {
        let ask = || post(&format!("/api/v1/{route}"), &body);
        assert_eq!(house.ask(ask()).await.error().0, 401);
        assert_eq!(house.ask(ask().token("a")).await.error().0, 403);
        assert_eq!(house.ask(ask().token("root")).await.status, 200);
    }
    let foreign = get("/api/v1/runs?app_id=default&project_id=default").token("a");
    assert_eq!(house.ask(foreign).await.error().0, 403);
    assert_eq!(house.ask(get("/api/v1/runs").token("a")).await.data()["total"], 0);
}
