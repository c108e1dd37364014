//! Commands that begin with `/`.
//!
//! Owns: the commands of a chat, the sum of its tokens. Never: a turn.

use std::fmt;
use std::ops::ControlFlow;

use serde::Serialize;
use serde_json::{Value, json};
use text::counted;
use wire::conversation::CompactData;
use wire::{DeleteData, DeleteRequest, SearchRequest};

use super::Talk;
use super::input::Typed;
use super::screen::Viewer;
use super::server::Server;
use crate::api::Path;
use crate::args::DEFAULT_USER;
use crate::commands::cache;
use crate::commands::live_context::{Figures, compacted};
use crate::error::Failure;
use crate::output::{self, Look};

const HELP: &str = "\
/memory         what memory was put before the model in the last turn
/memory WORDS   search the memory
/cost           the tokens of this talk
/cache          what each request of this conversation cost, and why
/context        how full this conversation is, and its summaries
/compact        compact this conversation now
/forget         forget this conversation and begin anew
/incognito      from here on keep nothing of what is said, or keep it again
/system TEXT    set the system prompt; without a text, remove it
/new            begin a new conversation
/quit           end, as the end of input does
A line that ends in \\ goes on in the next one. Ctrl-C stops an answer; where there is none, it ends the talk.";

const FOUND_MAX: i64 = 5;

/// The tokens of a chat, as the model server counted them.
#[derive(Debug, Default, Serialize)]
pub(super) struct ChatCost {
    prompt_tokens: u64,
    cached_tokens: u64,
    completion_tokens: u64,
    turns: u64,
    /// Turns with an unknown number of tokens: stopped, failed, or not counted by the server.
    turns_unknown: u64,
}

impl ChatCost {
    /// Adds a turn.
    pub(super) fn add(&mut self, usage: Option<&Value>) {
        self.turns += 1;
        let Some(usage) = usage else {
            self.turns_unknown += 1;
            return;
        };
        let count = |pointer| usage.pointer(pointer).and_then(Value::as_u64).unwrap_or_default();
        self.prompt_tokens += count("/prompt_tokens");
        self.cached_tokens += count("/prompt_tokens_details/cached_tokens");
        self.completion_tokens += count("/completion_tokens");
    }
}

impl fmt::Display for ChatCost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            prompt_tokens,
            cached_tokens,
            completion_tokens,
            turns,
            turns_unknown,
        } = self;
        write!(
            f,
            "turns: {turns}; tokens: {prompt_tokens} prompt ({cached_tokens} cached), {completion_tokens} completion"
        )?;
        if *turns_unknown > 0 {
            write!(f, "; turns without token counts: {turns_unknown}")?;
        }
        Ok(())
    }
}

async fn figures(server: &Server, id: &str) -> Result<Figures, Failure> {
    let path = |route| {
        Path::new(route, "")
            .with("user_id", DEFAULT_USER)
            .with("conversation_id", id)
    };
    Ok(Figures {
        stats: server.get(path("/api/v2/context/stats").text()).await?,
        archives: server.get(path("/api/v2/context/archives").text()).await?,
    })
}

async fn compact(server: &Server, id: &str) -> Result<CompactData, Failure> {
    let body = json!({"user_id": DEFAULT_USER, "conversation_id": id});
    server.post("/api/v2/context/compact", &body).await
}

