//! Writing and undoing, on real files.

use std::fs;

use serde_json::{Value, json};

use super::{ALL, Home, text};
use crate::clients::edit::{remove, values};
use crate::clients::{AgentClient, CLIENTS, ClientDoor, StoreError, wired};

/// File contents in each form that a person may keep for a client.
fn samples(file: &str) -> Vec<Vec<u8>> {
    let texts: &[&str] = if file.ends_with("librechat.yaml") {
        &[
            "version: 1.2.1\ncache: true\n",
            "mcpServers: {}\n",
            "# mine\nmcpServers:\n    other:\n        command: x\n\nversion: 1.2.1",
        ]
    } else if file.ends_with("config.toml") {
        &[
            "",
            "# mine\nmodel = \"m\"   # keep\n\n[mcp_servers.other]\ncommand = \"x\"\n",
            "# no table, no end\nmodel = \"m\"",
            "[mcp_servers]\n[mcp_servers.'a.b']\r\ncommand = 'x'\r\nargs = [\r\n  \"a\", # a\r\n]\r\n",
            "[[projects]]\npath = '''\n[mcp_servers.quipu]\n'''\n[projects.at]\nday = 2026-11-23\nratio = 0.5\n",
        ]
    } else if file.ends_with("config.yaml") {
        &[
            "name: mine\nversion: 1\nschema: v1\n",
            "# mine\nmcpServers:   # all\n\nextensions:\n",
            "mcpServers: []\nextensions: {} # none\n",
            "extensions:\n    other:\n        cmd: x   # keep\n\n# models\nmodels: [a, b]\nmcpServers:\n- name: other\n  command: x\n",
            "mcpServers:\n  - name: other\n    args:\n    - a\n    command: |\n      x\n\n      # no comment\n\n\n# end",
            "models:\r\n  - name: m\r\nextensions:\r\n  other:\r\n    cmd: x\r\n",
        ]
    } else {
        &[
            "",
            "\n",
            "{}",
            "// nothing yet\n",
            "{\n}\n",
            "{ /* none */ }",
            "{\"a\":1,\"b\":[{}]}",
            "{\n  \"numStartups\": 3,\n   \"mcpServers\": { \"other\": {\"type\":\"stdio\",\"command\":\"x\",\"args\":[]} }\n}\n",
            "// mine\n{\n\t// servers\n\t\"mcpServers\": {\n\t\t\"other\": {\"command\": \"x\"}, // the other\n\t\t// end\n\t},\n\t\"theme\": \"dark\", /* c */\n}\n",
            "{\r\n    \"a\": 1.50, // half\r\n    \"hooks\": {\r\n        \"Stop\": [\r\n            {\"hooks\": []}\r\n        ]\r\n    }\r\n}",
            "{\"servers\": {}, \"context_servers\": {\n}, \"mcp\": {\"other\": {}},\n\"hooks\": {\"Stop\": [], \"SessionStart\": [{}]}}",
            "{ \"env\": {\"A\": \"b\" // a\n }, \"n\": 123456789012345678901234567890, \"u\": \"\\u00e9 \\ud83d\\ude00\" }",
        ]
    };
    let bare = texts.iter().map(|text| text.as_bytes().to_vec());
    let marked = texts
        .iter()
        .map(|text| [b"\xef\xbb\xbf", text.as_bytes()].concat());
    bare.chain(marked).collect()
}

#[test]
fn an_undo_restores_every_byte_of_every_clients_files() {
    let mut files = 0;
    for client in CLIENTS.iter() {
        let home = Home::new();
        let fresh = home.plan(&client.name, &ALL);
        let names: Vec<String> = match &*client.name {
            // These clients accept no file with Quipu's entries only, so the file must exist.
            "continue" => vec![".continue/config.yaml".to_owned()],
            "librechat" => vec!["LibreChat/librechat.yaml".to_owned()],
            _ => {
                let files = fresh.changes.iter().map(|change| &change.file);
                let names = files.map(|file| file.strip_prefix(&home.machine.home).expect("in the home"));
                names.map(|name| name.display().to_string()).collect()
            }
        };
        for name in names.iter().filter(|name| !name.ends_with("quipu.js")) {
            for (at, sample) in samples(name).into_iter().enumerate() {
                // Each write waits for the disk, so one form of each file is enough.
                there_and_back(client, name, &sample, at == 3);
            }
            files += 1;
        }
        home.apply(&fresh);
        assert_eq!(home.undo(), [""; 0]);
        let left = home.content();
        assert!(
            left.is_empty(),
            "{}: a home without files is so again: {left:?}",
            client.name
        );
    }
    assert_eq!(files, 18);
}

