//! A PDF's objects and pages.
//!
//! Owns: finding objects by reading the file from its start to its end (the table at its end is
//! wrong in damaged files, and not needed here), object streams, the page tree. Never: the content
//! of a page.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::filter::Room;
use super::object::{Dict, Lexer, Steps, Value, is_blank};
use crate::{PAGES_MAX, PDF_STEPS_MAX, PDF_VALUES_MAX, Unreadable};

/// Maximum number of references followed in a chain.
const HOPS_MAX: usize = 8;

pub(super) struct File<'a> {
    bytes: &'a [u8],
    objects: BTreeMap<u32, Object>,
    trailer: Dict,
    room: Room,
    /// Remaining number of values for this file.
    pub(super) values: Steps,
    pub(super) steps: Steps,
}

struct Object {
    value: Value,
    stream: Option<Range<usize>>,
}

pub(super) struct Page<'a> {
    pub(super) dict: &'a Dict,
    /// The page's own resources, or those of the branch above it.
    pub(super) resources: Option<&'a Dict>,
}

impl<'a> File<'a> {
    pub(super) fn open(bytes: &'a [u8]) -> Result<Self, Unreadable> {
        let mut file = Self {
            bytes,
            objects: BTreeMap::new(),
            trailer: Dict::new(),
            room: Room::new(),
            values: Steps::new(PDF_VALUES_MAX),
            steps: Steps::new(PDF_STEPS_MAX),
        };
        file.scan()?;
        if file.trailer.contains_key(&b"Encrypt"[..]) {
            return Err(Unreadable::Encrypted);
        }
        file.unfold()?;
        Ok(file)
    }

    /// Every `12 0 obj` and every trailer, in the order of the file: a later one replaces an earlier one.
    fn scan(&mut self) -> Result<(), Unreadable> {
        let bytes = self.bytes;
        let mut objects = BTreeMap::new();
        let mut at = 0;
        while let Some(found) = bytes
            .get(at..)
            .and_then(|rest| rest.iter().position(|byte| matches!(byte, b'o' | b't')))
        {
            at += found;
            let rest = &bytes[at..];
            if rest.starts_with(b"trailer") {
                let mut lexer = Lexer::new(bytes, at + b"trailer".len(), &self.values);
                if let Some(Value::Dict(dict)) = lexer.value()? {
                    self.trailer.extend(dict);
                }
                at = lexer.at.max(at + 1);
            } else if let Some(number) = rest
                .starts_with(b"obj")
                .then(|| number_before(bytes, at))
                .flatten()
            {
                let mut lexer = Lexer::new(bytes, at + b"obj".len(), &self.values);
                let value = lexer.value()?.unwrap_or(Value::Null);
                at = lexer.at;
                let stream = value.dict().and_then(|dict| stream(bytes, at, dict));
                if let Some(stream) = &stream {
                    at = stream.end;
                }
                if let Some(dict) = value.dict().filter(|dict| is_type(dict, b"XRef")) {
                    self.trailer.extend(dict.clone());
                }
                objects.insert(number, Object { value, stream });
            } else {
                at += 1;
            }
        }
        self.objects = objects;
        Ok(())
    }

    /// The objects inside streams; an object outside of streams is newer.
    fn unfold(&mut self) -> Result<(), Unreadable> {
        let is_pack = |object: &&Object| object.value.dict().is_some_and(|dict| is_type(dict, b"ObjStm"));
        let mut found = BTreeMap::new();
        for object in self.objects.values().filter(is_pack) {
            let (Some(dict), Some(data)) = (object.value.dict(), self.unpack(object)?) else {
                continue;
            };
            let count = |key: &[u8]| {
                dict.get(key)
                    .map(|value| self.resolve(value))
                    .and_then(Value::index)
                    .unwrap_or(0)
            };
            let mut heads = Lexer::new(&data, 0, &self.values);
            for _ in 0..count(b"N") {
                let (Some(number), Some(offset)) = (heads.value()?, heads.value()?) else {
                    break;
                };
                let (Some(number), Some(offset)) = (number.index(), offset.index()) else {
                    break;
                };
                let value =
                    Lexer::new(&data, count(b"First").saturating_add(offset), &self.values).value()?;
                if let (Ok(number), Some(value)) = (u32::try_from(number), value) {
                    found.insert(number, Object { value, stream: None });
                }
            }
        }
        for (number, object) in found {
            self.objects.entry(number).or_insert(object);
        }
        Ok(())
    }

    /// The value, or the value behind a reference.
    pub(super) fn resolve<'b>(&'b self, value: &'b Value) -> &'b Value {
        let mut value = value;
        for _ in 0..HOPS_MAX {
            match value {
                Value::Reference(number) => match self.objects.get(number) {
                    Some(object) => value = &object.value,
                    None => return &Value::Null,
                },
                value => return value,
            }
        }
        &Value::Null
    }

    pub(super) fn get<'b>(&'b self, dict: &'b Dict, key: &[u8]) -> &'b Value {
        dict.get(key).map_or(&Value::Null, |value| self.resolve(value))
    }

