//! The tools that write: `remember`, `update`, `forget`.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use gateway::wire::forget::IDS_MAX;
use gateway::wire::message::MessageRole;
use gateway::wire::review::Verdict;
use gateway::wire::{
    AddData, AddRequest, AnswerData, AnswerRequest, DeleteByIdsData, DeleteByIdsRequest, EditData,
    EditRequest, MessageItem,
};
use rmcp::model::JsonObject;
use serde::Deserialize;
use serde_json::json;

use super::{ToolAnswer, arguments, find};
use crate::api::{MemoryApi, ToolRefusal};
use crate::door::Door;
use crate::render;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RememberArguments {
    text: String,
    session: Option<String>,
}

pub(super) async fn remember<A: MemoryApi>(door: &Door<A>, given: JsonObject) -> ToolAnswer {
    let wanted: RememberArguments = arguments(given)?;
    let user = door.owner.user()?;
    if wanted.text.trim().is_empty() {
        return Err(ToolRefusal::new("text: must not be empty"));
    }
    // The text enters the user's memory as a quotation, because a model wrote it.
    let text = model::attachment(model::STORED_BY_A_MODEL, "", &wanted.text);
    let message = MessageItem::text(user, MessageRole::User, (door.now)().millis(), text);
    // A session of this user only: in a session of several users, the episodes of each would contain the others'
    // notes.
    let session = wanted.session.unwrap_or_else(|| format!("{user}/notes"));
    let request = AddRequest {
        app_id: Some(door.owner.app.clone()),
        project_id: Some(door.owner.project.clone()),
        undated: true,
        ..AddRequest::new(&session, vec![message])
    };
    let added: AddData = door.post("/memory/add", &request).await?;
    let Some(id) = added.message_ids.first() else {
        return Err(ToolRefusal::new(
            "not stored: the user deleted this text before; use other words if it is to be remembered again",
        ));
    };
    let removed = match added.redacted {
        0 => String::new(),
        1 => "; 1 secret was removed first".to_owned(),
        count => format!("; {count} secrets were removed first"),
    };
    let stored = if added.duplicates > 0 {
        "stored before"
    } else {
        "stored"
    };
    let text = format!("{stored} as {id} in session {session}; searches find it now{removed}");
    let structured = json!({"id": id, "session": session, "redacted": added.redacted});
    Ok(render::result(text, structured))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct UpdateArguments {
    id: String,
    text: Option<String>,
    project_only: Option<bool>,
    verdict: Option<Verdict>,
}

pub(super) async fn update<A: MemoryApi>(door: &Door<A>, given: JsonObject) -> ToolAnswer {
    let wanted: UpdateArguments = arguments(given)?;
    let (id, project) = find::id_and_project(door, &wanted.id);
    if let Some(verdict) = wanted.verdict {
        if wanted.text.is_some() || wanted.project_only.is_some() {
            return Err(ToolRefusal::new(
                "verdict: goes without `text` and `project_only`",
            ));
        }
        let request = AnswerRequest {
            user_id: door.owner.user()?.to_owned(),
            app_id: Some(door.owner.app.clone()),
            project_id: Some(project.to_owned()),
            id: id.to_owned(),
            verdict,
        };
        let changed: AnswerData = door.post("/memory/answer", &request).await?;
        let words = format!(
            "changed: {}; {} memories made of it went",
            changed.statements.join(" "),
            changed.derived
        );
        return Ok(render::result(words, json!({"id": id})));
    }
    let request = EditRequest {
        user_id: Some(door.owner.user()?.to_owned()),
        id: id.to_owned(),
        episode: wanted.text,
        project_only: wanted.project_only,
        ..EditRequest::default().within(&door.owner.app, project)
    };
    let edited: EditData = door.post("/memory/edit", &request).await?;
    Ok(render::result(
        format!("changed {}", edited.id),
        json!({"id": edited.id}),
    ))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ForgetArguments {
    ids: Vec<String>,
    confirm: Option<String>,
}

/// Shows the memories and a code first; a second call with that code deletes them.
pub(super) async fn forget<A: MemoryApi>(door: &Door<A>, given: JsonObject) -> ToolAnswer {
    let wanted: ForgetArguments = arguments(given)?;
    if !(1..=IDS_MAX).contains(&wanted.ids.len()) {
        return Err(ToolRefusal::new(format!("ids: must have 1 to {IDS_MAX} ids")));
    }
    let mut doomed = Vec::new();
    for id in &wanted.ids {
        doomed.push(find::one(door, id).await?);
    }
    let code = code(doomed.iter().map(|memory| (&*memory.id, &*memory.text)));
    if wanted.confirm.as_ref() != Some(&code) {
        return Ok(render::memories(&doomed, &json!({"deleted": 0, "confirm": code})));
    }
    let mut of_project: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for id in &wanted.ids {
        let (id, project) = find::id_and_project(door, id);
        of_project.entry(project).or_default().push(id.to_owned());
    }
    let (mut memories, mut messages, mut left) = (0, 0, BTreeSet::new());
    for (project, ids) in of_project {
        let request = DeleteByIdsRequest {
            user_id: Some(door.owner.user()?.to_owned()),
            ids,
            ..DeleteByIdsRequest::default().within(&door.owner.app, project)
        };
        let data: DeleteByIdsData = door.post("/memory/delete_by_ids", &request).await?;
        memories += data.count;
        messages += data.message_count;
        left.extend(
            data.left
                .into_iter()
                .map(|item| format!("{}: {}", item.what, item.why)),
        );
    }
    let mut said = vec![format!("deleted {memories} memories and {messages} messages")];
    said.extend(left.iter().map(|line| format!("- left {line}")));
    let structured = json!({"deleted": memories, "messages": messages, "left": left});
    Ok(render::result(said.join("\n"), structured))
}

/// A code of these memories and their texts: a client that sends it has seen them.
fn code<'a>(memories: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let mut hasher = DefaultHasher::new();
    for memory in memories {
        memory.hash(&mut hasher);
    }
    format!("{:08x}", hasher.finish() >> 32)
}
