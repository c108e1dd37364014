//! `quipu chat`: a conversation with a model through the running server, a line for each message.
//!
//! Owns: the history, which this process keeps and sends whole as any client does; the answer as it arrives. Never:
//! memory; the server recalls and learns.

pub(super) mod server;

use std::io::{self, IsTerminal, Write};

use prefix::stream::sse::Decoder;
use serde::Serialize;
use serde_json::{Value, json};

use self::server::{Server, message_of, unanswered};
use super::{Desk, name, runtime};
use crate::args::{ChatArgs, DEFAULT_USER};
use crate::error::{Exit, Failure};
use crate::output::{harmless, written};

pub(super) fn chat(desk: &Desk, args: ChatArgs) -> Result<Exit, Failure> {
    if let Some(id) = &args.conversation {
        name("--conversation", id)?;
    }
    let is_terminal = !desk.json && io::stdout().is_terminal();
    runtime()?.block_on(async {
        let server = Server::find(desk, args.url.as_deref()).await?;
        let mut talk = Talk {
            conversation: args.conversation.clone(),
            server,
            args,
            out: &mut io::stdout(),
            err: &mut io::stderr(),
            as_json: desk.json,
            is_terminal,
            prompts: is_terminal && io::stdin().is_terminal(),
            history: Vec::new(),
        };
        talk.run(io::stdin().lines()).await
    })
}

/// A chat with its state.
struct Talk<'a> {
    server: Server,
    args: ChatArgs,
    out: &'a mut dyn Write,
    err: &'a mut dyn Write,
    /// A program reads one object a line.
    as_json: bool,
    /// No text may command it.
    is_terminal: bool,
    /// A person types.
    prompts: bool,
    /// The messages so far, as the next request contains them.
    history: Vec<Value>,
    /// As the server named it, or the person who began.
    conversation: Option<String>,
}

/// The received part of an answer, as a program reads it.
#[derive(Debug, Default, Serialize)]
struct ChatAnswer {
    text: String,
    /// Token counts of the model server; they come at the end.
    usage: Value,
    /// The server's name for the conversation.
    conversation: Option<String>,
    /// Value of the header for injected memory.
    injected: Option<String>,
}

