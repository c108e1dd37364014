//! `quipu log`, `quipu show`, `quipu diff`, `quipu undo`, `quipu audit`.

mod git;

use gateway::wire::history::{
    AuditData, ChangeItem, ChangedBy, DiffData, HistoryData, PastData, PastFileItem, UndoData, UndoRequest,
};
use model::Name;

use super::{Desk, name};
use crate::api::{Api, Path};
use crate::args::{LogArgs, ShowArgs, TenantArgs};
use crate::error::{Exit, Failure};
use crate::output::say;

/// Author of what is no run's.
const PERSON: &str = "a person, or another program";

pub(super) async fn log(desk: &Desk, api: &Api, args: LogArgs) -> Result<Exit, Failure> {
    if args.form.is_some() {
        return git::stream(api, &args.tenant).await;
    }
    let path = tenant(Path::new("/history", ""), &args.tenant)?
        .with("limit", args.limit)
        .with_any("user_id", any_name("--user", args.user.as_deref())?)
        .with_any("agent_id", any_name("--agent", args.agent.as_deref())?);
    let log: HistoryData = api.get(path.text()).await?;
    desk.tell(&log, || {
        match (log.changes.as_slice(), args.user.or(args.agent)) {
            ([], None) => say!("no changes recorded yet"),
            ([], Some(whose)) => say!("no changes of `{whose}`: `quipu users` lists everybody"),
            (changes, _) => changes.iter().try_for_each(show),
        }
    })
}

fn show(change: &ChangeItem) -> Result<(), Failure> {
    let id = &change.id;
    let at = change.at.get(..16).unwrap_or(&change.at).replace('T', " ");
    say!("{id:>6}  {at}  {}", change.subject)?;
    say!("        {}", who(change))
}

fn who(change: &ChangeItem) -> String {
    let [strategy, reason] = [&change.strategy, &change.reason].map(|text| text.as_deref().unwrap_or("-"));
    match (change.by, &change.run_id) {
        (ChangedBy::Run, Some(run)) => format!("run {run} ({strategy}): {reason}"),
        _ => format!("by {PERSON}"),
    }
}

pub(super) async fn show_then(desk: &Desk, api: &Api, args: ShowArgs) -> Result<Exit, Failure> {
    let path = tenant(Path::new("/history/files", ""), &args.tenant)?
        .with("at", &args.at)
        .with_any("path", args.path.as_ref());
    let then: PastData = api.get(path.text()).await?;
    desk.tell(&then, || {
        if then.files.is_empty() {
            let file = args.path.as_deref().unwrap_or("memory/");
            let none = Failure::missing(format!("nothing was at `{file}` then"));
            return Err(none.hint("`quipu show --at TIME` lists the files that there were"));
        }
        for PastFileItem { path, text } in &then.files {
            let text = text.as_deref().unwrap_or("(its text is not kept)");
            let told = args.path.as_ref().map_or(&**path, |_| text.trim_end());
            say!("{told}")?;
        }
        Ok(())
    })
}

pub(super) async fn diff(
    desk: &Desk,
    api: &Api,
    id: Option<String>,
    of: &TenantArgs,
) -> Result<Exit, Failure> {
    let id = if id.is_some() {
        id
    } else {
        let newest = tenant(Path::new("/history", ""), of)?.with("limit", 1);
        let log: HistoryData = api.get(newest.text()).await?;
        log.changes.into_iter().next().map(|change| change.id)
    };
    let Some(id) = id else {
        return say!("no changes recorded yet").map(|()| Exit::Ok);
    };
    let path = tenant(Path::new("/history/", &id), of)?;
    let data: DiffData = api.get(path.text()).await?;
    desk.tell(&data, || say!("{}", data.diff.trim_end()))
}

pub(super) async fn undo(desk: &Desk, api: &Api, run_id: String, of: TenantArgs) -> Result<Exit, Failure> {
    let request = UndoRequest {
        run_id,
        app_id: of.app,
        project_id: of.project,
    };
    let data: UndoData = api.post("/history/undo", &request).await?;
    desk.tell(&data, || match &data.change {
        Some(change) => show(change),
        None => say!("nothing left to undo"),
    })
}

pub(super) async fn audit(desk: &Desk, api: &Api, of: &TenantArgs) -> Result<Exit, Failure> {
    let path = tenant(Path::new("/audit", ""), of)?;
    let data: AuditData = api.get(path.text()).await?;
    desk.tell(&data, || {
        for found in &data.findings {
            let (fault, id, path, why) = (&found.fault, &found.id, &found.path, &found.why);
            say!("{fault:<11} {id}: {why}")?;
            let run = found.run_id.iter().map(|run| format!("  written by {run}"));
            say!("            {path}{}", run.collect::<String>())?;
        }
        let advice = match data.findings.len() {
            0 => "no problems found",
            _ => "`quipu undo RUN` undoes a run, `quipu forget` deletes a memory; or edit the file",
        };
        say!("{advice}")
    })
}

/// A path with the tenant that was named, if one was.
fn tenant(path: Path, args: &TenantArgs) -> Result<Path, Failure> {
    let path = path.with_any("app_id", any_name("--app", args.app.as_deref())?);
    Ok(path.with_any("project_id", any_name("--project", args.project.as_deref())?))
}

fn any_name(option: &str, text: Option<&str>) -> Result<Option<Name>, Failure> {
    text.map(|text| name(option, text)).transpose()
}

#[cfg(test)]
mod tests;
