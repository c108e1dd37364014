//! An owner's rows, ready to be ranked.
//!
//! Owns: keeping every derived structure (postings, vectors, conversation order) up to date while
//! rows are added and removed one by one. Never: ranking itself.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use foldhash::HashMap;
use model::{Doc, DocId, Timestamp};

use crate::lexicon::Lexicon;
use crate::postings::{Postings, SLOTS_MAX, Slot, allocated};
use crate::row::{Row, RowKind, Speakers};
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
    free: Vec<Slot>,
    pub(crate) lexicon: Lexicon,
    postings: [Postings; 3],
    pub(crate) vectors: Vectors,
    pub(crate) turns: Turns,
    /// Episodes and facts in order of id.
    entries: Vec<Slot>,
    /// The rows among them that supersede others.
    successors: BTreeSet<Slot>,
    /// The rows among them that end.
    ending: BTreeSet<Slot>,
    /// The rows among them that a person withdrew or confirmed.
    reviewed: BTreeSet<Slot>,
    links: OnceLock<Links>,
    /// The turns and facts of each episode, by the episode's id.
    children: HashMap<Box<str>, Vec<Slot>>,
    speakers: Speakers,
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
    pub fn upsert(&mut self, mut doc: Arc<Doc>) {
        let mut vector = doc.vector.as_deref().and_then(Quantised::new);
        if doc.vector.is_some() {
            Arc::make_mut(&mut doc).vector = None;
        } else if let Some((slot, row)) = self.find(&doc.key.id)
            && row.doc.text == doc.text
        {
            vector = self.vectors.get(slot);
        }
        if let Some((slot, _)) = self.find(&doc.key.id).filter(|(_, row)| row.becomes(&doc)) {
            self.write_turn(slot, doc, vector.as_ref());
            return;
        }
        self.remove(&doc.key.id);
        self.links.take();
        let slot = self.free.pop().unwrap_or_else(|| {
            self.rows.push(None);
            self.kinds.push(None);
            let slot = Slot::try_from(self.rows.len() - 1).ok();
            slot.filter(|slot| *slot < SLOTS_MAX)
                .expect("fewer rows than memory holds")
        });
        match &vector {
            Some(vector) => self.vectors.put(slot, vector),
            None => self.vectors.clear(slot),
        }
        let (row, counts) = Row::read(doc, &mut self.lexicon, &mut self.speakers);
        self.postings[row.kind as usize].add(slot, &counts, row.words);
        self.row_bytes += row.bytes();
        if row.kind != RowKind::Turn {
            let place = self
                .entries
                .partition_point(|slot| self.row(*slot).doc.key.id < row.doc.key.id);
            self.entries.insert(place, slot);
            if !row.doc.supersedes.is_empty() {
                self.successors.insert(slot);
            }
            if row.doc.valid_until.is_some() {
                self.ending.insert(slot);
            }
            if row.doc.is_withdrawn() || row.doc.is_confirmed() {
                self.reviewed.insert(slot);
            }
        }
        if let Some(parent) = row.episode() {
            self.children.entry(parent.into()).or_default().push(slot);
        }
        self.ids.insert(row.doc.key.id.clone(), slot);
        let is_turn = row.kind == RowKind::Turn;
        self.kinds[slot as usize] = Some(row.kind).filter(|_| row.doc.is_findable());
        self.rows[slot as usize] = Some(row);
        if is_turn {
            self.turns.add(slot, &self.rows);
        }
    }

    /// Replaces a buffered turn by its written form: all that was read from its text stays.
    fn write_turn(&mut self, slot: Slot, doc: Arc<Doc>, vector: Option<&Quantised>) {
        match vector {
            Some(vector) => self.vectors.put(slot, vector),
            None => self.vectors.clear(slot),
        }
        self.turns.remove(slot, &self.rows);
        let row = self.rows[slot as usize].as_mut().expect("ids name rows");
        self.row_bytes -= row.bytes();
        (row.time, row.doc) = (doc.time, doc);
        self.row_bytes += row.bytes();
        self.kinds[slot as usize] = Some(row.kind).filter(|_| row.doc.is_findable());
        if let Some(parent) = row.episode() {
            self.children.entry(parent.into()).or_default().push(slot);
        }
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
            let place = self
                .entries
                .partition_point(|other| *self.row(*other).doc.key.id < *id);
            self.entries.remove(place);
            self.successors.remove(&slot);
            self.ending.remove(&slot);
            self.reviewed.remove(&slot);
        }
        let row = self.rows[slot as usize].take().expect("ids name rows");
        self.kinds[slot as usize] = None;
        let counts = row.counts(&mut self.lexicon);
        self.postings[row.kind as usize].remove(slot, &counts, row.words);
        self.row_bytes -= row.bytes();
        if let Some(speaker) = row.traits.speaker {
            self.speakers.names[speaker as usize].1 -= 1;
        }
        if let Some(parent) = row.episode()
            && let Some(children) = self.children.get_mut(parent)
        {
            children.retain(|other| *other != slot);
            if children.is_empty() {
                self.children.remove(parent);
            }
        }
        self.vectors.clear(slot);
        self.free.push(slot);
        true
    }

    /// The row with this id.
    pub fn get(&self, id: &str) -> Option<&Arc<Doc>> {
        self.find(id).map(|(_, row)| &row.doc)
    }

    /// Every row, in order of id.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Doc>> {
        let rows: BTreeMap<&DocId, &Arc<Doc>> =
            self.slots().map(|(_, row)| (&row.doc.key.id, &row.doc)).collect();
        rows.into_values()
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
        let slots =
            self.rows.capacity() * size_of::<Option<Row>>() + self.entries.capacity() * size_of::<Slot>();
        let ids = self.ids.capacity() * (size_of::<(DocId, Slot)>() + 1) * 8 / 7;
        let episode = allocated::<u8>(CHILD_ID_BYTES)
            + allocated::<Slot>(CHILDREN)
            + size_of::<(Box<str>, Vec<Slot>)>();
        let children = self.children.len() * episode;
        let links = self.links.get().map_or(0, Links::bytes);
        self.row_bytes
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

    /// Entries that supersede others.
    pub(crate) fn successors(&self) -> &BTreeSet<Slot> {
        &self.successors
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
        &self.speakers.names
    }
}
