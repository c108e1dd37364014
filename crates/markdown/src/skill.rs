//! A skill's file: front matter that every agent reads, and a body of plain Markdown.
//!
//! Owns: `SKILL.md` as one entry, and the separation of its keys from a person's. Never:
//! permissions of a skill, or escaping more of a body than an editor would lose: other agents read
//! it unchanged.

use std::fmt::Write as _;

use model::text::Fnv;
use model::{Entry, EntryId, EntryKind, MessageId, Name, Origin, SessionId, SkillStatus, Timestamp, Zone};
use serde_norway::{Mapping, Value};

use crate::VERSION;
use crate::block::{EntryBlock, read_parent, read_percent};
use crate::escape::{is_hidden, is_space, push_chars, read_chars, split_slashes};
use crate::front::{Broken, Front};
use crate::lines::{Line, is_blank, lines};
use crate::parse::{Parsed, Problem, as_text};
use crate::place::Place;
use crate::render::time;

/// Our keys, in the order of writing. Other agents read name and description.
const KEYS: [&str; 18] = [
    "name",
    "description",
    "quipu",
    "id",
    "status",
    "confidence",
    "cases",
    "created",
    "updated",
    "valid_until",
    "supersedes",
    "superseded_by",
    "session",
    "origin",
    "author",
    "parent",
    "senders",
    "labels",
];

/// One key of the front matter with its lines; a comment has no key.
struct SkillField<'a, 'l> {
    key: String,
    value: Value,
    lines: &'l [Line<'a>],
}

/// Parses a skill's file.
pub(crate) fn parse(bytes: &[u8], place: &Place, zone: &Zone) -> Parsed {
    let (text, invalid) = as_text(bytes);
    let lines = lines(&text);
    let broken = |broken| Parsed {
        broken: Some(broken),
        tail: bytes.len(),
        ..Parsed::default()
    };
    if bytes.is_empty() {
        return Parsed::default();
    }
    if let Some(at) = invalid.first() {
        return broken(Broken::Encoding(lines.partition_point(|line| line.start <= *at)));
    }
    let front = Front::of_lines(&lines);
    if front.lines == 0 {
        return broken(Broken::NoFront);
    }
    let fields = match front.broken {
        Some(why) => return broken(why),
        None => match fields(&lines[1..front.lines - 1]) {
            Ok(fields) => fields,
            Err(why) => return broken(why),
        },
    };
    let values = SkillValues {
        fields: &fields,
        zone,
    };
    let id = values
        .one("id")
        .ok()
        .flatten()
        .map_or_else(|| derived_id(place), EntryId::new);
    let body: Vec<&str> = lines[front.lines..].iter().map(|line| line.text).collect();
    let read = values.entry(&id, place, read_body(&body));
    let is_other = |field: &&SkillField<'_, '_>| !KEYS.contains(&field.key.as_str());
    let others = fields.iter().filter(is_other).flat_map(|field| field.lines);
    let mut parsed = Parsed {
        tail: bytes.len(),
        ..Parsed::default()
    };
    parsed.blocks.push(EntryBlock {
        id,
        span: 0..bytes.len(),
        others: others.map(|line| line.text.to_owned()).collect(),
        is_damaged: false,
        entry: read.map_err(|problem| parsed.problems.push(problem)).ok(),
    });
    parsed
}

/// The id of a skill by hand: the same as long as its file stays in place.
fn derived_id(place: &Place) -> EntryId {
    let mut hash = Fnv::default();
    hash.text(&place.file);
    EntryId::new(format!("{}_hand_{:016x}", place.kind.prefix(), hash.value()))
}

/// The front matter cut at its keys, so that each can be kept or rewritten by itself.
fn fields<'a, 'l>(lines: &'l [Line<'a>]) -> Result<Vec<SkillField<'a, 'l>>, Broken> {
    let begins = |line: &Line<'_>| {
        line.text
            .starts_with(|c: char| !c.is_whitespace() && !"-}]".contains(c))
    };
    let starts: Vec<usize> = (0..lines.len()).filter(|n| begins(&lines[*n])).collect();
    let ends = starts.iter().skip(1).copied().chain([lines.len()]);
    let mut fields = Vec::new();
    for (start, end) in starts.iter().copied().zip(ends) {
        let lines = &lines[start..end];
        let yaml: Vec<&str> = lines.iter().map(|line| line.text).collect();
        let read: Option<Mapping> = serde_norway::from_str(&yaml.join("\n")).ok().flatten();
        let (key, value) = match read.map(|read| read.into_iter().collect::<Vec<_>>()).as_deref() {
            None if yaml[0].starts_with('#') => (String::new(), Value::Null),
            Some([(Value::String(key), value)]) => (key.clone(), value.clone()),
            _ => return Err(Broken::Yaml("each key must begin a line of its own".to_owned())),
        };
        fields.push(SkillField { key, value, lines });
    }
    Ok(fields)
}

