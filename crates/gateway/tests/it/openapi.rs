//! The OpenAPI document matches the routes, and is committed.

use expect_test::expect_file;
use model::Zone;
use serde_json::Value;

use crate::house::{House, get, tokens};

#[tokio::test]
async fn the_committed_document_is_the_generated_one() {
    // Update the file with `UPDATE_EXPECT=1`.
    expect_file!["../../../../docs/openapi.json"].assert_eq(&gateway::openapi_json());
    let house = House::new().await;
    assert_eq!(house.get("/openapi.json").await.text, gateway::openapi_json());
    let guarded = House::with(tokens(), Zone::utc()).await;
    assert_eq!(guarded.get("/openapi.json").await.error().0, 401);
    assert_eq!(guarded.ask(get("/openapi.json").token("a")).await.status, 200);
}

#[test]
fn the_document_resolves_every_reference_and_names_every_operation() {
    let document: Value = serde_json::from_str(&gateway::openapi_json()).expect("JSON");
    let text = document.to_string();
    let schemas = document["components"]["schemas"].as_object().expect("an object");
    for part in text.split("\"#/components/schemas/").skip(1) {
        let name = part.split('"').next().expect("a name");
        assert!(schemas.contains_key(name), "{name} is described");
    }
    for part in text.split("\"#/components/responses/").skip(1) {
        let name = part.split('"').next().expect("a name");
        let envelope = &document["components"]["responses"][name]["content"]["application/json"]["schema"];
        assert_eq!(envelope["$ref"], "#/components/schemas/ErrorEnvelope", "{name}");
    }
    let mut ids: Vec<&str> = Vec::new();
    for (path, item) in document["paths"].as_object().expect("an object") {
        for operation in item.as_object().expect("an object").values() {
            ids.push(operation["operationId"].as_str().expect("an id"));
            assert!(operation["summary"].is_string(), "{path}");
            for parameter in operation["parameters"].as_array().into_iter().flatten() {
                let name = parameter["name"].as_str().expect("a name");
                let in_path = path.contains(&format!("{{{name}}}"));
                assert_eq!(
                    parameter["in"],
                    if in_path { "path" } else { "query" },
                    "{path} {name}"
                );
            }
        }
    }
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count, "every operation has an id of its own");
    // Four probes, and sixty-five routes under `/api/v2` alone.
    assert_eq!(count, 69);
    assert!(!text.contains("\"/api/v1/"), "each route stands once");
}
