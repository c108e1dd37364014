//! `quipu forget`: one memory, a session, what has some words, or everything of one owner.
//!
//! Owns: the preview of words, and the question before a deletion. Never: deciding what goes with what.

use std::io::{IsTerminal, Write};

use model::Owner;
use serde_json::json;
use text::counted;
use wire::forget::IDS_MAX;
use wire::survey::DoomedItem;
use wire::{
    DeleteByIdsData, DeleteByIdsRequest, DeleteData, DeleteRequest, FoundMessage, PreviewData, PreviewRequest,
};

use super::memory::{ids, named, session, whole_id};
use super::{Desk, owner, scope};
use crate::api::Api;
use crate::args::ForgetArgs;
use crate::error::{Exit, Failure};
use crate::output::{self, line};

/// Messages and memories that a preview lists.
const LISTED_MAX: usize = 20;
/// Characters of each.
const LISTED_CHARS_MAX: usize = 100;

/// Target of a deletion.
#[derive(Debug)]
enum ForgetTarget {
    Owner,
    Session { id: String, part: bool },
    Memories,
    Words(String),
}

pub(super) async fn forget(desk: &Desk, api: &Api, args: ForgetArgs) -> Result<Exit, Failure> {
    let target = target(&args)?;
    let owner = owner(&args.whose)?;
    let scope = scope(&args.whose.scope)?;
    let (app_id, project_id) = ids(&scope);
    let (user_id, agent_id) = named(&owner);
    let by_owner = !matches!(target, ForgetTarget::Session { part: false, .. });
    let mut delete = DeleteRequest {
        app_id,
        project_id,
        user_id: user_id.filter(|_| by_owner),
        agent_id: agent_id.filter(|_| by_owner),
        ..DeleteRequest::default()
    };
    match &target {
        ForgetTarget::Words(words) => delete.words = Some(words.clone()),
        ForgetTarget::Session { id, .. } => delete.session_id = Some(id.clone()),
        ForgetTarget::Owner | ForgetTarget::Memories => {}
    }
    if !args.yes {
        if delete.words.is_some() && !desk.json {
            preview(api, &delete).await?;
        }
        if !confirmed(&described(&target, &owner, args.ids.len()))? {
            return Err(Failure::usage("nothing was deleted"));
        }
    }
    let mut missing = Vec::new();
    let data = match target {
        ForgetTarget::Memories => by_ids(api, &owner, &delete, &args.ids, &mut missing).await?,
        _ => api.post("/memory/delete", &delete).await?,
    };
    if desk.json {
        output::json(&json!({"entries": data.count, "messages": data.message_count,
            "rewritten": data.rewritten_count, "missing": missing}))?;
    } else {
        report(&target, &data)?;
        for id in &missing {
            line(format_args!("not found: {id}"))?;
        }
    }
    Ok(if missing.is_empty() {
        Exit::Ok
    } else {
        Exit::NotFound
    })
}

fn described(target: &ForgetTarget, owner: &Owner, ids: usize) -> String {
    match target {
        ForgetTarget::Owner => format!("everything of `{}`", owner.id),
        ForgetTarget::Session { id, part: false } => format!("everything of session `{id}`, for everyone"),
        ForgetTarget::Session { id, part: true } => {
            format!("what `{}` remembers of session `{id}`", owner.id)
        }
        ForgetTarget::Memories => {
            format!("{} of `{}`", counted(ids, "memory", "memories"), owner.id)
        }
        ForgetTarget::Words(words) => format!("everything of `{}` with the words \"{words}\"", owner.id),
    }
}

fn report(target: &ForgetTarget, data: &DeleteData) -> Result<(), Failure> {
    line(format_args!(
        "deleted {} and {}",
        counted(data.count, "memory", "memories"),
        counted(data.message_count, "message", "messages")
    ))?;
    if data.rewritten_count > 0 {
        line(format_args!(
            "{} lost some of its messages and stays",
            counted(data.rewritten_count, "memory", "memories")
        ))?;
    }
    match target {
        ForgetTarget::Session { part: false, .. } | ForgetTarget::Memories => Ok(()),
        ForgetTarget::Words(_) => line(format_args!(
            "other owners, documents and live conversations keep these words"
        )),
        ForgetTarget::Owner | ForgetTarget::Session { .. } => line(format_args!(
            "other owners keep their memories of the same sessions; `quipu forget --session ID` deletes a session for all"
        )),
    }
}

