//! Places: the file of each entry, and the owner of a file's entries.
//!
//! Owns: `<app>/<project>/users/<name>/episodes/<date>.md`, its like for other owners and kinds,
//! and names as folders. Never: a file's content.
//!
//! The path alone decides the owner of a file's entries, so a file moved to another folder belongs
//! to that folder's owner.

use std::fmt::Write as _;

use model::{Date, Entry, EntryKind, Name, Owner, OwnerKind, Scope, Timestamp, Zone};

/// The name of every skill's file.
const SKILL: &str = "SKILL.md";

/// Names of pages about a folder that people and agents keep next to memories; they are never
/// memory.
const PAGES: [&str; 3] = ["MEMORY.md", "index.md", "log.md"];

/// Properties of a file that follow from its path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    pub scope: Scope,
    pub owner: Owner,
    pub kind: EntryKind,
    /// The path below the folder of the kind; people may sort files into more folders there.
    pub file: String,
    /// The date in the file's name, up to the first dot, if any.
    pub date: Option<Date>,
    /// When the file was last saved, if known: the time of entries without their own.
    pub saved: Option<Timestamp>,
}

/// Reasons why a path cannot hold entries.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoPlace {
    #[error("this is not a memory file")]
    Foreign,
    /// A memory file in a folder that could belong to two owners.
    #[error("the folder `{folder}` could be two names: rename it to `{expected}`")]
    Misnamed { folder: String, expected: String },
}

/// The file for an entry, relative to the vault.
pub fn path_of(entry: &Entry, zone: &Zone) -> String {
    let [scope, project, owner] = [&entry.scope.app, &entry.scope.project, &entry.owner.id].map(folder);
    let owners = owners(entry.owner.kind);
    let kind = kinds(entry.kind);
    let file = match entry.kind {
        EntryKind::Episode | EntryKind::Fact | EntryKind::Foresight | EntryKind::Case => {
            zone.date(entry.time).to_string()
        }
        EntryKind::Profile => "profile".to_owned(),
        EntryKind::Skill => format!("{}/SKILL", plain(&entry.subject)),
        EntryKind::Topic => plain(entry.parent.as_ref().map_or("", |document| &document.id)),
    };
    format!("{scope}/{project}/{owners}/{owner}/{kind}/{file}.md")
}

/// The file next to `path` in which the named ledger writes, if several ledgers write to one vault.
/// A document's file keeps its name, since that is the document's id.
pub fn ledger_path(path: &str, kind: EntryKind, ledger: &str) -> String {
    let end = match kind {
        EntryKind::Topic => return path.to_owned(),
        EntryKind::Skill => "/SKILL.md",
        _ => ".md",
    };
    let stem = path.strip_suffix(end).unwrap_or(path);
    format!("{stem}.{ledger}{end}")
}

/// Whether only the named ledger writes to the file with this path.
pub fn is_ledger_path(path: &str, ledger: &str) -> bool {
    let path = path.strip_suffix("/SKILL.md").or(path.strip_suffix(".md"));
    let name = path.and_then(|path| path.strip_suffix(ledger));
    name.is_some_and(|name| name.ends_with('.'))
}

/// A text as a file's name: small letters and digits, separated, at most 64 characters.
fn plain(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars().flat_map(char::to_lowercase) {
        if c.is_alphanumeric() || (c == '_' && !out.is_empty()) {
            out.push(c);
        } else if !out.is_empty() && !out.ends_with('-') {
            out.push('-');
        }
        if out.chars().count() == 64 {
            break;
        }
    }
    let out = out.trim_end_matches('-');
    let name = if out.is_empty() { "unnamed" } else { out };
    name.to_owned()
}

/// The folder with all files of an owner, or of a scope, relative to the vault.
pub fn folder_of(scope: &Scope, owner: Option<&Owner>) -> String {
    let scope = format!("{}/{}", folder(&scope.app), folder(&scope.project));
    owner.map_or(scope.clone(), |owner| {
        format!("{scope}/{}/{}", owners(owner.kind), folder(&owner.id))
    })
}

fn owners(kind: OwnerKind) -> &'static str {
    match kind {
        OwnerKind::User => "users",
        OwnerKind::Agent => "agents",
        OwnerKind::Library => "libraries",
    }
}

fn kinds(kind: EntryKind) -> &'static str {
    match kind {
        EntryKind::Episode => "episodes",
        EntryKind::Fact => "facts",
        EntryKind::Foresight => "foresights",
        EntryKind::Profile => "profile",
        EntryKind::Case => "cases",
        EntryKind::Skill => "skills",
        EntryKind::Topic => "topics",
    }
}

