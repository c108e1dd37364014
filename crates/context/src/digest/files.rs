//! Effects of a tool's call: the files it touches, the command it runs, the todos it writes.
//!
//! Owns: reading the calls of common agents and of generic tools by their names and arguments. Never: whether the call
//! succeeded; `outcome` reads that.

use serde_json::Value;
use transcript::Call;

use super::{patch, shell};

/// Change of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Act {
    Read,
    Created,
    /// Created, or modified if it existed.
    Written,
    Modified,
    Deleted,
    Renamed,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Effect {
    pub(crate) act: Act,
    pub(crate) path: String,
    /// The former path of a renamed file.
    pub(crate) from: Option<String>,
}

impl Effect {
    /// An effect on a file that keeps its name.
    pub(crate) fn new(act: Act, path: impl Into<String>) -> Self {
        Self {
            act,
            path: path.into(),
            from: None,
        }
    }
}

/// One entry of a list of todos.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TodoEntry {
    pub(crate) text: String,
    pub(crate) done: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Deed {
    pub(crate) effects: Vec<Effect>,
    pub(crate) command: Option<String>,
    /// A whole list, which replaces the previous one.
    pub(crate) todos: Option<Vec<TodoEntry>>,
}

pub(crate) const ARGUMENTS_BYTES_MAX: usize = 4 * 1024 * 1024;
pub(crate) const PATH_BYTES_MAX: usize = 300;
const PATH_KEYS: &str = "file_path path filename file notebook_path target_file filepath relative_path \
    absolute_path file_name relative_workspace_path TargetFile AbsolutePath filePath";
const SHELLS: &str = "bash shell sh exec exec_command local_shell run_command execute_command \
    run_shell_command terminal run_terminal_cmd run_in_terminal execute_bash cmd run command \
    shell_command powershell execute zsh";

/// Effects of a call.
pub(crate) fn deed(call: &Call) -> Deed {
    let name = call.name.rsplit(['.', '/', ':']).next().unwrap_or(&call.name);
    let name = name.rsplit("__").next().unwrap_or(name);
    if let Some(effects) = patch::effects(&call.arguments) {
        return Deed {
            effects,
            ..Deed::default()
        };
    }
    let arguments = &call.arguments;
    let parsed = (arguments.len() <= ARGUMENTS_BYTES_MAX)
        .then(|| serde_json::from_str::<Value>(arguments).ok())
        .flatten();
    let Some(Value::Object(fields)) = parsed else {
        let runs = is_shell(&snake(name)) && !arguments.trim().is_empty();
        return if runs { ran(arguments) } else { Deed::default() };
    };
    if let Some(todos) = todos(&fields) {
        return Deed {
            todos: Some(todos),
            ..Deed::default()
        };
    }
    let name = snake(name);
    let paths = paths(&fields);
    if let Some(command) = command(&fields).filter(|_| paths.is_empty() || is_shell(&name)) {
        return ran(&command);
    }
    let sub = fields.get("command").and_then(Value::as_str).unwrap_or("");
    Deed {
        effects: by_name(&name, sub, &fields, &paths),
        ..Deed::default()
    }
}

fn is_shell(name: &str) -> bool {
    SHELLS.split(' ').any(|shell| shell == name)
}

/// A tool's name in snake case: `applyPatch` and `Apply-Patch` become `apply_patch`.
fn snake(name: &str) -> String {
    let mut text = String::with_capacity(name.len() + 4);
    let mut lower = false;
    for c in name.chars() {
        if c.is_ascii_uppercase() && lower {
            text.push('_');
        }
        lower = c.is_ascii_lowercase();
        text.push(if c == '-' { '_' } else { c.to_ascii_lowercase() });
    }
    text
}

fn ran(command: &str) -> Deed {
    Deed {
        effects: shell::effects(command),
        command: Some(command.to_owned()),
        todos: None,
    }
}

fn command(fields: &serde_json::Map<String, Value>) -> Option<String> {
    let value = ["command", "cmd", "script", "CommandLine"]
        .iter()
        .find_map(|key| fields.get(*key))?;
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(words) => {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            match words.as_slice() {
                [_, flag, script] if flag.starts_with('-') && flag.ends_with('c') => {
                    Some((*script).to_owned())
                }
                words => Some(words.join(" ")),
            }
        }
        _ => None,
    }
    .filter(|command| !command.trim().is_empty())
}

