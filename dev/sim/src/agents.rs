//! Agents that work with tools, the cases and skills that come of it, and people's judgement of the skills.
//!
//! Owns: the agents' sessions, judging and editing a skill, the invariants of cases and skills. Never:
//! sending messages.

use std::collections::{BTreeMap, BTreeSet};

use memory::{Add, EditEntry};
use model::{Cell, Entry, EntryId, EntryKind, Owner, Role, SkillStatus, ToolCall};
use ports::{Clock as _, NewMessage, VaultPath};

use crate::book::{ClientMessage, Fate, Judged, Key, Place, Talk, name, word};
use crate::hands::session_of;
use crate::says::{MINUTE_MILLIS, spoken};
use crate::steps::{Promise, Run, Step};
use crate::world::Held;

const AGENTS: [&str; 2] = ["coder", "tester"];
/// Sender of tool results.
const TOOL: &str = "shell";

/// A line of a session: role, text with a place for its word, and arguments of the tool call, if any.
type Line = (Role, &'static str, Option<&'static str>);

impl Run {
    /// A user gives an agent a task, and the agent works on it with tools.
    pub(crate) fn working(&mut self) -> Promise {
        let key = self.session();
        let mut users = self.users(&key);
        if users.is_empty() {
            users.push(self.somebody());
        }
        let user = self.dice.pick(&users).expect("there is one");
        let agent = name(self.dice.pick(&AGENTS).expect("there are some"));
        self.book.works(&key, Owner::agent(agent.clone()));
        let mut time = self.world.clock.now();
        let (mut messages, mut said, mut call) = (Vec::new(), Vec::new(), None);
        for (role, text, command) in self.lines() {
            time = time.plus_millis(MINUTE_MILLIS / 10);
            let number = self.book.new_word();
            let it = word(number);
            let sent = self.book.sends(ClientMessage {
                session: key.clone(),
                word: number,
                talk: Talk::Small,
                user: (role == Role::User).then(|| user.clone()),
                time,
                has_id: true,
                fate: Fate::Unsure,
                untold: false,
            });
            said.push(sent);
            let sender = match role {
                Role::User => user.id.clone(),
                Role::Assistant => agent.clone(),
                Role::Tool => name(TOOL),
            };
            let mut message = spoken(&key, sender, role, time, text.replace("{}", &it));
            message.tool_call_id = call.take();
            if let Some(command) = command {
                let id = format!("call{sent}");
                message.tool_calls.push(ToolCall {
                    id: id.clone(),
                    name: "run".to_owned(),
                    arguments: format!(r#"{{"command":"{}"}}"#, command.replace("{}", &it)),
                });
                call = Some(id);
            }
            messages.push(NewMessage {
                accept_forgotten: false,
                log_of: None,
                repeat_key: None,
                message,
                client_id: Some(format!("c{sent}")),
            });
        }
        let add = Add {
            title: None,
            session: key,
            messages,
            defer_extraction: self.dice.percent(15),
            task: self.task(),
        };
        Promise::Add(add, said, self.dice.percent(8))
    }

    fn lines(&self) -> Vec<Line> {
        let mut lines: Vec<Line> = vec![(Role::User, "Please deploy the {} service to staging.", None)];
        // At most four calls, so all fit into one memcell.
        for _ in 0..=self.dice.below(3) {
            lines.push((Role::Assistant, "Now the {}.", Some("deploy {} --env staging")));
            let result = self
                .dice
                .weighed(&[(3, "The {} is done."), (1, r#"{"error": "no {} here"}"#)]);
            lines.push((Role::Tool, result, None));
        }
        let end = self.dice.weighed(&[
            (3, "Great, thanks for the {}!"),
            (1, "No, not the {}."),
            (1, "And the {}?"),
        ]);
        lines.push((Role::User, end, None));
        lines
    }

    /// A person approves or rejects a skill, or adds a line to it.
    pub(crate) async fn judge(&mut self, step: Step) -> Held {
        let Some((path, skill)) = self.skill(None).await? else {
            return Ok(());
        };
        let key = (skill.scope.clone(), skill.owner.clone(), skill.id.clone());
        let before = self.book.judged.remove(&key).map(|judged| judged.status);
        self.book.adopts(&skill);
        let engine = self.engine();
        let status = if step == Step::Judge {
            let both = [SkillStatus::Approved, SkillStatus::Rejected];
            let status = self.dice.pick(&both).expect("there are some");
            self.note(format_args!("{status:?} is {}", skill.id));
            let judged = engine.judge(&skill.scope, &skill.owner, &skill.id, status);
            let judged = self.world.drive(judged).await?;
            self.heard(judged)?.map(|()| status)
        } else {
            let number = self.book.new_word();
            let text = format!("- Never touch the {}.", word(number));
            let owner = (skill.scope.clone(), skill.owner.clone());
            self.wrote(owner, path, Place::Skill, text.clone(), number);
            let at = self.book.written.len() - 1;
            self.book.written[at].fate = Fate::Unsure;
            let edit = EditEntry {
                scope: skill.scope.clone(),
                owner: skill.owner.clone(),
                id: skill.id.clone(),
                subject: None,
                summary: None,
                body: Some(format!("{}\n{text}", skill.body)),
                project_only: None,
            };
            let edited = self.world.drive(engine.edit(edit)).await?;
            if self.heard(edited)?.is_some() {
                self.book.written[at].fate = Fate::Kept(());
                before
            } else {
                None
            }
        };
        if let Some(status) = status
            && let Some((_, skill)) = self.skill(Some(&skill.id)).await?
        {
            self.book.judged.insert(key, Judged { status, skill });
        }
        Ok(())
    }

    /// A skill with its file: the skill with this id, or any.
    async fn skill(&mut self, id: Option<&EntryId>) -> Held<Option<(VaultPath, Entry)>> {
        let entries = self.entries().await?.into_iter();
        let is_it = |entry: &Entry| entry.kind == EntryKind::Skill && id.is_none_or(|id| entry.id == *id);
        let skills: Vec<_> = entries.filter(|(_, entry)| is_it(entry)).collect();
        Ok(self.dice.pick(&skills))
    }

    /// Checks that each trajectory worth a case has one and that no other case exists. A skill must have its
    /// cases and keep the state in which a person judged it.
    pub(crate) fn check_agents(&self, cells: &[Cell], entries: &[(VaultPath, Entry)]) -> Held {
        let keys = |(_, entry): &(VaultPath, Entry)| {
            let key = (entry.scope.clone(), entry.owner.clone(), entry.id.clone());
            (key, entry.clone())
        };
        let standing: BTreeMap<_, Entry> = entries.iter().map(keys).collect();
        let mut worth = BTreeSet::new();
        for cell in cells {
            let id = case_of(cell);
            for work in extract::skills::trajectories(cell) {
                let key = (
                    cell.session.scope.clone(),
                    Owner::agent(work.agent.clone()),
                    id.clone(),
                );
                if extract::skills::case(&work).is_none() {
                    continue;
                }
                let is_told = standing.contains_key(&key) || self.book.taken.contains(&id);
                if !is_told && !self.is_parted(&cell.session) {
                    return Err(format!("a run was lost: {key:?} is not told"));
                }
                worth.insert(key);
            }
        }
        for (key, entry) in &standing {
            let cases = |skill: &Entry| {
                let (scope, owner, _) = key.clone();
                let cases = skill.sources.iter();
                let keys = cases.map(|case| EntryId::new(case.as_str()));
                keys.map(|id| standing.contains_key(&(scope.clone(), owner.clone(), id)))
                    .collect::<Vec<bool>>()
            };
            let is_right = match entry.kind {
                EntryKind::Case => worth.contains(key) || self.is_parted(&session_of(entry)),
                EntryKind::Skill if SkillStatus::of(&entry.labels) == SkillStatus::Draft => {
                    cases(entry).into_iter().all(|stands| stands)
                }
                EntryKind::Skill => cases(entry).contains(&true),
                _ => true,
            };
            if !is_right {
                return Err(format!("{key:?} tells of what is not there: {entry:?}"));
            }
        }
        self.check_judged(&standing)
    }

    fn check_judged(&self, standing: &BTreeMap<Key, Entry>) -> Held {
        for (key, Judged { status, skill }) in &self.book.judged {
            let (scope, owner, _) = key;
            let is_right = match standing.get(key) {
                Some(now) => {
                    SkillStatus::of(&now.labels) == *status
                        && (&now.subject, &now.summary, &now.body)
                            == (&skill.subject, &skill.summary, &skill.body)
                }
                None => !skill.sources.iter().any(|case| {
                    let case = EntryId::new(case.as_str());
                    standing.contains_key(&(scope.clone(), owner.clone(), case))
                }),
            };
            if !is_right {
                return Err(format!(
                    "{key:?} was {status:?} and is {:?}, not {skill:?}",
                    standing.get(key)
                ));
            }
        }
        Ok(())
    }
}

/// The id of a memcell's case.
fn case_of(cell: &Cell) -> EntryId {
    let suffix = cell.id.as_str().trim_start_matches("mc_");
    EntryId::new(format!("{}_{suffix}", EntryKind::Case.prefix()))
}
