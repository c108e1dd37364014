//! The front matter at the beginning of a file.
//!
//! Owns: the versions that are read, and the treatment of invalid front matter. Never: changing it.

use model::Date;
use serde_norway::Value;

use crate::escape::is_space;
use crate::lines::{Line, heading, is_blank, item, lines};
use crate::{VERSION, VERSION_OLDEST};

/// Reasons to quarantine a complete file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Broken {
    /// A later version of Quipu wrote it, or an unsupported old one; the file is neither read nor
    /// changed.
    #[error("the front matter has `quipu: {0}`; this program reads versions {VERSION_OLDEST} to {VERSION}")]
    Version(String),
    /// A skill's file has no front matter.
    #[error("a skill's file begins with `name` and `description` between two lines `---`")]
    NoFront,
    #[error("it contains another skill")]
    Taken,
    #[error("the front matter that starts in line 1 has no line `---` at its end")]
    Unclosed,
    /// Not YAML, or not keys and values.
    #[error("the front matter is not YAML: {0}")]
    Yaml(String),
    /// From this line on, counted from 1, some bytes are no UTF-8.
    #[error("line {0} is not UTF-8")]
    Encoding(usize),
    #[error("the file is UTF-16: Quipu reads it and cannot write it; save it as UTF-8")]
    Utf16,
}

impl Broken {
    /// Whether the file may contain something that this program does not understand or cannot
    /// write.
    pub fn forbids_writing(&self) -> bool {
        matches!(self, Self::Version(_) | Self::Utf16)
    }
}

/// A file's front matter; a file without any counts as one of the current version.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Front {
    pub broken: Option<Broken>,
    pub date: Option<Date>,
    /// The version of the format, if the file names one.
    pub version: Option<u64>,
    /// Number of its lines.
    pub lines: usize,
}

impl Front {
    /// Reads the front matter of a text that may be only the first part of a file.
    pub fn of(text: &str) -> Self {
        Self::of_lines(&lines(text))
    }

    pub(crate) fn of_lines(lines: &[Line<'_>]) -> Self {
        let is_fence = |line: &Line<'_>| matches!(line.text.trim_end_matches(is_space), "---" | "...");
        let opens = |line: &Line<'_>| {
            line.text
                .trim_start_matches('\u{feff}')
                .trim_end_matches(is_space)
                == "---"
        };
        if !lines.first().is_some_and(opens) {
            return Self::default();
        }
        let first = |is_it: &dyn Fn(&Line<'_>) -> bool| {
            let after = lines[1..].iter().position(is_it);
            after.map_or(lines.len(), |n| n + 1)
        };
        // An entry also ends it, and so does a blank line if the closing fence is missing: a lost
        // fence must not hide entries.
        let end = first(&|l| is_fence(l) || heading(l.text).is_some() || item(l.text).is_some());
        if !lines.get(end).is_some_and(is_fence) {
            return Self {
                broken: Some(Broken::Unclosed),
                lines: end.min(first(&|line| is_blank(line.text))),
                ..Self::default()
            };
        }
        let yaml: Vec<&str> = lines[1..end].iter().map(|line| line.text).collect();
        let read = match read(&yaml.join("\n")) {
            Ok((version, date)) => Self {
                date,
                version,
                ..Self::default()
            },
            Err(broken) => Self {
                broken: Some(broken),
                ..Self::default()
            },
        };
        Self {
            lines: end + 1,
            ..read
        }
    }
}

fn read(yaml: &str) -> Result<(Option<u64>, Option<Date>), Broken> {
    let value: Value = serde_norway::from_str(yaml).map_err(|error| Broken::Yaml(error.to_string()))?;
    if !(value.is_mapping() || value.is_null()) {
        return Err(Broken::Yaml("it has no keys".to_owned()));
    }
    if let Some(version) = value.get("quipu") {
        match version.as_u64() {
            Some(VERSION_OLDEST..=VERSION) => {}
            Some(other) => return Err(Broken::Version(other.to_string())),
            None => {
                return Err(Broken::Yaml(
                    "`quipu` must be the number of a format version".to_owned(),
                ));
            }
        }
    }
    let date = value.get("date").and_then(Value::as_str);
    Ok((
        value.get("quipu").and_then(Value::as_u64),
        date.and_then(|date| date.parse().ok()),
    ))
}
