//! Agent skills: read, approve, reject.
//!
//! Owns: the view. Never: judging by itself.

use askama::Template;
use axum::Form;
use axum::response::Response;
use serde::Deserialize;
use wire::{GetData, GetRequest, MemoryType, SkillItem, SkillState};

use crate::around::{Around, Nav, Problem, html};
use crate::cards::percent;
use crate::guest::Guest;
use crate::words;
use gateway::ApiError;

struct SkillCard {
    id: String,
    agent: String,
    tenant: String,
    name: String,
    description: String,
    content: String,
    percent: u32,
    cases: String,
    state: SkillState,
}

impl SkillCard {
    fn is_draft(&self) -> bool {
        self.state == SkillState::Draft
    }

    fn state(&self) -> (&'static str, &'static str) {
        match self.state {
            SkillState::Draft => ("Waits for you", "warn"),
            SkillState::Approved => ("Approved", "good"),
            SkillState::Rejected => ("Rejected", "quiet"),
        }
    }
}

#[derive(Template)]
#[template(path = "skills.html")]
struct SkillsView {
    around: Around,
    skills: Vec<SkillCard>,
}

pub(crate) async fn page(guest: Guest) -> Result<Response, Problem> {
    Ok(html(&view(&guest, None).await?))
}

/// Skills of every agent that the visitor sees, drafts first.
async fn view(guest: &Guest, notice: Option<String>) -> Result<SkillsView, ApiError> {
    let mut skills = Vec::new();
    for agent in guest.people.iter().filter(|owner| owner.kind == "agent") {
        let request = GetRequest {
            agent_id: Some(agent.id.clone()),
            page_size: 100,
            ..GetRequest::newest(MemoryType::AgentSkill).within(&agent.app_id, &agent.project_id)
        };
        let data: GetData = guest.api.post_data("/memory/get", &request).await?;
        skills.extend(data.agent_skills.into_iter().map(SkillCard::of));
    }
    skills.sort_by_key(|skill| match skill.state {
        SkillState::Draft => 0,
        SkillState::Approved => 1,
        SkillState::Rejected => 2,
    });
    let around = Around::new(guest, Nav::Skills, "Skills");
    Ok(SkillsView {
        around: match notice {
            Some(notice) => around.with_notice(notice),
            None => around,
        },
        skills,
    })
}

impl SkillCard {
    fn of(skill: SkillItem) -> Self {
        Self {
            tenant: format!(
                "app_id={}&project_id={}&agent_id={}",
                words::encoded(&skill.app_id),
                words::encoded(&skill.project_id),
                words::encoded(&skill.agent_id)
            ),
            cases: words::count(skill.source_case_ids.len(), "case", "cases"),
            percent: percent(skill.confidence),
            id: skill.id,
            agent: skill.agent_id,
            name: skill.name,
            description: skill.description,
            content: skill.content,
            state: skill.status,
        }
    }
}

#[derive(Deserialize)]
pub(crate) struct Judgement {
    id: String,
    tenant: String,
    verdict: String,
}

pub(crate) async fn judge(guest: Guest, Form(judgement): Form<Judgement>) -> Result<Response, Problem> {
    let verdict = match &*judgement.verdict {
        "approve" => "approve",
        "reject" => "reject",
        _ => return Err(ApiError::refused(422, "a skill is approved or rejected").into()),
    };
    let is_plain = |text: &str| {
        text.bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"=&_.%+-@".contains(&byte))
    };
    if !is_plain(&judgement.tenant) {
        return Err(ApiError::refused(422, "the form was changed").into());
    }
    let route = format!(
        "/skills/{}/{verdict}?{}",
        words::encoded(&judgement.id),
        judgement.tenant
    );
    let skill: SkillItem = guest.api.post_data(&route, &()).await?;
    let notice = match skill.status {
        SkillState::Approved => format!("Approved: agents get \u{201c}{}\u{201d} from now on.", skill.name),
        _ => format!("Rejected: no agent gets \u{201c}{}\u{201d}.", skill.name),
    };
    Ok(html(&view(&guest, Some(notice)).await?))
}
