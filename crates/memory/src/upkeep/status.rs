//! Status: the state of the system, and its tasks.
//!
//! Owns: gathering. Never: judging (`Status::problems` does).

use std::sync::atomic::Ordering;

use model::Scope;
use ports::{BrokenFile, IndexError, IndexHealth, IndexStats, Job, JobId, TaskPage, TaskQuery, VaultError};

use crate::api::Status;
use crate::base::{Base, Serving};
use crate::error::EngineError;
use crate::intake::Intake;

/// Problem of a link or a pipe in the place of a memory file.
const STRANGER: &str = "it is no plain file or folder but a link, a pipe or the like, which are not read: remove it, or put the \
                        file itself there";

/// The state of the system. Before the first scan of the vault, changes made while no engine ran are unknown.
pub(crate) async fn status(intake: &Intake) -> Result<Status, EngineError> {
    let base = &intake.base;
    base.gauge.synced(&*base.parts.clock).await;
    let (_, stuck) = base.jobs.stuck_sessions();
    let buffered = base.parts.transcripts.buffered().await?;
    let (index, index_stats) = index(base).await?;
    let copies = base.parts.retention.copies().await;
    let (panics, rebuild) = (base.panics.seen(), base.gauge.progress());
    Ok(Status {
        index,
        index_stats,
        jobs: base.parts.jobs.stats().await?,
        stuck,
        loop_panics: panics.count,
        last_loop_panic: panics.last,
        broken_files: broken_files(base).await?,
        open_sessions: buffered.sessions,
        buffered_messages: buffered.messages,
        files: base.parts.file_changes.count().await?,
        unread_files: base.gauge.unread.lock().len(),
        embedder: base.parts.embedder.id().model.clone(),
        chat_model: base.parts.chat.as_ref().map(|chat| chat.model().to_owned()),
        model_answers: base.model.tally(),
        redacted: intake.redacted.load(Ordering::Relaxed),
        newest_copy: copies.ok().and_then(|mut days| days.pop()),
        copy_trouble: base.copy_trouble.lock().clone(),
        rebuilding: rebuild,
        disk: base.disk.state(&*base.parts.vault, &*base.parts.clock),
    })
}

/// Unreadable files, other things in the place of files or folders, and an unmounted vault.
async fn broken_files(base: &Base) -> Result<Vec<BrokenFile>, EngineError> {
    let mut broken = base.parts.file_changes.broken().await?;
    for path in base.parts.vault.strangers() {
        if broken.iter().all(|file| file.path != path) {
            let problem = STRANGER.to_owned();
            broken.push(BrokenFile { path, problem });
        }
    }
    if let Err(VaultError::Io { path, source }) = base.parts.vault.is_present().await {
        let (path, problem) = (path.into(), source.to_string());
        broken.push(BrokenFile { path, problem });
    }
    Ok(broken)
}

/// Health and statistics of the index; an index that cannot be read has no statistics.
async fn index(base: &Base) -> Result<(IndexHealth, IndexStats), EngineError> {
    let health = match base.gauge.now() {
        Serving::Unusable(reason) => IndexHealth::NeedsRebuild { reason },
        _ => base.parts.index.health(base.parts.embedder.id()).await,
    };
    match base.parts.index.stats().await {
        Ok(stats) => Ok((health, stats)),
        Err(IndexError::Unusable { reason }) => {
            Ok((IndexHealth::NeedsRebuild { reason }, IndexStats::default()))
        }
        Err(error) => Err(error.into()),
    }
}

/// A page of tasks.
pub(crate) async fn tasks(base: &Base, query: TaskQuery) -> Result<TaskPage, EngineError> {
    if query.page == 0 || query.page_size == 0 {
        return Err(EngineError::invalid("pages and page sizes are counted from 1"));
    }
    Ok(base.parts.jobs.page(&query).await?)
}

/// One task.
pub(crate) async fn task(base: &Base, scope: &Scope, id: &JobId) -> Result<Job, EngineError> {
    let job = base.parts.jobs.job(scope, id).await?;
    job.ok_or_else(|| EngineError::not_found("task", &id.0))
}

/// Queues a given-up task again.
pub(crate) async fn retry(base: &Base, scope: &Scope, id: &JobId) -> Result<Job, EngineError> {
    base.accepting()?;
    if base.parts.jobs.retry(scope, id, base.time.now()).await? {
        base.jobs.ring();
        return task(base, scope, id).await;
    }
    let standing = task(base, scope, id).await?.state;
    Err(EngineError::Unfit(format!(
        "task `{}` has not failed: its status is `{}`",
        id.0,
        standing.as_str()
    )))
}
