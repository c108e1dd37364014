//! The parts of an office file, which is an archive of XML.
//!
//! Owns: unpacking, the limit on the unpacked size of all parts together, relations between parts.
//! Never: the content of a part.

use std::collections::BTreeMap;
use std::io::{Cursor, ErrorKind, Read as _};

use encoding_rs::{Encoding, UTF_8};
use zip::ZipArchive;
use zip::result::ZipError;

use super::xml::{Xml, attribute};
use crate::{INFLATED_MAX_BYTES, NAMES_MAX, PARTS_MAX, Unreadable};

/// Mark of every entry in an archive's list.
const ENTRY_MARK: &[u8] = b"PK\x01\x02";
/// Name of the part that office programs write first, after the header of its entry.
const FIRST_PART: (usize, &[u8]) = (30, b"[Content_Types].xml");

pub(super) struct Package<'b> {
    archive: ZipArchive<Cursor<&'b [u8]>>,
    /// Remaining bytes that may be unpacked.
    room: usize,
}

/// The target of a relationship.
#[derive(Debug, Clone)]
pub(super) struct Related {
    /// The last word of its type, such as `slide`.
    pub(super) kind: String,
    /// Name of a part, or an address outside of the file.
    pub(super) target: String,
    pub(super) is_outside: bool,
}

pub(super) type Relations = BTreeMap<String, Related>;

impl<'b> Package<'b> {
    pub(super) fn open(bytes: &'b [u8]) -> Result<Self, Unreadable> {
        // The list is kept in memory, where an entry takes more room than in the file.
        let entries = bytes
            .windows(ENTRY_MARK.len())
            .filter(|window| *window == ENTRY_MARK);
        if entries.count() > PARTS_MAX {
            return Err(Unreadable::TooComplex);
        }
        let is_office = || {
            bytes
                .get(FIRST_PART.0..)
                .is_some_and(|rest| rest.starts_with(FIRST_PART.1))
        };
        match ZipArchive::new(Cursor::new(bytes)) {
            Ok(archive) => Ok(Self {
                archive,
                room: INFLATED_MAX_BYTES,
            }),
            Err(_) if is_office() => Err(Unreadable::Damaged),
            Err(_) => Err(Unreadable::Unsupported),
        }
    }

    /// The XML of a part; none if there is no such part.
    pub(super) fn part(&mut self, name: &str) -> Result<Option<String>, Unreadable> {
        let Some(at) = self.archive.index_for_name_raw(name.as_bytes()) else {
            return Ok(None);
        };
        let part = self.archive.by_index(at).map_err(|error| match error {
            ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED) => Unreadable::Encrypted,
            _ => Unreadable::Damaged,
        })?;
        let mut bytes = Vec::new();
        let read = part.take(self.room as u64 + 1).read_to_end(&mut bytes);
        self.room = self
            .room
            .checked_sub(bytes.len())
            .ok_or(Unreadable::TooMuchText)?;
        read.map_err(|error| match error.kind() {
            ErrorKind::OutOfMemory => Unreadable::NeedsMemory,
            _ => Unreadable::Damaged,
        })?;
        if Encoding::for_bom(&bytes).is_some() {
            return Ok(Some(UTF_8.decode(&bytes).0.into_owned()));
        }
        // Avoids a copy of a large part.
        let text = String::from_utf8(bytes);
        Ok(Some(text.unwrap_or_else(|broken| {
            String::from_utf8_lossy(broken.as_bytes()).into_owned()
        })))
    }

    /// The relations of a part; those of the complete file, which has an empty name, contain its
    /// main part.
    pub(super) fn relations(&mut self, part: &str) -> Result<Relations, Unreadable> {
        let (folder, name) = part.rsplit_once('/').unwrap_or(("", part));
        let listed = resolved(folder, &format!("_rels/{name}.rels"));
        let mut relations = Relations::new();
        let Some(text) = self.part(&listed)? else {
            return Ok(relations);
        };
        let mut xml = Xml::new(&text);
        while let Some(tag) = xml.next_start()? {
            let (Some(id), Some(kind), Some(target)) = (
                attribute(&tag, "Id"),
                attribute(&tag, "Type"),
                attribute(&tag, "Target"),
            ) else {
                continue;
            };
            let is_outside = attribute(&tag, "TargetMode").is_some_and(|mode| mode == "External");
            let related = Related {
                kind: kind.rsplit('/').next().unwrap_or_default().to_owned(),
                target: if is_outside {
                    target
                } else {
                    resolved(folder, &target)
                },
                is_outside,
            };
            relations.insert(id, related);
            if relations.len() > NAMES_MAX {
                return Err(Unreadable::TooComplex);
            }
        }
        Ok(relations)
    }

    /// The XML of the first related part of this kind; none if there is none.
    pub(super) fn related(
        &mut self,
        relations: &Relations,
        kind: &str,
    ) -> Result<Option<String>, Unreadable> {
        match of_kind(relations, kind) {
            Some(name) => self.part(name),
            None => Ok(None),
        }
    }
}

/// Name of the first related part of this kind.
pub(super) fn of_kind<'r>(relations: &'r Relations, kind: &str) -> Option<&'r str> {
    let mut inside = relations.values().filter(|related| !related.is_outside);
    inside
        .find(|related| related.kind == kind)
        .map(|related| related.target.as_str())
}

/// Name of the part for a `target` relative to a folder.
fn resolved(folder: &str, target: &str) -> String {
    let base = if target.starts_with('/') { "" } else { folder };
    let mut names = Vec::new();
    for name in base.split('/').chain(target.split('/')) {
        match name {
            "" | "." => {}
            ".." => drop(names.pop()),
            name => names.push(name),
        }
    }
    names.join("/")
}
