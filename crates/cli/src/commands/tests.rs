//! Command lines on a root with a real vault, ledger and history; the index is in memory.

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};

use ::memory::Curate;
use clap::Parser;
use ledger::SqliteLedger;
use model::{EmbedderId, Entry, EntryId, EntryKind, Name, Origin, Owner, Scope, Timestamp};
use ports::{Index, IndexError};
use serde_json::Value;
use tempfile::TempDir;
use testkit::index::MemoryIndex;

mod lost;
mod roots;

use super::interrupt::WhatStands;
use super::{Desk, asked};
use crate::api::Api;
use crate::args::{Cli, Command};
use crate::config::load;
use crate::error::{Exit, Failure};
use crate::output::tests::SAID;
use crate::world::World;

/// The text of the log.
#[derive(Clone, Default)]
pub(super) struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().expect("no panic")).into_owned()
    }
}

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("no panic").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[expect(clippy::unnecessary_wraps, reason = "the form that the binary's has")]
fn open_index(_: &Path, embedder: EmbedderId) -> Result<Arc<dyn Index>, IndexError> {
    Ok(Arc::new(MemoryIndex::new(embedder)))
}

pub(super) fn desk(root: &Path, variables: &[(&str, &str)]) -> Desk {
    let variables = variables
        .iter()
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    Desk {
        root: root.to_owned(),
        loaded: load(root, variables).expect("it is configured"),
        json: false,
        watched: false,
        open_index,
        asks_only: false,
        standing: WhatStands::default(),
    }
}

/// The result of the last of several commands.
#[derive(Debug)]
pub(super) struct Told {
    pub(super) exit: Exit,
    pub(super) said: String,
}

impl Told {
    pub(super) fn json(&self) -> Value {
        serde_json::from_str(&self.said).unwrap_or_else(|error| panic!("{error}: {}", self.said))
    }
}

/// The words of a line as a shell splits them; text between quotation marks is one word.
fn words(line: &str) -> Vec<&str> {
    let mut words = Vec::new();
    for (at, part) in line.split('"').enumerate() {
        if at % 2 == 1 {
            words.push(part);
        } else {
            words.extend(part.split_whitespace());
        }
    }
    words
}

/// Runs commands one after the other in one process.
pub(super) async fn typed(desk: &Desk, lines: &[&str]) -> Result<Told, Failure> {
    let world = World::open(&desk.root, &desk.loaded.config, desk.open_index, false).await?;
    typed_in(desk, world, lines).await
}

async fn typed_in(desk: &Desk, world: World, lines: &[&str]) -> Result<Told, Failure> {
    let api = Api::here(world);
    let mut exit = Ok(Exit::Ok);
    for line in lines {
        let cli = Cli::parse_from(std::iter::once("quipu").chain(words(line)));
        let desk = &Desk {
            root: desk.root.clone(),
            loaded: load(&desk.root, []).expect("it is configured"),
            json: cli.json,
            standing: WhatStands::default(),
            ..*desk
        };
        SAID.take();
        let Command::Asking(command) = cli.command else {
            panic!("{:?}", cli.command);
        };
        exit = asked(desk, &api, command).await;
    }
    api.close().await;
    let said = SAID.take();
    exit.map(|exit| Told { exit, said })
}

#[tokio::test]
async fn every_user_with_memory_is_listed_with_counts() {
    let root = TempDir::new().expect("a folder");
    let desk = desk(root.path(), &[]);
    let nobody = typed(&desk, &["status users"]).await.expect("it answers").said;
    assert!(nobody.contains("nobody has memories yet"), "{nobody}");
    let told = [
        "add --user ana --flush I-keep-bees.",
        "add --user ben --flush I-sail.",
        "status users",
    ];
    let said = typed(&desk, &told).await.expect("it answers").said;
    let owners: Vec<&str> = said.lines().collect();
    assert_eq!(owners.len(), 2, "{said}");
    for (line, name) in owners.iter().zip(["ana", "ben"]) {
        assert!(
            line.starts_with(&format!("user  {name}  default  default  ")),
            "{said}"
        );
        assert!(line.ends_with(" B") || line.ends_with(" kB"), "{said}");
    }
    let object = typed(&desk, &["status users --json"])
        .await
        .expect("it answers")
        .json();
    assert_eq!(object["owners"][0]["id"], "ana");
    assert!(object["owners"][0]["memories"].as_u64() >= Some(1), "{object}");
    // Messages that are in no file yet count too.
    let told = ["add --user eve --project boat I-row.", "status users"];
    let said = typed(&desk, &told).await.expect("it answers").said;
    let eves = said
        .lines()
        .find(|line| line.starts_with("user  eve  default  boat"));
    assert_eq!(
        eves.map(|line| line.split_whitespace().nth(5)),
        Some(Some("1")),
        "{said}"
    );
}

