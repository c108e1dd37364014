//! The properties that servers report, and how seldom they are asked.

use ports::Probed;
use serde_json::Value;

use super::*;
use crate::server::dead_url;

/// A server with these pages; like LM Studio, it answers every other question with 200.
fn telling(pages: Value) -> Server {
    Server::new(move |request| match pages.get(&request.path) {
        Some(page) => Reply::json(page),
        None => Reply::json(&json!({ "error": format!("Unexpected endpoint {}", request.path) })),
    })
}

fn probed(kind: Kind, window_tokens: Option<usize>, slots: Option<u32>) -> Probed {
    Probed {
        kind: Some(kind),
        window_tokens,
        slots,
        model: None,
    }
}

fn with_model(model: &str, probed: &Probed) -> Probed {
    Probed {
        model: Some(model.to_owned()),
        ..probed.clone()
    }
}

fn props(n_ctx: u64) -> Value {
    json!({ "/props": { "default_generation_settings": { "n_ctx": n_ctx }, "total_slots": 4 } })
}

fn servers() -> Vec<(Value, Probed)> {
    let lm_studio = json!({ "data": [
        { "type": "embeddings", "max_context_length": 2048, "loaded_context_length": 2048 },
        { "id": "a/b-c", "type": "llm", "max_context_length": 131_072, "loaded_context_length": 32_768 },
        { "type": "vlm", "max_context_length": 8192 },
    ] });
    let version = json!({ "version": "0.11.0" });
    let models =
        |window: Value| json!({ "data": [{ "id": "lora" }, { "id": "a", "max_model_len": window }] });
    vec![
        (props(8192), probed(Kind::LlamaCpp, Some(8192), Some(4))),
        // A router: it only forwards requests.
        (
            json!({ "/props": { "default_generation_settings": { "n_ctx": 0 } } }),
            probed(Kind::LlamaCpp, None, None),
        ),
        (
            json!({ "/api/v0/models": lm_studio }),
            with_model("b-c", &probed(Kind::LmStudio, Some(32_768), None)),
        ),
        (
            json!({ "/props": { "default_generation_settings": { "n_ctx": 8192 }, "model_path": "C:\\models\\Qwen3-8B-Q4_K_M.gguf" } }),
            with_model("Qwen3-8B-Q4_K_M", &probed(Kind::LlamaCpp, Some(8192), None)),
        ),
        (
            json!({ "/api/v0/models": { "data": [
                { "id": "gpt-oss-20b", "type": "llm", "max_context_length": 131_072, "loaded_context_length": 4096 },
                { "id": "other", "type": "llm", "max_context_length": 131_072 },
            ] } }),
            with_model("gpt-oss-20b", &probed(Kind::LmStudio, Some(4096), None)),
        ),
        (
            json!({ "/version": version, "/v1/models": { "data": [{ "id": "mine", "root": "meta-llama/Llama-3.1-8B", "max_model_len": 4096 }] } }),
            with_model("Llama-3.1-8B", &probed(Kind::Vllm, Some(4096), None)),
        ),
        (
            json!({ "/api/version": version }),
            probed(Kind::Ollama, None, None),
        ),
        (
            json!({ "/get_server_info": { "context_length": null, "max_total_num_tokens": 60_000 } }),
            probed(Kind::Sglang, Some(60_000), None),
        ),
        (
            json!({ "/get_server_info": { "context_length": 4096, "max_total_num_tokens": 60_000 } }),
            probed(Kind::Sglang, Some(4096), None),
        ),
        (
            json!({ "/version": version, "/v1/models": models(json!(40_960)) }),
            probed(Kind::Vllm, Some(40_960), None),
        ),
        // Each half alone belongs to another server.
        (
            json!({ "/version": version, "/v1/models": models(Value::Null) }),
            Probed::default(),
        ),
        (json!({ "/v1/models": models(json!(40_960)) }), Probed::default()),
        (
            json!({ "/api/v0/models": { "data": [] }, "/props": { "total_slots": 1 } }),
            Probed::default(),
        ),
        (
            json!({ "/api/version": { "version": "x".repeat(5 << 20) } }),
            Probed::default(),
        ),
        (json!({}), Probed::default()),
    ]
}