/// The values of keys. An empty value counts as missing.
struct SkillValues<'f, 'a, 'l> {
    fields: &'f [SkillField<'a, 'l>],
    zone: &'f Zone,
}

impl SkillValues<'_, '_, '_> {
    fn entry(&self, id: &EntryId, place: &Place, body: String) -> Result<Entry, Problem> {
        let folder = place.file.rsplit('/').nth(1).unwrap_or_default();
        let status = self.read("status", SkillStatus::parse, "draft, approved or rejected")?;
        let updated = self.time("updated")?;
        let created = self.time("created")?;
        let mut labels = vec![status.unwrap_or_default().as_str().to_owned()];
        labels.extend(self.list("labels")?);
        let senders = self.list("senders")?;
        let senders: Option<Vec<Name>> = senders.iter().map(|name| Name::parse(name).ok()).collect();
        Ok(Entry {
            id: id.clone(),
            kind: EntryKind::Skill,
            scope: place.scope.clone(),
            owner: place.owner.clone(),
            session: self.one("session")?.map(SessionId::new),
            // A file from elsewhere can have no time, and nothing needs the time of a skill.
            time: updated.or(created).unwrap_or_default(),
            valid_from: created,
            valid_until: self.time("valid_until")?,
            supersedes: self.list("supersedes")?.into_iter().map(EntryId::new).collect(),
            superseded_by: self.one("superseded_by")?.map(EntryId::new),
            origin: self
                .read(
                    "origin",
                    Origin::parse,
                    "user, assistant, tool, web, import or hand",
                )?
                .unwrap_or(Origin::Hand),
            author: self.one("author")?,
            parent: self.read(
                "parent",
                read_parent,
                "what it was made from, as in `cluster cl_1`",
            )?,
            sources: self.list("cases")?.into_iter().map(MessageId::new).collect(),
            senders: senders.ok_or_else(|| {
                self.problem(
                    "senders",
                    "`senders` must be names of letters, digits and `_.@+-`",
                )
            })?,
            labels,
            confidence_percent: self.read("confidence", read_percent, "a share from 0 to 100")?,
            subject: self.one("name")?.unwrap_or_else(|| folder.to_owned()),
            summary: self.one("description")?.unwrap_or_default(),
            body,
            turns: Vec::new(),
        })
    }

    fn field(&self, key: &str) -> Option<&SkillField<'_, '_>> {
        self.fields.iter().find(|field| field.key == key)
    }

    fn problem(&self, key: &str, reason: impl Into<String>) -> Problem {
        let line = self.field(key).and_then(|field| field.lines.first());
        Problem {
            line: line.map_or(1, |line| line.number),
            reason: reason.into(),
        }
    }

    /// A key's single text.
    fn one(&self, key: &str) -> Result<Option<String>, Problem> {
        match self.field(key).map(|field| &field.value) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => match scalar_text(value) {
                Some(text) => Ok(Some(text)),
                None => Err(self.problem(key, format!("`{key}` must be one text"))),
            },
        }
    }

    /// A key's texts.
    fn list(&self, key: &str) -> Result<Vec<String>, Problem> {
        let texts = match self.field(key).map(|field| &field.value) {
            None | Some(Value::Null) => Some(Vec::new()),
            Some(Value::Sequence(values)) => values.iter().map(scalar_text).collect(),
            Some(value) => scalar_text(value).map(|text| vec![text]),
        };
        texts.ok_or_else(|| self.problem(key, format!("`{key}` must be a list of texts")))
    }

    fn read<T>(
        &self,
        key: &str,
        parse: impl Fn(&str) -> Option<T>,
        expected: &str,
    ) -> Result<Option<T>, Problem> {
        let Some(text) = self.one(key)? else {
            return Ok(None);
        };
        match parse(text.trim_matches(is_space)) {
            Some(value) => Ok(Some(value)),
            None => Err(self.problem(
                key,
                format!("`{text}` is not a value for `{key}`: use {expected}"),
            )),
        }
    }

    fn time(&self, key: &str) -> Result<Option<Timestamp>, Problem> {
        self.read(
            key,
            |text| self.zone.parse(text).ok(),
            "a time, as in `2023-05-08T14:00`",
        )
    }
}

