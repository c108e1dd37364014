//! One row with the traits of its text, read once.
//!
//! Owns: counting terms, and traits of a text apart from its subject. Never: their weight.

use std::collections::HashMap;
use std::sync::Arc;

use model::filter::Fields;
use model::record::{self, Seen};
use model::text::{self, Language};
use model::{
    Doc, DocId, DocKind, EntryId, EntryKind, MessageId, Owner, Parent, ParentKind, Role, Scope, SenderId,
    SessionId, Timestamp,
};

use crate::lexicon::{Form, Lexicon, Term};
use crate::postings::allocated;

/// Kinds of rows with an index each, because their lengths and words differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowKind {
    Turn,
    Episode,
    Fact,
}

/// What ranking needs of a row; the rest is one text.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) id: DocId,
    pub(crate) kind: RowKind,
    pub(crate) time: Timestamp,
    pub(crate) from: Arc<Provenance>,
    /// None for a turn's own message.
    sources: Option<Box<[MessageId]>>,
    standing: Option<Box<Standing>>,
    seq: u32,
    /// Number of counted words.
    pub(crate) words: u32,
    pub(crate) traits: Traits,
    /// All other fields.
    record: Box<str>,
}

/// How an entry holds; few have one.
#[derive(Debug, Default)]
pub(crate) struct Standing {
    pub(crate) valid_from: Option<Timestamp>,
    pub(crate) valid_until: Option<Timestamp>,
    pub(crate) supersedes: Vec<EntryId>,
    pub(crate) superseded_by: Option<EntryId>,
    /// It has ended, according to its person.
    pub(crate) is_ended: bool,
}

/// Where a row comes from: the same for many rows.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Provenance {
    scope: Scope,
    owner: Owner,
    pub(crate) session: Option<SessionId>,
    parent: Option<Parent>,
    senders: Vec<SenderId>,
    path: Arc<str>,
}

/// What many rows share, each kept once.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    provenances: foldhash::HashSet<Arc<Provenance>>,
    pub(crate) speakers: Speakers,
}

impl Shared {
    fn provenance(&mut self, of: Provenance) -> Arc<Provenance> {
        if let Some(known) = self.provenances.get(&of) {
            return known.clone();
        }
        let new = Arc::new(of);
        self.provenances.insert(new.clone());
        new
    }
}

/// The names of all speakers, each once, with the number of their rows.
#[derive(Debug, Default)]
pub(crate) struct Speakers {
    numbers: HashMap<String, u32>,
    pub(crate) names: Vec<(String, usize)>,
}

impl Speakers {
    /// Counts a row of a speaker; returns the speaker's number.
    pub(crate) fn add(&mut self, name: &str) -> u32 {
        let number = self.numbers.get(name).copied().unwrap_or_else(|| {
            let number = u32::try_from(self.names.len()).expect("fewer than 2^32 names");
            self.names.push((name.to_owned(), 0));
            self.numbers.insert(name.to_owned(), number);
            number
        });
        self.names[number as usize].1 += 1;
        number
    }
}

/// Frequency of each of a row's terms, in order of term. A row does not keep it; it is counted
/// again when the row is removed.
pub(crate) type TermCounts = Vec<(Term, u16)>;

/// Traits of a text apart from its subject.
#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is weighed by itself")]
pub(crate) struct Traits {
    /// The number of its speaker's name.
    pub(crate) speaker: Option<u32>,
    /// Said by the owner of the memory.
    pub(crate) own: bool,
    /// An answer of the assistant.
    pub(crate) reply: bool,
    /// The share of questions in it, by length.
    pub(crate) asks: f32,
    /// It names a time.
    pub(crate) time: bool,
    pub(crate) number: bool,
}

