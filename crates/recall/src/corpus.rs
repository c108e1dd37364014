//! An owner's rows, ready to be ranked.
//!
//! Owns: keeping every derived structure (postings, vectors, conversation order) up to date while
//! rows are added and removed one by one. Never: ranking itself.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use foldhash::HashMap;
use model::{Doc, DocId, MessageId, Timestamp};

use crate::lexicon::Lexicon;
use crate::postings::{Postings, SLOTS_MAX, Slot, allocated};
use crate::row::{Row, RowKind, Shared, Traits};
use crate::turns::Turns;
use crate::validity::Links;
use crate::vectors::{Quantised, Vectors};

/// An owner's rows with all derived data that ranking needs; rows are added and removed one by one.
#[derive(Debug, Default)]
pub struct Corpus {
    ids: HashMap<DocId, Slot>,
    rows: Vec<Option<Row>>,
    /// By slot, the kind of a row that a search may find: one byte, since each search reads all of them.
    pub(crate) kinds: Vec<Option<RowKind>>,
    /// By slot, the number of a row's counted words: a search reads it for each row with one of its words.
    pub(crate) words: Vec<u32>,
    free: Vec<Slot>,
    pub(crate) lexicon: Lexicon,
    postings: [Postings; 3],
    pub(crate) vectors: Vectors,
    pub(crate) turns: Turns,
    /// Episodes and facts in order of id.
    entries: Vec<Slot>,
    /// The rows among them that name an entry which they supersede, or which supersedes them.
    linked: BTreeSet<Slot>,
    /// The rows among them that end.
    ending: BTreeSet<Slot>,
    /// The rows among them that a person withdrew or confirmed.
    reviewed: BTreeSet<Slot>,
    links: OnceLock<Links>,
    /// The turns and facts of each episode, by the episode's id.
    children: HashMap<Box<str>, Vec<Slot>>,
    shared: Shared,
    /// Bytes of the rows, without the data derived from them.
    row_bytes: usize,
}

/// Usual size of an episode's id and number of its turns and facts.
const CHILD_ID_BYTES: usize = 32;
const CHILDREN: usize = 8;

impl Corpus {
    /// Inserts a row, and replaces one with the same id.
    ///
    /// The vector is quantised to one byte a number and kept only here: rows that are read back
    /// have none. A row that is inserted again without a vector and with the same text keeps its
    /// vector.
    pub fn upsert(&mut self, mut doc: Doc) {
        let mut vector = doc.vector.as_deref().and_then(Quantised::new);
        if doc.vector.take().is_none()
            && let Some((slot, row)) = self.find(&doc.key.id)
            && row.doc().text == doc.text
        {
            vector = self.vectors.get(slot);
        }
        let buffered = self.find(&doc.key.id).filter(|(_, row)| row.becomes(&doc));
        if let Some((slot, read)) = buffered.map(|(slot, row)| (slot, (row.words, row.traits))) {
            self.write_turn(slot, doc, read, vector.as_ref());
            return;
        }
        self.remove(&doc.key.id);
        self.links.take();
        let slot = self.free.pop().unwrap_or_else(|| {
            if self.rows.len() == self.rows.capacity() {
                // Doubling would leave a third of all rows unused.
                self.rows.reserve_exact(1 + self.rows.len() / 8);
            }
            self.rows.push(None);
            self.kinds.push(None);
            self.words.push(0);
            let slot = Slot::try_from(self.rows.len() - 1).ok();
            slot.filter(|slot| *slot < SLOTS_MAX)
                .expect("fewer rows than memory holds")
        });
        match &vector {
            Some(vector) => self.vectors.put(slot, vector),
            None => self.vectors.clear(slot),
        }
        let (is_findable, is_reviewed) = (doc.is_findable(), doc.is_withdrawn() || doc.is_confirmed());
        for source in &mut doc.sources {
            // One text in memory for the id of a message.
            if let Some((id, _)) = self.ids.get_key_value(source.as_str()) {
                *source = MessageId::new(id.clone());
            }
        }
        let (row, counts) = Row::read(doc, &mut self.lexicon, &mut self.shared);
        self.postings[row.kind as usize].add(slot, &counts, row.words);
        self.row_bytes += row.bytes();
        if row.kind != RowKind::Turn {
            let place = self.entries.partition_point(|slot| self.row(*slot).id < row.id);
            self.entries.insert(place, slot);
            if !row.supersedes().is_empty() || row.superseded_by().is_some() {
                self.linked.insert(slot);
            }
            if row.valid_until().is_some() {
                self.ending.insert(slot);
            }
            if is_reviewed {
                self.reviewed.insert(slot);
            }
        }
        if let Some(episode) = row.episode() {
            self.children.entry(episode.into()).or_default().push(slot);
        }
        self.ids.insert(row.id.clone(), slot);
        let is_turn = row.kind == RowKind::Turn;
        self.kinds[slot as usize] = Some(row.kind).filter(|_| is_findable);
        self.words[slot as usize] = row.words;
        self.rows[slot as usize] = Some(row);
        if is_turn {
            self.turns.add(slot, &self.rows);
        }
    }

    /// Replaces a buffered turn by its written form: all that was read from its text stays.
    fn write_turn(&mut self, slot: Slot, doc: Doc, read: (u32, Traits), vector: Option<&Quantised>) {
        match vector {
            Some(vector) => self.vectors.put(slot, vector),
            None => self.vectors.clear(slot),
        }
        // An entry may supersede a turn, and now the turn has another time.
        self.links.take();
        self.turns.remove(slot, &self.rows);
        let is_findable = doc.is_findable();
        let written = Row::of(doc, RowKind::Turn, read, &mut self.shared);
        self.row_bytes += written.bytes();
        self.kinds[slot as usize] = Some(written.kind).filter(|_| is_findable);
        if let Some(episode) = written.episode() {
            self.children.entry(episode.into()).or_default().push(slot);
        }
        let buffered = self.rows[slot as usize].replace(written);
        self.row_bytes -= buffered.expect("ids name rows").bytes();
        self.turns.add(slot, &self.rows);
    }

