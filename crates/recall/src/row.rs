//! One row with the traits of its text, read once.
//!
//! Owns: counting terms, and traits of a text apart from its subject. Never: their weight.

use std::collections::HashMap;
use std::sync::Arc;

use model::{Doc, DocId, DocKind, EntryId, EntryKind, MessageId, Name, ParentKind, Role, Timestamp};

use model::text::{self, Language};

use crate::lexicon::{Form, Lexicon, Term};
use crate::postings::allocated;

/// Kinds of rows with an index each, because their lengths and words differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowKind {
    Turn,
    Episode,
    Fact,
}

#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) doc: Arc<Doc>,
    pub(crate) kind: RowKind,
    pub(crate) time: Timestamp,
    /// Number of counted words.
    pub(crate) words: u32,
    pub(crate) traits: Traits,
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
    pub(crate) fn read(doc: Arc<Doc>, lexicon: &mut Lexicon, speakers: &mut Speakers) -> (Self, TermCounts) {
        let kind = match doc.kind {
            DocKind::Turn => RowKind::Turn,
            DocKind::Entry(EntryKind::Episode | EntryKind::Case | EntryKind::Skill | EntryKind::Topic) => {
                RowKind::Episode
            }
            DocKind::Entry(EntryKind::Fact | EntryKind::Foresight | EntryKind::Profile) => RowKind::Fact,
        };
        let mut traits = Traits {
            speaker: doc.speaker.as_deref().map(|name| speakers.add(name)),
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
        let row = Self {
            kind,
            time: doc.time,
            words: counts.1,
            traits,
            doc,
        };
        (row, counts.0)
    }

    /// The terms counted when the row was read.
    pub(crate) fn counts(&self, lexicon: &mut Lexicon) -> TermCounts {
        counts(&self.doc, lexicon, |_, _| {}).0
    }

    /// Whether this buffered turn is written as `doc`, with every trait of its text.
    pub(crate) fn becomes(&self, doc: &Doc) -> bool {
        let own = &*self.doc;
        let is_buffered = own.kind == DocKind::Turn && own.parent.is_none();
        is_buffered
            && (own.kind, own.role) == (doc.kind, doc.role)
            && (&own.speaker, &own.senders, &own.text) == (&doc.speaker, &doc.senders, &doc.text)
    }

    /// Order of turns in time.
    pub(crate) fn order(&self) -> (Timestamp, u32, &DocId) {
        (self.time, self.doc.seq, &self.doc.key.id)
    }

    /// The episode that a turn or fact belongs to.
    pub(crate) fn episode(&self) -> Option<&str> {
        let parent = self.doc.parent.as_ref()?;
        (parent.kind == ParentKind::Episode).then_some(parent.id.as_str())
    }

    /// Estimated memory in bytes without its slot, and without the parts that an owner's rows
    /// share.
    pub(crate) fn bytes(&self) -> usize {
        let doc = &*self.doc;
        let speaker = doc.speaker.as_ref().map_or(0, String::capacity);
        let parent = doc.parent.as_ref().map_or(0, |parent| parent.id.capacity());
        let texts = [&doc.text, &doc.subject, &doc.summary].map(String::capacity);
        let texts: usize = texts
            .into_iter()
            .chain([speaker, parent])
            .map(allocated::<u8>)
            .sum();
        let id = |id: &str| allocated::<u8>(COUNTED + id.len());
        let ids: usize = [&*doc.key.id]
            .into_iter()
            .chain(doc.supersedes.iter().map(EntryId::as_str))
            .map(id)
            .sum();
        let sources = doc
            .sources
            .iter()
            .filter(|source| *source.as_str() != *doc.key.id);
        let sources: usize = sources.map(|source| id(source.as_str())).sum();
        let lists = allocated::<Name>(doc.senders.capacity())
            + allocated::<MessageId>(doc.sources.capacity())
            + allocated::<EntryId>(doc.supersedes.capacity());
        allocated::<u8>(COUNTED + size_of::<Doc>()) + texts + ids + sources + lists
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
