//! The README's "Five minutes", typed line by line in a fresh home.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::json;

/// A home with the files that the README assumes, and a shell in it.
struct Home {
    folder: tempfile::TempDir,
}

impl Home {
    fn new() -> Self {
        let home = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        let said = [
            json!({"role": "user", "sender_id": "ben", "session_id": "s1", "timestamp": "2024-03-04T09:00:00Z", "content": "My boat is called Marula."}),
            json!({"role": "assistant", "session_id": "s1", "timestamp": "2024-03-04T09:00:30Z", "content": "A fine name."}),
        ];
        home.write("chats.jsonl", &said.map(|line| line.to_string()).join("\n"));
        let session = [
            json!({"role": "system", "content": "You mend code."}),
            json!({"role": "user", "content": "Make the importer retry."}),
            json!({"role": "assistant", "content": "It retries now."}),
        ];
        home.write("session.jsonl", &session.map(|line| line.to_string()).join("\n"));
        let pdf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../gateway/tests/fixtures/reportlab.pdf");
        std::fs::copy(pdf, home.path().join("handbook.pdf")).unwrap();
        // The editor appends a line of its own to each file.
        home.write(
            "edit",
            "for file; do test -f \"$file\" || exit 1; printf '\\n## Tea\\n\\nI drink gyokuro.\\n' >> \"$file\"; done\n",
        );
        home
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    fn shell(&self, line: &str) -> Command {
        let mut command = Command::new("sh");
        command
            .args(["-c", &format!("quipu() {{ \"$QUIPU\" \"$@\"; }}\n{line}")])
            .env("QUIPU", env!("CARGO_BIN_EXE_quipu"))
            .env("HOME", self.path())
            .env("EDITOR", "sh edit")
            // Another test may use the port.
            .env("QUIPU_SERVER__LISTEN", "127.0.0.1:0")
            .env_remove("QUIPU_ROOT")
            .current_dir(self.path())
            .stdin(Stdio::null());
        command
    }

    /// Types a line and returns its output; it must succeed.
    fn types(&self, line: &str) -> String {
        let ran = self.shell(line).output().unwrap();
        let [out, err] = [ran.stdout, ran.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        assert!(ran.status.success(), "{line}\n{out}{err}");
        out
    }

    /// Types a line that starts a server, and waits until it listens.
    fn serves(&self, line: &str) -> Child {
        let line = line.replacen("quipu ", "exec \"$QUIPU\" ", 1);
        let mut child = self.shell(&line).stdout(Stdio::piped()).spawn().unwrap();
        let mut first = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut first)
            .unwrap();
        assert!(first.contains("on http://127.0.0.1:"), "{line}: {first}");
        child
    }
}

/// Stops a server with SIGTERM and checks its exit code.
fn stop(server: Option<Child>) {
    let Some(mut server) = server else { return };
    let told = Command::new("kill")
        .arg(server.id().to_string())
        .status()
        .unwrap();
    assert!(told.success());
    assert!(server.wait().unwrap().success());
}

/// The lines of the first shell block below "Five minutes", without the one that names the binary.
fn lines() -> Vec<String> {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let readme = std::fs::read_to_string(readme).unwrap();
    let (_, part) = readme.split_once("## Five minutes").unwrap();
    let (_, block) = part.split_once("```sh\n").unwrap();
    let (block, _) = block.split_once("```").unwrap();
    let lines = block.lines().map(str::trim);
    let typed = lines.filter(|line| !line.is_empty() && !line.starts_with("quipu()"));
    typed.map(str::to_owned).collect()
}

#[test]
fn every_line_works_when_typed_in_order_in_a_fresh_home() {
    let home = Home::new();
    let (mut server, mut searched) = (None, 0);
    for line in lines() {
        if line.starts_with("quipu serve") {
            stop(server.take());
            server = Some(home.serves(&line));
            continue;
        }
        let told = home.types(&line);
        if line.starts_with("quipu search") {
            searched += 1;
            let (first, not) = if line.contains("--as-of") {
                ("Berlin", "Lisbon")
            } else {
                ("Kiko", "nothing")
            };
            let top = told.lines().next().unwrap();
            assert!(top.contains(first) && !told.contains(not), "{line}\n{told}");
            assert!(told.contains("said by ana, "), "{line}\n{told}");
            assert!(!told.contains("score"), "{line}\n{told}");
        }
        if line.starts_with("$EDITOR") {
            let found = home.types("quipu sync; quipu search --user ana 'Which tea?'");
            assert!(found.contains("gyokuro"), "{found}");
        }
        if line.starts_with("quipu forget") {
            let found = home.types("quipu search --user ana parrot");
            assert_eq!(found, "nothing found\n");
        }
    }
    assert!(server.is_some() && searched >= 2, "the README lost a line");
    stop(server);
}
