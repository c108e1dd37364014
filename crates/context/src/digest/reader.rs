//! Reads a stretch and collects its facts in the order of the conversation.
//!
//! Owns: the lines of a call and its result with their worth; references between items. Never: reading messages
//! (`talk`), merging (`settle`), choosing (`fit`).

use std::collections::HashMap;
use std::ops::Range;

use transcript::{Block, Call, Item, ItemId, Outcome, Role};

use super::files::{self, Act, Deed, Effect};
use super::line::{shortened, single, window_around};
use super::names::{self, NameSpan, Strength};
use super::outcome::{self, Ending};
use super::{DigestLine, LineKind};

pub(crate) const LINE_BYTES_MAX: usize = 280;
/// Maximum bytes of a detail line from a tool's output.
const DETAIL_BYTES_MAX: usize = 160;
/// Maximum details of one result or pasted part.
const DETAILS_MAX: usize = 40;
/// Maximum identifiers of one stretch, before equal ones are merged.
const IDENTIFIERS_MAX: usize = 1_200;
/// In a shorter text no line can count as unusual.
const SHAPED_LINES_MIN: usize = 8;
/// Bytes of a call's arguments that are searched for references.
const ARGUMENTS_BYTES_MAX: usize = 8 * 1024;

/// The lines of a stretch in the order of the conversation, not yet settled.
pub(crate) fn found(items: &[(ItemId, &Item)]) -> Vec<DigestLine> {
    let mut reader = DigestReader::default();
    for (at, &(id, item)) in items.iter().enumerate() {
        reader.item(ItemPlace { at, id }, item);
    }
    reader.finished(items.len())
}

/// A place: the index in the stretch, and the item.
#[derive(Clone, Copy)]
pub(crate) struct ItemPlace {
    pub(crate) at: usize,
    pub(crate) id: ItemId,
}

/// The text of a line, or its source if the text is made later.
pub(crate) enum Text<'a> {
    Made(String),
    Around(&'a str, Range<usize>),
}

struct FoundLine<'a> {
    kind: LineKind,
    text: Text<'a>,
    worth: f32,
    place: ItemPlace,
    /// Its names, for references by later items.
    names: Vec<u64>,
}

/// A call that has no result yet.
struct Pending {
    place: ItemPlace,
    deed: Deed,
    answered: bool,
}

/// A question: a request of the user, or the assistant's question.
pub(crate) struct Ask {
    pub(crate) place: ItemPlace,
    pub(crate) text: String,
}

#[derive(Default)]
pub(crate) struct DigestReader<'a> {
    found: Vec<FoundLine<'a>>,
    /// The last use of a name in a message or a call.
    used: HashMap<u64, usize>,
    pending: Vec<Pending>,
    by_call: HashMap<String, Vec<usize>>,
    /// The open entries of the latest list of todos.
    listed: Vec<String>,
    pub(crate) objective: bool,
    /// The user's latest ask after the objective.
    pub(crate) latest: Option<Ask>,
    /// The question at the end of the assistant's previous item.
    pub(crate) question: Option<Ask>,
}

impl<'a> DigestReader<'a> {
    fn item(&mut self, place: ItemPlace, item: &'a Item) {
        if item.blocks.iter().any(|block| matches!(block, Block::Text(_))) && item.role != Role::Tool {
            let narrates = item.calls().next().is_some();
            self.talk(place, item.role, &item.prose(), narrates);
        }
        for block in &item.blocks {
            match block {
                Block::Call(call) => self.call(place, call),
                Block::Outcome(outcome) => self.outcome(place, outcome),
                Block::Text(text) if item.role == Role::Tool => self.details(place, text),
                _ => {}
            }
        }
    }

    pub(crate) fn push(
        &mut self,
        kind: LineKind,
        place: ItemPlace,
        text: String,
        worth: f32,
        names: Vec<u64>,
    ) {
        if !text.is_empty() {
            self.found.push(FoundLine {
                kind,
                text: Text::Made(text),
                worth,
                place,
                names,
            });
        }
    }

    pub(crate) fn names_used(&mut self, place: ItemPlace, text: &str) -> Vec<NameSpan> {
        let names = names::names(text);
        for name in &names {
            self.used.insert(names::hash(&text[name.range.clone()]), place.at);
        }
        names
    }

    /// The lines with identifiers of a result.
    fn details(&mut self, place: ItemPlace, text: &'a str) {
        for detail in details(text) {
            let text = Text::Around(&text[detail.range], detail.focus);
            let DetailLine { worth, names, .. } = detail;
            self.found.push(FoundLine {
                kind: LineKind::Identifier,
                text,
                worth,
                place,
                names,
            });
        }
    }

    fn call(&mut self, place: ItemPlace, call: &Call) {
        let arguments = &call.arguments[..call.arguments.floor_char_boundary(ARGUMENTS_BYTES_MAX)];
        self.names_used(place, arguments);
        let mut deed = files::deed(call);
        if let Some(entries) = deed.todos.take() {
            self.list(place, &entries);
        }
        if deed.effects.is_empty() && deed.command.is_none() && call.id.is_empty() {
            return;
        }
        self.by_call
            .entry(call.id.clone())
            .or_default()
            .push(self.pending.len());
        self.pending.push(Pending {
            place,
            deed,
            answered: false,
        });
    }

