//! The permissions of each role, on every route.

use std::collections::BTreeMap;

use axum::Router;
use gateway::{Auth, GatewaySettings, Secret, Token, TokenRole};
use model::{Name, Zone};
use serde_json::json;

use crate::house::{Ask, House, TEA, conversation, get, post};

/// The role that each route needs; routes of the memory API without their version.
const ROLES: &str = "
read   HEAD /
read   GET /health
read   GET /health/live
read   GET /health/ready
read   GET /metrics
read   GET /openapi.json
write  POST /memory/add
write  POST /memory/flush
read   POST /memory/search
read   POST /memory/context
read   POST /memory/get
write  POST /memory/delete
write  POST /memory/delete_by_ids
read   GET /memory/export
admin  POST /memory/import
read   POST /memory/overview
read   POST /memory/preview
read   POST /memory/review
write  POST /memory/answer
write  POST /memory/edit
write  POST /memory/update
read   GET /memories/{memory_id}
read   GET /memories/{memory_id}/sources
read   GET /owners
write  POST /skills/{skill_id}/approve
write  POST /skills/{skill_id}/reject
read   GET /tasks
read   GET /tasks/stats
read   GET /tasks/{task_id}
admin  POST /tasks/{task_id}/retry
read   GET /runs
admin  POST /ome/trigger
admin  POST /cascade/quiesce
read   GET /cache
read   GET /history
read   GET /history/{change_id}
read   GET /history/files
write  POST /history/undo
read   GET /audit
admin  POST /index/sync
admin  POST /index/rebuild
write  POST /context/append
write  POST /context/assemble
write  POST /context/after_turn
write  POST /context/compact
write  POST /context/cleanup
read   GET /context/stats
read   GET /context/guard
read   GET /context/conversations
read   GET /context/view
read   GET /context/given
read   GET /context/archives
read   GET /context/recover
read   GET /context/find
write  POST /context/pin
write  POST /context/fork
write  POST /context/rewind
write  POST /context/subagent/spawn
write  POST /context/subagent/end
read   GET /context/tools
read   POST /context/expand
write  POST /knowledge/documents
read   GET /knowledge/documents
write  DELETE /knowledge/documents
read   GET /knowledge/documents/{doc_id}
write  PUT /knowledge/documents/{doc_id}
write  PATCH /knowledge/documents/{doc_id}
write  DELETE /knowledge/documents/{doc_id}
read   GET /knowledge/topics/{topic_id}
read   POST /knowledge/search
read   GET /knowledge/categories
read   POST /v1/chat/completions
read   POST /v1/messages
read   POST /v1/responses
read   GET /v1/{*path}
write  POST /v1/{*path}
write  PUT /v1/{*path}
write  PATCH /v1/{*path}
write  DELETE /v1/{*path}
read   GET /v1/ping/
write  DELETE /v1/memories/
write  POST /v3/memories/add/
read   POST /v3/memories/
read   POST /v3/memories/search/
read   GET /v1/memories/{memory_id}/
write  PUT /v1/memories/{memory_id}/
write  DELETE /v1/memories/{memory_id}/
read   GET /mcp
read   POST /mcp
read   GET /mcp/
read   POST /mcp/
";

/// Paths that answer every method: the model server's and the agents' door.
const WHATEVER: [&str; 3] = ["/v1/{*path}", "/mcp", "/mcp/"];

/// The methods and paths of a router, from its `Debug` output, the only source; `ANY` for a route that answers all
/// methods.
fn routes(router: &Router) -> Vec<(String, String)> {
    let told = format!("{router:?}");
    let told = told.split("fallback_router").next().unwrap_or_default();
    let mut paths: BTreeMap<&str, &str> = BTreeMap::new();
    let mut methods: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (id, of) in told.split("RouteId(").filter_map(|part| part.split_once("): ")) {
        if let Some(path) = of.strip_prefix('"') {
            paths.insert(id, path.split('"').next().unwrap_or_default());
            continue;
        }
        for method in ["get", "head", "delete", "options", "patch", "post", "put"] {
            let endpoint = of.split(&format!(" {method}: ")).nth(1);
            if endpoint.is_some_and(|endpoint| !endpoint.starts_with("None")) {
                methods.entry(id).or_default().push(method);
            }
        }
    }
    let any = vec!["any"];
    let of_path = |(id, path): (&&str, &&str)| {
        let methods = methods.get(id).unwrap_or(&any).iter();
        methods
            .map(|method| (method.to_uppercase(), (*path).to_owned()))
            .collect::<Vec<_>>()
    };
    paths.iter().flat_map(of_path).collect()
}

fn token(secret: &str, role: TokenRole, user: Option<&str>) -> Token {
    Token {
        secret: Secret::new(secret),
        role,
        scope: None,
        user: user.map(|user| Name::parse(user).expect("a name")),
        person: false,
    }
}

