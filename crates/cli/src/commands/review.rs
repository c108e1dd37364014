//! `quipu review`: the statements that Quipu believes about a person, one line each, and the person's verdicts.
//!
//! Owns: the questions and the letters that answer them. Never: the effect of an answer; the server has it.

use std::collections::VecDeque;
use std::io::{self, BufRead, IsTerminal};

use gateway::wire::review::{Belief, Verdict};
use gateway::wire::{AnswerData, AnswerRequest, BelievedItem, ReviewData, ReviewRequest};
use model::{Owner, text};

use super::Desk;
use super::memory::{ids, tell_if_nobody, whole_id};
use crate::api::Api;
use crate::args::{ReviewArgs, VerdictArg};
use crate::error::{Exit, Failure};
use crate::output::{date, say};

/// The meaning of the letters.
const LETTERS: &str = "  k  it is true
  w  it never was, or it is about somebody else
  g  it was said in a game or a story, as was all of that conversation
  n  it was true and is no longer
Every answer can be changed: `quipu review ID keep` brings back what you took back.";

pub(super) async fn review(desk: &Desk, api: &Api, args: ReviewArgs) -> Result<Exit, Failure> {
    let whose = Reviewing {
        desk,
        api,
        tenant: ids(&args.scope.scope()),
        owner: Owner::user(args.user),
    };
    let (Some(id), Some(verdict)) = (args.id, args.verdict) else {
        return whose.list(args.page, args.limit).await;
    };
    let verdict = model::same!(verdict, VerdictArg => Verdict: Keep, Wrong, Scene, Ended);
    let changed = whose.answer(&id, verdict).await?;
    desk.tell(&changed, || told(verdict, &changed))
}

struct Reviewing<'a> {
    desk: &'a Desk,
    api: &'a Api,
    /// App and project.
    tenant: (Option<String>, Option<String>),
    owner: Owner,
}

impl Reviewing<'_> {
    async fn shown(&self, skip: usize, limit: u8) -> Result<ReviewData, Failure> {
        let (app_id, project_id) = self.tenant.clone();
        let request = ReviewRequest {
            user_id: self.owner.id.to_string(),
            app_id,
            project_id,
            skip,
            limit: usize::from(limit),
        };
        self.api.post("/memory/review", &request).await
    }

    async fn list(&self, page: u32, limit: u8) -> Result<Exit, Failure> {
        let skip = (page as usize - 1) * usize::from(limit);
        let data = self.shown(skip, limit).await?;
        if data.total_count == 0 && !self.desk.json {
            tell_if_nobody(self.api, &self.owner).await?;
        }
        if !self.desk.json && io::stdin().is_terminal() && io::stdout().is_terminal() {
            return self.ask(data, skip, limit).await;
        }
        self.desk.tell(&data, || {
            for one in &data.statements {
                let (belief, day) = (one.belief.as_str(), date(&one.timestamp));
                let text = model::one_line(&one.text);
                let chat = one.session_id.as_deref().unwrap_or("no conversation");
                say!("{belief:<9}  {day}  {}  {chat}\n           {text}", one.id)?;
            }
            let (count, total) = (data.statements.len(), data.total_count);
            if skip + count < total {
                say!("`quipu review --page {}` shows more", page + 1)?;
            }
            say!("{count} of {total} statements; `quipu review ID keep`, `wrong`, `scene` or `ended` answers one")
        })
    }

    /// Asks a person about one statement after another, until none is left, or until `q`.
    async fn ask(&self, data: ReviewData, skip: usize, limit: u8) -> Result<Exit, Failure> {
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
                    Some("g" | "game" | "scene") if self.agrees(&one, &mut lines).await? => {
                        Some(Verdict::Scene)
                    }
                    Some("g" | "game" | "scene") => continue,
                    Some("n" | "no longer" | "ended") => Some(Verdict::Ended),
                    Some(_) => {
                        say!("{LETTERS}")?;
                        continue;
                    }
                };
            };
            if let Some(verdict) = verdict {
                told(verdict, &self.answer(&one.id, verdict).await?)?;
                // An answer may change other statements, too.
                let now = self.shown(skip, limit).await?.statements;
                left.retain(|one| now.iter().any(|other| other.id == one.id));
            }
        }
        say!("nothing more to ask").map(|()| Exit::Ok)
    }

    /// Shows the other statements of the conversation, which the verdict on a game removes too, and asks.
    async fn agrees(
        &self,
        one: &BelievedItem,
        lines: &mut impl Iterator<Item = io::Result<String>>,
    ) -> Result<bool, Failure> {
        const EVERY: u8 = 100;
        let mut beside = Vec::new();
        for page in 0.. {
            let data = self.shown(page * usize::from(EVERY), EVERY).await?;
            let is_last = data.statements.len() < usize::from(EVERY);
            beside.extend(data.statements.into_iter().filter(|other| {
                let is_same = other.session_id.is_some() && other.session_id == one.session_id;
                is_same && other.id != one.id && other.belief != Belief::Withdrawn
            }));
            if is_last {
                break;
            }
        }
        if beside.is_empty() {
            return Ok(true);
        }
        say!("this goes with it, as it was said in the same conversation:")?;
        for other in beside {
            say!("  {}", model::one_line(&other.text))?;
        }
        say!("take all of it back? [y/N]")?;
        let typed = lines.next().transpose()?;
        Ok(matches!(typed.as_deref().map(str::trim), Some("y" | "yes")))
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

fn told(verdict: Verdict, changed: &AnswerData) -> Result<(), Failure> {
    let answered = match verdict {
        Verdict::Keep => "true",
        Verdict::Wrong => "taken back",
        Verdict::Scene => "taken back, as of a scene",
        Verdict::Ended => "no longer so",
    };
    for statement in &changed.statements {
        say!("{answered}: {}", model::one_line(statement))?;
    }
    if changed.statements.is_empty() {
        say!("nothing changed")?;
    }
    if changed.derived > 0 {
        let made = text::counted(changed.derived, "memory", "memories");
        say!("{made} made of it went with it")?;
    }
    if verdict == Verdict::Scene && changed.statements.len() > 1 {
        say!("what of it is true: `quipu review` lists it, and `quipu review ID keep` brings it back")?;
    }
    Ok(())
}