fn paths(fields: &serde_json::Map<String, Value>) -> Vec<String> {
    let mut found: Vec<&str> = PATH_KEYS
        .split(' ')
        .find_map(|key| fields.get(key)?.as_str())
        .into_iter()
        .collect();
    for key in ["paths", "files", "file_paths"] {
        for entry in fields.get(key).and_then(Value::as_array).into_iter().flatten() {
            found.extend(
                entry
                    .as_str()
                    .or_else(|| PATH_KEYS.split(' ').find_map(|key| entry.get(key)?.as_str())),
            );
        }
    }
    let usable =
        |path: &&str| !path.is_empty() && path.len() <= PATH_BYTES_MAX && !path.contains(['\n', '*']);
    found
        .into_iter()
        .filter(usable)
        .map(|path| path.strip_prefix("file://").unwrap_or(path).to_owned())
        .collect()
}

/// Effect of a tool with this name on the paths in its arguments; none if the name is unknown.
fn by_name(name: &str, sub: &str, fields: &serde_json::Map<String, Value>, paths: &[String]) -> Vec<Effect> {
    // For a tool with many commands, the command decides.
    let words: Vec<&str> = if sub.is_empty() { name } else { sub }.split('_').collect();
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(word));
    let text = |keys: &[&str]| {
        keys.iter()
            .find_map(|key| fields.get(*key)?.as_str())
            .map(str::to_owned)
    };
    if has(&["move", "rename", "mv"]) {
        let from = text(&["source", "old_path", "from", "src", "source_path", "old_name"])
            .or_else(|| paths.first().cloned());
        let to = text(&[
            "destination",
            "new_path",
            "to",
            "dst",
            "target",
            "destination_path",
            "new_name",
        ]);
        let renamed = from.zip(to).map(|(from, to)| Effect {
            from: Some(from),
            ..Effect::new(Act::Renamed, to)
        });
        return renamed.into_iter().collect();
    }
    let searches = has(&["glob", "grep", "search", "find", "ls", "list", "rg"]);
    let Some(act) = act(&words, searches) else {
        return Vec::new();
    };
    // Searches and views often get a folder.
    let file = |path: &&String| {
        act != Act::Read
            || path
                .rsplit('/')
                .next()
                .is_some_and(|name| name.trim_start_matches('.').contains('.') || !searches && sub.is_empty())
    };
    let files = paths.iter().filter(file);
    files.map(|path| Effect::new(act, path.as_str())).collect()
}

/// Change by the words of a tool's name; stronger words decide first.
fn act(words: &[&str], searches: bool) -> Option<Act> {
    let has = |wanted: &str| wanted.split(' ').any(|wanted| words.contains(&wanted));
    if has("directory dir folder tree directories") {
        return None;
    }
    if has("delete remove rm unlink") {
        return Some(Act::Deleted);
    }
    if has("edit edits multiedit replace patch update insert modify append diff undo str") {
        return Some(Act::Modified);
    }
    if has("create") {
        return Some(Act::Created);
    }
    if has("write save new") {
        return Some(Act::Written);
    }
    (searches || has("read view open cat show get")).then_some(Act::Read)
}

