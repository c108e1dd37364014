//! `quipu init`: connects the agents of this machine with Quipu, and undoes that.
//!
//! Owns: the choice of clients, the output, and a person's consent. Never: a client's file; `clients` knows and edits them.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use anyhow::Context;
use model::text::{self, counted};
use serde_json::{Value, json};

use super::Desk;
use crate::args::{DEFAULT_USER, InitArgs};
use crate::clients::{
    self, AgentClient, CLIENTS, ChangeStore, ClientDoor, ClientMachine, ClientPlan, ConfigChange,
    RestoredFile, StoreError, Wiring, unified,
};
use crate::environment;
use crate::error::{Exit, Failure};
use crate::output::{self, say};
use crate::private;

/// Folder in the root with the record of the changes.
const FOLDER: &str = "init";

/// The machine whose clients are connected.
#[derive(Debug)]
pub(super) struct InitPlace {
    pub(super) machine: ClientMachine,
    /// Path of this program.
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
    init_on(desk, args, &InitPlace::here()?, &mut output::agreed)
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
    let doors = &args.with;
    if doors.contains(&ClientDoor::Hooks) && doors.contains(&ClientDoor::BaseUrl) {
        let twice = "--with: hooks and base-url would both add memory to each turn and store it twice";
        return Err(Failure::usage(twice).hint("choose `--with mcp,hooks` or `--with mcp,base-url`"));
    }
    let wiring = wiring(desk, args, place)?;
    let chosen = chosen(args, &place.machine)?;
    let plans = chosen
        .into_iter()
        .map(|client| clients::plan(client, &place.machine, &wiring, doors));
    connect(desk, args, &mut store, &plans.collect::<Vec<_>>(), ask)
}

fn chosen(args: &InitArgs, machine: &ClientMachine) -> Result<Vec<&'static AgentClient>, Failure> {
    if args.clients.is_empty() {
        let installed = CLIENTS.iter().filter(|client| client.is_installed(machine));
        return Ok(installed.collect());
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
    let program = match on_path {
        Some(found) if same(&found, &place.program) => Path::new("quipu"),
        _ => &place.program,
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
    let other = || format!("`{}` is not UTF-8, which clients' files are", path.display());
    let text = path.to_str().map(str::to_owned);
    text.ok_or_else(|| Failure::usage(other()))
}

/// Address of the server for programs on this machine.
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
        let files = counted(plan.changes.len(), "file", "files");
        let question = format!("Write {files} for {}?", plan.client.title);
        let is_agreed = !plan.changes.is_empty() && agreed(desk, args, ask, &question)?;
        for change in &plan.changes {
            let outcome = is_agreed.then(|| write(desk, store, change));
            if let Some(Err(failure)) = &outcome {
                exit = failure.exit;
                output::failure(failure, desk.json);
            }
            let is_written = matches!(outcome, Some(Ok(())));
            written += usize::from(is_written);
            told.push(json!({
                "client": plan.client.name, "file": change.file, "diff": difference(change), "written": is_written,
            }));
        }
    }
    let notes = plans.iter().flat_map(|plan| {
        let notes = plan.notes.iter();
        notes.map(|note| json!({"client": plan.client.name, "note": note}))
    });
    let notes: Vec<Value> = notes.collect();
    let clients: Vec<&str> = plans.iter().map(|plan| plan.client.name.as_str()).collect();
    desk.tell(
        &json!({"clients": clients, "files": told, "notes": notes}),
        || match (plans.len(), changes, counted(written, "file", "files")) {
            (0, ..) => say!("no client was found: name one with --client, as in `--client cursor`"),
            (_, 0, _) => say!("nothing to change"),
            _ if written == 0 => say!("nothing was written; `quipu init --yes` writes the changes above"),
            (.., files) => say!("{files} written; `quipu init --undo` takes that back"),
        },
    )?;
    Ok(exit)
}

/// Whether a person agrees, by `--yes` or when asked; a program is not asked.
fn agreed(desk: &Desk, args: &InitArgs, ask: Confirm<'_>, question: &str) -> Result<bool, Failure> {
    Ok(args.yes || (!desk.json && ask(question)?))
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
    let all = counted(files.len(), "file", "files");
    let is_agreed = !files.is_empty() && agreed(desk, args, ask, &format!("Undo {all}?"))?;
    let mut undone = Vec::new();
    for file in &files {
        let problem = match (&file.then, is_agreed) {
            (Err(refusal), _) => Some(refusal.to_string()),
            (Ok(_), false) => Some("not confirmed".to_owned()),
            (Ok(_), true) => store.undo(file).err().map(|error| text::chain(&error)),
        };
        if problem.is_some() && is_agreed {
            exit = Exit::Failed;
        }
        undone.push(json!({"file": file.file, "undone": problem.is_none(), "problem": problem}));
    }
    // The folder of an unused root has only `init` in it, and goes too.
    std::fs::remove_dir(&desk.root).ok();
    desk.tell(&json!({"files": undone}), || {
        if files.is_empty() || !is_agreed {
            return match files.len() {
                0 => say!("nothing to undo"),
                _ => say!("nothing was undone; `quipu init --undo --yes` does it"),
            };
        }
        let left: Vec<&Value> = undone.iter().filter(|file| file["undone"] == false).collect();
        say!("{} of {all} undone", files.len() - left.len())?;
        left.iter()
            .try_for_each(|file| say!("{}: {}", file["file"], file["problem"]))
    })?;
    Ok(exit)
}

fn show_undo(file: &RestoredFile) -> Result<(), Failure> {
    let name = file.file.display().to_string();
    match &file.then {
        Ok(then) => {
            let now = file.now.as_deref().unwrap_or_default();
            let difference = unified(&name, now, then.as_deref().unwrap_or_default());
            let difference = difference.unwrap_or_else(|| format!("{name}: undone already"));
            say!("{}", difference.trim_end())
        }
        Err(refusal) => say!("{name} stays as it is: {refusal}; take Quipu's entry out by hand"),
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
