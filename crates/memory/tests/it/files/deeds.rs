//! Changes of files, as texts before and after.
//!
//! Owns: the kinds of deeds, and the effect of each on a page. Never: a disk.

use proptest::prelude::*;
use proptest::sample::{Index, select};

/// The kinds of deeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Copy,
    Move,
    Delete,
    /// A deleted file comes back.
    Restore,
    ChangeWord,
    AddLine,
    RemoveLine,
    /// An episode is split by a heading.
    Split,
    /// Long lines are wrapped; headings stay, and items go on with spaces.
    Format,
    /// Each long line is cut.
    Fold,
    /// An editor saves it with other line ends, with or without a byte order mark.
    Encode,
    /// A merge leaves the lines of both sides.
    Merge,
    /// A person writes a line that Markdown does not show.
    Hide,
    /// Quipu itself writes.
    Say,
    Rebuild,
    Restart,
}

/// A deed, with numbers that choose the file, and the line or the way.
#[derive(Debug, Clone, Copy)]
pub(super) struct Deed {
    pub(super) kind: Kind,
    pub(super) file: Index,
    pub(super) way: Index,
}

pub(super) fn deed() -> impl Strategy<Value = Deed> {
    let often = [
        (8, Kind::Copy),
        (4, Kind::Move),
        (6, Kind::Delete),
        (5, Kind::Restore),
        (3, Kind::ChangeWord),
        (3, Kind::AddLine),
        (3, Kind::RemoveLine),
        (3, Kind::Split),
        (2, Kind::Format),
        (2, Kind::Fold),
        (2, Kind::Encode),
        (2, Kind::Merge),
        (2, Kind::Hide),
        (2, Kind::Say),
        (1, Kind::Rebuild),
        (1, Kind::Restart),
    ];
    let kinds: Vec<Kind> = often
        .into_iter()
        .flat_map(|(times, kind)| vec![kind; times])
        .collect();
    (select(kinds), any::<Index>(), any::<Index>()).prop_map(|(kind, file, way)| Deed { kind, file, way })
}

/// The name of a copy or of a moved file, as programs and people give it.
pub(super) fn other_name(path: &str, way: Index) -> String {
    let (folder, name) = path.rsplit_once('/').expect("a folder");
    let stem = name.strip_suffix(".md").expect("a page");
    let name = match way.index(12) {
        0 => format!("{stem} 2.md"),
        1 => format!("{stem} (1).md"),
        2 => format!("{stem} copy.md"),
        3 => format!("Copy of {stem}.md"),
        4 => format!("{stem}.sync-conflict-20260202-101112-ABCDEFG.md"),
        5 => format!("{stem} (Ann's conflicted copy 2026-02-02).md"),
        6 => format!("{stem} (conflict 2026-02-02-10-11-12).md"),
        7 => format!("{stem}_conf(1).md"),
        8 => format!("old/{name}"),
        9 => format!("A {stem}.md"),
        10 => return path.replace("/users/ann/", "/users/bob/"),
        _ => return path.replace("/users/bob/", "/users/ann/"),
    };
    format!("{folder}/{name}")
}

/// The marked words that a text shows, by a reader of a few lines that the product is compared with.
pub(super) fn words(text: &str) -> Vec<String> {
    let shown = text.split("<!--").enumerate().map(|(n, part)| match n {
        0 => part,
        _ => part.split_once("-->").map_or("", |(_, behind)| behind),
    });
    let shown: String = shown.collect();
    let shown: String = shown.split("%%").step_by(2).collect();
    let words = shown.split(|c: char| !c.is_ascii_alphanumeric());
    words
        .filter(|word| word.starts_with("zq"))
        .map(str::to_owned)
        .collect()
}

/// A page after a deed, with a new word of its own if it needs one.
pub(super) fn page_after(deed: &Deed, path: &str, text: &str, word: &str) -> String {
    let is_facts = path.contains("/facts/");
    match deed.kind {
        Kind::AddLine if is_facts => format!("{text}\n- I like {word} very much.\n"),
        Kind::AddLine => format!("{text}\n## By hand {word}\n\nIt is {word}.\n"),
        Kind::ChangeWord => {
            let told = |line: &str| !words(line).is_empty();
            on_line(text, deed.way, told, |line| {
                line.replacen(&words(line)[0], word, 1)
            })
        }
        Kind::RemoveLine => {
            // Half of a heading, or of a wrapped line, is never removed. The lines around the front matter stay too: without
            // its end, a file in which no entry can be read keeps what was read last.
            let is_balanced = |line: &str| line.matches("<!--").count() == line.matches("-->").count();
            let is_whole = |line: &str| is_balanced(line) && (is_facts || line.ends_with("-->"));
            let is_line = |line: &str| line.starts_with(['-', '*']) && line != "---" && is_whole(line);
            on_line(text, deed.way, is_line, |_| String::new())
        }
        Kind::Split if !is_facts => {
            let starts: Vec<usize> = text.match_indices("\n**").map(|(at, _)| at + 1).collect();
            let start = starts.get(deed.way.index(starts.len().max(1)));
            let (before, after) = text.split_at(start.copied().unwrap_or(text.len()));
            format!("{before}## Later {word}\n\n{after}")
        }
        Kind::Format | Kind::Fold => wrapped(text, 20 + deed.way.index(50), deed.kind),
        Kind::Encode => {
            let bare = text.trim_start_matches('\u{feff}').replace('\r', "");
            let mark = ["", "\u{feff}"][deed.way.index(2)];
            format!("{mark}{}", bare.replace('\n', "\r\n"))
        }
        Kind::Merge => {
            let is_own = |line: &str| line.starts_with("- ") || line.starts_with("**");
            let is_line = |line: &str| is_own(line) && line.ends_with("-->");
            on_line(text, deed.way, is_line, |line| {
                let other = if line.starts_with('-') {
                    format!("- I own {word}")
                } else {
                    format!("**ann** 12:00 I own {word} <!--m_{word}-->")
                };
                format!("<<<<<<< HEAD\n{line}\n=======\n{other}\n>>>>>>> theirs")
            })
        }
        Kind::Hide => {
            let (open, close) = [("<!--", "-->"), ("%%", "%%")][deed.way.index(2)];
            format!("{text}\n{open}\n- I hide {word}\n\n{close}\n")
        }
        _ => text.to_owned(),
    }
}

/// A text with a change in one of the lines that are `suited`.
fn on_line(text: &str, way: Index, suited: impl Fn(&str) -> bool, change: impl Fn(&str) -> String) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut suited: Vec<&mut String> = lines.iter_mut().filter(|line| suited(line)).collect();
    let n = way.index(suited.len().max(1));
    if let Some(line) = suited.get_mut(n) {
        **line = change(line);
    }
    lines.join("\n") + "\n"
}

fn wrapped(text: &str, width: usize, kind: Kind) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let is_fixed = kind == Kind::Format && line.starts_with(['#', '>', '<']);
        let is_item = kind == Kind::Format && line.starts_with("- ");
        let mut length = 0;
        for (n, word) in line.split(' ').enumerate() {
            if n > 0 && !is_fixed && length > 6 && length + word.len() > width {
                out.push_str(if is_item { "\n  " } else { "\n" });
                length = 0;
            } else if n > 0 {
                out.push(' ');
            }
            out.push_str(word);
            length += word.len() + 1;
        }
        out.push('\n');
    }
    out
}
