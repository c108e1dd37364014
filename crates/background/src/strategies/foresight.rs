//! `extract_foresight`: upcoming events of a segment, with their time.
//!
//! Owns: one run for each segment in which a user announces something. Never: announcements by others, or a second
//! entry for the same event.
//!
//! Rules find the event and its time, and word it, so a run makes no model call.

use std::collections::BTreeSet;

use crate::{About, Failure, RunContext, RunOutcome, Strategy};
use async_trait::async_trait;
use extract::consolidate::foresight::{Foresight, foresights};
use memory::{Belief, Curate, Engine};
use model::{
    Cell, CellId, Entry, EntryId, EntryKind, Message, Origin, Owner, OwnerKind, Parent, ParentKind, Scope,
    text,
};
use ports::runs::MemoryEvent;

use crate::strategies::support::{all, by_rules, curated, failed};

/// The strategy.
#[derive(Debug)]
pub(super) struct ExtractForesight {
    pub(super) engine: Engine,
}

#[async_trait]
impl Strategy for ExtractForesight {
    fn name(&self) -> &'static str {
        "extract_foresight"
    }

    /// Most segments announce nothing and cause no run.
    fn about(&self, event: &MemoryEvent) -> Option<About> {
        match event {
            MemoryEvent::EpisodeWritten { owner, cell, .. } if !self.announced(cell, owner).is_empty() => {
                Some(About {
                    owner: Some(owner.clone()),
                    subject: cell.id.as_str().to_owned(),
                })
            }
            _ => None,
        }
    }

    async fn run(&self, context: &RunContext) -> Result<RunOutcome, Failure> {
        let work = &context.run.work;
        let cell = CellId::new(work.subject.as_str());
        let cell = self.engine.cell(&cell).await.map_err(failed)?;
        let (Some(owner), Some(cell)) = (&work.owner, cell) else {
            return Ok(outcome(0));
        };
        let standing = all(&self.engine, &work.scope, owner, EntryKind::Foresight).await?;
        let is_of_cell = |parent: &Parent| parent.id == cell.id.as_str();
        if standing
            .iter()
            .any(|hit| hit.doc.parent.as_ref().is_some_and(is_of_cell))
        {
            return Ok(outcome(0));
        }
        let is_known = |new: &Foresight| {
            standing.iter().any(|hit| {
                hit.doc.valid_from == Some(new.from) && extract::is_duplicate(&hit.doc.text, &new.content)
            })
        };
        let taken_back = self.taken_back(&work.scope, owner).await?;
        let put: Vec<Entry> = self
            .announced(&cell, owner)
            .into_iter()
            .filter(|new| !is_known(new) && !taken_back.contains(&text::folded_text(&new.content)))
            .map(|new| entry(&new, &cell, owner))
            .collect();
        let count = put.len();
        let curate = Curate::new(&work.scope, owner, put, Vec::new());
        curated(&self.engine, context, curate).await?;
        Ok(outcome(count))
    }
}

impl ExtractForesight {
    /// Upcoming events in a user's messages.
    fn announced(&self, cell: &Cell, owner: &Owner) -> Vec<Foresight> {
        if owner.kind != OwnerKind::User {
            return Vec::new();
        }
        let own = cell.messages.iter().filter(|message| message.sender == owner.id);
        let own: Vec<Message> = own.cloned().collect();
        foresights(&own, &self.engine.settings().zone)
    }

    /// The words of statements that the user withdrew in a review.
    async fn taken_back(&self, scope: &Scope, owner: &Owner) -> Result<BTreeSet<String>, Failure> {
        let mut all = self.engine.review(scope, owner).await.map_err(failed)?;
        all.retain(|one| matches!(one.belief, Belief::Again | Belief::Withdrawn));
        Ok(all.iter().map(|one| text::folded_text(&one.text)).collect())
    }
}

fn outcome(count: usize) -> RunOutcome {
    let events = text::counted(count, "event", "events");
    RunOutcome::of(format!("{events} written"))
}

fn entry(new: &Foresight, cell: &Cell, owner: &Owner) -> Entry {
    let id = EntryId::new(new.id());
    let whose = (cell.session.scope.clone(), owner.clone());
    Entry {
        session: Some(cell.session.session.clone()),
        valid_from: Some(new.from),
        valid_until: Some(new.until),
        author: Some(by_rules()),
        parent: Some(Parent::new(ParentKind::Memcell, cell.id.as_str())),
        sources: vec![new.source.clone()],
        senders: vec![new.sender.clone()],
        summary: new.evidence.clone(),
        body: new.content.clone(),
        ..Entry::new(id, EntryKind::Foresight, whose, new.said_at, Origin::User)
    }
}
