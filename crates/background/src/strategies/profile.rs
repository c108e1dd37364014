//! `extract_user_profile`: statements about a user, from the user's facts.
//!
//! Owns: one run for each quiet time after a user's episodes. Never: a statement that a person changed or removed.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::{About, Failure, RunContext, RunOutcome, Strategy, Triggers};
use async_trait::async_trait;
use extract::consolidate::profile::{
    ProfileAnswer, ProfileEntry, ProfileStatement, TRAIT, items, parse_answer, request, update,
};
use memory::{Curate, Engine, Hit};
use model::{Entry, EntryId, EntryKind, Origin, Owner, Scope, text};
use ports::runs::MemoryEvent;

use crate::strategies::support::{
    NO_ANSWER, all, ask, by_rules, curated, failed, known, memory_of_user, with_dropped,
};

/// Quiet time before the strategy updates a profile.
const QUIET: Duration = Duration::from_mins(1);

/// The strategy.
#[derive(Debug)]
pub(super) struct ExtractUserProfile {
    pub(super) engine: Engine,
}

#[async_trait]
impl Strategy for ExtractUserProfile {
    fn name(&self) -> &'static str {
        "extract_user_profile"
    }

    fn triggers(&self) -> Triggers {
        Triggers {
            idle: Some(QUIET),
            ..Triggers::default()
        }
    }

    fn about(&self, event: &MemoryEvent) -> Option<About> {
        memory_of_user(event)
    }

    async fn run(&self, context: &RunContext) -> Result<RunOutcome, Failure> {
        let work = &context.run.work;
        let Some(owner) = &work.owner else {
            return Ok(RunOutcome::default());
        };
        let (scope, engine) = (&work.scope, &self.engine);
        let facts = all(engine, scope, owner, EntryKind::Fact).await?;
        let entries = all(engine, scope, owner, EntryKind::Profile).await?;
        let facts = known(&facts, owner, context.clock.now());
        let present: Vec<ProfileEntry<'_>> = entries.iter().map(profile_entry).collect();
        let made = engine.made(scope, owner).await.map_err(failed)?;
        let said = if facts.is_empty() {
            None
        } else {
            let read = |answer: &str| parse_answer(answer, &facts, &present).ok_or(NO_ANSWER);
            ask(context, request(&facts, &present), read).await
        };
        let (said, author) = if let Some(said) = said {
            said
        } else {
            let items = items(&facts, &engine.settings().zone);
            let said = ProfileAnswer {
                items,
                ..ProfileAnswer::default()
            };
            (said, by_rules())
        };
        let update = update(said.items, &facts, &present, &made);
        let mut remove: BTreeSet<String> = update.remove.into_iter().collect();
        remove.extend(said.remove);
        let added = text::counted(update.put.len(), "statement", "statements");
        let change = format!("{added} added, {} removed", remove.len());
        let put = update.put.iter().map(|item| entry(item, scope, owner, &author));
        let remove = remove.into_iter().map(EntryId::new);
        let curate = Curate::new(scope, owner, put.collect(), remove.collect());
        curated(engine, context, curate).await?;
        if update.made != made {
            engine
                .set_made(scope, owner, &update.made)
                .await
                .map_err(failed)?;
        }
        Ok(RunOutcome::of(with_dropped(change, said.dropped)))
    }
}

fn profile_entry(hit: &Hit) -> ProfileEntry<'_> {
    ProfileEntry {
        id: &hit.doc.key.id,
        subject: &hit.doc.subject,
        body: &hit.doc.text,
        is_trait: hit.doc.labels.iter().any(|label| label == TRAIT),
        sources: &hit.doc.sources,
        time: hit.doc.time,
    }
}

fn entry(item: &ProfileStatement, scope: &Scope, owner: &Owner, author: &str) -> Entry {
    let (id, whose) = (EntryId::new(item.id()), (scope.clone(), owner.clone()));
    Entry {
        author: Some(author.to_owned()),
        sources: item.sources.clone(),
        senders: vec![owner.id.clone()],
        subject: item.subject.clone(),
        summary: item.evidence.clone(),
        body: item.body.clone(),
        ..Entry::new(id, EntryKind::Profile, whose, item.time, Origin::User)
    }
}
