//! An agent's case: its work with tools in a segment that was just written.
//!
//! Owns: when a case is written, and that it is written once. Never: its text (`extract::skills`).

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::{About, Failure, RunContext, RunOutcome, Strategy};
use async_trait::async_trait;
use extract::skills::{Case, RULES_VERSION, Trajectory, case, case_request, parse_case, trajectories};
use memory::{Curate, Engine, EngineError};
use model::{Cell, CellId, Entry, EntryId, EntryKind, Origin, Owner, Parent, ParentKind, SenderId};
use ports::Transcripts;
use ports::runs::MemoryEvent;

use crate::strategies::support::{ask, failed, recorded};

/// Writes a case for each agent that worked with tools.
#[derive(Debug)]
pub(super) struct ExtractAgentCase {
    pub(super) engine: Engine,
    pub(super) transcripts: Arc<dyn Transcripts>,
}

impl ExtractAgentCase {
    /// Writes the case of one agent unless it exists; returns whether there is one now.
    async fn write(
        &self,
        context: &RunContext,
        cell: &Cell,
        work: &Trajectory,
    ) -> Result<Option<MemoryEvent>, Failure> {
        let owner = Owner::agent(work.agent.clone());
        let scope = &cell.session.scope;
        let id = case_id(&cell.id);
        if case(work).is_none() {
            return Ok(None);
        }
        match self.engine.entry(scope, &owner, &id).await {
            Ok(_) => {}
            Err(EngineError::NotFound { .. }) => {
                let Some((case, author)) = case_of(context, work).await else {
                    return Ok(None);
                };
                let entry = entry(cell, &owner, &id, case, author);
                let put = Box::pin(self.put(cell, entry));
                recorded(&self.engine, context, put).await?;
            }
            Err(error) => return Err(failed(error)),
        }
        Ok(Some(MemoryEvent::CaseWritten {
            scope: scope.clone(),
            owner,
            session: cell.session.session.clone(),
            case: id,
        }))
    }

    async fn put(&self, cell: &Cell, entry: Entry) -> Result<(), Failure> {
        let undo = Curate::new(&entry.scope, &entry.owner, Vec::new(), vec![entry.id.clone()]);
        let curate = Curate {
            put: vec![entry],
            remove: Vec::new(),
            ..undo.clone()
        };
        self.engine.curate(curate).await.map_err(failed)?;
        // A deletion sweeps the ledger before it reads the files, so it may have missed this case, which was written in
        // between.
        let there = self.transcripts.cell(&cell.id).await.map_err(failed)?;
        if there.is_none_or(|there| there.messages != cell.messages) {
            self.engine.curate(undo).await.map_err(failed)?;
            return Err(Failure::Retry("the segment changed in the meantime".to_owned()));
        }
        Ok(())
    }
}

#[async_trait]
impl Strategy for ExtractAgentCase {
    fn name(&self) -> &'static str {
        "extract_agent_case"
    }

    fn about(&self, event: &MemoryEvent) -> Option<About> {
        let MemoryEvent::EpisodeWritten { cell, .. } = event else {
            return None;
        };
        let is_worth = trajectories(cell).iter().any(|work| case(work).is_some());
        // If several owners have a memory of the segment, an agent's work in it still makes one case.
        is_worth.then(|| About {
            owner: None,
            subject: cell.id.as_str().to_owned(),
        })
    }

    async fn run(&self, context: &RunContext) -> Result<RunOutcome, Failure> {
        let id = CellId::new(context.run.work.subject.as_str());
        let cell = self.transcripts.cell(&id).await.map_err(failed)?;
        let mut events = Vec::new();
        if let Some(cell) = cell {
            for work in trajectories(&cell) {
                events.extend(self.write(context, &cell, &work).await?);
            }
        }
        Ok(RunOutcome {
            change: format!("{} cases", events.len()),
            events,
        })
    }
}

/// The case by the model if there is one that answers, else by the rules; none if the model finds nothing to learn.
async fn case_of(context: &RunContext, work: &Trajectory) -> Option<(Case, String)> {
    let asked = ask(context, case_request(work), |answer| parse_case(answer, work)).await;
    match asked {
        Some((case, model)) => case.map(|case| (case, model)),
        None => case(work).map(|case| (case, RULES_VERSION.to_owned())),
    }
}

/// A segment's case takes the segment's id, so a repeated write gives the same id.
fn case_id(cell: &CellId) -> EntryId {
    let cell = cell.as_str();
    let prefix = EntryKind::Case.prefix();
    EntryId::new(format!("{prefix}_{}", cell.strip_prefix("mc_").unwrap_or(cell)))
}

fn entry(cell: &Cell, owner: &Owner, id: &EntryId, case: Case, author: String) -> Entry {
    let senders = cell.messages.iter().map(|message| message.sender.clone());
    let senders: BTreeSet<SenderId> = senders.collect();
    let whose = (cell.session.scope.clone(), owner.clone());
    Entry {
        session: Some(cell.session.session.clone()),
        author: Some(author),
        parent: Some(Parent::new(ParentKind::Memcell, cell.id.as_str())),
        sources: case.sources,
        senders: senders.into_iter().collect(),
        labels: case.tools,
        confidence_percent: Some(case.quality_percent),
        subject: case.task_intent,
        summary: case.key_insight,
        body: case.approach,
        ..Entry::new(id.clone(), EntryKind::Case, whose, case.time, Origin::Assistant)
    }
}
