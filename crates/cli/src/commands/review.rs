//! `quipu review`: what Quipu believes of a person, a line each, and the person's word on it.
//!
//! Owns: the questions and the letters that answer them. Never: what an answer does; the server does it.

use std::io::{self, BufRead, IsTerminal};

use model::Owner;
use wire::review::{Belief, Verdict};
use wire::{AnswerData, AnswerRequest, BelievedItem, ReviewData, ReviewRequest};

use super::memory::{ids, whole_id};
use super::{Desk, owner, scope};
use crate::api::Api;
use crate::args::{ReviewArgs, VerdictArg};
use crate::error::{Exit, Failure};
use crate::output::{self, date, say};

/// What a person types for an answer.
const LETTERS: [(&str, Verdict); 4] = [
    ("k", Verdict::Keep),
    ("w", Verdict::Wrong),
    ("g", Verdict::Scene),
    ("n", Verdict::Ended),
];

pub(super) async fn review(desk: &Desk, api: &Api, args: ReviewArgs) -> Result<Exit, Failure> {
    let whose = Reviewing {
        desk,
        api,
        tenant: ids(&scope(&args.whose.scope)?),
        owner: owner(&args.whose)?,
    };
    let (Some(id), Some(verdict)) = (args.id, args.verdict) else {
        return whose.list(args.limit).await;
    };
    let changed = whose
        .answer(
            &id,
            text::same!(verdict, VerdictArg => Verdict: Keep, Wrong, Scene, Ended),
        )
        .await?;
    desk.tell(&changed, || told(changed))
}

struct Reviewing<'a> {
    desk: &'a Desk,
    api: &'a Api,
    /// App and project.
    tenant: (Option<String>, Option<String>),
    owner: Owner,
}

impl Reviewing<'_> {
    async fn list(&self, limit: u8) -> Result<Exit, Failure> {
        let (app_id, project_id) = self.tenant.clone();
        let request = ReviewRequest {
            user_id: self.owner.id.to_string(),
            app_id,
            project_id,
            skip: 0,
            limit: usize::from(limit),
        };
        let data: ReviewData = self.api.post("/memory/review", &request).await?;
        if self.desk.json {
            output::json(&data)?;
            return Ok(Exit::Ok);
        }
        let open = data.open_count.min(data.statements.len());
        let asks = io::stdin().is_terminal() && io::stdout().is_terminal();
        if asks {
            return self.ask(&data.statements[..open], data.open_count).await;
        }
        for one in &data.statements {
            say!(
                "{:<9}  {}  {}\n           {}",
                one.belief.as_str(),
                date(&one.timestamp),
                one.id,
                line(one)
            )?;
        }
        say!(
            "{} of {} statements; `quipu review ID keep`, `wrong`, `scene` or `ended` answers one",
            data.statements.len(),
            data.total_count
        )?;
        Ok(Exit::Ok)
    }

    /// Asks a person about one statement after the other, until there is no more, or `q`.
    async fn ask(&self, statements: &[BelievedItem], open: usize) -> Result<Exit, Failure> {
        let mut lines = io::stdin().lock().lines();
        for (at, one) in statements.iter().enumerate() {
            let whose = if one.belief == Belief::Doubt {
                " Your words?"
            } else {
                ""
            };
            say!(
                "\n{} of {open}, said on {}:\n  {}",
                at + 1,
                date(&one.timestamp),
                line(one)
            )?;
            loop {
                say!("{whose} [k]eep, [w]rong, a [g]ame, [n]o longer, [s]kip, [q]uit?")?;
                let typed = lines.next().transpose().map_err(anyhow::Error::from)?;
                match typed.as_deref().map(str::trim) {
                    None | Some("q") => return Ok(Exit::Ok),
                    Some("s" | "") => break,
                    Some(letter) => {
                        let Some((_, verdict)) = LETTERS.iter().find(|(known, _)| *known == letter) else {
                            continue;
                        };
                        told(self.answer(&one.id, *verdict).await?)?;
                        break;
                    }
                }
            }
        }
        say!("nothing more to ask")?;
        Ok(Exit::Ok)
    }

    async fn answer(&self, id: &str, verdict: Verdict) -> Result<AnswerData, Failure> {
        let (app_id, project_id) = self.tenant.clone();
        let request = AnswerRequest {
            user_id: self.owner.id.to_string(),
            app_id,
            project_id,
            id: whole_id(&self.owner, id),
            verdict,
        };
        self.api.post("/memory/answer", &request).await
    }
}

fn line(one: &BelievedItem) -> String {
    model::one_line(&one.text)
}

fn told(changed: AnswerData) -> Result<(), Failure> {
    let facts = text::counted(changed.facts, "fact", "facts");
    match changed.derived {
        0 => say!("{facts} changed"),
        derived => say!("{facts} changed, and {derived} made of them went"),
    }
}
