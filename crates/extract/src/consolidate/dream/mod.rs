//! Core memory, kept short: facts that matter now, the owner's profile, the owner's wishes for
//! answers.
//!
//! Owns: the choice of our lines on a page. Never: changing a person's line or a pinned one, more
//! than the limit, or dropping more than a quarter of our lines in a run.
//!
//! A line with deleted sources is always removed. A run without changes leaves the same bytes.

mod ask;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use model::Page;

pub use ask::{PageAnswer, parse_answer, request};

use crate::consolidate::page::{Own, PageLine, lines};
use crate::consolidate::profile::ProfileCategory;

/// Limits of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Characters of the three pages together, a person's and the marks of our lines included.
    pub chars_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { chars_max: 8_000 }
    }
}

impl Limits {
    /// Characters of one page: half of all for current facts, three eighths for the owner's
    /// profile.
    pub fn of(self, page: Page) -> usize {
        match page {
            Page::Memory => self.chars_max / 2,
            Page::User => self.chars_max * 3 / 8,
            Page::Soul => self.chars_max / 8,
        }
    }
}

/// A memory that can be on a page.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// The memory's id.
    pub id: String,
    pub text: String,
    /// Candidates with a higher value are chosen first; of equals the smaller id.
    pub worth: i64,
}

/// A run drops at most one in this many of our lines.
const DROPPED_ONE_IN: usize = 4;
/// Lines of ours on a page.
const OWN_LINES_MAX: usize = 60;

/// The page of a profile's statement.
pub fn page_of(subject: &str) -> Page {
    match ProfileCategory::of_title(subject) {
        Some(ProfileCategory::Wishes) => Page::Soul,
        Some(ProfileCategory::Plans | ProfileCategory::Talk) => Page::Memory,
        _ => Page::User,
    }
}

/// A change of a page. Lines are counted from 0, as in [`lines`].
#[derive(Debug, Clone, PartialEq)]
pub enum Operation {
    Drop(usize),
    /// Insert a statement with the ids of its sources before a line; without a line, after the last
    /// of ours.
    Add(Own, Option<usize>),
    /// Replace several lines by one statement, at the place of the first of them.
    Merge(Vec<usize>, Own),
}

/// The page after a run by rules. Adds new candidates while there is room, those with the most
/// worth first and equal ones in their order, each before the first line that is worth no more.
/// Lines that cite an existing memory that is no longer a candidate can be dropped.
pub fn curated(
    page: &str,
    candidates: &[Candidate],
    is_there: impl Fn(&str) -> bool,
    chars_max: usize,
) -> String {
    let read = lines(page);
    let worth: BTreeMap<&str, i64> = candidates
        .iter()
        .map(|candidate| (candidate.id.as_str(), candidate.worth))
        .collect();
    let worth_of = |own: &Own| {
        own.cites
            .iter()
            .filter_map(|id| worth.get(id.as_str()))
            .max()
            .copied()
    };
    let standing: Vec<(Option<i64>, Reverse<usize>)> = ours(&read)
        .filter(|(at, own)| !read[*at].is_pinned && own.cites.iter().all(|id| is_there(id)))
        .map(|(at, own)| (worth_of(own), Reverse(at)))
        .collect();
    let told: BTreeSet<&str> = ours(&read)
        .flat_map(|(_, own)| own.cites.iter().map(String::as_str))
        .collect();
    let says = |text: &str| {
        read.iter().any(|line| match &line.own {
            Some(own) => crate::is_duplicate(&own.text, text),
            None => crate::is_duplicate(line.raw.trim().trim_start_matches(['-', '*', ' ']), text),
        })
    };
    let mut new: Vec<&Candidate> = candidates
        .iter()
        .filter(|candidate| !told.contains(candidate.id.as_str()) && !says(&candidate.text))
        .collect();
    new.sort_by_key(|candidate| Reverse(candidate.worth));
    let mut added: Vec<(i64, Own)> = Vec::new();
    for candidate in new {
        let own = Own::new(&candidate.text, [candidate.id.as_str()]);
        let repeats = |own: &Own| {
            added
                .iter()
                .any(|(_, other)| crate::is_duplicate(&other.text, &own.text))
        };
        if let Some(own) = own.filter(|own| !repeats(own)) {
            added.push((candidate.worth, own));
        }
    }
    let limits = Bounds::of(&read, &is_there, chars_max);
    let operations = chosen(&read, &limits, standing, added);
    apply(page, &operations, is_there, chars_max).unwrap_or_else(|| page.to_owned())
}

