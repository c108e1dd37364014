//! Removes entries from the files of their owner, with everything that was made from them.
//!
//! Owns: the order of the removals, and the removed texts. Never: which entries a request targets.

use std::collections::BTreeSet;
use std::sync::Arc;

use model::{Doc, DocKind, Owner, Scope};
use parking_lot::Mutex;
use ports::{Edit, VaultPath};

use super::{history, pages};
use crate::base::Base;
use crate::derived::DeletionPlan;
use crate::error::EngineError;
use crate::ids::version_id;

/// Shorter lines are not noted, because they occur everywhere.
pub(crate) const LINE_BYTES_MIN: usize = 8;

tokio::task_local! {
    /// The lines and owners of text that the current deletion removes.
    static TAKEN: Arc<Mutex<DeletedText>>;
}

#[derive(Debug, Default)]
pub(crate) struct DeletedText {
    pub(crate) lines: BTreeSet<String>,
    pub(crate) owners: BTreeSet<Owner>,
}

/// Does the work of a deletion; also returns the removed text.
pub(crate) async fn with_deleted_text<T>(work: impl Future<Output = T>) -> (T, DeletedText) {
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

/// Deletes the entries of a plan from an owner's files. The entries that cite a target or were made from it go first:
/// after a crash, a repetition can still find them. Returns the number of all these entries and the changed files.
pub(crate) async fn take_out(
    base: &Base,
    (scope, owner): (&Scope, &Owner),
    rows: &[&Doc],
    plan: &DeletionPlan<'_>,
) -> Result<(usize, BTreeSet<VaultPath>), EngineError> {
    let is_gone = |row: &&Doc| plan.gone.contains(&*row.key.id);
    let is_of_gone = |row: &&Doc| {
        let parent = row.parent.as_ref().map(|parent| parent.id.as_str());
        is_gone(row) || parent.is_some_and(|parent| plan.gone.contains(parent))
    };
    note(rows.iter().copied().filter(is_of_gone));
    let gone = rows.iter().copied().filter(is_gone);
    history::going(base, (scope, owner), gone.clone()).await?;
    pages::forget(base, (scope, owner), rows, &plan.gone).await?;
    pages::let_be_made(base, scope, owner, &plan.following).await?;
    let mut paths = remove(base, (scope, owner), &plan.following).await?;
    paths.extend(remove(base, (scope, owner), &plan.named).await?);
    Ok((gone.filter(|row| row.kind != DocKind::Turn).count(), paths))
}

/// Removes entries from every file of their owner that contains them; returns the changed files.
pub(crate) async fn remove(
    base: &Base,
    (scope, owner): (&Scope, &Owner),
    docs: &[&Doc],
) -> Result<BTreeSet<VaultPath>, EngineError> {
    if docs.is_empty() {
        return Ok(BTreeSet::new());
    }
    let ids: BTreeSet<&str> = docs.iter().map(|doc| &*doc.key.id).collect();
    let mut paths: BTreeSet<VaultPath> = docs.iter().map(|doc| doc.path.clone()).collect();
    // Copies too, or the next copy would take over the row.
    paths.extend(base.parts.file_changes.sharing(Some((scope, owner))).await?);
    for path in &paths {
        let Some(file) = base.parts.vault.read(path).await? else {
            continue;
        };
        let standing = file.entries.into_iter().map(|read| read.entry.id);
        let edits: Vec<Edit> = standing
            .filter(|id| ids.contains(id.as_str()) || ids.contains(&*version_id(path, id.as_str())))
            .map(Edit::Remove)
            .collect();
        if !edits.is_empty() {
            base.parts.vault_writer.edit(path, &edits).await?;
        }
    }
    Ok(paths)
}
