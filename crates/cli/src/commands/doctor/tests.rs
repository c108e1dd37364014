//! `quipu doctor` on healthy and unhealthy roots.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::io::{Read as _, Write as _};

use gateway::{Gateway, GatewaySettings};
use tempfile::TempDir;
use tokio::task::JoinSet;

use super::*;
use crate::commands::tests::{desk, typed};
use crate::output::tests::SAID;
use crate::serving::Notice;
use crate::world::World;

fn place(home: &Path) -> InitPlace {
    InitPlace {
        machine: ClientMachine {
            home: home.to_owned(),
            is_mac: false,
            variables: BTreeMap::new(),
        },
        program: std::env::current_exe().expect("this test"),
        default_root: home.join(".quipu"),
    }
}

async fn checked(desk: &Desk, home: &Path) -> (Exit, String) {
    let report = report(desk, &place(home)).await;
    SAID.take();
    let exit = report.show(false).expect("is shown");
    (exit, SAID.take())
}

/// An address without a listener.
fn free() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address").to_string()
}

#[tokio::test]
async fn a_healthy_root_has_no_problem_and_a_missing_root_is_not_created() {
    let home = TempDir::new().expect("a folder");
    let root = home.path().join("root");
    let listen = free();
    let variables = [("QUIPU_SERVER__LISTEN", listen.as_str())];
    let (exit, said) = checked(&desk(&root, &variables), home.path()).await;
    assert_eq!(exit, Exit::Ok, "{said}");
    assert!(
        said.contains("is not there yet") && said.contains("nothing is stored yet"),
        "{said}"
    );
    assert!(!root.exists());
    typed(&desk(&root, &[]), &["add --user ana My-boat-is-called-Marula."])
        .await
        .expect("is stored");
    let (exit, said) = checked(&desk(&root, &variables), home.path()).await;
    assert_eq!(exit, Exit::Ok, "{said}");
    for words in [
        "closed to others",
        "GB are free",
        "is free for `quipu serve`",
        "Markdown files",
        "`quipu init` connects them",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    assert!(said.ends_with("no problem found\n"), "{said}");
}

#[tokio::test]
async fn each_problem_comes_with_its_remedy() {
    let home = TempDir::new().expect("a folder");
    let root = home.path().join("root");
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let listen = taken.local_addr().expect("an address").to_string();
    let silent = format!("http://{}/v1", free());
    let variables = [
        ("QUIPU_SERVER__LISTEN", listen.as_str()),
        ("QUIPU_CHAT__BASE_URL", &silent),
        ("QUIPU_CHAT__MODEL", "one"),
    ];
    typed(
        &desk(&root, &[]),
        &["add --user ana --flush My-boat-is-called-Marula."],
    )
    .await
    .expect("is stored");
    let broken = root.join("memory/default/default/users/ana/facts/broken.md");
    fs::create_dir_all(broken.parent().expect("a folder")).expect("a folder");
    fs::write(&broken, "---\nid: [\n---\n").expect("is written");
    fs::set_permissions(&root, Permissions::from_mode(0o755)).expect("is set");
    fs::create_dir_all(home.path().join(".cursor")).expect("a folder");
    let cursor = r#"{"mcpServers": {"quipu": {"command": "/gone/quipu", "args": ["mcp"]}}}"#;
    fs::write(home.path().join(".cursor/mcp.json"), cursor).expect("is written");
    fs::create_dir_all(home.path().join(".claude")).expect("a folder");
    fs::write(home.path().join(".claude/settings.json"), "{\"hooks\": [").expect("is written");
    let (exit, said) = checked(&desk(&root, &variables), home.path()).await;
    assert_eq!(exit, Exit::Failed, "{said}");
    for words in [
        "chat model     http",
        "-> start the model server, or correct chat in ",
        ".claude/settings.json: it cannot be read: ",
        "is open to other users of this machine (mode 755)",
        "-> chmod 700 '",
        "cannot be used: Address already in use",
        "-> quipu serve --listen 127.0.0.1:",
        "starts `/gone/quipu`, which is not there",
        "-> quipu init --undo && quipu init --client cursor",
        "broken.md",
        "-> quipu status",
        "6 problems found",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
}

#[tokio::test]
async fn a_running_server_is_asked_and_its_version_compared() {
    let home = TempDir::new().expect("a folder");
    let desk = desk(&home.path().join("root"), &[]);
    let world = World::open(&desk.root, &desk.loaded.config, desk.open_index, false).await;
    let world = world.expect("it opens");
    let (clock, ids) = (world.clock.clone(), world.ids.clone());
    let gateway = Gateway::new(world.engine.clone(), GatewaySettings::default(), clock, ids);
    let listener = gateway.bind("127.0.0.1:0".parse().expect("an address")).await;
    let listener = listener.expect("it binds");
    let address = listener.local_addr().expect("an address");
    let mut server = JoinSet::new();
    server.spawn(async move { gateway.serve(listener, std::future::pending()).await });
    let _notice = Notice::put(&desk.root, address, "key").expect("it is written");
    let (exit, said) = checked(&desk, home.path()).await;
    assert_eq!(exit, Exit::Ok, "{said}");
    assert!(
        said.contains(&format!("http://{address} serves this root, version ")),
        "{said}"
    );
    server.shutdown().await;
    world.shutdown().await;
    let found = served("127.0.0.1:1", "0.0.1").expect_err("another version");
    assert!(
        found
            .error
            .to_string()
            .contains("has version 0.0.1, this program has ")
    );
    assert!(found.hint.is_some_and(|remedy| remedy.contains("quipu serve")));
}

#[tokio::test]
async fn programs_of_clients_are_started_and_servers_counted() {
    let home = TempDir::new().expect("a folder");
    let put = |name: &str, text: &str| {
        let file = home.path().join(name);
        fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
        fs::write(&file, text).expect("is written");
        fs::set_permissions(&file, Permissions::from_mode(0o755)).expect("is set");
        file.display().to_string()
    };
    let well = put("well/quipu", "#!/bin/sh\necho quipu 0.1.0\n");
    let other = put("other/quipu", "#!/bin/sh\necho hello\n");
    let entry = |program: &str| format!(r#"{{"command": "{program}", "args": ["mcp"]}}"#);
    put(
        ".cursor/mcp.json",
        &format!(r#"{{"mcpServers": {{"quipu": {}}}}}"#, entry(&well)),
    );
    put(
        ".codeium/windsurf/mcp_config.json",
        &format!(r#"{{"mcpServers": {{"quipu": {}}}}}"#, entry(&other)),
    );
    let two = format!(
        r#"{{"mcpServers": {{"quipu": {}, "memory": {}}}}}"#,
        entry(&well),
        entry(&well)
    );
    put(".gemini/settings.json", &two);
    let mut report = CheckReport::default();
    connected(&mut report, &place(home.path()));
    let rows: Vec<(&str, bool)> = report
        .0
        .iter()
        .map(|row| (row.text.as_str(), row.remedy.is_some()))
        .collect();
    assert_eq!(rows.len(), 3, "{rows:?}");
    assert!(
        rows[0].0.ends_with("starts 2 servers of Quipu") && rows[0].1,
        "{rows:?}"
    );
    assert!(rows[1].0.starts_with("Cursor: ") && !rows[1].1, "{rows:?}");
    assert!(
        rows[2].0.ends_with("which is another program") && rows[2].1,
        "{rows:?}"
    );
}

/// A model server that answers every request with this status and body.
fn model_server(status: &'static str, body: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a connection");
            let mut request = [0; 4_096];
            let length = stream.read(&mut request).unwrap_or(0);
            let is_known = request[..length].starts_with(b"GET /v1/models")
                || request[..length].starts_with(b"GET /props");
            let status = if is_known { status } else { "404 Not Found" };
            let length = body.len();
            write!(
                stream,
                "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
            )
            .ok();
        }
    });
    format!("http://{address}")
}

#[tokio::test]
async fn a_model_server_is_probed_for_its_kind() {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    let mut report = CheckReport::default();
    let props = r#"{"default_generation_settings": {"n_ctx": 8192}, "total_slots": 2, "build_info": "b1", "data": []}"#;
    for base_url in [
        model_server("200 OK", props),
        model_server("401 Unauthorized", "{}"),
        format!("http://{}", free()),
        "nonsense".to_owned(),
    ] {
        let keys = Upstream {
            base_url,
            context_tokens: 8_192,
            ..Upstream::default()
        };
        let file = Path::new("quipu.toml");
        let found = super::model_server("proxy.upstreams", &keys, &clock, file).await;
        report.add("upstream", found);
    }
    let texts: Vec<String> = report
        .0
        .iter()
        .map(|row| format!("{} -> {:?}", row.text, row.remedy))
        .collect();
    assert!(
        texts[0].contains("OpenAI dialect, window of 8192 tokens") && texts[0].ends_with("None"),
        "{texts:?}"
    );
    assert!(
        texts[1].contains("refuses the key (status 401)") && texts[1].contains("api_key"),
        "{texts:?}"
    );
    assert!(
        texts[2].contains("not reachable") && texts[2].contains("start the model server"),
        "{texts:?}"
    );
    assert!(report.0[3].remedy.is_some(), "{texts:?}");
}

#[test]
fn an_unreadable_configuration_is_a_problem() {
    SAID.take();
    let failure = Failure::usage("`quipu.toml`: unknown key `lisen`, did you mean `listen`?");
    assert_eq!(unconfigured(failure, false).expect("is shown"), Exit::Failed);
    let said = SAID.take();
    assert!(
        said.starts_with("problem  configuration  `quipu.toml`: unknown key `lisen`"),
        "{said}"
    );
    assert_eq!(
        command_in("run `a`, or `quipu rebuild`: see `b`"),
        Some("quipu rebuild")
    );
}

#[test]
fn a_model_server_is_described_by_dialect_window_and_cache() {
    let probed = Probed {
        kind: None,
        window_tokens: None,
        slots: None,
        model: Some("tiny".to_owned()),
    };
    let nothing = Probed {
        model: None,
        ..probed.clone()
    };
    for (kind, window, probed, words) in [
        (
            Kind::LlamaCpp,
            Some(8_192),
            &probed,
            "llama.cpp, OpenAI dialect, window of 8192 tokens, caches every common beginning, model tiny",
        ),
        (
            Kind::Vllm,
            Some(32_768),
            &nothing,
            "vllm, OpenAI dialect, window of 32768 tokens, caches blocks of 16 tokens",
        ),
        (
            Kind::Anthropic,
            None,
            &nothing,
            "anthropic, Anthropic dialect, window unknown (context_tokens sets it), caches common beginnings of at least 1024 tokens",
        ),
        (
            Kind::UnknownLocal,
            None,
            &nothing,
            "local, OpenAI dialect, window unknown (context_tokens sets it), prompt cache unknown",
        ),
    ] {
        assert_eq!(described(kind, window, probed), words);
    }
}
