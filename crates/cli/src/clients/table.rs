//! The clients: where their files are, and what is written into them.
//!
//! Owns: reading `clients.yaml`. Never: writing a file.
//!
//! In that table, `programs` are on the PATH of a machine that has the client; `traces` are files and folders that show it. A
//! place is `~/…`, `$VARIABLE(folder of the home)/…`, or `@application/…` (a desktop application's folder). Of several, the first
//! that exists counts, else the last. An edit adds its entries, or those of the plugin of this name, to a file; with `must_exist`
//! the client needs more in it than the entries. `by_hand` is for a door that no file opens. `note` is what a person does after an
//! edit. In values, `$PROGRAM` is quipu, `$MCP` the arguments of its process for MCP, `$MCP_COMMAND` both in one list, `$SERVER`
//! the address of the server.

use std::path::PathBuf;
use std::sync::LazyLock;

use clap::ValueEnum;
use serde::Deserialize;

use super::edit::{ConfigEntry, FileFormat};
use super::machine::ClientMachine;

/// A way between a client and Quipu.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ClientDoor {
    // Tools that the model calls.
    Mcp,
    // Memory without being asked.
    Hooks,
    // Quipu in front of the model server.
    BaseUrl,
}

/// One client.
#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AgentClient {
    /// As a person types it.
    pub(crate) name: String,
    pub(crate) title: String,
    #[serde(default)]
    programs: Vec<String>,
    /// Files and folders that show that it is installed.
    traces: Vec<String>,
    pub(crate) ways: Vec<ClientWay>,
    /// What a person does after an edit.
    pub(crate) note: Option<String>,
}

/// How a door is opened: by an edit, or by a person who reads these words.
#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClientWay {
    pub(crate) door: ClientDoor,
    pub(crate) edit: Option<FileEdit>,
    pub(crate) by_hand: Option<String>,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FileEdit {
    file: Vec<String>,
    pub(crate) format: FileFormat,
    #[serde(default)]
    pub(crate) entries: Vec<ConfigEntry>,
    pub(crate) plugin: Option<String>,
    /// The client does not accept a file with nothing but the entries.
    #[serde(default)]
    pub(crate) must_exist: bool,
}

impl AgentClient {
    /// The client of a name.
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        CLIENTS.iter().find(|client| client.name == name)
    }

    /// Whether the machine has it.
    pub(crate) fn is_installed(&self, machine: &ClientMachine) -> bool {
        let has_program = self.programs.iter().any(|name| machine.program(name).is_some());
        has_program || self.traces.iter().any(|trace| machine.place(trace).exists())
    }
}

impl FileEdit {
    /// The file on a machine.
    pub(crate) fn file(&self, machine: &ClientMachine) -> PathBuf {
        let places = || self.file.iter().map(|place| machine.place(place));
        let file = places()
            .find(|file| file.exists())
            .or_else(|| places().next_back());
        file.expect("an edit has a file")
    }
}

/// Every client, in the order in which a person sees them.
pub(crate) static CLIENTS: LazyLock<Vec<AgentClient>> =
    LazyLock::new(|| serde_norway::from_str(include_str!("clients.yaml")).expect("a test reads the table"));
