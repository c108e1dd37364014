//! `quipu import`: a file's conversations, remembered one after another; running it again adds only what is new.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use indicatif::ProgressBar;
use model::SessionKey;
use serde_json::json;
use tokio::sync::mpsc;
use wire::{AddData, AddRequest, FlushData, FlushRequest, MESSAGES_MAX, MessageContent, MessageItem};

use super::memory::ids;
use super::{Desk, name, scope};
use crate::api::Api;
use crate::args::ImportArgs;
use crate::error::{Exit, Failure};
use crate::import::{Conversation, Defaults, read};
use crate::{output, progress};

/// Conversations that may wait between the reader and the API.
const WAITING_MAX: usize = 16;
/// Text in one add; far below what a server takes, so that only a single message can be too large.
const ADD_BYTES_MAX: usize = 4 << 20;

/// What an import did.
#[derive(Debug, Default)]
pub(super) struct Imported {
    sessions: Vec<SessionKey>,
    pub(super) conversations: usize,
    pub(super) messages: usize,
    pub(super) new: usize,
    /// Secrets taken out.
    pub(super) redacted: usize,
    failed_tasks: usize,
}

pub(super) async fn import(desk: &Desk, api: &Api, args: ImportArgs) -> Result<Exit, Failure> {
    let defaults = Defaults {
        scope: scope(&args.scope)?,
        user: name("--user", &args.user)?,
        now: api.clock.now(),
        zone: api.zone.clone(),
        name: args
            .file
            .file_stem()
            .map_or_else(|| "import".to_owned(), |stem| stem.to_string_lossy().into_owned()),
    };
    let size = std::fs::metadata(&args.file).map_or(0, |file| file.len());
    let bar = progress::bytes(desk.watched, "reading", size);
    let mut imported = Imported::default();
    let outcome = stream(api, &args, defaults, &bar, &mut imported).await;
    bar.finish_and_clear();
    if outcome.is_err() && imported.messages == 0 {
        return outcome.map(|()| Exit::Ok);
    }
    // What stands before a break in the file is remembered.
    let settled = settle(desk, api, &mut imported).await;
    report(desk, &args.file, &imported)?;
    outcome.and(settled)?;
    Ok(if imported.failed_tasks == 0 {
        Exit::Ok
    } else {
        Exit::Failed
    })
}

/// Reads on a blocking thread and remembers here, so that a long file neither fills memory nor blocks the runtime.
pub(super) async fn stream(
    api: &Api,
    args: &ImportArgs,
    defaults: Defaults,
    bar: &ProgressBar,
    imported: &mut Imported,
) -> Result<(), Failure> {
    let (sender, mut receiver) = mpsc::channel::<Conversation>(WAITING_MAX);
    let read_bytes = Arc::new(AtomicU64::new(0));
    let counter = read_bytes.clone();
    let (file, format) = (args.file.clone(), args.format);
    let reading = tokio::task::spawn_blocking(move || {
        read(&file, format, &defaults, &counter, &mut |conversation| {
            sender
                .blocking_send(conversation)
                .map_err(|_| Failure::usage("the import was stopped"))
        })
    });
    let mut remembered = Ok(());
    while let Some(conversation) = receiver.recv().await {
        remembered = remember(api, conversation, imported).await;
        if remembered.is_err() {
            break;
        }
        bar.set_position(read_bytes.load(Ordering::Relaxed));
        bar.set_message(format!("{} messages", imported.messages));
    }
    drop(receiver);
    let read = reading.await.map_err(anyhow::Error::from)?;
    remembered.and(read)
}

async fn remember(api: &Api, conversation: Conversation, imported: &mut Imported) -> Result<(), Failure> {
    imported.conversations += 1;
    let Conversation { session, messages } = conversation;
    let mut messages = messages.into_iter().peekable();
    let (app_id, project_id) = ids(&session.scope);
    while messages.peek().is_some() {
        let mut some: Vec<MessageItem> = Vec::new();
        let mut bytes = 0;
        while let Some(message) = messages.next_if(|next| {
            bytes += bytes_of(next);
            some.is_empty() || (some.len() < MESSAGES_MAX && bytes <= ADD_BYTES_MAX)
        }) {
            some.push(message);
        }
        let add = AddRequest {
            session_id: session.session.as_str().to_owned(),
            session_title: None,
            app_id: app_id.clone(),
            project_id: project_id.clone(),
            messages: some,
            defer_extraction: false,
            async_mode: false,
            wait: false,
        };
        let added: AddData = api.post("/memory/add", &add).await?;
        imported.messages += added.message_count;
        imported.new += added.message_count - added.duplicates;
        imported.redacted += added.redacted;
    }
    flush(api, &session, false).await?;
    imported.sessions.push(session);
    Ok(())
}

fn bytes_of(message: &MessageItem) -> usize {
    let calls = message.tool_calls.iter().flatten();
    let calls: usize = calls.map(|call| call.function.arguments.len()).sum();
    match &message.content {
        MessageContent::Text(text) => text.len() + calls,
        MessageContent::Parts(_) => calls,
    }
}

async fn flush(api: &Api, session: &SessionKey, wait: bool) -> Result<(), Failure> {
    let (app_id, project_id) = ids(&session.scope);
    let flush = FlushRequest {
        session_id: session.session.as_str().to_owned(),
        app_id,
        project_id,
        wait,
    };
    api.post::<FlushData>("/memory/flush", &flush).await?;
    Ok(())
}

/// Waits until everything of the import that can be written is, with a bar.
pub(super) async fn settle(desk: &Desk, api: &Api, imported: &mut Imported) -> Result<(), Failure> {
    imported.sessions.sort();
    imported.sessions.dedup();
    let bar = progress::bar(desk.watched, "writing", imported.sessions.len() as u64);
    for session in &imported.sessions {
        flush(api, session, true).await?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    let tasks = api.health().await?.tasks;
    imported.failed_tasks = tasks.failed + tasks.stuck;
    Ok(())
}

fn report(desk: &Desk, file: &Path, imported: &Imported) -> Result<(), Failure> {
    let Imported {
        sessions: _,
        conversations,
        messages,
        new,
        redacted,
        failed_tasks,
    } = imported;
    if desk.json {
        return output::json(&json!({
            "file": file, "conversations": conversations, "messages": messages, "new_messages": new,
            "redacted": redacted, "failed_tasks": failed_tasks,
        }));
    }
    output::line(format_args!(
        "{messages} messages of {conversations} conversations read, {new} of them new; remembered in {}",
        desk.root.display()
    ))?;
    if *redacted > 0 {
        output::line(format_args!("{redacted} secrets were taken out of them first"))?;
    }
    if *failed_tasks > 0 {
        output::line(format_args!(
            "{failed_tasks} tasks failed or cannot be done now: see `quipu status --tasks`"
        ))?;
    }
    Ok(())
}