impl Talk<'_> {
    /// Executes a command; breaks if the chat must end.
    pub(super) async fn command(&mut self, line: &str) -> Result<ControlFlow<()>, Failure> {
        let (command, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        match (command, rest.trim()) {
            ("/quit", _) => return Ok(ControlFlow::Break(())),
            ("/help", _) => self.screen.note(HELP)?,
            ("/memory", "") => {
                let injected = self.injected.as_deref().unwrap_or("nothing was injected");
                self.screen.note(injected)?;
            }
            ("/memory", words) => self.search(words).await?,
            ("/cost", _) if self.screen.viewer == Viewer::Program => self.screen.object(&self.cost)?,
            ("/cost", _) => self.screen.note(&self.cost)?,
            ("/cache", _) => {
                let of = async |server: &Server, id: &str| cache::of(server, Some(id)).await;
                self.ask(of, cache::conversations).await?;
            }
            ("/context", _) => self.ask(figures, |data| Ok(data.to_string())).await?,
            ("/compact", _) => self.ask(compact, |data| Ok(compacted(data))).await?,
            ("/forget", _) => self.forget().await?,
            ("/incognito", _) => self.incognito()?,
            ("/system", text) => {
                self.args.system = (!text.is_empty()).then(|| text.to_owned());
                self.screen.note(if text.is_empty() {
                    "no system prompt"
                } else {
                    "the system prompt applies from the next turn on"
                })?;
            }
            ("/new", _) => {
                self.renew();
                self.screen.note("a new conversation")?;
            }
            (other, _) => {
                return Err(
                    Failure::usage(format!("`{other}` is not a command")).hint("/help lists the commands")
                );
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    async fn search(&mut self, words: &str) -> Result<(), Failure> {
        let request = SearchRequest {
            user_id: Some(DEFAULT_USER.to_owned()),
            top_k: FOUND_MAX,
            include_messages: FOUND_MAX,
            ..SearchRequest::new(words)
        };
        let asking = self.server.post::<Value>("/api/v1/memory/search", &request);
        let Some(found) = self.input.interrupts.unless(asking).await else {
            return self.screen.note("stopped");
        };
        let found = found?;
        if self.screen.viewer == Viewer::Program {
            return self.screen.object(&found);
        }
        let look = Look {
            query: words,
            ..Look::default()
        };
        output::found(&serde_json::from_value(found).map_err(anyhow::Error::from)?, look)
    }

    /// Asks the server about this conversation and shows the answer.
    async fn ask<T: Serialize>(
        &mut self,
        asked: impl AsyncFnOnce(&Server, &str) -> Result<T, Failure>,
        text: impl FnOnce(&T) -> Result<String, Failure>,
    ) -> Result<(), Failure> {
        let Some(id) = &self.conversation else {
            return self.screen.note("this conversation has no turn yet");
        };
        let asking = asked(&self.server, id);
        let Some(data) = self.input.interrupts.unless(asking).await else {
            return self.screen.note("stopped");
        };
        let data = data?;
        if self.screen.viewer == Viewer::Program {
            return self.screen.object(&data);
        }
        let text = text(&data)?;
        self.screen.note(text.trim_end())
    }

    async fn forget(&mut self) -> Result<(), Failure> {
        let Some(id) = self.conversation.clone() else {
            return self
                .screen
                .note("nothing to delete: the server has not named this conversation");
        };
        if !self.args.yes {
            let question = format!("Delete everything of `{id}`? This cannot be undone. [y/N] ");
            let typed = self.input.text(&mut self.screen, &question).await?;
            if !matches!(&typed, Typed::Text(text) if matches!(text.trim(), "y" | "Y" | "yes")) {
                return self.screen.note("nothing was deleted");
            }
        }
        let request = DeleteRequest {
            session_id: Some(id),
            ..DeleteRequest::default()
        };
        let asking = self.server.post::<DeleteData>("/api/v1/memory/delete", &request);
        let Some(forgot) = self.input.interrupts.unless(asking).await else {
            return self
                .screen
                .note("stopped; the server may have deleted it already");
        };
        let DeleteData {
            count, message_count, ..
        } = forgot?;
        // Said again, it would be learnt again.
        self.renew();
        self.screen.note(format_args!(
            "deleted {} and {}; new conversation",
            counted(count, "memory", "memories"),
            counted(message_count, "message", "messages")
        ))
    }

    fn incognito(&mut self) -> Result<(), Failure> {
        match self.incognito.take() {
            None => {
                self.incognito = Some(self.history.len());
                self.screen
                    .note("incognito: Quipu stores no message from here on")
            }
            Some(before) => {
                // Sent again with the history, it would be kept after all.
                self.history.truncate(before);
                self.screen
                    .note("Quipu stores messages again; the incognito messages are gone")
            }
        }
    }

    /// Starts again, under the same rules.
    fn renew(&mut self) {
        self.history.clear();
        self.conversation = None;
        self.incognito = self.incognito.map(|_| 0);
        self.injected = None;
        self.cost = ChatCost::default();
    }
}
