//! Files as sections, one for each heading and each entry of one line: a summary line of the changes between two states, and a merge of three
//! states.
//!
//! Owns: the headline of a change, and merging by entry, where a merge by line would see neighbours as a conflict.
//! Never: reading a section as an entry; unreadable sections change and merge like the rest.

use std::collections::{BTreeMap, BTreeSet};

use crate::lines::{heading, is_blank, item, lines};

/// An id, or the heading itself if there is none, and the number of equal ones before it; the text before the first
/// heading has the empty key.
type Key<'a> = (&'a str, usize);

/// A file's sections in order. Blank lines before a heading belong to it, as an append writes them.
fn sections(text: &str) -> Vec<(Key<'_>, &str)> {
    let mut starts = vec![("", 0)];
    let mut blank_from = None;
    for line in lines(text) {
        if let Some(head) = heading(line.text) {
            starts.push((head.id.unwrap_or(head.subject), blank_from.unwrap_or(line.start)));
        } else if let Some(head) = item(line.text) {
            starts.push((head.id.unwrap_or_default(), line.start));
        }
        blank_from = is_blank(line.text).then(|| blank_from.unwrap_or(line.start));
    }
    let ends = starts.iter().skip(1).map(|(_, start)| *start).chain([text.len()]);
    let mut equals = BTreeMap::new();
    starts
        .iter()
        .zip(ends)
        .map(|(&(name, start), end)| {
            let before = equals.entry(name).or_insert(0);
            *before += 1;
            ((name, *before - 1), &text[start..end])
        })
        .collect()
}

/// How many entries of a file are new, different and gone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    pub added: usize,
    pub changed: usize,
    pub removed: usize,
}

impl Counts {
    /// Counts by heading; a state without the file is empty text.
    pub fn of(before: &str, after: &str) -> Self {
        let [before, after] = [before, after].map(|text| {
            let sections = sections(text).into_iter().skip(1);
            sections
                .map(|(key, text)| (key, text.trim()))
                .collect::<BTreeMap<_, _>>()
        });
        Self {
            added: after.keys().filter(|key| !before.contains_key(*key)).count(),
            changed: after
                .iter()
                .filter(|(key, text)| before.get(*key).is_some_and(|there| there != *text))
                .count(),
            removed: before.keys().filter(|key| !after.contains_key(*key)).count(),
        }
    }
}

/// One line that summarises the changes of some files, each given by its path in the vault: `facts of alice: 2 entries
/// added, 1 changed`.
pub fn headline(files: &[(&str, Counts)]) -> String {
    let mut sum = Counts::default();
    for (_, counts) in files {
        sum.added += counts.added;
        sum.changed += counts.changed;
        sum.removed += counts.removed;
    }
    let told = [
        (sum.added, "added"),
        (sum.changed, "changed"),
        (sum.removed, "removed"),
    ];
    let mut told: Vec<String> = told
        .iter()
        .filter(|(n, _)| *n > 0)
        .map(|(n, what)| format!("{n} {what}"))
        .collect();
    let n_files = match files.len() {
        1 => "1 file".to_owned(),
        n => format!("{n} files"),
    };
    if let Some(first) = told.first_mut() {
        let noun = if first.starts_with("1 ") {
            " entry "
        } else {
            " entries "
        };
        *first = first.replacen(' ', noun, 1);
        if files.len() > 1 {
            told.push(format!("in {n_files}"));
        }
    } else {
        told.push(format!("{n_files} changed"));
    }
    let told = told.join(", ").replace(", in ", " in ");
    let line = format!("{}: {told}", whose(files));
    line.replace(char::is_control, "?")
}

/// The owner of these files, and their kind if they have only one.
fn whose(files: &[(&str, Counts)]) -> String {
    let parts = |path: &str| {
        let mut parts = path.splitn(5, '/');
        let [app, project, owners, owner, rest] = std::array::from_fn(|_| parts.next());
        let is_owners = matches!(owners?, "users" | "agents");
        let kind = rest?.split('/').next()?.trim_end_matches(".md").to_owned();
        is_owners.then_some(([app?, project?, owners?, owner?].map(str::to_owned), kind))
    };
    let owned: Option<Vec<_>> = files.iter().map(|(path, _)| parts(path)).collect();
    match (owned, files) {
        (Some(owned), _) => {
            let kinds: BTreeSet<&str> = owned.iter().map(|(_, kind)| kind.as_str()).collect();
            let owners: BTreeSet<&[String; 4]> = owned.iter().map(|(owner, _)| owner).collect();
            let kind = match kinds.first() {
                Some(kind) if kinds.len() == 1 => kind,
                _ => "memory",
            };
            match owners.first() {
                // The part after `=` repeats the capitals.
                Some([.., owner]) if owners.len() == 1 => {
                    format!("{kind} of {}", owner.split('=').next().unwrap_or(owner))
                }
                _ => format!("{kind} of {} owners", owners.len()),
            }
        }
        (None, [(path, _)]) => (*path).to_owned(),
        (None, _) => "the vault".to_owned(),
    }
}

/// The state `base` of a file with some entries taken from `now`; none if these cannot be separated from other changes.
/// Without a base, the text before the first entry is taken too.
pub fn with_entries(base: Option<&str>, now: &str, is_brought: impl Fn(&str) -> bool) -> Option<String> {
    let others = sections(now).into_iter().filter(|((id, _), _)| !is_brought(id));
    let others: String = others.map(|(_, text)| text).collect();
    merge(&others, now, base)
}

/// `ours` with the changes from `base` to `theirs`, entry by entry; none if both changed the same entry. If `theirs` is
/// no file, the text before the first entry stays.
pub fn merge(base: &str, ours: &str, theirs: Option<&str>) -> Option<String> {
    let [base, ours] = [base, ours].map(sections);
    let theirs = theirs.map_or_else(|| base[..1].to_vec(), sections);
    let [was, here, there] =
        [&base, &ours, &theirs].map(|sections| sections.iter().copied().collect::<BTreeMap<_, _>>());
    let mut merged = Vec::with_capacity(ours.len());
    for &(key, text) in &ours {
        let (was, there) = (was.get(&key).copied(), there.get(&key).copied());
        let kept = if was == Some(text) {
            there
        } else if there == was || there == Some(text) {
            Some(text)
        } else {
            return None;
        };
        merged.extend(kept.map(|text| (key, text)));
    }
    for (n, &(key, text)) in theirs.iter().enumerate() {
        match was.get(&key) {
            _ if here.contains_key(&key) => {}
            Some(was) if *was == text => {}
            Some(_) => return None,
            None => {
                let place = |before: &(Key<'_>, &str)| merged.iter().position(|(key, _)| *key == before.0);
                let after = theirs[..n].iter().rev().find_map(place);
                merged.insert(after.map_or(0, |at| at + 1), (key, text));
            }
        }
    }
    // Without a line feed between them, two sections would become one.
    let parts: Vec<&str> = merged
        .iter()
        .map(|(_, text)| *text)
        .filter(|text| !text.is_empty())
        .collect();
    let (_, before_last) = parts.split_last().unwrap_or((&"", &[]));
    before_last
        .iter()
        .all(|text| text.ends_with('\n'))
        .then(|| parts.concat())
}