impl Talk<'_> {
    /// Sends the messages of the command line, else every line until the end of the input.
    async fn run(&mut self, lines: impl Iterator<Item = io::Result<String>>) -> Result<Exit, Failure> {
        if !self.args.message.is_empty() {
            for text in std::mem::take(&mut self.args.message) {
                self.turn(&text).await?;
            }
            return Ok(Exit::Ok);
        }
        let (mut lines, mut exit) = (lines, Exit::Ok);
        loop {
            if self.prompts {
                self.write("> ")?;
            }
            let Some(line) = lines.next() else { return Ok(exit) };
            let line =
                line.map_err(|error| Failure::usage(format!("cannot read standard input: {error}")))?;
            let done = match line.trim() {
                "" => continue,
                "/quit" => return Ok(exit),
                "/new" => self.forget(),
                other if other.starts_with('/') => Err(Failure::usage(format!("`{other}` is not a command"))
                    .hint("/new begins a new conversation, /quit ends the chat")),
                _ => self.turn(&line).await,
            };
            if let Err(failure) = done {
                self.report(&failure)?;
                // A person has read it.
                exit = if self.prompts { exit } else { failure.exit };
            }
        }
    }

    /// Begins a new conversation.
    fn forget(&mut self) -> Result<(), Failure> {
        self.history.clear();
        self.conversation = None;
        if self.as_json {
            return self.object(&json!({"note": "a new conversation"}));
        }
        self.write("a new conversation\n")
    }

    /// Sends a message and shows the answer. A shown answer stays in the history; a message without an answer does not.
    async fn turn(&mut self, text: &str) -> Result<(), Failure> {
        self.history.push(json!({"role": "user", "content": text}));
        let mut answer = ChatAnswer::default();
        let received = self.receive(&mut answer).await;
        if answer.text.is_empty() {
            self.history.pop();
        } else {
            self.history
                .push(json!({"role": "assistant", "content": answer.text}));
            if !self.as_json && !answer.text.ends_with('\n') {
                self.write("\n")?;
            }
        }
        if answer.conversation.is_some() {
            self.conversation.clone_from(&answer.conversation);
        }
        received?;
        if self.as_json {
            self.object(&answer)?;
        }
        Ok(())
    }

    /// Sends the history and shows the answer while it arrives; after an error, `answer` contains the received part.
    async fn receive(&mut self, answer: &mut ChatAnswer) -> Result<(), Failure> {
        let mut headers = vec![("x-quipu-user", DEFAULT_USER)];
        let named = self.conversation.iter();
        headers.extend(named.map(|id| ("x-quipu-conversation", id.as_str())));
        let path = "/v1/chat/completions";
        let mut arriving = self.server.stream(path, &self.request(), &headers).await?;
        let header = |name: &str| arriving.header(name).map(str::to_owned);
        answer.conversation = header("x-quipu-conversation");
        answer.injected = header("x-quipu-injected");
        let (mut events, mut is_whole) = (Decoder::default(), false);
        while let Some(piece) = arriving.next().await.map_err(unanswered)? {
            for event in events.push(piece.as_ref()) {
                is_whole |= event.data == "[DONE]" || self.take(&event.data, answer)?;
            }
        }
        if is_whole {
            return Ok(());
        }
        Err(Failure::from(anyhow::anyhow!("the answer ended too early")).hint("send the message again"))
    }

    fn request(&self) -> Value {
        let system = self.args.system.iter();
        let system = system.map(|text| json!({"role": "system", "content": text}));
        let messages: Vec<Value> = system.chain(self.history.iter().cloned()).collect();
        let mut body = json!({
            "messages": messages,
            "stream": true,
            "stream_options": {"include_usage": true},
        });
        if let Some(model) = &self.args.model {
            body["model"] = json!(model);
        }
        body
    }

    /// Takes a chunk of an answer; whether it is the last one with text.
    fn take(&mut self, payload: &str, answer: &mut ChatAnswer) -> Result<bool, Failure> {
        let mut chunk: Value = serde_json::from_str(payload).map_err(|error| {
            Failure::from(anyhow::Error::from(error).context("cannot read a part of the answer"))
                .hint("the model server must support OpenAI's chat completions")
        })?;
        if !chunk["error"].is_null() {
            let why = message_of(&chunk["error"]).unwrap_or("no reason given");
            let error = anyhow::anyhow!("the model server's answer ended too early: {why}");
            return Err(Failure::from(error).hint("send the message again"));
        }
        if !chunk["usage"].is_null() {
            answer.usage = chunk["usage"].take();
        }
        let mut is_last = false;
        for choice in chunk["choices"].as_array().into_iter().flatten() {
            let text = choice["delta"]["content"].as_str().unwrap_or_default();
            answer.text.push_str(text);
            if self.is_terminal {
                self.write(&harmless(text))?;
            } else if !self.as_json {
                self.write(text)?;
            }
            is_last |= !choice["finish_reason"].is_null();
        }
        Ok(is_last)
    }

    /// Shows a failure with its hint in one line; the chat continues.
    fn report(&mut self, failure: &Failure) -> Result<(), Failure> {
        let message = format!("{:#}", failure.error).replace(['\n', '\r'], " ");
        if self.as_json {
            return self.object(&json!({"error": {"message": message, "hint": failure.hint}}));
        }
        let hint = failure.hint.as_ref().map(|hint| format!(" ({hint})"));
        let hint = hint.unwrap_or_default();
        written(writeln!(self.err, "error: {}{hint}", harmless(&message)))
    }

    /// One object on one line.
    fn object(&mut self, value: &impl Serialize) -> Result<(), Failure> {
        let text = serde_json::to_string(value).map_err(anyhow::Error::from)?;
        self.write(&format!("{text}\n"))
    }

    fn write(&mut self, text: &str) -> Result<(), Failure> {
        let shown = self.out.write_all(text.as_bytes());
        written(shown.and_then(|()| self.out.flush()))
    }
}

#[cfg(test)]
pub(super) mod tests;
