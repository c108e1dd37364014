//! `quipu cache`: what requests through the running server cost, and why a prefix was not reused.
//!
//! Owns: the tables. Never: a measure; the server has them.

use std::collections::BTreeMap;
use std::fmt;
use std::io::Write;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::chat::server::Server;
use super::{Desk, runtime};
use crate::api::Path;
use crate::args::CacheArgs;
use crate::error::{Exit, Failure};
use crate::output::written;

pub(super) fn cache(desk: &Desk, args: &CacheArgs) -> Result<Exit, Failure> {
    runtime()?.block_on(async {
        let server = Server::find(desk, None).await?;
        report(&server, args, desk.json, &mut std::io::stdout()).await
    })
}

async fn report(
    server: &Server,
    args: &CacheArgs,
    as_json: bool,
    out: &mut dyn Write,
) -> Result<Exit, Failure> {
    let data = of(server, args.conversation.as_deref()).await?;
    let text = if as_json {
        serde_json::to_string_pretty(&data).map_err(anyhow::Error::from)? + "\n"
    } else {
        upstreams(&data)? + &conversations(&data)?
    };
    written(out.write_all(text.as_bytes()))?;
    Ok(Exit::Ok)
}

/// What the server measured, of one conversation or of all.
pub(super) async fn of(server: &Server, conversation: Option<&str>) -> Result<Value, Failure> {
    let mut path = Path::new("/api/v1/cache", "");
    if let Some(id) = conversation {
        path = path.with("conversation", id);
    }
    server.get(path.text()).await
}

/// What went to one model's server.
#[derive(Debug, Deserialize)]
struct Upstream {
    #[serde(rename = "upstream")]
    name: String,
    kind: String,
    requests: u64,
    prompt_tokens: u64,
    cached_tokens: u64,
    evaluated_tokens: u64,
    hit_ratio: Option<f64>,
    extension_ratio: Option<f64>,
    first_token_ms_p50: Option<f64>,
    first_token_ms_p99: Option<f64>,
    classes: BTreeMap<String, u64>,
}

#[derive(Debug, Deserialize)]
struct Conversation {
    #[serde(rename = "conversation")]
    id: String,
    upstream: String,
    requests: Vec<Request>,
}

#[derive(Debug, Deserialize)]
struct Request {
    /// Milliseconds or ISO 8601.
    at: Value,
    prompt_tokens: Option<u64>,
    cached_tokens: Option<u64>,
    evaluated_tokens: Option<u64>,
    first_token_ms: Option<f64>,
    expected_tokens: Option<u64>,
    class: String,
    #[serde(default)]
    reasons: Vec<String>,
    injected_tokens: Option<u64>,
}

impl fmt::Display for Upstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} ({})", self.name, self.kind)?;
        writeln!(
            f,
            "  {} requests, {} prompt tokens: {} cached, {} evaluated; {} of the tokens hit, {} of the requests \
             extend",
            self.requests,
            self.prompt_tokens,
            self.cached_tokens,
            self.evaluated_tokens,
            percent(self.hit_ratio),
            percent(self.extension_ratio)
        )?;
        writeln!(
            f,
            "  first token: half within {}, 99 of 100 within {}",
            millis(self.first_token_ms_p50),
            millis(self.first_token_ms_p99)
        )?;
        for (class, count) in &self.classes {
            writeln!(f, "  {count:>7}  {}", words(class))?;
        }
        writeln!(f)
    }
}

impl fmt::Display for Conversation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "conversation {} at {}", self.id, self.upstream)?;
        writeln!(
            f,
            "  {:<19}  {:>8}  {:>8}  {:>9}  {:>8}  {:>8}  {:>11}  why",
            "at", "prompt", "cached", "evaluated", "expected", "injected", "first token"
        )?;
        self.requests
            .iter()
            .try_for_each(|request| writeln!(f, "{request}"))
    }
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = self
            .at
            .as_str()
            .map_or_else(|| self.at.to_string(), str::to_owned);
        write!(
            f,
            "  {:<19}  {:>8}  {:>8}  {:>9}  {:>8}  {:>8}  {:>11}  {}",
            at.get(..19).unwrap_or(&at),
            count(self.prompt_tokens),
            count(self.cached_tokens),
            count(self.evaluated_tokens),
            count(self.expected_tokens),
            count(self.injected_tokens),
            millis(self.first_token_ms),
            words(&self.class)
        )?;
        if !self.reasons.is_empty() {
            write!(f, " ({})", self.reasons.join("; "))?;
        }
        Ok(())
    }
}

/// A block for each model's server.
fn upstreams(data: &Value) -> Result<String, Failure> {
    let upstreams: Vec<Upstream> = part(data, "upstreams")?;
    Ok(upstreams.iter().map(Upstream::to_string).collect())
}

/// A table for each conversation, a line for each request.
pub(super) fn conversations(data: &Value) -> Result<String, Failure> {
    let conversations: Vec<Conversation> = part(data, "conversations")?;
    if conversations.is_empty() {
        return Ok("no conversation was measured yet\n".to_owned());
    }
    Ok(conversations.iter().map(Conversation::to_string).collect())
}

fn part<T: DeserializeOwned>(data: &Value, key: &str) -> Result<Vec<T>, Failure> {
    Vec::deserialize(&data[key]).map_err(|error| {
        Failure::from(anyhow::Error::from(error).context(format!("the server's {key} cannot be read")))
            .hint("the server may be of another version: start it again")
    })
}

fn percent(ratio: Option<f64>) -> String {
    ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{:.0} %", ratio * 100.0))
}

fn millis(millis: Option<f64>) -> String {
    millis.map_or_else(|| "-".to_owned(), |millis| format!("{millis:.0} ms"))
}

fn count(count: Option<u64>) -> String {
    count.map_or_else(|| "-".to_owned(), |count| count.to_string())
}

/// What a class of the server's means; a word that is not known stays as it is.
fn words(class: &str) -> &str {
    match class {
        "first" => "the first request",
        "extension" => "extends the last request",
        "model" => "another model",
        "system" => "the system prompt changed",
        "tools" => "the tools changed",
        "message_user" => "a user's message changed",
        "message_assistant" => "an assistant's message changed",
        "message_tool" => "a tool's message changed",
        "message_system" => "a system message changed",
        "message_other" => "a message changed",
        "assistant_echo" => "the client sent back another reply than it was given",
        "tail_injection" => "what was injected last time is gone or changed",
        "slot_stolen" => "another request took the slot",
        "checkpoint_floor" => "the model's state goes back to a checkpoint only",
        "evicted" => "the model's server dropped its cache, or was started again",
        "template_drop" => "the template made something else of it",
        other => other,
    }
}

#[cfg(test)]
mod tests;
