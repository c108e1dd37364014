//! The clients: where their files are, and the entries for these files.
//!
//! Owns: reading `clients.yaml`. Never: writing a file.
//!
//! In that table, `programs` are on the PATH of a machine that has the client; `traces` are files and folders that show it. A
//! place is `~/…`, `$VARIABLE(folder of the home)/…`, or `@application/…` (a desktop application's folder). Of several places,
//! the first that exists counts, else the last. An edit adds its entries, or the entries of the plugin with this name, to a file;
//! with `must_exist` the client does not accept a file with these entries only. `by_hand` is for a door that no file opens.
//! `note` is a person's next step after an edit. In values, `$PROGRAM` is quipu, `$MCP` the arguments of its process for MCP,
//! `$MCP_COMMAND` both in one list, `$SERVER` the address of the server.

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
    // Tools for the model.
    Mcp,
    // Memory that the client adds to each prompt.
    Hooks,
    // Quipu as a proxy of the model server.
    BaseUrl,
}

/// One client.
#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AgentClient {
    /// Name on the command line.
    pub(crate) name: String,
    pub(crate) title: String,
    #[serde(default)]
    programs: Vec<String>,
    /// Files and folders that show that the client is installed.
    traces: Vec<String>,
    pub(crate) ways: Vec<ClientWay>,
    /// The person's next step after an edit.
    pub(crate) note: Option<String>,
}

/// A way to open a door: an edit, or instructions for a person.
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
    /// The client with this name.
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        CLIENTS.iter().find(|client| client.name == name)
    }

    /// Whether the client is installed on the machine.
    pub(crate) fn is_installed(&self, machine: &ClientMachine) -> bool {
        let has_program = self.programs.iter().any(|name| machine.program(name).is_some());
        has_program || self.traces.iter().any(|trace| machine.place(trace).exists())
    }
}

impl FileEdit {
    /// Path of the file on a machine.
    pub(crate) fn file(&self, machine: &ClientMachine) -> PathBuf {
        let places = || self.file.iter().map(|place| machine.place(place));
        let file = places()
            .find(|file| file.exists())
            .or_else(|| places().next_back());
        file.expect("an edit has a file")
    }
}

/// Every client, in the order of the output.
pub(crate) static CLIENTS: LazyLock<Vec<AgentClient>> =
    LazyLock::new(|| serde_norway::from_str(include_str!("clients.yaml")).expect("a test reads the table"));
