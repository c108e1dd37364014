//! The audit: every memory read and judged, and who wrote what is wrong.
//!
//! Owns: what is read for it. Never: the judgement (`audit`), or changing what it finds.

use std::collections::{BTreeMap, BTreeSet};

use crate::findings::{Finding, Standing};
use model::Scope;
use ports::RunId;

use crate::api::{Audited, EngineError};
use crate::cause::chain;
use crate::history;
use crate::tasks::aside;
use crate::world::World;

/// Judges every memory, or those of one scope.
pub(crate) async fn audit(world: &World, within: Option<&Scope>) -> Result<Vec<Audited>, EngineError> {
    world.accepting()?;
    let memories = memories(world, within).await?;
    let mut known = BTreeSet::new();
    for (scope, ids) in crate::findings::sources_elsewhere(&memories) {
        let ids: Vec<_> = ids.into_iter().collect();
        let kept = world.parts.transcripts.messages(&scope, &ids).await?;
        known.extend(kept.into_iter().map(|message| (scope.clone(), message.id)));
    }
    let now = world.now();
    let judged = aside(move || crate::findings::judge(&memories, &known, now)).await;
    let findings = judged.map_err(|ended| EngineError::Panicked(ended.to_string()))?;
    let writers = match world.history() {
        Ok(history) => {
            let entries = findings
                .iter()
                .map(|found| (found.path.clone(), found.id.clone()));
            let writers = history::writers(&**history, within, entries).await;
            writers.unwrap_or_else(|error| {
                tracing::warn!(error = chain(&error), "an audit cannot tell who wrote what");
                BTreeMap::new()
            })
        }
        Err(_) => BTreeMap::new(),
    };
    let audited = |finding: Finding| {
        let run: Option<RunId> = writers.get(&(finding.path.clone(), finding.id.clone())).cloned();
        Audited { finding, run }
    };
    Ok(findings.into_iter().map(audited).collect())
}

/// What stands in the vault and can be read.
async fn memories(world: &World, within: Option<&Scope>) -> Result<Vec<Standing>, EngineError> {
    let mut memories = Vec::new();
    for stat in world.parts.vault.scan().await? {
        // A file that cannot be read, `status` reports.
        let Ok(Some(file)) = world.parts.vault.read(&stat.path).await else {
            continue;
        };
        let entries = file.entries.into_iter().map(|read| read.entry);
        let entries = entries.filter(|entry| within.is_none_or(|scope| entry.scope == *scope));
        memories.extend(entries.map(|entry| Standing {
            path: stat.path.clone(),
            entry,
        }));
    }
    Ok(memories)
}
