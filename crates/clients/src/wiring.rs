//! The entries that connect a client: a command for MCP, commands for hooks, an address.

use serde_json::{Value, json};

use crate::edit::ConfigEntry;

/// How a client reaches Quipu.
#[derive(Debug, Clone)]
pub struct Wiring {
    /// As a client starts it: `quipu`, or an absolute path.
    pub program: String,
    /// Options that are not the default, as in `["--user", "ana"]`.
    pub options: Vec<String>,
    /// The server, as in `http://127.0.0.1:4777`.
    pub server: String,
}

impl Wiring {
    fn arguments(&self, command: &str) -> Vec<String> {
        let options = self.options.iter().cloned();
        std::iter::once(command.to_owned()).chain(options).collect()
    }

    /// The server's process for MCP, with keys that only some clients know.
    fn stdio(&self, first: Value, last: Value) -> Value {
        let mut value = first;
        let command = json!({"command": self.program, "args": self.arguments("mcp")});
        for keys in [command, last] {
            if let (Value::Object(value), Value::Object(keys)) = (&mut value, keys) {
                value.extend(keys);
            }
        }
        value
    }

    fn command(&self, command: &str) -> Vec<String> {
        let mut words = self.arguments(command);
        words.insert(0, self.program.clone());
        words
    }

    /// A line for a shell.
    fn hook(&self) -> String {
        let words: Vec<String> = self.command("hook").iter().map(|word| quoted(word)).collect();
        words.join(" ")
    }
}

fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+:@%=,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// The entry that most clients share.
pub(crate) fn mcp_servers(wiring: &Wiring) -> Vec<ConfigEntry> {
    server(&["mcpServers", "quipu"], wiring, json!({}), json!({}))
}

pub(crate) fn typed_mcp_servers(wiring: &Wiring) -> Vec<ConfigEntry> {
    server(
        &["mcpServers", "quipu"],
        wiring,
        json!({"type": "stdio"}),
        json!({}),
    )
}

pub(crate) fn codex_mcp(wiring: &Wiring) -> Vec<ConfigEntry> {
    server(&["mcp_servers", "quipu"], wiring, json!({}), json!({}))
}

pub(crate) fn vscode_servers(wiring: &Wiring) -> Vec<ConfigEntry> {
    server(&["servers", "quipu"], wiring, json!({"type": "stdio"}), json!({}))
}

pub(crate) fn copilot_servers(wiring: &Wiring) -> Vec<ConfigEntry> {
    server(
        &["mcpServers", "quipu"],
        wiring,
        json!({"type": "local"}),
        json!({"tools": ["*"]}),
    )
}

pub(crate) fn zed_servers(wiring: &Wiring) -> Vec<ConfigEntry> {
    server(
        &["context_servers", "quipu"],
        wiring,
        json!({"source": "custom"}),
        json!({"env": {}}),
    )
}

pub(crate) fn cline_servers(wiring: &Wiring) -> Vec<ConfigEntry> {
    server(
        &["mcpServers", "quipu"],
        wiring,
        json!({}),
        json!({"disabled": false}),
    )
}

pub(crate) fn continue_servers(wiring: &Wiring) -> Vec<ConfigEntry> {
    vec![ConfigEntry::element(
        &["mcpServers"],
        wiring.stdio(json!({"name": "quipu"}), json!({})),
    )]
}

pub(crate) fn opencode_mcp(wiring: &Wiring) -> Vec<ConfigEntry> {
    let server = json!({"type": "local", "command": wiring.command("mcp"), "enabled": true});
    vec![ConfigEntry::new(&["mcp", "quipu"], server)]
}

fn server(path: &[&str], wiring: &Wiring, first: Value, last: Value) -> Vec<ConfigEntry> {
    vec![ConfigEntry::new(path, wiring.stdio(first, last))]
}

/// The hooks of a plugin, with the command that is right here.
fn hooks_of(plugin: &str, wiring: &Wiring) -> Vec<ConfigEntry> {
    let plugin = plugin.replace("\"quipu hook\"", &Value::from(wiring.hook()).to_string());
    let plugin: Value = serde_json::from_str(&plugin).expect("a file of this repository is JSON");
    let events = plugin["hooks"].as_object().into_iter().flatten();
    let hooks = events.flat_map(|(event, hooks)| {
        let hooks = hooks.as_array().into_iter().flatten();
        hooks.map(|hook| ConfigEntry::element(&["hooks", event], hook.clone()))
    });
    hooks.collect()
}

