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

type Rows = [Option<Row>];

#[derive(Debug, Default)]
pub(crate) struct Turns {
    /// Each session's turns in order of time; turns without a session are under `None`.
    sessions: BTreeMap<Option<SessionId>, Vec<Slot>>,
    /// By slot.
    neighbours: Vec<Neighbours>,
    /// Sum of what the turns of each neighbourhood count for each other, in 256ths of a word.
    near: u64,
}

/// The turns around one, in the same sitting.
#[derive(Debug, Clone, Copy, Default)]
struct Neighbours {
    before: Option<Slot>,
    after: Option<Slot>,
    /// How much each of the next turns counts, in 256ths.
    ahead: [u16; REACH],
}

impl Turns {
    /// Adds a turn that is among the rows.
    pub(crate) fn add(&mut self, slot: Slot, rows: &Rows) {
        let end = slot as usize + 1;
        if self.neighbours.len() < end {
            self.neighbours.resize(end, Neighbours::default());
        }
        self.change(slot, rows, true);
    }

    /// Removes a turn that is still among the rows.
    pub(crate) fn remove(&mut self, slot: Slot, rows: &Rows) {
        self.change(slot, rows, false);
    }

    fn change(&mut self, slot: Slot, rows: &Rows, is_added: bool) {
        let turn = row(rows, slot);
        let of_session = self.sessions.entry(turn.from.session.clone()).or_default();
        let mut list = std::mem::take(of_session);
        let at = list.partition_point(|other| row(rows, *other).order() < turn.order());
        let start = at.saturating_sub(REACH);
        let before = start..at + usize::from(!is_added);
        self.near -= before.map(|at| self.near_ahead(&list[at..], rows)).sum::<u64>();
        if is_added {
            list.insert(at, slot);
        } else {
            list.remove(at);
        }
        for at in at.saturating_sub(1)..list.len().min(at + 2) {
            let before = at.checked_sub(1).map(|before| list[before]);
            let after = list.get(at + 1).copied();
            let neighbours = &mut self.neighbours[list[at] as usize];
            neighbours.before = before.filter(|before| !is_pause(rows, *before, list[at]));
            neighbours.after = after.filter(|after| !is_pause(rows, list[at], *after));
        }
        for at in start..at + usize::from(is_added) {
            self.neighbours[list[at] as usize].ahead = ahead(&list[at..], rows);
            self.near += self.near_ahead(&list[at..], rows);
        }
        if list.is_empty() {
            self.sessions.remove(&turn.from.session);
        } else {
            self.sessions.insert(turn.from.session.clone(), list);
        }
    }

    /// What a turn and the next ones count for each other, in 256ths of a word.
    fn near_ahead(&self, turns: &[Slot], rows: &Rows) -> u64 {
        let words = |slot: Slot| u64::from(row(rows, slot).words);
        let ahead = self.neighbours[turns[0] as usize].ahead;
        let next = ahead.iter().zip(&turns[1..]);
        next.map(|(weight, next)| u64::from(*weight) * (words(turns[0]) + words(*next)))
            .sum()
    }

    /// All turns, by session and in order of time.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Slot> {
        self.sessions.values().flatten().copied()
    }

    /// The turn before in the same sitting.
    pub(crate) fn before(&self, slot: Slot) -> Option<Slot> {
        self.neighbours[slot as usize].before
    }

    /// The turn after in the same sitting.
    pub(crate) fn after(&self, slot: Slot) -> Option<Slot> {
        self.neighbours[slot as usize].after
    }

    /// How much each of the next turns of the same sitting counts for a turn.
    pub(crate) fn ahead(&self, slot: Slot) -> [f32; REACH] {
        self.neighbours[slot as usize]
            .ahead
            .map(|weight| f32::from(weight) / 256.0)
    }

    /// Sum of the words that all turns have near them, weighted by distance.
    pub(crate) fn near_words(&self) -> f32 {
        self.near as f32 / 256.0
    }

    pub(crate) fn bytes(&self) -> usize {
        self.neighbours.capacity() * size_of::<Neighbours>()
    }
}

/// How much the next turns of a sitting count for the first of these, in 256ths, so that a sum does not depend on the order
/// of its terms.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a weight is 0 to 1"
)]
fn ahead(turns: &[Slot], rows: &Rows) -> [u16; REACH] {
    let words = |slot: Slot| row(rows, slot).words as f32;
    let mut between = words(turns[0]) / 2.0;
    let mut weights = [0; REACH];
    for (weight, pair) in weights.iter_mut().zip(turns.windows(2)) {
        if is_pause(rows, pair[0], pair[1]) {
            break;
        }
        let length = words(pair[1]);
        let distance = (between + length / 2.0) / HALF_WORDS;
        between += length;
        *weight = (256.0 / (1.0 + distance * distance)).round() as u16;
    }
    weights
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