fn there_and_back(client: &AgentClient, name: &str, sample: &[u8], writes: bool) {
    let home = Home::new();
    let file = home.put(name, sample);
    let before = home.content();
    let plan = home.plan(&client.name, &ALL);
    let sample = std::str::from_utf8(sample).expect("text");
    let case = format!("{} {name}: {sample:?}, {:?}", client.name, plan.notes);
    let change = plan
        .changes
        .iter()
        .find(|change| change.file == file)
        .expect(&case);
    assert!(
        change.after.contains("quipu") || change.after.contains("4777"),
        "{case}"
    );
    assert_eq!(change.after.contains("\r\n"), sample.contains("\r\n"), "{case}");
    let without = change
        .added
        .iter()
        .rev()
        .fold(change.after.clone(), |text, added| {
            let text = remove(change.format, &text, added).expect(&case);
            text.expect("the entry is there")
        });
    // A section without a value is removed together with its new entry.
    let held = |text: &str| {
        let mut values = values(change.format, text).expect(&case);
        values
            .as_object_mut()
            .expect("an object")
            .retain(|_, value| !value.is_null());
        values
    };
    assert_eq!(held(&without), held(sample), "{case} {without}");
    if writes {
        home.apply(&plan);
        assert_eq!(text(&file), change.after);
        let again = home.plan(&client.name, &ALL);
        assert!(
            again.changes.is_empty(),
            "a second time changes nothing: {case} {:?}",
            again.changes
        );
        assert_eq!(home.undo(), [""; 0], "{case}");
        assert_eq!(home.content(), before, "{case}");
    }
}

#[test]
fn an_unreadable_file_is_refused_with_a_reason_and_stays() {
    for (client, name, sample, words) in [
        (
            "cursor",
            ".cursor/mcp.json",
            &b"{\"a\": 1"[..],
            "Unterminated object",
        ),
        ("cursor", ".cursor/mcp.json", b"{'a': 1}", "Single-quoted"),
        ("cursor", ".cursor/mcp.json", b"[]", "unexpected form"),
        (
            "cursor",
            ".cursor/mcp.json",
            b"{\"mcpServers\": 3}",
            "unexpected form",
        ),
        ("cursor", ".cursor/mcp.json", b"\xff\xfe{\0}\0", "not UTF-8"),
        ("codex", ".codex/config.toml", b"a = \n", "cannot be read"),
        (
            "codex",
            ".codex/config.toml",
            b"mcp_servers = {}\n",
            "unexpected form",
        ),
        ("goose", ".config/goose/config.yaml", b"a: [\n", "cannot be read"),
        (
            "goose",
            ".config/goose/config.yaml",
            b"extensions: {other: {cmd: x}}\n",
            "unexpected form",
        ),
        (
            "goose",
            ".config/goose/config.yaml",
            b"extensions: &a\n  other: {}\nb: *a\n",
            "unexpected form",
        ),
        (
            "goose",
            ".config/goose/config.yaml",
            // The blank lines belong to the block text above them.
            b"extensions:\n  a:\n    cmd: |+\n      x\n\n\nb: 1\n",
            "unexpected form",
        ),
        (
            "continue",
            ".continue/config.yaml",
            b"--- # one\na: 1\n--- # two\nb: 1\n",
            "cannot be read",
        ),
    ] {
        let home = Home::new();
        let file = home.put(name, sample);
        let plan = home.plan(client, &[ClientDoor::Mcp]);
        assert!(plan.changes.is_empty(), "{sample:?}");
        let note = &plan.notes[0];
        assert!(
            note.contains(words) && note.contains(&*file.to_string_lossy()),
            "{note}"
        );
        assert!(note.contains("by hand:\n") && note.contains("quipu"), "{note}");
    }
}

#[test]
fn an_entry_that_a_person_wrote_is_kept() {
    let home = Home::new();
    let mine =
        b"{\"mcpServers\": {\"quipu\": {\"command\": \"quipu\", \"args\": [\"mcp\", \"--user\", \"bo\"]}}}";
    let file = home.put(".cursor/mcp.json", mine);
    let plan = home.plan("cursor", &[ClientDoor::Mcp]);
    assert!(plan.changes.is_empty() && plan.is_wired);
    assert_eq!(
        plan.notes,
        [format!(
            "{}: `mcpServers.quipu` is there already, with another value; it stays as it is",
            file.display()
        )]
    );
    let hook =
        br#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "/a/quipu hook --user bo"}]}]}}"#;
    let file = home.put(".claude/settings.json", hook);
    home.apply(&home.plan("claude-code", &[ClientDoor::Hooks]));
    let settings: Value = serde_json::from_str(&text(&file)).expect("JSON");
    let hooks = settings["hooks"].as_object().expect("an object");
    assert!(
        hooks
            .values()
            .all(|hooks| hooks.as_array().is_some_and(|hooks| hooks.len() == 1)),
        "{settings}"
    );
    assert_eq!(hooks.len(), 5);
}

