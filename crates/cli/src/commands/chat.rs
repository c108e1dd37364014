//! `quipu chat`: a conversation with a model through the running server, one line for each message.
//!
//! Owns: the history, which this process keeps and sends as a whole, like any client; the display of the answer while it arrives.
//! Never: memory; the server recalls and learns.

use std::io::{self, IsTerminal, Write};

use prefix::stream::sse::Decoder;
use serde_json::{Value, json};

use super::{Desk, runtime};
use crate::api::Api;
use crate::args::{ChatArgs, DEFAULT_USER};
use crate::error::{Exit, Failure, name};
use crate::output::{self, harmless, written};

pub(super) fn chat(desk: &Desk, args: ChatArgs) -> Result<Exit, Failure> {
    if let Some(id) = &args.conversation {
        name("--conversation", id)?;
    }
    let is_terminal = !desk.json && io::stdout().is_terminal();
    runtime()?.block_on(async {
        let mut talk = Talk {
            api: Api::of_server(desk)?,
            args,
            out: &mut io::stdout(),
            report: &mut |failure| output::failure(failure, desk.json),
            as_json: desk.json,
            is_terminal,
            prompts: is_terminal && io::stdin().is_terminal(),
            history: Vec::new(),
        };
        talk.run(io::stdin().lines()).await
    })
}

/// The state of a chat.
struct Talk<'a> {
    api: Api,
    /// Its conversation is the last one that the server named.
    args: ChatArgs,
    out: &'a mut dyn Write,
    /// Prints a failure that does not end the chat.
    report: &'a mut dyn FnMut(&Failure),
    /// Output is for a program: one JSON object a line.
    as_json: bool,
    /// Output goes to a terminal, so control characters of messages are removed.
    is_terminal: bool,
    /// A person types the messages.
    prompts: bool,
    /// The messages so far, as the next request contains them.
    history: Vec<Value>,
}

impl Talk<'_> {
    /// Sends the messages of the command line, else every line until the end of the input.
    async fn run(&mut self, mut lines: impl Iterator<Item = io::Result<String>>) -> Result<Exit, Failure> {
        let given = std::mem::take(&mut self.args.message);
        for text in &given {
            self.turn(text).await?;
        }
        let mut exit = Exit::Ok;
        while given.is_empty() {
            if self.prompts {
                self.write("> ")?;
            }
            let Some(line) = lines.next().transpose()? else {
                break;
            };
            let done = match line.trim() {
                "" => continue,
                "/quit" => break,
                "/new" => {
                    self.history.clear();
                    self.args.conversation = None;
                    continue;
                }
                other if other.starts_with('/') => Err(Failure::usage(format!("`{other}` is not a command"))
                    .hint("/new begins a new conversation, /quit ends the chat")),
                _ => self.turn(&line).await,
            };
            if let Err(failure) = done {
                (self.report)(&failure);
                // A person has seen the failure already.
                exit = if self.prompts { exit } else { failure.exit };
            }
        }
        Ok(exit)
    }

    /// Sends a message and shows the answer. An answer that was shown stays in the history; a message without an answer does not.
    async fn turn(&mut self, text: &str) -> Result<(), Failure> {
        self.history.push(json!({"role": "user", "content": text}));
        let (mut text, mut usage) = (String::new(), Value::Null);
        let received = self.receive(&mut text, &mut usage).await;
        if text.is_empty() {
            self.history.pop();
        } else {
            self.history.push(json!({"role": "assistant", "content": text}));
            if !self.as_json && !text.ends_with('\n') {
                self.write("\n")?;
            }
        }
        let injected = received?;
        if !self.as_json {
            return Ok(());
        }
        let conversation = &self.args.conversation;
        let answer =
            json!({"text": text, "usage": usage, "conversation": conversation, "injected": injected});
        self.write(&format!("{answer}\n"))
    }

    /// Sends the history and shows the text while it arrives; after an error, `text` is the received part. Returns the value of
    /// the header for injected memory.
    async fn receive(&mut self, text: &mut String, usage: &mut Value) -> Result<Option<String>, Failure> {
        let system = self.args.system.iter();
        let system = system.map(|text| json!({"role": "system", "content": text}));
        let mut body = json!({
            "messages": system.chain(self.history.iter().cloned()).collect::<Vec<_>>(),
            "stream": true,
            "stream_options": {"include_usage": true},
        });
        if let Some(model) = &self.args.model {
            body["model"] = json!(model);
        }
        let mut headers = vec![("x-quipu-user", DEFAULT_USER)];
        let named = self.args.conversation.as_deref();
        headers.extend(named.map(|id| ("x-quipu-conversation", id)));
        let body = body.to_string().into_bytes();
        let client = &self.api.client;
        let mut arriving = client.stream("/v1/chat/completions", body, &headers).await?;
        if !(200..300).contains(&arriving.status) {
            return Err(arriving.rest().await?.refused().into());
        }
        let header = |name: &str| arriving.header(name).map(str::to_owned);
        let injected = header("x-quipu-injected");
        self.args.conversation = header("x-quipu-conversation").or(self.args.conversation.take());
        let (mut events, mut is_whole) = (Decoder::default(), false);
        while let Some(piece) = arriving.next().await? {
            for event in events.push(piece.as_ref()) {
                is_whole |= event.data == "[DONE]" || self.take(&event.data, text, usage)?;
            }
        }
        if is_whole {
            return Ok(injected);
        }
        Err(torn("no reason given"))
    }

    /// Processes one chunk of an answer; returns whether it is the last one with text.
    fn take(&mut self, payload: &str, text: &mut String, usage: &mut Value) -> Result<bool, Failure> {
        let mut chunk: Value = serde_json::from_str(payload).map_err(torn)?;
        if !chunk["error"].is_null() {
            return Err(torn(harmless(&gateway::reason(&chunk))));
        }
        if !chunk["usage"].is_null() {
            *usage = chunk["usage"].take();
        }
        let mut is_last = false;
        for choice in chunk["choices"].as_array().into_iter().flatten() {
            let piece = choice["delta"]["content"].as_str().unwrap_or_default();
            text.push_str(piece);
            if self.is_terminal {
                self.write(&harmless(piece))?;
            } else if !self.as_json {
                self.write(piece)?;
            }
            is_last |= !choice["finish_reason"].is_null();
        }
        Ok(is_last)
    }

    fn write(&mut self, text: &str) -> Result<(), Failure> {
        let shown = self.out.write_all(text.as_bytes());
        written(shown.and_then(|()| self.out.flush()))
    }
}

/// The failure for an answer that ended too early.
fn torn(why: impl std::fmt::Display) -> Failure {
    Failure::failed(format!("the model server's answer ended too early: {why}"))
        .hint("send the message again")
}

#[cfg(test)]
pub(super) mod tests;
