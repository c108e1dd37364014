//! `quipu rebuild`, `quipu sync`, `quipu status`, `quipu runs retry`.

use std::time::Duration;

use gateway::wire::owners::{OwnerItem, OwnersData};
use gateway::wire::tasks::TaskStatus;
use gateway::wire::{HealthData, SyncedData, TaskItem, TaskPageData};
use indicatif::ProgressBar;
use ledger::SqliteLedger;
use model::Scope;
use model::text::{counted, size};
use serde_json::{Value, json};

use super::Desk;
use crate::api::{Api, NOTHING, Path};
use crate::args::{ScopeArgs, StatusArgs, StatusCommand};
use crate::belonging;
use crate::clock::RandomIds;
use crate::error::{Exit, Failure};
use crate::output::{self, TableCell, Tone, say};
use crate::progress;
use crate::serving::LEDGER;

/// Interval between checks of progress.
const LOOK: Duration = Duration::from_millis(100);
/// Maximum wait for the results of retried tasks.
const RETRY_WAIT: Duration = Duration::from_secs(10);

pub(super) async fn rebuild(desk: &Desk, api: &Api) -> Result<Exit, Failure> {
    let bar = progress::bar(desk.watched, "rebuilding", 0);
    desk.standing.now(if api.is_here() {
        "memories and the old index are as before; run `quipu rebuild` again".to_owned()
    } else {
        "the server goes on; `quipu status` shows how far it is".to_owned()
    });
    let synced = rebuilt(api, &bar).await;
    bar.finish_and_clear();
    told(desk, "rebuilt", &synced?)
}

/// Rebuilds the index, and shows the progress.
pub(super) async fn rebuilt(api: &Api, bar: &ProgressBar) -> Result<SyncedData, Failure> {
    let mut rebuilding = std::pin::pin!(api.post("/index/rebuild", &NOTHING));
    loop {
        tokio::select! {
            rebuilt = &mut rebuilding => return rebuilt,
            () = api.clock.sleep(LOOK), if !bar.is_hidden() => {
                if let Some(far) = api.health().await?.rebuilding {
                    bar.set_length(far.total as u64);
                    bar.set_position(far.done as u64);
                }
            }
        }
    }
}

/// Before the root opens: makes the present memory folder the ledger's folder.
pub(super) fn accept(desk: &Desk) -> Result<(), Failure> {
    if SqliteLedger::is_open(&desk.root.join(LEDGER)) {
        let failure = Failure::in_use("--accept-missing: another quipu process is using this root");
        return Err(failure.hint("stop the server of this root and run the command again"));
    }
    belonging::accept(&desk.root, &RandomIds)
}

pub(super) async fn sync(desk: &Desk, api: &Api) -> Result<Exit, Failure> {
    let synced = api.post("/index/sync", &NOTHING).await?;
    // Opening the root reads changed files already, and so does a server: the sync may find none.
    if !desk.json {
        let health = api.health().await?;
        let files = counted(health.files, "Markdown file", "Markdown files");
        let rows = counted(health.index.rows, "row", "rows");
        say!("the index has {rows} of {files}")?;
    }
    told(desk, "found just now", &synced)
}

fn told(desk: &Desk, done: &str, synced: &SyncedData) -> Result<Exit, Failure> {
    let (changed, removed) = (synced.entries_changed, synced.entries_removed);
    desk.tell(synced, || {
        let files = counted(synced.files, "file", "files");
        let added = counted(synced.entries_added, "entry", "entries");
        say!("{done}: {files}; {added} added, {changed} changed, {removed} removed")?;
        if synced.broken_files > 0 {
            let broken = counted(synced.broken_files, "file is", "files are");
            say!("{broken} broken: see `quipu status`")?;
        }
        Ok(())
    })?;
    Ok(Exit::done(synced.broken_files == 0))
}

/// Failed tasks on a page.
const PAGE: usize = 100;

/// A page of a scope's failed tasks.
async fn failed_tasks(api: &Api, scope: &Scope) -> Result<TaskPageData, Failure> {
    let path = Path::new("/tasks", "")
        .within(&scope.app, &scope.project)
        .with("status", "failed")
        .with("all", true)
        .with("page_size", PAGE);
    api.get(path.text()).await
}

