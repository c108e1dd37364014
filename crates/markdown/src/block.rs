//! A block as an entry.
//!
//! Owns: the meaning of each key and section, and the texts of problems. Never: the borders of a block.

use std::ops::Range;

use model::{
    Content, Date, Entry, EntryId, Message, MessageId, Name, Origin, Parent, ParentKind, Role, Scope,
    SessionId, SessionKey, Timestamp, Zone,
};

use crate::escape::{is_space, read_block, read_chars, read_value};
use crate::keys::{self, Key, is_opening};
use crate::lines::{Line, TurnHeading, is_blank, turn};
use crate::parse::Problem;
use crate::place::Place;

/// One entry's part of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryBlock {
    pub id: EntryId,
    /// From the heading to the end mark, in bytes; without an end mark, to the last line that is not blank.
    pub span: Range<usize>,
    /// None where it could not be read, or an earlier one has its id.
    pub entry: Option<Entry>,
    /// Lines of keys that a person added.
    pub others: Vec<String>,
    /// Whether the disk lost a part of it, so that it may be written again.
    pub is_damaged: bool,
}

/// A block not yet read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Raw<'a, 'l> {
    pub heading: Line<'a>,
    pub subject: &'a str,
    /// As written, with its escapes.
    pub id: Option<&'a str>,
    pub body: &'l [Line<'a>],
    pub span: Range<usize>,
    pub is_ended: bool,
    pub is_invalid: bool,
    pub has_nul: bool,
}

/// Reads a block into an entry and the lines of unknown keys, or returns its problem.
pub(crate) fn read(
    raw: &Raw<'_, '_>,
    id: &EntryId,
    place: &Place,
    date: Option<Date>,
    zone: &Zone,
) -> Result<(Entry, Vec<String>), Problem> {
    let line = raw.heading.number;
    if raw.has_nul || raw.is_invalid {
        let reason = "the entry contains bytes that are not text: the disk or another program damaged it";
        return Err(problem(line, reason));
    }
    let (known, rest) = keys::split(raw.body, &keys::OF_ENTRY);
    let values = Values::new(&known.known, zone)?;
    let starts: Vec<usize> = (0..rest.len())
        .filter(|&n| turn(rest[n].text).is_some())
        .collect();
    let text = &rest[..starts.first().copied().unwrap_or(rest.len())];
    let (summary, body) = read_text(text);
    let time = values
        .time("time")?
        .or_else(|| date.map(|date| zone.start_of(date)))
        .or(place.saved);
    let no_time = "the entry has no time: add `- time: 2023-05-08`, or name the file after its date";
    let mut entry = Entry {
        id: id.clone(),
        kind: place.kind,
        scope: place.scope.clone(),
        owner: place.owner.clone(),
        session: values.text("session").map(SessionId::new),
        time: time.ok_or_else(|| problem(line, no_time))?,
        valid_from: values.time("valid_from")?,
        valid_until: values.time("valid_until")?,
        supersedes: values.list("supersedes").map(EntryId::new).collect(),
        origin: values
            .read(
                "origin",
                Origin::parse,
                "user, assistant, tool, web, import or hand",
            )?
            .unwrap_or(Origin::Hand),
        author: values.text("author"),
        parent: values.read(
            "parent",
            read_parent,
            "`memcell`, `episode`, `cluster` or `document` and an id",
        )?,
        sources: values.list("sources").map(MessageId::new).collect(),
        senders: values.names("senders")?,
        labels: values.list("labels").collect(),
        confidence_percent: values.read("confidence", read_percent, "a share from `0 %` to `100 %`")?,
        subject: read_chars(raw.subject),
        summary,
        body,
        turns: Vec::new(),
    };
    for (n, &start) in starts.iter().enumerate() {
        let end = starts.get(n + 1).copied().unwrap_or(rest.len());
        let turn = read_turn(&rest[start], &rest[start + 1..end], &entry, zone)?;
        entry.turns.push(turn);
    }
    Ok((entry, known.others.into_iter().map(str::to_owned).collect()))
}

pub(crate) fn read_percent(text: &str) -> Option<u8> {
    let number = text.strip_suffix('%').unwrap_or(text).trim_end();
    number.parse().ok().filter(|percent| *percent <= 100)
}

fn problem(line: usize, reason: impl Into<String>) -> Problem {
    let reason = reason.into();
    Problem { line, reason }
}

