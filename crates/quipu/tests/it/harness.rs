//! A root of its own, the binary run in it, and a server that speaks HTTP.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;

/// A root that is deleted when the test ends, and a folder for files that commands read.
pub(crate) struct Root {
    folder: tempfile::TempDir,
    aside: tempfile::TempDir,
}

/// The outcome of a command.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "look at the output or assert the exit code"]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Root {
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            aside: tempfile::tempdir().unwrap(),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_quipu"));
        command.env_clear().env("QUIPU_ROOT", self.path()).args(arguments);
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        let output: Output = self.command(arguments).stdin(Stdio::null()).output().unwrap();
        Ran {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Starts a command without waiting for it.
    pub(crate) fn start(&self, arguments: &[&str]) -> Child {
        let mut command = self.command(arguments);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .unwrap()
    }

    /// Starts a command with its standard input and output as pipes.
    pub(crate) fn start_piped(&self, arguments: &[&str]) -> Child {
        let mut command = self.command(arguments);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap()
    }

    /// Runs with `--json` and returns the object; the command must succeed.
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let mut all = vec!["--json"];
        all.extend(arguments);
        let ran = self.run(&all);
        assert_eq!(ran.code, 0, "{arguments:?}: {}{}", ran.stdout, ran.stderr);
        serde_json::from_str(&ran.stdout).unwrap()
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    /// Writes a file outside the root.
    pub(crate) fn write_outside(&self, name: &str, text: &str) -> PathBuf {
        let path = self.outside().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    /// A folder outside the root.
    pub(crate) fn outside(&self) -> &Path {
        self.aside.path()
    }

    /// The text of every Markdown file, with its path.
    pub(crate) fn markdown(&self) -> Vec<(PathBuf, String)> {
        let mut found = Vec::new();
        let mut folders = vec![self.path().join("memory")];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).into_iter().flatten() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|extension| extension == "md") {
                    let text = std::fs::read_to_string(&path).unwrap();
                    found.push((path, text));
                }
            }
        }
        found.sort();
        found
    }

    pub(crate) fn serve(&self) -> Server {
        self.serve_with(&[])
    }

    pub(crate) fn serve_with(&self, more: &[&str]) -> Server {
        let mut child = self
            .command(&["serve", "--listen", "127.0.0.1:0"])
            .args(more)
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        let mut first = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut first)
            .unwrap();
        let address = first.trim().rsplit("http://").next().unwrap().to_owned();
        Server { child, address }
    }
}

/// A running server; dropping it kills it.
pub(crate) struct Server {
    child: Child,
    address: String,
}

impl Server {
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        self.post_as("", path, body)
    }

    /// The same with a token.
    pub(crate) fn post_as(&self, token: &str, path: &str, body: &Value) -> (u16, Value) {
        self.send("POST", path, token, &body.to_string())
    }

    pub(crate) fn get(&self, path: &str) -> (u16, Value) {
        self.send("GET", path, "", "")
    }

    /// The body of an answer that is not JSON.
    pub(crate) fn text(&self, path: &str) -> String {
        self.raw("GET", path, "", "").1
    }

    fn send(&self, method: &str, path: &str, token: &str, body: &str) -> (u16, Value) {
        let (status, body) = self.raw(method, path, token, body);
        (status, serde_json::from_str(&body).unwrap_or(Value::Null))
    }

    fn raw(&self, method: &str, path: &str, token: &str, body: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let length = body.len();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\ncontent-type: application/json\r\ncontent-length: \
             {length}\r\nconnection: close\r\n\r\n{body}"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, body.to_owned())
    }

    /// Sends SIGTERM, as a service manager does, and returns the exit code.
    pub(crate) fn stop(mut self) -> i32 {
        let ran = Command::new("kill")
            .arg(self.child.id().to_string())
            .status()
            .unwrap();
        assert!(ran.success());
        self.child.wait().unwrap().code().unwrap_or(-1)
    }

    /// Sends SIGKILL: like a power cut for the process.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
