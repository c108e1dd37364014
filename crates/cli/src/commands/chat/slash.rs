//! Commands that begin with `/`.
//!
//! Owns: the commands of a chat. Never: a turn.

use std::ops::ControlFlow;

use super::Talk;
use crate::error::Failure;

const HELP: &str = "\
/new     begin a new conversation
/quit    end, as the end of input does
A line that ends in \\ goes on in the next one. Ctrl-C stops an answer; where there is none, it ends the talk.";

impl Talk<'_> {
    /// Executes a command; breaks if the chat must end.
    pub(super) fn command(&mut self, line: &str) -> Result<ControlFlow<()>, Failure> {
        match line.trim() {
            "/quit" => return Ok(ControlFlow::Break(())),
            "/help" => self.screen.note(HELP)?,
            "/new" => {
                self.history.clear();
                self.conversation = None;
                self.screen.note("a new conversation")?;
            }
            other => {
                return Err(
                    Failure::usage(format!("`{other}` is not a command")).hint("/help lists the commands")
                );
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}
