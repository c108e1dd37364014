//! An agent's actions in a made-up talk: it reads, searches, changes files, runs commands, and says so.
//!
//! Owns: calls in the forms of four agents with their results, and the true state of files and commands.
//! Never: needles.

use std::fmt::Write as _;

use transcript::{Block, Call, Item, Outcome, Role};

use super::Talk;
use super::phrases::TALK;

impl Talk {
    pub(super) fn noise(&mut self) -> String {
        let path = self.dice.path();
        self.dice.of(&TALK).replace("{}", &path)
    }

    pub(super) fn call(&mut self, name: &str, arguments: String, result: String, failed: bool) {
        self.calls += 1;
        let id = format!("call_{}", self.calls);
        let call = Call {
            id: id.clone(),
            name: name.to_owned(),
            arguments,
        };
        let mut blocks = vec![Block::Call(call)];
        if self.dice.roll(3) == 0 {
            blocks.insert(0, Block::Text(self.noise()));
        }
        self.push(Item {
            role: Role::Assistant,
            blocks,
            raw: None,
            edited: false,
        });
        let outcome = Outcome {
            call_id: id,
            text: result,
            failed,
            images: 0,
        };
        self.push(Item {
            role: Role::Tool,
            blocks: vec![Block::Outcome(outcome)],
            raw: None,
            edited: false,
        });
    }

