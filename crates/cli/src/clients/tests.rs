//! Files as people keep them: only the entry changes, and an undo restores every byte.

mod files;
mod formats;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::{
    AgentClient, CLIENTS, ChangeStore, ClientDoor, ClientMachine, ClientPlan, StoreError, Wiring, plan,
};

const ALL: [ClientDoor; 3] = [ClientDoor::Mcp, ClientDoor::Hooks, ClientDoor::BaseUrl];

/// A home folder with a root of Quipu in it.
struct Home {
    folder: TempDir,
    machine: ClientMachine,
}

impl Home {
    fn new() -> Self {
        let folder = TempDir::new().expect("a folder");
        let machine = ClientMachine {
            home: folder.path().join("home"),
            is_mac: false,
            variables: BTreeMap::new(),
        };
        fs::create_dir_all(folder.path().join("root/init")).expect("a folder");
        fs::create_dir_all(&machine.home).expect("a folder");
        Self { folder, machine }
    }

    fn store(&self) -> ChangeStore {
        ChangeStore::open(self.folder.path().join("root/init")).expect("a store")
    }

    fn put(&self, file: &str, text: &[u8]) -> PathBuf {
        let file = self.machine.home.join(file);
        fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
        fs::write(&file, text).expect("is written");
        file
    }

    fn plan(&self, client: &str, doors: &[ClientDoor]) -> ClientPlan {
        plan(
            AgentClient::named(client).expect("a client"),
            &self.machine,
            &wiring(),
            doors,
        )
    }

    fn apply(&self, plan: &ClientPlan) {
        self.try_apply(plan).expect("is written");
    }

    fn try_apply(&self, plan: &ClientPlan) -> Result<(), StoreError> {
        let mut store = self.store();
        fs::create_dir_all(self.folder.path().join("root/init")).expect("a folder");
        plan.changes.iter().try_for_each(|change| store.apply(change))
    }

    /// Undoes every change and returns the refusals.
    fn undo(&self) -> Vec<String> {
        let mut store = self.store();
        let plan = store.undo_plan();
        for restored in &plan {
            store.undo(restored).expect("is undone");
        }
        let refusals = plan
            .into_iter()
            .filter_map(|restored| Some(restored.then.err()?.to_string()));
        refusals.collect()
    }

    /// Every file and folder of the home, with its content.
    fn content(&self) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
        let mut content = BTreeMap::new();
        let mut folders = vec![self.machine.home.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).expect("a folder") {
                let path = entry.expect("an entry").path();
                if path.is_dir() {
                    folders.push(path.clone());
                }
                content.insert(path.clone(), fs::read(&path).ok());
            }
        }
        content
    }
}

fn wiring() -> Wiring {
    Wiring {
        program: "/opt/my tools/quipu".to_owned(),
        options: vec!["--user".to_owned(), "ana".to_owned()],
        server: "http://127.0.0.1:4777".to_owned(),
    }
}

fn text(file: &Path) -> String {
    fs::read_to_string(file).expect("a file")
}

#[test]
fn a_client_is_found_by_its_files_or_by_its_program() {
    let mut home = Home::new();
    let found = |machine: &ClientMachine| {
        let found = CLIENTS.iter().filter(|client| client.is_installed(machine));
        found.map(|client| client.name.as_str()).collect::<Vec<_>>()
    };
    assert_eq!(found(&home.machine), [""; 0]);
    home.put(".claude.json", b"{}");
    home.put(".codex/config.toml", b"");
    home.put("bin/zeditor", b"");
    home.put("elsewhere/goose/config.yaml", b"");
    let variable = |name: &str, rest: &str| {
        (
            name.to_owned(),
            home.machine.home.join(rest).display().to_string(),
        )
    };
    home.machine.variables =
        BTreeMap::from([variable("PATH", "bin"), variable("XDG_CONFIG_HOME", "elsewhere")]);
    assert_eq!(
        found(&home.machine),
        ["claude-code", "codex", "goose"],
        "zeditor cannot be run"
    );
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let program = home.machine.home.join("bin/zeditor");
        fs::set_permissions(program, fs::Permissions::from_mode(0o755)).expect("is set");
        assert_eq!(found(&home.machine), ["claude-code", "codex", "zed", "goose"]);
    }
}

#[test]
fn variables_and_macos_change_the_paths_of_the_files() {
    let mut home = Home::new();
    let files = |machine: &ClientMachine, client: &str| {
        let plan = plan(
            AgentClient::named(client).expect("a client"),
            machine,
            &wiring(),
            &ALL,
        );
        let files = plan
            .changes
            .iter()
            .map(|change| change.file.display().to_string());
        files.collect::<Vec<_>>()
    };
    let base = home.machine.home.display().to_string();
    let below = |rest: &str| format!("{base}/{rest}");
    assert_eq!(
        files(&home.machine, "claude-code"),
        [below(".claude.json"), below(".claude/settings.json")]
    );
    assert_eq!(
        files(&home.machine, "vscode"),
        [below(".config/Code/User/mcp.json")]
    );
    home.machine.is_mac = true;
    home.machine.variables = BTreeMap::from([
        ("CLAUDE_CONFIG_DIR".to_owned(), "/c".to_owned()),
        ("CODEX_HOME".to_owned(), String::new()),
    ]);
    assert_eq!(
        files(&home.machine, "claude-code"),
        ["/c/.claude.json", "/c/settings.json"]
    );
    assert_eq!(
        files(&home.machine, "codex"),
        [below(".codex/config.toml"), below(".codex/hooks.json")]
    );
    assert_eq!(
        files(&home.machine, "vscode"),
        [below("Library/Application Support/Code/User/mcp.json")]
    );
    assert_eq!(files(&home.machine, "zed"), [below(".config/zed/settings.json")]);
}
