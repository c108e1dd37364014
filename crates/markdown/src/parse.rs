//! A file as blocks, one for each heading, and the text outside of blocks.
//!
//! Owns: the borders of entries, the choice between equal ids, the remains of a crash. Never:
//! failing; unreadable text becomes a [`Problem`] with its line, and hides nothing after it.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use model::text::Fnv;
use model::{Date, Entry, EntryId, EntryKind, Zone};

use crate::block::{self, EntryBlock, Raw};
use crate::escape::read_chars;
use crate::facts::{self, WrittenFact};
use crate::front::{Broken, Front};
use crate::lines::{Heading, Line, heading, is_blank, is_cut, is_end, item, lines};
use crate::page::{self, SeenLine};
use crate::place::Place;
use crate::render::new_file;
use crate::skill;

/// A line outside of entries, and its kind if it was examined as a fact.
type Stray<'a> = (Line<'a>, Option<&'static str>);

/// An unreadable place in a file; its text stays as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Counted from 1.
    pub line: usize,
    pub reason: String,
}

/// A file as read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Parsed {
    /// The reason to quarantine the file; then the blocks are those that could still be read.
    pub broken: Option<Broken>,
    /// Whether the file may have entries with unreadable ids.
    pub is_unread: bool,
    /// In the order of the file, without a torn one.
    pub blocks: Vec<EntryBlock>,
    /// In the order of lines.
    pub problems: Vec<Problem>,
    /// Start of an unfinished entry at the end, in bytes: the result of a crash in the middle of an
    /// append.
    pub torn: Option<usize>,
    /// The id of that entry, if it can be read.
    pub torn_id: Option<EntryId>,
    /// Start of the last block or text without an end mark, in bytes; the file's length if there is
    /// none.
    pub tail: usize,
}

impl Parsed {
    /// The reason not to write to the file, if any.
    pub fn unwritable(&self) -> Option<&Broken> {
        self.broken.as_ref().filter(|broken| broken.forbids_writing())
    }

    /// The ids of existing entries that cannot be read.
    pub fn unreadable(&self) -> BTreeSet<EntryId> {
        let unread = self.blocks.iter().filter(|block| block.entry.is_none());
        let ids = unread.map(|block| &block.id).chain(&self.torn_id);
        ids.cloned().collect()
    }

    /// The ids in use: those of entries, and of entries that a person made unreadable.
    pub fn ids(&self) -> BTreeSet<&EntryId> {
        self.blocks
            .iter()
            .filter(|block| !block.is_damaged)
            .map(|block| &block.id)
            .collect()
    }
}

/// The entry in a text that [`crate::render()`] made; none for another text.
pub fn parse_entry(text: &str, place: &Place, zone: &Zone) -> Option<Entry> {
    let mut file = new_file(place.kind, Date::default());
    file.push_str(text);
    let parsed = parse(file.as_bytes(), place, zone);
    let mut entries = parsed.blocks.into_iter().filter_map(|block| block.entry);
    entries.next()
}

/// Parses a file.
pub fn parse(bytes: &[u8], place: &Place, zone: &Zone) -> Parsed {
    if let Some(text) = of_utf16(bytes) {
        let broken = Some(Broken::Utf16);
        return Parsed {
            broken,
            torn: None,
            ..parse(text.as_bytes(), place, zone)
        };
    }
    let is_skill = place.kind == EntryKind::Skill;
    let read = if is_skill { skill::parse } else { parse_entries };
    let mut parsed = read(bytes, place, zone);
    parsed.is_unread = match &parsed.broken {
        None => false,
        Some(Broken::Yaml(_)) if !is_skill => false,
        Some(_) => parsed.blocks.iter().all(|block| block.entry.is_none()),
    };
    parsed
}

fn parse_entries(bytes: &[u8], place: &Place, zone: &Zone) -> Parsed {
    let (text, invalid) = as_text(bytes);
    let lines = lines(&text);
    let front = Front::of_lines(&lines);
    let mut parsed = Parsed {
        broken: front.broken,
        tail: bytes.len(),
        ..Parsed::default()
    };
    if parsed.unwritable().is_some() {
        return parsed;
    }
    let page = page::look(&lines[front.lines..]);
    let shown: Vec<Line<'_>> = page.seen.iter().map(SeenLine::line).collect();
    for line in &page.conflicts {
        parsed.note(*line, "a conflict of a merge begins here: keep what is right, then delete the lines `<<<<<<<`, `=======` and `>>>>>>>`");
    }
    let (raws, strays) = split(&shown, &invalid);
    let whole = complete_blocks(&raws);
    let torn = raws.get(whole).map(|raw| raw.span.start);
    if let Some(last) = raws.get(whole).or(raws.last()).filter(|raw| !raw.is_ended) {
        parsed.tail = last.line.start;
    }
    let mut reader = BlockReader {
        place,
        zone,
        date: place.date.or(front.date),
        seen: BTreeSet::new(),
        equals: BTreeMap::new(),
        parsed,
    };
    raws[..whole].iter().for_each(|raw| reader.read(raw));
    let strays = if torn.is_none() {
        reader.read_facts(strays, &invalid)
    } else {
        strays.into_iter().map(|line| (line, None)).collect()
    };
    let mut parsed = reader.parsed;
    if let (Some(torn), Some(raw)) = (torn, raws.get(whole)) {
        parsed.torn = Some(torn);
        parsed.torn_id = raw.heading.id.map(|id| EntryId::new(read_chars(id)));
        parsed.note(
            raw.line.number,
            "an entry is incomplete: Quipu writes it again, or you remove it",
        );
    }
    read_strays(&mut parsed, &strays, raws.last());
    if let (None, Some(at)) = (&parsed.broken, invalid.first())
        && parsed.torn.is_none_or(|torn| *at < torn)
    {
        let before = lines.partition_point(|line| line.start <= *at);
        parsed.broken = Some(Broken::Encoding(before));
    }
    parsed.problems.sort_by_key(|problem| problem.line);
    parsed
}