/// The entries of a list of todos: objects with a text and a status.
fn todos(fields: &serde_json::Map<String, Value>) -> Option<Vec<TodoEntry>> {
    let lists = [
        "todos", "plan", "tasks", "items", "steps", "todo_list", "task_list",
    ];
    let list = lists.iter().find_map(|key| fields.get(*key)?.as_array())?;
    let entry = |value: &Value| {
        let text = ["content", "step", "title", "task", "text", "description", "name"]
            .iter()
            .find_map(|key| value.get(*key)?.as_str())?;
        let status = value
            .get("status")
            .or_else(|| value.get("state"))
            .and_then(Value::as_str);
        let flag = value
            .get("done")
            .or_else(|| value.get("completed"))
            .and_then(Value::as_bool);
        let ended = status.map(|status| {
            matches!(
                status,
                "completed" | "done" | "complete" | "finished" | "cancelled" | "canceled"
            )
        });
        Some(TodoEntry {
            text: text.to_owned(),
            done: ended.or(flag)?,
        })
    };
    let entries: Vec<TodoEntry> = list.iter().filter_map(entry).collect();
    (!entries.is_empty()).then_some(entries)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn effects_text(name: &str, arguments: &str) -> String {
        let call = Call {
            id: "c".into(),
            name: name.into(),
            arguments: arguments.into(),
        };
        let deed = deed(&call);
        let mut parts: Vec<String> = deed
            .effects
            .iter()
            .map(|e| {
                format!(
                    "{:?} {}{}",
                    e.act,
                    e.path,
                    e.from.as_ref().map_or(String::new(), |from| format!(" < {from}"))
                )
            })
            .collect();
        parts.extend(deed.command.map(|command| format!("$ {command}")));
        parts.extend(
            deed.todos
                .into_iter()
                .flatten()
                .map(|todo| format!("[{}] {}", todo.done, todo.text)),
        );
        parts.join("; ")
    }

    #[test]
    fn calls_of_common_agents() {
        for (name, arguments, wanted) in [
            ("Read", r#"{"file_path":"/a/b.rs","limit":5}"#, "Read /a/b.rs"),
            ("Write", r#"{"file_path":"a.md","content":"x"}"#, "Written a.md"),
            ("MultiEdit", r#"{"file_path":"a.md","edits":[]}"#, "Modified a.md"),
            (
                "NotebookEdit",
                r#"{"notebook_path":"n.ipynb","new_source":""}"#,
                "Modified n.ipynb",
            ),
            ("Grep", r#"{"pattern":"x","path":"src"}"#, ""),
            (
                "Bash",
                r#"{"command":"rm x.txt","description":"d"}"#,
                "Deleted x.txt; $ rm x.txt",
            ),
            (
                "shell",
                r#"{"command":["bash","-lc","cargo test"]}"#,
                "$ cargo test",
            ),
            (
                "exec_command",
                r#"{"cmd":"git mv a b"}"#,
                "Renamed b < a; $ git mv a b",
            ),
            (
                "shell",
                r#"{"command":["apply_patch","*** Begin Patch\n*** Add File: n.rs\n+x\n*** End Patch"]}"#,
                "Created n.rs",
            ),
            (
                "apply_patch",
                "*** Begin Patch\n*** Update File: a.rs\n*** Move to: b.rs\n*** Delete File: c.rs\n*** End Patch",
                "Renamed b.rs < a.rs; Deleted c.rs",
            ),
            (
                "str_replace_editor",
                r#"{"command":"create","path":"/w/x.py","file_text":""}"#,
                "Created /w/x.py",
            ),
            (
                "str_replace_editor",
                r#"{"command":"str_replace","path":"/w/x.py"}"#,
                "Modified /w/x.py",
            ),
            ("str_replace_editor", r#"{"command":"view","path":"/w"}"#, ""),
            ("mcp__fs__read_file", r#"{"path":"LICENSE"}"#, "Read LICENSE"),
            (
                "fs.move_file",
                r#"{"source":"a","destination":"b"}"#,
                "Renamed b < a",
            ),
            ("deleteFile", r#"{"target_file":"old.ts"}"#, "Deleted old.ts"),
            (
                "update_plan",
                r#"{"plan":[{"step":"one","status":"completed"},{"step":"two","status":"pending"}]}"#,
                "[true] one; [false] two",
            ),
            ("web_search", r#"{"query":"x"}"#, ""),
            ("Read", "{broken", ""),
        ] {
            assert_eq!(effects_text(name, arguments), wanted, "{name} {arguments}");
        }
    }

    #[test]
    fn edits_as_prose() {
        let block = "Here:\n\nsrc/a.py\n```python\n<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n```";
        assert_eq!(
            patch::edit_blocks(block),
            [Effect {
                act: Act::Modified,
                path: "src/a.py".into(),
                from: None
            }]
        );
    }

    proptest! {
        #[test]
        fn any_call_is_read(name in "\\PC{0,12}", arguments in "(\\{|\\}|\"path\":|\"command\":|\"a\"|\\[|\\]|,|\\PC){0,30}") {
            effects_text(&name, &arguments);
        }
    }
}
