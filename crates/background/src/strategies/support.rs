//! Shared by all strategies: the owners of a run, reading their memory, asking a model.
//!
//! Owns: that each write of a run is recorded under that run, and that a run without a usable answer goes on without a
//! model. Never: a rule of its own, a prompt, or reading an answer.

use std::fmt::Display;

use crate::{About, Failure, RunContext};
use extract::Prompt;
use extract::consolidate::known::{KnownFact, of_row};
use memory::{Curate, Engine, EngineError, Hit, List};
use model::text::chain;
use model::{EntryKind, Owner, OwnerKind, Scope, Timestamp};
use ports::runs::MemoryEvent;
use ports::{ChatError, ChatRequest};

/// Why an unreadable answer is not used.
pub(crate) const NO_ANSWER: &str = "the answer does not fit the question";

/// Asks the model once, if there is one and the day's budget lasts; returns the parsed answer and its author. None: the
/// strategy goes on without a model.
pub(crate) async fn ask<T, E: Display>(
    context: &RunContext,
    prompt: Prompt,
    read: impl Fn(&str) -> Result<T, E>,
) -> Option<(T, String)> {
    answer(context, prompt, read).await.ok()?
}

/// As [`ask`], for results that only a model can make: the error says whether a later attempt can succeed.
pub(crate) async fn answer<T, E: Display>(
    context: &RunContext,
    prompt: Prompt,
    read: impl Fn(&str) -> Result<T, E>,
) -> Result<Option<(T, String)>, ChatError> {
    let Some(chat) = &context.chat else {
        return Ok(None);
    };
    let request = ChatRequest {
        schema: Some((prompt.schema_name, prompt.schema_json)),
        ..ChatRequest::new(prompt.system, prompt.user, prompt.tokens_max)
    };
    let strategy = &context.run.work.strategy;
    let reply = chat.complete(request).await;
    let reply = reply.inspect_err(
        |error| tracing::debug!(%strategy, %error, "no chat model available; going on without it"),
    );
    let parsed = read(&reply?.content);
    let parsed = parsed.inspect_err(
        |problem| tracing::warn!(%strategy, %problem, "model answer unusable; going on without it"),
    );
    Ok(parsed.ok().map(|parsed| (parsed, extract::signed(chat.model()))))
}

/// Writes as the run: the history records the changes under the run, and an undo can undo them. Never ask a model in
/// `write`, because other writers wait.
pub(crate) async fn recorded<T>(engine: &Engine, context: &RunContext, write: impl Future<Output = T>) -> T {
    let run = ports::Run {
        id: context.run.id.clone(),
        strategy: context.run.work.strategy.clone(),
        reason: context.run.reason.clone(),
    };
    Box::pin(engine.recorded(run, Box::pin(write))).await.0
}

/// Changes memory as the run; does nothing if there is nothing to put or remove.
pub(crate) async fn curated(engine: &Engine, context: &RunContext, curate: Curate) -> Result<(), Failure> {
    if curate.put.is_empty() && curate.remove.is_empty() {
        return Ok(());
    }
    recorded(engine, context, engine.curate(curate))
        .await
        .map_err(failed)
}

/// A run's change in words, with the number of a model's statements that no source supported.
pub(crate) fn with_dropped(change: String, dropped: usize) -> String {
    match dropped {
        0 => change,
        _ => format!("{change}; {dropped} of the model's statements left out as unsupported"),
    }
}

/// The author of everything that the rules make.
pub(crate) fn by_rules() -> String {
    extract::RULES_VERSION.to_owned()
}

/// A store error can pass, so the run is retried; an invalid request stays invalid.
pub(crate) fn failed(error: impl Into<EngineError>) -> Failure {
    let error = error.into();
    let text = chain(&error);
    match error {
        EngineError::Invalid(_) => Failure::GiveUp(text),
        _ => Failure::Retry(text),
    }
}

/// The user whose memory an event changed: an episode was written, or the user answered in a review.
pub(crate) fn memory_of_user(event: &MemoryEvent) -> Option<About> {
    match event {
        MemoryEvent::EpisodeWritten { owner, .. } | MemoryEvent::Reviewed { owner, .. }
            if owner.kind == OwnerKind::User =>
        {
            Some(About {
                owner: Some(owner.clone()),
                subject: String::new(),
            })
        }
        _ => None,
    }
}

/// Owners whose memory a run concerns: its own, or every user.
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

/// The owner's facts that a person stated.
pub(crate) fn known<'a>(facts: &'a [Hit], owner: &Owner, now: Timestamp) -> Vec<KnownFact<'a>> {
    let known = facts
        .iter()
        .filter_map(|hit| of_row(&hit.doc, &owner.id, hit.superseded_by.is_some(), now));
    known.collect()
}
