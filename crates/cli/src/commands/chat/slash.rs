//! Commands that begin with `/`.
//!
//! Owns: the commands of a chat. Never: a turn.

use std::ops::ControlFlow;

use super::Talk;
use crate::error::Failure;

const HELP: &str = "\
/incognito      from here on keep nothing of what is said, or keep it again
/system TEXT    set the system prompt; without a text, remove it
/new            begin a new conversation
/quit           end, as the end of input does
A line that ends in \\ goes on in the next one. Ctrl-C stops an answer; where there is none, it ends the talk.";

impl Talk<'_> {
    /// Executes a command; breaks if the chat must end.
    pub(super) fn command(&mut self, line: &str) -> Result<ControlFlow<()>, Failure> {
        let (command, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        match (command, rest.trim()) {
            ("/quit", _) => return Ok(ControlFlow::Break(())),
            ("/help", _) => self.screen.note(HELP)?,
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
    }
}