/// A summary, which is the quote that the text begins with, and the body after it.
fn read_text(lines: &[Line<'_>]) -> (String, String) {
    let lines: Vec<&str> = lines.iter().map(|line| line.text).collect();
    let first = lines
        .iter()
        .position(|line| !is_blank(line))
        .unwrap_or(lines.len());
    let quoted = lines[first..]
        .iter()
        .take_while(|line| line.starts_with('>'))
        .count();
    let (quote, body) = lines[first..].split_at(quoted);
    let summary: Vec<String> = quote.iter().map(|line| read_value(&line[1..])).collect();
    (summary.join("\n"), read_block(body, is_opening))
}

fn read_turn(heading: &Line<'_>, lines: &[Line<'_>], entry: &Entry, zone: &Zone) -> Result<Message, Problem> {
    let line = heading.number;
    let TurnHeading { speaker, said, id } = turn(heading.text).expect("the caller looked for it");
    let bad = || {
        problem(
            line,
            format!("`({said})` is not `(user, 2023-05-08T14:00)`, a role and a time"),
        )
    };
    let (role, time) = said.split_once(',').ok_or_else(bad)?;
    let role = Role::parse(role.trim_matches(is_space)).ok_or_else(bad)?;
    let time = zone.parse(time).map_err(|_| bad())?;
    let (known, rest) = keys::split(lines, &keys::OF_TURN);
    let values = Values::new(&known.known, zone)?;
    let name = |key: &str| {
        values.read(
            key,
            |text| Name::parse(text).ok(),
            "a name of letters, digits and `_.@+-`",
        )
    };
    let speaker = read_chars(speaker);
    let (sender, sender_name) = if let Some(sender) = name("sender")? {
        (sender, Some(speaker))
    } else {
        let reason = format!("`{speaker}` is not a sender's id: add `- sender: …` below");
        (Name::parse(&speaker).map_err(|_| problem(line, reason))?, None)
    };
    let session = values
        .text("session")
        .map(SessionId::new)
        .or_else(|| entry.session.clone());
    let scope = Scope::new(
        name("app")?.unwrap_or_else(|| entry.scope.app.clone()),
        name("project")?.unwrap_or_else(|| entry.scope.project.clone()),
    );
    let call = |key: &Key<'_>| {
        let call = keys::read_call(key.value);
        call.ok_or_else(|| problem(key.line, "`call` must be `name {#id} arguments`"))
    };
    let text: Vec<&str> = rest.iter().map(|line| line.text).collect();
    Ok(Message {
        id: MessageId::new(read_chars(id)),
        session: SessionKey {
            scope,
            session: session
                .ok_or_else(|| problem(line, "the turn has no session: add `- session: …` to its entry"))?,
        },
        sender,
        sender_name,
        role,
        time,
        content: Content::Text(read_block(&text, is_opening)),
        tool_calls: values.all(keys::REPEATED).map(call).collect::<Result<_, _>>()?,
        tool_call_id: values.text("answers"),
    })
}

pub(crate) fn read_parent(text: &str) -> Option<Parent> {
    let (kind, id) = text.trim_matches(is_space).split_once(is_space)?;
    Some(Parent {
        kind: ParentKind::parse(kind)?,
        id: read_value(id),
    })
}

/// The values of known keys. One that is empty counts as not there.
struct Values<'a> {
    keys: Vec<Key<'a>>,
    zone: &'a Zone,
}

impl<'a> Values<'a> {
    fn new(keys: &[Key<'a>], zone: &'a Zone) -> Result<Self, Problem> {
        let keys: Vec<Key<'a>> = keys.iter().filter(|key| !is_blank(key.value)).copied().collect();
        let is_twice = |(n, key): (usize, &Key<'_>)| {
            key.name != keys::REPEATED && keys[..n].iter().any(|earlier| earlier.name == key.name)
        };
        match keys.iter().enumerate().find(|(n, key)| is_twice((*n, key))) {
            Some((_, key)) => Err(problem(key.line, format!("`{}` appears twice", key.name))),
            None => Ok(Self { keys, zone }),
        }
    }

    fn all(&self, name: &str) -> impl Iterator<Item = &Key<'a>> {
        self.keys.iter().filter(move |key| key.name == name)
    }

    fn text(&self, name: &str) -> Option<String> {
        self.all(name).next().map(|key| read_value(key.value))
    }

    fn read<T>(
        &self,
        name: &str,
        parse: impl Fn(&str) -> Option<T>,
        expected: &str,
    ) -> Result<Option<T>, Problem> {
        let Some(key) = self.all(name).next() else {
            return Ok(None);
        };
        let text = key.value.trim_matches(is_space);
        match parse(text) {
            Some(value) => Ok(Some(value)),
            None => Err(problem(
                key.line,
                format!("`{text}` is not a value for `{name}`: use {expected}"),
            )),
        }
    }

    fn time(&self, name: &str) -> Result<Option<Timestamp>, Problem> {
        self.read(
            name,
            |text| self.zone.parse(text).ok(),
            "a time, as in `2023-05-08T14:00`",
        )
    }

    fn list(&self, name: &str) -> impl Iterator<Item = String> {
        self.all(name).flat_map(|key| keys::read_list(key.value))
    }

    fn names(&self, name: &str) -> Result<Vec<Name>, Problem> {
        let parse = |text: &str| {
            keys::read_list(text)
                .map(|name| Name::parse(&name).ok())
                .collect()
        };
        Ok(self
            .read(
                name,
                parse,
                "names of letters, digits and `_.@+-`, with commas between",
            )?
            .unwrap_or_default())
    }
}