    /// Replaces the previous list of todos.
    fn list(&mut self, place: ItemPlace, entries: &[files::TodoEntry]) {
        let dropped = std::mem::take(&mut self.listed);
        self.found.retain(|found| {
            found.kind != LineKind::Todo || !matches!(&found.text, Text::Made(text) if dropped.contains(text))
        });
        for entry in entries {
            let text = shortened(&entry.text, LINE_BYTES_MAX);
            if entry.done {
                self.push(LineKind::Done, place, text, 0.25, Vec::new());
            } else {
                self.listed.push(text.clone());
                self.push(LineKind::Todo, place, text, 0.75, Vec::new());
            }
        }
    }

    fn outcome(&mut self, place: ItemPlace, outcome: &'a Outcome) {
        let waiting = self.by_call.get_mut(&outcome.call_id).and_then(Vec::pop);
        let command = waiting.is_some_and(|at| self.pending[at].deed.command.is_some());
        let ending = outcome::ending(outcome, command);
        if let Some(at) = waiting {
            self.pending[at].answered = true;
            let place = self.pending[at].place;
            let deed = std::mem::take(&mut self.pending[at].deed);
            for effect in &deed.effects {
                // A shell opens the file it writes to before the command can fail.
                if !ending.failed() || command && effect.act == Act::Written {
                    self.effect(place, &updated(effect, &outcome.text));
                }
            }
            if let Some(command) = &deed.command {
                self.command(place, command, Some(ending));
            }
        }
        let (causes, worth) = if ending.failed() {
            (outcome::causes(&outcome.text), 0.6)
        } else if command {
            (outcome::loud(&outcome.text), 0.35)
        } else {
            (Vec::new(), 0.0)
        };
        for range in causes.into_iter().take(2) {
            let line = &outcome.text[range];
            let names = names::names(line);
            let focus = outcome::cause_in(line).unwrap_or(0..0);
            let text = window_around(line, &focus, LINE_BYTES_MAX);
            self.push(LineKind::Error, place, text, worth, hashes(line, &names));
        }
        self.details(place, &outcome.text);
    }

    pub(crate) fn effect(&mut self, place: ItemPlace, effect: &Effect) {
        let path = single(&effect.path);
        if path.is_empty()
            || path.len().max(effect.from.as_ref().map_or(0, String::len)) > files::PATH_BYTES_MAX
        {
            return;
        }
        let (text, worth) = match (effect.act, &effect.from) {
            (Act::Read, _) => (format!("read {path}"), 0.25),
            (Act::Created | Act::Written, _) => (format!("created {path}"), 0.65),
            (Act::Deleted, _) => (format!("deleted {path}"), 0.65),
            (Act::Renamed, Some(from)) => (format!("renamed {path} (was {})", single(from)), 0.65),
            (Act::Modified | Act::Renamed, _) => (format!("modified {path}"), 0.65),
        };
        self.push(LineKind::File, place, text, worth, Vec::new());
    }

    fn command(&mut self, place: ItemPlace, command: &str, ending: Option<Ending>) {
        let shown = shortened(command, LINE_BYTES_MAX - 16);
        let (state, base) = match ending {
            None => ("no result".to_owned(), 0.35),
            Some(Ending::Passed | Ending::Exit(0)) => ("ok".to_owned(), 0.4),
            Some(Ending::Failed) => ("failed".to_owned(), 0.5),
            Some(Ending::Exit(code)) => (format!("exit {code}"), 0.5),
        };
        let worth = if only_looks(command) { base * 0.4 } else { base };
        let text = format!("{state}: {shown}");
        self.push(LineKind::Command, place, text, worth, Vec::new());
    }

    /// The lines, with facts known only at the end: calls without a result, the last question, references.
    fn finished(mut self, items: usize) -> Vec<DigestLine> {
        let open: Vec<Pending> = std::mem::take(&mut self.pending)
            .into_iter()
            .filter(|call| !call.answered)
            .collect();
        for call in open {
            for effect in &call.deed.effects {
                self.effect(call.place, effect);
            }
            if let Some(command) = &call.deed.command {
                self.command(call.place, command, None);
            }
        }
        if let Some(ask) = self.latest.take() {
            self.push(LineKind::Objective, ask.place, ask.text, 0.8, Vec::new());
        }
        let used = self.used;
        let mut found = self.found;
        found.sort_by_key(|found| found.place.at);
        for found in &mut found {
            let referred = found
                .names
                .iter()
                .any(|name| used.get(name).is_some_and(|&at| at > found.place.at));
            let age = found.place.at as f32 / items.max(1) as f32;
            if !matches!(found.kind, LineKind::Objective | LineKind::Constraint) {
                found.worth = (found.worth + if referred { 0.2 } else { 0.0 } + 0.05 * age).min(0.95);
            }
        }
        let mut worths: Vec<f32> = found
            .iter()
            .filter(|found| found.kind == LineKind::Identifier)
            .map(|found| found.worth)
            .collect();
        worths.sort_unstable_by(|a, b| b.total_cmp(a));
        let least = worths.get(IDENTIFIERS_MAX).copied().unwrap_or(0.0);
        found.retain(|found| found.kind != LineKind::Identifier || found.worth >= least);
        let mut lines: Vec<DigestLine> = found.into_iter().map(FoundLine::line).collect();
        let objective = lines.iter().find(|line| line.kind == LineKind::Objective);
        if let Some(objective) = objective.map(|line| line.text.clone()) {
            lines.retain(|line| line.kind != LineKind::Excerpt || !objective.contains(&line.text));
        }
        lines
    }
}

