//! `quipu runs`: background runs.

use gateway::wire::runs::{RunItem, RunPageData, RunStatus, TriggerData, TriggerRequest, TriggerStatus};
use model::text::counted;

use super::{Desk, upkeep};
use crate::api::{Api, Path};
use crate::args::{RunsArgs, RunsCommand, STRATEGIES};
use crate::error::{Exit, Failure};
use crate::output::say;

pub(super) async fn runs(desk: &Desk, api: &Api, args: RunsArgs) -> Result<Exit, Failure> {
    match args.command {
        None => list(desk, api, args).await,
        Some(RunsCommand::Start { name, timeout, force }) => {
            let request = TriggerRequest { name, timeout, force };
            start(desk, api, &request).await
        }
        Some(RunsCommand::Retry { tasks, scope }) => upkeep::retry(desk, api, tasks, &scope).await,
    }
}

async fn list(desk: &Desk, api: &Api, args: RunsArgs) -> Result<Exit, Failure> {
    let path = Path::new("/runs", "")
        .within(&args.scope.app, &args.scope.project)
        .with("page_size", args.limit)
        .with_any("strategy", args.strategy);
    let page: RunPageData = api.get(path.text()).await?;
    desk.tell(&page, || match &page.items[..] {
        [] => say!("no background runs yet"),
        items => items.iter().try_for_each(show),
    })
}

fn show(run: &RunItem) -> Result<(), Failure> {
    let owner = run.user_id.as_ref().or(run.agent_id.as_ref());
    let owner = owner.map_or("everybody", String::as_str);
    let when = run.started_at.as_ref().unwrap_or(&run.created_at);
    let (id, strategy, state) = (&run.run_id, &run.strategy, word(run.status));
    say!("{when}  {id} {strategy} for {owner}: {state}")?;
    say!("    why: {}", run.reason)?;
    let (calls, seconds) = (counted(run.calls, "call", "calls"), run.millis as f64 / 1_000.0);
    let tokens = counted(run.prompt_tokens + run.completion_tokens, "token", "tokens");
    say!("    cost: {calls}, {tokens}, {seconds:.1} s")?;
    if let Some(error) = &run.error {
        say!("    failed: {error}")?;
    }
    if !run.change.is_empty() {
        say!("    did: {}", run.change)?;
    }
    Ok(())
}

fn word(status: RunStatus) -> &'static str {
    match status {
        RunStatus::Queued => "waiting",
        RunStatus::Running => "running",
        RunStatus::Success => "done",
        RunStatus::Failed => "failed, retrying",
        RunStatus::DeadLetter => "failed",
    }
}

async fn start(desk: &Desk, api: &Api, request: &TriggerRequest) -> Result<Exit, Failure> {
    api.run_background().await?;
    let request = serde_json::to_vec(request)?;
    let reply = api.client.post("/api/v2/ome/trigger", request).await?;
    let told: TriggerData = reply.bare().map_err(|error| match Failure::from(error) {
        failure if failure.exit == Exit::NotFound => failure.hint(format!("there are: {STRATEGIES}")),
        failure => failure,
    })?;
    desk.tell(&told, || {
        if told.dispatched == 0 {
            say!("`{}` has no work, or is disabled", told.name)?;
        }
        told.runs.iter().try_for_each(|run| {
            let error = run.error.as_deref().unwrap_or_default();
            say!("{} {} {error}", run.run_id, word(run.status))
        })
    })?;
    let failed = |status| matches!(status, RunStatus::Failed | RunStatus::DeadLetter);
    let is_over = told.status != TriggerStatus::Timeout;
    Ok(Exit::done(
        is_over && !told.runs.iter().any(|run| failed(run.status)),
    ))
}