    /// The content and the dictionary of the stream behind a reference.
    pub(super) fn stream<'b>(&'b self, value: &Value) -> Result<Option<(&'b Dict, Vec<u8>)>, Unreadable> {
        let Value::Reference(number) = value else {
            return Ok(None);
        };
        let Some(object) = self.objects.get(number) else {
            return Ok(None);
        };
        let Some(dict) = object.value.dict() else {
            return Ok(None);
        };
        Ok(self.unpack(object)?.map(|data| (dict, data)))
    }

    fn unpack(&self, object: &Object) -> Result<Option<Vec<u8>>, Unreadable> {
        let (Some(dict), Some(range)) = (object.value.dict(), object.stream.clone()) else {
            return Ok(None);
        };
        let raw = self.bytes.get(range).unwrap_or_default();
        self.room.unpack(raw, dict, &|value| self.resolve(value))
    }

    /// The title in the file's metadata, undecoded.
    pub(super) fn title(&self) -> Option<&[u8]> {
        match self.get(self.get(&self.trailer, b"Info").dict()?, b"Title") {
            Value::Text(title) => Some(title),
            _ => None,
        }
    }

    /// The pages in their order; if the tree is broken, in the order of their numbers.
    pub(super) fn pages(&self) -> Result<Vec<Page<'_>>, Unreadable> {
        let catalog = self
            .get(&self.trailer, b"Root")
            .dict()
            .or_else(|| self.all(b"Catalog").next());
        let mut pages = Vec::new();
        if let Some(root) = catalog.and_then(|catalog| self.get(catalog, b"Pages").dict()) {
            self.walk(root, &mut pages)?;
        }
        if pages.is_empty() {
            let loose = self.all(b"Page").map(|dict| Page {
                dict,
                resources: self.get(dict, b"Resources").dict(),
            });
            pages.extend(loose.take(PAGES_MAX + 1));
        }
        match pages.len() {
            0 => Err(Unreadable::Damaged),
            1..=PAGES_MAX => Ok(pages),
            _ => Err(Unreadable::TooManyPages),
        }
    }

    fn all<'b>(&'b self, kind: &'b [u8]) -> impl Iterator<Item = &'b Dict> {
        self.objects
            .values()
            .filter_map(|object| object.value.dict())
            .filter(move |dict| is_type(dict, kind))
    }

    fn walk<'b>(&'b self, root: &'b Dict, pages: &mut Vec<Page<'b>>) -> Result<(), Unreadable> {
        let mut seen = BTreeSet::new();
        let mut open = vec![(root, None)];
        while let Some((dict, inherited)) = open.pop() {
            self.steps.take()?;
            let resources = self.get(dict, b"Resources").dict().or(inherited);
            let Some(kids) = self.get(dict, b"Kids").list() else {
                pages.push(Page { dict, resources });
                continue;
            };
            for kid in kids.iter().rev() {
                let is_new = !matches!(kid, Value::Reference(number) if !seen.insert(*number));
                if let Some(kid) = self.resolve(kid).dict().filter(|_| is_new) {
                    open.push((kid, resources));
                }
            }
        }
        Ok(())
    }
}

pub(super) fn is_type(dict: &Dict, kind: &[u8]) -> bool {
    dict.get(&b"Type"[..]).and_then(Value::name) == Some(kind)
}

/// The `12` of `12 0 obj`, read backwards.
fn number_before(bytes: &[u8], at: usize) -> Option<u32> {
    let before = bytes.get(at.saturating_sub(32)..at)?;
    let text = before
        .iter()
        .rev()
        .take_while(|byte| byte.is_ascii_digit() || is_blank(**byte));
    let text: Vec<u8> = text.copied().collect::<Vec<_>>().into_iter().rev().collect();
    let mut words = text
        .split(|byte| is_blank(*byte))
        .filter(|word| !word.is_empty())
        .rev();
    let (_generation, number) = (words.next()?, words.next()?);
    std::str::from_utf8(number).ok()?.parse().ok()
}

/// The bytes of a stream: its declared length counts only if the stream ends there.
fn stream(bytes: &[u8], at: usize, dict: &Dict) -> Option<Range<usize>> {
    let rest = bytes.get(at..)?;
    let blank = rest.iter().take_while(|byte| is_blank(**byte)).count();
    let after = rest.get(blank..)?.strip_prefix(b"stream")?;
    let line = if after.starts_with(b"\r\n") {
        2
    } else {
        usize::from(after.starts_with(b"\n") || after.starts_with(b"\r"))
    };
    let start = bytes.len() - after.len() + line;
    let said = dict
        .get(&b"Length"[..])
        .and_then(Value::index)
        .and_then(|length| start.checked_add(length));
    let ends = |end: &usize| {
        let after = bytes.get(*end..).unwrap_or_default();
        let blank = after.iter().take(4).take_while(|byte| is_blank(**byte)).count();
        after[blank..].starts_with(b"endstream")
    };
    let found = || find(bytes.get(start..)?, b"endstream").map(|length| start + length);
    let end = said.filter(ends).or_else(found).unwrap_or(bytes.len());
    Some(start..end)
}

fn find(bytes: &[u8], word: &[u8]) -> Option<usize> {
    bytes.windows(word.len()).position(|window| window == word)
}
