//! Agent skills: read, approve, reject.
//!
//! Owns: the view. Never: a verdict without a person.

use askama::Template;
use axum::Form;
use axum::response::Response;
use gateway::ApiError;
use gateway::wire::{GetData, GetRequest, MemoryType, SkillItem, SkillState};
use serde::Deserialize;

use crate::around::{Around, Problem, html};
use crate::cards::percent;
use crate::guest::Guest;
use crate::words;

#[derive(Template)]
#[template(path = "skills.html")]
struct SkillsView {
    around: Around,
    /// Skills of every agent that the visitor sees, drafts first.
    skills: Vec<SkillItem>,
}

impl SkillsView {
    fn percent(skill: &SkillItem) -> u32 {
        percent(skill.confidence)
    }
}

pub(crate) async fn page(guest: Guest) -> Result<Response, Problem> {
    Ok(html(&view(&guest, None).await?))
}

async fn view(guest: &Guest, notice: Option<String>) -> Result<SkillsView, ApiError> {
    let mut skills = Vec::new();
    for agent in guest.people.iter().filter(|owner| owner.kind == "agent") {
        let request = GetRequest {
            agent_id: Some(agent.id.clone()),
            page_size: 100,
            ..GetRequest::newest(MemoryType::AgentSkill).within(&agent.app_id, &agent.project_id)
        };
        let data: GetData = guest.api.post_data("/memory/get", &request).await?;
        skills.extend(data.agent_skills);
    }
    skills.sort_by_key(|skill| skill.status as u8);
    Ok(SkillsView {
        around: Around::new(guest, "/page/skills", "Skills").with_notice(notice),
        skills,
    })
}

#[derive(Deserialize)]
pub(crate) struct Judgement {
    id: String,
    app_id: String,
    project_id: String,
    agent_id: String,
    verdict: String,
}

pub(crate) async fn judge(guest: Guest, Form(judgement): Form<Judgement>) -> Result<Response, Problem> {
    if !matches!(&*judgement.verdict, "approve" | "reject") {
        return Err(ApiError::refused(422, "a skill is approved or rejected").into());
    }
    let (id, agent) = (words::encoded(&judgement.id), words::encoded(&judgement.agent_id));
    let route = words::with_query(
        format!("/skills/{id}/{}?agent_id={agent}", judgement.verdict),
        &[
            ("app_id", &judgement.app_id),
            ("project_id", &judgement.project_id),
        ],
    );
    let skill: SkillItem = guest.api.post_data(&route, &()).await?;
    let notice = match skill.status {
        SkillState::Approved => format!("Approved: agents get \u{201c}{}\u{201d} from now on.", skill.name),
        _ => format!("Rejected: no agent gets \u{201c}{}\u{201d}.", skill.name),
    };
    Ok(html(&view(&guest, Some(notice)).await?))
}
