//! Reads the file and the environment into one [`Config`], and records the origin of each value.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use super::portable::each_secret;
use super::schema::Config;
use crate::error::Failure;
use crate::private::if_there;
use crate::root::CONFIGURATION;

/// Prefix of Quipu's environment variables.
const PREFIX: &str = "QUIPU_";

/// The effective configuration.
#[derive(Debug)]
pub(crate) struct LoadedConfig {
    pub(crate) config: Config,
    pub(crate) file: PathBuf,
    /// By key: the file or the variable that set it.
    sources: BTreeMap<String, String>,
}

impl LoadedConfig {
    /// Origin of `section.key`.
    fn source(&self, key: &str) -> String {
        self.sources.get(key).map_or("default", String::as_str).to_owned()
    }

    /// Every key with its effective value, secrets hidden, and its origin.
    pub(crate) fn rows(&self) -> Vec<(String, Value, String)> {
        let mut all = Value::try_from(&self.config).expect("the schema is plain TOML");
        each_secret(&mut all, "", &mut |_, secret| {
            *secret = "…".into();
            true
        });
        let sections = all.as_table().into_iter().flatten();
        let rows = sections.flat_map(|(section, keys)| {
            let keys = keys.as_table().into_iter().flatten();
            keys.map(move |(key, value)| {
                let key = format!("{section}.{key}");
                let source = self.source(&key);
                (key, value.clone(), source)
            })
        });
        rows.collect()
    }
}

/// Reads `<root>/quipu.toml`, if it exists, and then the environment, which takes precedence.
pub(crate) fn load(
    root: &Path,
    environment: impl IntoIterator<Item = (String, String)>,
) -> Result<LoadedConfig, Failure> {
    let file = root.join(CONFIGURATION);
    let mut table = read(&file)?;
    let mut sources = BTreeMap::new();
    for (section, keys) in &table {
        for key in keys.as_table().into_iter().flat_map(Table::keys) {
            sources.insert(format!("{section}.{key}"), file.display().to_string());
        }
    }
    for (variable, text) in environment {
        let Some((section, key)) = variable
            .strip_prefix(PREFIX)
            .and_then(|rest| rest.split_once("__"))
        else {
            continue;
        };
        let (section, key) = (section.to_lowercase(), key.to_lowercase());
        let alone = |value| {
            let keys = Table::from_iter([(key.clone(), value)]);
            Table::from_iter([(section.clone(), keys.into())])
        };
        // A key of type text keeps the text; for other keys, the text is read as TOML.
        let mut value = Value::String(text.clone());
        if checked(alone(value.clone()), "").is_err() {
            let read = format!("value = {text}").parse::<Table>();
            value = read
                .ok()
                .and_then(|mut read| read.remove("value"))
                .unwrap_or(value);
        }
        checked(alone(value.clone()), &format!("`{variable}`"))?;
        let keys = table.entry(&section).or_insert_with(|| Table::new().into());
        if let Value::Table(keys) = keys {
            keys.insert(key.clone(), value);
        }
        sources.insert(format!("{section}.{key}"), variable);
    }
    let config = checked(table, &format!("`{}`", file.display()))?;
    Ok(LoadedConfig {
        config,
        file,
        sources,
    })
}

fn read(file: &Path) -> Result<Table, Failure> {
    let shown = file.display();
    let text = if_there(std::fs::read_to_string(file));
    let text = text.map_err(|error| Failure::input(error).context(format!("cannot read `{shown}`")))?;
    let wrong = |error: toml::de::Error| {
        let reason = error.to_string();
        Failure::usage(format!("`{shown}` is not valid TOML: {}", reason.trim()))
    };
    text.unwrap_or_default().parse().map_err(wrong)
}

fn checked(table: Table, place: &str) -> Result<Config, Failure> {
    let wrong = |message: &str| Failure::usage(format!("{place}: {message}"));
    let read = table.try_into::<Config>();
    let config = read.map_err(|error| wrong(&with_suggestion(error.message())))?;
    let is_whole = config.server.tokens.iter().all(|token| token.secret.is_some());
    is_whole
        .then_some(config)
        .ok_or_else(|| wrong("missing field `secret`"))
}

/// Adds the nearest known key to serde's "unknown field `x`, expected one of `a`, `b`".
fn with_suggestion(message: &str) -> String {
    let mut quoted = message.split('`').skip(1).step_by(2);
    let (Some(given), true) = (quoted.next(), message.starts_with("unknown field")) else {
        return message.replace('\n', " ").trim().to_owned();
    };
    let known: Vec<&str> = quoted.collect();
    let near = known
        .iter()
        .max_by(|a, b| strsim::jaro(given, a).total_cmp(&strsim::jaro(given, b)));
    match near {
        Some(near) if strsim::jaro(given, near) > 0.7 => {
            format!("unknown key `{given}`, did you mean `{near}`?")
        }
        _ => format!("unknown key `{given}`, the keys here are: {}", known.join(", ")),
    }
}