#[tokio::test]
async fn a_message_is_found_verbatim_right_after_it_was_added() {
    let root = TempDir::new().expect("a folder");
    let desk = desk(root.path(), &[]);
    typed(&desk, &["add --user ana I-adopted-a-parrot-named-Kiko."])
        .await
        .expect("it is remembered");
    let told = typed(&desk, &["search --user ana what-is-the-parrot-called?"]).await;
    let said = told.expect("it answers").said;
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines[0], " 1. I-adopted-a-parrot-named-Kiko.");
    assert!(lines[1].starts_with("    said by ana, "), "{said}");
    assert_eq!(lines.len(), 2, "no id, no score: {said}");
    let told = typed(&desk, &["search --ids --user ana parrot"]).await;
    assert_eq!(told.expect("it answers").said.lines().count(), 3, "and its id");
    let told = typed(&desk, &["search --messages 0 --user ana parrot"]).await;
    assert_eq!(told.expect("it answers").said, "nothing found\n");
    let found = typed(&desk, &["--json search --user ana parrot"]).await;
    let found = found.expect("it answers").json();
    assert_eq!(found["messages"][0]["content"], "I-adopted-a-parrot-named-Kiko.");
    assert!(
        found["episodes"].is_array() && found["facts"].is_array(),
        "{found}"
    );
}

#[tokio::test]
async fn words_need_no_quotation_marks_and_an_unknown_name_is_reported() {
    let root = TempDir::new().expect("a folder");
    let desk = desk(root.path(), &[]);
    let lines = [
        "add --flush I keep bees in Turku --user ana",
        "search where are the bees --user ana",
    ];
    let said = typed(&desk, &lines).await.expect("it answers").said;
    assert!(said.starts_with(" 1. I keep bees in Turku\n"), "{said}");
    for line in ["search --user Ana2 bees", "get --user Ana2", "search bees"] {
        let said = typed(&desk, &[line]).await.expect("it answers").said;
        assert!(said.contains("nobody here is called `"), "{line}: {said}");
    }
    let known = typed(
        &desk,
        &["search --user ana --messages 0 --method keyword zzgrumbl"],
    )
    .await
    .expect("it answers");
    assert!(!known.said.contains("nobody"), "{}", known.said);
}

#[tokio::test]
async fn a_person_has_one_name_in_every_command() {
    let root = TempDir::new().expect("a folder");
    let desk = desk(root.path(), &[]);
    // As the hooks and the proxy name him.
    let said = "add --user x--J-C3-B6rg --flush I keep bees in Ghent.";
    typed(&desk, &[said]).await.expect("it is stored");
    for line in [
        "search --user Jörg bees",
        "get --user Jörg --kind fact",
        "review --user Jörg",
    ] {
        let said = typed(&desk, &[line]).await.expect("it answers").said;
        assert!(said.contains("I keep bees in Ghent"), "{line}: {said}");
    }
    let log = typed(&desk, &["history log --user Jörg"]).await;
    assert!(!log.expect("it lists").said.contains("no changes"));
    for line in [
        "search --user= bees",
        "skill list --agent a/b",
        "history --app a/b log",
        "add --session= tea",
        "add --user Jörg tea",
        "runs start dream --project boat",
    ] {
        let words = std::iter::once("quipu").chain(words(line));
        assert!(Cli::try_parse_from(words).is_err(), "{line}");
    }
}

#[tokio::test]
async fn the_readmes_questions_are_answered() {
    let root = TempDir::new().expect("a folder");
    let desk = desk(root.path(), &[]);
    let lines = [
        r#"add --user ana --at 2024-03-01 "My home is in Berlin.""#,
        r#"add --user ana --at 2025-09-01 "My new home is in Lisbon.""#,
        r#"add --user ana --flush "I adopted a parrot named Kiko.""#,
        r#"search --user ana "What is the bird called?""#,
    ];
    let said = typed(&desk, &lines).await.expect("it answers").said;
    assert!(
        said.starts_with(" 1. I adopted a parrot named Kiko.\n    said by ana, "),
        "{said}"
    );
    let line = r#"search --user ana --as-of 2025-06-01 "Where is Ana's home?""#;
    let said = typed(&desk, &[line]).await.expect("it answers").said;
    assert!(
        said.starts_with(" 1. My home is in Berlin.\n    said by ana, 1 March 2024\n"),
        "{said}"
    );
    assert!(!said.contains("Lisbon"), "{said}");
    let line = r#"search --user ana --messages 2 -k 2 "Where is Ana's home?""#;
    let said = typed(&desk, &[line]).await.expect("it answers").said;
    let readme = include_str!("../../../../README.md");
    assert!(said.contains("past fact"), "{said}");
    assert!(readme.contains(&said), "as the README shows it: {said}");
}