pub(super) async fn status(desk: &Desk, api: &Api, args: StatusArgs) -> Result<Exit, Failure> {
    if let Some(StatusCommand::Users) = args.command {
        return users(desk, api).await;
    }
    let health = api.health().await?;
    let mut failed = None;
    if args.tasks {
        failed = Some(failed_tasks(api, &args.scope.scope()).await?);
    }
    let items = failed.as_ref().map_or(&[][..], |page| &page.items);
    if desk.json {
        let mut object = as_json(&health)?;
        let task =
            |task: &TaskItem| json!({"id": task.id, "session_id": task.session_id, "error": task.error});
        object["failed_tasks"] = items.iter().map(task).collect();
        output::json(&object)?;
    } else {
        as_text(desk, &health)?;
        for task in items {
            let error = task.error.as_deref().unwrap_or("no reason was recorded");
            say!("failed task {} (session {}): {error}", task.id, task.session_id)?;
        }
        if let Some(page) = &failed {
            more(&args.scope, page, &health)?;
        }
        for problem in &health.problems {
            let sign = output::out(Tone::Bad, "problem:");
            say!("{sign} {problem}")?;
        }
    }
    Ok(Exit::done(health.problems.is_empty()))
}

async fn users(desk: &Desk, api: &Api) -> Result<Exit, Failure> {
    let data: OwnersData = api.get("/owners").await?;
    desk.tell(&data, || {
        if data.owners.is_empty() {
            return say!("nobody has memories yet: `quipu add --flush \"…\"` writes the first");
        }
        output::table(
            [
                "kind", "id", "app", "project", "memories", "waiting", "files", "size",
            ],
            data.owners.iter().map(row),
        )
    })
}

fn row(owner: &OwnerItem) -> [TableCell; 8] {
    [
        TableCell::text(&owner.kind),
        TableCell::text(&owner.id),
        TableCell::text(&owner.app_id),
        TableCell::text(&owner.project_id),
        TableCell::number(owner.memories),
        TableCell::number(owner.waiting),
        TableCell::number(owner.files),
        TableCell::number(size(owner.bytes)),
    ]
}

/// Prints how to see the other failed tasks.
fn more(scope: &ScopeArgs, page: &TaskPageData, health: &HealthData) -> Result<(), Failure> {
    if page.total > page.items.len() {
        say!("… and {} more here", page.total - page.items.len())?;
    }
    let elsewhere = health.tasks.failed.saturating_sub(page.total);
    if elsewhere > 0 {
        let ScopeArgs { app, project } = scope;
        say!("{elsewhere} more failed outside `{app}/{project}`: name their scope with --app and --project")?;
    }
    Ok(())
}

pub(super) async fn retry(
    desk: &Desk,
    api: &Api,
    mut ids: Vec<String>,
    of: &ScopeArgs,
) -> Result<Exit, Failure> {
    let scope = of.scope();
    if ids.is_empty() {
        let page = failed_tasks(api, &scope).await?;
        ids.extend(page.items.into_iter().map(|task| task.id));
    }
    let mut tasks: Vec<TaskItem> = Vec::new();
    for id in &ids {
        tasks.push(api.post(task_path(&scope, id, "/retry").text(), &NOTHING).await?);
    }
    let deadline = api.clock.elapsed() + RETRY_WAIT;
    for task in &mut tasks {
        while is_open(task) && api.clock.elapsed() < deadline {
            api.clock.sleep(LOOK).await;
            *task = api.get(task_path(&scope, &task.id, "").text()).await?;
        }
    }
    let told = |task: &TaskItem| json!({"id": task.id, "status": task.status, "error": task.error});
    let told: Vec<Value> = tasks.iter().map(told).collect();
    desk.tell(&json!({"retried": told}), || {
        if tasks.is_empty() {
            say!("no task of `{}/{}` failed", scope.app, scope.project)?;
        }
        tasks.iter().try_for_each(|task| {
            let outcome = match (task.status, &task.error) {
                (TaskStatus::Success, _) => "done".to_owned(),
                (TaskStatus::Failed, Some(error)) => format!("failed again: {error}"),
                _ => "is being tried".to_owned(),
            };
            say!("task {} (session {}): {outcome}", task.id, task.session_id)
        })
    })?;
    let has_failed = tasks.iter().any(|task| task.status == TaskStatus::Failed);
    Ok(Exit::done(!has_failed))
}