pub(crate) fn claude_hooks(wiring: &Wiring) -> Vec<ConfigEntry> {
    hooks_of(
        include_str!("../../../plugins/claude-code/hooks/hooks.json"),
        wiring,
    )
}

pub(crate) fn codex_hooks(wiring: &Wiring) -> Vec<ConfigEntry> {
    hooks_of(include_str!("../../../plugins/codex/hooks/hooks.json"), wiring)
}

pub(crate) fn gemini_hooks(wiring: &Wiring) -> Vec<ConfigEntry> {
    hooks_of(include_str!("../../../plugins/gemini/hooks/hooks.json"), wiring)
}

pub(crate) fn codex_provider(wiring: &Wiring) -> Vec<ConfigEntry> {
    let provider = json!({
        "name": "Quipu",
        "base_url": format!("{}/v1", wiring.server),
        "wire_api": "responses",
        "supports_websockets": false,
    });
    vec![
        ConfigEntry::new(&["model_provider"], json!("quipu")),
        ConfigEntry::new(&["model_providers", "quipu"], provider),
    ]
}

const OPENCODE_PLUGIN: &str = include_str!("../../../plugins/opencode/quipu.js");
/// The plugin's line with the command.
const OPENCODE_COMMAND: &str = r#"["quipu", "hook"]"#;

pub(crate) fn opencode_plugin(wiring: &Wiring) -> Vec<ConfigEntry> {
    let command = Value::from(wiring.command("hook")).to_string();
    vec![ConfigEntry::new(
        &[],
        OPENCODE_PLUGIN.replacen(OPENCODE_COMMAND, &command, 1).into(),
    )]
}

pub(crate) fn goose_extension(wiring: &Wiring) -> Vec<ConfigEntry> {
    let extension = json!({
        "name": "quipu",
        "type": "stdio",
        "cmd": wiring.program,
        "args": wiring.arguments("mcp"),
        "enabled": true,
        "timeout": 300,
    });
    vec![ConfigEntry::new(&["extensions", "quipu"], extension)]
}

pub(crate) fn goose_host(wiring: &Wiring) -> Vec<ConfigEntry> {
    vec![ConfigEntry::new(&["OPENAI_HOST"], wiring.server.as_str().into())]
}

pub(crate) fn claude_base_url(wiring: &Wiring) -> Vec<ConfigEntry> {
    vec![ConfigEntry::new(
        &["env", "ANTHROPIC_BASE_URL"],
        wiring.server.as_str().into(),
    )]
}

pub(crate) fn openai_by_hand(wiring: &Wiring) -> String {
    format!(
        "For the base URL, open the settings, choose the provider \"OpenAI Compatible\", and set the base URL to {}/v1.",
        wiring.server
    )
}

pub(crate) fn opencode_by_hand(wiring: &Wiring) -> String {
    let provider = json!({"provider": {"quipu": {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": format!("{}/v1", wiring.server)},
        "models": {"MODEL": {}},
    }}});
    format!("For the base URL, add a provider with your models to opencode.json: {provider}")
}

pub(crate) fn cursor_by_hand(_: &Wiring) -> String {
    "Cursor calls models from its own servers. Its base URL (Settings, Models, Override OpenAI Base URL) needs a Quipu with a \
     public address and tokens."
        .to_owned()
}

pub(crate) fn zed_by_hand(wiring: &Wiring) -> String {
    let models = json!({"language_models": {"openai_compatible": {"Quipu": {
        "api_url": format!("{}/v1", wiring.server),
        "available_models": [{"name": "MODEL", "max_tokens": 32_768}],
    }}}});
    format!("For the base URL, add your models to settings.json: {models}")
}

pub(crate) fn continue_by_hand(wiring: &Wiring) -> String {
    format!(
        "For the base URL, add `provider: openai` and `apiBase: {}/v1` to a model in config.yaml.",
        wiring.server
    )
}

pub(crate) fn librechat_by_hand(wiring: &Wiring) -> String {
    format!(
        "For the base URL, add an element to `endpoints.custom` in librechat.yaml with `name: Quipu`, `apiKey: none` and `baseURL: \
         {}/v1`.",
        wiring.server
    )
}

pub(crate) fn open_webui_tools(wiring: &Wiring) -> String {
    format!(
        "Open Admin Settings, External Tools, and add a server of the type \"MCP (Streamable HTTP)\" with the URL {}/mcp.",
        wiring.server
    )
}

pub(crate) fn open_webui_by_hand(wiring: &Wiring) -> String {
    format!(
        "For the base URL, start Open WebUI with OPENAI_API_BASE_URL={}/v1.",
        wiring.server
    )
}
