//! A page that a person and a program write together, line by line.
//!
//! Owns: the form of our lines, and how they are distinguished from a person's. Never: changing or
//! moving a person's line.
//!
//! A line of ours is `- Ann lives in Porto. [pf_0123456789abcdef] <!-- 1a2b3c4d -->`: a statement,
//! the ids of its sources, and a hash of both. A person who changes the line owns it, because the
//! hash no longer matches.

use std::collections::BTreeSet;

use crate::consolidate::text::{hash, plain};

/// The most characters of a statement.
pub const STATEMENT_CHARS_MAX: usize = 300;
const ID_CHARS_MAX: usize = 128;
const HASH_DIGITS: usize = 8;

/// Content of a line of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Own {
    pub text: String,
    /// The ids of the source memories; at least one.
    pub cites: Vec<String>,
}

/// A line of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageLine<'a> {
    /// Byte for byte, with its line feed if it has one.
    pub raw: &'a str,
    /// None if a person wrote or changed the line.
    pub own: Option<Own>,
    /// Marked `pinned` by itself or by its section.
    pub is_pinned: bool,
}

impl PageLine<'_> {
    /// Whether the line is ours and cites a deleted memory; an unpinned line also counts if the
    /// memory was deleted earlier.
    pub fn repeats(&self, gone: &BTreeSet<&str>, is_there: impl Fn(&str) -> bool) -> bool {
        let goes = |id: &String| gone.contains(id.as_str()) || !self.is_pinned && !is_there(id);
        self.own.as_ref().is_some_and(|own| own.cites.iter().any(goes))
    }
}

impl Own {
    /// A statement with its sources; none if it is empty, or no source has a citable id.
    pub fn new<'a>(text: &str, cites: impl IntoIterator<Item = &'a str>) -> Option<Self> {
        let text = plain(text, STATEMENT_CHARS_MAX);
        let mut cited: Vec<String> = Vec::new();
        for id in cites {
            if is_citable(id) && !cited.iter().any(|known| known == id) {
                cited.push(id.to_owned());
            }
        }
        (!text.is_empty() && !cited.is_empty()).then_some(Self { text, cites: cited })
    }

    /// The line, with its line feed.
    pub fn line(&self) -> String {
        let cites = self.cites.join("] [");
        format!("- {} [{cites}] <!-- {} -->\n", self.text, self.hash())
    }

    fn hash(&self) -> String {
        let mut parts = vec![self.text.as_str()];
        parts.extend(self.cites.iter().map(String::as_str));
        hash(&parts, HASH_DIGITS)
    }

    /// Our statement in this line, and whether the line is pinned.
    fn read(raw: &str) -> Option<(Self, bool)> {
        let (line, mark) = raw.trim_end().rsplit_once(" -->")?;
        let is_pinned = match mark.trim() {
            "" => false,
            mark => says_pinned(mark).then_some(true)?,
        };
        let (line, hash) = line.rsplit_once(" <!-- ")?;
        let mut text = line.strip_prefix("- ")?;
        let mut cites = Vec::new();
        while let Some((rest, id)) = text.strip_suffix(']').and_then(|rest| rest.rsplit_once(" [")) {
            cites.insert(0, id.to_owned());
            text = rest;
        }
        let own = Self {
            text: text.to_owned(),
            cites,
        };
        (!own.cites.is_empty() && own.hash() == hash).then_some((own, is_pinned))
    }
}

/// Whether a page can cite this id.
pub fn is_citable(id: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    !id.is_empty() && id.len() <= ID_CHARS_MAX && id.chars().all(is_plain)
}

fn says_pinned(text: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric())
        .any(|word| word.eq_ignore_ascii_case("pinned"))
}

/// A page's lines, in order; joined again they are the page. A heading with `pinned` pins the lines
/// below it, up to the next heading of the same or a higher level.
pub fn lines(page: &str) -> Vec<PageLine<'_>> {
    let mut pinned_from = None;
    let mut read = Vec::new();
    for raw in page.split_inclusive('\n') {
        let level = raw.bytes().take_while(|byte| *byte == b'#').count();
        if level > 0 && raw[level..].starts_with(' ') {
            if pinned_from.is_some_and(|from| level <= from) {
                pinned_from = None;
            }
            if pinned_from.is_none() && says_pinned(raw) {
                pinned_from = Some(level);
            }
        }
        let (own, is_pinned) =
            Own::read(raw).map_or((None, says_pinned(raw)), |(own, pinned)| (Some(own), pinned));
        read.push(PageLine {
            raw,
            own,
            is_pinned: is_pinned || pinned_from.is_some(),
        });
    }
    read
}

/// A page without our lines that cite deleted memories, pinned or not, and without unpinned lines that cite memories
/// deleted earlier, because they can repeat the same content. None if there is no such line.
pub fn without(page: &str, gone: &BTreeSet<&str>, is_there: impl Fn(&str) -> bool) -> Option<String> {
    let lines = lines(page);
    let stays = lines.iter().filter(|line| !line.repeats(gone, &is_there));
    let left: String = stays.map(|line| line.raw).collect();
    (left.len() < page.len()).then_some(left)
}

/// Text of a page without the citations and hashes of our lines.
pub fn read_aloud(page: &str) -> String {
    let mut out = String::with_capacity(page.len());
    for line in lines(page) {
        match line.own {
            Some(own) => {
                out.push_str("- ");
                out.push_str(&own.text);
                out.push('\n');
            }
            None => out.push_str(line.raw),
        }
    }
    out
}
