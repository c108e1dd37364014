//! `quipu doctor`: checks everything between an agent and its memory, and suggests fixes.
//!
//! Owns: the list of checks. Never: a repair, or a root in a folder without one.

use std::collections::BTreeSet;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use gateway::wire::SyncedData;
use model::text::counted;
use ports::{Clock, NoRoom, Probed, UpstreamRequest};
use prefix::backend::{CacheModel, Kind, decide};
use serde::Serialize;
use serde_json::json;

use super::init::InitPlace;
use super::{Desk, runtime};
use crate::api::{Api, NOTHING};
use crate::clients::{self, ClientMachine, WiredFile};
use crate::clock::SystemClock;
use crate::config::{Config, LoadedConfig, Upstream};
use crate::error::{Exit, Failure, what_to_do};
use crate::output::{self, say};
use crate::serving;
use crate::{upstreams, world};

/// Maximum time for an answer of a model server.
const UPSTREAM_WAIT: Duration = Duration::from_secs(5);
/// Maximum time of the chat model for a short conversation.
const TALK_WAIT: Duration = Duration::from_mins(1);
/// With less free space, writes may soon fail.
const FREE_BYTES_MIN: u64 = 500 << 20;

/// The results of the checks.
#[derive(Debug, Default)]
pub(super) struct CheckReport(Vec<CheckRow>);

#[derive(Debug, Serialize)]
struct CheckRow {
    check: &'static str,
    text: String,
    /// The suggested fix; None: no problem.
    remedy: Option<String>,
}

impl CheckReport {
    /// Adds the result of a check: a description, or a problem with its remedy. A problem without one refers to the log.
    fn add(&mut self, check: &'static str, found: Result<String, Failure>) {
        let (text, remedy) = match found {
            Ok(text) => (text, None),
            Err(Failure { error, hint, .. }) => (
                format!("{error:#}"),
                Some(hint.unwrap_or_else(|| "see the server's log".to_owned())),
            ),
        };
        self.0.push(CheckRow { check, text, remedy });
    }

    pub(super) fn show(&self, as_json: bool) -> Result<Exit, Failure> {
        let problems = self.0.iter().filter(|row| row.remedy.is_some()).count();
        if as_json {
            output::json(&json!({"problems": problems, "checks": self.0}))?;
        } else {
            for row in &self.0 {
                let mark = if row.remedy.is_some() { "problem" } else { "ok" };
                say!("{mark:<8} {:<14} {}", row.check, row.text)?;
                if let Some(remedy) = &row.remedy {
                    say!("{:<23} -> {remedy}", "")?;
                }
            }
            match problems {
                0 => say!("no problem found")?,
                some => say!("{}", counted(some, "problem found", "problems found"))?,
            }
        }
        Ok(Exit::done(problems == 0))
    }
}

/// A problem with its remedy.
fn problem(text: impl std::fmt::Display, remedy: impl Into<String>) -> Failure {
    Failure::failed(text).hint(remedy)
}

/// Reports a root with an unusable configuration; without a configuration, no other check can run.
pub(super) fn unconfigured(failure: Failure, as_json: bool) -> Result<Exit, Failure> {
    let mut report = CheckReport::default();
    let remedy = || "correct it; docs/quipu.example.toml shows every setting".to_owned();
    let hint = failure.hint.clone().unwrap_or_else(remedy);
    report.add("configuration", Err(failure.hint(hint)));
    report.show(as_json)
}

pub(super) fn doctor(desk: &Desk) -> Result<Exit, Failure> {
    let place = InitPlace::here()?;
    let report = runtime()?.block_on(report(desk, &place));
    report.show(desk.json)
}

pub(super) async fn report(desk: &Desk, place: &InitPlace) -> CheckReport {
    let mut report = CheckReport::default();
    let LoadedConfig { config, file, .. } = &desk.loaded;
    let used = if file.exists() {
        "is used"
    } else {
        "is not there: all settings have their defaults"
    };
    report.add("configuration", Ok(format!("{} {used}", file.display())));
    let root = std::path::absolute(&desk.root).unwrap_or_else(|_| desk.root.clone());
    report.add("root", closed(&root));
    report.add("disk", room(&root));
    report.add("server", server(desk).await);
    if !desk.root.join(serving::LEDGER).exists() {
        report.add("memory", Ok("nothing is stored yet".to_owned()));
    } else if let Err(failure) = memory(&mut report, desk).await {
        report.add("memory", Err(failure));
    }
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    for keys in &config.proxy.upstreams {
        let found = model_server("proxy.upstreams", keys, &clock, file).await;
        report.add("upstream", found);
    }
    let chat = &config.chat;
    if !chat.model.is_empty() {
        let keys = Upstream {
            base_url: chat.base_url.clone(),
            api_key: chat.api_key.clone(),
            ..Upstream::default()
        };
        let found = model_server("chat", &keys, &clock, file).await;
        let is_answered = found.is_ok();
        report.add("chat model", found);
        if is_answered {
            report.add("chat model", chat_model(config, &clock).await);
        }
    }
    connected(&mut report, place);
    report
}