    /// Removes a row; returns whether it existed.
    pub fn remove(&mut self, id: &str) -> bool {
        let Some(slot) = self.ids.remove(id) else {
            return false;
        };
        self.links.take();
        if self.row(slot).kind == RowKind::Turn {
            self.turns.remove(slot, &self.rows);
        } else {
            let place = self.entries.partition_point(|other| *self.row(*other).id < *id);
            self.entries.remove(place);
            self.linked.remove(&slot);
            self.ending.remove(&slot);
            self.reviewed.remove(&slot);
        }
        let row = self.rows[slot as usize].take().expect("ids name rows");
        self.kinds[slot as usize] = None;
        let counts = row.counts(&mut self.lexicon);
        self.postings[row.kind as usize].remove(slot, &counts, row.words);
        self.row_bytes -= row.bytes();
        if let Some(speaker) = row.traits.speaker {
            self.shared.speakers.names[speaker as usize].1 -= 1;
        }
        if let Some(episode) = row.episode()
            && let Some(children) = self.children.get_mut(episode)
        {
            children.retain(|other| *other != slot);
            if children.is_empty() {
                self.children.remove(episode);
            }
        }
        self.vectors.clear(slot);
        self.free.push(slot);
        true
    }

    /// The row with this id, without its vector.
    pub fn get(&self, id: &str) -> Option<Doc> {
        self.find(id).map(|(_, row)| row.doc())
    }

    /// Whether the row with this id is a message that is in no episode.
    pub fn is_buffered(&self, id: &str) -> Option<bool> {
        self.find(id).map(|(_, row)| row.is_buffered())
    }

    /// Every row, in order of id, without its vector.
    pub fn iter(&self) -> impl Iterator<Item = Doc> {
        let rows: BTreeMap<&DocId, &Row> = self.slots().map(|(_, row)| (&row.id, row)).collect();
        rows.into_values().map(Row::doc)
    }

    /// Episodes and facts, in order of id, without their vectors.
    pub fn iter_entries(&self) -> impl Iterator<Item = Doc> {
        self.entries.iter().map(|slot| self.row(*slot).doc())
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Estimated memory of the corpus in bytes, the rows' texts included. The time of the call
    /// depends on the number of different words, not of rows.
    pub fn bytes(&self) -> usize {
        let postings: usize = self.postings.iter().map(Postings::bytes).sum();
        let words = self.words.capacity() * size_of::<u32>();
        let slots =
            self.rows.capacity() * size_of::<Option<Row>>() + self.entries.capacity() * size_of::<Slot>();
        let ids = self.ids.capacity() * (size_of::<(DocId, Slot)>() + 1) * 8 / 7;
        let episode = allocated::<u8>(CHILD_ID_BYTES)
            + allocated::<Slot>(CHILDREN)
            + size_of::<(Box<str>, Vec<Slot>)>();
        let children = self.children.len() * episode;
        let links = self.links.get().map_or(0, Links::bytes);
        self.row_bytes
            + words
            + slots
            + ids
            + children
            + links
            + postings
            + self.vectors.bytes()
            + self.turns.bytes()
            + self.lexicon.bytes()
    }

    pub(crate) fn row(&self, slot: Slot) -> &Row {
        self.rows[slot as usize]
            .as_ref()
            .expect("only slots in use are handed out")
    }

    /// Whether a search as of that time may find a row.
    pub(crate) fn is_visible(&self, slot: Slot, as_of: Option<Timestamp>) -> bool {
        self.kinds[slot as usize].is_some() && as_of.is_none_or(|latest| self.row(slot).time <= latest)
    }

    pub(crate) fn find(&self, id: &str) -> Option<(Slot, &Row)> {
        self.ids.get(id).map(|slot| (*slot, self.row(*slot)))
    }

    pub(crate) fn slots(&self) -> impl Iterator<Item = (Slot, &Row)> {
        (0..)
            .zip(&self.rows)
            .filter_map(|(slot, row)| Some((slot, row.as_ref()?)))
    }

    /// One above the highest slot in use.
    pub(crate) fn slots_end(&self) -> usize {
        self.rows.len()
    }

    pub(crate) fn postings(&self, kind: RowKind) -> &Postings {
        &self.postings[kind as usize]
    }

    /// Episodes and facts in order of id.
    pub(crate) fn entries(&self) -> &[Slot] {
        &self.entries
    }

    /// Entries that name an entry which they supersede, or which supersedes them.
    pub(crate) fn linked(&self) -> &BTreeSet<Slot> {
        &self.linked
    }

    /// The supersessions between the entries.
    pub(crate) fn links(&self) -> &Links {
        self.links.get_or_init(|| Links::of(self))
    }

    /// Entries with an end.
    pub(crate) fn ending(&self) -> &BTreeSet<Slot> {
        &self.ending
    }

    /// Entries that a person withdrew or confirmed.
    pub(crate) fn reviewed(&self) -> &BTreeSet<Slot> {
        &self.reviewed
    }

    /// The turns and facts of an episode.
    pub(crate) fn children(&self, episode: &str) -> &[Slot] {
        self.children.get(episode).map_or(&[], Vec::as_slice)
    }

    /// The name of each speaker and the number of its rows, by the speaker's number.
    pub(crate) fn speakers(&self) -> &[(String, usize)] {
        &self.shared.speakers.names
    }
}