impl Row {
    /// Reads a row's texts.
    pub(crate) fn read(doc: Doc, lexicon: &mut Lexicon, shared: &mut Shared) -> (Self, TermCounts) {
        let kind = match doc.kind {
            DocKind::Turn => RowKind::Turn,
            DocKind::Entry(EntryKind::Episode | EntryKind::Case | EntryKind::Skill | EntryKind::Topic) => {
                RowKind::Episode
            }
            DocKind::Entry(EntryKind::Fact | EntryKind::Foresight | EntryKind::Profile) => RowKind::Fact,
        };
        let mut traits = Traits {
            speaker: doc.speaker.as_deref().map(|name| shared.speakers.add(name)),
            own: doc.role == Some(Role::User)
                && doc
                    .senders
                    .iter()
                    .any(|sender| sender.as_str() == doc.key.owner.id.as_str()),
            reply: doc.role == Some(Role::Assistant),
            asks: questions(&doc.text),
            ..Traits::default()
        };
        let counts = counts(&doc, lexicon, |word, form| {
            traits.number |= word.as_bytes()[0].is_ascii_digit();
            traits.time |= form.is_of_time;
        });
        traits.time |= traits.number;
        let row = Self::of(doc, kind, (counts.1, traits), shared);
        (row, counts.0)
    }

    /// The row of a text that was read.
    pub(crate) fn of(
        mut doc: Doc,
        kind: RowKind,
        (words, traits): (u32, Traits),
        shared: &mut Shared,
    ) -> Self {
        let is_own = doc.sources.iter().map(MessageId::as_str).eq([&*doc.key.id]);
        let sources = std::mem::take(&mut doc.sources);
        let time = std::mem::take(&mut doc.time);
        let standing = Standing {
            valid_from: doc.valid_from.take(),
            valid_until: doc.valid_until.take(),
            supersedes: std::mem::take(&mut doc.supersedes),
            superseded_by: doc.superseded_by.take(),
            is_ended: doc.is_ended(),
        };
        let is_usual = standing.valid_from.or(standing.valid_until).is_none()
            && standing.supersedes.is_empty()
            && standing.superseded_by.is_none();
        let from = Provenance {
            scope: doc.key.scope.clone(),
            owner: doc.key.owner.clone(),
            session: doc.session.take(),
            parent: doc.parent.take(),
            senders: std::mem::take(&mut doc.senders),
            path: std::mem::take(&mut doc.path),
        };
        Self {
            kind,
            time,
            from: shared.provenance(from),
            sources: (!is_own).then(|| sources.into()),
            standing: (!is_usual).then(|| Box::new(standing)),
            seq: std::mem::take(&mut doc.seq),
            words,
            traits,
            id: std::mem::take(&mut doc.key.id),
            record: record::write(&doc).into(),
        }
    }

    /// The row as it was given, without its vector.
    pub(crate) fn doc(&self) -> Doc {
        let from = &self.from;
        let doc = record::read(&self.record, &from.scope, &from.owner, &mut Seen::default());
        let mut doc = doc.expect("it was written as a record");
        doc.key.id = self.id.clone();
        doc.session.clone_from(&from.session);
        doc.parent.clone_from(&from.parent);
        doc.senders.clone_from(&from.senders);
        doc.path.clone_from(&from.path);
        doc.sources = self.sources().collect();
        if let Some(standing) = &self.standing {
            (doc.valid_from, doc.valid_until) = (standing.valid_from, standing.valid_until);
            doc.supersedes.clone_from(&standing.supersedes);
            doc.superseded_by.clone_from(&standing.superseded_by);
        }
        (doc.seq, doc.time) = (self.seq, self.time);
        doc
    }

    /// The terms counted when the row was read.
    pub(crate) fn counts(&self, lexicon: &mut Lexicon) -> TermCounts {
        counts(&self.doc(), lexicon, |_, _| {}).0
    }

    /// Whether this buffered turn is written as `doc`, with every trait of its text.
    pub(crate) fn becomes(&self, doc: &Doc) -> bool {
        self.is_buffered() && {
            let own = self.doc();
            (own.kind, own.role) == (doc.kind, doc.role)
                && (&own.speaker, &own.senders, &own.text) == (&doc.speaker, &doc.senders, &doc.text)
        }
    }

    /// Order of turns in time.
    pub(crate) fn order(&self) -> (Timestamp, u32, &DocId) {
        (self.time, self.seq, &self.id)
    }

    /// Whether it is a message that is in no episode.
    pub(crate) fn is_buffered(&self) -> bool {
        self.kind == RowKind::Turn && self.from.parent.is_none()
    }

