//! `tasks`: status and results of queued work.
//!
//! Owns: limiting lists to tasks of requests, unless the query asks for all. Never: running a task.

use ports::{JobId, JobState};

use crate::body::{IdQuery, UrlQuery};
use crate::frame::{Answer, Visit};
use crate::wire::tasks::{ScopeQuery, TaskCounts};
use crate::wire::{StatsQuery, TaskItem, TaskPageData, TaskStatsData, TasksQuery};

pub(crate) async fn list_tasks(visit: Visit, UrlQuery(query): UrlQuery<TasksQuery>) -> Answer {
    let zone = visit.gateway.zone();
    let wanted = query.tasks(&visit.caller.home, zone)?;
    visit.caller.enter(&wanted.scope)?;
    let (page, page_size) = (wanted.page, wanted.page_size);
    let found = visit.gateway.engine.tasks(wanted).await?;
    Ok(visit.answer(TaskPageData {
        total: found.total,
        page,
        page_size,
        items: found.jobs.iter().map(|job| TaskItem::of(job, zone)).collect(),
    }))
}

pub(crate) async fn task_stats(visit: Visit, UrlQuery(query): UrlQuery<StatsQuery>) -> Answer {
    let gateway = &visit.gateway;
    let zone = gateway.zone();
    let mut wanted = query.tasks(&visit.caller.home, zone)?;
    visit.caller.enter(&wanted.scope)?;
    let now = gateway.clock.now();
    let end = wanted.made_before.unwrap_or(now);
    let kept_hours = i64::from(gateway.engine.settings().task_retention_hours);
    let start = wanted
        .made_from
        .unwrap_or_else(|| end.min(now).plus_millis(-kept_hours * 3_600_000));
    wanted.made_from = Some(start);
    let (mut by_status, mut total) = (TaskCounts::default(), 0);
    for (state, count) in [
        (JobState::Failed, &mut by_status.failed),
        (JobState::Processing, &mut by_status.processing),
        (JobState::Queued, &mut by_status.queued),
        (JobState::Success, &mut by_status.success),
    ] {
        wanted.state = Some(state);
        *count = gateway.engine.tasks(wanted.clone()).await?.total;
        total += *count;
    }
    Ok(visit.answer(TaskStatsData {
        by_status,
        start: zone.render(start),
        end: zone.render(end),
        total,
    }))
}

pub(crate) async fn get_task(visit: Visit, IdQuery(task_id, query): IdQuery<ScopeQuery>) -> Answer {
    let scope = visit.entered(&query)?;
    let job = visit.gateway.engine.task(&scope, &JobId(task_id)).await?;
    Ok(visit.answer(TaskItem::of(&job, visit.gateway.zone())))
}

pub(crate) async fn retry_task(visit: Visit, IdQuery(task_id, query): IdQuery<ScopeQuery>) -> Answer {
    let (scope, task_id) = (visit.entered(&query)?, JobId(task_id));
    let engine = visit.gateway.engine.clone();
    let job = visit
        .write(async move { engine.retry(&scope, &task_id).await })
        .await?;
    Ok(visit.answer(TaskItem::of(&job, visit.gateway.zone())))
}
