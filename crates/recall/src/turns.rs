//! An owner's turns in order of time, by session and sitting.
//!
//! Owns: which turns are neighbours, where a sitting ends, and the sums over all turns that a ranking needs, kept as turns
//! come and go. Never: scores.

use std::collections::BTreeMap;

use model::SessionId;

use crate::postings::Slot;
use crate::row::Row;

/// Two turns with a longer pause between them belong to different sittings, even in one session.
const PAUSE_MAX_MS: i64 = 6 * 60 * 60 * 1000;

/// Number of turns of a neighbourhood on each side.
pub(crate) const REACH: usize = 4;
/// Distance in words, from middle to middle, at which a neighbour counts half.
const HALF_WORDS: f32 = 40.0;

/// How much the next turns of a sitting count for the first of these, by their lengths in words.
pub(crate) fn ahead(lengths: &[f32]) -> impl Iterator<Item = f32> {
    let mut between = lengths.first().map_or(0.0, |first| first / 2.0);
    lengths.iter().skip(1).take(REACH).map(move |length| {
        let distance = (between + length / 2.0) / HALF_WORDS;
        between += length;
        // In steps that f32 adds exactly, so that a sum does not depend on the order of its terms.
        (256.0 / (1.0 + distance * distance)).round() / 256.0
    })
}

type Rows = [Option<Row>];

#[derive(Debug, Default)]
pub(crate) struct Turns {
    /// Each session's turns in order of time; turns without a session are under `None`.
    sessions: BTreeMap<Option<SessionId>, Vec<Slot>>,
    /// By slot, the turn before and the turn after in the same sitting.
    neighbours: Vec<(Option<Slot>, Option<Slot>)>,
    /// Sum of what the turns of each neighbourhood count for each other, in 256ths of a word.
    near: u64,
}

impl Turns {
    /// Adds a turn that is among the rows.
    pub(crate) fn add(&mut self, slot: Slot, rows: &Rows) {
        let end = slot as usize + 1;
        if self.neighbours.len() < end {
            self.neighbours.resize(end, (None, None));
        }
        self.change(slot, rows, true);
    }

    /// Removes a turn that is still among the rows.
    pub(crate) fn remove(&mut self, slot: Slot, rows: &Rows) {
        self.change(slot, rows, false);
    }

    fn change(&mut self, slot: Slot, rows: &Rows, is_added: bool) {
        let turn = row(rows, slot);
        let list = self.sessions.entry(turn.from.session.clone()).or_default();
        let at = list.partition_point(|other| row(rows, *other).order() < turn.order());
        let start = at.saturating_sub(REACH);
        let rest = list.len() - at - usize::from(!is_added);
        let end = at + rest.min(REACH);
        let old = near_sum(&list[start..end + usize::from(!is_added)], rows);
        if is_added {
            list.insert(at, slot);
        } else {
            list.remove(at);
        }
        let changed = start..end + usize::from(is_added);
        self.near = self.near + near_sum(&list[changed.clone()], rows) - old;
        for at in changed {
            let before = at.checked_sub(1).map(|before| list[before]);
            let after = list.get(at + 1).copied();
            self.neighbours[list[at] as usize] = (
                before.filter(|before| !is_pause(rows, *before, list[at])),
                after.filter(|after| !is_pause(rows, list[at], *after)),
            );
        }
        if list.is_empty() {
            self.sessions.remove(&turn.from.session);
        }
    }

    /// All turns, by session and in order of time.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Slot> {
        self.sessions.values().flatten().copied()
    }

    /// The turn before in the same sitting.
    pub(crate) fn before(&self, slot: Slot) -> Option<Slot> {
        self.neighbours[slot as usize].0
    }

    /// The turn after in the same sitting.
    pub(crate) fn after(&self, slot: Slot) -> Option<Slot> {
        self.neighbours[slot as usize].1
    }

    /// Sum of the words that all turns have near them, weighted by distance.
    pub(crate) fn near_words(&self) -> f32 {
        self.near as f32 / 256.0
    }

    pub(crate) fn bytes(&self) -> usize {
        self.neighbours.capacity() * size_of::<(Option<Slot>, Option<Slot>)>()
    }
}

/// The sum of what turns of one session count for each other.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a weight is 0 to 1"
)]
fn near_sum(turns: &[Slot], rows: &Rows) -> u64 {
    let words = |slot: Slot| row(rows, slot).words;
    let mut near = 0;
    for sitting in turns.chunk_by(|one, next| !is_pause(rows, *one, *next)) {
        for (at, slot) in sitting.iter().enumerate() {
            let mut lengths = [0.0; REACH + 1];
            let next = sitting.len().min(at + REACH + 1);
            for (length, slot) in lengths.iter_mut().zip(&sitting[at..next]) {
                *length = words(*slot) as f32;
            }
            for (weight, other) in ahead(&lengths[..next - at]).zip(&sitting[at + 1..]) {
                near += (weight * 256.0) as u64 * u64::from(words(*slot) + words(*other));
            }
        }
    }
    near
}

fn is_pause(rows: &Rows, one: Slot, next: Slot) -> bool {
    let (one, next) = (row(rows, one), row(rows, next));
    one.from.session.is_none() || next.time.millis() - one.time.millis() > PAUSE_MAX_MS
}

fn row(rows: &Rows, slot: Slot) -> &Row {
    rows[slot as usize]
        .as_ref()
        .expect("only slots in use are listed")
}