fn task_path(scope: &Scope, id: &str, what: &str) -> Path {
    Path::new("/tasks/", id)
        .then(what)
        .within(&scope.app, &scope.project)
}

fn is_open(task: &TaskItem) -> bool {
    matches!(task.status, TaskStatus::Queued | TaskStatus::Processing)
}

/// The health of the index as one word, unless it is a sentence.
fn index_word(health: &str) -> &str {
    match health {
        word @ ("ready" | "fresh") => word,
        _ => "needs a rebuild",
    }
}

/// Fields of the health that the JSON output passes on unchanged.
const FIELDS: &str = "problems files broken_files index tasks runs open_sessions buffered_messages redacted near_limit chat_model \
    model_answers rebuilding";

fn as_json(health: &HealthData) -> Result<Value, Failure> {
    let mut all = serde_json::to_value(health)?;
    let mut object = json!({"healthy": health.problems.is_empty(), "embedding_model": health.embedder});
    for field in FIELDS.split_whitespace() {
        object[field] = all[field].take();
    }
    object["index"]["health"] = index_word(&health.index.health).into();
    Ok(object)
}

fn extraction(health: &HealthData) -> String {
    let answers = &health.model_answers;
    let facts = counted(answers.facts, "fact", "facts");
    let [one, many] = ["unsupported statement", "unsupported statements"];
    let left_out = counted(answers.left_out, one, many);
    let unusable = counted(answers.unusable, "unusable answer", "unusable answers");
    match &health.chat_model {
        None => "rules".to_owned(),
        Some(model) => format!("{model}: {facts}, {left_out} left out, {unusable}"),
    }
}

fn as_text(desk: &Desk, health: &HealthData) -> Result<(), Failure> {
    let (index, tasks, runs) = (&health.index, &health.tasks, health.runs.unwrap_or_default());
    let row = |what, text: String| say!("{what:<11} {text}");
    row("root", desk.root.display().to_string())?;
    let files = counted(health.files, "Markdown file", "Markdown files");
    row("memory", format!("{files}, {} broken", health.broken_files.len()))?;
    let copy = health.newest_ledger_copy.as_ref();
    let copy = copy.map(|day| format!("of the ledger, {day}"));
    let copy = copy.unwrap_or_else(|| "none of the ledger yet".to_owned());
    row("copy", copy)?;
    let (word, rows) = (index_word(&index.health), counted(index.rows, "row", "rows"));
    let (megabytes, nth) = (index.bytes_on_disk as f64 / 1e6, index.generation);
    let stands = format!("{word}, {rows}, {megabytes:.1} MB, generation {nth}");
    row("index", stands)?;
    let sessions = counted(health.open_sessions, "session", "sessions");
    let messages = counted(health.buffered_messages, "message", "messages");
    let open = format!("{sessions} with {messages} not yet in an episode");
    row("open", open)?;
    let (queued, running, failed) = (tasks.queued, tasks.processing, tasks.failed);
    let stand = format!("{queued} waiting, {running} running, {failed} failed");
    row("tasks", stand)?;
    let (queued, running, retrying, failed) = (runs.queued, runs.running, runs.failed, runs.dead_letters);
    let stand = format!("{queued} waiting, {running} running, {retrying} retrying, {failed} failed");
    row("background", stand)?;
    let near = ["conversation near its limit", "conversations near their limit"];
    row("context", counted(health.near_limit, near[0], near[1]))?;
    row("embedding", health.embedder.clone())?;
    row("extraction", extraction(health))?;
    let far = health
        .rebuilding
        .map(|far| format!("{} of {}", far.done, far.total));
    row("rebuilding", far.unwrap_or_else(|| "no".to_owned()))
}

#[cfg(test)]
mod tests;
