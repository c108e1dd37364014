//! The description of the API is true and committed.

use expect_test::expect_file;
use model::Zone;
use serde_json::Value;

use crate::house::{House, get, tokens};

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
    // Four probes, and sixty-three routes under `/api/v2` alone.
    assert_eq!(count, 67);
    assert!(!text.contains("\"/api/v1/"), "each route stands once");
}

#[tokio::test]
async fn a_page_shows_every_operation_without_a_script() {
    let house = House::new().await;
    let page = house.get("/docs").await;
    assert_eq!(page.headers["content-type"], "text/html; charset=utf-8");
    let policy = page.headers["content-security-policy"].to_str().expect("text");
    assert!(
        policy.starts_with("default-src 'none'; style-src 'self';"),
        "{policy}"
    );
    let document: Value = serde_json::from_str(&gateway::openapi_json()).expect("JSON");
    for (path, item) in document["paths"].as_object().expect("an object") {
        for (method, operation) in item.as_object().expect("an object") {
            let id = operation["operationId"].as_str().expect("an id");
            let method = method.to_uppercase();
            let shown = format!("<details id=\"{id}\"><summary><b>{method}</b> <code>{path}</code>");
            assert_eq!(page.text.matches(&shown).count(), 1, "{shown}");
        }
    }
    // A field with its type, meaning and bounds, and the type of an answer's data.
    assert!(page.text.contains(
        "<tr><td><code>max_tokens</code><td><td>integer<td>Maximum length of the text, in tokens. default: <code>350</code> \
         minimum: <code>1</code> maximum: <code>8000</code>"
    ));
    assert!(
        page.text.contains("<a href=\"#AddData\">AddData</a>") && page.text.contains("<h3 id=\"AddData\">")
    );
    assert_eq!(
        page.text
            .matches("<tr><td>429<td>Too many unfinished tasks")
            .count(),
        1
    );
    for part in page.text.split("href=\"#").skip(1) {
        let name = part.split('"').next().expect("a name");
        assert!(
            page.text.contains(&format!("id=\"{name}\"")),
            "the link to {name} leads somewhere"
        );
    }
    for word in ["<script", "onclick", "javascript:", "http://", "https://"] {
        assert!(!page.text.contains(word), "{word}");
    }
    let style = house.get("/docs/style.css").await;
    assert_eq!(style.headers["content-type"], "text/css; charset=utf-8");

    let guarded = House::with(tokens(), Zone::utc()).await;
    assert_eq!(guarded.get("/docs").await.error().0, 401);
    assert_eq!(guarded.ask(get("/docs").token("a")).await.status, 200);
}
