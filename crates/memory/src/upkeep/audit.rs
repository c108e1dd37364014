//! The audit: reads and judges every memory, and names the run that wrote a faulty one.
//!
//! Owns: reading the memories for it. Never: the judgement (`findings`), or changing anything.

use std::collections::BTreeSet;

use crate::api::Audited;
use crate::base::Base;
use crate::error::EngineError;
use crate::files::history;
use crate::findings::{FiledEntry, Finding};
use crate::runtime::off_thread;
use model::Scope;
use ports::RunId;

/// Judges every memory, or those of one scope.
pub(crate) async fn audit(base: &Base, within: Option<&Scope>) -> Result<Vec<Audited>, EngineError> {
    base.accepting()?;
    let memories = memories(base, within).await?;
    let mut known = BTreeSet::new();
    for (scope, ids) in crate::findings::sources_elsewhere(&memories) {
        let ids: Vec<_> = ids.into_iter().collect();
        let kept = base.parts.transcripts.messages(&scope, &ids).await?;
        known.extend(kept.into_iter().map(|message| (scope.clone(), message.id)));
    }
    let now = base.now();
    let findings = off_thread(move || crate::findings::judge(&memories, &known, now)).await?;
    let entries = findings
        .iter()
        .map(|found| (found.path.clone(), found.id.clone()));
    let writers = history::writers(base, entries).await?;
    let audited = |finding: Finding| {
        let run: Option<RunId> = writers.get(&(finding.path.clone(), finding.id.clone())).cloned();
        Audited { finding, run }
    };
    Ok(findings.into_iter().map(audited).collect())
}

/// All readable memories of the vault.
async fn memories(base: &Base, within: Option<&Scope>) -> Result<Vec<FiledEntry>, EngineError> {
    let mut memories = Vec::new();
    for stat in base.parts.vault.scan().await? {
        // `status` reports files that cannot be read.
        let Ok(Some(file)) = base.parts.vault.read(&stat.path).await else {
            continue;
        };
        let entries = file.entries.into_iter().map(|read| read.entry);
        let entries = entries.filter(|entry| within.is_none_or(|scope| entry.scope == *scope));
        memories.extend(entries.map(|entry| FiledEntry {
            path: stat.path.clone(),
            entry,
        }));
    }
    Ok(memories)
}