impl Place {
    /// Reads the properties from a path relative to the vault.
    pub fn of(path: &str) -> Result<Self, NoPlace> {
        let mut parts = path.splitn(6, '/');
        let mut next = || parts.next().ok_or(NoPlace::Foreign);
        let [app, project, owners, owner, kind, file] =
            [next()?, next()?, next()?, next()?, next()?, next()?];
        let owner_kind = match owners {
            "users" => OwnerKind::User,
            "agents" => OwnerKind::Agent,
            "libraries" => OwnerKind::Library,
            _ => return Err(NoPlace::Foreign),
        };
        let kind = EntryKind::ALL
            .into_iter()
            .find(|&each| kinds(each) == kind)
            .ok_or(NoPlace::Foreign)?;
        let stem = file.strip_suffix(".md").ok_or(NoPlace::Foreign)?;
        let name_of_file = file.rsplit('/').next().unwrap_or(file);
        // Other files in a skill's folder belong to the skill and are not memory.
        let is_other = kind == EntryKind::Skill && name_of_file != SKILL;
        if is_other || PAGES.contains(&name_of_file) || !file.split('/').all(is_plain) {
            return Err(NoPlace::Foreign);
        }
        let id = name(owner)?;
        Ok(Self {
            scope: Scope::new(name(app)?, name(project)?),
            owner: Owner { kind: owner_kind, id },
            kind,
            file: file.to_owned(),
            date: stem
                .rsplit('/')
                .next()
                .and_then(|stem| stem.split('.').next()?.parse().ok()),
            saved: None,
        })
    }

    /// The same place, with the time when the file was last saved, in nanoseconds since 1970.
    #[must_use]
    pub fn saved_at(self, modified_ns: i128) -> Self {
        let millis = i64::try_from(modified_ns / 1_000_000).ok();
        Self {
            saved: millis.map(Timestamp::from_millis),
            ..self
        }
    }
}

/// Whether a part of a path can be a memory file or a folder of them: no hidden file, no editor's
/// temporary file, no character with a meaning to a file system.
fn is_plain(part: &str) -> bool {
    !(part.is_empty() || part.starts_with(['.', '#', '~']) || part.contains(['\\', ':', '\0']))
}

/// A name as a folder: the name itself, except characters that a file system would lose or confuse.
///
/// Capitals are written twice, so that `Alice` and `alice` stay two owners on a file system that
/// ignores case: as themselves, and after `=` as a hexadecimal number whose lowest bit is the first
/// character.
pub(crate) fn folder(name: &Name) -> String {
    let name = name.as_str();
    let mut out = String::with_capacity(name.len() + 8);
    let last = name.len() - 1;
    for (n, c) in name.char_indices() {
        let is_dot_at_edge = c == '.' && (n == 0 || n == last);
        if is_dot_at_edge || (n == 0 && is_device(name)) {
            write!(out, "%{:02x}", u32::from(c)).expect("a string takes any text");
        } else {
            out.push(c);
        }
    }
    // Names have at most 128 characters, all of them ASCII.
    let capitals = name.bytes().enumerate().fold(0u128, |bits, (n, byte)| {
        bits | (u128::from(byte.is_ascii_uppercase()) << n)
    });
    if capitals != 0 {
        write!(out, "={capitals:x}").expect("a string takes any text");
    }
    out
}

/// Whether a name, with any extension, is a device on Windows.
fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or(name).to_ascii_lowercase();
    let is_port = |device: &str| {
        stem.strip_prefix(device)
            .is_some_and(|n| n.len() == 1 && n.bytes().all(|b| b.is_ascii_digit()))
    };
    matches!(stem.as_str(), "con" | "prn" | "aux" | "nul") || is_port("com") || is_port("lpt")
}

/// The name of a folder; accepts only the folder that [`folder`] returns.
fn name(part: &str) -> Result<Name, NoPlace> {
    if part.starts_with('.') {
        return Err(NoPlace::Foreign);
    }
    let (text, bits) = match part.split_once('=') {
        Some((text, bits)) => (
            text,
            u128::from_str_radix(bits, 16).map_err(|_| NoPlace::Foreign)?,
        ),
        None => (part, 0),
    };
    let text = unescaped(text).ok_or(NoPlace::Foreign)?;
    let text: String = match bits {
        0 => text,
        bits => text
            .char_indices()
            .map(|(n, c)| recased(c, n < 128 && bits >> n & 1 == 1))
            .collect(),
    };
    let name = Name::parse(&text).map_err(|_| NoPlace::Foreign)?;
    let expected = folder(&name);
    if expected == part {
        return Ok(name);
    }
    Err(NoPlace::Misnamed {
        folder: part.to_owned(),
        expected,
    })
}

fn recased(c: char, is_capital: bool) -> char {
    if is_capital {
        c.to_ascii_uppercase()
    } else {
        c.to_ascii_lowercase()
    }
}

fn unescaped(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut pieces = text.split('%');
    out.push_str(pieces.next()?);
    for piece in pieces {
        let byte = u8::from_str_radix(piece.get(..2)?, 16).ok()?;
        out.push(byte.is_ascii().then_some(char::from(byte))?);
        out.push_str(&piece[2..]);
    }
    Some(out)
}