    pub(super) fn shell(&mut self, command: &str, output: String, code: i32) {
        let quoted = command.replace('\\', "\\\\").replace('"', "\\\"");
        let (name, arguments, result) = match self.agent {
            0 => (
                "Bash",
                format!(r#"{{"command":"{quoted}","description":"run it"}}"#),
                if code == 0 {
                    output
                } else {
                    format!("Exit code {code}\n{output}")
                },
            ),
            1 => (
                "shell",
                format!(r#"{{"command":["bash","-lc","{quoted}"],"workdir":"."}}"#),
                format!("Exit code: {code}\nWall time: 0.4 seconds\nOutput:\n{output}"),
            ),
            2 => (
                "execute_bash",
                format!(r#"{{"command":"{quoted}"}}"#),
                format!("{output}\n[The command completed with exit code {code}.]"),
            ),
            _ => (
                "run_command",
                format!(r#"{{"cmd":"{quoted}"}}"#),
                format!("<returncode>{code}</returncode>\n<output>\n{output}\n</output>"),
            ),
        };
        let end = if code == 0 {
            "ok".to_owned()
        } else {
            format!("exit {code}")
        };
        self.commands.insert(command.to_owned(), end);
        self.call(name, arguments, result, code != 0 && self.agent == 0);
    }

    pub(super) fn touch(&mut self, path: &str, state: &str) {
        let known = self.files.get(path).map(String::as_str);
        let state = match (known, state) {
            (Some(_), "read PATH") => return,
            (Some(known), "modified PATH")
                if known.starts_with("created") || known.starts_with("renamed") =>
            {
                return;
            }
            _ => state,
        };
        self.files.insert(path.to_owned(), state.to_owned());
    }

    fn known_path(&mut self) -> String {
        let alive: Vec<String> = self
            .files
            .iter()
            .filter(|(_, state)| !state.starts_with("deleted"))
            .map(|(path, _)| path.clone())
            .collect();
        let pick = self.dice.roll(alive.len());
        if alive.is_empty() || self.dice.roll(3) == 0 {
            self.dice.path()
        } else {
            alive[pick].clone()
        }
    }

    fn code(&mut self, lines: usize) -> String {
        let mut text = String::new();
        for number in 1..=lines {
            let (word, other) = (self.dice.word(), self.dice.word());
            let line = match self.dice.roll(7) {
                0 => format!("use crate::{word}::{other};"),
                1 => format!("fn {word}_{other}(input: &str, limit: usize) -> Result<{other}, Error> {{"),
                2 => format!("    let {word} = {other}.get({number})?;"),
                3 => format!("    // {word} keeps the order of the {other}"),
                4 => format!(
                    "    if {word}.len() > {} {{ return Err(Error::{other}); }}",
                    self.dice.roll(5000)
                ),
                5 => format!("    client.send(\"{word}\", &{other}).await?;"),
                _ => "}".to_owned(),
            };
            let _ = writeln!(text, "{number:>5}\t{line}");
        }
        text
    }

    pub(super) fn search(&mut self, needle: Option<&str>) -> String {
        let count = 5 + self.dice.roll(25);
        let at = self.dice.roll(count);
        let mut text = String::new();
        for number in 0..count {
            let (path, line, word) = (self.dice.path(), self.dice.roll(900), self.dice.word());
            let _ = writeln!(text, "{path}:{line}:    let {word} = load()?;");
            if let Some(needle) = needle.filter(|_| number == at) {
                let _ = writeln!(text, "{needle}:    let {word} = load()?;");
            }
        }
        text
    }

    pub(super) fn log(&mut self, needle: Option<&str>) -> String {
        let count = 10 + self.dice.roll(40);
        let at = self.dice.roll(count);
        let mut text = String::new();
        for number in 0..count {
            let (word, hex, took) = (self.dice.word(), self.dice.hex(8), self.dice.roll(900));
            let _ = writeln!(text, "test {word}::handles_{hex} ... ok ({took} ms)");
            if let Some(needle) = needle.filter(|_| number == at) {
                let _ = writeln!(text, "{needle}");
            }
        }
        text
    }

    pub(super) fn look(&mut self) {
        let path = self.known_path();
        let lines = 10 + self.dice.roll(80);
        let code = self.code(lines);
        match (self.agent, self.dice.roll(3)) {
            (_, 0) => {
                let (word, found) = (self.dice.word(), self.search(None));
                self.shell(&format!("grep -rn {word} ."), found, 0);
                return;
            }
            (0, _) => self.call("Read", format!(r#"{{"file_path":"{path}"}}"#), code, false),
            (2, _) => self.call(
                "str_replace_editor",
                format!(r#"{{"command":"view","path":"{path}"}}"#),
                code,
                false,
            ),
            (3, _) => self.call("read_file", format!(r#"{{"path":"{path}"}}"#), code, false),
            _ => self.shell(&format!("sed -n 1,80p {path}"), code, 0),
        }
        self.touch(&path, "read PATH");
    }

    /// Reads two files at once: one item calls, two bring the results.
    pub(super) fn survey(&mut self) {
        let mut blocks = vec![Block::Text(self.noise())];
        let mut results = Vec::new();
        for _ in 0..2 {
            self.calls += 1;
            let (id, path) = (format!("call_{}", self.calls), self.known_path());
            let lines = 5 + self.dice.roll(40);
            results.push(Item::outcome(&id, self.code(lines)));
            blocks.push(Block::Call(Call {
                id,
                name: "Read".to_owned(),
                arguments: format!(r#"{{"file_path":"{path}"}}"#),
            }));
            self.touch(&path, "read PATH");
        }
        self.push(Item {
            role: Role::Assistant,
            blocks,
            raw: None,
            edited: false,
        });
        for item in results {
            self.push(item);
        }
    }

    pub(super) fn change(&mut self) {
        if self.dice.roll(5) == 0 {
            return self.remove_or_move();
        }
        let fresh = self.dice.roll(3) == 0;
        let path = if fresh {
            self.dice.path()
        } else {
            self.known_path()
        };
        let fails = !fresh && self.dice.roll(8) == 0;
        let body = self.dice.word();
        let result = if fails {
            "No match for the old text was found"
        } else {
            "Done."
        }
        .to_owned();
        let (name, arguments) = match (self.agent, fresh) {
            (0, true) => ("Write", format!(r#"{{"file_path":"{path}","content":"{body}"}}"#)),
            (0, false) => (
                "Edit",
                format!(r#"{{"file_path":"{path}","old_string":"a","new_string":"{body}"}}"#),
            ),
            (1, fresh) => (
                "apply_patch",
                format!(
                    "*** Begin Patch\n*** {} File: {path}\n+{body}\n*** End Patch",
                    if fresh { "Add" } else { "Update" }
                ),
            ),
            (2, true) => (
                "str_replace_editor",
                format!(r#"{{"command":"create","path":"{path}","file_text":"{body}"}}"#),
            ),
            (2, false) => (
                "str_replace_editor",
                format!(r#"{{"command":"str_replace","path":"{path}","old_str":"a","new_str":"{body}"}}"#),
            ),
            (_, true) => (
                "create_file",
                format!(r#"{{"path":"{path}","contents":"{body}"}}"#),
            ),
            (_, false) => (
                "edit_file",
                format!(r#"{{"target_file":"{path}","code_edit":"{body}"}}"#),
            ),
        };
        self.call(name, arguments, result, fails);
        if !fails {
            self.touch(&path, if fresh { "created PATH" } else { "modified PATH" });
        }
    }

    fn remove_or_move(&mut self) {
        let path = self.known_path();
        if self.dice.roll(2) == 0 {
            let command = self
                .dice
                .of(&["rm {}", "git rm -q {}", "rm -f ./{} && git status"])
                .replace("{}", &path);
            self.shell(&command, String::new(), 0);
            self.touch(&path, "deleted PATH");
        } else {
            let new = self.dice.path();
            let command = format!("{} {path} {new}", self.dice.of(&["git mv", "mv"]));
            self.shell(&command, String::new(), 0);
            self.files.remove(&path);
            self.files.insert(new, format!("renamed PATH (was {path})"));
        }
    }

    pub(super) fn run(&mut self) {
        let word = self.dice.word();
        let command = self
            .dice
            .of(&[
                "cargo test -p {}",
                "pytest tests/{} -q",
                "npm run build -- --only {}",
                "go vet ./{}",
                "make {}",
                "docker compose up -d {}",
            ])
            .replace("{}", &word);
        let (output, code) = if self.dice.roll(4) == 0 {
            let (path, line) = (self.dice.path(), self.dice.roll(300));
            (
                format!(
                    "{}error: expected `;`, found `{word}`\n --> {path}:{line}:9\n",
                    self.log(None)
                ),
                1 + i32::try_from(self.dice.roll(2)).unwrap_or(0),
            )
        } else {
            (self.log(None), 0)
        };
        self.shell(&command, output, code);
    }
}