#[tokio::test]
async fn each_kind_is_recognised_by_its_answer_and_asked_once() {
    for (pages, expected) in servers() {
        let server = telling(pages.clone());
        let upstream = upstream(&server.url("/v1"), Timer::with_limits(&LIMITS));
        let (one, two) = tokio::join!(upstream.probe(), upstream.probe());
        assert_eq!((&one, &two), (&expected, &expected), "{pages}");
        assert_eq!(upstream.probe().await, expected);
        let requests = server.requests();
        let mut paths: Vec<&str> = requests.iter().map(|request| request.path.as_str()).collect();
        assert!(
            requests
                .iter()
                .all(|request| request.header("content-length").is_none())
        );
        assert!(
            requests
                .iter()
                .all(|request| request.header("authorization").is_some())
        );
        assert_eq!(paths[0], "/props");
        paths.sort_unstable();
        paths.dedup();
        assert_eq!(paths.len(), requests.len(), "asked twice: {paths:?}");
    }
}

#[tokio::test]
async fn the_configured_kind_wins_and_the_rest_is_still_found() {
    let server = telling(props(8192));
    for base in ["", "/", "/v1/"] {
        let clock = Timer::with_limits(&LIMITS);
        let upstream = HttpUpstream::new("tiny", &server.url(base), None, Some(Kind::Vllm), clock);
        let found = upstream.expect("a good address").probe().await;
        assert_eq!(found, probed(Kind::Vllm, Some(8192), Some(4)));
    }
}

#[tokio::test]
async fn a_hosted_api_is_never_asked() {
    for host in [
        "https://api.openai.com/v1",
        "http://203.0.113.7:8080/v1",
        "http://models.example.com",
    ] {
        // Every question would reach its limit at once.
        let clock = Timer::hasty();
        let key = Some(ApiKey::new(KEY));
        let upstream = HttpUpstream::new("tiny", host, key, Some(Kind::OpenAi), clock.clone());
        let found = upstream.expect("a good address").probe().await;
        assert_eq!(
            found,
            Probed {
                kind: Some(Kind::OpenAi),
                ..Probed::default()
            }
        );
        assert_eq!(clock.waits(), []);
    }
}

