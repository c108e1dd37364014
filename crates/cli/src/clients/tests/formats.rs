//! The text after an edit, and random JSON in random layouts.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Home, text, wiring};
use crate::clients::ClientDoor;
use crate::clients::edit::{ConfigEntry, FileFormat, add, remove, values};

fn added(format: FileFormat, text: &str, entry: &ConfigEntry) -> String {
    let (after, added) = add(format, text, entry).expect("is accepted").expect("is new");
    let without = remove(format, &after, &added)
        .expect("is removed")
        .expect("was there");
    assert_eq!(values(format, &without), values(format, text), "{without}");
    after
}

#[test]
fn an_entry_is_added_after_its_siblings_in_their_layout() {
    let entry = ConfigEntry::new(
        &["mcpServers", "quipu"],
        json!({"command": "quipu", "args": ["mcp"]}),
    );
    for (before, after) in [
        (
            "{\n   // the servers\n   \"mcpServers\": {\n      \"a\": {}, // the first\n      // the end\n   },\n}\n",
            "{\n   // the servers\n   \"mcpServers\": {\n      \"a\": {}, // the first\n      \"quipu\": {\n         \"command\": \
             \"quipu\",\n         \"args\": [\n            \"mcp\"\n         ]\n      },\n      // the end\n   },\n}\n",
        ),
        (
            "{\"mcpServers\": {\"a\": {}}} // one line",
            "{\"mcpServers\": {\"a\": {}, \"quipu\": {\"command\":\"quipu\",\"args\":[\"mcp\"]}}} // one line",
        ),
        (
            "{\r\n\t\"a\": 1 // one\r\n}",
            "{\r\n\t\"a\": 1, // one\r\n\t\"mcpServers\": {\r\n\t\t\"quipu\": {\r\n\t\t\t\"command\": \"quipu\",\r\n\t\t\t\"args\": \
             [\r\n\t\t\t\t\"mcp\"\r\n\t\t\t]\r\n\t\t}\r\n\t}\r\n}",
        ),
    ] {
        assert_eq!(added(FileFormat::Json, before, &entry), after);
    }
}

#[test]
fn toml_gets_a_table_at_its_end_and_keys_before_its_tables() {
    let table = ConfigEntry::new(
        &["mcp_servers", "quipu"],
        json!({"command": "C:\\a \"b\"", "args": ["mcp"], "on": true}),
    );
    assert_eq!(
        added(FileFormat::Toml, "model = \"m\" # keep", &table),
        "model = \"m\" # keep\n\n[mcp_servers.quipu]\ncommand = 'C:\\a \"b\"'\nargs = [\"mcp\"]\non = true\n"
    );
    let key = ConfigEntry::new(&["model_provider"], json!("quipu"));
    assert_eq!(
        added(
            FileFormat::Toml,
            "# mine\nmodel = \"\"\"\na\n\"\"\" # keep\n# next\n[t]\nmodel_provider = 1\n",
            &key
        ),
        "# mine\nmodel = \"\"\"\na\n\"\"\" # keep\nmodel_provider = \"quipu\"\n# next\n[t]\nmodel_provider = 1\n"
    );
    assert_eq!(
        added(FileFormat::Toml, "[t]\n", &key),
        "model_provider = \"quipu\"\n[t]\n"
    );
}

#[test]
fn yaml_gets_lines_at_the_end_of_the_section() {
    let extension = ConfigEntry::new(
        &["extensions", "quipu"],
        json!({"cmd": "quipu", "args": ["mcp"], "enabled": true}),
    );
    assert_eq!(
        added(
            FileFormat::Yaml,
            "extensions:\n    a:\n        cmd: x\n        # inside\n\n# next\nb: 1\n",
            &extension
        ),
        "extensions:\n    a:\n        cmd: x\n        # inside\n    quipu:\n      cmd: \"quipu\"\n      args: [\"mcp\"]\n      enabled: \
         true\n\n# next\nb: 1\n"
    );
    let server = ConfigEntry::element(&["mcpServers"], json!({"name": "quipu", "command": "quipu"}));
    assert_eq!(
        added(FileFormat::Yaml, "mcpServers:\n- name: a\n  command: x", &server),
        "mcpServers:\n- name: a\n  command: x\n- name: \"quipu\"\n  command: \"quipu\""
    );
    assert_eq!(
        added(FileFormat::Yaml, "a: 1\nmcpServers: [] # none\n", &server),
        "a: 1\nmcpServers: [{\"name\":\"quipu\",\"command\":\"quipu\"}] # none\n"
    );
}