#[test]
fn an_undo_removes_our_entries_and_keeps_later_changes_of_others() {
    let home = Home::new();
    let claude = home.put(".claude.json", b"{\"numStartups\": 3}");
    let codex = home.put(".codex/config.toml", b"# mine\r\nmodel = \"m\"\r\n");
    let goose = home.put(".config/goose/config.yaml", b"extensions:\n  a:\n    cmd: x\n");
    let proceed = home.put(".continue/config.yaml", b"name: mine\n");
    for client in ["claude-code", "codex", "goose", "continue"] {
        home.apply(&home.plan(client, &ALL));
    }
    // Claude Code rewrites its whole file in its own layout.
    let mut values: Value = serde_json::from_str(&text(&claude)).expect("JSON");
    values["numStartups"] = json!(4);
    fs::write(&claude, serde_json::to_string_pretty(&values).expect("JSON")).expect("is written");
    fs::write(
        &codex,
        text(&codex).replace("\"m\"", "\"n\"") + "\r\n# new\r\n[tools]\r\n",
    )
    .expect("is written");
    fs::write(&goose, text(&goose).replace("    cmd: x", "    cmd: y # new")).expect("is written");
    fs::write(&proceed, text(&proceed) + "\n# new\nmodels: []\n").expect("is written");
    let settings = home.machine.home.join(".claude/settings.json");
    fs::write(
        &settings,
        text(&settings).replace('{', "{ // mine\n").replace("10", "11"),
    )
    .expect("is written");

    home.apply(&home.plan("cursor", &ALL));
    let cursor = home.machine.home.join(".cursor/mcp.json");
    fs::write(&cursor, text(&cursor).replace("ana", "bo")).expect("is written");

    let refusals = home.undo();
    assert_eq!(
        refusals,
        [
            "`mcpServers.quipu` was changed since",
            "`hooks.UserPromptSubmit` was changed since"
        ]
    );
    assert!(text(&cursor).contains("bo"));
    assert_eq!(text(&claude), "{\n  \"numStartups\": 4\n}");
    assert_eq!(
        text(&codex),
        "# mine\r\nmodel = \"n\"\r\n\r\n# new\r\n[tools]\r\n"
    );
    assert_eq!(text(&goose), "extensions:\n  a:\n    cmd: y # new\n");
    assert_eq!(text(&proceed), "name: mine\n\n# new\nmodels: []\n");
    assert!(text(&settings).contains("quipu"), "a refused file stays");

    fs::write(&settings, text(&settings).replace("11", "10")).expect("is written");
    fs::write(&cursor, text(&cursor).replace("bo", "ana")).expect("is written");
    assert_eq!(home.undo(), [""; 0], "and is undone when a person put it right");
    assert!(!settings.exists());
    assert_eq!(home.store().undo_plan().len(), 0);
}

#[test]
fn two_inits_of_one_file_are_undone_together() {
    let home = Home::new();
    let file = home.put(".codex/config.toml", b"model = \"m\"");
    home.apply(&home.plan("codex", &[ClientDoor::Mcp]));
    home.apply(&home.plan("codex", &[ClientDoor::BaseUrl]));
    assert_eq!(home.undo(), [""; 0]);
    assert_eq!(text(&file), "model = \"m\"");
    home.apply(&home.plan("codex", &[ClientDoor::Mcp]));
    fs::write(&file, text(&file).replace("\"m\"", "\"n\"")).expect("is written");
    home.apply(&home.plan("codex", &[ClientDoor::BaseUrl]));
    assert_eq!(home.undo(), [""; 0]);
    assert_eq!(
        text(&file).trim_end(),
        "model = \"n\"",
        "with the change between them"
    );
}

