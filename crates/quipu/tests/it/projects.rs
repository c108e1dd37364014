//! The memory of a repository and the memory of a person, through hooks, tools and the command line.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use serde_json::{Value, json};

use testkit::backend::{Backend, Config};

use crate::harness::{Root, Server};
use crate::mcp::Agent;
use crate::proxy;

const SHOP: &str = "example.org+acme+shop";

/// A repository, as `git init` and `git remote add` create one.
fn repository(root: &Root, name: &str, remote: &str) -> PathBuf {
    let folder = root.outside().join(name);
    for part in ["objects", "refs"] {
        fs::create_dir_all(folder.join(".git").join(part)).unwrap();
    }
    fs::write(folder.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    let config = format!("[core]\n\tbare = false\n[remote \"origin\"]\n\turl = {remote}\n");
    fs::write(folder.join(".git/config"), config).unwrap();
    folder
}

/// The text that the hook adds to a prompt of a session in a folder.
fn prompt(root: &Root, folder: &PathBuf, session: &str, text: &str) -> String {
    let event =
        json!({"hook_event_name": "UserPromptSubmit", "session_id": session, "cwd": folder, "prompt": text});
    let mut hook = root.start_piped(&["hook"]);
    let mut input = hook.stdin.take().unwrap();
    input.write_all(event.to_string().as_bytes()).unwrap();
    drop(input);
    let output = hook.wait_with_output().unwrap();
    let said: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let added = &said["hookSpecificOutput"]["additionalContext"];
    added.as_str().unwrap_or_default().to_owned()
}

#[test]
fn a_person_is_known_in_every_repository_and_each_keeps_its_own_messages() {
    let root = Root::new();
    let shop = repository(&root, "shop", "git@example.org:acme/shop.git");
    // Another clone of the same repository.
    let clone = repository(&root, "clone", "https://me@example.org/acme/shop");
    let site = repository(&root, "site", "https://example.org/acme/site.git");
    let server = root.serve();
    prompt(&root, &shop, "s1", "My boat is called Marula.");
    prompt(&root, &shop, "s1", "Deploy the shop with the copper wrench only.");
    let flush = json!({"session_id": "me/s1", "project_id": SHOP, "wait": true});
    assert_eq!(server.post("/api/v2/memory/flush", &flush).0, 200);

    let (boat, deploy) = ("What is my boat called?", "How do we deploy the shop?");
    assert!(prompt(&root, &site, "s2", boat).contains("Marula"));
    let elsewhere = prompt(&root, &site, "s3", deploy);
    assert!(!elsewhere.contains("copper"), "{elsewhere}");
    assert!(prompt(&root, &clone, "s4", deploy).contains("copper"));

    // The command line names the fact's project; it finds the repository's messages if the project is given.
    let found = root.run(&["search", "boat"]).stdout;
    assert!(
        found.contains(&format!(", from project {SHOP}")) && found.contains("Marula"),
        "{found}"
    );
    let talk = |options: &[&str]| root.run(&[&["search", "copper wrench"], options].concat()).stdout;
    assert!(!talk(&[]).contains("copper"));
    assert!(talk(&["--project", SHOP]).contains("copper"));

    // An agent of another repository moves the fact to the shop, by the id in its search results.
    let mut agent = Agent::start(&root, &["--project", "example.org+acme+site"]);
    let hits = agent.call("search", &json!({"query": boat}));
    let id = hits
        .split(|c: char| c.is_whitespace() || "\"[](),".contains(c))
        .find(|word| word.contains("_af_") && word.ends_with(&format!("#{SHOP}")))
        .unwrap_or_else(|| panic!("{hits}"));
    let moved = agent.call("update", &json!({"id": id, "project_only": true}));
    assert!(!moved.contains("error"), "{moved}");
    assert!(!agent.call("search", &json!({"query": boat})).contains("Marula"));
    agent.end();
    assert!(!prompt(&root, &site, "s5", boat).contains("Marula"));
    assert!(prompt(&root, &clone, "s6", boat).contains("Marula"));
    let found = root.json(&["search", "--project", SHOP, "--min-score", "0", "boat"]);
    let facts = found["facts"].as_array().unwrap();
    assert!(facts.iter().any(|fact| fact["project_only"] == true), "{found}");
}

/// Adds a message of a user in a project and flushes it into memory.
fn tell(server: &Server, whose: &str, project: &str, text: &str) {
    let session = format!("{whose}-{project}");
    let message =
        json!({"sender_id": whose, "role": "user", "timestamp": 1_764_000_000_000_i64, "content": text});
    let add = json!({"session_id": session, "project_id": project, "messages": [message]});
    assert_eq!(server.post("/api/v2/memory/add", &add).0, 200);
    let flush = json!({"session_id": session, "project_id": project, "wait": true});
    assert_eq!(server.post("/api/v2/memory/flush", &flush).0, 200);
}

#[test]
fn a_shared_project_names_each_teacher_and_knows_a_person_also_through_the_base_url() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let backend = runtime.block_on(Backend::start(Config::default()));
    let root = Root::new();
    root.write("quipu.toml", "[memory]\nshared_projects = [\"boat\"]\n");
    let server = root.serve_with(&["--upstream", backend.base_url()]);
    tell(&server, "ana", "boat", "We paint the boat in May.");
    tell(&server, "ana", "garden", "We paint the shed in June.");
    tell(&server, "ben", "default", "I am allergic to walnuts.");

    let paint = "When do we paint the boat?";
    let body = json!({"user_id": "ben", "project_id": "boat", "query": paint});
    let told = server.post("/api/v2/memory/context", &body).1.to_string();
    assert!(told.contains(", ana: We paint the boat in May."), "{told}");
    let own = json!({"user_id": "ana", "project_id": "boat", "query": paint});
    let told = server.post("/api/v2/memory/context", &own).1.to_string();
    assert!(told.contains(", user: We paint the boat in May."), "{told}");
    let garden = json!({"user_id": "ben", "project_id": "garden", "query": "When do we paint the shed?"});
    let told = server.post("/api/v2/memory/context", &garden).1.to_string();
    assert!(!told.contains("June"), "{told}");

    let mut agent = Agent::start(&root, &["--project", "boat", "--user", "ben"]);
    let hits = agent.call("search", &json!({"query": paint}));
    assert!(
        hits.contains("ana") && hits.contains("We paint the boat in May."),
        "{hits}"
    );
    let mut words = hits.split(|c: char| c.is_whitespace() || "\"[](),".contains(c));
    let id = words
        .find(|word| word.starts_with("ana_ep_"))
        .unwrap_or_else(|| panic!("{hits}"));
    let read = agent.call("read", &json!({"id": id}));
    assert!(read.contains("We paint the boat in May."), "{read}");
    agent.call("update", &json!({"id": id, "text": "We paint it never."}));
    assert!(
        agent.call("read", &json!({"id": id})).contains("in May"),
        "it is Ana's"
    );
    agent.end();

    let sent = |headers: &str, question: &str| {
        let messages = json!([{"role": "user", "content": question}]);
        proxy::ask(server.address(), headers, &messages);
        let seen = backend.requests();
        let last = seen.iter().rfind(|seen| seen.method == "POST").unwrap();
        String::from_utf8(last.body.clone().into()).unwrap()
    };
    let [boat, garden] =
        ["boat", "garden"].map(|project| format!("x-quipu-user: ben\r\nx-quipu-project: {project}\r\n"));
    let turn = sent(&boat, paint);
    assert!(turn.contains(", ana: We paint the boat in May."), "{turn}");
    let turn = sent(&boat, "Which nuts am I allergic to?");
    assert!(turn.contains("walnuts"), "{turn}");
    let turn = sent(&garden, "When do we paint the shed?");
    assert!(!turn.contains("June"), "{turn}");

    // A token for the project reads facts about the person only with `--person`.
    let token = |more: &[&str]| {
        let of_boat = [
            "token", "create", "--user", "ben", "--role", "write", "--app", "default", "--project", "boat",
        ];
        let made = root.run(&[&of_boat, more].concat()).stdout;
        format!(
            "authorization: Bearer {}\r\nx-quipu-project: boat\r\n",
            made.trim()
        )
    };
    let turn = sent(&token(&[]), "Am I allergic to any nuts?");
    assert!(!turn.contains("walnuts"), "{turn}");
    let turn = sent(&token(&["--person"]), "Which nuts may I not eat, being allergic?");
    assert!(turn.contains("walnuts"), "{turn}");
}
