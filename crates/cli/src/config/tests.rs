//! Every key has a default, a place in the example, a variable, and a helpful error for a typo.

use std::path::Path;

use super::{Config, load};

fn env(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs
        .iter()
        .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
        .collect()
}

fn problem(file: &str, pairs: &[(&str, &str)]) -> String {
    let root = tempfile::tempdir().unwrap();
    std::fs::write(root.path().join("quipu.toml"), file).unwrap();
    let error = load(root.path(), env(pairs)).unwrap_err().error.to_string();
    error.replace(&root.path().display().to_string(), "ROOT")
}

#[test]
fn an_empty_configuration_has_every_default() {
    let loaded = load(Path::new("no such folder"), env(&[])).unwrap();
    assert_eq!(loaded.config, Config::default());
    assert!(loaded.rows().iter().all(|(_, _, source)| source == "default"));
}

#[test]
fn the_example_shows_every_key_with_its_default() {
    let example = include_str!("../../../../docs/quipu.example.toml");
    assert_eq!(toml::from_str::<Config>(example).unwrap(), Config::default());
    let uncommented: toml::Table = example.parse().unwrap();
    let all = toml::Table::try_from(Config::default()).unwrap();
    for (section, keys) in &all {
        for key in keys.as_table().unwrap().keys() {
            assert!(
                uncommented[section].get(key).is_some(),
                "{section}.{key} is not in the example"
            );
        }
    }
}

#[test]
fn the_environment_overrides_the_file_and_both_are_named_as_origin() {
    let root = tempfile::tempdir().unwrap();
    std::fs::write(
        root.path().join("quipu.toml"),
        "[memory]\ntimezone = \"Asia/Tokyo\"\ngap_minutes = 5\n",
    )
    .unwrap();
    let pairs = [
        ("QUIPU_MEMORY__GAP_MINUTES", "7"),
        ("QUIPU_CHAT__MODEL", "12"),
        ("QUIPU_ROOT", "x"),
    ];
    let loaded = load(root.path(), env(&pairs)).unwrap();
    assert_eq!(loaded.config.memory.timezone, "Asia/Tokyo");
    assert_eq!(loaded.config.memory.gap_minutes, 7);
    assert_eq!(
        loaded.config.chat.model, "12",
        "a text key takes the variable's text as it is"
    );
    let source = |key: &str| loaded.rows().into_iter().find(|(own, ..)| own == key).unwrap().2;
    assert!(source("memory.timezone").ends_with("quipu.toml"));
    assert_eq!(source("memory.gap_minutes"), "QUIPU_MEMORY__GAP_MINUTES");
}

#[test]
fn every_default_can_be_set_by_its_variable() {
    let rows = load(Path::new("no such folder"), env(&[])).unwrap().rows();
    for (key, value, _) in rows {
        let variable = format!("QUIPU_{}", key.to_uppercase().replace('.', "__"));
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let loaded = load(Path::new("no such folder"), [(variable.clone(), text)]).unwrap();
        assert_eq!(loaded.config, Config::default(), "{variable}");
    }
}

#[test]
fn a_typo_gets_a_suggestion() {
    expect_test::expect![[r"`ROOT/quipu.toml`: unknown key `timezon`, did you mean `timezone`?"]]
        .assert_eq(&problem("[memory]\ntimezon = \"UTC\"", &[]));
    expect_test::expect![[r"`QUIPU_MEMRY__TIMEZONE`: unknown key `memry`, did you mean `memory`?"]]
        .assert_eq(&problem("", &[("QUIPU_MEMRY__TIMEZONE", "UTC")]));
    assert!(problem("[memory]\ngap_minutes = \"x\"", &[]).contains("invalid type"));
    assert!(problem("[memory", &[]).contains("not valid TOML"));
}

#[test]
fn secrets_are_hidden() {
    let pairs = [
        ("QUIPU_CHAT__API_KEY", "sk-very-secret"),
        ("QUIPU_SERVER__TOKENS", "[{secret = \"hush\"}]"),
    ];
    let shown = format!(
        "{:?}",
        load(Path::new("no such folder"), env(&pairs)).unwrap().rows()
    );
    assert!(!shown.contains("secret\"") || !shown.contains("hush"), "{shown}");
    assert!(!shown.contains("sk-very"), "{shown}");
}

#[test]
fn a_configuration_without_its_secrets_is_toml_with_all_other_keys() {
    let (text, left_out) = super::portable(
        "[chat]\nmodel = \"m\"\napi_key = \"k\"\n\n[server]\ntokens = [{ secret = \"t\" }, { secret = \"env:HERE\" }]\n",
    );
    assert_eq!(left_out, ["chat.api_key", "server.tokens[0].secret"]);
    let table: toml::Table = text.parse().expect("TOML");
    let expected = "[chat]\nmodel = \"m\"\n[server]\ntokens = [{ secret = \"env:QUIPU_TOKEN_2\" }, { secret = \"env:HERE\" }]\n";
    assert_eq!(table, expected.parse().expect("TOML"));
}
