//! One row with what was read out of its text, once.
//!
//! Owns: counting terms, and what a text is like apart from what it is about. Never: what that is worth.

use std::sync::Arc;

use model::{Doc, DocId, DocKind, EntryKind, ParentKind, Role, Timestamp};

use crate::corpus::Speakers;
use crate::lexicon::{Lexicon, Term};
use crate::text;

/// Kinds of rows that are indexed apart, because their lengths and words differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Turn,
    Episode,
    Fact,
}

#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) doc: Arc<Doc>,
    pub(crate) kind: Kind,
    pub(crate) time: Timestamp,
    /// How many words were counted.
    pub(crate) words: u32,
    /// In order of term.
    pub(crate) counts: Box<[(Term, u16)]>,
    pub(crate) traits: Traits,
}

/// What a text is like, apart from what it is about.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Traits {
    /// The number of its speaker's name.
    pub(crate) speaker: Option<u32>,
    /// Said by the owner of the memory.
    pub(crate) own: bool,
    /// The share of its questions, by length.
    pub(crate) asks: f32,
    /// It names a time.
    pub(crate) time: bool,
    pub(crate) number: bool,
}

/// Words that place a statement in time.
const TIME_WORDS: [&str; 25] = [
    "ago",
    "day",
    "days",
    "friday",
    "last",
    "monday",
    "month",
    "months",
    "next",
    "recently",
    "saturday",
    "since",
    "sunday",
    "thursday",
    "today",
    "tomorrow",
    "tonight",
    "tuesday",
    "wednesday",
    "week",
    "weekend",
    "weeks",
    "year",
    "years",
    "yesterday",
];

impl Row {
    /// Reads a row's texts. A line that names an entry counts twice.
    pub(crate) fn read(doc: Arc<Doc>, lexicon: &mut Lexicon, speakers: &mut Speakers) -> Self {
        let kind = match doc.kind {
            DocKind::Turn => Kind::Turn,
            DocKind::Entry(EntryKind::Episode) => Kind::Episode,
            DocKind::Entry(EntryKind::Fact) => Kind::Fact,
        };
        let mut traits = Traits {
            speaker: doc.speaker.as_deref().map(|name| speakers.number(name)),
            own: doc.role == Some(Role::User)
                && doc
                    .senders
                    .iter()
                    .any(|sender| sender.as_str() == doc.key.owner.id.as_str()),
            asks: questions(&doc.text),
            ..Traits::default()
        };
        let mut counts: Vec<(Term, u16)> = Vec::with_capacity(doc.text.len() / 6);
        let mut words = 0;
        let speaker = doc.speaker.as_deref().unwrap_or_default();
        for (field, count) in [(speaker, 1), (&doc.subject, 2), (&doc.summary, 1), (&doc.text, 1)] {
            text::each_word(field, |_, word| {
                traits.number |= word.as_bytes()[0].is_ascii_digit();
                traits.time |= TIME_WORDS.binary_search(&word).is_ok();
                if let Some(term) = lexicon.learn(word) {
                    counts.push((term, count));
                    words += u32::from(count);
                }
            });
        }
        traits.time |= traits.number;
        counts.sort_unstable();
        counts.dedup_by(|next, first| {
            let same = next.0 == first.0;
            if same {
                first.1 = first.1.saturating_add(next.1);
            }
            same
        });
        Self {
            kind,
            time: doc.time,
            words,
            counts: counts.into(),
            traits,
            doc,
        }
    }

    /// The order in which turns were said.
    pub(crate) fn order(&self) -> (Timestamp, u32, &DocId) {
        (self.time, self.doc.seq, &self.doc.key.id)
    }

    /// The episode that a turn or fact belongs to.
    pub(crate) fn episode(&self) -> Option<&str> {
        let parent = self.doc.parent.as_ref()?;
        (parent.kind == ParentKind::Episode).then_some(parent.id.as_str())
    }

    /// About how much memory it takes.
    pub(crate) fn bytes(&self) -> usize {
        let doc = &self.doc;
        let texts = doc.text.len() + doc.subject.len() + doc.summary.len() + doc.key.id.len();
        let names = 32 * (doc.sources.len() + doc.senders.len() + doc.supersedes.len() + 2);
        size_of::<Self>() + size_of::<Doc>() + size_of_val(&*self.counts) + texts + names
    }
}

/// The share of a text that stands in sentences with a question mark.
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
