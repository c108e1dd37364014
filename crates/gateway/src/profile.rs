//! `memory/edit` with `operations`: changing statements of a profile, in the format of EverOS Cloud's clients.
//!
//! Owns: one result for each operation; a failed operation does not stop the next one. Never: writing Markdown.

use memory::{Curate, EditEntry, Forget};
use model::{DocKind, Entry, EntryId, EntryKind, Origin, Owner, Scope};

use crate::failure::Failure;
use crate::forget::forget;
use crate::frame::{Answer, Visit};
use crate::lookup;
use crate::present;
use crate::recall;
use crate::wire::profile::TRAIT;
use crate::wire::profile_edit::{
    Action, OperationResult, OperationStatus, ProfileEditData, ProfileEditRequest, ProfileOperation,
    StatementKind,
};
use crate::wire::{ApiId, Invalid};

/// Changes a profile.
pub(crate) async fn edit(visit: &Visit, request: ProfileEditRequest) -> Answer {
    let (scope, owner) = request.parts(&visit.caller.home)?;
    visit.caller.enter_memory(&scope, &owner)?;
    let mut results = Vec::new();
    for (op_index, operation) in request.operations.iter().enumerate() {
        let done = apply(visit, &scope, &owner, operation).await;
        let (new, error) = match done {
            Ok(new) => (new, None),
            // The remaining operations would fail too.
            Err(failure) if failure.status().is_server_error() => return Err(failure),
            Err(failure) => (None, Some(failure.message)),
        };
        results.push(OperationResult {
            op_index,
            action: operation.action,
            kind: operation.kind,
            status: match &error {
                None => OperationStatus::Applied,
                Some(_) => OperationStatus::Rejected,
            },
            item_id: operation.item_id.clone(),
            new_item_id: new.map(|id| ApiId::render(&owner.id, id.as_str())),
            error,
        });
    }
    let applied = results.iter().filter(|result| result.error.is_none()).count();
    let rows = recall::profile(&visit.gateway, &scope, &owner, None).await?;
    Ok(visit.answer(ProfileEditData {
        user_id: owner.id.to_string(),
        version: visit.gateway.clock.now().millis(),
        applied,
        results,
        profile: present::profile_of(&rows)
            .pop()
            .map(|profile| profile.profile_data),
    }))
}

/// Applies an operation; returns the id of an added statement.
async fn apply(
    visit: &Visit,
    scope: &Scope,
    owner: &Owner,
    operation: &ProfileOperation,
) -> Result<Option<EntryId>, Failure> {
    let data = &operation.data;
    match operation.action {
        Action::Add => {
            let (prefix, fresh) = (EntryKind::Profile.prefix(), visit.gateway.fresh_id());
            let id = EntryId::new(format!("{prefix}_{fresh}"));
            let entry = entry(visit, id.clone(), scope, owner, operation)?;
            let curate = Curate::new(scope, owner, vec![entry], Vec::new());
            let engine = visit.gateway.engine.clone();
            visit.write(async move { engine.curate(curate).await }).await?;
            Ok(Some(id))
        }
        Action::Update => {
            let edit = EditEntry {
                scope: scope.clone(),
                owner: owner.clone(),
                id: statement_id(visit, scope, owner, operation).await?,
                subject: text("category", data.category.as_deref())?,
                summary: text("evidence", data.evidence.as_deref())?,
                body: text("description", data.description.as_deref())?,
                project_only: None,
            };
            let engine = visit.gateway.engine.clone();
            visit.write(async move { engine.edit(edit).await }).await?;
            Ok(None)
        }
        Action::Delete => {
            let id = statement_id(visit, scope, owner, operation).await?;
            let what = Forget::Entries(scope.clone(), owner.clone(), vec![id]);
            forget(&visit.gateway, what).await?;
            Ok(None)
        }
    }
}

/// The id of the statement that an operation names; not found if the profile does not have it.
async fn statement_id(
    visit: &Visit,
    scope: &Scope,
    owner: &Owner,
    operation: &ProfileOperation,
) -> Result<EntryId, Failure> {
    let id = operation.id(owner)?;
    let none = || Failure::not_found("statement", operation.item_id.as_deref().unwrap_or_default());
    let hit = lookup::entry(&visit.gateway.engine, scope, owner, &id)
        .await?
        .ok_or_else(none)?;
    let is_trait = hit.doc.labels.iter().any(|label| label == TRAIT);
    let is_it = hit.doc.kind == DocKind::Entry(EntryKind::Profile)
        && is_trait == (operation.kind == StatementKind::ImplicitTraits);
    if is_it { Ok(id) } else { Err(none()) }
}

/// A field of an operation, checked.
fn text(field: &str, value: Option<&str>) -> Result<Option<String>, Invalid> {
    match value {
        Some(text) if text.trim().is_empty() => {
            Err(Invalid::at(format!("data.{field}"), "must not be empty"))
        }
        Some(text) if field == "category" && text.contains(['\n', '\r']) => {
            Err(Invalid::at("data.category", "must be one line"))
        }
        value => Ok(value.map(str::to_owned)),
    }
}

/// A statement by hand: no background run changes or removes it.
fn entry(
    visit: &Visit,
    id: EntryId,
    scope: &Scope,
    owner: &Owner,
    operation: &ProfileOperation,
) -> Result<Entry, Invalid> {
    let data = &operation.data;
    let required = |field: &str, value: Option<&str>| {
        text(field, value)?.ok_or_else(|| Invalid::at(format!("data.{field}"), "this field is required"))
    };
    let labels = match operation.kind {
        StatementKind::ExplicitInfo => Vec::new(),
        StatementKind::ImplicitTraits => vec![TRAIT.to_owned()],
    };
    let (whose, now) = ((scope.clone(), owner.clone()), visit.gateway.clock.now());
    Ok(Entry {
        senders: vec![owner.id.clone()],
        labels,
        subject: required("category", data.category.as_deref())?,
        summary: text("evidence", data.evidence.as_deref())?.unwrap_or_default(),
        body: required("description", data.description.as_deref())?,
        ..Entry::new(id, EntryKind::Profile, whose, now, Origin::Hand)
    })
}
