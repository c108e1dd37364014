//! `quipu config`: the effective settings with their origin.

use serde_json::{Map, Value, json};

use super::Desk;
use crate::config::ValueSource;
use crate::error::{Exit, Failure};
use crate::output;

pub(super) fn show(desk: &Desk) -> Result<Exit, Failure> {
    let loaded = &desk.loaded;
    let rows = loaded.rows().into_iter().map(|(key, value)| {
        let source = match loaded.source(&key) {
            ValueSource::Default => "default".to_owned(),
            ValueSource::File => loaded.file.display().to_string(),
            ValueSource::Environment(variable) => variable.clone(),
        };
        (key, value, source)
    });
    if desk.json {
        let keys: Map<String, Value> = rows
            .map(|(key, value, source)| (key, json!({"value": value, "source": source})))
            .collect();
        output::json(&json!({"root": desk.root, "file": loaded.file, "keys": keys}))?;
        return Ok(Exit::Ok);
    }
    output::line(format_args!("# root: {}", desk.root.display()))?;
    for (key, value, source) in rows {
        let setting = format!("{key} = {value}");
        output::line(format_args!("{setting:<48} # {source}"))?;
    }
    Ok(Exit::Ok)
}
