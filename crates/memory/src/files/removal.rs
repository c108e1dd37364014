//! Entries taken out of the files of their owner, with everything that was made from them.
//!
//! Owns: the order in which they go, and the texts that went. Never: which entries a request means.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::{Doc, DocKind, Owner, Scope};
use parking_lot::Mutex;
use ports::{Edit, VaultPath};

use crate::base::Base;
use crate::error::EngineError;
use crate::files::{history, pages};
use crate::{derived, ids};

/// A shorter line is found everywhere.
pub(crate) const LINE_BYTES_MIN: usize = 8;

tokio::task_local! {
    /// The lines of what the deletion that is polled takes out, and of whom.
    static TAKEN: Arc<Mutex<DeletedText>>;
}

#[derive(Debug, Default)]
pub(crate) struct DeletedText {
    pub(crate) lines: BTreeSet<String>,
    pub(crate) owners: BTreeSet<Owner>,
}

/// Does the work of a deletion; returns also what of texts it took out.
pub(crate) async fn noted<T>(work: impl Future<Output = T>) -> (T, DeletedText) {
    let taken: Arc<Mutex<DeletedText>> = Arc::default();
    let done = TAKEN.scope(taken.clone(), work).await;
    let taken = std::mem::take(&mut *taken.lock());
    (done, taken)
}

/// Notes rows that a deletion takes out.
fn note<'a>(docs: impl Iterator<Item = &'a Doc>) {
    let Ok(taken) = TAKEN.try_with(Arc::clone) else {
        return;
    };
    let mut taken = taken.lock();
    for doc in docs {
        taken.owners.insert(doc.key.owner.clone());
        let texts = [&doc.subject, &doc.summary, &doc.text];
        let lines = texts.into_iter().flat_map(|text| text.lines()).map(str::trim);
        let lines = lines.filter(|line| line.len() >= LINE_BYTES_MIN);
        taken.lines.extend(lines.map(str::to_owned));
    }
}

/// Deletes entries of an owner from the vault, but first the memories that cite them or were made from them: after a
/// crash, a repetition still knows these. Returns the number of all these entries and the changed files.
pub(crate) async fn forget_told(
    base: &Base,
    (scope, owner): (&Scope, &Owner),
    rows: &[&Doc],
    told: &[&Doc],
) -> Result<(usize, BTreeSet<VaultPath>), EngineError> {
    let mut gone: BTreeSet<&str> = told.iter().map(|doc| &*doc.key.id).collect();
    let going = derived::going_with(rows, &gone);
    gone.extend(going.iter().map(|doc| &*doc.key.id));
    let is_of_gone = |row: &&Doc| {
        let parent = row.parent.as_ref().map(|parent| parent.id.as_str());
        gone.contains(&*row.key.id) || parent.is_some_and(|parent| gone.contains(parent))
    };
    note(rows.iter().copied().filter(is_of_gone));
    let gone_rows = rows.iter().filter(|row| gone.contains(&*row.key.id));
    history::going(base, (scope, owner), gone_rows.copied()).await?;
    pages::forget(base, (scope, owner), rows, &gone).await?;
    pages::let_be_made(base, scope, owner, &going).await?;
    let mut paths = take_out(base, going.into_iter()).await?;
    paths.extend(take_out(base, told.iter().copied()).await?);
    let count = rows
        .iter()
        .filter(|row| row.kind != DocKind::Turn && gone.contains(&*row.key.id))
        .count();
    Ok((count, paths))
}

/// Removes entries from every file of their owner that contains them; returns the changed files.
pub(crate) async fn take_out<'a>(
    base: &Base,
    docs: impl Iterator<Item = &'a Doc>,
) -> Result<BTreeSet<VaultPath>, EngineError> {
    let mut by_owner: BTreeMap<(&Scope, &Owner), Vec<&Doc>> = BTreeMap::new();
    for doc in docs {
        let of_owner = by_owner.entry((&doc.key.scope, &doc.key.owner));
        of_owner.or_default().push(doc);
    }
    let mut changed = BTreeSet::new();
    for ((scope, owner), docs) in by_owner {
        let ids: BTreeSet<&str> = docs.iter().map(|doc| &*doc.key.id).collect();
        let mut paths: BTreeSet<VaultPath> = docs.iter().map(|doc| doc.path.clone()).collect();
        // Copies too: the next one would take over.
        paths.extend(base.records.sharing(Some((scope, owner))).await?);
        for path in paths {
            let Some(file) = base.parts.vault.read(&path).await? else {
                changed.insert(path);
                continue;
            };
            let standing = file.entries.into_iter().map(|read| read.entry.id);
            let edits: Vec<Edit> = standing
                .filter(|id| ids.contains(id.as_str()) || ids.contains(&*ids::version_id(&path, id.as_str())))
                .map(Edit::Remove)
                .collect();
            if !edits.is_empty() {
                base.parts.vault.edit(&path, &edits).await?;
            }
            changed.insert(path);
        }
    }
    Ok(changed)
}
