//! A block as an entry.
//!
//! Owns: the meaning of each key and section, and the texts of problems. Never: the borders of a block.

use std::ops::Range;

use model::{
    Content, Date, Entry, EntryId, Message, MessageId, Name, Origin, Parent, ParentKind, Role, Scope,
    SessionId, SessionKey, Timestamp, ToolCall, Zone,
};

use crate::escape::{is_space, read_block, read_chars, read_rest, read_value};
use crate::keys::{self, Key};
use crate::lines::{Form, Heading, Line, TurnHeading, is_blank, turn};
use crate::parse::Problem;
use crate::place::Place;
use crate::{marks, talk};

/// One entry's part of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryBlock {
    pub id: EntryId,
    /// From the heading to the end mark, in bytes; without an end mark, to the last line that is not blank.
    pub span: Range<usize>,
    /// None if it could not be read, or an earlier entry has its id.
    pub entry: Option<Entry>,
    /// Lines of keys that a person added.
    pub others: Vec<String>,
    /// Whether the disk lost a part of it, so that it may be written again.
    pub is_damaged: bool,
}

/// An unparsed block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Raw<'a, 'l> {
    pub line: Line<'a>,
    pub heading: Heading<'a>,
    pub body: &'l [Line<'a>],
    pub span: Range<usize>,
    pub is_ended: bool,
    pub is_invalid: bool,
    pub has_nul: bool,
}

impl Raw<'_, '_> {
    /// Whether one line is the whole entry.
    fn is_item(&self) -> bool {
        self.form() == Form::Two && !self.line.text.starts_with('#')
    }

    fn form(&self) -> Form {
        match self.heading.marks {
            Some(_) => Form::Two,
            None => Form::One,
        }
    }
}

/// Parses a block into an entry and the lines of unknown keys, or returns its problem.
pub(crate) fn read(
    raw: &Raw<'_, '_>,
    id: &EntryId,
    place: &Place,
    date: Option<Date>,
    zone: &Zone,
) -> Result<(Entry, Vec<String>), Problem> {
    let line = raw.line.number;
    if raw.has_nul || raw.is_invalid {
        let reason = "the entry contains bytes that are not text: the disk or another program damaged it";
        return Err(problem(line, reason));
    }
    let (known, rest) = keys::split(raw.body, &keys::OF_ENTRY);
    let form = raw.form();
    let (marks, bare) = raw
        .heading
        .marks
        .map(|marks| marks::read(marks, line))
        .unwrap_or_default();
    let values = Values::new(&known.known, &marks, zone)?;
    let begins_turn = |line: &Line<'_>| match form {
        Form::One => turn(line.text).is_some(),
        Form::Two => talk::read_line(line.text).is_some(),
    };
    let starts: Vec<usize> = (0..rest.len()).filter(|&n| begins_turn(&rest[n])).collect();
    let text = &rest[..starts.first().copied().unwrap_or(rest.len())];
    let (subject, (summary, body)) = if raw.is_item() {
        (String::new(), read_item(raw.heading.subject))
    } else {
        (read_chars(raw.heading.subject), read_text(text, form))
    };
    let mut entry = Entry {
        id: id.clone(),
        subject,
        summary,
        body,
        ..entry_of(&values, line, place, date, zone)?
    };
    for (n, &start) in starts.iter().enumerate() {
        let end = starts.get(n + 1).copied().unwrap_or(rest.len());
        let (first, below) = (&rest[start], &rest[start + 1..end]);
        let turn = match marks.first() {
            Some(time) => read_said(first, below, &entry, time.value, zone)?,
            None => read_turn(first, below, &entry, zone)?,
        };
        entry.turns.push(turn);
    }
    if form == Form::Two {
        marks::complete(&mut entry, |key| {
            bare.contains(key) || values.written(key).is_some()
        });
    }
    Ok((entry, known.others.into_iter().map(str::to_owned).collect()))
}