impl FoundLine<'_> {
    fn line(self) -> DigestLine {
        let text = match self.text {
            Text::Made(text) => text,
            Text::Around(text, focus) => window_around(text, &focus, DETAIL_BYTES_MAX),
        };
        DigestLine {
            kind: self.kind,
            text,
            sources: vec![self.place.id],
            worth: self.worth,
        }
    }
}

/// A line with identifiers in generated text.
pub(crate) struct DetailLine {
    pub(crate) range: Range<usize>,
    /// The important part of the line.
    pub(crate) focus: Range<usize>,
    pub(crate) worth: f32,
    pub(crate) names: Vec<u64>,
}

/// The lines with identifiers, in order, and the best if there are many: an unusual line is worth more than a line of a
/// list.
pub(crate) fn details(text: &str) -> Vec<DetailLine> {
    let lines = outcome::lines(text);
    let mut shapes: HashMap<u64, usize> = HashMap::new();
    if lines.len() >= SHAPED_LINES_MIN {
        for range in &lines {
            *shapes.entry(shape(&text[range.clone()])).or_default() += 1;
        }
    }
    let mut found: Vec<DetailLine> = Vec::new();
    for range in lines {
        let line = &text[range.clone()];
        let mut names = names::names(line);
        names.retain(|name| name.strength >= Strength::Fair);
        let Some(strongest) = names.iter().map(|name| name.strength).max() else {
            continue;
        };
        let odd = shapes.get(&shape(line)) == Some(&1);
        let worth = if strongest == Strength::Strong { 0.22 } else { 0.1 } + if odd { 0.12 } else { 0.0 };
        let focus = focus(&names, strongest).unwrap_or(0..0);
        found.push(DetailLine {
            range,
            focus,
            worth,
            names: hashes(line, &names),
        });
    }
    if found.len() > DETAILS_MAX {
        found.sort_by(|a, b| {
            b.worth
                .total_cmp(&a.worth)
                .then(a.range.start.cmp(&b.range.start))
        });
        found.truncate(DETAILS_MAX);
        found.sort_by_key(|detail| detail.range.start);
    }
    found
}

/// The form of a line's beginning, without its letters and digits: lines of one list or log share it.
fn shape(line: &str) -> u64 {
    let mut shape = 0_u64;
    let mut last = 0_u64;
    let mut runs = 0;
    for byte in line.bytes().take(64) {
        let class = match byte {
            b'0'..=b'9' => 1,
            b'A'..=b'Z' | b'a'..=b'z' | 0x80.. => 2,
            b' ' | b'\t' => 3,
            other => u64::from(other),
        };
        if class != last {
            shape = shape << 8 | class;
            last = class;
            runs += 1;
        }
        if runs == 6 {
            break;
        }
    }
    shape
}

pub(crate) fn hashes(text: &str, names: &[NameSpan]) -> Vec<u64> {
    names
        .iter()
        .take(8)
        .map(|name| names::hash(&text[name.range.clone()]))
        .collect()
}

/// From the first to the last name of at least this strength.
pub(crate) fn focus(names: &[NameSpan], least: Strength) -> Option<Range<usize>> {
    let mut strong = names.iter().filter(|name| name.strength >= least);
    let first = strong.next()?;
    let last = strong.next_back().unwrap_or(first);
    Some(first.range.start..last.range.end)
}

/// A written file: the result can show that it existed before.
fn updated(effect: &Effect, result: &str) -> Effect {
    let head = &result[..result.floor_char_boundary(200)];
    let was_there = effect.act == Act::Written && (head.contains("updated") || head.contains("overw"));
    Effect {
        act: if was_there { Act::Modified } else { effect.act },
        ..effect.clone()
    }
}

/// Whether a command only reads; its findings are in its result.
fn only_looks(command: &str) -> bool {
    let looks = [
        "ls", "cat", "pwd", "cd", "echo", "head", "tail", "grep", "rg", "find", "which", "wc", "sed", "less",
        "tree", "stat", "file", "nl", "git status", "git diff", "git log", "git show", "env", "true",
        "sleep", "date", "whoami", "ps", "du", "df",
    ];
    let bare = |part: &str| {
        let part = part.trim();
        part.is_empty()
            || looks.iter().any(|look| {
                part.strip_prefix(look)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
            })
    };
    !command.contains(['>', '\n']) && !command.contains(" -i") && command.split(['&', '|', ';']).all(bare)
}
