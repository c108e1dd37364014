//! `quipu doctor`: checks everything between an agent and its memory, and says what to do.
//!
//! Owns: which checks there are. Never: a repair, or a root where there is none.

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

/// How long a model server may take to answer.
const UPSTREAM_WAIT: Duration = Duration::from_secs(5);
/// How long a chat model may take for a short talk.
const TALK_WAIT: Duration = Duration::from_mins(1);
/// Where a failure without a hint is explained.
const LOG: &str = "see the server's log";
/// Below this, writes may soon fail.
const FREE_BYTES_MIN: u64 = 500 << 20;

/// What was found.
#[derive(Debug, Default)]
pub(super) struct CheckReport(Vec<CheckRow>);

#[derive(Debug)]
struct CheckRow {
    check: &'static str,
    text: String,
    /// What to do; none: all is well.
    remedy: Option<String>,
}

impl CheckReport {
    /// What a check found: all is well, or a problem with its remedy.
    fn add(&mut self, check: &'static str, found: Result<String, (String, String)>) {
        let (text, remedy) = match found {
            Ok(text) => (text, None),
            Err((text, remedy)) => (text, Some(remedy)),
        };
        self.0.push(CheckRow { check, text, remedy });
    }

    fn well(&mut self, check: &'static str, text: impl Into<String>) {
        self.add(check, Ok(text.into()));
    }

    fn problem(&mut self, check: &'static str, text: impl Into<String>, remedy: impl Into<String>) {
        self.add(check, Err((text.into(), remedy.into())));
    }

    fn failure(&mut self, check: &'static str, failure: &Failure, remedy: &str) {
        let remedy = failure.hint.as_deref().unwrap_or(remedy);
        self.problem(check, format!("{:#}", failure.error), remedy);
    }

