//! `quipu import`: stores the conversations of files one after another; a second run adds only new messages.

mod upload;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use gateway::wire::message::MessageRole;
use gateway::wire::{AddData, AddRequest, MESSAGES_MAX, MessageContent, MessageItem};
use indicatif::ProgressBar;
use model::SessionKey;
use model::text::counted;
use page::ImportProgress;
use serde_json::json;
use tokio::sync::mpsc;

use super::memory::{flush, ids};
use super::{Desk, export};
use crate::api::Api;
use crate::args::{DEFAULT_USER, ImportArgs, me};
use crate::error::{Exit, Failure};
use crate::import::{Defaults, ImportFile, ImportItem, ImportedConversation, Skipped, read, sources};
use crate::output::{self, say};
use crate::progress;

pub(super) use upload::Uploads;

/// Maximum number of conversations that wait between the reader and the API.
const WAITING_MAX: usize = 16;
/// Bytes of text in one request, far below the server's limit, so that only a single message can be too large.
const ADD_BYTES_MAX: usize = 4 << 20;

/// Maximum number of skipped parts that are shown by name.
const NAMED_MAX: usize = 10;

/// Result of an import.
#[derive(Debug, Default)]
pub(super) struct Imported {
    sessions: BTreeSet<SessionKey>,
    /// Counts of the import's conversations and messages.
    counts: ImportProgress,
    /// Messages that were stored before: in this session or, for an agent's log, in the session that it continues.
    known: usize,
    /// The user of the imported messages.
    user: String,
    /// Also store messages that were deleted before.
    accept_forgotten: bool,
    /// Conversations without a message.
    empty: usize,
    skipped: Vec<Skipped>,
    /// Kinds of records that were left out or changed, each with their number.
    notes: BTreeMap<String, usize>,
    /// Files of folders and archives without conversations.
    left_out: Vec<String>,
    /// The reason for the first of them with a format that Quipu knows.
    unread: Option<String>,
    /// The speakers, by id, with their names.
    people: BTreeMap<String, String>,
    failed_tasks: usize,
    /// Background runs that wait because no server runs.
    waiting_runs: usize,
}

impl Imported {
    /// Whether nothing was found, not even a record to leave out.
    fn is_nothing(&self) -> bool {
        self.counts.conversations + self.empty == 0 && self.skipped.is_empty() && self.notes.is_empty()
    }

    /// Lines about records that were left out or changed, and about files without conversations.
    fn rest(&self) -> impl Iterator<Item = String> {
        let notes = self.notes.iter().map(|(what, count)| format!("{what}: {count}"));
        let names: Vec<&str> = self.left_out.iter().take(NAMED_MAX).map(String::as_str).collect();
        let more = match self.left_out.len().saturating_sub(NAMED_MAX) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let files =
            (!names.is_empty()).then(|| format!("files without conversations: {}{more}", names.join(", ")));
        let named = |(id, name): (&String, &String)| match name.as_str() {
            "" => format!("`{id}`"),
            name => format!("{name} (`{id}`)"),
        };
        let people: Vec<String> = self.people.iter().take(NAMED_MAX).map(named).collect();
        let is_asked = !self.user.is_empty() && !people.is_empty();
        let strangers = (is_asked && !self.people.contains_key(&self.user)).then(|| {
            format!(
                "nobody in it is `{}`; it was said by {}",
                self.user,
                people.join(", ")
            )
        });
        notes.chain(files).chain(strangers)
    }

    /// The status text for an interrupt.
    fn standing(&self) -> String {
        format!(
            "{} stored; run the same command again for the rest",
            self.summary()
        )
    }

    /// The number of messages and of conversations.
    pub(super) fn summary(&self) -> String {
        let messages = counted(self.counts.messages, "message", "messages");
        let talks = counted(self.counts.conversations, "conversation", "conversations");
        format!("{messages} of {talks}")
    }

    /// Writes the memories of each session, one session after another, and waits for them.
    async fn write(&self, api: &Api, mut written: impl FnMut()) -> Result<(), Failure> {
        for session in &self.sessions {
            flush(api, &session.scope, session.session.as_str(), true).await?;
            written();
        }
        Ok(())
    }
}

