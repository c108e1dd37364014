//! The ids that Quipu gives, and how they are derived from each other.
//!
//! Owns: the form of message, segment, entry, job and run ids. Never: randomness (a port gives it).
//!
//! The ids of a segment's job and entries are derived from its own id, so that a repeated job writes under the same
//! ids.

use model::text::Fnv;
use model::{CellId, DocId, EntryId, EntryKind, MessageId, Parent, ParentKind, Timestamp, Zone};
use ports::{Ids, JobId, RunId, VaultPath};

/// Digits and letters without `i`, `l`, `o` and `u`, in the order of their bytes: ids sort as their numbers do.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// A new message's id: the UTC date of the message, and 64 random bits.
pub(crate) fn message_id(ids: &dyn Ids, time: Timestamp) -> MessageId {
    MessageId::new(format!("m_{}", dated(ids, time, &Zone::utc())))
}

/// A new segment's id: the date under which its episode is filed, and 64 random bits.
pub(crate) fn cell_id(ids: &dyn Ids, ended: Timestamp, zone: &Zone) -> CellId {
    CellId::new(format!("mc_{}", dated(ids, ended, zone)))
}

/// The segment of an episode's or fact's id of this form; none for an id of another form or by hand.
pub(crate) fn cell_of(entry: &EntryId) -> Option<CellId> {
    let (kind, rest) = entry.as_str().split_once('_')?;
    let suffix = if kind == EntryKind::Episode.prefix() {
        rest
    } else if kind == EntryKind::Fact.prefix() {
        rest.rsplit_once('_')?.0
    } else {
        return None;
    };
    let (date, random) = suffix.split_once('_')?;
    let is_one = date.len() == 8
        && date.bytes().all(|digit| digit.is_ascii_digit())
        && random.len() == 13
        && random.bytes().all(|letter| ALPHABET.contains(&letter));
    is_one.then(|| CellId::new(format!("mc_{suffix}")))
}

/// A name for a ledger among those that write to one vault: 20 random bits.
pub(crate) fn ledger_name(ids: &dyn Ids) -> String {
    letters(ids.next())[9..].to_owned()
}

/// A new run's id: the date on which it ran, and 64 random bits.
pub(crate) fn run_id(ids: &dyn Ids, at: Timestamp, zone: &Zone) -> RunId {
    format!("r_{}", dated(ids, at, zone)).into()
}

/// The job that writes a segment.
pub(crate) fn job_of(cell: &CellId) -> JobId {
    let low = Fnv::of(cell.as_str().as_bytes());
    let random = cell.as_str().rsplit('_').next().map_or(0, number);
    JobId(format!("{random:016x}{low:016x}"))
}

/// The id of a segment's episode; the same for each owner.
pub(crate) fn episode_id(cell: &CellId) -> EntryId {
    EntryId::new(format!("{}_{}", EntryKind::Episode.prefix(), suffix(cell)))
}

/// The id of a segment's fact number `n`.
pub(crate) fn fact_id(cell: &CellId, n: usize) -> EntryId {
    EntryId::new(format!("{}{n}", fact_prefix(cell)))
}

/// Prefix of the ids of all facts of a segment.
pub(crate) fn fact_prefix(cell: &CellId) -> String {
    format!("{}_{}_", EntryKind::Fact.prefix(), suffix(cell))
}

/// The segment of an episode, from the episode's parent.
pub(crate) fn cell_of_parent(parent: Option<&Parent>) -> Option<CellId> {
    let parent = parent.filter(|parent| parent.kind == ParentKind::Memcell)?;
    Some(CellId::new(parent.id.as_str()))
}

/// The id of the row for another text of an id in a file.
pub(crate) fn version_id(path: &VaultPath, id: &str) -> DocId {
    let mut hash = Fnv::default();
    hash.text(path);
    hash.text(id);
    let kind = id.split('_').next().unwrap_or_default();
    format!("{kind}_hand_{:016x}", hash.value()).into()
}

fn suffix(cell: &CellId) -> &str {
    cell.as_str().strip_prefix("mc_").unwrap_or(cell.as_str())
}

fn dated(ids: &dyn Ids, time: Timestamp, zone: &Zone) -> String {
    let date = zone.date(time);
    let random = ids.next();
    format!(
        "{:04}{:02}{:02}_{}",
        date.year(),
        date.month(),
        date.day(),
        letters(random)
    )
}

fn letters(mut number: u64) -> String {
    let mut digits = [b'0'; 13];
    for digit in digits.iter_mut().rev() {
        *digit = ALPHABET[usize::try_from(number & 31).expect("five bits")];
        number >>= 5;
    }
    digits.iter().map(|digit| char::from(*digit)).collect()
}

fn number(letters: &str) -> u64 {
    letters.bytes().fold(0, |number, letter| {
        let digit = ALPHABET.iter().position(|have| *have == letter).unwrap_or(0);
        (number << 5) | digit as u64
    })
}

#[cfg(test)]
mod tests;
