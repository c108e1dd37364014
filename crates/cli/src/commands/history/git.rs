//! `quipu history log --as git`: the history as a stream for `git fast-import`.
//!
//! Owns: the format of the stream. Never: the content of the history.

use gateway::wire::history::{ChangeItem, ChangedBy, HistoryData, PastData, PastFileItem};

use super::{PERSON, Past, who};
use crate::error::{Exit, Failure};
use crate::output::say;

/// Changes in one request; the API's maximum.
const CHANGES: usize = 1_000;
const QUIPU: &str = "Quipu";

impl Past<'_> {
    /// Prints one commit for each change, the oldest first, after a commit with the files from before the first change.
    pub(super) async fn stream(&self) -> Result<Exit, Failure> {
        let mut changes: Vec<ChangeItem> = Vec::new();
        loop {
            let path = self
                .route("/history", "")
                .with("limit", CHANGES)
                .with_any("before", changes.last().map(|oldest| &oldest.id));
            let older: HistoryData = self.api.get(path.text()).await?;
            if older.changes.is_empty() {
                break;
            }
            changes.extend(older.changes);
        }
        let path = self.route("/history/files", "").with("change", 0);
        let before: PastData = self.api.get(path.text()).await?;
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
            self.commit(change).await?;
        }
        Ok(Exit::Ok)
    }

    /// Prints the commit of a change on top of the last one, with the change's files as they were after it.
    async fn commit(&self, change: &ChangeItem) -> Result<(), Failure> {
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
            let query = self.route("/history/files", "");
            let query = query.with("change", id).with("path", path);
            let then: PastData = self.api.get(query.text()).await?;
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
}