fn closed(root: &Path) -> Result<String, Failure> {
    let shown = root.display();
    let Ok(about) = root.metadata() else {
        return Ok(format!("{shown} is not there yet"));
    };
    let mode = about.permissions().mode() & 0o777;
    match mode & 0o077 {
        0 => Ok(format!("{shown}, closed to others")),
        _ => Err(problem(
            format!("{shown} is open to other users of this machine (mode {mode:o})"),
            format!("chmod 700 '{shown}'"),
        )),
    }
}

fn room(root: &Path) -> Result<String, Failure> {
    let shown = root.display();
    let there = root.ancestors().find(|folder| folder.exists()).unwrap_or(root);
    let unknown = |error| {
        problem(
            format!("{shown} cannot be asked: {error}"),
            "check the file system",
        )
    };
    let about = rustix::fs::statvfs(there).map_err(unknown)?;
    let free = about.f_bavail.saturating_mul(about.f_frsize);
    let text = format!("{:.1} GB are free at {shown}", free as f64 / 1e9);
    if about.f_flag.contains(rustix::fs::StatVfsMountFlags::RDONLY) {
        let text = format!("{shown} is on a read-only disk: writes are refused");
        return Err(problem(text, what_to_do(NoRoom::ReadOnly)));
    }
    if free < FREE_BYTES_MIN {
        return Err(problem(text, "free some space, or move the root with --root DIR"));
    }
    Ok(text)
}

async fn server(desk: &Desk) -> Result<String, Failure> {
    let listen = &desk.loaded.config.server.listen;
    let Some(api) = Api::beside(desk)? else {
        return port(listen);
    };
    let version = api.health().await?.version;
    let address = serving::find(&desk.root).map(|address| address.to_string());
    served(address.as_ref().unwrap_or(listen), &version)
}

fn served(address: &str, version: &str) -> Result<String, Failure> {
    let here = env!("CARGO_PKG_VERSION");
    if version == here {
        return Ok(format!("http://{address} serves this root, version {here}"));
    }
    let text = format!("http://{address} has version {version}, this program has {here}");
    Err(problem(text, "stop the server, and start `quipu serve` again"))
}

/// Checks the port: without a server of this root, another program may use it.
fn port(listen: &str) -> Result<String, Failure> {
    let wrong = |_| {
        let text = format!("server.listen: `{listen}` is not an address");
        problem(text, "set server.listen as in `127.0.0.1:4777`")
    };
    let address: SocketAddr = listen.parse().map_err(wrong)?;
    let taken = |error| {
        let (ip, next) = (address.ip(), address.port().wrapping_add(1));
        let text = format!("none runs for this root, and {address} cannot be used: {error}");
        problem(text, format!("quipu serve --listen {ip}:{next}"))
    };
    TcpListener::bind(address).map_err(taken)?;
    Ok(format!("none runs; {address} is free for `quipu serve`"))
}

/// Checks the health that the engine reports.
async fn memory(report: &mut CheckReport, desk: &Desk) -> Result<(), Failure> {
    let api = Api::open(desk).await?;
    // Changes of the files show only after a sync.
    let synced = api.post::<SyncedData>("/index/sync", &NOTHING).await;
    let health = api.health().await;
    api.close().await;
    if let Err(failure) = synced {
        report.add("memory", Err(failure));
    }
    let health = health?;
    if health.problems.is_empty() {
        let files = counted(health.files, "Markdown file", "Markdown files");
        let rows = counted(health.index.rows, "row", "rows");
        report.add("memory", Ok(format!("{files}, {rows} in the index")));
    }
    if let Some(day) = &health.newest_ledger_copy {
        let text = format!("the newest daily copy of the ledger is of {day}");
        report.add("copy", Ok(text));
    }
    for found in &health.problems {
        let remedy = command_in(found).unwrap_or("quipu status");
        report.add("memory", Err(problem(found, remedy)));
    }
    Ok(())
}

/// The last command in a text.
fn command_in(text: &str) -> Option<&str> {
    let quoted = text.split('`').skip(1).step_by(2);
    quoted.filter(|quoted| quoted.starts_with("quipu ")).last()
}

/// Probes a model server with the settings in `section` of the configuration, and describes it.
async fn model_server(
    section: &str,
    keys: &Upstream,
    clock: &Arc<dyn Clock>,
    file: &Path,
) -> Result<String, Failure> {
    let route = upstreams::route(keys, clock)?;
    let (upstream, file) = (route.upstream, file.display());
    let name = upstream.base_url().to_owned();
    let request = UpstreamRequest {
        method: "GET".to_owned(),
        body: None,
        path: "models".to_owned(),
        headers: Vec::new(),
    };
    let answer = tokio::select! {
        answer = upstream.send(request) => answer.map_err(|error| error.to_string()),
        () = clock.sleep(UPSTREAM_WAIT) => Err(format!("no answer within {} s", UPSTREAM_WAIT.as_secs())),
    };
    match answer.map(|answer| answer.status) {
        Err(reason) => Err(problem(
            format!("{name}: {reason}"),
            format!("start the model server, or correct {section} in {file}"),
        )),
        Ok(status @ (401 | 403)) => Err(problem(
            format!("{name} refuses the key (status {status})"),
            format!("set its api_key in {section} in {file}"),
        )),
        Ok(_) => {
            let probed = upstream.probe().await;
            let kind = decide(route.kind, probed.kind, &name);
            let window = route.window_tokens.or(probed.window_tokens);
            Ok(format!("{name}: {}", described(kind, window, &probed)))
        }
    }
}

