//! The binary under test with a temporary root of its own; dropping this deletes the root.
//!
//! Owns: its environment, its commands, the requests other than turns. Never: a word of an answer in an
//! error, since it may be private.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anyhow::{Context, anyhow, bail, ensure};
use gateway::wire::owners::OwnersData;
use gateway::wire::review::{Belief, ReviewData};
use gateway::wire::{AddRequest, Envelope};
use model::percent_encoded;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::turn::door::{Door, InjectedText, Person};

/// The user of a root in which nobody else has memory.
pub(super) const DEFAULT_USER: &str = "me";
/// App of the proxy's requests and of this measurement.
const APP: &str = "default";
pub(super) const PROJECT: &str = "default";

/// Statements on a page of a review.
const PAGE: usize = 100;

/// Maximum time of a strategy, in seconds.
const STRATEGY_S: u64 = 600;

pub(super) struct Product {
    door: Door,
    binary: PathBuf,
    home: TempDir,
}

impl Product {
    pub(super) async fn open(binary: &Path) -> anyhow::Result<Self> {
        let home = tempfile::tempdir()?;
        Ok(Self {
            door: Door::of(apart(binary, home.path()), 1).await?,
            binary: binary.to_owned(),
            home,
        })
    }

    /// Runs `quipu import` on a file and returns the number of skipped items.
    pub(super) async fn import(&self, export: &Path, user: Option<&str>) -> anyhow::Result<usize> {
        ensure!(export.exists(), "there is no `{}`", export.display());
        let mut arguments: Vec<OsString> = ["--json", "import"].map(OsString::from).into();
        if let Some(user) = user {
            arguments.extend(["--user", user].map(OsString::from));
        }
        arguments.extend(["--".into(), export.as_os_str().to_owned()]);
        let output = self.command(arguments).await?;
        if let Some(why) = refusal(&output) {
            let path = export.display();
            bail!(
                "`quipu import` reads nothing, or not all, of `{path}` {why}; `quipu --root NEW_FOLDER import {path}` says more"
            );
        }
        self.door.server().settled().await?;
        let told: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        Ok(told["skipped"].as_array().map_or(0, Vec::len))
    }

    /// A person of the import with a project. The person is the named one; without a name, the only one or
    /// the default user. Of several projects, the one with most memories.
    pub(super) async fn person(&self, user: Option<&str>) -> anyhow::Result<Person> {
        let text = unshown(self.door.server().get("owners").await, "owners")?;
        let Envelope { data, .. }: Envelope<OwnersData> =
            unshown(serde_json::from_str(&text).map_err(Into::into), "owners")?;
        person_of(&data, user)
    }

    /// The person's export, as `quipu export` writes it.
    pub(super) async fn export(&self, person: &Person) -> anyhow::Result<String> {
        let (user, project) = (percent_encoded(&person.user), percent_encoded(&person.project));
        let route = format!("memory/export?user_id={user}&project_id={project}");
        unshown(self.door.server().get(&route).await, "memory/export")
    }

    /// Numbers of facts and of statements in doubt.
    pub(super) async fn believed(&self, person: &Person) -> anyhow::Result<(usize, usize)> {
        let (mut facts, mut in_doubt, mut skip) = (0, 0, 0);
        loop {
            let body =
                json!({"user_id": person.user, "project_id": person.project, "skip": skip, "limit": PAGE});
            let mut answer = unshown(self.door.server().post("review", &body).await, "memory/review")?;
            let page: ReviewData = unshown(
                serde_json::from_value(answer["data"].take()).map_err(Into::into),
                "memory/review",
            )?;
            let doubts = page.statements.iter().filter(|one| one.belief == Belief::Doubt);
            let doubts = doubts.count();
            in_doubt += doubts;
            facts += page.statements.len() - doubts;
            skip += page.statements.len();
            if page.statements.is_empty() || skip >= page.total_count {
                return Ok((facts, in_doubt));
            }
        }
    }

    /// Runs a strategy to its end.
    pub(super) async fn trigger(&self, strategy: &str) -> anyhow::Result<()> {
        let body = json!({"name": strategy, "timeout": STRATEGY_S, "force": true});
        unshown(
            self.door.server().post_to("ome/trigger", &body).await,
            "ome/trigger",
        )?;
        Ok(())
    }

    /// Adds messages and waits until memory has processed them.
    pub(super) async fn add(&self, said: &[AddRequest]) -> anyhow::Result<()> {
        let server = self.door.server();
        for add in said {
            unshown(
                server.post("add", &serde_json::to_value(add)?).await,
                "memory/add",
            )?;
            let place = json!({"session_id": add.session_id, "wait": true});
            unshown(server.post("flush", &place).await, "memory/flush")?;
        }
        server.settled().await?;
        Ok(())
    }

    /// Turns that got memory only when they were repeated.
    pub(super) fn repeated(&self) -> u64 {
        self.door.repeated()
    }

    /// A first turn; none if the server refuses it.
    pub(super) async fn ask(&self, person: &Person, question: &str) -> Option<InjectedText> {
        self.door.ask(person, question).await.ok()
    }

