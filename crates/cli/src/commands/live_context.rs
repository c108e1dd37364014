//! `quipu context list|show|stats|compact|recover|find|pin|fork|rewind`: live conversations.
//!
//! Owns: the tables. Never: a decision; the API makes them.

use gateway::wire::conversation::{
    ArchivesData, CompactData, ContextStatsData, ConversationsData, DoneData, OriginalsData, ViewData,
};
use model::text::counted;
use serde_json::{Value, json};

use super::Desk;
use crate::api::{Api, Path};
use crate::args::{LiveArgs, LiveContext, LiveOf};
use crate::error::{Exit, Failure};
use crate::output::say;

/// Maximum characters of a message in a table.
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

fn within(path: &str, of: &LiveOf) -> Path {
    Path::new(path, "")
        .with("user_id", &of.user)
        .within(&of.scope.app, &of.scope.project)
}

fn look(path: &str, live: &LiveArgs) -> Path {
    within(path, &live.of).with("conversation_id", &live.conversation)
}

fn body(live: &LiveArgs, mut own: Value) -> Value {
    let of = &live.of;
    own["user_id"] = of.user.as_str().into();
    own["app_id"] = of.scope.app.as_str().into();
    own["project_id"] = of.scope.project.as_str().into();
    own["conversation_id"] = live.conversation.as_str().into();
    own
}

async fn change(desk: &Desk, api: &Api, path: &str, body: Value, done: &str) -> Result<Exit, Failure> {
    let data: DoneData = api.post(path, &body).await?;
    desk.tell(&data, || say!("{done}"))
}

async fn list(desk: &Desk, api: &Api, of: &LiveOf) -> Result<Exit, Failure> {
    let path = within("/context/conversations", of);
    let data: ConversationsData = api.get(path.text()).await?;
    desk.tell(&data, || {
        if data.conversations.is_empty() {
            return say!("no conversations of {}", of.user);
        }
        data.conversations.iter().try_for_each(|id| say!("{id}"))
    })
}

async fn show(desk: &Desk, api: &Api, live: &LiveArgs) -> Result<Exit, Failure> {
    let data: ViewData = api.get(look("/context/view", live).text()).await?;
    desk.tell(&data, || {
        data.messages.iter().try_for_each(|message| {
            let pin = if message.pinned { "pinned " } else { "" };
            let text = model::excerpt(&message.text, EXCERPT_CHARS_MAX);
            let (id, role, tokens) = (&message.id, &message.role, message.tokens);
            say!("{id:>6}  {role:<9} {tokens:>7} tokens  {pin}{text}")
        })
    })
}

/// One line for each figure of a conversation.
fn lines(stats: &ContextStatsData, archives: &ArchivesData) -> Vec<String> {
    let mut lines = Vec::new();
    let mut row = |what: &str, text: String| lines.push(format!("{what:<16} {text}"));
    let used = match (stats.limit_tokens, stats.used_percent) {
        (Some(limit), Some(percent)) => format!("of {limit} tokens ({percent:.0} %)"),
        _ => "tokens".to_owned(),
    };
    let (tokens, messages) = (stats.tokens, counted(stats.messages, "message", "messages"));
    let ever = stats.messages_ever;
    let context = format!("{tokens} {used}, {messages} in view, {ever} ever");
    row("context", context);
    row("system, tools", format!("{} tokens", stats.head_tokens));
    let due = stats.compacts_at_tokens;
    let due = due.map(|tokens| format!(", compacts at {tokens} tokens"));
    row("engine", format!("{}{}", stats.engine, due.unwrap_or_default()));
    let last = stats.last_compaction.as_deref();
    let last = last.unwrap_or("never since the start");
    let (compactions, saved) = (stats.compactions, stats.saved_tokens);
    let compactions = format!("{compactions} ({saved} tokens saved), last {last}");
    row("compactions", compactions);
    for step in &stats.last_steps {
        let saved = step.saved_tokens.map(|tokens| format!("{tokens} tokens saved"));
        let saved = saved.unwrap_or_else(|| "too little saved".to_owned());
        row("last step", format!("{}: {saved}", step.effort));
    }
    row("masked results", stats.masked_results.to_string());
    let times = stats.epoch.saturating_sub(1);
    let reset = counted(times, "time", "times");
    let why = [format!(", the last time: {}", stats.reasons.join(", "))];
    let why: String = why.into_iter().filter(|_| times > 0).collect();
    row("prefix", format!("reset {reset}{why}"));
    if stats.is_near_limit {
        let full = "the context is nearly full: compact it, or start a new conversation";
        row("warning", full.to_owned());
    }
    for fault in &stats.engine_faults {
        row("engine fault", fault.clone());
    }
    for archive in &archives.archives {
        let (covers, why) = (archive.covers.join(", "), &archive.reason);
        let (before, after) = (archive.tokens_before, archive.tokens_after);
        row(
            &format!("summary {:<8}", archive.id),
            format!("{covers} ({why}): {before} tokens became {after}"),
        );
    }
    if stats.engine == "codebuddy" {
        lines.push(codebuddy_metrics(stats));
    }
    lines
}

/// The figures in code-buddy's format, for the preset `codebuddy`.
fn codebuddy_metrics(stats: &ContextStatsData) -> String {
    let last = stats.last_compaction.as_deref().unwrap_or("Never");
    let (summaries, tokens, peak) = (stats.summaries, stats.summaries_tokens, stats.messages_peak);
    let (compactions, saved, warnings) = (stats.compactions, stats.saved_tokens, stats.warnings);
    format!(
        "Context Manager Memory Metrics\n  Summaries stored: {summaries} ({tokens} tokens)\n  Peak messages: {peak}\n  \
         Compressions: {compactions} ({saved} tokens saved)\n  Last compression: {last}\n  Warnings triggered: {warnings}"
    )
}

async fn stats(desk: &Desk, api: &Api, live: &LiveArgs) -> Result<Exit, Failure> {
    let stats: ContextStatsData = api.get(look("/context/stats", live).text()).await?;
    let archives = api.get(look("/context/archives", live).text()).await?;
    desk.tell(&stats, || say!("{}", lines(&stats, &archives).join("\n")))
}

async fn compact(desk: &Desk, api: &Api, live: &LiveArgs) -> Result<Exit, Failure> {
    let data: CompactData = api.post("/context/compact", &body(live, json!({}))).await?;
    desk.tell(&data, || say!("{}", compacted(&data)))
}

/// The result of a compaction as text.
fn compacted(data: &CompactData) -> String {
    let (before, after) = (data.tokens_before, data.tokens_after);
    if after < before {
        format!("compacted from {before} to {after} tokens")
    } else {
        format!("nothing to compact: all {after} tokens are recent or pinned")
    }
}

async fn originals(desk: &Desk, api: &Api, path: Path) -> Result<Exit, Failure> {
    let data: OriginalsData = api.get(path.text()).await?;
    desk.tell(&data, || {
        if data.messages.is_empty() {
            return say!("nothing found");
        }
        let mut messages = data.messages.iter();
        messages.try_for_each(|found| say!("{}  {}", found.id, found.message))
    })
}

#[cfg(test)]
mod tests;
