//! An agent's approved skills, as the protocol's skills.
//!
//! Owns: `SKILL.md` in the form that clients read, and its address. Never: a draft; a person must approve it first.

use gateway::wire::{GetData, GetRequest, MemoryType, SkillItem, SkillState};
use model::percent_encoded;
use rmcp::model::{
    ReadResourceResult, Resource, ResourceContents, Skill, SkillFrontmatter, SkillResource, SkillResources,
};
use serde_json::Value;

use crate::api::{MemoryApi, ToolRefusal};
use crate::door::Door;

/// The agent with the skills, the default of `quipu skill` without `--agent` too.
const AGENT: &str = "assistant";
/// Maximum number of skills that are requested.
const SKILLS_MAX: i64 = 100;
const MARKDOWN: &str = "text/markdown";

/// A skill with the text of its file.
#[derive(Debug)]
pub(crate) struct ServedSkill {
    name: String,
    description: String,
    text: String,
}

/// The approved skills, by name. None for a caller that may see only one user's memory.
pub(crate) async fn all<A: MemoryApi>(door: &Door<A>) -> Result<Vec<ServedSkill>, ToolRefusal> {
    let request = GetRequest {
        agent_id: Some(AGENT.to_owned()),
        page_size: SKILLS_MAX,
        ..GetRequest::newest(MemoryType::AgentSkill).within(&door.owner.app, &door.owner.project)
    };
    let data: GetData = match door.post("/memory/get", &request).await {
        Err(refused) if refused.status == Some(403) => return Ok(Vec::new()),
        answer => answer?,
    };
    let approved = data
        .agent_skills
        .iter()
        .filter(|skill| skill.status == SkillState::Approved);
    let mut skills: Vec<ServedSkill> = approved.map(ServedSkill::of).collect();
    skills.retain(|skill| skill.entry().validate().is_ok());
    skills.sort_by(|a, b| a.name.cmp(&b.name));
    skills.dedup_by(|a, b| a.name == b.name);
    Ok(skills)
}

impl ServedSkill {
    fn of(skill: &SkillItem) -> Self {
        let (name, description) = (skill.name.clone(), skill.description.clone());
        // YAML accepts a JSON string.
        let (quoted_name, quoted) = (Value::from(name.as_str()), Value::from(description.as_str()));
        Self {
            text: format!(
                "---\nname: {quoted_name}\ndescription: {quoted}\n---\n\n{}\n",
                skill.content.trim()
            ),
            name,
            description,
        }
    }

    pub(crate) fn uri(&self) -> String {
        format!("skill://{}/SKILL.md", percent_encoded(&self.name))
    }

    /// The skill as the protocol lists it.
    pub(crate) fn entry(&self) -> Skill {
        let file = SkillResource::from_bytes(self.uri(), self.text.as_bytes());
        let front = SkillFrontmatter::new(self.name.clone(), self.description.clone());
        Skill::new(self.uri(), front, SkillResources::Files(vec![file]))
    }

    pub(crate) fn resource(&self) -> Resource {
        Resource::new(self.uri(), self.name.clone())
            .with_description(self.description.clone())
            .with_mime_type(MARKDOWN)
    }

    pub(crate) fn read(&self) -> ReadResourceResult {
        let contents = ResourceContents::text(self.text.clone(), self.uri()).with_mime_type(MARKDOWN);
        ReadResourceResult::new(vec![contents])
    }
}
