//! Agent skills: read, approve, reject.
//!
//! Owns: the view. Never: a verdict without a person.

use askama::Template;
use axum::Form;
use axum::response::Response;
use gateway::ApiError;
use gateway::wire::{GetData, GetRequest, MemoryType, SkillItem, SkillState};
use serde::Deserialize;

use crate::cards::percent;
use crate::frame::{PageFrame, Problem, html};
use crate::visit::Visit;
use crate::words;

#[derive(Template)]
#[template(path = "skills.html")]
struct SkillsView {
    frame: PageFrame,
    /// Skills of every agent that the visitor sees, drafts first.
    skills: Vec<SkillItem>,
}

impl SkillsView {
    fn percent(skill: &SkillItem) -> u32 {
        percent(skill.confidence)
    }
}

pub(crate) async fn page(visit: Visit) -> Result<Response, Problem> {
    Ok(html(&view(&visit, None).await?))
}

async fn view(visit: &Visit, notice: Option<String>) -> Result<SkillsView, ApiError> {
    let mut skills = Vec::new();
    for agent in visit.people.iter().filter(|owner| owner.kind == "agent") {
        let request = GetRequest {
            agent_id: Some(agent.id.clone()),
            page_size: 100,
            ..GetRequest::newest(MemoryType::AgentSkill).within(&agent.app_id, &agent.project_id)
        };
        let data: GetData = visit.api.post_data("/memory/get", &request).await?;
        skills.extend(data.agent_skills);
    }
    skills.sort_by_key(|skill| skill.status as u8);
    Ok(SkillsView {
        frame: PageFrame::new(visit, "/page/skills", "Skills").with_notice(notice),
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

pub(crate) async fn judge(visit: Visit, Form(judgement): Form<Judgement>) -> Result<Response, Problem> {
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
    let skill: SkillItem = visit.api.post_data(&route, &()).await?;
    let notice = match skill.status {
        SkillState::Approved => format!("Approved: agents get \u{201c}{}\u{201d} from now on.", skill.name),
        _ => format!("Rejected: no agent gets \u{201c}{}\u{201d}.", skill.name),
    };
    Ok(html(&view(&visit, Some(notice)).await?))
}