/// An entry of these keys, without an id and texts.
fn entry_of(
    values: &Values<'_>,
    line: usize,
    place: &Place,
    date: Option<Date>,
    zone: &Zone,
) -> Result<Entry, Problem> {
    let time = values
        .time("time")?
        .or_else(|| date.map(|date| zone.start_of(date)))
        .or(place.saved);
    let no_time = "the entry has no time: add `- time: 2023-05-08`, or name the file after its date";
    Ok(Entry {
        id: EntryId::new(""),
        kind: place.kind,
        scope: place.scope.clone(),
        owner: place.owner.clone(),
        session: values.text("session").map(SessionId::new),
        time: time.ok_or_else(|| problem(line, no_time))?,
        valid_from: values.time("valid_from")?,
        valid_until: values.time("valid_until")?,
        supersedes: values.list("supersedes").map(EntryId::new).collect(),
        superseded_by: values.text("superseded_by").map(EntryId::new),
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
        subject: String::new(),
        summary: String::new(),
        body: String::new(),
        turns: Vec::new(),
    })
}

pub(crate) fn read_percent(text: &str) -> Option<u8> {
    let number = text.strip_suffix('%').unwrap_or(text).trim_end();
    number.parse().ok().filter(|percent| *percent <= 100)
}

fn problem(line: usize, reason: impl Into<String>) -> Problem {
    let reason = reason.into();
    Problem { line, reason }
}

/// The summary, which is the quotation at the start of the text, and the body after it.
fn read_text(lines: &[Line<'_>], form: Form) -> (String, String) {
    let lines = texts(lines);
    let spoken = |from: usize| {
        lines[from..]
            .iter()
            .position(|line| !is_blank(line))
            .map(|n| from + n)
    };
    let mut first = spoken(0).unwrap_or(lines.len());
    if form == Form::Two && lines.get(first).is_some_and(|line| talk::is_who(line)) {
        first = spoken(first + 1).unwrap_or(lines.len());
    }
    let quoted = lines[first..]
        .iter()
        .take_while(|line| line.starts_with('>'))
        .count();
    let (quote, body) = lines[first..].split_at(quoted);
    let summary: Vec<String> = quote.iter().map(|line| read_value(&line[1..])).collect();
    (summary.join("\n"), read_block(body, form))
}

/// The body and the summary of an entry in one line, as [`crate::render()`] wrote them.
fn read_item(text: &str) -> (String, String) {
    let told = text.strip_suffix(")*").and_then(|text| text.split_once(" *("));
    let (body, summary) = told.unwrap_or((text, ""));
    (read_value(summary), read_value(body))
}

/// Parses a message from its first line and the lines below.
fn read_said(
    first: &Line<'_>,
    below: &[Line<'_>],
    entry: &Entry,
    entry_time: &str,
    zone: &Zone,
) -> Result<Message, Problem> {
    let line = first.number;
    let said = talk::read_line(first.text).expect("the caller looked for it");
    let time = said.time(entry_time, zone);
    let time = time.ok_or_else(|| {
        problem(
            line,
            "the message has no time: write it as `14:05` after the name",
        )
    })?;
    let speaker = read_chars(said.speaker);
    let sender = said.sender().unwrap_or(&speaker);
    let reason =
        || format!("`{sender}` is not a sender's id: add `@id` to the comment at the end of the line");
    let sender = Name::parse(sender).map_err(|_| problem(line, reason()))?;
    let role = said.role(&sender);
    let sender_name = said.sender().is_some().then_some(speaker);
    let id = MessageId::new(read_chars(&said.id_at(time)));
    let (known, text) = if said.text.is_empty() {
        let (known, rest) = keys::split(below, &keys::OF_TURN);
        (known.known, read_block(&texts(rest), Form::Two))
    } else {
        let rest = read_rest(&texts(below));
        (
            Vec::new(),
            [Some(read_chars(said.text)), rest]
                .into_iter()
                .flatten()
                .collect::<Vec<_>>()
                .join("\n"),
        )
    };
    let values = Values::new(&known, &[], zone)?;
    let (session, tool_calls, tool_call_id) = told(&values, line, entry)?;
    Ok(Message {
        id,
        session,
        sender,
        sender_name,
        role,
        time,
        content: Content::Text(text).into(),
        tool_calls,
        tool_call_id,
    })
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
    let values = Values::new(&known.known, &[], zone)?;
    let speaker = read_chars(speaker);
    let (sender, sender_name) = if let Some(sender) = values.name("sender")? {
        (sender, Some(speaker))
    } else {
        let reason = format!("`{speaker}` is not a sender's id: add `- sender: …` below");
        (Name::parse(&speaker).map_err(|_| problem(line, reason))?, None)
    };
    let text = read_block(&texts(rest), Form::One);
    let id = MessageId::new(read_chars(id));
    let (session, tool_calls, tool_call_id) = told(&values, line, entry)?;
    Ok(Message {
        id,
        session,
        sender,
        sender_name,
        role,
        time,
        content: Content::Text(text).into(),
        tool_calls,
        tool_call_id,
    })
}

fn texts<'a>(lines: &[Line<'a>]) -> Vec<&'a str> {
    lines.iter().map(|line| line.text).collect()
}

