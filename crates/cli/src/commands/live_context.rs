//! `quipu context list|show|stats|compact|recover|find|pin|fork|rewind`: live conversations.
//!
//! Owns: the tables. Never: a decision; the API makes them.

use std::fmt;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use text::counted;
use wire::conversation::{
    ArchivesData, CompactData, ContextStatsData, ConversationsData, DoneData, OriginalsData, ViewData,
};

use super::Desk;
use crate::api::{Api, Path};
use crate::args::{DEFAULT_USER, LiveArgs, LiveContext, LiveOf};
use crate::error::{Exit, Failure};
use crate::output::say;

/// How many characters of a message a table shows.
const EXCERPT_CHARS_MAX: usize = 100;

pub(super) async fn run(desk: &Desk, api: &Api, command: &LiveContext) -> Result<Exit, Failure> {
    match command {
        LiveContext::List(of) => list(desk, api, of).await,
        LiveContext::Show(live) => show(desk, api, live).await,
        LiveContext::Stats(live) => stats(desk, api, live).await,
        LiveContext::Compact(live) => compact(desk, api, live).await,
        LiveContext::Recover { live, id } => {
            originals(desk, api, look("/context/recover", live).with("id", id)).await
        }
        LiveContext::Find { live, words } => {
            let path = look("/context/find", live).with("query", words.join(" "));
            originals(desk, api, path).await
        }
        LiveContext::Pin { live, id, off } => {
            let done = if *off { "no longer pinned" } else { "pinned" };
            let body = body(live, json!({"id": id, "pinned": !off}));
            change(desk, api, "/context/pin", body, &format!("{id} is {done}")).await
        }
        LiveContext::Fork { live, to, before } => {
            let body = body(live, json!({"to": to, "before": before}));
            change(desk, api, "/context/fork", body, &format!("copied to {to}")).await
        }
        LiveContext::Rewind { live, to } => {
            let body = body(live, json!({"to": to}));
            let done = format!("goes on from just before {to}");
            change(desk, api, "/context/rewind", body, &done).await
        }
    }
}

fn user(of: &LiveOf) -> &str {
    of.user.as_deref().unwrap_or(DEFAULT_USER)
}

fn within(path: &str, of: &LiveOf) -> Path {
    Path::new(path, "")
        .with("user_id", user(of))
        .within(&of.scope.app, &of.scope.project)
}

fn look(path: &str, live: &LiveArgs) -> Path {
    within(path, &live.of).with("conversation_id", &live.conversation)
}

fn body(live: &LiveArgs, mut own: Value) -> Value {
    let of = &live.of;
    own["user_id"] = user(of).into();
    own["app_id"] = of.scope.app.as_str().into();
    own["project_id"] = of.scope.project.as_str().into();
    own["conversation_id"] = live.conversation.as_str().into();
    own
}

/// Prints an answer as JSON, or with `show` for people.
async fn asked<T: DeserializeOwned + Serialize>(
    desk: &Desk,
    api: &Api,
    path: Path,
    print: impl FnOnce(&T) -> Result<(), Failure>,
) -> Result<Exit, Failure> {
    let data: T = api.get(path.text()).await?;
    desk.tell(&data, || print(&data))
}

async fn change(desk: &Desk, api: &Api, path: &str, body: Value, done: &str) -> Result<Exit, Failure> {
    let data: DoneData = api.post(path, &body).await?;
    desk.tell(&data, || say!("{done}"))
}

async fn list(desk: &Desk, api: &Api, of: &LiveOf) -> Result<Exit, Failure> {
    let path = within("/context/conversations", of);
    asked(desk, api, path, |data: &ConversationsData| {
        if data.conversations.is_empty() {
            return say!("no conversations of {}", user(of));
        }
        data.conversations.iter().try_for_each(|id| say!("{id}"))
    })
    .await
}

async fn show(desk: &Desk, api: &Api, live: &LiveArgs) -> Result<Exit, Failure> {
    asked(desk, api, look("/context/view", live), |data: &ViewData| {
        data.messages.iter().try_for_each(|message| {
            let pin = if message.pinned { "pinned " } else { "" };
            say!(
                "{:>6}  {:<9} {:>7} tokens  {pin}{}",
                message.id,
                message.role,
                message.tokens,
                model::excerpt(&message.text, EXCERPT_CHARS_MAX)
            )
        })
    })
    .await
}

