//! `quipu review`: what Quipu believes of a person, a line each, and the person's word on it.
//!
//! Owns: the questions and the letters that answer them. Never: what an answer does; the server does it.

use std::collections::VecDeque;
use std::io::{self, BufRead, IsTerminal};

use gateway::wire::review::{Belief, Verdict};
use gateway::wire::{AnswerData, AnswerRequest, BelievedItem, ReviewData, ReviewRequest};
use model::{Owner, text};

use super::memory::{ids, tell_if_nobody, whole_id};
use super::{Desk, name, scope};
use crate::api::Api;
use crate::args::{ReviewArgs, VerdictArg};
use crate::error::{Exit, Failure};
use crate::output::{date, say};

/// What the letters mean.
const LETTERS: &str = "  k  it is true
  w  it never was, or it is about somebody else
  g  it was said in a game or a story, as was all of that conversation
  n  it was true and is no longer
Every answer can be changed: `quipu review ID keep` brings back what you took back.";

pub(super) async fn review(desk: &Desk, api: &Api, args: ReviewArgs) -> Result<Exit, Failure> {
    let whose = Reviewing {
        desk,
        api,
        tenant: ids(&scope(&args.scope)?),
        owner: Owner::user(name("--user", &args.user)?),
    };
    let (Some(id), Some(verdict)) = (args.id, args.verdict) else {
        return whose.list(args.limit).await;
    };
    let verdict = model::same!(verdict, VerdictArg => Verdict: Keep, Wrong, Scene, Ended);
    let changed = whose.answer(&id, verdict).await?;
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
    async fn shown(&self, limit: u8) -> Result<ReviewData, Failure> {
        let (app_id, project_id) = self.tenant.clone();
        let request = ReviewRequest {
            user_id: self.owner.id.to_string(),
            app_id,
            project_id,
            skip: 0,
            limit: usize::from(limit),
        };
        self.api.post("/memory/review", &request).await
    }

    async fn list(&self, limit: u8) -> Result<Exit, Failure> {
        let data = self.shown(limit).await?;
        if data.total_count == 0 && !self.desk.json {
            tell_if_nobody(self.api, &self.owner).await?;
        }
        if !self.desk.json && io::stdin().is_terminal() && io::stdout().is_terminal() {
            return self.ask(data, limit).await;
        }
        self.desk.tell(&data, || {
            for one in &data.statements {
                let (belief, day, text) = (
                    one.belief.as_str(),
                    date(&one.timestamp),
                    model::one_line(&one.text),
                );
                say!("{belief:<9}  {day}  {}\n           {text}", one.id)?;
            }
            say!(
                "{} of {} statements; `quipu review ID keep`, `wrong`, `scene` or `ended` answers one",
                data.statements.len(),
                data.total_count
            )
        })
    }

    /// Asks a person about one statement after the other, until there is no more, or `q`.
    async fn ask(&self, data: ReviewData, limit: u8) -> Result<Exit, Failure> {
        let mut left: VecDeque<BelievedItem> = data.statements.into();
        left.retain(|one| matches!(one.belief, Belief::Fact | Belief::Again | Belief::Doubt));
        let mut lines = io::stdin().lock().lines();
        while let Some(one) = left.pop_front() {
            let what = match one.belief {
                Belief::Again => "said again after you took it back",
                Belief::Doubt => "in doubt, perhaps somebody else's words",
                _ => "fact",
            };
            let (day, text) = (date(&one.timestamp), model::one_line(&one.text));
            say!("\n{what}, {day}, {} more:\n  {text}", left.len())?;
            let verdict = loop {
                say!("[k]eep, [w]rong, a [g]ame, [n]o longer, [s]kip, [q]uit, [?]")?;
                let typed = lines.next().transpose()?;
                break match typed.as_deref().map(str::trim) {
                    None | Some("q" | "quit") => return Ok(Exit::Ok),
                    Some("s" | "skip" | "") => None,
                    Some("k" | "keep") => Some(Verdict::Keep),
                    Some("w" | "wrong") => Some(Verdict::Wrong),
                    Some("g" | "game" | "scene") => Some(Verdict::Scene),
                    Some("n" | "no longer" | "ended") => Some(Verdict::Ended),
                    Some(_) => {
                        say!("{LETTERS}")?;
                        continue;
                    }
                };
            };
            if let Some(verdict) = verdict {
                told(self.answer(&one.id, verdict).await?)?;
                // An answer may be about others of them, too.
                let now = self.shown(limit).await?.statements;
                left.retain(|one| now.iter().any(|other| other.id == one.id));
            }
        }
        say!("nothing more to ask").map(|()| Exit::Ok)
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

fn told(changed: AnswerData) -> Result<(), Failure> {
    let facts = text::counted(changed.facts, "fact", "facts");
    let made = text::counted(changed.derived, "memory", "memories");
    match changed.derived {
        0 => say!("{facts} changed"),
        _ => say!("{facts} changed; {made} made of it went with it"),
    }
}
