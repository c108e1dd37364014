//! What all strategies share: whose memory a run is about, reading it, asking a model.
//!
//! Owns: that what a run writes is recorded as its own, and that whatever goes wrong with a model leaves the work to the rules.
//! Never: a rule of its own, a prompt, or reading an answer.

use std::error::Error as _;
use std::fmt::Display;

use crate::{About, Failure, RunContext};
use extract::Prompt;
use extract::consolidate::known::{Known, of_row};
use memory::{Engine, EngineError, Hit, List};
use model::{EntryKind, Owner, OwnerKind, Scope, Timestamp};
use ports::ChatRequest;
use ports::runs::Event;

/// Why an answer is left aside that could not be read.
pub(crate) const NO_ANSWER: &str = "it is no answer to what was asked";

/// Asks the model once, if there is one and the day's budget lasts: what was made of its answer, and what signs it. None where
/// the rules must serve.
pub(crate) async fn ask<T, E: Display>(
    context: &RunContext,
    prompt: Prompt,
    read: impl Fn(&str) -> Result<T, E>,
) -> Option<(T, String)> {
    let chat = context.chat.as_ref()?;
    let request = ChatRequest {
        schema: Some((prompt.schema_name, prompt.schema_json)),
        ..ChatRequest::new(prompt.system, prompt.user, prompt.tokens_max)
    };
    let strategy = &context.run.work.strategy;
    let reply = chat.complete(request).await;
    let reply = reply
        .inspect_err(|error| tracing::debug!(%strategy, %error, "the rules do what no model can be asked"));
    let told = read(&reply.ok()?.content);
    let told = told.inspect_err(
        |problem| tracing::warn!(%strategy, %problem, "the rules do what the model's answer does not"),
    );
    Some((told.ok()?, chat.model().to_owned()))
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

/// What a store could not do now may be done later; what was asked for wrongly is wrong then too.
pub(crate) fn failed(error: impl Into<EngineError>) -> Failure {
    let error = error.into();
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    match error {
        EngineError::Invalid(_) => Failure::GiveUp(text),
        _ => Failure::Retry(text),
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
    let list = List::all(scope.clone(), owner.clone(), kind);
    Ok(engine.list(list).await.map_err(failed)?.hits)
}

/// The facts that a person taught of the owner.
pub(crate) fn known<'a>(facts: &'a [Hit], owner: &Owner, now: Timestamp) -> Vec<Known<'a>> {
    let known = facts
        .iter()
        .filter_map(|hit| of_row(&hit.doc, &owner.id, hit.superseded_by.is_some(), now));
    known.collect()
}
