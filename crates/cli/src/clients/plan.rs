//! The planned changes of a client's files.
//!
//! Owns: reading them. Never: writing them.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::edit::{self, AddedEntry, ClientCommand, ConfigEntry, EditRefusal, FileFormat};
use super::machine::ClientMachine;
use super::table::{AgentClient, CLIENTS, ClientDoor, FileEdit};
use super::wiring::Wiring;

/// The changes that connect a client.
#[derive(Debug)]
pub(crate) struct ClientPlan {
    pub(crate) client: &'static AgentClient,
    pub(crate) changes: Vec<ConfigChange>,
    /// Notes for the person: manual steps and facts.
    pub(crate) notes: Vec<String>,
    /// Whether one of the doors is open already.
    pub(crate) is_wired: bool,
}

/// A planned change of one file.
#[derive(Debug, Clone)]
pub(crate) struct ConfigChange {
    pub(crate) file: PathBuf,
    /// None: the file does not exist.
    pub(crate) before: Option<String>,
    pub(crate) after: String,
    pub(crate) format: FileFormat,
    pub(crate) added: Vec<AddedEntry>,
}

/// A client's file with commands of Quipu, or a file that cannot be read.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct WiredFile {
    pub(crate) client: &'static AgentClient,
    pub(crate) file: PathBuf,
    pub(crate) commands: Vec<ClientCommand>,
    /// The reason why the file cannot be read.
    pub(crate) broken: Option<EditRefusal>,
}

/// Plans the changes that open these doors of a client.
pub(crate) fn plan(
    client: &'static AgentClient,
    machine: &ClientMachine,
    wiring: &Wiring,
    doors: &[ClientDoor],
) -> ClientPlan {
    let mut plan = ClientPlan {
        client,
        changes: Vec::new(),
        notes: Vec::new(),
        is_wired: false,
    };
    for way in client.ways.iter().filter(|way| doors.contains(&way.door)) {
        if let Some(edit) = &way.edit {
            plan.edit(edit, &edit.file(machine), wiring.entries(edit));
        }
        plan.notes
            .extend(way.by_hand.as_deref().map(|words| wiring.text(words)));
    }
    if !plan.changes.is_empty() {
        plan.notes.extend(client.note.clone());
    }
    plan
}

impl ClientPlan {
    fn edit(&mut self, edit: &FileEdit, file: &Path, entries: Vec<ConfigEntry>) {
        let known = self.changes.iter().position(|change| change.file == file);
        let change = match known.map(|at| self.changes.remove(at)) {
            Some(change) => Ok(change),
            None => read(file).and_then(|before| match before {
                None if edit.must_exist => Err(EditRefusal::Unreadable("there is no such file".to_owned())),
                before => Ok(ConfigChange {
                    after: before.clone().unwrap_or_default(),
                    file: file.to_owned(),
                    before,
                    format: edit.format,
                    added: Vec::new(),
                }),
            }),
        };
        let mut change = match change {
            Ok(change) => change,
            Err(refusal) => return self.refuse(file, edit, &entries, &refusal),
        };
        for entry in entries {
            match edit::add(edit.format, &change.after, &entry) {
                Ok(Some((text, added))) => {
                    change.after = text;
                    change.added.push(added);
                }
                Ok(None) => self.is_wired = true,
                Err(refusal) => self.refuse(&change.file, edit, &[entry], &refusal),
            }
        }
        if !change.added.is_empty() {
            self.changes.insert(known.unwrap_or(self.changes.len()), change);
        }
    }

    /// Notes why a file stays unchanged, and the entries that a person can add to it.
    fn refuse(&mut self, file: &Path, edit: &FileEdit, entries: &[ConfigEntry], refusal: &EditRefusal) {
        let file = file.display();
        if let EditRefusal::Taken(_) = refusal {
            self.is_wired = true;
            self.notes.push(format!("{file}: {refusal}; it stays as it is"));
            return;
        }
        let lines = entries
            .iter()
            .filter_map(|entry| edit::add(edit.format, "", entry).ok()?);
        let lines: String = lines.map(|(text, _)| text).collect();
        self.notes.push(format!(
            "{file} stays as it is: {refusal}. Add this by hand:\n{lines}"
        ));
    }
}

/// The text of a file; `None` if the file does not exist.
pub(crate) fn read(file: &Path) -> Result<Option<String>, EditRefusal> {
    match fs::read(file) {
        Ok(bytes) => {
            let text = String::from_utf8(bytes);
            text.map(Some)
                .map_err(|_| EditRefusal::Unreadable("it is not UTF-8".to_owned()))
        }
        // A dangling link shows that somebody manages this file another way.
        Err(error) if error.kind() == ErrorKind::NotFound && !file.is_symlink() => Ok(None),
        Err(error) => Err(EditRefusal::Unreadable(error.to_string())),
    }
}

/// The commands of Quipu in the files of all clients.
pub(crate) fn wired(machine: &ClientMachine) -> Vec<WiredFile> {
    let edits = CLIENTS.iter().flat_map(|client| {
        let edits = client.ways.iter().filter_map(|way| way.edit.as_ref());
        edits.map(move |edit| (client, edit))
    });
    let mut wired: Vec<WiredFile> = Vec::new();
    for (client, edit) in edits {
        let file = edit.file(machine);
        let is_known = wired.iter().any(|one| one.client == client && one.file == file);
        let Some(text) = read(&file).ok().flatten().filter(|_| !is_known) else {
            continue;
        };
        let found = edit::values(edit.format, &text).map(|values| edit::commands(&values));
        if found.as_ref().is_ok_and(Vec::is_empty) {
            continue;
        }
        wired.push(WiredFile {
            client,
            file,
            broken: found.as_ref().err().cloned(),
            commands: found.unwrap_or_default(),
        });
    }
    wired
}
