//! The clients: where their files are, and what is written into them.

use std::path::PathBuf;

use crate::edit::{ConfigEntry, FileFormat};
use crate::machine::ClientMachine;
use crate::wiring::{self, Wiring};

/// A way between a client and Quipu.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientDoor {
    /// Tools that the model calls.
    Mcp,
    /// Memory without being asked.
    Hooks,
    /// Quipu in front of the model server.
    BaseUrl,
}

/// One client.
#[derive(Debug)]
pub struct AgentClient {
    /// As a person types it.
    pub name: &'static str,
    pub title: &'static str,
    programs: &'static [&'static str],
    /// Files and folders that show that it is installed.
    traces: fn(&ClientMachine) -> Vec<PathBuf>,
    pub(crate) ways: &'static [(ClientDoor, ClientWay)],
    /// What a person does after an edit.
    pub(crate) note: Option<&'static str>,
}

#[derive(Debug)]
pub(crate) enum ClientWay {
    Edit(FileEdit),
    /// No file opens the door; a person does, by these words.
    ByHand(fn(&Wiring) -> String),
}

#[derive(Debug)]
pub(crate) struct FileEdit {
    pub(crate) file: Place,
    pub(crate) format: FileFormat,
    pub(crate) entries: Entries,
    /// Whether the client accepts a file with nothing but the entries.
    pub(crate) creates: bool,
}

use ClientDoor::{BaseUrl, Hooks, Mcp};

impl PartialEq for AgentClient {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for AgentClient {}

impl AgentClient {
    /// The client of a name.
    pub fn named(name: &str) -> Option<&'static Self> {
        CLIENTS.iter().find(|client| client.name == name)
    }

    /// Whether the machine has it.
    pub fn is_installed(&self, machine: &ClientMachine) -> bool {
        let has_program = self.programs.iter().any(|name| machine.program(name).is_some());
        has_program || (self.traces)(machine).iter().any(|trace| trace.exists())
    }
}

type Place = fn(&ClientMachine) -> PathBuf;
type Entries = fn(&Wiring) -> Vec<ConfigEntry>;

const fn edit(
    door: ClientDoor,
    file: Place,
    format: FileFormat,
    entries: Entries,
) -> (ClientDoor, ClientWay) {
    let way = FileEdit {
        file,
        format,
        entries,
        creates: true,
    };
    (door, ClientWay::Edit(way))
}

const fn json(door: ClientDoor, file: Place, entries: Entries) -> (ClientDoor, ClientWay) {
    edit(door, file, FileFormat::Json, entries)
}

const fn yaml(door: ClientDoor, file: Place, entries: Entries) -> (ClientDoor, ClientWay) {
    edit(door, file, FileFormat::Yaml, entries)
}

/// An edit of a file that must be there: the client needs more in it than the entries.
const fn yaml_if_there(door: ClientDoor, file: Place, entries: Entries) -> (ClientDoor, ClientWay) {
    let way = FileEdit {
        file,
        format: FileFormat::Yaml,
        entries,
        creates: false,
    };
    (door, ClientWay::Edit(way))
}

const fn by_hand(door: ClientDoor, words: fn(&Wiring) -> String) -> (ClientDoor, ClientWay) {
    (door, ClientWay::ByHand(words))
}

fn claude_settings(machine: &ClientMachine) -> PathBuf {
    machine
        .folder("CLAUDE_CONFIG_DIR", ".claude")
        .join("settings.json")
}

fn codex(machine: &ClientMachine, file: &str) -> PathBuf {
    machine.folder("CODEX_HOME", ".codex").join(file)
}

fn gemini_settings(machine: &ClientMachine) -> PathBuf {
    machine.home.join(".gemini/settings.json")
}

fn opencode_file(machine: &ClientMachine) -> PathBuf {
    let with_comments = machine.config("opencode/opencode.jsonc");
    if with_comments.exists() {
        return with_comments;
    }
    machine.config("opencode/opencode.json")
}

