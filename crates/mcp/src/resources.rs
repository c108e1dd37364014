//! Resources that a person can attach in a client: core memory, the profile, the files of a day, single memories,
//! approved skills.
//!
//! Owns: their addresses. Never: text without the marks of data. Skills are the exception: a person approved them.

use gateway::wire::{ContextData, ContextRequest};
use rmcp::model::{ReadResourceResult, Resource, ResourceContents, ResourceTemplate};

use crate::api::{MemoryApi, ToolRefusal};
use crate::door::Door;
use crate::tools::find;
use crate::{render, skills};

const CORE: &str = "quipu://core";
/// Token budget of the request for core memory.
const CORE_TOKENS: u32 = 8_000;
const PROFILE: &str = "quipu://profile";
const MEMORY: &str = "quipu://memory/";
const DAY: &str = "quipu://day/";
const MARKDOWN: &str = "text/markdown";

/// Resources without an id: core memory, the profile, the latest days and the skills.
pub(crate) async fn list<A: MemoryApi>(door: &Door<A>) -> Result<Vec<Resource>, ToolRefusal> {
    let core = Resource::new(CORE, "core")
        .with_title("Core memory")
        .with_description("MEMORY.md, USER.md and SOUL.md, and what was spoken of lately")
        .with_mime_type(MARKDOWN);
    let profile = Resource::new(PROFILE, "profile")
        .with_title("About me")
        .with_description("What memory knows about the user, and events ahead")
        .with_mime_type(MARKDOWN);
    let days = find::days(door).await;
    let days = days.iter().map(|day| {
        Resource::new(format!("{DAY}{day}"), day)
            .with_title(format!("Memories of {day}"))
            .with_mime_type(MARKDOWN)
    });
    let skills = skills::all(door).await?;
    let skills = skills.iter().map(skills::ServedSkill::resource);
    Ok([core, profile].into_iter().chain(days).chain(skills).collect())
}

/// Address templates of the resources with an id.
pub(crate) fn templates() -> Vec<ResourceTemplate> {
    let memory = ResourceTemplate::new(format!("{MEMORY}{{id}}"), "memory")
        .with_title("A memory")
        .with_description("One memory in full, by an id of a search")
        .with_mime_type(MARKDOWN);
    let day = ResourceTemplate::new(format!("{DAY}{{date}}"), "day")
        .with_title("A day")
        .with_description("What memory's files have of a day, such as 2026-11-25: conversations and facts")
        .with_mime_type(MARKDOWN);
    vec![memory, day]
}

/// The text at an address; none if no resource has the address.
pub(crate) async fn read<A: MemoryApi>(
    door: &Door<A>,
    uri: &str,
) -> Result<Option<ReadResourceResult>, ToolRefusal> {
    let text = if uri == CORE {
        core(door).await?
    } else if uri == PROFILE {
        render::text(&find::about_user(door).await?)
    } else if let Some(id) = uri.strip_prefix(MEMORY) {
        render::text(&[find::one(door, id).await?])
    } else if let Some(day) = uri.strip_prefix(DAY) {
        render::text(&find::of_day(door, day).await?)
    } else {
        let skills = skills::all(door).await?;
        let found = skills.iter().find(|skill| skill.uri() == uri);
        return Ok(found.map(skills::ServedSkill::read));
    };
    let contents = ResourceContents::text(text, uri).with_mime_type(MARKDOWN);
    Ok(Some(ReadResourceResult::new(vec![contents])))
}

/// The context that a session begins with; the API has marked it as data.
async fn core<A: MemoryApi>(door: &Door<A>) -> Result<String, ToolRefusal> {
    let request = ContextRequest {
        user_id: door.owner.user()?.to_owned(),
        include_person: true,
        max_tokens: CORE_TOKENS,
        ..ContextRequest::default().within(&door.owner.app, &door.owner.project)
    };
    let data: ContextData = door.post("/memory/context", &request).await?;
    Ok(if data.context.is_empty() {
        render::NOTHING.to_owned()
    } else {
        data.context
    })
}

#[cfg(test)]
mod tests;