/// Checks how many statements of a short conversation the chat model finds.
async fn chat_model(config: &Config, clock: &Arc<dyn Clock>) -> Result<String, Failure> {
    let model = &config.chat.model;
    let chat = world::chat_client(model, config, clock)?;
    let tried = tokio::select! {
        tried = memory::try_model(&chat) => tried.map_err(|trouble| format!("{:#}", anyhow::Error::new(trouble))),
        () = clock.sleep(TALK_WAIT) => Err(format!("no answer about a short talk within {} s", TALK_WAIT.as_secs())),
    };
    let poor = |text: String| {
        let remedy = "choose another chat.model; until then nearly all memory is made by the rules, as without a model";
        problem(text, remedy)
    };
    let trial = tried.map_err(|reason| poor(format!("{model}: {reason}")))?;
    let (said, stated, left_out) = (trial.said, trial.stated, trial.left_out);
    let text = format!(
        "{model} found {said} of {stated} statements of a short talk, and made {left_out} that were not said there"
    );
    if trial.is_good_enough() {
        Ok(text)
    } else {
        Err(poor(text))
    }
}

/// Describes a model server: kind, dialect, window, cache, model.
fn described(kind: Kind, window: Option<usize>, probed: &Probed) -> String {
    let dialect = match kind {
        Kind::Anthropic => "Anthropic",
        _ => "OpenAI",
    };
    let window = match window {
        None => "window unknown (context_tokens sets it)".to_owned(),
        Some(tokens) => format!("window of {tokens} tokens"),
    };
    let cache = match kind.profile().cache {
        _ if !kind.is_known() => "prompt cache unknown".to_owned(),
        CacheModel::Rewindable => "caches every common beginning".to_owned(),
        CacheModel::Blocks {
            tokens: 1,
            tokens_min,
        } => {
            format!("caches common beginnings of at least {tokens_min} tokens")
        }
        CacheModel::Blocks { tokens, .. } => format!("caches blocks of {tokens} tokens"),
    };
    let model = probed.model.as_ref().map(|model| format!(", model {model}"));
    let (kind, model) = (kind.as_str(), model.unwrap_or_default());
    format!("{kind}, {dialect} dialect, {window}, {cache}{model}")
}

fn connected(report: &mut CheckReport, place: &InitPlace) {
    let wired = clients::wired(&place.machine);
    if wired.is_empty() {
        let none = "none is connected; `quipu init` connects them".to_owned();
        report.add("clients", Ok(none));
    }
    for file in &wired {
        report.add("clients", client(file, place));
    }
}

/// Checks that a client's file starts this program, and starts it once.
fn client(wired: &WiredFile, place: &InitPlace) -> Result<String, Failure> {
    let (name, title, file) = (&wired.client.name, &wired.client.title, wired.file.display());
    if let Some(why) = &wired.broken {
        let remedy = format!("correct {file}: the client cannot read it either");
        return Err(problem(format!("{title}: {file}: {why}"), remedy));
    }
    let programs: BTreeSet<&str> = wired.commands.iter().map(|command| &*command.program).collect();
    for program in programs {
        if let Some(why) = why_broken(program, place) {
            let text = format!("{title}: {file} starts `{program}`, which {why}");
            let remedy = format!("quipu init --undo && quipu init --client {name}");
            return Err(problem(text, remedy));
        }
    }
    match wired.commands.iter().filter(|command| !command.is_hook).count() {
        0 | 1 => Ok(format!("{title}: {file}")),
        servers => Err(problem(
            format!("{title}: {file} starts {servers} servers of Quipu"),
            format!("remove all but one of them from {file}"),
        )),
    }
}

/// The reason why a client's program does not run; `None` if it runs.
fn why_broken(program: &str, place: &InitPlace) -> Option<String> {
    let Some(path) = found(program, &place.machine) else {
        return Some("is not there".to_owned());
    };
    if path.canonicalize().ok() == place.program.canonicalize().ok() {
        return None;
    }
    match Command::new(&path).arg("--version").output() {
        Err(error) => Some(format!("does not run: {error}")),
        Ok(output) if output.status.success() && output.stdout.starts_with(b"quipu ") => None,
        Ok(_) => Some("is another program".to_owned()),
    }
}

fn found(program: &str, machine: &ClientMachine) -> Option<PathBuf> {
    if program.contains('/') {
        let path = PathBuf::from(program);
        return path.exists().then_some(path);
    }
    machine.program(program)
}

#[cfg(test)]
mod tests;
