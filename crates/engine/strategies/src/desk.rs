//! What all strategies share: whose memory a run is about, reading it, asking a model.
//!
//! Owns: that what a run writes is recorded as its own. Never: a rule of its own.

use std::convert::Infallible;

use consolidate::known::{Known, of_row};
use engine::{Engine, EngineError, Hit, List, SortBy};
use extract::Prompt;
use model::{EntryKind, Owner, OwnerKind, Scope, Timestamp};
use offline::{About, Failure, RunContext};
use ports::runs::Event;

use crate::asking;

/// What a model answered.
pub(crate) struct Answer {
    pub(crate) content: String,
    /// What signs it.
    pub(crate) author: String,
}

/// Asks the model, if there is one and the day's budget lasts; none where the rules must serve.
pub(crate) async fn ask(context: &RunContext, prompt: Prompt) -> Option<Answer> {
    let whole = |text: &str| Ok::<_, Infallible>(text.to_owned());
    let (content, author) = asking::ask(context, prompt, whole).await?;
    Some(Answer { content, author })
}

/// Writes as the run: what it changes is recorded as the run's, and can be taken back with it. No model is asked in it,
/// because others wait to write.
pub(crate) async fn recorded<T>(engine: &Engine, context: &RunContext, write: impl Future<Output = T>) -> T {
    let run = ports::Run {
        id: context.run.id.clone(),
        strategy: context.run.work.strategy.clone(),
        reason: context.run.reason.clone(),
    };
    Box::pin(engine.recorded(run, Box::pin(write))).await.0
}

/// Signs what the rules made.
pub(crate) fn by_rules() -> String {
    extract::RULES_VERSION.to_owned()
}

pub(crate) fn failed(error: EngineError) -> Failure {
    match error {
        EngineError::Invalid(_) => Failure::GiveUp(error.to_string()),
        error => Failure::Retry(error.to_string()),
    }
}

/// The user's memory that an episode was written to.
pub(crate) fn episode_of_user(event: &Event) -> Option<About> {
    match event {
        Event::EpisodeWritten { owner, .. } if owner.kind == OwnerKind::User => Some(About {
            owner: Some(owner.clone()),
            subject: String::new(),
        }),
        _ => None,
    }
}

/// Whose memory a run is about: its owner's, or every user's.
pub(crate) async fn owners(engine: &Engine, context: &RunContext) -> Result<Vec<(Scope, Owner)>, Failure> {
    let work = &context.run.work;
    if let Some(owner) = &work.owner {
        return Ok(vec![(work.scope.clone(), owner.clone())]);
    }
    let all = engine.owners().await.map_err(failed)?;
    Ok(all
        .into_iter()
        .filter(|(_, owner)| owner.kind == OwnerKind::User)
        .collect())
}

/// All memories of a kind, the newest first.
pub(crate) async fn all(
    engine: &Engine,
    scope: &Scope,
    owner: &Owner,
    kind: EntryKind,
) -> Result<Vec<Hit>, Failure> {
    let list = List {
        scope: scope.clone(),
        owner: owner.clone(),
        kind,
        filter: None,
        sort_by: SortBy::Time,
        descending: true,
        page: 1,
        page_size: usize::MAX,
    };
    Ok(engine.list(list).await.map_err(failed)?.hits)
}

/// The facts that a person taught of the owner.
pub(crate) fn known<'a>(facts: &'a [Hit], owner: &Owner, now: Timestamp) -> Vec<Known<'a>> {
    let known = facts
        .iter()
        .filter_map(|hit| of_row(&hit.doc, &owner.id, hit.superseded_by.is_some(), now));
    known.collect()
}