/// A house with a token of each role for all users, and one of each role for `ada`.
async fn house() -> House {
    let roles = [TokenRole::Read, TokenRole::Write, TokenRole::Admin];
    let tokens = roles.into_iter().flat_map(|role| {
        let word = role.as_str();
        [
            token(word, role, None),
            token(&format!("ada-{word}"), role, Some("ada")),
        ]
    });
    let settings = GatewaySettings {
        auth: Auth {
            tokens: tokens.collect(),
            ..Auth::default()
        },
        ..GatewaySettings::default()
    };
    House::with(settings, Zone::utc()).await
}

/// Whether a token was refused because of its role.
async fn is_refused(house: &House, method: &'static str, path: &str, secret: &str) -> bool {
    let path = path
        .split('/')
        .map(|part| if part.starts_with('{') { "x" } else { part });
    let ask = Ask {
        method,
        ..get(&path.collect::<Vec<_>>().join("/"))
    };
    let reply = house.ask(ask.token(secret)).await;
    let of_role = reply.text.contains("this token has the role");
    assert!(!of_role || reply.status == 403, "{}", reply.text);
    of_role
}

#[tokio::test]
async fn every_route_refuses_lower_roles() {
    let mut house = house().await;
    let door = Router::new().fallback(async || "the door");
    house.router = house.gateway.clone().with_agents(door).router();
    let mut rows: BTreeMap<(&str, &str), &str> = BTreeMap::new();
    for line in ROLES.lines().filter(|line| !line.is_empty()) {
        let words: Vec<&str> = line.split_whitespace().collect();
        rows.insert((words[1], words[2]), words[0]);
    }
    let routes = routes(&house.router);
    let versions = ["/api/v1", "/api/v2"];
    for (method, path) in &routes {
        let route = versions
            .iter()
            .find_map(|version| path.strip_prefix(version))
            .unwrap_or(path);
        let is_known =
            rows.contains_key(&(method.as_str(), route)) || (method == "ANY" && WHATEVER.contains(&route));
        assert!(
            is_known,
            "name the role of `{method} {path}` here, and look at `guard::roles`"
        );
    }
    for ((method, route), role) in rows {
        let paths = routes.iter().filter(|(_, path)| path.ends_with(route));
        let path = paths.map(|(_, path)| path).find(|path| {
            path.as_str() == route
                || versions
                    .iter()
                    .any(|version| path.strip_prefix(version) == Some(route))
        });
        let path = path.unwrap_or_else(|| panic!("`{method} {route}` is gone"));
        for (secret, may) in [
            ("read", role == "read"),
            ("write", role != "admin"),
            ("admin", true),
        ] {
            let refused = is_refused(&house, method, path, secret).await;
            assert_eq!(refused, !may, "{method} {path} with {secret}");
        }
    }
}

#[tokio::test]
async fn a_reader_changes_nothing_and_a_writer_does_not_administer() {
    let house = house().await;
    house
        .ask(post("/api/v2/memory/add", &conversation("s", &TEA)).token("admin"))
        .await
        .data();
    let before = house.ledger.everything();
    let search = post(
        "/api/v2/memory/search",
        &json!({"user_id": "ada", "query": "sencha", "include_messages": 3}),
    );
    for secret in ["read", "ada-read"] {
        let found = house.ask(search.clone().token(secret)).await.data();
        assert!(found.to_string().contains("sencha"), "{found}");
        for (path, body) in [
            (
                "/api/v2/memory/add",
                conversation("ada/s", &[("ada", "I live in Rome.")]),
            ),
            ("/api/v1/memory/delete", json!({"user_id": "ada"})),
            (
                "/v1/memories/",
                json!({"user_id": "ada", "messages": [{"role": "user", "content": "I live in Rome."}]}),
            ),
            (
                "/api/v2/context/append",
                json!({"conversation_id": "c", "user_id": "ada", "messages": []}),
            ),
        ] {
            let reply = house.ask(post(path, &body).token(secret)).await;
            assert_eq!(reply.status, 403, "{path}: {}", reply.text);
            assert!(reply.text.contains("the role `read`"), "{}", reply.text);
        }
    }
    assert_eq!(house.ledger.everything(), before);
    let own = conversation("ada/s", &[("ada", "I live in Rome.")]);
    house
        .ask(post("/api/v2/memory/add", &own).token("ada-write"))
        .await
        .data();
    let bobs = post(
        "/api/v2/memory/search",
        &json!({"user_id": "bob", "query": "tea"}),
    );
    assert_eq!(house.ask(bobs.clone().token("ada-write")).await.status, 403);
    house.ask(bobs.token("ada-admin")).await.data();
    let rebuild = post("/api/v2/index/rebuild", &json!(null));
    assert_eq!(house.ask(rebuild.clone().token("ada-write")).await.status, 403);
    house.ask(rebuild.token("ada-admin")).await.data();
}