/// Whether all lines of the page and all candidates fit, so that no choice is needed.
pub fn has_room(page: &str, candidates: &[Candidate], chars_max: usize) -> bool {
    let read = lines(page);
    let told: BTreeSet<&str> = ours(&read)
        .flat_map(|(_, own)| own.cites.iter().map(String::as_str))
        .collect();
    let new = candidates
        .iter()
        .filter(|candidate| !told.contains(candidate.id.as_str()))
        .filter_map(|candidate| Own::new(&candidate.text, [candidate.id.as_str()]));
    let new: Vec<usize> = new.map(|own| chars_of(&own.line())).collect();
    chars_of(page) + new.iter().sum::<usize>() < chars_max && ours(&read).count() + new.len() <= OWN_LINES_MAX
}

/// Drops lines without a candidate first. Then drops lines for a new one that is worth more than
/// each of them, if that makes enough room. `standing`: our lines that can be dropped, in order.
fn chosen(
    read: &[PageLine<'_>],
    limits: &Bounds,
    standing: Vec<(Option<i64>, Reverse<usize>)>,
    added: Vec<(i64, Own)>,
) -> Vec<Operation> {
    let places = standing.clone();
    let before = |worth: i64| {
        let place = places.iter().find(|(other, _)| *other <= Some(worth));
        place.map(|(_, Reverse(at))| *at)
    };
    let mut least = standing;
    least.sort_unstable();
    let mut room = Room {
        least: least.into_iter().take(limits.drops_max).collect(),
        chars: limits.chars,
        count: limits.own,
        operations: Vec::new(),
    };
    while room.least.front().is_some_and(|(worth, _)| worth.is_none()) {
        room.drop_least(read);
    }
    for (worth, own) in added {
        let needs = chars_of(&own.line());
        if let Some(drops) = room.drops_for(read, worth, needs, limits.chars_max) {
            (0..drops).for_each(|_| room.drop_least(read));
            room.chars += needs;
            room.count += 1;
            room.operations.push(Operation::Add(own, before(worth)));
        }
    }
    while room.chars > limits.chars_max && !room.least.is_empty() {
        room.drop_least(read);
    }
    room.operations
}

/// The state of a page while its lines are chosen.
struct Room {
    /// Lines that may be dropped, those of least worth first.
    least: VecDeque<(Option<i64>, Reverse<usize>)>,
    chars: usize,
    count: usize,
    operations: Vec<Operation>,
}

impl Room {
    fn drop_least(&mut self, read: &[PageLine<'_>]) {
        if let Some((_, Reverse(at))) = self.least.pop_front() {
            self.chars -= chars_of(read[at].raw);
            self.count -= 1;
            self.operations.push(Operation::Drop(at));
        }
    }

    /// How many of the least valuable lines must go so that a line of `needs` characters fits; each
    /// must be worth less than the new one. None if that does not make enough room: lines dropped
    /// in vain would come back with the next run, and be dropped again.
    fn drops_for(&self, read: &[PageLine<'_>], worth: i64, needs: usize, chars_max: usize) -> Option<usize> {
        let below = self.least.iter().take_while(|(least, _)| *least < Some(worth));
        let weights = below.map(|(_, Reverse(at))| chars_of(read[*at].raw));
        let left = weights.scan(self.chars, |chars, weight| {
            *chars -= weight;
            Some(*chars)
        });
        let fits = |(drops, chars): &(usize, usize)| {
            chars + needs <= chars_max && self.count - drops < OWN_LINES_MAX
        };
        std::iter::once(self.chars)
            .chain(left)
            .enumerate()
            .find(fits)
            .map(|(drops, _)| drops)
    }
}

/// Limits of a page, after the removal of lines with deleted sources.
struct Bounds {
    chars_max: usize,
    chars: usize,
    own: usize,
    drops_max: usize,
}

impl Bounds {
    fn of(read: &[PageLine<'_>], is_there: &impl Fn(&str) -> bool, chars_max: usize) -> Self {
        let stays = |line: &&PageLine<'_>| {
            line.own
                .as_ref()
                .is_none_or(|own| line.is_pinned || is_cited(own, is_there))
        };
        let left: Vec<&PageLine<'_>> = read.iter().filter(stays).collect();
        let own = left.iter().filter(|line| line.own.is_some()).count();
        // One more, for a line feed that a person's last line may lack.
        let chars = left.iter().map(|line| chars_of(line.raw)).sum::<usize>() + 1;
        Self {
            chars_max,
            chars,
            own,
            drops_max: own / DROPPED_ONE_IN,
        }
    }
}

fn chars_of(text: &str) -> usize {
    text.chars().count()
}

fn is_cited(own: &Own, is_there: &impl Fn(&str) -> bool) -> bool {
    own.cites.iter().all(|id| is_there(id))
}

fn ours<'a>(read: &'a [PageLine<'_>]) -> impl Iterator<Item = (usize, &'a Own)> {
    read.iter()
        .enumerate()
        .filter_map(|(at, line)| Some((at, line.own.as_ref()?)))
}

/// The page after these operations and without lines with deleted sources. None if an operation
/// touches a person's line or a pinned one, cites an unknown memory, or drops more than a quarter,
/// or if the page would grow beyond its limit.
pub fn apply(
    page: &str,
    operations: &[Operation],
    is_there: impl Fn(&str) -> bool,
    chars_max: usize,
) -> Option<String> {
    let read = lines(page);
    let limits = Bounds::of(&read, &is_there, chars_max);
    let mut texts: Vec<Option<String>> = read.iter().map(|line| Some(line.raw.to_owned())).collect();
    for (at, own) in ours(&read) {
        if !read[at].is_pinned && !is_cited(own, &is_there) {
            texts[at] = None;
        }
    }
    let mut added: BTreeMap<Option<usize>, String> = BTreeMap::new();
    let mut dropped = 0;
    // A line that one operation takes is unavailable to later ones.
    let take = |texts: &mut Vec<Option<String>>, at: usize| {
        let line = read.get(at).filter(|line| !line.is_pinned)?;
        line.own.as_ref()?;
        texts[at].take()
    };
    for operation in operations {
        match operation {
            Operation::Drop(at) => {
                take(&mut texts, *at)?;
                dropped += 1;
            }
            Operation::Add(own, before) if is_cited(own, &is_there) => {
                added.entry(*before).or_default().push_str(&own.line());
            }
            Operation::Merge(from, own) if is_cited(own, &is_there) => {
                let first = *from.iter().min()?;
                for at in from {
                    take(&mut texts, *at)?;
                }
                dropped += from.len() - 1;
                texts[first] = Some(own.line());
            }
            Operation::Add(..) | Operation::Merge(..) => return None,
        }
    }
    let is_growing = |text: &str| chars_of(text) > chars_max && chars_of(text) > chars_of(page);
    let text = with_added(&texts, &read, &added);
    (dropped <= limits.drops_max && !is_growing(&text)).then_some(text)
}

/// The lines joined. A new line goes before the line of ours that it names, the others after our
/// last line that is not pinned. Without such a line they go to the end, or to the beginning where
/// the end is pinned: a new line must never become pinned by its place.
fn with_added(
    texts: &[Option<String>],
    read: &[PageLine<'_>],
    added: &BTreeMap<Option<usize>, String>,
) -> String {
    let added_at = |at: Option<usize>| added.get(&at).map_or("", String::as_str);
    let last_own = ours(read)
        .map(|(at, _)| at)
        .filter(|at| !read[*at].is_pinned)
        .last();
    let is_end_open = read.last().is_none_or(|line| !line.is_pinned);
    let behind = last_own.or(read.len().checked_sub(1).filter(|_| is_end_open));
    let mut out = String::new();
    if behind.is_none() {
        out.push_str(added_at(None));
    }
    for (at, text) in texts.iter().enumerate() {
        out.push_str(added_at(Some(at)));
        out.push_str(text.as_deref().unwrap_or_default());
        if Some(at) == behind && !added_at(None).is_empty() {
            end_line(&mut out);
            out.push_str(added_at(None));
        }
    }
    out
}

fn end_line(out: &mut String) {
    if !out.is_empty() && !out.ends_with('\n') {
        out.push('\n');
    }
}