    pub(super) fn show(&self, as_json: bool) -> Result<Exit, Failure> {
        let problems = self.0.iter().filter(|row| row.remedy.is_some()).count();
        if as_json {
            let rows = self.0.iter();
            let rows = rows.map(|row| json!({"check": row.check, "text": row.text, "remedy": row.remedy}));
            output::json(&json!({"problems": problems, "checks": rows.collect::<Vec<_>>()}))?;
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

/// Checks a root whose configuration cannot be used; without one, nothing else can be known.
pub(super) fn unconfigured(failure: &Failure, as_json: bool) -> Result<Exit, Failure> {
    let mut report = CheckReport::default();
    let remedy = "correct it; docs/quipu.example.toml shows every setting";
    report.failure("configuration", failure, remedy);
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
    let mut given = format!("{} is used", file.display());
    if !file.exists() {
        given = format!(
            "{} is not there: all settings have their defaults",
            file.display()
        );
    }
    report.well("configuration", given);
    root(&mut report, &desk.root);
    server(&mut report, desk).await;
    if desk.root.join(serving::LEDGER).exists() {
        memory(&mut report, desk).await;
    } else {
        report.well("memory", "nothing is stored yet");
    }
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    for keys in &config.proxy.upstreams {
        model_server(&mut report, ("upstream", "proxy.upstreams"), keys, &clock, file).await;
    }
    let chat = &config.chat;
    if !chat.model.is_empty() {
        let keys = Upstream {
            base_url: chat.base_url.clone(),
            api_key: chat.api_key.clone(),
            ..Upstream::default()
        };
        if model_server(&mut report, ("chat model", "chat"), &keys, &clock, file).await {
            chat_model(&mut report, config, &clock).await;
        }
    }
    connected(&mut report, place);
    report
}

fn root(report: &mut CheckReport, root: &Path) {
    let root = &std::path::absolute(root).unwrap_or_else(|_| root.to_owned());
    let shown = root.display();
    let there = root.ancestors().find(|folder| folder.exists()).unwrap_or(root);
    let mode = root
        .metadata()
        .map_or(0, |about| about.permissions().mode() & 0o777);
    match mode & 0o077 {
        _ if there != root => report.well("root", format!("{shown} is not there yet")),
        0 => report.well("root", format!("{shown}, closed to others")),
        _ => {
            let text = format!("{shown} is open to other users of this machine (mode {mode:o})");
            report.problem("root", text, format!("chmod 700 '{shown}'"));
        }
    }
    let about = match rustix::fs::statvfs(there) {
        Ok(about) => about,
        Err(error) => {
            let text = format!("{shown} cannot be asked: {error}");
            return report.problem("disk", text, "check the file system");
        }
    };
    let free = about.f_bavail.saturating_mul(about.f_frsize);
    let text = format!("{:.1} GB are free at {shown}", free as f64 / 1e9);
    if about.f_flag.contains(rustix::fs::StatVfsMountFlags::RDONLY) {
        let text = format!("{shown} is on a read-only disk: writes are refused");
        report.problem("disk", text, what_to_do(NoRoom::ReadOnly));
    } else if free < FREE_BYTES_MIN {
        report.problem("disk", text, "free some space, or move the root with --root DIR");
    } else {
        report.well("disk", text);
    }
}

async fn server(report: &mut CheckReport, desk: &Desk) {
    let listen = &desk.loaded.config.server.listen;
    let health = match Api::beside(desk) {
        Ok(Some(api)) => api.health().await,
        Ok(None) => return report_port(report, listen),
        Err(failure) => Err(failure),
    };
    match health {
        Ok(health) => {
            let address = serving::find(&desk.root).map(|address| address.to_string());
            report_version(report, address.as_ref().unwrap_or(listen), &health.version);
        }
        Err(failure) => report.failure("server", &failure, LOG),
    }
}

fn report_version(report: &mut CheckReport, address: &str, version: &str) {
    let here = env!("CARGO_PKG_VERSION");
    if version == here {
        let text = format!("http://{address} serves this root, version {here}");
        return report.well("server", text);
    }
    let text = format!("http://{address} has version {version}, this program has {here}");
    report.problem("server", text, "stop the server, and start `quipu serve` again");
}

/// Without a server of this root, another program may have its port.
fn report_port(report: &mut CheckReport, listen: &str) {
    let Ok(address) = listen.parse::<SocketAddr>() else {
        let text = format!("server.listen: `{listen}` is not an address");
        return report.problem("server", text, "set server.listen as in `127.0.0.1:4777`");
    };
    let (ip, next) = (address.ip(), address.port().wrapping_add(1));
    let found = match TcpListener::bind(address) {
        Ok(_) => Ok(format!("none runs; {address} is free for `quipu serve`")),
        Err(error) => Err((
            format!("none runs for this root, and {address} cannot be used: {error}"),
            format!("quipu serve --listen {ip}:{next}"),
        )),
    };
    report.add("server", found);
}

/// What the engine knows of itself.
async fn memory(report: &mut CheckReport, desk: &Desk) {
    let api = match Api::open(desk).await {
        Ok(api) => api,
        Err(failure) => return report.failure("memory", &failure, LOG),
    };
    // Before the files are read, nothing is known of those that changed.
    let synced = api.post::<SyncedData>("/index/sync", &NOTHING).await;
    let health = api.health().await;
    api.close().await;
    if let Err(failure) = synced {
        report.failure("memory", &failure, LOG);
    }
    let health = match health {
        Ok(health) => health,
        Err(failure) => return report.failure("memory", &failure, LOG),
    };
    if health.problems.is_empty() {
        let files = counted(health.files, "Markdown file", "Markdown files");
        let rows = counted(health.index.rows, "row", "rows");
        report.well("memory", format!("{files}, {rows} in the index"));
    }
    if let Some(day) = &health.newest_ledger_copy {
        report.well("copy", format!("the newest daily copy of the ledger is of {day}"));
    }
    for problem in &health.problems {
        report.problem("memory", problem, command_in(problem).unwrap_or("quipu status"));
    }
}

/// The last command that a text names.
fn command_in(text: &str) -> Option<&str> {
    let quoted = text.split('`').skip(1).step_by(2);
    quoted.filter(|quoted| quoted.starts_with("quipu ")).last()
}

/// Asks a model server, whose settings stand in `section` of the configuration, and whether it answers.
async fn model_server(
    report: &mut CheckReport,
    (check, section): (&'static str, &str),
    keys: &Upstream,
    clock: &Arc<dyn Clock>,
    file: &Path,
) -> bool {
    let route = match upstreams::route(keys, clock) {
        Ok(route) => route,
        Err(failure) => {
            report.failure(check, &failure, LOG);
            return false;
        }
    };
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
    let found = match answer.map(|answer| answer.status) {
        Err(reason) => Err((
            format!("{name}: {reason}"),
            format!("start the model server, or correct {section} in {file}"),
        )),
        Ok(status @ (401 | 403)) => Err((
            format!("{name} refuses the key (status {status})"),
            format!("set its api_key in {section} in {file}"),
        )),
        Ok(_) => {
            let probed = upstream.probe().await;
            let kind = decide(route.kind, probed.kind, &name);
            let window = route.window_tokens.or(probed.window_tokens);
            Ok(format!("{name}: {}", described(kind, window, &probed)))
        }
    };
    let is_answered = found.is_ok();
    report.add(check, found);
    is_answered
}

/// Whether the chat model finds in a short talk what was said there.
async fn chat_model(report: &mut CheckReport, config: &Config, clock: &Arc<dyn Clock>) {
    const CHECK: &str = "chat model";
    let model = &config.chat.model;
    let chat = match world::chat_client(model, config, clock) {
        Ok(chat) => chat,
        Err(failure) => return report.failure(CHECK, &failure, LOG),
    };
    let tried = tokio::select! {
        tried = memory::try_model(&chat) => tried.map_err(|trouble| format!("{:#}", anyhow::Error::new(trouble))),
        () = clock.sleep(TALK_WAIT) => Err(format!("no answer about a short talk within {} s", TALK_WAIT.as_secs())),
    };
    let is_good_enough = tried.as_ref().is_ok_and(|trial| trial.is_good_enough());
    let text = tried.map_or_else(
        |reason| format!("{model}: {reason}"),
        |trial| {
            let (said, stated, left_out) = (trial.said, trial.stated, trial.left_out);
            format!(
                "{model} found {said} of {stated} statements of a short talk, and made {left_out} that were not said there"
            )
        },
    );
    if is_good_enough {
        report.well(CHECK, text);
    } else {
        let remedy = "choose another chat.model; until then nearly all memory is made by the rules, as without a model";
        report.problem(CHECK, text, remedy);
    }
}

/// A model server in words: kind, dialect, window, cache, model.
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
        report.well("clients", "none is connected; `quipu init` connects them");
    }
    for file in &wired {
        report.add("clients", client(file, place));
    }
}

/// Whether a client's file starts this program, and once.
fn client(wired: &WiredFile, place: &InitPlace) -> Result<String, (String, String)> {
    let (name, title, file) = (&wired.client.name, &wired.client.title, wired.file.display());
    if let Some(why) = &wired.broken {
        let remedy = format!("correct {file}: the client cannot read it either");
        return Err((format!("{title}: {file}: {why}"), remedy));
    }
    let programs: BTreeSet<&str> = wired.commands.iter().map(|command| &*command.program).collect();
    for program in programs {
        if let Some(why) = why_broken(program, place) {
            let text = format!("{title}: {file} starts `{program}`, which {why}");
            return Err((text, format!("quipu init --undo && quipu init --client {name}")));
        }
    }
    match wired.commands.iter().filter(|command| !command.is_hook).count() {
        0 | 1 => Ok(format!("{title}: {file}")),
        servers => Err((
            format!("{title}: {file} starts {servers} servers of Quipu"),
            format!("remove all but one of them from {file}"),
        )),
    }
}

/// Why a client's program does not run; none if it does.
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
