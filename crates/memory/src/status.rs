//! How the system is, and what it is doing.
//!
//! Owns: gathering. Never: judging (`Status::problems` does).

use std::sync::atomic::Ordering;

use model::Scope;
use ports::{BrokenFile, IndexError, IndexHealth, IndexStats, Job, JobId, TaskPage, TaskQuery, VaultError};

use crate::api::Status;
use crate::error::EngineError;
use crate::serving::Serving;
use crate::world::World;

/// Problem of a link or a pipe in the place of a memory file.
const STRANGER: &str = "it is no plain file or folder but a link, a pipe or the like, which are not read: remove it, or put the \
                        file itself there";

/// How the system is. Before the first look at the vault, nothing is known of what changed while no engine ran.
pub(crate) async fn status(world: &World) -> Result<Status, EngineError> {
    world.gauge.synced(&*world.parts.clock).await;
    let (_, stuck) = world.bell.stuck_sessions();
    let buffered = world.parts.transcripts.buffered().await?;
    let (index, index_stats) = index(world).await?;
    let copies = world.parts.retention.copies().await;
    let panics = world.panics.seen();
    Ok(Status {
        index,
        index_stats,
        jobs: world.parts.jobs.stats().await?,
        stuck,
        loop_panics: panics.count,
        last_loop_panic: panics.last,
        broken_files: broken_files(world).await?,
        open_sessions: buffered.sessions,
        buffered_messages: buffered.messages,
        files: world.records.count().await?,
        unread_files: world.gauge.unread.lock().len(),
        embedder: world.parts.embedder.id().model.clone(),
        chat_model: world.parts.chat.as_ref().map(|chat| chat.model().to_owned()),
        model_answers: *world.passes.tally(),
        redacted: world.redacted.load(Ordering::Relaxed),
        newest_copy: copies.ok().and_then(|mut days| days.pop()),
        copy_trouble: world.copy_trouble.now(),
        rebuilding: world
            .gauge
            .progress()
            .map(|progress| (progress.done, progress.total)),
        disk: world.room.state(&*world.parts.vault, &*world.parts.clock),
    })
}

/// Unreadable files, other things in the place of files or folders, and a vault that is away.
async fn broken_files(world: &World) -> Result<Vec<BrokenFile>, EngineError> {
    let mut broken = world.records.broken().await?;
    for path in world.parts.vault.strangers() {
        if broken.iter().all(|file| file.path != path) {
            let problem = STRANGER.to_owned();
            broken.push(BrokenFile { path, problem });
        }
    }
    if let Err(VaultError::Io { path, source }) = world.parts.vault.is_present().await {
        let (path, problem) = (path.into(), source.to_string());
        broken.push(BrokenFile { path, problem });
    }
    Ok(broken)
}

/// An index that cannot be read has a health, but no numbers.
async fn index(world: &World) -> Result<(IndexHealth, IndexStats), EngineError> {
    let health = match world.gauge.now() {
        Serving::Unusable(reason) => IndexHealth::NeedsRebuild { reason },
        _ => world.parts.index.health(world.parts.embedder.id()).await,
    };
    match world.parts.index.stats().await {
        Ok(stats) => Ok((health, stats)),
        Err(IndexError::Unusable { reason }) => {
            Ok((IndexHealth::NeedsRebuild { reason }, IndexStats::default()))
        }
        Err(error) => Err(error.into()),
    }
}

/// A page of tasks.
pub(crate) async fn tasks(world: &World, query: TaskQuery) -> Result<TaskPage, EngineError> {
    if query.page == 0 || query.page_size == 0 {
        return Err(EngineError::Invalid(
            "pages and page sizes are counted from 1".to_owned(),
        ));
    }
    Ok(world.parts.jobs.page(&query).await?)
}

/// One task.
pub(crate) async fn task(world: &World, scope: &Scope, id: &JobId) -> Result<Job, EngineError> {
    let job = world.parts.jobs.job(scope, id).await?;
    job.ok_or_else(|| EngineError::NotFound {
        what: "task",
        id: id.0.clone(),
    })
}

/// Tries a task again that was given up.
pub(crate) async fn retry(world: &World, scope: &Scope, id: &JobId) -> Result<Job, EngineError> {
    world.accepting()?;
    if world.parts.jobs.retry(scope, id, world.work_time()).await? {
        world.bell.ring();
        return task(world, scope, id).await;
    }
    let standing = task(world, scope, id).await?.state;
    Err(EngineError::Unfit(format!(
        "task `{}` has not failed: its status is `{}`",
        id.0,
        standing.as_str()
    )))
}
