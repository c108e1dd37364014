//! `quipu chat`: a conversation with a model through the running server.
//!
//! Owns: the history, which this process keeps and sends whole as any client does; the changes of one turn. Never:
//! memory; the server recalls and learns.

mod input;
mod screen;
pub(super) mod server;
mod slash;
mod turn;

use std::io::{self, IsTerminal};
use std::ops::ControlFlow;

use serde_json::{Value, json};

use self::input::{Input, Typed};
use self::screen::{Screen, Viewer};
use self::server::Server;
use self::turn::{ChatAnswer, receive};
use super::{Desk, name, runtime};
use crate::args::{ChatArgs, DEFAULT_USER};
use crate::error::{Exit, Failure};
use crate::output;

pub(super) fn chat(desk: &Desk, args: ChatArgs) -> Result<Exit, Failure> {
    if let Some(id) = &args.conversation {
        name("--conversation", id)?;
    }
    runtime()?.block_on(async {
        let server = Server::find(desk, args.url.as_deref()).await?;
        let (mut out, mut err) = (io::stdout(), io::stderr());
        let is_terminal = out.is_terminal();
        let viewer = match desk.json {
            true => Viewer::Program,
            false if is_terminal => Viewer::Person,
            false => Viewer::Pipe,
        };
        let prompts = viewer == Viewer::Person && io::stdin().is_terminal();
        let mut screen = Screen::new(&mut out, &mut err, viewer, prompts);
        screen.coloured &= output::is_coloured(is_terminal);
        let input = if args.message.is_empty() {
            Input::standard()
        } else {
            Input::nothing()
        };
        Talk::new(server, args, input, screen).run().await
    })
}

/// A chat with its state.
struct Talk<'a> {
    server: Server,
    args: ChatArgs,
    input: Input,
    screen: Screen<'a>,
    /// The messages so far, as the next request contains them.
    history: Vec<Value>,
    /// As the server named it, or the person who began.
    conversation: Option<String>,
}

impl<'a> Talk<'a> {
    fn new(server: Server, args: ChatArgs, input: Input, screen: Screen<'a>) -> Self {
        Self {
            conversation: args.conversation.clone(),
            server,
            args,
            input,
            screen,
            history: Vec::new(),
        }
    }

    /// Sends the messages of the command line, else every typed line until the end of the input.
    async fn run(mut self) -> Result<Exit, Failure> {
        if self.args.message.is_empty() {
            return self.typed().await;
        }
        for text in std::mem::take(&mut self.args.message) {
            let exit = self.turn(&text).await?;
            if exit != Exit::Ok {
                return Ok(exit);
            }
        }
        Ok(Exit::Ok)
    }

    async fn typed(&mut self) -> Result<Exit, Failure> {
        if self.screen.prompts {
            self.screen
                .note("/help lists the commands; Ctrl-C stops an answer")?;
        }
        let mut exit = Exit::Ok;
        loop {
            let text = match self.input.text(&mut self.screen, "> ").await? {
                Typed::Text(text) => text,
                Typed::End => return Ok(exit),
                Typed::Interrupt => return Ok(Exit::Interrupted),
            };
            let done = match text.trim() {
                "" => continue,
                command if command.starts_with('/') => self.command(command),
                // An interrupt ends the answer, not the chat.
                _ => self.turn(&text).await.map(|_| ControlFlow::Continue(())),
            };
            match done {
                Ok(ControlFlow::Continue(())) => {}
                Ok(ControlFlow::Break(())) => return Ok(exit),
                Err(failure) => {
                    self.screen.trouble(&failure)?;
                    // A person has read it.
                    exit = if self.screen.prompts { exit } else { failure.exit };
                }
            }
        }
    }

    /// Sends a message and shows the answer. A shown answer stays in the history; a message without an answer does not.
    async fn turn(&mut self, text: &str) -> Result<Exit, Failure> {
        self.history.push(json!({"role": "user", "content": text}));
        let body = self.request();
        let mut headers = vec![("x-quipu-user", DEFAULT_USER)];
        headers.extend(
            self.conversation
                .iter()
                .map(|id| ("x-quipu-conversation", id.as_str())),
        );
        let mut answer = ChatAnswer::default();
        let receiving = receive(&self.server, &body, &headers, &mut answer, &mut self.screen);
        let received = self.input.interrupts.unless(receiving).await;
        self.screen.end(&answer.text)?;
        if answer.text.is_empty() {
            self.history.pop();
        } else {
            self.history
                .push(json!({"role": "assistant", "content": answer.text}));
        }
        if answer.conversation.is_some() {
            self.conversation.clone_from(&answer.conversation);
        }
        if let Some(Err(failure)) = received {
            return Err(failure);
        }
        if self.screen.viewer == Viewer::Program {
            self.screen.object(&json!({
                "text": answer.text,
                "usage": answer.usage,
                "conversation": answer.conversation,
                "injected": answer.injected,
            }))?;
        }
        if received.is_some() {
            return Ok(Exit::Ok);
        }
        self.screen.note("stopped")?;
        Ok(Exit::Interrupted)
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
}

#[cfg(test)]
pub(super) mod tests;
