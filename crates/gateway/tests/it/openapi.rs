//! The description of the API is true and committed.

use expect_test::expect_file;
use serde_json::Value;

use crate::house::House;

#[tokio::test]
async fn the_committed_document_is_the_generated_one() {
    // Brought up to date by running this test with `UPDATE_EXPECT=1`.
    expect_file!["../../../../docs/openapi.json"].assert_eq(&gateway::openapi_json());
    let house = House::new().await;
    assert_eq!(house.get("/openapi.json").await.text, gateway::openapi_json());
}

#[test]
fn the_document_is_whole() {
    let document: Value = serde_json::from_str(&gateway::openapi_json()).expect("JSON");
    let text = document.to_string();
    let schemas = document["components"]["schemas"].as_object().expect("an object");
    for part in text.split("\"#/components/schemas/").skip(1) {
        let name = part.split('"').next().expect("a name");
        assert!(schemas.contains_key(name), "{name} is described");
    }
    let mut ids: Vec<&str> = Vec::new();
    for (path, item) in document["paths"].as_object().expect("an object") {
        for operation in item.as_object().expect("an object").values() {
            ids.push(operation["operationId"].as_str().expect("an id"));
            assert!(operation["summary"].is_string(), "{path}");
        }
    }
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count, "every operation has an id of its own");
    // Four probes, and fifty-five routes in each of two versions.
    assert_eq!(count, 114);
}
