//! A row's fields as one text, and back.
//!
//! Owns: their order and form. Never: a lossy field, or what its holder has beside it (owner, words, vector).
//!
//! A number ends with a semicolon, a text follows its length in bytes, a field that may be missing begins with `+` or
//! `-`, and what superseded the row, if anything did, with `>`. It is text and not bytes because the store compresses texts.

use std::collections::HashMap;
use std::fmt::{Display, Write as _};
use std::str::FromStr;
use std::sync::Arc;

use crate::{
    Doc, DocId, DocKey, DocKind, EntryId, MessageId, Name, Origin, Owner, Parent, ParentKind, Role, Scope,
    SessionId, Timestamp,
};

/// A row without its owner and its vector.
pub fn write(doc: &Doc) -> String {
    let texts = doc.text.len() + doc.summary.len() + doc.subject.len();
    let mut to = Writer(String::with_capacity(texts + 256));
    to.text(&doc.key.id);
    to.text(doc.kind.as_str());
    to.option(doc.session.as_ref(), |to, session| to.text(session.as_str()));
    to.option(doc.parent.as_ref(), |to, parent| {
        to.text(parent.kind.as_str());
        to.text(&parent.id);
    });
    to.number(doc.seq);
    to.time(doc.time);
    to.option(doc.valid_from, Writer::time);
    to.option(doc.valid_until, Writer::time);
    // Few rows have one, and rows of earlier versions none.
    if let Some(id) = &doc.superseded_by {
        to.0.push('>');
        to.text(id.as_str());
    }
    to.texts(doc.supersedes.iter().map(EntryId::as_str));
    to.text(doc.origin.as_str());
    to.option(doc.role, |to, role| to.text(role.as_str()));
    to.option(doc.speaker.as_deref(), Writer::text);
    to.texts(doc.senders.iter().map(Name::as_str));
    // A turn's source is the message that it is.
    let is_own = doc.sources.iter().map(MessageId::as_str).eq([&*doc.key.id]);
    to.option((!is_own).then_some(&doc.sources), |to, sources| {
        to.texts(sources.iter().map(MessageId::as_str));
    });
    to.texts(doc.labels.iter().map(String::as_str));
    to.option(doc.confidence_percent, Writer::number);
    to.text(&doc.path);
    to.text(&doc.subject);
    to.text(&doc.summary);
    to.text(&doc.text);
    to.0
}

/// The row again; none if these are not the bytes of one.
pub fn read<'a>(text: &'a str, scope: &Scope, owner: &Owner, seen: &mut Seen<'a>) -> Option<Doc> {
    let mut from = RecordReader(text);
    let id: DocId = from.text()?.into();
    let doc = Doc {
        kind: DocKind::parse(from.text()?)?,
        session: from.option(|from| Some(seen.session(from.text()?)))?,
        parent: from.option(|from| {
            Some(Parent {
                kind: ParentKind::parse(from.text()?)?,
                id: from.text()?.to_owned(),
            })
        })?,
        seq: from.number()?,
        time: from.time()?,
        valid_from: from.option(RecordReader::time)?,
        valid_until: from.option(RecordReader::time)?,
        superseded_by: match from.0.strip_prefix('>') {
            Some(rest) => {
                from.0 = rest;
                Some(EntryId::new(from.text()?))
            }
            None => None,
        },
        supersedes: from.texts(|id| Some(EntryId::new(id)))?,
        origin: Origin::parse(from.text()?)?,
        role: from.option(|from| Role::parse(from.text()?))?,
        speaker: from.option(|from| Some(from.text()?.to_owned()))?,
        senders: from.texts(|name| seen.name(name))?,
        sources: from
            .option(|from| from.texts(|source| Some(MessageId::new(source))))?
            .unwrap_or_else(|| vec![MessageId::new(id.clone())]),
        labels: from.texts(|label| Some(label.to_owned()))?,
        confidence_percent: from.option(RecordReader::number)?,
        path: seen.path(from.text()?),
        subject: from.text()?.to_owned(),
        summary: from.text()?.to_owned(),
        text: from.text()?.to_owned(),
        key: DocKey {
            scope: scope.clone(),
            owner: owner.clone(),
            id,
        },
        vector: None,
    };
    from.0.is_empty().then_some(doc)
}

/// Values that many rows share, kept in memory once.
#[derive(Debug, Default)]
pub struct Seen<'a> {
    sessions: HashMap<&'a str, SessionId>,
    names: HashMap<&'a str, Name>,
    paths: HashMap<&'a str, Arc<str>>,
}

impl<'a> Seen<'a> {
    fn session(&mut self, id: &'a str) -> SessionId {
        let session = self.sessions.entry(id);
        session.or_insert_with(|| SessionId::new(id)).clone()
    }

    fn name(&mut self, name: &'a str) -> Option<Name> {
        if let Some(known) = self.names.get(name) {
            return Some(known.clone());
        }
        let new = Name::parse(name).ok()?;
        self.names.insert(name, new.clone());
        Some(new)
    }

    fn path(&mut self, path: &'a str) -> Arc<str> {
        self.paths.entry(path).or_insert_with(|| path.into()).clone()
    }
}

struct Writer(String);

impl Writer {
    fn number(&mut self, number: impl Display) {
        // Writing to a text cannot fail.
        write!(self.0, "{number};").ok();
    }

    fn time(&mut self, time: Timestamp) {
        self.number(time.millis());
    }

    fn text(&mut self, text: &str) {
        self.number(text.len());
        self.0.push_str(text);
    }

    fn texts<'a>(&mut self, texts: impl ExactSizeIterator<Item = &'a str>) {
        self.number(texts.len());
        texts.for_each(|text| self.text(text));
    }

    fn option<T>(&mut self, value: Option<T>, write: impl FnOnce(&mut Self, T)) {
        self.0.push(if value.is_some() { '+' } else { '-' });
        if let Some(value) = value {
            write(self, value);
        }
    }
}

struct RecordReader<'a>(&'a str);

impl<'a> RecordReader<'a> {
    fn number<T: FromStr>(&mut self) -> Option<T> {
        let (number, rest) = self.0.split_once(';')?;
        self.0 = rest;
        number.parse().ok()
    }

    fn time(&mut self) -> Option<Timestamp> {
        self.number().map(Timestamp::from_millis)
    }

    fn text(&mut self) -> Option<&'a str> {
        let bytes = self.number()?;
        let (text, rest) = self.0.split_at_checked(bytes)?;
        self.0 = rest;
        Some(text)
    }

    fn texts<T>(&mut self, mut item: impl FnMut(&'a str) -> Option<T>) -> Option<Vec<T>> {
        let count: usize = self.number()?;
        // Never reserves more items than there are bytes, even if the number is damaged.
        let mut items = Vec::with_capacity(count.min(self.0.len()));
        for _ in 0..count {
            items.push(item(self.text()?)?);
        }
        Some(items)
    }

    /// None when the text is wrong, none inside when the field is missing.
    #[expect(clippy::option_option, reason = "a wrong text is not a missing field")]
    fn option<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<Option<T>> {
        let is_there = self.0.starts_with('+');
        self.0 = self.0.strip_prefix(['+', '-'])?;
        if is_there {
            read(self).map(Some)
        } else {
            Some(None)
        }
    }
}