#[test]
fn a_file_that_changes_between_plan_and_write_is_not_written() {
    let home = Home::new();
    let file = home.put(".cursor/mcp.json", b"{}");
    let plan = home.plan("cursor", &[ClientDoor::Mcp]);
    fs::write(&file, "{\"new\": 1}").expect("is written");
    assert!(matches!(home.try_apply(&plan), Err(StoreError::Changed(changed)) if changed == file));
    assert_eq!(text(&file), "{\"new\": 1}");
    let plan = home.plan("cursor", &[ClientDoor::Mcp]);
    home.apply(&plan);
    let mut store = home.store();
    let undo = store.undo_plan();
    fs::write(&file, "{}").expect("is written");
    assert!(matches!(store.undo(&undo[0]), Err(StoreError::Changed(_))));
    assert_eq!(text(&file), "{}");
}

#[cfg(unix)]
#[test]
fn a_link_stays_and_its_target_changes_with_the_same_rights() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let home = Home::new();
    let target = home.put("dotfiles/mcp.json", b"{}");
    fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).expect("is set");
    fs::create_dir(home.machine.home.join(".cursor")).expect("a folder");
    let link = home.machine.home.join(".cursor/mcp.json");
    symlink("../dotfiles/mcp.json", &link).expect("a link");
    home.apply(&home.plan("cursor", &[ClientDoor::Mcp]));
    assert!(link.is_symlink() && text(&target).contains("quipu"));
    assert_eq!(
        target.metadata().expect("is there").permissions().mode() & 0o777,
        0o640
    );
    home.undo();
    assert!(link.is_symlink());
    assert_eq!(text(&target), "{}");
    fs::remove_file(&target).expect("is removed");
    let plan = home.plan("cursor", &[ClientDoor::Mcp]);
    assert!(
        plan.changes.is_empty() && plan.notes[0].contains("No such file"),
        "{:?}",
        plan.notes
    );
}

#[test]
fn the_list_of_changes_survives_missing_files_and_crashes() {
    let home = Home::new();
    let file = home.put(".cursor/mcp.json", b"{\"a\": 1}");
    home.apply(&home.plan("cursor", &[ClientDoor::Mcp]));
    let init = home.folder.path().join("root/init");
    let list = text(&init.join("changes.json"));
    assert_eq!(
        fs::read_dir(&init).expect("a folder").count(),
        2,
        "the list, and the text of before: {list}"
    );
    // A crash after the list was written and before the file was.
    fs::write(&file, "{\"a\": 1}").expect("is written");
    assert_eq!(home.undo(), [""; 0]);
    assert_eq!(text(&file), "{\"a\": 1}");
    assert!(!init.exists(), "nothing is left");
    // A file that somebody deleted stays deleted, and a lost original text loses nothing else.
    home.apply(&home.plan("cursor", &[ClientDoor::Mcp]));
    fs::remove_file(&file).expect("is removed");
    assert_eq!(home.undo(), [""; 0]);
    assert!(!file.exists());
    fs::write(&file, "{\"a\": 1}").expect("is written");
    home.apply(&home.plan("cursor", &[ClientDoor::Mcp]));
    for entry in fs::read_dir(&init).expect("a folder") {
        let path = entry.expect("an entry").path();
        if !path.ends_with("changes.json") {
            fs::write(path, "{\"other\": 1}").expect("is written");
        }
    }
    assert_eq!(home.undo(), [""; 0]);
    let values: Value = serde_json::from_str(&text(&file)).expect("JSON");
    assert_eq!(values, json!({"a": 1}));
}

#[test]
fn commands_of_quipu_are_found_in_every_form() {
    let home = Home::new();
    home.put(".continue/config.yaml", b"name: mine\n");
    for client in ["claude-code", "codex", "opencode", "goose", "continue", "zed"] {
        home.apply(&home.plan(client, &[ClientDoor::Mcp, ClientDoor::Hooks]));
    }
    home.put(
        ".cursor/mcp.json",
        br#"{"mcpServers": {"other": {"command": "npx", "args": ["quipu"]}}}"#,
    );
    let found = wired(&home.machine);
    let found: Vec<_> = found
        .iter()
        .map(|wired| {
            (
                &*wired.client.name,
                wired.file.file_name().and_then(|name| name.to_str()),
                wired.commands.iter().filter(|command| command.is_hook).count(),
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            ("claude-code", Some(".claude.json"), 0),
            ("claude-code", Some("settings.json"), 5),
            ("codex", Some("config.toml"), 0),
            ("codex", Some("hooks.json"), 5),
            ("opencode", Some("opencode.json"), 0),
            ("zed", Some("settings.json"), 0),
            ("continue", Some("config.yaml"), 0),
            ("goose", Some("config.yaml"), 0),
        ]
    );
    let mut commands = wired(&home.machine).into_iter().flat_map(|wired| wired.commands);
    assert!(commands.all(|command| command.program == "/opt/my tools/quipu"));
}
