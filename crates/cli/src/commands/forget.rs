//! `quipu forget`: deletes single memories, a session, everything with certain words, or everything of one owner.
//!
//! Owns: the preview of words, and the confirmation of a deletion. Never: the choice of messages and memories to delete.

use std::io::IsTerminal;

use gateway::wire::forget::IDS_MAX;
use gateway::wire::survey::DoomedItem;
use gateway::wire::{
    DeleteByIdsData, DeleteByIdsRequest, DeleteData, DeleteRequest, FoundMessage, LeftItem, PreviewData,
};
use model::Owner;
use model::text::counted;
use serde_json::json;

use super::Desk;
use super::memory::{named, whole_id};
use crate::api::Api;
use crate::args::ForgetArgs;
use crate::error::{Exit, Failure};
use crate::output::{self, around, harmless, say};

/// Maximum number of messages and memories in a preview.
const LISTED_MAX: usize = 20;
/// Maximum characters of each.
const LISTED_CHARS_MAX: usize = 80;

pub(super) async fn forget(desk: &Desk, api: &Api, args: ForgetArgs) -> Result<Exit, Failure> {
    let (owner, scope) = (args.whose.owner(), args.whose.scope.scope());
    let delete = request(&args, &owner)?.within(scope.app.as_str(), scope.project.as_str());
    let mut seen = None;
    let (mut is_nothing, mut missing) = (args.ids.is_empty(), Vec::new());
    if let Some(words) = &delete.words {
        // The preview takes the request of the deletion.
        let data: &PreviewData = seen.insert(api.post("/memory/preview", &delete).await?);
        is_nothing = data.is_empty();
        if !args.yes && !desk.json {
            show(data, words)?;
        }
    }
    let by_words = delete.words.is_some();
    let goes_on = args.yes || !(is_nothing && by_words);
    if goes_on {
        let what = described(&delete, &owner, args.ids.len());
        confirmed(args.yes, &format!("{what} in project `{}`", scope.project))?;
    }
    let data = match args.ids.as_slice() {
        [] if goes_on => api.post("/memory/delete", &delete).await?,
        [] => DeleteData::default(),
        ids => by_ids(api, &owner, &delete, ids, &mut missing).await?,
    };
    is_nothing &= data.count + data.message_count + data.conversation_count + data.rewritten_count == 0;
    if desk.json {
        output::json(&json!({"entries": data.count, "messages": data.message_count,
            "conversations": data.conversation_count, "rewritten": data.rewritten_count, "ledger_copies": data.ledger_copies, "left": data.left, "missing": missing}))?;
    } else if is_nothing {
        let of = match (&delete.session_id, &delete.words) {
            (Some(id), _) => format!("session `{id}`"),
            (None, Some(_)) => format!("`{}` with these words", owner.id),
            (None, None) => format!("`{}`", owner.id),
        };
        say!(
            "found no memories and no messages of {of} in project `{}`; `quipu status users` lists who has memory where",
            scope.project
        )?;
    } else {
        report(&data, &missing)?;
        if let Some(seen) = seen.filter(|_| args.yes) {
            beside(&seen)?;
        }
    }
    left(desk, &data)?;
    // An empty result counts as not found only for words: a page may have been everything that an owner or a session had.
    Ok(Exit::found(missing.is_empty() && !(is_nothing && by_words)))
}

/// Describes the memories to delete: their number if they have ids, else the request.
fn described(delete: &DeleteRequest, owner: &Owner, ids: usize) -> String {
    let owner = &owner.id;
    let is_part = delete.user_id.is_some() || delete.agent_id.is_some();
    match (&delete.session_id, &delete.words) {
        (Some(id), _) if is_part => format!("what `{owner}` remembers of session `{id}`"),
        (Some(id), _) => format!("everything of session `{id}`, for everyone"),
        (None, Some(words)) => format!("everything of `{owner}` with the words \"{words}\""),
        (None, None) if ids > 0 => format!("{} of `{owner}`", counted(ids, "memory", "memories")),
        (None, None) => format!("everything of `{owner}`"),
    }
}

fn report(data: &DeleteData, missing: &[String]) -> Result<(), Failure> {
    let memories = counted(data.count, "memory", "memories");
    let messages = counted(data.message_count, "message", "messages");
    say!("deleted {memories} and {messages}")?;
    let contexts = ["live conversation's context", "live conversations' contexts"];
    let rewritten = [
        "memory lost some of its messages and stays",
        "memories lost some of their messages and stay",
    ];
    let copies = ["daily copy", "daily copies"];
    let next = " of the ledger that had them; the next is made today";
    for (deleted, count, [one, many], rest) in [
        ("deleted ", data.conversation_count, contexts, ""),
        ("", data.rewritten_count, rewritten, ""),
        ("deleted ", data.ledger_copies, copies, next),
    ] {
        if count > 0 {
            say!("{deleted}{}{rest}", counted(count, one, many))?;
        }
    }
    missing.iter().try_for_each(|id| say!("not found: {id}"))
}