    /// The places that `quipu search` prints.
    pub(super) async fn printed(&self, person: &Person, question: &str) -> anyhow::Result<Vec<String>> {
        let fixed = [
            "search",
            "--user",
            &person.user,
            "--project",
            &person.project,
            "--",
            question,
        ];
        let output = self.command(fixed.map(OsString::from).into()).await?;
        ensure!(output.status.success(), "`quipu search` failed");
        Ok(places(&String::from_utf8_lossy(&output.stdout)))
    }

    /// Runs a command on the root; it works through the root's server.
    async fn command(&self, arguments: Vec<OsString>) -> anyhow::Result<Output> {
        let mut command = apart(&self.binary, self.home.path());
        command.arg("--quiet").arg("--root").arg(self.door.root());
        command
            .args(arguments)
            .stdin(Stdio::null())
            .stderr(Stdio::piped());
        Ok(tokio::task::spawn_blocking(move || command.output()).await??)
    }
}

/// The binary without the machine's settings of Quipu and without the home folder. No background run starts
/// by itself, so equal runs give equal figures.
fn apart(binary: &Path, home: &Path) -> Command {
    let mut command = Command::new(binary);
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("QUIPU_") {
            command.env_remove(name);
        }
    }
    let quiet = ("QUIPU_CONSOLIDATION__QUIET", "true");
    command.envs([quiet, ("NO_COLOR", "1")]).env("HOME", home);
    command.stderr(Stdio::null());
    command
}

/// Replaces an error by one that has no word of the answer.
fn unshown<T>(outcome: anyhow::Result<T>, route: &str) -> anyhow::Result<T> {
    outcome.map_err(|_| {
        anyhow!("the server under test failed at `{route}`; its words may be yours and are not shown")
    })
}

/// Why an import stored nothing or broke off, without a word of the file: the exit code, and the line number
/// if a refusal or the first skipped item has one. None if the import stored everything it did not skip.
pub(super) fn refusal(output: &Output) -> Option<String> {
    let value = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).unwrap_or_default();
    let (told, error) = (value(&output.stdout), value(&output.stderr)["error"].take());
    let is_stored = ["messages", "memories"]
        .iter()
        .any(|what| told[what].as_u64() > Some(0));
    if is_stored && error.is_null() {
        return None;
    }
    let exit = output.status.code();
    let code = exit.map_or_else(String::new, |code| format!("with exit code {code}"));
    let skipped = &told["skipped"][0];
    let texts = [&error["message"], &skipped["what"], &skipped["why"]].map(|text| text.as_str());
    let line = texts.into_iter().flatten().find_map(line_of);
    Some(line.map_or(code.clone(), |line| format!("{code}, at line {line}")))
}

/// The number after the word `line`.
fn line_of(message: &str) -> Option<u64> {
    let mut words = message.split(|c: char| !c.is_alphanumeric());
    words.find(|word| *word == "line")?;
    words.next()?.parse().ok()
}

/// The person among the owners of memory. Errors count users and name none.
pub(super) fn person_of(data: &OwnersData, user: Option<&str>) -> anyhow::Result<Person> {
    let users = data
        .owners
        .iter()
        .filter(|one| one.kind == "user" && one.app_id == APP);
    let all: std::collections::BTreeSet<&str> = users.clone().map(|one| &*one.id).collect();
    let user = match user {
        Some(user) => user,
        None if all.contains(DEFAULT_USER) => DEFAULT_USER,
        None if all.len() == 1 => all.first().copied().context("one")?,
        None if all.is_empty() => bail!("the export has nothing that a person said"),
        None => bail!(
            "{} people speak in the export: name yours with `--user`",
            all.len()
        ),
    };
    let projects = users.filter(|one| one.id == user);
    let most = projects.max_by_key(|one| one.memories + one.waiting);
    let most = most.with_context(|| {
        format!("none of the {} people in the export has the id of `--user`; import it into a new root, there `quipu status users` lists the ids", all.len())
    })?;
    Ok(Person {
        user: user.to_owned(),
        project: most.project_id.clone(),
        sessions: Vec::new(),
    })
}

/// Each printed place as one line. A place begins with its number; its other lines are indented as far as its
/// words.
pub(super) fn places(printed: &str) -> Vec<String> {
    let mut places: Vec<String> = Vec::new();
    for line in printed.lines() {
        if begins_place(line) {
            places.push(line.to_owned());
        } else if let Some(last) = places.last_mut() {
            last.push(' ');
            last.push_str(line);
        }
    }
    let squeezed = places
        .iter()
        .map(|place| place.split_whitespace().collect::<Vec<_>>().join(" "));
    squeezed.collect()
}

/// A number, a full stop and a blank, in the first four columns.
fn begins_place(line: &str) -> bool {
    line.get(..4).is_some_and(|mark| {
        let number = mark.trim_start().strip_suffix(". ");
        number.is_some_and(|number| !number.is_empty() && number.chars().all(|c| c.is_ascii_digit()))
    })
}
