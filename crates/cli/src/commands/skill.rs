//! `quipu skill`: an agent's skills, and their approval by a person.
//!
//! Owns: finding a skill by the name that people use. Never: creating or changing one.

use gateway::wire::{GetData, GetRequest, MemoryType, SkillItem, SortField};
use model::text::counted;
use model::{Name, Scope};
use serde_json::json;

use super::Desk;
use super::memory::word;
use crate::api::{Api, NOTHING, Path};
use crate::args::{SkillArgs, SkillCommand};
use crate::error::{Exit, Failure};
use crate::output::say;

/// Skills in one request.
const PAGE_SIZE: i64 = 100;

pub(super) async fn skill(desk: &Desk, api: &Api, args: SkillArgs) -> Result<Exit, Failure> {
    let (scope, agent) = (args.scope.scope(), args.agent);
    let skills = all(api, &scope, &agent).await?;
    let (typed, verdict) = match &args.what {
        SkillCommand::List => return list(desk, &skills, &agent),
        SkillCommand::Show(typed) => (typed, None),
        SkillCommand::Approve(typed) => (typed, Some("/approve")),
        SkillCommand::Reject(typed) => (typed, Some("/reject")),
    };
    let is_meant = |skill: &&SkillItem| {
        let whole = format!("{agent}_{}", typed.name);
        [&skill.name, &skill.id].contains(&&typed.name) || skill.id == whole
    };
    let meant: Vec<&SkillItem> = skills.iter().filter(is_meant).collect();
    let skill = match meant.as_slice() {
        [skill] => *skill,
        [] => {
            let none = Failure::missing(format!("`{agent}` has no skill `{}`", typed.name));
            return Err(none.hint("`quipu skill list` lists them"));
        }
        _ => {
            let several = Failure::usage(format!("several skills have the name `{}`", typed.name));
            return Err(several.hint("give the id of the skill"));
        }
    };
    match verdict {
        None => show(desk, skill),
        Some(verdict) => {
            let path = Path::new("/skills/", &skill.id)
                .then(verdict)
                .within(&scope.app, &scope.project)
                .with("agent_id", &agent);
            let skill: SkillItem = api.post(path.text(), &NOTHING).await?;
            desk.tell(&skill, || say!("{} is {}", skill.name, word(&skill.status)?))
        }
    }
}

/// Every skill of an agent.
async fn all(api: &Api, scope: &Scope, agent: &Name) -> Result<Vec<SkillItem>, Failure> {
    let mut skills = Vec::new();
    for page in 1.. {
        let request = GetRequest {
            agent_id: Some(agent.to_string()),
            page,
            page_size: PAGE_SIZE,
            sort_by: SortField::UpdatedAt,
            ..GetRequest::newest(MemoryType::AgentSkill).within(scope.app.as_str(), scope.project.as_str())
        };
        let listed: GetData = api.post("/memory/get", &request).await?;
        skills.extend(listed.agent_skills);
        if listed.count == 0 || skills.len() >= listed.total_count {
            break;
        }
    }
    Ok(skills)
}

fn list(desk: &Desk, skills: &[SkillItem], agent: &Name) -> Result<Exit, Failure> {
    desk.tell(&json!({"agent_skills": skills}), || {
        for skill in skills {
            let sure = skill.confidence * 100.0;
            say!("{:<8}  {sure:>3.0} %  {}", word(&skill.status)?, skill.name)?;
            say!("      {}", skill.description)?;
        }
        say!("{} of {agent}", counted(skills.len(), "skill", "skills"))
    })
}

fn show(desk: &Desk, skill: &SkillItem) -> Result<Exit, Failure> {
    desk.tell(skill, || {
        let (name, state) = (&skill.name, word(&skill.status)?);
        say!("{name} ({state})\n{}  {}\n", skill.id, skill.path)?;
        say!("{}\n\n{}", skill.description, skill.content)
    })
}