fn scalar_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(is) => Some(is.to_string()),
        _ => None,
    }
}

/// A skill's complete file, with the lines of keys that a person added.
pub(crate) fn render(entry: &Entry, zone: &Zone, others: &[String]) -> String {
    let mut out = String::with_capacity(512 + entry.body.len());
    out.push_str("---\n");
    for (key, value) in KEYS.into_iter().zip(values_of(entry, zone)) {
        if let Some(value) = value {
            writeln!(out, "{key}: {value}").expect("a string takes any text");
        }
    }
    for line in others {
        out.push_str(line);
        out.push('\n');
    }
    out.push_str("---\n");
    push_body(&mut out, &entry.body);
    out
}

/// The values of [`KEYS`] as YAML.
fn values_of(entry: &Entry, zone: &Zone) -> [Option<String>; KEYS.len()] {
    let (status, labels) = match entry.labels.split_first() {
        Some((first, rest)) if SkillStatus::parse(first).is_some() => (first.as_str(), rest),
        _ => (SkillStatus::default().as_str(), entry.labels.as_slice()),
    };
    let list = |texts: Vec<&str>| {
        let texts: Vec<String> = texts.into_iter().map(scalar).collect();
        (!texts.is_empty()).then(|| format!("[{}]", texts.join(", ")))
    };
    let at = |at: Timestamp| scalar(&time(at, zone));
    let is_by_hand = entry.origin == Origin::Hand;
    let parent = entry.parent.as_ref();
    [
        Some(scalar(&entry.subject)),
        Some(scalar(&entry.summary)),
        Some(VERSION.to_string()),
        Some(scalar(entry.id.as_str())),
        Some(status.to_owned()),
        entry.confidence_percent.map(|percent| percent.to_string()),
        list(entry.sources.iter().map(MessageId::as_str).collect()),
        entry.valid_from.map(at),
        Some(at(entry.time)),
        entry.valid_until.map(at),
        list(entry.supersedes.iter().map(EntryId::as_str).collect()),
        entry.superseded_by.as_ref().map(|id| scalar(id.as_str())),
        entry.session.as_ref().map(|session| scalar(session.as_str())),
        (!is_by_hand).then(|| entry.origin.as_str().to_owned()),
        entry.author.as_deref().map(scalar),
        parent.map(|parent| {
            scalar(&format!(
                "{} {}",
                parent.kind.as_str(),
                crate::escape::value(&parent.id)
            ))
        }),
        list(entry.senders.iter().map(Name::as_str).collect()),
        list(labels.iter().map(String::as_str).collect()),
    ]
}

/// A text as YAML, in quotes if YAML would read it as another value without them.
fn scalar(text: &str) -> String {
    let is_simple = |c: char| c.is_alphanumeric() || " _-./+'()".contains(c);
    let is_plain = text.starts_with(char::is_alphanumeric)
        && !text.ends_with(' ')
        && text.chars().all(is_simple)
        && serde_norway::from_str::<Value>(text).is_ok_and(|value| value.as_str() == Some(text));
    if is_plain {
        return text.to_owned();
    }
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            c if is_hidden(c) || c == '\t' => {
                write!(out, "\\u{:04X}", u32::from(c)).expect("a string takes any text");
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Appends a body; only blank lines at its edges need a mark to be kept.
fn push_body(out: &mut String, body: &str) {
    if body.is_empty() {
        return;
    }
    out.push('\n');
    let last = body.matches('\n').count();
    for (n, line) in body.split('\n').enumerate() {
        let start = out.len();
        push_chars(out, line, |_| false);
        if (n == 0 || n == last) && is_blank(split_slashes(&out[start..]).1) {
            out.insert(start, '\\');
        }
        out.push('\n');
    }
}

/// A body from its lines, without blank lines around it.
fn read_body(lines: &[&str]) -> String {
    let first = lines.iter().position(|line| !is_blank(line));
    let last = lines.iter().rposition(|line| !is_blank(line));
    let (Some(first), Some(last)) = (first, last) else {
        return String::new();
    };
    let read = |(n, line): (usize, &&str)| {
        let (slashes, rest) = split_slashes(line);
        let is_marked = (n == 0 || n == last - first) && slashes > 0 && is_blank(rest);
        read_chars(if is_marked { &line[1..] } else { line })
    };
    let texts: Vec<String> = lines[first..=last].iter().enumerate().map(read).collect();
    texts.join("\n")
}
