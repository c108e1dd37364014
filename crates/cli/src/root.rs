//! Recognises a folder: a root, a folder that can become one, or another program's folder.
//!
//! Owns: the names that identify a root. Never: a change to a folder.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use ledger::SqliteLedger;

use crate::archive::{LIST, absolute};
use crate::error::Failure;
use crate::private::if_there;
use crate::serving::LEDGER;
use crate::tokens;

/// The memory folder of a root.
pub(crate) const MEMORY: &str = "memory";
/// The configuration file of a root.
pub(crate) const CONFIGURATION: &str = "quipu.toml";
/// Log file of failed hooks in the root.
pub(crate) const HOOK_LOG: &str = "hook.log";
/// Names that commands may create in a root before its ledger.
const EARLY: [&str; 7] = [
    "init",
    "instructions",
    "models",
    HOOK_LOG,
    "ledger.lock",
    tokens::FILE,
    tokens::BESIDE,
];
/// Names that a file system or a file manager creates in a folder.
const SYSTEMS: [&str; 2] = ["lost+found", ".DS_Store"];
const ANOTHER_ROOT: &str = "name a root, a new folder or an empty one with --root DIR or QUIPU_ROOT";
/// Name suffix of the folder in which a restore builds a root.
const UNFINISHED: &str = ".quipu-restoring";

/// State of a folder that is a root or can become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RootFolder {
    Absent,
    Empty,
    Root,
}

/// Recognises a folder; refuses a folder with any other content. Changes nothing.
pub(crate) fn check(root: &Path) -> Result<RootFolder, Failure> {
    let shown = root.display();
    let refused = |why: &str, hint: &str| Err(Failure::usage(format!("`{shown}` {why}")).hint(hint));
    if name_of(root).is_some_and(|name| name.as_encoded_bytes().ends_with(UNFINISHED.as_bytes())) {
        let hint = "run the same `quipu restore` again: it removes this folder";
        return refused(
            "is no Quipu root: `quipu restore` was interrupted while it made it",
            hint,
        );
    }
    let unreadable = |error: std::io::Error| {
        let failure = Failure::input(error).context(format!("cannot read the folder `{shown}`"));
        failure.hint("choose another folder with --root DIR or QUIPU_ROOT")
    };
    let Some(entries) = if_there(fs::read_dir(root)).map_err(unreadable)? else {
        return Ok(RootFolder::Absent);
    };
    let names = entries.map(|entry| entry.map(|entry| entry.file_name()));
    let mut names = names.collect::<Result<Vec<_>, _>>().map_err(unreadable)?;
    let is_in = |all: &[&str], name: &OsStr| all.iter().any(|one| name == *one);
    if names.iter().any(|name| name == LIST) {
        let hint = "make a root of it with `quipu restore BACKUP --root DIR`";
        return refused(
            "is a backup, and no root: a command would change it; nothing was changed",
            hint,
        );
    }
    if SqliteLedger::is_foreign(&root.join(LEDGER)) {
        let why =
            format!("is no Quipu root: its `{LEDGER}` is another program's database; nothing was changed");
        return refused(&why, ANOTHER_ROOT);
    }
    if names.iter().any(|name| is_in(&[CONFIGURATION, LEDGER], name))
        || holds_memory(&root.join(MEMORY), &["users", "agents", "libraries"])
    {
        return Ok(RootFolder::Root);
    }
    names.retain(|name| !is_in(&SYSTEMS, name));
    if names.is_empty() {
        return Ok(RootFolder::Empty);
    }
    let is_early = |name: &OsStr| {
        is_in(&EARLY, name)
            || (name == MEMORY && folders(&root.join(MEMORY)).is_some_and(|all| all.is_empty()))
    };
    if names.iter().all(|name| is_early(name)) {
        return Ok(RootFolder::Root);
    }
    refused(
        "is no Quipu root and holds other files; nothing was changed",
        ANOTHER_ROOT,
    )
}

/// The folder next to this root in which a restore builds it.
pub(crate) fn unfinished(root: &Path) -> Option<PathBuf> {
    let mut name = root.file_name()?.to_owned();
    name.push(UNFINISHED);
    Some(root.with_file_name(name))
}

fn name_of(root: &Path) -> Option<std::ffi::OsString> {
    absolute(root).ok()?.file_name().map(OsStr::to_owned)
}

/// Whether a memory folder has owners, as in `<app>/<project>/users`.
pub(crate) fn holds_memory(memory: &Path, owners: &[&str]) -> bool {
    let below = |folder: &PathBuf| folders(folder).unwrap_or_default();
    let apps = below(&memory.to_owned());
    let mut projects = apps.iter().flat_map(below);
    projects.any(|project| owners.iter().any(|owners| project.join(owners).is_dir()))
}

/// The entries of a folder, without hidden ones; `None` if it is not a readable folder.
fn folders(folder: &Path) -> Option<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
    let is_shown = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default();
        !name.as_encoded_bytes().starts_with(b".") && SYSTEMS.iter().all(|system| name != *system)
    };
    Some(entries.filter(is_shown).collect())
}

#[cfg(test)]
mod tests;