impl Parsed {
    fn note(&mut self, line: usize, reason: impl Into<String>) {
        let reason = reason.into();
        self.problems.push(Problem { line, reason });
    }
}

/// The bytes as text of the same length, with `?` for each invalid byte, and the places of these.
pub(crate) fn as_text(bytes: &[u8]) -> (Cow<'_, str>, Vec<usize>) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return (text.into(), Vec::new());
    }
    let mut text = String::with_capacity(bytes.len());
    let mut invalid = Vec::new();
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for _ in chunk.invalid() {
            invalid.push(text.len());
            text.push('?');
        }
    }
    (text.into(), invalid)
}

/// The text of a file in UTF-16, with or without a byte order mark.
fn of_utf16(bytes: &[u8]) -> Option<String> {
    let is_text = |text: u8, nul: u8| text != 0 && nul == 0;
    let is_little = match *bytes {
        [0xff, 0xfe, ..] => true,
        [0xfe, 0xff, ..] => false,
        [a, b, c, d, ..] if is_text(a, b) && is_text(c, d) => true,
        [a, b, c, d, ..] if is_text(b, a) && is_text(d, c) => false,
        _ => return None,
    };
    let unit = if is_little {
        u16::from_le_bytes
    } else {
        u16::from_be_bytes
    };
    let units = bytes
        .chunks(2)
        .map(|pair| unit([pair[0], *pair.get(1).unwrap_or(&0)]));
    let text = char::decode_utf16(units).map(|read| read.unwrap_or(char::REPLACEMENT_CHARACTER));
    Some(text.collect())
}

/// Whether a span contains one of these places, which are in order.
fn has_any(places: &[usize], span: &Range<usize>) -> bool {
    let next = places.get(places.partition_point(|at| *at < span.start));
    next.is_some_and(|at| *at < span.end)
}

/// The heading on a line that is no literal.
fn marker<'a>(line: &Line<'a>) -> Option<Heading<'a>> {
    heading(line.text).filter(|_| line.literal.is_none())
}

/// Splits lines into blocks and the lines outside of them.
fn split<'a, 'l>(lines: &'l [Line<'a>], invalid: &[usize]) -> (Vec<Raw<'a, 'l>>, Vec<Line<'a>>) {
    let (mut raws, mut strays) = (Vec::new(), Vec::new());
    let mut n = 0;
    while let Some(line) = lines.get(n) {
        n += 1;
        let Some(head) = marker(line) else {
            match item(line.text) {
                Some(head) => raws.push(Raw::new(*line, head, &[], line.end, invalid)),
                None => strays.push(*line),
            }
            continue;
        };
        // An entry by hand has no end mark: the line of another entry ends it too.
        let is_by_hand = head.id.is_none();
        let is_over = |line: &Line<'_>| {
            is_end(line.text) || marker(line).is_some() || (is_by_hand && item(line.text).is_some())
        };
        let after = lines[n..]
            .iter()
            .position(is_over)
            .map_or(lines.len(), |more| n + more);
        let is_ended = lines.get(after).is_some_and(|line| is_end(line.text));
        let body = &lines[n..after];
        let next = if is_ended { after + 1 } else { after };
        let last = lines[n - 1..next]
            .iter()
            .rfind(|line| !is_blank(line.text))
            .unwrap_or(line);
        raws.push(Raw {
            is_ended,
            ..Raw::new(*line, head, body, last.end, invalid)
        });
        n = next;
    }
    (raws, strays)
}

impl<'a, 'l> Raw<'a, 'l> {
    /// A block that ends as it should.
    fn new(
        line: Line<'a>,
        heading: Heading<'a>,
        body: &'l [Line<'a>],
        end: usize,
        invalid: &[usize],
    ) -> Self {
        let span = line.start..end;
        let is_invalid = has_any(invalid, &span);
        let has_nul = line.text.contains('\0') || body.iter().any(|line| line.text.contains('\0'));
        Self {
            line,
            heading,
            body,
            span,
            is_ended: true,
            is_invalid,
            has_nul,
        }
    }
}

