//! Output of a chat.
//!
//! Owns: text for people, one object a line for programs, dimmed reasoning. Never: the messages themselves.

use std::fmt;
use std::io::Write;

use serde::Serialize;
use serde_json::json;

use crate::error::Failure;
use crate::output::{harmless, written};

const DIM: &str = "\x1b[2m";
const PLAIN: &str = "\x1b[0m";

/// Reader of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Viewer {
    /// A person at a terminal.
    Person,
    /// A file or a pipe of text.
    Pipe,
    /// One JSON object a line.
    Program,
}

/// Output of a chat.
pub(super) struct Screen<'a> {
    pub(super) out: &'a mut dyn Write,
    pub(super) err: &'a mut dyn Write,
    pub(super) viewer: Viewer,
    /// Somebody types.
    pub(super) prompts: bool,
    /// Thoughts are dimmed.
    pub(super) coloured: bool,
    /// A thought is being shown.
    thinking: bool,
}

impl<'a> Screen<'a> {
    pub(super) fn new(out: &'a mut dyn Write, err: &'a mut dyn Write, viewer: Viewer, prompts: bool) -> Self {
        Self {
            out,
            err,
            viewer,
            prompts,
            coloured: viewer == Viewer::Person,
            thinking: false,
        }
    }

    /// Invites to type.
    pub(super) fn prompt(&mut self, sign: &str) -> Result<(), Failure> {
        if self.prompts {
            self.write(sign)?;
        }
        Ok(())
    }

    /// More of what the model thinks; only a person at a terminal sees it.
    pub(super) fn thought(&mut self, text: &str) -> Result<(), Failure> {
        if self.viewer != Viewer::Person || text.is_empty() {
            return Ok(());
        }
        if !self.thinking {
            self.thinking = true;
            if self.coloured {
                self.write(DIM)?;
            }
        }
        self.write(&harmless(text))
    }

    /// Shows the next part of the model's answer.
    pub(super) fn said(&mut self, text: &str) -> Result<(), Failure> {
        match self.viewer {
            _ if text.is_empty() => Ok(()),
            Viewer::Program => Ok(()),
            Viewer::Pipe => self.write(text),
            Viewer::Person => {
                self.end_thought()?;
                self.write(&harmless(text))
            }
        }
    }

    /// Ends the answer's line.
    pub(super) fn end(&mut self, text: &str) -> Result<(), Failure> {
        self.end_thought()?;
        if self.viewer == Viewer::Program || text.is_empty() || text.ends_with('\n') {
            return Ok(());
        }
        self.write("\n")
    }

    fn end_thought(&mut self) -> Result<(), Failure> {
        if std::mem::take(&mut self.thinking) {
            self.write(if self.coloured { PLAIN } else { "" })?;
            self.write("\n")?;
        }
        Ok(())
    }

    /// A line of this program's own.
    pub(super) fn note(&mut self, text: impl fmt::Display) -> Result<(), Failure> {
        if self.viewer == Viewer::Program {
            return self.object(&json!({"note": text.to_string()}));
        }
        self.write(&format!("{text}\n"))
    }

    /// One object on one line.
    pub(super) fn object(&mut self, value: &impl Serialize) -> Result<(), Failure> {
        let text = serde_json::to_string(value).map_err(anyhow::Error::from)?;
        self.write(&format!("{text}\n"))
    }

    /// Shows a failure with its hint in one line; the chat continues.
    pub(super) fn trouble(&mut self, failure: &Failure) -> Result<(), Failure> {
        let message = format!("{:#}", failure.error).replace(['\n', '\r'], " ");
        if self.viewer == Viewer::Program {
            return self.object(&json!({"error": {"message": message, "hint": failure.hint}}));
        }
        let hint = failure.hint.iter().map(|hint| format!(" ({hint})"));
        let line = format!("error: {}{}\n", harmless(&message), hint.collect::<String>());
        written(self.err.write_all(line.as_bytes()))
    }

    fn write(&mut self, text: &str) -> Result<(), Failure> {
        written(
            self.out
                .write_all(text.as_bytes())
                .and_then(|()| self.out.flush()),
        )
    }
}