#[test]
fn a_command_with_spaces_is_quoted_for_the_shell_and_the_plugin() {
    let home = Home::new();
    home.apply(&home.plan("gemini-cli", &[ClientDoor::Hooks]));
    let settings: Value =
        serde_json::from_str(&text(&home.machine.home.join(".gemini/settings.json"))).expect("JSON");
    let hook = &settings["hooks"]["BeforeAgent"][0]["hooks"][0];
    assert_eq!(hook["command"], "'/opt/my tools/quipu' hook --user ana");
    assert_eq!(hook["timeout"], 10_000);
    home.apply(&home.plan("opencode", &[ClientDoor::Hooks]));
    let plugin = text(&home.machine.home.join(".config/opencode/plugin/quipu.js"));
    assert!(
        plugin.contains("const COMMAND = [\"/opt/my tools/quipu\",\"hook\",\"--user\",\"ana\"];"),
        "{plugin}"
    );
    assert_eq!(wiring().program, "/opt/my tools/quipu");
}

/// A value's text with white space, comments and commas in places where people put them.
fn written(value: &Value, dice: &mut dyn FnMut(usize) -> usize) -> String {
    let gap = |dice: &mut dyn FnMut(usize) -> usize| {
        let gaps = [
            "",
            "",
            " ",
            "\n",
            "\n   ",
            "\t",
            " // c \"{\n",
            "/* , } */",
            "\n\n  // d\n  ",
            "\r\n",
        ];
        gaps[dice(gaps.len())].to_owned()
    };
    let (open, close, items): (_, _, Vec<String>) = match value {
        Value::Array(items) => ("[", "]", items.iter().map(|item| written(item, dice)).collect()),
        Value::Object(object) => {
            let mut items = Vec::new();
            for (key, value) in object {
                let (before, after) = (gap(dice), gap(dice));
                items.push(format!(
                    "{}{before}:{after}{}",
                    Value::from(key.as_str()),
                    written(value, dice)
                ));
            }
            ("{", "}", items)
        }
        scalar => return scalar.to_string(),
    };
    let mut text = open.to_owned() + &gap(dice);
    for (at, item) in items.iter().enumerate() {
        text += item;
        text += &gap(dice);
        if at + 1 < items.len() || dice(3) == 0 {
            text += ",";
            text += &gap(dice);
        }
    }
    text + close
}

fn tree() -> impl Strategy<Value = Value> {
    let key = prop_oneof![
        Just("mcpServers".to_owned()),
        Just("hooks".to_owned()),
        Just("Stop".to_owned()),
        Just("quipu".to_owned()),
        "[a-z\"\\\\é]{0,3}",
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[ -~ä\n]{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key.clone(), inner), 0..4)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn only_the_entry_changes_in_any_layout_of_json(value in tree(), dice in prop::collection::vec(any::<u8>(), 200), element: bool) {
        let mut at = 0;
        let mut roll = |sides: usize| {
            at += 1;
            usize::from(dice[at % dice.len()]) % sides
        };
        let before = written(&value, &mut roll);
        let entry = if element {
            ConfigEntry::element(&["hooks", "Stop"], json!({"command": "quipu hook"}))
        } else {
            ConfigEntry::new(&["mcpServers", "quipu"], json!({"command": "quipu", "args": ["mcp"]}))
        };
        prop_assert_eq!(values(FileFormat::Json, &before).expect("is read"), if value.is_null() { json!({}) } else { value });
        // An accepted edit only inserts text: every character of the old text is still there, in order.
        if let Ok(Some((after, added))) = add(FileFormat::Json, &before, &entry) {
            let mut rest = after.as_str();
            for c in before.chars() {
                let found = rest.find(c);
                prop_assert!(found.is_some(), "{} is gone:\n{}\n{}", c, before, after);
                rest = &rest[found.unwrap_or_default() + c.len_utf8()..];
            }
            prop_assert_eq!(add(FileFormat::Json, &after, &entry), Ok(None));
            let without = remove(FileFormat::Json, &after, &added).expect("is removed").expect("was there");
            prop_assert_eq!(values(FileFormat::Json, &without), values(FileFormat::Json, &before), "{}", without);
        }
    }

    #[test]
    fn a_text_that_is_not_a_configuration_is_refused(text in "[{}\\[\\]\",:a#/*\n -]{0,30}") {
        let entry = ConfigEntry::new(&["mcpServers", "quipu"], json!({"command": "quipu"}));
        for format in [FileFormat::Json, FileFormat::Toml, FileFormat::Yaml] {
            if let Ok(Some((after, added))) = add(format, &text, &entry) {
                let without = remove(format, &after, &added).map(|without| without.map(|text| values(format, &text)));
                prop_assert_eq!(without, Ok(Some(values(format, &text))), "{:?} {}", format, after);
            }
        }
    }
}