/// Whether a crash cut off the last block: it has an id and no end mark, or its heading has no line
/// feed. No person's entry at the end of a file looks like this.
fn is_torn(last: &Raw<'_, '_>) -> bool {
    !last.is_ended && (last.heading.id.is_some() || last.has_nul || !last.line.ended)
}

/// Number of blocks before a torn one.
fn complete_blocks(raws: &[Raw<'_, '_>]) -> usize {
    let Some((last, before)) = raws.split_last().filter(|(last, _)| is_torn(last)) else {
        return raws.len();
    };
    // A heading within an entry, cut off after its second `#`.
    let is_within = last.line.text == "##" && before.last().is_some_and(is_torn);
    before.len() - usize::from(is_within)
}

/// Reports text outside of entries, except titles, rules and end marks; the remains of a crash are
/// noted as torn.
fn read_strays(parsed: &mut Parsed, strays: &[Stray<'_>], last: Option<&Raw<'_, '_>>) {
    let end = last.map_or(0, |raw| raw.span.end);
    let is_text = |(line, _): &&Stray<'_>| line.literal.is_some() || !facts::is_structure(line.text);
    let mut above = None;
    for (line, what) in strays.iter().filter(is_text) {
        let is_torn = line.text.contains('\0') || (!line.ended && (line.text == "#" || is_cut(line.text)));
        if is_torn && parsed.torn.is_none() && line.start >= end {
            parsed.tail = line.start;
            parsed.torn = Some(line.start);
        }
        // One problem for consecutive lines.
        let number = line.number;
        match what {
            _ if above == Some((line.start, what)) => {}
            _ if is_blank(line.text) => continue,
            None => parsed.note(number, "text outside of an entry: give it a heading, as in `## Pottery on Mondays`"),
            Some(what) => parsed.note(number, format!("{what} is not read as a fact: write the fact as `- I like tea`, or write a heading `## …` above")),
        }
        above = Some((line.end, what));
    }
}

/// Parses the blocks of one file, one after the other.
struct BlockReader<'a> {
    place: &'a Place,
    zone: &'a Zone,
    date: Option<Date>,
    seen: BTreeSet<EntryId>,
    /// Number of equal headings without an id so far.
    equals: BTreeMap<String, u64>,
    parsed: Parsed,
}

impl BlockReader<'_> {
    fn read(&mut self, raw: &Raw<'_, '_>) {
        let id = match raw.heading.id {
            Some(id) => EntryId::new(read_chars(id)),
            None => self.derived_id(raw.heading.subject),
        };
        let read = block::read(raw, &id, self.place, self.date, self.zone);
        let read = match read {
            Ok(_) if !self.seen.insert(id.clone()) => Err(Problem {
                line: raw.line.number,
                reason: format!("an earlier entry already has the id `{id}`: remove the id from this line"),
            }),
            read => read,
        };
        let (entry, others) = match read {
            Ok((entry, others)) => (Some(entry), others),
            Err(problem) => {
                self.parsed.problems.push(problem);
                (None, Vec::new())
            }
        };
        self.parsed.blocks.push(EntryBlock {
            id,
            span: raw.span.clone(),
            entry,
            others,
            is_damaged: raw.has_nul,
        });
    }

    /// Parses the lines outside of entries as facts, in a file of facts; returns the other lines
    /// with their kinds.
    fn read_facts<'a>(&mut self, mut strays: Vec<Line<'a>>, invalid: &[usize]) -> Vec<Stray<'a>> {
        // Damaged text is no list by a person.
        let is_damaged = strays
            .iter()
            .any(|line| line.text.contains('\0') || (line.text == "#" && !line.ended));
        if self.place.kind != EntryKind::Fact || is_damaged {
            return strays.into_iter().map(|line| (line, None)).collect();
        }
        for line in strays
            .iter_mut()
            .filter(|line| has_any(invalid, &(line.start..line.end)))
        {
            line.literal = Some("text that is not UTF-8");
        }
        let (told, rest) = facts::read(&strays);
        for WrittenFact { lines, text } in told {
            let id = self.derived_id(&text);
            let head = Heading {
                subject: "",
                id: None,
                marks: None,
            };
            let raw = Raw::new(lines[0], head, &[], lines[lines.len() - 1].end, &[]);
            match block::read(&raw, &id, self.place, self.date, self.zone) {
                Ok((entry, others)) => self.parsed.blocks.push(EntryBlock {
                    id,
                    span: raw.span,
                    entry: Some(Entry { body: text, ..entry }),
                    others,
                    is_damaged: false,
                }),
                Err(problem) => self.parsed.problems.push(problem),
            }
        }
        self.parsed.blocks.sort_by_key(|block| block.span.start);
        rest
    }

    /// The id of an entry by hand: the same as long as the file, the heading and its place among
    /// equal ones stay.
    fn derived_id(&mut self, subject: &str) -> EntryId {
        let equals = self.equals.entry(subject.to_owned()).or_default();
        *equals += 1;
        let mut hash = Fnv::default();
        hash.text(&self.place.file);
        hash.text(subject);
        hash.number(*equals);
        EntryId::new(format!("{}_hand_{:016x}", self.place.kind.prefix(), hash.value()))
    }
}
