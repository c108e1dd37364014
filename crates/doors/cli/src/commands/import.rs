//! `quipu import`: a file's conversations, remembered one after another; running it again adds only what is new.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use engine::{Add, Engine, Flush};
use indicatif::ProgressBar;
use serde_json::json;
use tokio::sync::mpsc;

use super::{Desk, name, scope};
use crate::args::ImportArgs;
use crate::error::{Exit, Failure};
use crate::import::{Conversation, Defaults, read};
use crate::world::World;
use crate::{output, progress};

/// Conversations that may wait between the reader and the engine.
const WAITING_MAX: usize = 16;
/// Messages in one add, as in the HTTP API.
const ADD_MESSAGES_MAX: usize = 500;

/// What an import did.
#[derive(Debug, Default)]
pub(super) struct Imported {
    pub(super) conversations: usize,
    pub(super) messages: usize,
    pub(super) new: usize,
    pub(super) failed_tasks: usize,
}

pub(super) async fn import(desk: &Desk, world: World, args: ImportArgs) -> Result<Exit, Failure> {
    let defaults = Defaults {
        scope: scope(&args.scope)?,
        user: name("--user", &args.user)?,
        now: world.clock.now(),
        zone: world.zone.clone(),
        name: args
            .file
            .file_stem()
            .map_or_else(|| "import".to_owned(), |stem| stem.to_string_lossy().into_owned()),
    };
    let size = std::fs::metadata(&args.file).map_or(0, |file| file.len());
    let bar = progress::bytes(desk.watched, "reading", size);
    let mut imported = Imported::default();
    let outcome = stream(&world.engine, &args, defaults, &bar, &mut imported).await;
    bar.finish_and_clear();
    imported.failed_tasks = settle(desk, &world.engine).await?;
    report(desk, &args.file, &imported)?;
    outcome?;
    Ok(if imported.failed_tasks == 0 {
        Exit::Ok
    } else {
        Exit::Failed
    })
}

/// Reads on a blocking thread and remembers here, so that a long file neither fills memory nor blocks the runtime.
pub(super) async fn stream(
    engine: &Engine,
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
        remembered = remember(engine, conversation, imported).await;
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

async fn remember(
    engine: &Engine,
    conversation: Conversation,
    imported: &mut Imported,
) -> Result<(), Failure> {
    imported.conversations += 1;
    let session = conversation.session;
    let mut messages = conversation.messages;
    while !messages.is_empty() {
        let rest = messages.split_off(messages.len().min(ADD_MESSAGES_MAX));
        let add = Add {
            session: session.clone(),
            messages,
            defer_extraction: false,
            task: None,
            wait: false,
        };
        let added = engine.add(add).await?;
        imported.messages += added.accepted.len();
        imported.new += added.accepted.iter().filter(|one| !one.duplicate).count();
        messages = rest;
    }
    let flush = Flush {
        session,
        task: None,
        wait: false,
    };
    engine.flush(flush).await?;
    Ok(())
}

/// Waits until everything is written, with a bar.
pub(super) async fn settle(desk: &Desk, engine: &Engine) -> Result<usize, Failure> {
    let bar = progress::bar(desk.watched, "writing", 0);
    let failed = engine.settle(Some(progress::listen(&bar))).await?;
    bar.finish_and_clear();
    Ok(failed)
}

fn report(desk: &Desk, file: &Path, imported: &Imported) -> Result<(), Failure> {
    let Imported {
        conversations,
        messages,
        new,
        failed_tasks,
    } = imported;
    if desk.json {
        return output::json(&json!({
            "file": file, "conversations": conversations, "messages": messages, "new_messages": new,
            "failed_tasks": failed_tasks,
        }));
    }
    output::line(format_args!(
        "{messages} messages of {conversations} conversations read, {new} of them new; remembered in {}",
        desk.root.display()
    ))?;
    if *failed_tasks > 0 {
        output::line(format_args!(
            "{failed_tasks} tasks failed for good: see `quipu status --tasks`"
        ))?;
    }
    Ok(())
}