#[tokio::test]
async fn statements_are_listed_for_review_and_answered_by_a_bare_id() {
    let root = TempDir::new().expect("a folder");
    let desk = desk(root.path(), &[]);
    let add = ["add I live in Porto. --flush", "--json review"];
    let listed = typed(&desk, &add).await.expect("it is listed").json();
    let statement = &listed["statements"][0];
    assert_eq!(
        (&statement["text"], &statement["belief"]),
        (&"I live in Porto.".into(), &"fact".into())
    );
    let id = statement["id"].as_str().expect("an id").trim_start_matches("me_");
    let answered = typed(&desk, &[&format!("review {id} wrong")])
        .await
        .expect("it is answered");
    assert_eq!(answered.said, "taken back: I live in Porto.\n");
    let left = typed(&desk, &["review"]).await.expect("it is listed").said;
    assert!(
        left.starts_with("withdrawn  ") && left.contains("\n1 of 1 statements; "),
        "{left}"
    );
    let kept = [&*format!("review {id} keep"), "review --json"];
    let kept = typed(&desk, &kept).await.expect("it is back").said;
    assert!(kept.contains(r#""belief": "confirmed""#), "{kept}");
    let gone = typed(&desk, &["review af_0 keep"]).await.expect_err("it is none");
    assert_eq!(gone.exit, Exit::NotFound);
    let nobody = typed(&desk, &["review --user nobody"])
        .await
        .expect("it is said")
        .said;
    assert!(nobody.starts_with("nobody here is called `nobody`"), "{nobody}");
}

#[tokio::test]
async fn a_listing_names_the_command_for_the_next_page() {
    let root = TempDir::new().expect("a folder");
    let desk = desk(root.path(), &[]);
    let told = "add I live in Porto. I work as a cook in a school. --flush";
    let first = typed(&desk, &[told, "get --kind fact --page-size 1"])
        .await
        .expect("it lists")
        .said;
    assert!(
        first.ends_with("\n1 of 2 facts of me; `--page 2` shows more\n"),
        "{first}"
    );
    let last = typed(&desk, &["get --kind fact --page-size 1 --page 2"])
        .await
        .expect("it lists")
        .said;
    assert!(last.ends_with("\n1 of 2 facts of me\n"), "{last}");
}

#[tokio::test]
async fn a_profile_is_listed() {
    let root = TempDir::new().expect("a folder");
    let desk = desk(root.path(), &[]);
    let lines = [LISBON, "runs start extract_user_profile", "get --kind profile"];
    let listed = typed(&desk, &lines).await.expect("it lists").said;
    assert!(listed.contains("Lisbon"), "{listed}");
    assert!(listed.contains("me_pf_"), "each statement has its id: {listed}");
}

#[tokio::test]
async fn events_are_listed_and_shown_without_the_word_upcoming() {
    let root = TempDir::new().expect("a folder");
    let desk = desk(root.path(), &[]);
    let said =
        r#"add --flush --at 2026-11-28T09:00:00Z "I fly to Oslo on 3 March 2027 for the chess tournament.""#;
    typed(&desk, &[said]).await.expect("it is stored");
    let lines = ["runs start extract_foresight", "get --kind foresight"];
    let listed = typed(&desk, &lines).await.expect("it lists").said;
    assert!(
        listed.contains("Oslo") && listed.contains("1 of 1 event of me"),
        "{listed}"
    );
    let id = listed.split_whitespace().find(|word| word.contains("fs_"));
    let line = format!("get {}", id.expect("an id"));
    let shown = typed(&desk, &[&line]).await.expect("it is there").said;
    assert!(shown.contains("Oslo") && shown.contains("\nfrom 20"), "{shown}");
}

/// Planted: taking an `EverOS` root for Quipu's own Markdown.
#[test]
fn an_everos_root_is_not_an_export_of_quipu() {
    let root = TempDir::new().expect("a folder");
    let folder = root.path();
    std::fs::create_dir_all(folder.join("default_app/default_project/users")).expect("folders");
    assert!(super::export::is_ours(folder));
    std::fs::create_dir_all(folder.join(".index/sqlite")).expect("folders");
    std::fs::write(folder.join(".index/sqlite/system.db"), "").expect("a file");
    assert!(!super::export::is_ours(folder));
}

#[test]
fn the_demo_refuses_json_output() {
    let root = TempDir::new().expect("a folder");
    let desk = Desk {
        json: true,
        ..desk(root.path(), &[])
    };
    let refused = super::demo::demo(&desk, None).expect_err("it is text");
    assert_eq!(refused.exit, Exit::Usage);
    assert!(refused.error.to_string().contains("--json"), "{}", refused.error);
}

const LISBON: &str = "add --flush \"I live in Lisbon.\"";

#[tokio::test]
async fn runs_are_started_listed_and_counted() {
    let root = TempDir::new().expect("a folder");
    let desk = desk(root.path(), &[]);
    let told = typed(&desk, &["runs"]).await.expect("it lists");
    assert_eq!(told.said, "no background runs yet\n");
    let status = typed(&desk, &[LISBON, "--json status"]).await;
    let status = status.expect("it is well").json();
    assert_eq!(
        status["runs"]["queued"], 1,
        "the profile waits for a quiet minute: {status}"
    );
    let told = typed(&desk, &["--json runs start extract_user_profile"]).await;
    let told = told.expect("it runs");
    assert_eq!((told.exit, &told.json()["status"]), (Exit::Ok, &"ok".into()));
    let runs = typed(&desk, &["--json runs --strategy extract_user_profile"]).await;
    let runs = runs.expect("it lists").json();
    assert_eq!(runs["total"], 1);
    assert_eq!(runs["items"][0]["status"], "success");
    let told = typed(&desk, &["runs"]).await.expect("it lists");
    assert!(
        told.said
            .contains("extract_user_profile for me: done\n    why: asked for by hand\n"),
        "{}",
        told.said
    );
    let status = typed(&desk, &["--json status"]).await.expect("it is well").json();
    assert_eq!(status["runs"]["dead_letters"], 0);
    assert_eq!(status["runs"]["queued"], 0, "{status}");
    let status = typed(&desk, &["status"]).await.expect("it is well");
    assert!(
        status.said.contains("0 running, 0 retrying, 0 failed"),
        "{}",
        status.said
    );
}

#[tokio::test]
async fn a_strategy_that_cannot_run_is_reported_with_its_exit_code() {
    let root = TempDir::new().expect("a folder");
    let desk = desk(root.path(), &[]);
    let unknown = typed(&desk, &["runs start nobody"])
        .await
        .expect_err("there is none");
    assert_eq!(unknown.exit, Exit::NotFound);
    let hint = unknown.hint.expect("the names");
    let names = hint.strip_prefix("there are: ").expect("a list").split(", ");
    let page = include_str!("../../../../docs/consolidation.md");
    let (_, strategies) = page.split_once("\n## Strategies\n").expect("a chapter");
    let rows = strategies.lines().take_while(|line| !line.starts_with("## "));
    let mut rows: Vec<&str> = rows
        .filter_map(|line| line.strip_prefix("| `")?.split('`').next())
        .collect();
    rows.sort_unstable();
    assert_eq!(names.clone().collect::<Vec<_>>(), rows);
    for name in names {
        typed(&desk, &[&format!("runs start {name}")]).await.expect(name);
    }
    // A folder has the name of a page.
    let page = root.path().join("memory/default/default/users/me/USER.md");
    std::fs::create_dir_all(page).expect("a folder");
    let told = typed(
        &desk,
        &[
            LISBON,
            "runs start extract_user_profile",
            "--json runs start dream",
        ],
    )
    .await;
    let told = told.expect("it answers");
    assert_eq!(told.exit, Exit::Failed);
    let error = told.json()["runs"][0]["error"].clone();
    assert!(
        error.as_str().expect("a reason").contains(": "),
        "with its cause: {error}"
    );
    let status = typed(&desk, &["--json status"]).await.expect("it answers").json();
    assert_eq!(status["runs"]["failed"], 1);
}

fn draft(owner: &Owner, id: &str, name: &str) -> Entry {
    let (id, whose) = (EntryId::new(id), (Scope::default(), owner.clone()));
    let time = Timestamp::from_millis(1_772_442_000_000);
    Entry {
        labels: vec!["draft".to_owned()],
        confidence_percent: Some(75),
        subject: name.to_owned(),
        summary: "How to deploy.".to_owned(),
        body: "1. `run` on `deploy`".to_owned(),
        ..Entry::new(id, EntryKind::Skill, whose, time, Origin::Assistant)
    }
}

/// A world with an agent that has drafts of these names and ids.
async fn with_skill(desk: &Desk, drafts: &[(&str, &str)]) -> World {
    let world = World::open(&desk.root, &desk.loaded.config, desk.open_index, false).await;
    let world = world.expect("it opens");
    let owner = Owner::agent(Name::parse("assistant").expect("a name"));
    let put = drafts.iter().map(|(id, name)| draft(&owner, id, name));
    let curate = Curate::new(&Scope::default(), &owner, put.collect(), Vec::new());
    world.engine.curate(curate).await.expect("it is put");
    world
}

#[tokio::test]
async fn a_fact_is_shown_with_the_project_where_it_holds() {
    let root = TempDir::new().expect("a folder");
    let desk = desk(root.path(), &[]);
    let name = |name| Name::parse(name).expect("a name");
    let scope = Scope::new(name("default"), name("shop"));
    let owner = Owner::user(name("ana"));
    let world = World::open(&desk.root, &desk.loaded.config, desk.open_index, false);
    let world = world.await.expect("it opens");
    let fact = |id: &str, labels: &[&str]| Entry {
        kind: EntryKind::Fact,
        scope: scope.clone(),
        labels: labels.iter().map(|label| (*label).to_owned()).collect(),
        ..draft(&owner, id, "")
    };
    let put = vec![fact("af_1", &["project"]), fact("af_2", &[])];
    let curate = Curate::new(&scope, &owner, put, Vec::new());
    world.engine.curate(curate).await.expect("it is put");
    let get = "--user ana --project shop";
    let told = typed_in(&desk, world, &[&format!("get af_1 {get}")]).await;
    let only = told.expect("it is there").said;
    assert!(only.contains("\nholds only in project shop\n"), "{only}");
    let told = typed(&desk, &[&format!("get af_2 {get}")]).await;
    let everywhere = told.expect("it is there").said;
    assert!(
        everywhere.contains("\nholds in every project, from project shop\n"),
        "{everywhere}"
    );
}

#[tokio::test]
async fn a_skill_is_listed_shown_and_judged() {
    let root = TempDir::new().expect("a folder");
    let desk = desk(root.path(), &[]);
    let world = with_skill(&desk, &[("sk_1", "deploy")]).await;
    let told = typed_in(&desk, world, &["skill list"]).await.expect("it lists");
    assert_eq!(
        told.said,
        "draft      75 %  deploy\n      How to deploy.\n1 skill of assistant\n"
    );
    for (line, key, value) in [
        ("--json skill show deploy", "name", "deploy"),
        ("--json skill approve deploy", "status", "approved"),
        ("--json skill reject sk_1", "status", "rejected"),
    ] {
        let told = typed(&desk, &[line]).await.expect("it is there");
        assert_eq!(told.json()[key], value, "{line}");
    }
    let told = typed(&desk, &["--json skill list"]).await.expect("it lists");
    assert_eq!(told.json()["agent_skills"][0]["status"], "rejected");
    let missing = typed(&desk, &["skill show fly"])
        .await
        .expect_err("there is none");
    assert_eq!(missing.exit, Exit::NotFound);
}

#[test]
fn the_log_has_no_agent_requests_under_any_filter() {
    #[derive(Clone, Default)]
    struct Log(std::sync::Arc<parking_lot::Mutex<Vec<u8>>>);
    impl std::io::Write for Log {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().extend(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    for directives in ["debug", "trace,rmcp=trace", "rmcp::service=debug, info", ""] {
        let log = Log::default();
        let written = log.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_env_filter(super::log_filter(directives).expect("is a filter"))
            .with_writer(move || written.clone())
            .finish();
        tracing::subscriber::with_default(subscriber, || {
            tracing::debug!(target: "rmcp::service", "the code is Zebra");
            tracing::warn!(target: "rmcp::service", "started");
        });
        let log = String::from_utf8(log.0.lock().clone()).expect("is text");
        assert!(
            !log.contains("Zebra") && log.contains("started"),
            "{directives}: {log}"
        );
    }
}