/// The figures of a conversation; a program gets the statistics alone.
#[derive(Debug, Serialize)]
#[serde(transparent)]
struct Figures {
    stats: ContextStatsData,
    #[serde(skip)]
    archives: ArchivesData,
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { stats, archives } = self;
        write!(f, "context          {}", stats.tokens)?;
        if let (Some(limit), Some(percent)) = (stats.limit_tokens, stats.used_percent) {
            write!(f, " of {limit} tokens ({percent:.0} %)")?;
        } else {
            write!(f, " tokens")?;
        }
        writeln!(
            f,
            ", {} in view, {} ever",
            counted(stats.messages, "message", "messages"),
            stats.messages_ever
        )?;
        writeln!(f, "system, tools    {} tokens", stats.head_tokens)?;
        write!(f, "engine           {}", stats.engine)?;
        if let Some(tokens) = stats.compacts_at_tokens {
            write!(f, ", compacts at {tokens} tokens")?;
        }
        let last = stats.last_compaction.as_deref();
        writeln!(
            f,
            "\ncompactions      {} ({} tokens saved), last {}",
            stats.compactions,
            stats.saved_tokens,
            last.unwrap_or("never since the start")
        )?;
        for step in &stats.last_steps {
            match step.saved_tokens {
                Some(tokens) => writeln!(f, "last step        {}: {tokens} tokens saved", step.effort)?,
                None => writeln!(f, "last step        {}: too little saved", step.effort)?,
            }
        }
        writeln!(f, "masked results   {}", stats.masked_results)?;
        let given_up = stats.epoch.saturating_sub(1);
        let times = counted(given_up, "time", "times");
        write!(f, "prefix           reset {times}")?;
        if given_up > 0 {
            write!(f, ", the last time: {}", stats.reasons.join(", "))?;
        }
        if stats.is_near_limit {
            write!(
                f,
                "\nwarning          the context is nearly full: compact it, or start a new conversation"
            )?;
        }
        for fault in &stats.engine_faults {
            write!(f, "\nengine fault     {fault}")?;
        }
        for archive in &archives.archives {
            write!(
                f,
                "\nsummary {:<8} {} ({}): {} tokens became {}",
                archive.id,
                archive.covers.join(", "),
                archive.reason,
                archive.tokens_before,
                archive.tokens_after
            )?;
        }
        if stats.engine == "codebuddy" {
            write!(f, "\n{}", CodebuddyMetrics(stats))?;
        }
        Ok(())
    }
}

/// The figures as code-buddy words them, for those who chose its preset.
struct CodebuddyMetrics<'a>(&'a ContextStatsData);

impl fmt::Display for CodebuddyMetrics<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(stats) = self;
        writeln!(f, "Context Manager Memory Metrics")?;
        writeln!(
            f,
            "  Summaries stored: {} ({} tokens)",
            stats.summaries, stats.summaries_tokens
        )?;
        writeln!(f, "  Peak messages: {}", stats.messages_peak)?;
        writeln!(
            f,
            "  Compressions: {} ({} tokens saved)",
            stats.compactions, stats.saved_tokens
        )?;
        let last = stats.last_compaction.as_deref().unwrap_or("Never");
        writeln!(f, "  Last compression: {last}")?;
        write!(f, "  Warnings triggered: {}", stats.warnings)
    }
}

async fn stats(desk: &Desk, api: &Api, live: &LiveArgs) -> Result<Exit, Failure> {
    let figures = Figures {
        stats: api.get(look("/context/stats", live).text()).await?,
        archives: api.get(look("/context/archives", live).text()).await?,
    };
    desk.tell(&figures, || say!("{figures}"))
}

async fn compact(desk: &Desk, api: &Api, live: &LiveArgs) -> Result<Exit, Failure> {
    let data: CompactData = api.post("/context/compact", &body(live, json!({}))).await?;
    desk.tell(&data, || say!("{}", compacted(&data)))
}

/// The result of a compaction, for people.
fn compacted(data: &CompactData) -> String {
    let (before, after) = (data.tokens_before, data.tokens_after);
    if after < before {
        format!("compacted from {before} to {after} tokens")
    } else {
        format!("nothing to compact: all {after} tokens are recent or pinned")
    }
}

async fn originals(desk: &Desk, api: &Api, path: Path) -> Result<Exit, Failure> {
    asked(desk, api, path, |data: &OriginalsData| {
        if data.messages.is_empty() {
            return say!("nothing found");
        }
        data.messages
            .iter()
            .try_for_each(|found| say!("{}  {}", found.id, found.message))
    })
    .await
}

#[cfg(test)]
mod tests;