/// What the keys of a message tell: its session, its tool calls, and the call that it answers.
fn told(
    values: &Values<'_>,
    line: usize,
    entry: &Entry,
) -> Result<(SessionKey, Vec<ToolCall>, Option<String>), Problem> {
    let session = values
        .text("session")
        .map(SessionId::new)
        .or_else(|| entry.session.clone());
    let no_session = "the turn has no session: add `- session: …` to its entry";
    let scope = Scope::new(
        values.name("app")?.unwrap_or_else(|| entry.scope.app.clone()),
        values
            .name("project")?
            .unwrap_or_else(|| entry.scope.project.clone()),
    );
    let session = SessionKey::new(scope, session.ok_or_else(|| problem(line, no_session))?);
    let call = |key: &Key<'_>| {
        let call = keys::read_call(key.value);
        call.ok_or_else(|| problem(key.line, "`call` must be `name {#id} arguments`"))
    };
    let calls = values.all(keys::REPEATED).map(call).collect::<Result<_, _>>()?;
    Ok((session, calls, values.text("answers")))
}

pub(crate) fn read_parent(text: &str) -> Option<Parent> {
    let (kind, id) = text.trim_matches(is_space).split_once([' ', '\t', ':'])?;
    Some(Parent::new(ParentKind::parse(kind)?, read_value(id)))
}

/// The values of known keys. An empty value counts as missing.
struct Values<'a> {
    keys: Vec<Key<'a>>,
    zone: &'a Zone,
}

impl<'a> Values<'a> {
    /// A key that a person wrote under the heading overrides the same key in the comment.
    fn new(listed: &[Key<'a>], marks: &[Key<'a>], zone: &'a Zone) -> Result<Self, Problem> {
        let there = |keys: &[Key<'a>]| -> Vec<Key<'a>> {
            keys.iter().filter(|key| !is_blank(key.value)).copied().collect()
        };
        let mut keys = there(listed);
        let is_twice = |(n, key): (usize, &Key<'_>)| {
            key.name != keys::REPEATED && keys[..n].iter().any(|earlier| earlier.name == key.name)
        };
        if let Some((_, key)) = keys.iter().enumerate().find(|(n, key)| is_twice((*n, key))) {
            return Err(problem(key.line, format!("`{}` appears twice", key.name)));
        }
        keys.extend(there(marks));
        Ok(Self { keys, zone })
    }

    fn all(&self, name: &str) -> impl Iterator<Item = &Key<'a>> {
        self.keys.iter().filter(move |key| key.name == name)
    }

    /// The value as written.
    fn written(&self, name: &str) -> Option<&'a str> {
        self.all(name).next().map(|key| key.value.trim_matches(is_space))
    }

    fn text(&self, name: &str) -> Option<String> {
        self.written(name).map(read_value)
    }

    fn name(&self, key: &str) -> Result<Option<Name>, Problem> {
        let parse = |text: &str| Name::parse(text).ok();
        self.read(key, parse, "a name of letters, digits and `_.@+-`")
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
        self.written(name).into_iter().flat_map(keys::read_list)
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
