//! `quipu init` in a home folder of its own.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use clap::Parser;
use serde_json::Value;
use tempfile::TempDir;

use super::*;
use crate::args::{Cli, Command};
use crate::commands::tests::desk;
use crate::output::tests::SAID;

/// A home folder with some clients, and a root that is not the default one.
struct Home {
    folder: TempDir,
    place: InitPlace,
}

impl Home {
    fn new() -> Self {
        let folder = TempDir::new().expect("a folder");
        let home = folder.path().join("home");
        fs::create_dir_all(home.join(".codex")).expect("a folder");
        fs::write(home.join(".claude.json"), "{\n   \"n\": 3, // keep\n}\n").expect("is written");
        fs::write(
            home.join(".codex/config.toml"),
            "# mine\nmodel = \"m\"   # keep\n",
        )
        .expect("is written");
        let place = InitPlace {
            default_root: home.join(".quipu"),
            program: folder.path().join("bin/quipu"),
            machine: ClientMachine {
                home,
                is_mac: false,
                variables: BTreeMap::new(),
            },
        };
        Self { folder, place }
    }

    /// Runs a command line and agrees to each question that contains `agrees_to`; empty: to none.
    fn typed(&self, line: &str, agrees_to: &str) -> (Result<Exit, Failure>, String) {
        let cli = Cli::parse_from(std::iter::once("quipu").chain(line.split_whitespace()));
        let Command::Init(args) = cli.command else {
            panic!("{line}")
        };
        let desk = Desk {
            json: cli.json,
            ..desk(&self.folder.path().join("root"), &[])
        };
        SAID.take();
        let mut ask = |question: &str| Ok(!agrees_to.is_empty() && question.contains(agrees_to));
        let exit = init_on(&desk, &args, &self.place, &mut ask);
        (exit, SAID.take())
    }

    fn text(&self, file: &str) -> String {
        fs::read_to_string(self.place.machine.home.join(file)).expect("a file")
    }

    fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut files = Vec::new();
        let mut folders = vec![self.folder.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("a folder") {
                let path = entry.expect("an entry").path();
                match fs::read(&path) {
                    Ok(bytes) => files.push((path, bytes)),
                    Err(_) => folders.push(path),
                }
            }
        }
        files.sort();
        files
    }
}

#[test]
fn init_connects_installed_clients_and_undo_restores_every_byte() {
    let home = Home::new();
    let before = home.files();
    let (exit, said) = home.typed("init --yes", "");
    assert_eq!(exit.expect("is written"), Exit::Ok);
    let root = home.folder.path().join("root").display().to_string();
    assert!(said.starts_with("Claude Code\n--- "), "{said}");
    assert!(
        said.contains("\n+   \"mcpServers\": {\n") && said.contains("\n+[mcp_servers.quipu]\n"),
        "{said}"
    );
    assert!(
        said.contains("trust those of Quipu")
            && said.ends_with("4 files written; `quipu init --undo` takes that back\n")
    );
    let (claude, codex) = (home.text(".claude.json"), home.text(".codex/config.toml"));
    let program = home.place.program.display();
    assert!(
        claude.contains(&format!("\"command\": \"{program}\"")) && claude.contains("// keep"),
        "{claude}"
    );
    assert!(
        codex.contains(&format!("args = [\"mcp\", \"--root\", \"{root}\"]")) && codex.contains("# keep"),
        "{codex}"
    );
    let settings: Value = serde_json::from_str(&home.text(".claude/settings.json")).expect("JSON");
    let line = format!("{program} hook --root {root}");
    assert_eq!(settings["hooks"]["Stop"][0]["hooks"][0]["command"], line);

    let (exit, said) = home.typed("init --yes", "");
    assert_eq!(exit.expect("is written"), Exit::Ok);
    assert_eq!(
        said,
        "Claude Code: connected already\n\nCodex: connected already\n\nnothing to change\n"
    );

    let (exit, said) = home.typed("init --undo --yes", "");
    assert_eq!(exit.expect("is undone"), Exit::Ok);
    assert!(
        said.contains("\n-[mcp_servers.quipu]\n") && said.ends_with("4 of 4 files undone\n"),
        "{said}"
    );
    assert_eq!(home.files(), before);
    assert!(!home.place.machine.home.join(".claude").exists() && !home.folder.path().join("root").exists());
    assert_eq!(home.typed("init --undo", "").1, "nothing to undo\n");
}