/// Lists the places that may still have deleted text, with the reasons.
fn left(desk: &Desk, data: &DeleteData) -> Result<(), Failure> {
    if desk.json || data.left.is_empty() {
        return Ok(());
    }
    say!("left, and may have deleted text:")?;
    for LeftItem { what, why } in &data.left {
        say!("  {}: {}", harmless(what), harmless(why))?;
    }
    Ok(())
}

/// A message for a list, cut around the words.
fn message(it: &FoundMessage, words: &str) -> String {
    let day = it.timestamp.get(..10).unwrap_or_default();
    let speaker = it.sender_name.as_ref().or(it.sender_id.as_ref());
    let speaker = speaker.map_or("", String::as_str);
    let text = around(&it.content, words, LISTED_CHARS_MAX);
    format!("{day} {speaker}: {text}")
}

/// Lists the messages next to the deleted ones: they may be about the same person.
fn beside(data: &PreviewData) -> Result<(), Failure> {
    let messages: Vec<String> = data.beside.iter().map(|it| message(it, "")).collect();
    let kept = [
        "message next to them is kept; `--words` with its own words deletes it",
        "messages next to them are kept; `--words` with their own words deletes them",
    ];
    list(messages.len(), kept, &messages)
}

/// Lists the messages and memories that a person is to confirm.
fn show(data: &PreviewData, words: &str) -> Result<(), Failure> {
    let short = |text: &str| around(text, words, LISTED_CHARS_MAX);
    let memory = |it: &DoomedItem| format!("{}: {}", it.kind, short(&it.text));
    let messages: Vec<String> = data.messages.iter().map(|it| message(it, words)).collect();
    let memories: Vec<String> = data.memories.iter().map(memory).collect();
    let rewritten: Vec<String> = data.rewritten.iter().map(memory).collect();
    let lines: Vec<String> = data.lines.iter().map(|line| short(line)).collect();
    list(data.message_count, ["message goes", "messages go"], &messages)?;
    list(data.count, ["memory goes", "memories go"], &memories)?;
    let without = [
        "episode stays without these messages",
        "episodes stay without these messages",
    ];
    list(rewritten.len(), without, &rewritten)?;
    list(lines.len(), ["line or title goes", "lines and titles go"], &lines)?;
    beside(data)?;
    for staying in &data.stays {
        let count = counted(staying.messages, "message", "messages");
        say!("{count} with these words stay with {}", staying.user_id)?;
    }
    Ok(())
}

fn list(count: usize, [one, many]: [&str; 2], items: &[String]) -> Result<(), Failure> {
    if count == 0 {
        return Ok(());
    }
    say!("{}:", counted(count, one, many))?;
    for item in items.iter().take(LISTED_MAX) {
        say!("  {}", harmless(item))?;
    }
    if count > LISTED_MAX {
        say!("  and {} more", count - LISTED_MAX)?;
    }
    Ok(())
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
        all.ledger_copies += data.ledger_copies;
        for left in data.left {
            if !all.left.contains(&left) {
                all.left.push(left);
            }
        }
        let mut pairs = some.iter().zip(&ids).collect::<Vec<_>>();
        pairs.retain(|(_, whole)| data.missing.contains(whole));
        missing.extend(pairs.into_iter().map(|(typed, _)| typed.clone()));
    }
    Ok(all)
}

/// The request for the options, without a tenant. A session is deleted for all owners, unless the options name one.
fn request(args: &ForgetArgs, owner: &Owner) -> Result<DeleteRequest, Failure> {
    let is_named = args.whose.user.is_some() || args.whose.agent.is_some();
    let mut delete = DeleteRequest {
        session_id: args.session.as_ref().map(ToString::to_string),
        words: args.words.clone(),
        ..DeleteRequest::default()
    };
    if is_named || args.session.is_none() {
        (delete.user_id, delete.agent_id) = named(owner);
    }
    if args.session.is_none() && args.words.is_none() {
        if !is_named {
            return Err(Failure::usage("no owner given; nothing was deleted")
                .hint("give --user ID, --agent ID or --session ID"));
        }
        if !args.all && args.ids.is_empty() {
            return Err(Failure::usage("nothing to delete given").hint("give ids, --words or --all"));
        }
    }
    Ok(delete)
}

/// Asks a person for confirmation unless `yes`; without a terminal, the answer is no.
pub(super) fn confirmed(yes: bool, what: &str) -> Result<(), Failure> {
    if yes {
        return Ok(());
    }
    if !std::io::stdin().is_terminal() {
        let would = Failure::usage(format!("this would delete {what}"));
        return Err(would.hint("give --yes to delete without confirmation"));
    }
    let agreed = output::agreed(&format!("Delete {what}? This cannot be undone."))?;
    agreed
        .then_some(())
        .ok_or_else(|| Failure::usage("nothing was deleted"))
}

#[cfg(test)]
mod tests;