    /// The episode that a turn or fact belongs to.
    pub(crate) fn episode(&self) -> Option<&str> {
        let parent = self.from.parent.as_ref()?;
        (parent.kind == ParentKind::Episode).then_some(parent.id.as_str())
    }

    pub(crate) fn fields(&self) -> Fields<'_> {
        Fields {
            session: self.from.session.as_ref(),
            parent: self.from.parent.as_ref(),
            time: self.time,
            senders: &self.from.senders,
        }
    }

    /// The messages that it was made from.
    pub(crate) fn sources(&self) -> impl Iterator<Item = MessageId> {
        let own = self.sources.is_none().then(|| MessageId::new(self.id.clone()));
        own.into_iter().chain(self.sources.iter().flatten().cloned())
    }

    pub(crate) fn valid_from(&self) -> Option<Timestamp> {
        self.standing.as_ref()?.valid_from
    }

    pub(crate) fn valid_until(&self) -> Option<Timestamp> {
        self.standing.as_ref()?.valid_until
    }

    pub(crate) fn supersedes(&self) -> &[EntryId] {
        self.standing
            .as_ref()
            .map_or(&[], |standing| &standing.supersedes)
    }

    pub(crate) fn superseded_by(&self) -> Option<&EntryId> {
        self.standing.as_ref()?.superseded_by.as_ref()
    }

    /// Whether it has ended, according to its person, who said when.
    pub(crate) fn is_ended(&self) -> bool {
        self.standing.as_ref().is_some_and(|standing| standing.is_ended)
    }

    /// Estimated memory in bytes without its slot, and without the parts that an owner's rows
    /// share; the ids of its sources are those of other rows.
    pub(crate) fn bytes(&self) -> usize {
        let id = |id: &str| allocated::<u8>(COUNTED + id.len());
        let sources = self.sources.as_ref().map_or(0, |sources| sources.len());
        let superseded = self
            .supersedes()
            .iter()
            .map(|old| id(old.as_str()))
            .sum::<usize>();
        let newer = self.superseded_by().map_or(0, |newer| id(newer.as_str()));
        let standing = self.standing.as_ref().map_or(0, |_| allocated::<Standing>(1));
        let lists = allocated::<MessageId>(sources) + allocated::<EntryId>(self.supersedes().len());
        allocated::<u8>(self.record.len()) + id(&self.id) + standing + lists + superseded + newer
    }
}

/// Overhead of an `Arc`.
const COUNTED: usize = 2 * size_of::<usize>();

/// Counts the terms of a row's texts, in order of term, and the words in total; passes every word
/// to `show`. A line that names an entry counts twice.
fn counts(doc: &Doc, lexicon: &mut Lexicon, mut show: impl FnMut(&str, Form)) -> (TermCounts, u32) {
    let mut counts: TermCounts = Vec::with_capacity(doc.text.len() / 6);
    let mut words = 0;
    let language = Language::of(&doc.text);
    let speaker = doc.speaker.as_deref().unwrap_or_default();
    for (field, count) in [(speaker, 1), (&doc.subject, 2), (&doc.summary, 1), (&doc.text, 1)] {
        text::each_word(field, |_, word| {
            let form = lexicon.learn(word, language);
            show(word, form);
            if let Some(term) = form.term {
                counts.push((term, count));
                words += u32::from(count);
            }
        });
    }
    counts.sort_unstable();
    counts.dedup_by(|next, first| {
        let same = next.0 == first.0;
        if same {
            first.1 = first.1.saturating_add(next.1);
        }
        same
    });
    (counts, words)
}

/// The share of a text in sentences with a question mark.
fn questions(text: &str) -> f32 {
    let (mut asked, mut sentence) = (0, 0);
    for (at, c) in text.char_indices() {
        let end = at + c.len_utf8();
        match c {
            '?' | '？' => {
                asked += end - sentence;
                sentence = end;
            }
            '.' | '!' | '\n' | '。' | '！' => sentence = end,
            _ => {}
        }
    }
    asked as f32 / text.trim_end().len().max(1) as f32
}