#[test]
fn only_confirmed_changes_are_written() {
    let home = Home::new();
    let before = home.files();
    let (exit, said) = home.typed("init", "");
    assert_eq!(exit.expect("is shown"), Exit::Ok);
    assert!(
        said.contains("+[mcp_servers.quipu]") && said.ends_with("writes the changes above\n"),
        "{said}"
    );
    assert_eq!(home.files(), before);
    let (exit, said) = home.typed("init --with mcp", "Codex");
    assert_eq!(exit.expect("is written"), Exit::Ok);
    assert!(
        said.ends_with("1 file written; `quipu init --undo` takes that back\n"),
        "{said}"
    );
    assert!(
        home.text(".codex/config.toml").contains("quipu") && !home.text(".claude.json").contains("quipu")
    );
    assert!(
        home.typed("init --undo", "")
            .1
            .ends_with("nothing was undone; `quipu init --undo --yes` does it\n")
    );
    home.typed("init --undo", "Undo").0.expect("is undone");
    assert_eq!(home.files(), before);
}

#[test]
fn options_choose_clients_doors_and_the_user() {
    let mut home = Home::new();
    let json = |line: &str, home: &Home| {
        let (exit, said) = home.typed(line, "");
        exit.expect("is written");
        serde_json::from_str::<Value>(&said).expect("JSON")
    };
    let told = json(
        "--json init --yes --client goose --client open-webui --with mcp,base-url --user ana",
        &home,
    );
    assert_eq!(told["clients"], json!(["goose", "open-webui"]));
    assert_eq!(told["files"][0]["written"], true);
    assert!(
        told["notes"][1]["note"]
            .as_str()
            .is_some_and(|note| note.contains("http://127.0.0.1:4777/v1")),
        "{told}"
    );
    let goose = home.text(".config/goose/config.yaml");
    assert!(
        goose.contains("\"--user\",\"ana\"]") && goose.ends_with("OPENAI_HOST: \"http://127.0.0.1:4777\"\n"),
        "{goose}"
    );
    // The entry needs no options for the default root and user, and no path for a program on PATH.
    let bin = home.folder.path().join("bin");
    fs::create_dir(&bin).expect("a folder");
    fs::write(bin.join("quipu"), "").expect("is written");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(bin.join("quipu"), fs::Permissions::from_mode(0o755)).expect("is set");
    }
    home.place.machine.variables = BTreeMap::from([("PATH".to_owned(), bin.display().to_string())]);
    home.place.default_root = home.folder.path().join("root");
    json("--json init --yes --client zed --user me", &home);
    let zed: Value = serde_json::from_str(&home.text(".config/zed/settings.json")).expect("JSON");
    let entry = json!({"source": "custom", "command": "quipu", "args": ["mcp"], "env": {}});
    assert_eq!(zed["context_servers"]["quipu"], entry);
    for (line, words) in [
        ("init --client emacs", "there is no client `emacs`"),
        ("init --with hooks,base-url", "store it twice"),
    ] {
        let error = home.typed(line, "").0.expect_err("is refused");
        assert!(
            error.exit == Exit::Usage && error.error.to_string().contains(words),
            "{error:?}"
        );
    }
}

#[test]
fn a_refused_undo_is_reported() {
    let home = Home::new();
    home.typed("init --yes --with mcp", "").0.expect("is written");
    let file = home.place.machine.home.join(".codex/config.toml");
    fs::write(
        &file,
        home.text(".codex/config.toml")
            .replace("\"mcp\"", "\"mcp\", \"--user\", \"bo\""),
    )
    .expect("is written");
    let (exit, said) = home.typed("init --undo --yes", "");
    assert_eq!(exit.expect("is told"), Exit::Failed);
    assert!(
        said.contains("`mcp_servers.quipu` was changed since") && said.contains("1 of 2 files undone"),
        "{said}"
    );
    assert!(!home.text(".claude.json").contains("quipu") && home.text(".codex/config.toml").contains("bo"));
}

#[test]
fn a_server_on_all_addresses_is_reached_on_localhost() {
    assert_eq!(server("0.0.0.0:80"), "http://127.0.0.1:80");
    assert_eq!(server("127.0.0.1:4777"), "http://127.0.0.1:4777");
}