#[tokio::test]
async fn an_unreachable_server_is_asked_again_after_a_while() {
    let loading = |request: &Request| match request.path.as_str() {
        "/props" => Reply::new(503, r#"{"error":{"message":"Loading model"}}"#),
        _ => Reply::json(&json!({})),
    };
    let server = Server::new(loading);
    let clock = Timer::with_limits(&LIMITS);
    let loading = upstream(&server.url("/v1"), clock.clone());
    for requests in [1, 2] {
        assert_eq!(loading.probe().await, Probed::default());
        clock.sleep(Duration::from_secs(29)).await;
        assert_eq!(loading.probe().await, Probed::default());
        assert_eq!(server.requests().len(), requests);
        clock.sleep(Duration::from_secs(1)).await;
    }

    let listener = Listener::new().await;
    let clock = Timer::with_limits(&[CONNECT]);
    let silent = upstream(&listener.url("http"), clock.clone());
    assert_eq!(silent.probe().await, Probed::default());
    assert_eq!(clock.waits(), [QUESTION], "one silence is enough");
    let dead = upstream(&dead_url("/v1"), Timer::with_limits(&LIMITS));
    assert_eq!(dead.probe().await, Probed::default());
}

#[tokio::test]
async fn a_window_without_a_loaded_model_is_looked_up_again() {
    let asked = std::sync::atomic::AtomicUsize::new(0);
    let server = Server::new(move |request| {
        let mut model = json!({ "type": "llm", "max_context_length": 131_072 });
        if request.path != "/api/v0/models" {
            return Reply::new(404, r#"{"default_generation_settings": {"n_ctx": 1}}"#);
        }
        if asked.fetch_add(1, std::sync::atomic::Ordering::SeqCst) > 0 {
            model["loaded_context_length"] = json!(4096);
        }
        Reply::json(&json!({ "data": [model] }))
    });
    let clock = Timer::with_limits(&LIMITS);
    let upstream = upstream(&server.url("/v1"), clock.clone());
    for window in [131_072, 4096, 4096] {
        assert_eq!(upstream.probe().await, probed(Kind::LmStudio, Some(window), None));
        clock.sleep(Duration::from_secs(30)).await;
    }
    assert_eq!(server.requests().len(), 4);
}

/// An Ollama server's answers about a model, and the window that follows from them.
#[tokio::test]
async fn an_ollama_server_is_asked_for_the_window_of_a_model() {
    let shown = |parameters: &str| json!({"parameters": parameters, "model_info": {"general.architecture": "llama", "llama.context_length": 131_072}});
    let running = |model: &str, window: Value| json!({"models": [{"name": "other", "context_length": 9}, {"name": model, "context_length": window}]});
    let nothing = json!({"models": []});
    let cloud = json!({"remote_model": "big", "model_info": {"big.context_length": 262_144}});
    let author = "stop \"<|eot|>\"\nnum_ctx                        8192\ntemperature 0.6";
    let cases = [
        (
            "loaded",
            running("tiny", json!(32_768)),
            shown(author),
            32_768,
            false,
        ),
        (
            "by its whole name",
            running("tiny:latest", json!(32_768)),
            shown(""),
            32_768,
            false,
        ),
        (
            "as its author set it",
            nothing.clone(),
            shown(author),
            8_192,
            false,
        ),
        (
            "never more than it can",
            nothing.clone(),
            shown("num_ctx 999999"),
            131_072,
            false,
        ),
        ("elsewhere", nothing.clone(), cloud, 262_144, false),
        (
            "an older server",
            running("tiny", Value::Null),
            shown(""),
            4_096,
            true,
        ),
        ("not loaded yet", nothing, shown(""), 4_096, true),
    ];
    for (name, ps, show, window, loads) in cases {
        let pages = json!({"/api/version": {"version": "0.15.5"}, "/api/ps": ps, "/api/show": show});
        let server = telling(pages);
        let upstream = upstream(&server.url("/v1"), Timer::with_limits(&LIMITS));
        assert_eq!(upstream.window("tiny").await, Some(window), "{name}");
        let paths = |server: &Server| -> Vec<String> {
            server
                .requests()
                .iter()
                .map(|request| request.path.clone())
                .collect()
        };
        let asked = paths(&server);
        assert_eq!(asked.contains(&"/api/generate".to_owned()), loads, "{name}");
        assert_eq!(upstream.window("tiny").await, Some(window), "{name}");
        assert_eq!(paths(&server), asked, "{name}: asked again");
    }
}

/// The window depends on the server's memory: it is reported once the model is loaded, which the turn would
/// do anyway.
#[tokio::test]
async fn a_model_of_ollama_is_loaded_before_its_window_counts() {
    let loaded = std::sync::atomic::AtomicBool::new(false);
    let server = Server::new(move |request| {
        let models = if loaded.load(std::sync::atomic::Ordering::SeqCst) {
            json!([{"name": "tiny", "context_length": 262_144}])
        } else {
            json!([])
        };
        match request.path.as_str() {
            "/api/version" => Reply::json(&json!({"version": "0.15.5"})),
            "/api/ps" => Reply::json(&json!({"models": models})),
            "/api/show" => Reply::json(&json!({"model_info": {"x.context_length": 262_144}})),
            "/api/generate" => {
                assert_eq!(request.json(), json!({"model": "tiny", "stream": false}));
                loaded.store(true, std::sync::atomic::Ordering::SeqCst);
                Reply::json(&json!({"done": true}))
            }
            _ => Reply::new(404, "nothing"),
        }
    });
    let upstream = upstream(&server.url("/v1"), Timer::with_limits(&LIMITS));
    assert_eq!(upstream.window("tiny").await, Some(262_144));
}
