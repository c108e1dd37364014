//! Input of a person: typed lines, and interrupts.
//!
//! Owns: continued lines, and the work that an interrupt ends. Never: the meaning of a line.

use std::io;
use std::thread;

use tokio::sync::mpsc::{Receiver, UnboundedReceiver, channel, unbounded_channel};
use tokio::task::JoinSet;

use super::screen::Screen;
use crate::error::Failure;

/// Presses of Ctrl-C.
#[derive(Debug)]
pub(super) struct Interrupts {
    pressed: UnboundedReceiver<()>,
    /// Waits for the signal; none in tests.
    _watch: JoinSet<()>,
}

impl Interrupts {
    /// Interrupts of this process, from now on.
    pub(super) fn of_process() -> Self {
        let (press, pressed) = unbounded_channel();
        let mut watch = JoinSet::new();
        watch.spawn(async move { while tokio::signal::ctrl_c().await.is_ok() && press.send(()).is_ok() {} });
        Self {
            pressed,
            _watch: watch,
        }
    }

    /// The result of the work; none, with the work dropped, after an interrupt.
    pub(super) async fn unless<T>(&mut self, work: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            biased;
            Some(()) = self.pressed.recv() => None,
            done = work => Some(done),
        }
    }
}

impl From<UnboundedReceiver<()>> for Interrupts {
    fn from(pressed: UnboundedReceiver<()>) -> Self {
        Self {
            pressed,
            _watch: JoinSet::new(),
        }
    }
}

/// Lines from a terminal or a pipe.
#[derive(Debug)]
pub(super) struct Input {
    pub(super) lines: Receiver<io::Result<String>>,
    pub(super) interrupts: Interrupts,
}

/// A typed line, or the end of the input.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Typed {
    Text(String),
    End,
    Interrupt,
}

impl Input {
    /// Standard input and the process's interrupts.
    pub(super) fn standard() -> Self {
        let (send, lines) = channel(1);
        // A thread, as nothing can end a read of standard input; the runtime would wait for it.
        thread::spawn(move || io::stdin().lines().try_for_each(|line| send.blocking_send(line)));
        Self {
            lines,
            interrupts: Interrupts::of_process(),
        }
    }

    /// Nobody types; the process's interrupts.
    pub(super) fn nothing() -> Self {
        Self {
            lines: channel(1).1,
            interrupts: Interrupts::of_process(),
        }
    }

    /// The next text; a line that ends in `\` continues in the next one.
    pub(super) async fn text(&mut self, screen: &mut Screen<'_>, sign: &str) -> Result<Typed, Failure> {
        let mut text = String::new();
        screen.prompt(sign)?;
        loop {
            match self.interrupts.unless(self.lines.recv()).await {
                None => return Ok(Typed::Interrupt),
                Some(None) if text.is_empty() => return Ok(Typed::End),
                Some(None) => return Ok(Typed::Text(text)),
                Some(Some(line)) => {
                    let line =
                        line.map_err(|error| Failure::usage(format!("cannot read standard input: {error}")))?;
                    let Some(begun) = line.strip_suffix('\\') else {
                        return Ok(Typed::Text(text + &line));
                    };
                    text.push_str(begun);
                    text.push('\n');
                    screen.prompt("… ")?;
                }
            }
        }
    }
}