pub(super) async fn import(desk: &Desk, api: &Api, args: ImportArgs) -> Result<Exit, Failure> {
    if args.paths.iter().all(|path| export::is_ours(path)) {
        if !options(&args, DEFAULT_USER).is_empty() || args.user.is_some() {
            return Err(Failure::usage("an export has its own user, app and project")
                .hint("leave out --user, --app and --project"));
        }
        return export::import(desk, api, &args.paths).await;
    }
    let defaults = Defaults {
        dates: args.dates,
        ..Defaults::new(api, args.scope.scope(), args.user.clone().unwrap_or_else(me))
    };
    let sources = sources(&args.paths)?;
    let bytes = sources.iter().map(|source| source.bytes).sum();
    let bar = progress::bytes(desk.watched, "reading", bytes);
    let mut imported = Imported {
        user: defaults.user.to_string(),
        accept_forgotten: args.forgotten,
        ..Imported::default()
    };
    let mut show = on(&bar);
    let mut watch = |read_bytes, imported: &Imported| {
        show(read_bytes, imported);
        desk.standing.now(imported.standing());
    };
    let outcome = stream(api, sources, defaults, &mut watch, &mut imported).await;
    bar.finish_and_clear();
    if outcome.is_err() && imported.counts.messages == 0 {
        return outcome.map(|()| Exit::Ok);
    }
    if imported.is_nothing() {
        let rest = imported.unread.take().or_else(|| imported.rest().next());
        return Err(Failure::usage("no conversations were found").hinted(rest));
    }
    // The messages before a broken place in the file are kept.
    let settled = settle(desk, api, &mut imported).await;
    report(desk, &args, &imported)?;
    outcome.and(settled)?;
    Ok(Exit::done(
        imported.failed_tasks == 0 && imported.skipped.is_empty() && imported.counts.messages > 0,
    ))
}

/// Receives the number of bytes read, and the result so far.
pub(super) type Watch<'a> = &'a mut (dyn FnMut(u64, &Imported) + Send);

/// Shows the progress of an import on a bar.
pub(super) fn on(bar: &ProgressBar) -> impl FnMut(u64, &Imported) {
    |read_bytes, imported| {
        bar.set_position(read_bytes);
        bar.set_message(counted(imported.counts.messages, "message", "messages"));
    }
}

/// Reads on a blocking thread and stores here, so that a long file neither fills memory nor blocks the runtime. If there are
/// several files, an unreadable one is skipped.
pub(super) async fn stream(
    api: &Api,
    sources: Vec<ImportFile>,
    defaults: Defaults,
    watch: Watch<'_>,
    imported: &mut Imported,
) -> Result<(), Failure> {
    let (sender, mut receiver) = mpsc::channel::<ImportItem>(WAITING_MAX);
    let read_bytes = Arc::new(AtomicU64::new(0));
    let counter = read_bytes.clone();
    let reading = tokio::task::spawn_blocking(move || {
        let is_one = sources.len() == 1;
        for source in &sources {
            let defaults = Defaults {
                name: source.stem(),
                ..defaults.clone()
            };
            let stopped = || Failure::usage("the import was stopped");
            let send = |found| sender.blocking_send(found).map_err(|_| stopped());
            let placed = |Skipped { what, why }| Skipped {
                what: if is_one { what } else { format!("{source}, {what}") },
                why,
            };
            let outcome = read(source, &defaults, &counter, &mut |found| match found {
                ImportItem::Skipped(skipped) => send(ImportItem::Skipped(placed(skipped))),
                found => send(found),
            });
            match outcome {
                Err(failure) if is_one || sender.is_closed() => return Err(failure),
                Err(failure) => send(ImportItem::Skipped(Skipped {
                    what: source.to_string(),
                    why: failure.words(": "),
                }))?,
                Ok(()) => {}
            }
        }
        Ok(())
    });
    let mut remembered = Ok(());
    while let Some(found) = receiver.recv().await {
        match found {
            ImportItem::Conversation(conversation) => {
                remembered = remember(api, conversation, imported).await;
            }
            ImportItem::Skipped(skipped) => imported.skipped.push(skipped),
            ImportItem::LeftOut(file, why) => {
                imported.left_out.push(file);
                imported.unread = imported.unread.take().or(why);
            }
            ImportItem::Noted(what, count) => *imported.notes.entry(what).or_default() += count,
        }
        if remembered.is_err() {
            break;
        }
        watch(read_bytes.load(Ordering::Relaxed), imported);
    }
    drop(receiver);
    remembered.and(reading.await?)
}

/// Stores a conversation; a conversation that the API refuses is skipped.
async fn remember(
    api: &Api,
    conversation: ImportedConversation,
    imported: &mut Imported,
) -> Result<(), Failure> {
    if conversation.messages.is_empty() {
        imported.empty += 1;
        return Ok(());
    }
    let session = &conversation.session.session;
    let what = match &conversation.title {
        Some(title) => format!("conversation {session}, \"{title}\""),
        None => format!("conversation {session}"),
    };
    match add(api, conversation, imported).await {
        Err(failure) if failure.exit == Exit::Usage => {
            let why = format!("{:#}", failure.error);
            imported.skipped.push(Skipped { what, why });
            Ok(())
        }
        outcome => outcome,
    }
}

