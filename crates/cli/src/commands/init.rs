//! `quipu init`: connects the agents of this machine with Quipu, and takes that back.
//!
//! Owns: which clients, what a person sees, and their consent. Never: a client's file; `clients` knows and edits them.

use std::io::IsTerminal;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde_json::json;
use text::counted;

use super::Desk;
use crate::args::{DEFAULT_USER, DoorArg, InitArgs};
use crate::clients::{
    self, AgentClient, CLIENTS, ChangeStore, ClientDoor, ClientMachine, ClientPlan, ConfigChange,
    RestoredFile, StoreError, Wiring, unified,
};
use crate::environment;
use crate::error::{Exit, Failure};
use crate::output::{self, say};
use crate::private;

/// The folder of the root that knows what was changed.
const FOLDER: &str = "init";

/// The machine that clients are connected on.
#[derive(Debug)]
pub(super) struct InitPlace {
    pub(super) machine: ClientMachine,
    /// This program.
    pub(super) program: PathBuf,
    pub(super) default_root: PathBuf,
}

impl InitPlace {
    pub(super) fn here() -> Result<Self, Failure> {
        let homeless = || Failure::usage("no home folder found").hint("set HOME");
        let home = environment::home().ok_or_else(homeless)?;
        Ok(Self {
            default_root: environment::default_root().ok_or_else(homeless)?,
            machine: ClientMachine {
                home,
                is_mac: cfg!(target_os = "macos"),
                variables: environment::variables().collect(),
            },
            program: environment::program().context("cannot find this program's own file")?,
        })
    }
}

pub(super) fn init(desk: &Desk, args: &InitArgs) -> Result<Exit, Failure> {
    init_on(desk, args, &InitPlace::here()?, &mut asked)
}

/// A question at the terminal; without a terminal nobody agrees.
fn asked(question: &str) -> Result<bool, Failure> {
    Ok(std::io::stdin().is_terminal() && output::agreed(question)?)
}

type Confirm<'a> = &'a mut dyn FnMut(&str) -> Result<bool, Failure>;

pub(super) fn init_on(
    desk: &Desk,
    args: &InitArgs,
    place: &InitPlace,
    ask: Confirm<'_>,
) -> Result<Exit, Failure> {
    let mut store = ChangeStore::open(desk.root.join(FOLDER))?;
    if args.undo {
        return undo(desk, args, &mut store, ask);
    }
    let doors: Vec<ClientDoor> = args.with.iter().map(|&door| door.into()).collect();
    if doors.contains(&ClientDoor::Hooks) && doors.contains(&ClientDoor::BaseUrl) {
        return Err(Failure::usage(
            "--with: hooks and base-url would both add memory to each turn and store it twice",
        )
        .hint("choose `--with mcp,hooks` or `--with mcp,base-url`"));
    }
    let wiring = wiring(desk, args, place)?;
    let chosen = chosen(args, &place.machine)?;
    let plans = chosen
        .into_iter()
        .map(|client| clients::plan(client, &place.machine, &wiring, &doors));
    connect(desk, args, &mut store, &plans.collect::<Vec<_>>(), ask)
}

fn chosen(args: &InitArgs, machine: &ClientMachine) -> Result<Vec<&'static AgentClient>, Failure> {
    if args.clients.is_empty() {
        return Ok(CLIENTS
            .iter()
            .filter(|client| client.is_installed(machine))
            .collect());
    }
    let named = args.clients.iter().map(|name| {
        AgentClient::named(name).ok_or_else(|| {
            let names: Vec<&str> = CLIENTS.iter().map(|client| client.name.as_str()).collect();
            Failure::usage(format!("--client: there is no client `{name}`"))
                .hint(format!("there are {}", names.join(", ")))
        })
    });
    named.collect()
}

fn wiring(desk: &Desk, args: &InitArgs, place: &InitPlace) -> Result<Wiring, Failure> {
    let same = |a: &Path, b: &Path| match (a.canonicalize(), b.canonicalize()) {
        (Ok(a), Ok(b)) => a == b,
        _ => a == b,
    };
    let on_path = place.machine.program("quipu");
    let is_on_path = on_path.is_some_and(|found| same(&found, &place.program));
    let program = if is_on_path {
        Path::new("quipu")
    } else {
        &place.program
    };
    let mut options = Vec::new();
    if !same(&desk.root, &place.default_root) {
        let root = std::path::absolute(&desk.root)?;
        options.extend(["--root".to_owned(), text(&root)?]);
    }
    if let Some(user) = args.user.as_ref().filter(|user| *user != DEFAULT_USER) {
        options.extend(["--user".to_owned(), user.clone()]);
    }
    Ok(Wiring {
        program: text(program)?,
        options,
        server: server(&desk.loaded.config.server.listen),
    })
}

fn text(path: &Path) -> Result<String, Failure> {
    let text = path.to_str().map(str::to_owned);
    text.ok_or_else(|| {
        Failure::usage(format!(
            "`{}` is not UTF-8, which clients' files are",
            path.display()
        ))
    })
}

/// The server as a program on this machine reaches it.
fn server(listen: &str) -> String {
    let address = listen.parse::<SocketAddr>().ok();
    match address.filter(|address| address.ip().is_unspecified()) {
        Some(address) => format!("http://127.0.0.1:{}", address.port()),
        None => format!("http://{listen}"),
    }
}

