//! `quipu rebuild`, `quipu sync`, `quipu status`.

use engine::{Status, Synced};
use ports::{IndexHealth, JobKind, JobState, TaskQuery};
use serde_json::{Value, json};

use super::{Desk, scope};
use crate::args::StatusArgs;
use crate::error::{Exit, Failure};
use crate::world::World;
use crate::{output, progress};

pub(super) async fn rebuild(desk: &Desk, world: World) -> Result<Exit, Failure> {
    let bar = progress::bar(desk.watched, "rebuilding", 0);
    let synced = world.engine.rebuild(Some(progress::listen(&bar))).await?;
    bar.finish_and_clear();
    told(desk, &world, "rebuilt", &synced).await
}

pub(super) async fn sync(desk: &Desk, world: World) -> Result<Exit, Failure> {
    let synced = world.engine.sync().await?;
    told(desk, &world, "synchronised", &synced).await
}

async fn told(desk: &Desk, world: &World, done: &str, synced: &Synced) -> Result<Exit, Failure> {
    // Those that were broken before count too: the work of the start may have looked at them already.
    let broken = world.engine.status().await?.broken_files.len();
    let Synced {
        files,
        entries_added,
        entries_changed,
        entries_removed,
        broken: _,
    } = synced;
    if desk.json {
        output::json(&json!({
            "files": files, "entries_added": entries_added, "entries_changed": entries_changed,
            "entries_removed": entries_removed, "broken_files": broken,
        }))?;
    } else {
        output::line(format_args!(
            "{done}: {files} files; {entries_added} entries added, {entries_changed} changed, {entries_removed} removed"
        ))?;
        if broken > 0 {
            output::line(format_args!("{broken} files are broken: see `quipu status`"))?;
        }
    }
    Ok(if broken == 0 { Exit::Ok } else { Exit::Failed })
}

/// Failed tasks that `--tasks` names.
const FAILED_SHOWN_MAX: usize = 100;

pub(super) async fn status(desk: &Desk, world: World, args: StatusArgs) -> Result<Exit, Failure> {
    let status = world.engine.status().await?;
    let failed = if args.tasks {
        let query = TaskQuery {
            scope: scope(&args.scope)?,
            session: None,
            state: Some(JobState::Failed),
            kinds: JobKind::ALL.to_vec(),
            page: 1,
            page_size: FAILED_SHOWN_MAX,
        };
        world.engine.tasks(query).await?.jobs
    } else {
        Vec::new()
    };
    let problems = status.problems();
    if desk.json {
        let mut object = as_json(&status);
        object["failed_tasks"] = failed
            .iter()
            .map(
                |job| json!({"id": job.id.0, "session_id": job.session.session.as_str(), "error": job.error}),
            )
            .collect();
        output::json(&object)?;
    } else {
        as_text(desk, &status)?;
        for job in &failed {
            let error = job.error.as_deref().unwrap_or("no reason was recorded");
            output::line(format_args!(
                "failed task {} (session {}): {error}",
                job.id.0, job.session.session
            ))?;
        }
        for problem in &problems {
            output::line(format_args!("problem: {problem}"))?;
        }
    }
    Ok(if problems.is_empty() {
        Exit::Ok
    } else {
        Exit::Failed
    })
}

fn health(health: &IndexHealth) -> &'static str {
    match health {
        IndexHealth::Ready => "ready",
        IndexHealth::Fresh => "fresh",
        IndexHealth::NeedsRebuild { .. } => "needs a rebuild",
    }
}

fn as_json(status: &Status) -> Value {
    let stats = &status.index_stats;
    let broken = status.broken_files.iter();
    json!({
        "healthy": status.problems().is_empty(),
        "problems": status.problems(),
        "files": status.files,
        "broken_files": broken.map(|f| json!({"path": &*f.path, "problem": f.problem})).collect::<Vec<_>>(),
        "index": {
            "health": health(&status.index), "rows": stats.rows, "fragments": stats.fragments,
            "unindexed_rows": stats.unindexed_rows, "bytes_on_disk": stats.bytes_on_disk,
            "generation": stats.generation,
        },
        "tasks": {
            "queued": status.jobs.queued, "processing": status.jobs.processing, "failed": status.jobs.failed,
        },
        "open_sessions": status.open_sessions,
        "buffered_messages": status.buffered_messages,
        "embedding_model": status.embedder,
        "chat_model": status.chat_model,
        "rebuilding": status.rebuilding.map(|(done, total)| json!({"done": done, "total": total})),
    })
}

fn as_text(desk: &Desk, status: &Status) -> Result<(), Failure> {
    let stats = &status.index_stats;
    let rows: [(&str, String); 8] = [
        ("root", desk.root.display().to_string()),
        (
            "memory",
            format!(
                "{} Markdown files, {} broken",
                status.files,
                status.broken_files.len()
            ),
        ),
        (
            "index",
            format!(
                "{}, {} rows, {:.1} MB, generation {}",
                health(&status.index),
                stats.rows,
                stats.bytes_on_disk as f64 / 1e6,
                stats.generation
            ),
        ),
        (
            "open",
            format!(
                "{} sessions with {} messages not yet in an episode",
                status.open_sessions, status.buffered_messages
            ),
        ),
        (
            "tasks",
            format!(
                "{} waiting, {} running, {} failed",
                status.jobs.queued, status.jobs.processing, status.jobs.failed
            ),
        ),
        ("embedding", status.embedder.clone()),
        (
            "extraction",
            status.chat_model.clone().unwrap_or_else(|| "rules".to_owned()),
        ),
        (
            "rebuilding",
            status
                .rebuilding
                .map_or_else(|| "no".to_owned(), |(done, total)| format!("{done} of {total}")),
        ),
    ];
    for (what, text) in rows {
        output::line(format_args!("{what:<11} {text}"))?;
    }
    Ok(())
}