async fn add(api: &Api, conversation: ImportedConversation, imported: &mut Imported) -> Result<(), Failure> {
    let session = conversation.session;
    let mut messages = conversation.messages.into_iter().peekable();
    let (app_id, project_id) = ids(&session.scope);
    while messages.peek().is_some() {
        let mut some: Vec<MessageItem> = Vec::new();
        let mut bytes = 0;
        while let Some(message) = messages.next_if(|next| {
            bytes += bytes_of(next);
            some.is_empty() || (some.len() < MESSAGES_MAX && bytes <= ADD_BYTES_MAX)
        }) {
            if message.role == MessageRole::User {
                let name = message.sender_name.clone().unwrap_or_default();
                imported.people.insert(message.sender_id.clone(), name);
            }
            some.push(message);
        }
        let add = AddRequest {
            session_title: conversation.title.clone(),
            app_id: app_id.clone(),
            project_id: project_id.clone(),
            accept_forgotten: imported.accept_forgotten,
            log_of: conversation.is_log.then(|| imported.user.clone()),
            ..AddRequest::new(session.session.as_str(), some)
        };
        let added: AddData = api.post("/memory/add", &add).await?;
        imported.counts.messages += added.message_count;
        imported.counts.new += added.message_count - added.duplicates - added.restored;
        imported.known += added.duplicates - added.forgotten;
        imported.counts.forgotten += added.forgotten;
        imported.counts.restored += added.restored;
        imported.counts.redacted += added.redacted;
    }
    imported.counts.conversations += 1;
    flush(api, &session.scope, session.session.as_str(), false).await?;
    imported.sessions.insert(session);
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

/// Writes all memories of the import, with a progress bar, and waits for them.
pub(super) async fn settle(desk: &Desk, api: &Api, imported: &mut Imported) -> Result<(), Failure> {
    let bar = progress::bar(desk.watched, "writing", imported.sessions.len() as u64);
    imported.write(api, || bar.inc(1)).await?;
    bar.finish_and_clear();
    let health = api.health().await?;
    imported.failed_tasks = health.tasks.failed + health.tasks.stuck;
    let runs = health.runs.filter(|_| api.is_here());
    imported.waiting_runs = runs.map_or(0, |runs| runs.queued + runs.failed);
    Ok(())
}

fn report(desk: &Desk, args: &ImportArgs, imported: &Imported) -> Result<(), Failure> {
    let (all, counts) = (imported, &imported.counts);
    if desk.json {
        let skipped = all.skipped.iter();
        let skipped: Vec<_> = skipped
            .map(|Skipped { what, why }| json!({"what": what, "why": why}))
            .collect();
        return output::json(&json!({
            "paths": args.paths, "conversations": counts.conversations, "messages": counts.messages, "new_messages": counts.new,
            "known_messages": all.known, "forgotten_messages": counts.forgotten, "restored_messages": counts.restored,
            "empty_conversations": all.empty, "skipped": skipped, "notes": all.notes, "left_out_files": all.left_out,
            "redacted": counts.redacted, "failed_tasks": all.failed_tasks,
        }));
    }
    let (new, root) = (counts.new, desk.root.display());
    say!("{} read, {new} of them new; stored in {root}", all.summary())?;
    let message = ["message", "messages"];
    let left_out = "forgotten before, left out; `--forgotten` stores them again";
    let blocked = "blocked: see `quipu status --tasks`";
    let talks = ["conversation has", "conversations have"];
    let secrets = ["secret was", "secrets were"];
    let failed = ["task failed or is", "tasks failed or are"];
    for (count, [one, many], what) in [
        (all.known, message, "stored before"),
        (counts.restored, message, "forgotten before, stored again"),
        (counts.forgotten, message, left_out),
        (all.empty, talks, "no messages"),
        (counts.redacted, secrets, "removed first"),
        (all.failed_tasks, failed, blocked),
    ] {
        if count > 0 {
            say!("{} {what}", counted(count, one, many))?;
        }
    }
    name_the_rest(imported)?;
    if all.waiting_runs > 0 {
        say!(
            "{}: profile, events and core memory come while `quipu serve` runs, or with `quipu runs start NAME`",
            counted(all.waiting_runs, "background run waits", "background runs wait")
        )?;
    }
    if new + counts.restored > 0 {
        let is_named = all.people.contains_key(&all.user);
        let somebody = all.people.keys().next().filter(|_| !is_named);
        let whose = options(args, somebody.unwrap_or(&all.user));
        let memory = desk.root.join("memory");
        say!(
            "next: `quipu search{whose} \"…\"`, `quipu review{whose}` to say what of it is true, or read the files in {}",
            memory.display()
        )?;
    }
    Ok(())
}

/// Lists the changed, left out and skipped parts.
fn name_the_rest(imported: &Imported) -> Result<(), Failure> {
    for line in imported.rest() {
        say!("{line}")?;
    }
    let skipped = &imported.skipped;
    if !skipped.is_empty() {
        say!("{} skipped:", skipped.len())?;
    }
    for Skipped { what, why } in skipped.iter().take(NAMED_MAX) {
        say!("  {what}: {why}")?;
    }
    if skipped.len() > NAMED_MAX {
        say!("  and {} more: `--json` lists all", skipped.len() - NAMED_MAX)?;
    }
    Ok(())
}

/// The options of user and tenant for a suggested next command.
fn options(args: &ImportArgs, user: &str) -> String {
    let given = [
        ("user", user, DEFAULT_USER),
        ("project", args.scope.project.as_str(), "default"),
        ("app", args.scope.app.as_str(), "default"),
    ];
    let option = |(name, value, usual)| {
        if value == usual {
            return String::new();
        }
        format!(" --{name} {value}")
    };
    given.map(option).concat()
}

#[cfg(test)]
mod tests;
