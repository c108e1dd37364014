//! Commands as they are typed, on a root with a real vault, ledger and history; the index is in memory.

use std::path::Path;
use std::sync::Arc;

use clap::Parser;
use engine::Curate;
use model::{EmbedderId, Entry, EntryId, EntryKind, Name, Origin, Owner, Scope, Timestamp};
use ports::{Index, IndexError};
use serde_json::Value;
use tempfile::TempDir;
use testkit::index::MemoryIndex;

use super::{Desk, history, import, memory, runs, skill, upkeep};
use crate::api::Api;
use crate::args::{Cli, Command};
use crate::config::load;
use crate::error::{Exit, Failure};
use crate::output::tests::SAID;
use crate::world::World;

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
    }
}

/// What the last of several commands came to.
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

/// Runs commands one after the other in one process.
pub(super) async fn typed(desk: &Desk, lines: &[&str]) -> Result<Told, Failure> {
    let world = World::open(&desk.root, &desk.loaded.config, desk.open_index).await?;
    typed_in(desk, world, lines).await
}

async fn typed_in(desk: &Desk, world: World, lines: &[&str]) -> Result<Told, Failure> {
    let api = Api::here(world);
    let mut exit = Ok(Exit::Ok);
    for line in lines {
        let words = std::iter::once("quipu").chain(line.split_whitespace());
        let cli = Cli::parse_from(words);
        let desk = &Desk {
            root: desk.root.clone(),
            loaded: load(&desk.root, []).expect("it is configured"),
            json: cli.json,
            ..*desk
        };
        SAID.take();
        exit = match cli.command {
            Command::Add(args) => memory::add(desk, &api, args).await,
            Command::Forget(args) => memory::forget(desk, &api, args).await,
            Command::Log(args) => history::log(desk, &api, args).await,
            Command::Diff(args) => history::diff(desk, &api, args).await,
            Command::Undo(args) => history::undo(desk, &api, args).await,
            Command::Audit(args) => history::audit(desk, &api, args).await,
            Command::Runs(args) => runs::list(desk, &api, args).await,
            Command::Trigger(args) => runs::trigger(desk, &api, args).await,
            Command::Skill(args) => skill::skill(desk, &api, args).await,
            Command::Status(args) => upkeep::status(desk, &api, args).await,
            Command::Sync => upkeep::sync(desk, &api).await,
            Command::Import(args) => import::import(desk, &api, args).await,
            other => panic!("{other:?}"),
        };
    }
    api.close().await;
    let said = SAID.take();
    exit.map(|exit| Told { exit, said })
}

const LISBON: &str = "add --flush I-live-in-Lisbon.";

#[tokio::test]
async fn runs_are_asked_for_listed_and_counted() {
    let root = TempDir::new().expect("a folder");
    let desk = desk(root.path(), &[]);
    let told = typed(&desk, &["runs"]).await.expect("it lists");
    assert_eq!(told.said, "nothing was done in the background yet\n");
    let status = typed(&desk, &[LISBON, "--json status"]).await;
    let status = status.expect("it is well").json();
    assert_eq!(
        status["runs"]["queued"], 1,
        "the profile waits for a quiet minute: {status}"
    );
    let told = typed(&desk, &["--json trigger extract_user_profile"]).await;
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
        status.said.contains("0 running, 0 to be tried again, 0 given up"),
        "{}",
        status.said
    );
}

#[tokio::test]
async fn what_cannot_be_run_is_said_and_has_its_exit_code() {
    let root = TempDir::new().expect("a folder");
    let desk = desk(root.path(), &[]);
    let unknown = typed(&desk, &["trigger nobody"])
        .await
        .expect_err("there is none");
    assert_eq!(unknown.exit, Exit::NotFound);
    let told = typed(&desk, &["trigger reflect_episodes"])
        .await
        .expect("it is off");
    assert_eq!(
        (told.exit, told.said.as_str()),
        (
            Exit::Ok,
            "nothing waits for `reflect_episodes`, or it is disabled\n"
        )
    );
    let told = typed(&desk, &["trigger --force reflect_episodes"])
        .await
        .expect("it runs");
    assert_eq!(told.exit, Exit::Ok);
    // A folder stands where a page would.
    let page = root.path().join("memory/default/default/users/me/USER.md");
    std::fs::create_dir_all(page).expect("a folder");
    let told = typed(
        &desk,
        &[LISBON, "trigger extract_user_profile", "--json trigger dream"],
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

/// A world whose agent has a draft of this name and id.
async fn with_skill(desk: &Desk, drafts: &[(&str, &str)]) -> World {
    let world = World::open(&desk.root, &desk.loaded.config, desk.open_index).await;
    let world = world.expect("it opens");
    let owner = Owner::agent(Name::parse("assistant").expect("a name"));
    let entry = |(id, name): &(&str, &str)| Entry {
        id: EntryId::new(*id),
        kind: EntryKind::Skill,
        scope: Scope::default(),
        owner: owner.clone(),
        session: None,
        time: Timestamp::from_millis(1_772_442_000_000),
        valid_from: None,
        valid_until: None,
        supersedes: Vec::new(),
        origin: Origin::Assistant,
        author: None,
        parent: None,
        sources: Vec::new(),
        senders: Vec::new(),
        labels: vec!["draft".to_owned()],
        confidence_percent: Some(75),
        subject: (*name).to_owned(),
        summary: "How to deploy.".to_owned(),
        body: "1. `run` on `deploy`".to_owned(),
        turns: Vec::new(),
    };
    let curate = Curate {
        scope: Scope::default(),
        owner: owner.clone(),
        put: drafts.iter().map(entry).collect(),
        remove: Vec::new(),
    };
    world.engine.curate(curate).await.expect("it is put");
    world
}

#[tokio::test]
async fn a_skill_is_listed_shown_and_judged() {
    let root = TempDir::new().expect("a folder");
    let desk = desk(root.path(), &[]);
    let world = with_skill(&desk, &[("sk_1", "deploy")]).await;
    let told = typed_in(&desk, world, &["skill list"]).await.expect("it lists");
    assert_eq!(
        told.said,
        "draft      75 %  deploy\n      How to deploy.\n1 skills of assistant\n"
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
