//! Merges lines: repeated lines become one, outdated ones get their later state.
//!
//! Owns: which lines are equal, the order of states, the maximum lines of a kind. Never: the budget.

use std::collections::HashMap;

use transcript::ItemId;

use super::{DigestLine, LineKind, line};

const SOURCES_MAX: usize = 8;
/// Maximum objectives: the first one and the latest ones.
const OBJECTIVES_MAX: usize = 4;

/// Maximum lines of a kind in a digest, for any length of the conversation.
fn lines_max(kind: LineKind) -> usize {
    match kind {
        LineKind::Constraint => usize::MAX,
        LineKind::Objective => OBJECTIVES_MAX,
        LineKind::Done => 60,
        LineKind::Todo | LineKind::Error => 120,
        LineKind::Decision | LineKind::Command => 240,
        LineKind::File | LineKind::Excerpt => 400,
        LineKind::Identifier => 600,
    }
}

/// Settles lines in the order of the conversation; the result is sorted by kind, then in that order. Settling twice
/// changes nothing.
pub(crate) fn settled(lines: Vec<DigestLine>) -> Vec<DigestLine> {
    let mut kept: Vec<Option<DigestLine>> = Vec::with_capacity(lines.len());
    let mut known: HashMap<(u8, String), usize> = HashMap::with_capacity(lines.len());
    for line in lines {
        let key = subject(&line);
        let old_path = renamed_from(&line).map(|path| (GROUP_FILE, path.to_owned()));
        if let Some(at) = old_path.and_then(|path| known.remove(&path)) {
            kept[at] = None;
        }
        let earlier = known.get(&key).and_then(|&at| kept[at].take());
        known.insert(key, kept.len());
        kept.push(Some(match earlier {
            Some(earlier) => merged(earlier, line),
            None => line,
        }));
    }
    let mut lines: Vec<DigestLine> = kept.into_iter().flatten().collect();
    lines.sort_by_key(|line| (line.kind, line.sources.first().copied()));
    lines = bound(lines);
    tick(&mut lines);
    lines
}

const GROUP_FILE: u8 = 1;

/// Subject of a line: two lines with the same subject are merged.
fn subject(line: &DigestLine) -> (u8, String) {
    match line.kind {
        LineKind::Objective => (0, line::key(&line.text)),
        LineKind::File => (GROUP_FILE, path(&line.text).to_owned()),
        LineKind::Command => (
            2,
            line.text
                .split_once(": ")
                .map_or("", |(_, command)| command)
                .to_owned(),
        ),
        LineKind::Todo | LineKind::Done => (3, line::key(&line.text)),
        _ => (4, line::key(&line.text)),
    }
}

fn path(text: &str) -> &str {
    let path = text.split_once(' ').map_or(text, |(_, path)| path);
    if text.starts_with("renamed ") {
        path.split_once(" (was ").map_or(path, |(path, _)| path)
    } else {
        path
    }
}

fn renamed_from(line: &DigestLine) -> Option<&str> {
    let renamed = line.kind == LineKind::File && line.text.starts_with("renamed ");
    renamed
        .then(|| line.text.split_once(" (was ")?.1.strip_suffix(')'))
        .flatten()
}

fn merged(earlier: DigestLine, later: DigestLine) -> DigestLine {
    let same = earlier.text == later.text && earlier.kind == later.kind;
    if same {
        let worth = earlier.worth.max(later.worth);
        let mut sources = earlier.sources;
        sources.extend(later.sources);
        return DigestLine {
            sources: bounded(sources),
            worth,
            ..later
        };
    }
    match later.kind {
        LineKind::File => touched(earlier, later),
        LineKind::Command | LineKind::Todo | LineKind::Done => later,
        // The same sentence in two roles: the weightier line stays unchanged.
        _ if later.kind < earlier.kind => later,
        _ => earlier,
    }
}

/// State of a file after one more change. The line belongs to the item with that state.
fn touched(earlier: DigestLine, later: DigestLine) -> DigestLine {
    let state = |line: &DigestLine| {
        line.text
            .split_once(' ')
            .map_or(String::new(), |(state, _)| state.to_owned())
    };
    match (state(&earlier).as_str(), state(&later).as_str()) {
        (_, "read") | ("created" | "renamed", "created" | "modified") => earlier,
        ("read" | "modified", "created") => DigestLine {
            text: format!("modified {}", path(&later.text)),
            ..later
        },
        _ => later,
    }
}

fn bounded(mut sources: Vec<ItemId>) -> Vec<ItemId> {
    sources.sort_unstable();
    sources.dedup();
    if sources.len() > SOURCES_MAX {
        sources.drain(1..=sources.len() - SOURCES_MAX);
    }
    sources
}

/// Removes the open todos that a later line with the same words marks as done.
fn tick(lines: &mut Vec<DigestLine>) {
    let of = |kind: LineKind| {
        lines
            .iter()
            .enumerate()
            .filter(move |(_, line)| line.kind == kind)
            .map(|(at, line)| (at, stems(&line.text)))
    };
    let done: Vec<(usize, Vec<String>)> = of(LineKind::Done).collect();
    let mut ticked: Vec<usize> = Vec::new();
    for (todo, wanted) in of(LineKind::Todo) {
        let matches = |(at, told): &(usize, Vec<String>)| {
            let later = lines[*at].sources.last() > lines[todo].sources.last();
            let common = wanted.iter().filter(|word| told.contains(word)).count();
            later && common >= 2 && common * 5 >= wanted.len().min(told.len()) * 3
        };
        if done.iter().any(matches) {
            ticked.push(todo);
        }
    }
    for at in ticked.into_iter().rev() {
        lines.remove(at);
    }
}

/// The beginnings of the longer words of a text, and its pairs of ideographs.
fn stems(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for word in text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
    {
        let letters: Vec<char> = word.chars().flat_map(char::to_lowercase).collect();
        if letters.iter().any(|&c| c >= '\u{2e80}') {
            found.extend(letters.windows(2).map(|pair| pair.iter().collect::<String>()));
        } else if letters.len() >= 4 || letters.iter().any(char::is_ascii_digit) {
            found.push(letters.into_iter().take(5).collect());
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Limits the lines of a kind: the least worth is dropped, among equals the older.
fn bound(lines: Vec<DigestLine>) -> Vec<DigestLine> {
    let mut left: Vec<DigestLine> = Vec::with_capacity(lines.len());
    let mut lines = lines.into_iter().peekable();
    while let Some(first) = lines.next() {
        let kind = first.kind;
        let mut same = vec![first];
        while let Some(line) = lines.next_if(|line| line.kind == kind) {
            same.push(line);
        }
        if kind == LineKind::Objective {
            for later in &mut same[1..] {
                later.worth = later.worth.min(0.9);
            }
            if same.len() > OBJECTIVES_MAX {
                same.drain(1..=same.len() - OBJECTIVES_MAX);
            }
        } else if same.len() > lines_max(kind) {
            let mut order: Vec<usize> = (0..same.len()).collect();
            order.sort_by(|&a, &b| same[b].worth.total_cmp(&same[a].worth).then(b.cmp(&a)));
            let mut stays = vec![false; same.len()];
            for &at in &order[..lines_max(kind)] {
                stays[at] = true;
            }
            let mut stays = stays.into_iter();
            same.retain(|_| stays.next().unwrap_or(false));
        }
        left.extend(same);
    }
    left
}