/// The files of an extension of VS Code.
fn extension(machine: &ClientMachine, rest: &str) -> PathBuf {
    machine.application("Code/User/globalStorage").join(rest)
}

/// Every client, in the order in which a person sees them.
pub static CLIENTS: &[AgentClient] = &[
    AgentClient {
        name: "claude-code",
        title: "Claude Code",
        programs: &["claude"],
        traces: |m| {
            vec![
                m.home.join(".claude.json"),
                m.folder("CLAUDE_CONFIG_DIR", ".claude"),
            ]
        },
        ways: &[
            json(
                Mcp,
                |m| m.folder("CLAUDE_CONFIG_DIR", "").join(".claude.json"),
                wiring::typed_mcp_servers,
            ),
            json(Hooks, claude_settings, wiring::claude_hooks),
            json(BaseUrl, claude_settings, wiring::claude_base_url),
        ],
        note: None,
    },
    AgentClient {
        name: "claude-desktop",
        title: "Claude Desktop",
        programs: &[],
        traces: |m| vec![m.application("Claude")],
        ways: &[json(
            Mcp,
            |m| m.application("Claude/claude_desktop_config.json"),
            wiring::mcp_servers,
        )],
        note: Some("Restart Claude Desktop."),
    },
    AgentClient {
        name: "codex",
        title: "Codex",
        programs: &["codex"],
        traces: |m| vec![codex(m, "")],
        ways: &[
            edit(
                Mcp,
                |m| codex(m, "config.toml"),
                FileFormat::Toml,
                wiring::codex_mcp,
            ),
            json(Hooks, |m| codex(m, "hooks.json"), wiring::codex_hooks),
            edit(
                BaseUrl,
                |m| codex(m, "config.toml"),
                FileFormat::Toml,
                wiring::codex_provider,
            ),
        ],
        note: Some(
            "With hooks: start codex, type /hooks and trust those of Quipu. Until then Codex does not run them, and does not say so.",
        ),
    },
    AgentClient {
        name: "gemini-cli",
        title: "Gemini CLI",
        programs: &["gemini"],
        traces: |m| vec![m.home.join(".gemini")],
        ways: &[
            json(Mcp, gemini_settings, wiring::mcp_servers),
            json(Hooks, gemini_settings, wiring::gemini_hooks),
        ],
        note: None,
    },
    AgentClient {
        name: "opencode",
        title: "opencode",
        programs: &["opencode"],
        traces: |m| vec![m.config("opencode")],
        ways: &[
            json(Mcp, opencode_file, wiring::opencode_mcp),
            edit(
                Hooks,
                |m| m.config("opencode/plugin/quipu.js"),
                FileFormat::Text,
                wiring::opencode_plugin,
            ),
            by_hand(BaseUrl, wiring::opencode_by_hand),
        ],
        note: None,
    },
    AgentClient {
        name: "cursor",
        title: "Cursor",
        programs: &["cursor"],
        traces: |m| vec![m.home.join(".cursor")],
        ways: &[
            json(Mcp, |m| m.home.join(".cursor/mcp.json"), wiring::mcp_servers),
            by_hand(BaseUrl, wiring::cursor_by_hand),
        ],
        note: None,
    },
    AgentClient {
        name: "vscode",
        title: "VS Code",
        programs: &["code"],
        traces: |m| vec![m.application("Code/User")],
        ways: &[
            json(
                Mcp,
                |m| m.application("Code/User/mcp.json"),
                wiring::vscode_servers,
            ),
            by_hand(BaseUrl, wiring::openai_by_hand),
        ],
        note: None,
    },
    AgentClient {
        name: "copilot-cli",
        title: "Copilot CLI",
        programs: &["copilot"],
        traces: |m| vec![m.folder("COPILOT_HOME", ".copilot")],
        ways: &[json(
            Mcp,
            |m| m.folder("COPILOT_HOME", ".copilot").join("mcp-config.json"),
            wiring::copilot_servers,
        )],
        note: None,
    },
    AgentClient {
        name: "windsurf",
        title: "Windsurf",
        programs: &["windsurf"],
        traces: |m| vec![m.home.join(".codeium/windsurf")],
        ways: &[json(
            Mcp,
            |m| m.home.join(".codeium/windsurf/mcp_config.json"),
            wiring::mcp_servers,
        )],
        note: None,
    },
    AgentClient {
        name: "zed",
        title: "Zed",
        programs: &["zed", "zeditor"],
        traces: |m| vec![m.config("zed")],
        ways: &[
            json(Mcp, |m| m.config("zed/settings.json"), wiring::zed_servers),
            by_hand(BaseUrl, wiring::zed_by_hand),
        ],
        note: None,
    },
    AgentClient {
        name: "cline",
        title: "Cline",
        programs: &[],
        traces: |m| vec![extension(m, "saoudrizwan.claude-dev")],
        ways: &[
            json(
                Mcp,
                |m| extension(m, "saoudrizwan.claude-dev/settings/cline_mcp_settings.json"),
                wiring::cline_servers,
            ),
            by_hand(BaseUrl, wiring::openai_by_hand),
        ],
        note: None,
    },
    AgentClient {
        name: "cline-cli",
        title: "Cline CLI",
        programs: &["cline"],
        traces: |m| vec![m.folder("CLINE_DIR", ".cline")],
        ways: &[
            json(
                Mcp,
                |m| {
                    m.folder("CLINE_DIR", ".cline")
                        .join("data/settings/cline_mcp_settings.json")
                },
                wiring::cline_servers,
            ),
            by_hand(BaseUrl, wiring::openai_by_hand),
        ],
        note: None,
    },
    AgentClient {
        name: "roo",
        title: "Roo Code",
        programs: &[],
        traces: |m| vec![extension(m, "rooveterinaryinc.roo-cline")],
        ways: &[
            json(
                Mcp,
                |m| extension(m, "rooveterinaryinc.roo-cline/settings/mcp_settings.json"),
                wiring::mcp_servers,
            ),
            by_hand(BaseUrl, wiring::openai_by_hand),
        ],
        note: None,
    },
    AgentClient {
        name: "continue",
        title: "Continue",
        programs: &["cn"],
        traces: |m| vec![m.home.join(".continue")],
        ways: &[
            // A new file would hide an older `config.json`.
            yaml_if_there(
                Mcp,
                |m| m.home.join(".continue/config.yaml"),
                wiring::continue_servers,
            ),
            by_hand(BaseUrl, wiring::continue_by_hand),
        ],
        note: None,
    },
    AgentClient {
        name: "goose",
        title: "Goose",
        programs: &["goose"],
        traces: |m| vec![m.config("goose")],
        ways: &[
            yaml(Mcp, |m| m.config("goose/config.yaml"), wiring::goose_extension),
            yaml(BaseUrl, |m| m.config("goose/config.yaml"), wiring::goose_host),
        ],
        note: None,
    },
    AgentClient {
        name: "librechat",
        title: "LibreChat",
        programs: &[],
        traces: |m| vec![m.home.join("LibreChat/librechat.yaml")],
        ways: &[
            yaml_if_there(
                Mcp,
                |m| m.home.join("LibreChat/librechat.yaml"),
                wiring::typed_mcp_servers,
            ),
            by_hand(BaseUrl, wiring::librechat_by_hand),
        ],
        note: Some(
            "Restart LibreChat. In a container, use `type: streamable-http` and the `url` of your Quipu server with `/mcp`.",
        ),
    },
    AgentClient {
        name: "open-webui",
        title: "Open WebUI",
        programs: &["open-webui"],
        traces: |m| vec![m.home.join(".open-webui")],
        ways: &[
            by_hand(Mcp, wiring::open_webui_tools),
            by_hand(BaseUrl, wiring::open_webui_by_hand),
        ],
        note: None,
    },
];
