//! The entries that connect a client: a command for MCP, commands for hooks, an address.

use serde_json::Value;

use super::edit::ConfigEntry;
use super::table::FileEdit;

/// How a client reaches Quipu.
#[derive(Debug, Clone)]
pub(crate) struct Wiring {
    /// Program as the client starts it: `quipu`, or an absolute path.
    pub(crate) program: String,
    /// Options other than the defaults, as in `["--user", "ana"]`.
    pub(crate) options: Vec<String>,
    /// Address of the server, as in `http://127.0.0.1:4777`.
    pub(crate) server: String,
}

impl Wiring {
    fn arguments(&self, command: &str) -> Vec<String> {
        let options = self.options.iter().cloned();
        std::iter::once(command.to_owned()).chain(options).collect()
    }

    fn command(&self, command: &str) -> Vec<String> {
        let mut words = self.arguments(command);
        words.insert(0, self.program.clone());
        words
    }

    /// An instruction for a person, with the server's address filled in.
    pub(crate) fn text(&self, text: &str) -> String {
        text.replace("$SERVER", &self.server)
    }

    /// A value of the table with its variables replaced.
    fn filled(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => match text.as_str() {
                "$PROGRAM" => self.program.as_str().into(),
                "$MCP" => self.arguments("mcp").into(),
                "$MCP_COMMAND" => self.command("mcp").into(),
                text => self.text(text).into(),
            },
            Value::Object(fields) => {
                let fields = fields
                    .iter()
                    .map(|(key, value)| (key.clone(), self.filled(value)));
                Value::Object(fields.collect())
            }
            other => other.clone(),
        }
    }

    /// The entries of an edit.
    pub(crate) fn entries(&self, edit: &FileEdit) -> Vec<ConfigEntry> {
        let own = edit.entries.iter().map(|entry| ConfigEntry {
            value: self.filled(&entry.value),
            ..entry.clone()
        });
        let plugin = edit.plugin.as_deref().map(|name| plugin(name, self));
        own.chain(plugin.unwrap_or_default()).collect()
    }

    /// The hook command as a shell line.
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

/// The line of the plugin that names the command.
const OPENCODE_COMMAND: &str = r#"["quipu", "hook"]"#;

/// The hooks of a plugin; `None` for a plugin that is a program.
fn hooks(plugin: &str) -> Option<&'static str> {
    match plugin {
        "claude-code" => Some(include_str!("../../../../plugins/claude-code/hooks/hooks.json")),
        "codex" => Some(include_str!("../../../../plugins/codex/hooks/hooks.json")),
        "gemini" => Some(include_str!("../../../../plugins/gemini/hooks/hooks.json")),
        _ => None,
    }
}

/// The entries of a plugin, with this machine's command.
fn plugin(name: &str, wiring: &Wiring) -> Vec<ConfigEntry> {
    let Some(hooks) = hooks(name) else {
        let command = Value::from(wiring.command("hook")).to_string();
        let plugin = include_str!("../../../../plugins/opencode/quipu.js");
        let whole = plugin.replacen(OPENCODE_COMMAND, &command, 1);
        return vec![ConfigEntry::new(&[], whole.into())];
    };
    let hooks = hooks.replace("\"quipu hook\"", &Value::from(wiring.hook()).to_string());
    let hooks: Value = serde_json::from_str(&hooks).expect("a file of this repository is JSON");
    let events = hooks["hooks"].as_object().into_iter().flatten();
    let hooks = events.flat_map(|(event, hooks)| {
        let hooks = hooks.as_array().into_iter().flatten();
        hooks.map(|hook| ConfigEntry::element(&["hooks", event], hook.clone()))
    });
    hooks.collect()
}
