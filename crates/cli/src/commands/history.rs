//! `quipu history` and `quipu audit`.

mod git;

use gateway::wire::history::{
    AuditData, ChangeItem, ChangedBy, DiffData, HistoryData, PastData, PastFileItem, UndoData, UndoRequest,
};

use super::Desk;
use crate::api::{Api, Path};
use crate::args::{HistoryArgs, HistoryCommand, LogArgs, TenantArgs};
use crate::error::{Exit, Failure};
use crate::output::say;

/// Author of a change without a run.
const PERSON: &str = "a person, or another program";

pub(super) async fn history(desk: &Desk, api: &Api, args: HistoryArgs) -> Result<Exit, Failure> {
    let HistoryArgs { tenant, command } = args;
    let past = Past { desk, api, tenant };
    match command {
        HistoryCommand::Log(args) if args.form.is_some() => past.stream().await,
        HistoryCommand::Log(args) => past.log(args).await,
        HistoryCommand::Show { path, at } => past.show(path.as_deref(), &at).await,
        HistoryCommand::Diff { id } => past.diff(id).await,
        HistoryCommand::Undo { run } => past.undo(run).await,
    }
}

/// The changes of one tenant, or of all.
struct Past<'a> {
    desk: &'a Desk,
    api: &'a Api,
    tenant: TenantArgs,
}

impl Past<'_> {
    fn route(&self, route: &str, id: &str) -> Path {
        Path::new(route, id)
            .with_any("app_id", self.tenant.app.as_ref())
            .with_any("project_id", self.tenant.project.as_ref())
    }

    async fn log(&self, args: LogArgs) -> Result<Exit, Failure> {
        let path = self
            .route("/history", "")
            .with("limit", args.limit)
            .with_any("user_id", args.user.as_ref())
            .with_any("agent_id", args.agent.as_ref());
        let log: HistoryData = self.api.get(path.text()).await?;
        self.desk.tell(&log, || {
            match (log.changes.as_slice(), args.user.or(args.agent)) {
                ([], None) => say!("no changes recorded yet"),
                ([], Some(whose)) => say!("no changes of `{whose}`: `quipu status users` lists everybody"),
                (changes, _) => changes.iter().try_for_each(show),
            }
        })
    }

    async fn show(&self, file: Option<&str>, at: &str) -> Result<Exit, Failure> {
        let path = self
            .route("/history/files", "")
            .with("at", at)
            .with_any("path", file);
        let then: PastData = self.api.get(path.text()).await?;
        self.desk.tell(&then, || {
            if then.files.is_empty() {
                let file = file.unwrap_or("memory/");
                let none = Failure::missing(format!("nothing was at `{file}` then"));
                return Err(none.hint("`quipu history show --at TIME` lists the files that there were"));
            }
            for PastFileItem { path, text } in &then.files {
                let text = text.as_deref().unwrap_or("(its text is not kept)");
                let told = file.map_or(&**path, |_| text.trim_end());
                say!("{told}")?;
            }
            Ok(())
        })
    }

    async fn diff(&self, id: Option<String>) -> Result<Exit, Failure> {
        let id = if id.is_some() {
            id
        } else {
            let newest = self.route("/history", "").with("limit", 1);
            let log: HistoryData = self.api.get(newest.text()).await?;
            log.changes.into_iter().next().map(|change| change.id)
        };
        let Some(id) = id else {
            return say!("no changes recorded yet").map(|()| Exit::Ok);
        };
        let data: DiffData = self.api.get(self.route("/history/", &id).text()).await?;
        self.desk.tell(&data, || say!("{}", data.diff.trim_end()))
    }

    async fn undo(self, run_id: String) -> Result<Exit, Failure> {
        let request = UndoRequest {
            run_id,
            app_id: self.tenant.app.map(|app| app.to_string()),
            project_id: self.tenant.project.map(|project| project.to_string()),
        };
        let data: UndoData = self.api.post("/history/undo", &request).await?;
        self.desk.tell(&data, || match &data.change {
            Some(change) => show(change),
            None => say!("nothing left to undo"),
        })
    }
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

pub(super) async fn audit(desk: &Desk, api: &Api, tenant: TenantArgs) -> Result<Exit, Failure> {
    let path = Past { desk, api, tenant }.route("/audit", "");
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
            _ => "`quipu history undo RUN` undoes a run, `quipu forget` deletes a memory; or edit the file",
        };
        say!("{advice}")
    })
}

#[cfg(test)]
mod tests;
