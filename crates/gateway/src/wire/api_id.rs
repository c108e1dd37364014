//! A memory's id with its owner: `<owner>_<entry id>`.
//!
//! Owns: rendering and parsing such ids. Never: whether the memory exists.

use model::{EntryId, EntryKind, Name};

use crate::wire::Invalid;

/// A memory's id as clients see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiId {
    pub owner: Name,
    pub entry: EntryId,
}

impl ApiId {
    /// The id of an owner's entry.
    pub fn render(owner: &Name, entry: &str) -> String {
        format!("{owner}_{entry}")
    }

    /// Parses an id. The entry begins at the last `_ep_` or `_af_`, because an owner's name may contain these too and
    /// Quipu's own ids do not. A known `owner` decides it for ids that people wrote.
    pub fn parse(path: &str, text: &str, owner: Option<&Name>) -> Result<Self, Invalid> {
        let wrong = || {
            Invalid::at(
                path,
                format!("`{text}` is not the id of a memory: give an `id` from a search or listing"),
            )
        };
        if let Some(owner) = owner {
            let entry = text
                .strip_prefix(owner.as_str())
                .and_then(|rest| rest.strip_prefix('_'))
                .filter(|entry| starts_as_entry(entry))
                .ok_or_else(|| {
                    Invalid::at(path, format!("`{text}` is not the id of a memory of `{owner}`"))
                })?;
            return Ok(Self {
                owner: owner.clone(),
                entry: EntryId::new(entry),
            });
        }
        let at = EntryKind::ALL
            .iter()
            .filter_map(|kind| text.rfind(&format!("_{}_", kind.prefix())))
            .max()
            .ok_or_else(wrong)?;
        let entry = &text[at + 1..];
        let owner = Name::parse(&text[..at]).map_err(|_| wrong())?;
        if !starts_as_entry(entry) {
            return Err(wrong());
        }
        Ok(Self {
            owner,
            entry: EntryId::new(entry),
        })
    }
}

fn starts_as_entry(entry: &str) -> bool {
    EntryKind::ALL.iter().any(|kind| {
        entry
            .strip_prefix(kind.prefix())
            .and_then(|rest| rest.strip_prefix('_'))
            .is_some_and(|rest| !rest.is_empty())
    })
}
