//! One user's memory as files that other programs read: JSON lines, or a folder of Markdown in the format of the memory folder.
//!
//! Owns: the conversion from lines to Markdown and back. Never: the lines (`gateway::wire::portable`), or the Markdown (`vault`).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use gateway::wire::portable::{ExportHead, ExportLine};
use memory::OwnedMemory;
use model::{Entry, Owner, Page, Scope, Zone};
use ports::{Clock, Pages, Vault, VaultWriter};
use vault::MarkdownVault;

use crate::error::Failure;

/// First bytes of a file of lines.
const HEAD: &[u8] = b"{\"quipu_export\":";

/// A user's memory during the conversion.
#[derive(Debug)]
pub(crate) struct PortableMemory {
    pub(crate) head: ExportHead,
    pub(crate) lines: Vec<ExportLine>,
}

/// Whether a file with these first bytes is an export of lines.
pub(crate) fn is_export(beginning: &[u8]) -> bool {
    beginning.starts_with(HEAD)
}

impl PortableMemory {
    /// Parses lines.
    pub(crate) fn of_lines(text: &[u8]) -> Result<Self, Failure> {
        let mut lines = (1..)
            .zip(text.split(|byte| *byte == b'\n'))
            .filter(|(_, line)| !line.is_empty());
        let wrong =
            |at: usize, error: serde_json::Error| Failure::usage(format!("line {at} of the export: {error}"));
        let (_, head) = lines
            .next()
            .ok_or_else(|| Failure::usage("the export is empty"))?;
        Ok(Self {
            head: serde_json::from_slice(head).map_err(|error| wrong(1, error))?,
            lines: lines
                .map(|(at, line)| serde_json::from_slice(line).map_err(|error| wrong(at, error)))
                .collect::<Result<_, _>>()?,
        })
    }

    /// Writes a folder of Markdown. It has no messages that are not yet in an episode; returns the number of these messages.
    pub(crate) async fn write_markdown(
        &self,
        folder: &Path,
        zone: &Zone,
        clock: &Arc<dyn Clock>,
    ) -> Result<usize, Failure> {
        let (scope, owner) = self.head.parts(&Scope::default()).map_err(Failure::usage)?;
        let _locks = VaultLocks::of(folder);
        let vault = opened(folder, zone, clock)?;
        let (mut entries, mut open) = (Vec::new(), 0);
        for line in &self.lines {
            match line {
                ExportLine::Memory(line) => {
                    entries.push(line.clone().entry(&scope, &owner).map_err(Failure::usage)?);
                }
                ExportLine::Page { name, text } => {
                    if let Some(page) = Page::parse(name) {
                        vault.replace_page(&scope, &owner, page, None, text).await?;
                    }
                }
                ExportLine::Made { ids } => {
                    let ids = ids.iter().cloned().collect();
                    vault.set_made(&scope, &owner, &ids).await?;
                }
                ExportLine::Message(_) => open += 1,
                ExportLine::Forgotten { .. } => {}
            }
        }
        vault.append(&entries, true).await?;
        Ok(open)
    }
}

/// Reads the memory of every user in a folder of Markdown.
pub(crate) async fn read_markdown(
    folder: &Path,
    zone: &Zone,
    clock: &Arc<dyn Clock>,
) -> Result<Vec<PortableMemory>, Failure> {
    let _locks = VaultLocks::of(folder);
    let vault = opened(folder, zone, clock)?;
    let mut users: BTreeMap<(Scope, Owner), Vec<Entry>> = BTreeMap::new();
    for stat in vault.scan().await? {
        let Some(file) = vault.read(&stat.path).await? else {
            continue;
        };
        let problem = file
            .problems
            .first()
            .map(|problem| format!("line {}: {}", problem.line, problem.reason));
        if let Some(problem) = file.broken.or(problem) {
            return Err(Failure::usage(format!("`{}`: {problem}", stat.path))
                .hint("repair the file and import again"));
        }
        for read in file.entries {
            let whose = (read.entry.scope.clone(), read.entry.owner.clone());
            users.entry(whose).or_default().push(read.entry);
        }
    }
    let mut all = Vec::new();
    for ((scope, owner), entries) in users {
        if owner.kind != model::OwnerKind::User {
            continue;
        }
        let mut memory = OwnedMemory {
            entries,
            made: vault.made(&scope, &owner).await?,
            ..OwnedMemory::default()
        };
        for page in Page::ALL {
            let text = vault.page(&scope, &owner, page).await?;
            memory.pages.extend(text.map(|text| (page, text)));
        }
        let (head, lines) = (ExportHead::new(&scope, &owner), ExportLine::all(memory, &scope));
        all.push(PortableMemory { head, lines });
    }
    Ok(all)
}

/// The lock files that a vault creates in a folder; they are removed on drop, unless the folder had them before.
struct VaultLocks(Option<PathBuf>);

impl VaultLocks {
    fn of(folder: &Path) -> Self {
        Self(Some(folder.join(".locks")).filter(|locks| !locks.exists()))
    }
}

impl Drop for VaultLocks {
    fn drop(&mut self) {
        if let Some(locks) = &self.0 {
            // The lock files are empty, and harmless if they stay.
            std::fs::remove_dir_all(locks).ok();
        }
    }
}

fn opened(folder: &Path, zone: &Zone, clock: &Arc<dyn Clock>) -> Result<MarkdownVault, Failure> {
    let vault = MarkdownVault::open(folder, zone.clone(), clock.clone());
    Ok(vault.with_context(|| format!("cannot open `{}`", folder.display()))?)
}
