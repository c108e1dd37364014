//! `quipu log --as git`: the history as a stream for `git fast-import`.
//!
//! Owns: the stream's form. Never: what the history has.

use gateway::wire::history::{ChangeItem, ChangedBy, HistoryData, PastData, PastFileItem};

use super::{PERSON, tenant, who};
use crate::api::{Api, Path};
use crate::args::TenantArgs;
use crate::error::{Exit, Failure};
use crate::output::say;

/// As many as one answer has.
const CHANGES: usize = 1_000;
const QUIPU: &str = "Quipu";

/// A commit for each change, the oldest first, after one with what stood there before.
pub(super) async fn stream(api: &Api, args: &TenantArgs) -> Result<Exit, Failure> {
    let mut changes: Vec<ChangeItem> = Vec::new();
    loop {
        let path = tenant(Path::new("/history", ""), args)?
            .with("limit", CHANGES)
            .with_any("before", changes.last().map(|oldest| &oldest.id));
        let older: HistoryData = api.get(path.text()).await?;
        if older.changes.is_empty() {
            break;
        }
        changes.extend(older.changes);
    }
    let path = tenant(Path::new("/history/files", ""), args)?.with("change", 0);
    let before: PastData = api.get(path.text()).await?;
    if let Some(first) = changes.last().filter(|_| !before.files.is_empty()) {
        changes.push(ChangeItem {
            id: "0".to_owned(),
            by: ChangedBy::Person,
            subject: "files from before the history began".to_owned(),
            files: before.files.into_iter().map(|file| file.path).collect(),
            ..first.clone()
        });
    }
    say!("feature date-format=rfc2822")?;
    for change in changes.iter().rev() {
        commit(api, args, change).await?;
    }
    Ok(Exit::Ok)
}

/// A commit after the last one, with the files of a change as they were after it.
async fn commit(api: &Api, args: &TenantArgs, change: &ChangeItem) -> Result<(), Failure> {
    let ChangeItem { id, at, subject, .. } = change;
    let author = match change.by {
        ChangedBy::Run => QUIPU,
        ChangedBy::Person => PERSON,
    };
    let told = format!("{subject}\n\n{}\nchange {id}\n", who(change));
    say!(
        "commit HEAD\nauthor {author} <> {at}\ncommitter {QUIPU} <> {at}\ndata {}\n{told}",
        told.len()
    )?;
    for path in &change.files {
        let query = tenant(Path::new("/history/files", ""), args)?;
        let query = query.with("change", id).with("path", path);
        let then: PastData = api.get(query.text()).await?;
        let name = path
            .replace('\\', "\\\\")
            .replace('"', "\\\"")
            .replace('\n', "\\n");
        match &then.files[..] {
            [PastFileItem { text: Some(text), .. }] => {
                let bytes = text.len();
                say!("M 100644 inline \"{name}\"\ndata {bytes}\n{text}")?;
            }
            _ => say!("D \"{name}\"")?,
        }
    }
    Ok(())
}