fn connect(
    desk: &Desk,
    args: &InitArgs,
    store: &mut ChangeStore,
    plans: &[ClientPlan],
    ask: Confirm<'_>,
) -> Result<Exit, Failure> {
    let mut told = Vec::new();
    let (mut changes, mut written, mut exit) = (0, 0, Exit::Ok);
    for plan in plans {
        changes += plan.changes.len();
        if !desk.json {
            show(plan)?;
        }
        let is_agreed = !plan.changes.is_empty() && (args.yes || (!desk.json && ask(&question(plan))?));
        for change in &plan.changes {
            let outcome = if is_agreed {
                write(desk, store, change).map(|()| true)
            } else {
                Ok(false)
            };
            match &outcome {
                Ok(is_written) => written += usize::from(*is_written),
                Err(failure) => {
                    exit = failure.exit;
                    output::failure(failure, desk.json);
                }
            }
            told.push(json!({
                "client": plan.client.name, "file": change.file, "diff": difference(change), "written": outcome.is_ok_and(|it| it),
            }));
        }
    }
    if desk.json {
        let notes = plans.iter().flat_map(|plan| {
            let notes = plan.notes.iter();
            notes.map(|note| json!({"client": plan.client.name, "note": note}))
        });
        let clients: Vec<&str> = plans.iter().map(|plan| plan.client.name.as_str()).collect();
        output::json(&json!({"clients": clients, "files": told, "notes": notes.collect::<Vec<_>>()}))?;
    } else if plans.is_empty() {
        say!("no client was found: name one with --client, as in `--client cursor`")?;
    } else if changes == 0 {
        say!("nothing to change")?;
    } else if written == 0 {
        say!("nothing was written; `quipu init --yes` writes the changes above")?;
    } else {
        say!(
            "{} written; `quipu init --undo` takes that back",
            counted(written, "file", "files")
        )?;
    }
    Ok(exit)
}

fn show(plan: &ClientPlan) -> Result<(), Failure> {
    let state = match (plan.changes.is_empty(), plan.is_wired) {
        (false, _) => "",
        (true, true) => ": connected already",
        (true, false) => ": nothing to write",
    };
    say!("{}{state}", plan.client.title)?;
    for change in &plan.changes {
        say!("{}", difference(change).trim_end())?;
    }
    for note in &plan.notes {
        say!("  {}", note.trim_end().replace('\n', "\n    "))?;
    }
    say!("")
}

fn question(plan: &ClientPlan) -> String {
    format!(
        "Write {} for {}?",
        counted(plan.changes.len(), "file", "files"),
        plan.client.title
    )
}

fn difference(change: &ConfigChange) -> String {
    let name = change.file.display().to_string();
    unified(&name, change.before.as_deref().unwrap_or_default(), &change.after).unwrap_or_default()
}

fn write(desk: &Desk, store: &mut ChangeStore, change: &ConfigChange) -> Result<(), Failure> {
    private::own_folder(&desk.root.join(FOLDER))
        .with_context(|| format!("cannot create `{FOLDER}` in `{}`", desk.root.display()))?;
    Ok(store.apply(change)?)
}

fn undo(desk: &Desk, args: &InitArgs, store: &mut ChangeStore, ask: Confirm<'_>) -> Result<Exit, Failure> {
    let files = store.undo_plan();
    let mut exit = Exit::Ok;
    if !desk.json {
        for file in &files {
            show_undo(file)?;
        }
    }
    let is_agreed = !files.is_empty()
        && (args.yes || (!desk.json && ask(&format!("Undo {}?", counted(files.len(), "file", "files")))?));
    let mut undone = Vec::new();
    for file in &files {
        let problem = match (&file.then, is_agreed) {
            (Err(refusal), _) => Some(refusal.to_string()),
            (Ok(_), false) => Some("not confirmed".to_owned()),
            (Ok(_), true) => store
                .undo(file)
                .err()
                .map(|error| format!("{:#}", anyhow::Error::from(error))),
        };
        if problem.is_some() && is_agreed {
            exit = Exit::Failed;
        }
        undone.push(json!({"file": file.file, "undone": problem.is_none(), "problem": problem}));
    }
    // Nothing but `init` was in a root that was never used.
    std::fs::remove_dir(&desk.root).ok();
    if desk.json {
        output::json(&json!({"files": undone}))?;
    } else if files.is_empty() {
        say!("nothing to undo")?;
    } else if is_agreed {
        let count = undone.iter().filter(|file| file["undone"] == true).count();
        say!("{count} of {} undone", counted(files.len(), "file", "files"))?;
        for file in undone.iter().filter(|file| file["undone"] == false) {
            say!("{}: {}", file["file"], file["problem"])?;
        }
    } else {
        say!("nothing was undone; `quipu init --undo --yes` does it")?;
    }
    Ok(exit)
}

fn show_undo(file: &RestoredFile) -> Result<(), Failure> {
    let name = file.file.display().to_string();
    match &file.then {
        Ok(then) => {
            let now = file.now.as_deref().unwrap_or_default();
            let difference = unified(&name, now, then.as_deref().unwrap_or_default());
            say!(
                "{}",
                difference
                    .unwrap_or_else(|| format!("{name}: undone already"))
                    .trim_end()
            )
        }
        Err(refusal) => say!("{name} stays as it is: {refusal}; take Quipu's entry out by hand"),
    }
}

impl From<DoorArg> for ClientDoor {
    fn from(door: DoorArg) -> Self {
        text::same!(door, DoorArg => Self: Mcp, Hooks, BaseUrl)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let hint = match &error {
            StoreError::Changed(_) => Some("run `quipu init` again to see the file as it is now"),
            StoreError::Tangled { .. } => Some("undo it first with `quipu init --undo`"),
            StoreError::Io { .. } => None,
            StoreError::Unknown(_) => Some("install the newer quipu, or move the file away: undo needs it"),
        };
        Self::from(anyhow::Error::from(error)).hinted(hint)
    }
}

#[cfg(test)]
mod tests;
