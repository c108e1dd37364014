//! `extract_foresight`: what a memcell announces, with the time for which it holds.
//!
//! Owns: one run for each memcell of a user. Never: what others said, or announcing the same twice.
//!
//! The rules decide whether a memcell announces anything; only then is a model asked how to say it.

use async_trait::async_trait;
use consolidate::foresight::{Foresight, foresights, parse_answer, request};
use engine::{Curate, Engine};
use model::{Cell, CellId, Entry, EntryId, EntryKind, Message, Origin, Owner, OwnerKind, Parent, ParentKind};
use offline::{About, Failure, Outcome, RunContext, Strategy, Triggers};
use ports::runs::Event;

use crate::desk::{all, ask, by_rules, failed, recorded};

/// The strategy.
#[derive(Debug)]
pub struct ExtractForesight {
    engine: Engine,
}

impl ExtractForesight {
    /// On an engine's memories.
    pub fn new(engine: Engine) -> Self {
        Self { engine }
    }
}

#[async_trait]
impl Strategy for ExtractForesight {
    fn name(&self) -> &'static str {
        "extract_foresight"
    }

    fn triggers(&self) -> Triggers {
        Triggers::default()
    }

    fn about(&self, event: &Event) -> Option<About> {
        match event {
            Event::EpisodeWritten { owner, cell, .. } if owner.kind == OwnerKind::User => Some(About {
                owner: Some(owner.clone()),
                subject: cell.as_str().to_owned(),
            }),
            _ => None,
        }
    }

    async fn run(&self, context: &RunContext) -> Result<Outcome, Failure> {
        let work = &context.run.work;
        let cell = CellId::new(work.subject.as_str());
        let (Some(owner), Some(cell)) = (&work.owner, self.engine.cell(&cell).await.map_err(failed)?) else {
            return Ok(outcome(0));
        };
        let own: Vec<Message> = cell
            .messages
            .iter()
            .filter(|message| message.sender == owner.id)
            .cloned()
            .collect();
        // Most memcells announce nothing: then nothing is read of an owner who may have very much.
        let by_rules = foresights(&own, &self.engine.settings().zone);
        if by_rules.is_empty() {
            return Ok(outcome(0));
        }
        let standing = all(&self.engine, &work.scope, owner, EntryKind::Foresight).await?;
        let is_told = |parent: &Parent| parent.id == cell.id.as_str();
        if standing
            .iter()
            .any(|hit| hit.doc.parent.as_ref().is_some_and(is_told))
        {
            return Ok(outcome(0));
        }
        let (found, author) = self.found(context, &own, by_rules).await;
        let is_known = |new: &Foresight| {
            standing.iter().any(|hit| {
                hit.doc.valid_from == Some(new.from) && extract::is_duplicate(&hit.doc.text, &new.content)
            })
        };
        let put: Vec<Entry> = found
            .iter()
            .filter(|new| !is_known(new))
            .map(|new| entry(new, &cell, owner, &author))
            .collect();
        let count = put.len();
        let curate = Curate {
            scope: work.scope.clone(),
            owner: owner.clone(),
            put,
            remove: Vec::new(),
        };
        if count > 0 {
            recorded(&self.engine, context, self.engine.curate(curate))
                .await
                .map_err(failed)?;
        }
        Ok(outcome(count))
    }
}

impl ExtractForesight {
    /// As a model tells it, where there is one to ask.
    async fn found(
        &self,
        context: &RunContext,
        own: &[Message],
        found: Vec<Foresight>,
    ) -> (Vec<Foresight>, String) {
        let zone = &self.engine.settings().zone;
        if let Some(answer) = ask(context, request(own, zone)).await
            && let Some(said) = parse_answer(&answer.content, own, zone)
        {
            return (said, answer.author);
        }
        (found, by_rules())
    }
}

fn outcome(count: usize) -> Outcome {
    Outcome {
        change: format!("{count} foresights written"),
        events: Vec::new(),
    }
}

fn entry(new: &Foresight, cell: &Cell, owner: &Owner, author: &str) -> Entry {
    Entry {
        id: EntryId::new(new.id()),
        kind: EntryKind::Foresight,
        scope: cell.session.scope.clone(),
        owner: owner.clone(),
        session: Some(cell.session.session.clone()),
        time: new.said_at,
        valid_from: Some(new.from),
        valid_until: Some(new.until),
        supersedes: Vec::new(),
        origin: Origin::User,
        author: Some(author.to_owned()),
        parent: Some(Parent {
            kind: ParentKind::Memcell,
            id: cell.id.as_str().to_owned(),
        }),
        sources: vec![new.source.clone()],
        senders: vec![new.sender.clone()],
        labels: Vec::new(),
        confidence_percent: None,
        subject: String::new(),
        summary: new.evidence.clone(),
        body: new.content.clone(),
        turns: Vec::new(),
    }
}
