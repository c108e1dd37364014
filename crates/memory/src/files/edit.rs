//! A change of one entry in its file: its text, or a person's verdict on a skill.
//!
//! Owns: finding the file, and the effect of an edit on provenance. Never: writing Markdown.

use model::{DocKey, Entry, EntryId, EntryKind, Origin, Owner, PROJECT_ONLY, Scope, SkillStatus};
use ports::{Edit, VaultError, VaultPath};

use super::sync;
use crate::api::EditEntry;
use crate::base::Base;
use crate::error::EngineError;
use crate::ids;

/// Changes one entry's text.
pub(crate) async fn edit(base: &Base, edit: EditEntry) -> Result<(), EngineError> {
    let EditEntry {
        scope,
        owner,
        id,
        subject,
        summary,
        body,
        project_only,
    } = edit;
    let is_rewritten = subject.is_some() || summary.is_some() || body.is_some();
    if !is_rewritten && project_only.is_none() {
        return Err(EngineError::invalid(
            "an edit must change the subject, the summary, the body or where the memory holds",
        ));
    }
    changed(base, &scope, &owner, &id, |entry| {
        if let Some(project_only) = project_only {
            if entry.kind != EntryKind::Fact {
                return Err(EngineError::Invalid(format!(
                    "`{id}` is not a fact: only a fact can hold in one project only"
                )));
            }
            entry.labels.retain(|label| label != PROJECT_ONLY);
            if project_only {
                entry.labels.push(PROJECT_ONLY.to_owned());
            }
        }
        if let Some(subject) = subject {
            entry.subject = subject;
        }
        if let Some(summary) = summary {
            entry.summary = summary;
        }
        if let Some(body) = body {
            entry.body = body;
        }
        if is_rewritten {
            // The new text comes neither from a message nor from an extractor.
            entry.origin = Origin::Hand;
            entry.author = None;
        }
        Ok(())
    })
    .await
}

/// Stores a person's verdict on a skill.
pub(crate) async fn judge(
    base: &Base,
    scope: &Scope,
    owner: &Owner,
    id: &EntryId,
    status: SkillStatus,
) -> Result<(), EngineError> {
    changed(base, scope, owner, id, |entry| {
        if entry.kind != EntryKind::Skill {
            return Err(EngineError::Invalid(format!("`{id}` is not a skill")));
        }
        // The first label of a skill that was read is its status.
        if let Some(first) = entry.labels.first_mut() {
            status.as_str().clone_into(first);
        }
        Ok(())
    })
    .await
}

/// Changes an entry in its file.
async fn changed(
    base: &Base,
    scope: &Scope,
    owner: &Owner,
    id: &EntryId,
    change: impl FnOnce(&mut Entry) -> Result<(), EngineError>,
) -> Result<(), EngineError> {
    base.answering().await?;
    let not_found = || EngineError::not_found("memory", id);
    let _alone = base.alone_in(scope).await;
    let row = base
        .corpora
        .get(vec![DocKey::new(scope, owner, id.as_str())])
        .await?;
    let path = row.into_iter().next().ok_or_else(not_found)?.path;
    let file = base.parts.vault.read(&path).await?.ok_or_else(not_found)?;
    let standing = file.entries.into_iter().map(|read| read.entry);
    let mut entry = standing
        .into_iter()
        .find(|entry| entry.id == *id || *ids::version_id(&path, entry.id.as_str()) == *id.as_str())
        .ok_or_else(not_found)?;
    change(&mut entry)?;
    let edits = [Edit::Replace(Box::new(entry))];
    base.parts
        .vault_writer
        .edit(&path, &edits)
        .await
        .map_err(|error| match error {
            VaultError::NoEntry { .. } => not_found(),
            error => error.into(),
        })?;
    follow(base, [path]).await
}

/// Updates the index for files that were just changed; if the index cannot follow now, it does later.
pub(crate) async fn follow(
    base: &Base,
    paths: impl IntoIterator<Item = VaultPath>,
) -> Result<(), EngineError> {
    let paths: Vec<VaultPath> = paths.into_iter().collect();
    let followed = sync::files(base, paths.iter().cloned()).await;
    if followed.is_err() {
        base.dirty.add(paths);
    }
    followed.map(drop)
}