/// Lists what a deletion by words would do.
async fn preview(api: &Api, delete: &DeleteRequest) -> Result<(), Failure> {
    let request = PreviewRequest {
        app_id: delete.app_id.clone(),
        project_id: delete.project_id.clone(),
        user_id: delete.user_id.clone(),
        agent_id: delete.agent_id.clone(),
        words: delete.words.clone(),
        ..PreviewRequest::default()
    };
    let data: PreviewData = api.post("/memory/preview", &request).await?;
    let messages: Vec<String> = data.messages.iter().map(message).collect();
    let memories: Vec<String> = data.memories.iter().map(memory).collect();
    let rewritten: Vec<String> = data.rewritten.iter().map(memory).collect();
    list(
        &counted(data.message_count, "message goes", "messages go"),
        data.message_count,
        &messages,
    )?;
    list(
        &counted(data.count, "memory goes", "memories go"),
        data.count,
        &memories,
    )?;
    list(
        &counted(
            rewritten.len(),
            "episode stays",
            "episodes stay without these messages",
        ),
        rewritten.len(),
        &rewritten,
    )?;
    list(
        &counted(data.lines.len(), "line of a page goes", "lines of pages go"),
        data.lines.len(),
        &data.lines,
    )?;
    for staying in &data.stays {
        let count = counted(staying.messages, "message", "messages");
        line(format_args!(
            "{count} with these words stay with {}",
            staying.user_id
        ))?;
    }
    Ok(())
}

fn list(heading: &str, count: usize, items: &[String]) -> Result<(), Failure> {
    if count == 0 {
        return Ok(());
    }
    line(format_args!("{heading}:"))?;
    for item in items.iter().take(LISTED_MAX) {
        let short: String = item.split_whitespace().collect::<Vec<_>>().join(" ");
        let short: String = short.chars().take(LISTED_CHARS_MAX).collect();
        line(format_args!("  {short}"))?;
    }
    if count > LISTED_MAX {
        line(format_args!("  and {} more", count - LISTED_MAX))?;
    }
    Ok(())
}

fn message(message: &FoundMessage) -> String {
    let day = message.timestamp.get(..10).unwrap_or_default();
    let speaker = message.sender_name.as_ref().or(message.sender_id.as_ref());
    let speaker = speaker.map_or("", String::as_str);
    format!("{day} {speaker}: {}", message.content)
}

fn memory(item: &DoomedItem) -> String {
    format!("{}: {}", item.kind, item.text)
}

/// Deletes single memories; lists unknown ids as the person typed them.
async fn by_ids(
    api: &Api,
    owner: &Owner,
    whose: &DeleteRequest,
    typed: &[String],
    missing: &mut Vec<String>,
) -> Result<DeleteData, Failure> {
    let mut all = DeleteData::default();
    for some in typed.chunks(IDS_MAX) {
        let ids: Vec<String> = some.iter().map(|id| whole_id(owner, id)).collect();
        let request = DeleteByIdsRequest {
            app_id: whose.app_id.clone(),
            project_id: whose.project_id.clone(),
            user_id: whose.user_id.clone(),
            agent_id: whose.agent_id.clone(),
            ids: ids.clone(),
            ..DeleteByIdsRequest::default()
        };
        let data: DeleteByIdsData = api.post("/memory/delete_by_ids", &request).await?;
        all.count += data.count;
        all.message_count += data.message_count;
        let pairs = some.iter().zip(&ids);
        missing.extend(
            pairs
                .filter(|(_, whole)| data.missing.contains(whole))
                .map(|(typed, _)| typed.clone()),
        );
    }
    Ok(all)
}

fn target(args: &ForgetArgs) -> Result<ForgetTarget, Failure> {
    let named = args.whose.user.is_some() || args.whose.agent.is_some();
    if let Some(id) = &args.session {
        return Ok(ForgetTarget::Session {
            id: session(id)?,
            part: named,
        });
    }
    if !named {
        return Err(Failure::usage("no owner given; nothing was deleted")
            .hint("give --user ID, --agent ID or --session ID"));
    }
    if let Some(words) = &args.words {
        return Ok(ForgetTarget::Words(words.clone()));
    }
    match (args.all, args.ids.is_empty()) {
        (true, _) => Ok(ForgetTarget::Owner),
        (false, false) => Ok(ForgetTarget::Memories),
        (false, true) => Err(Failure::usage("nothing to delete given").hint("give ids, --words or --all")),
    }
}

/// Asks a person for confirmation; without a terminal, the answer is no.
pub(super) fn confirmed(what: &str) -> Result<bool, Failure> {
    if !std::io::stdin().is_terminal() {
        return Err(Failure::usage(format!("this would delete {what}"))
            .hint("give --yes to delete without confirmation"));
    }
    write!(std::io::stderr(), "Delete {what}? This cannot be undone. [y/N] ")?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
