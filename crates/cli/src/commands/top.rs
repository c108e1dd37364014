//! `quipu top`: a running server as a person watches it: conversations, cache, queue, memory.
//!
//! Owns: asking the server, the keys, and the terminal, which is as before when the command ends. Never: a measure; the
//! server has them.

mod view;

use std::io::{self, IsTerminal, stdin, stdout};
use std::thread;
use std::time::Duration;

use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use ratatui::widgets::TableState;
use tokio::sync::mpsc;
use wire::{CacheData, HealthData};

use super::serve::signal;
use super::{Desk, runtime};
use crate::api::Api;
use crate::environment;
use crate::error::{Exit, Failure};
use crate::output;

/// How long a look stays on the screen.
const LOOK: Duration = Duration::from_secs(1);
const KEYS_MAX: usize = 16;

/// What the server said last.
#[derive(Debug)]
struct TopLook {
    health: HealthData,
    cache: CacheData,
}

/// What the screen shows.
#[derive(Debug)]
struct TopScreen {
    root: String,
    coloured: bool,
    seen: TopLook,
    /// Why the server does not answer now.
    trouble: Option<String>,
    /// The chosen conversation.
    chosen: TableState,
}

pub(super) fn top(desk: &Desk) -> Result<Exit, Failure> {
    let is_dumb = environment::variable("TERM").is_some_and(|term| term == "dumb");
    if desk.json || is_dumb || !stdin().is_terminal() || !stdout().is_terminal() {
        return Err(Failure::usage("`quipu top` needs a terminal")
            .hint("`quipu status --json` and `quipu cache --json` are for programs"));
    }
    runtime()?.block_on(async {
        let api = Api::beside(desk)?.ok_or_else(|| {
            let error = anyhow::anyhow!("no server uses {}", desk.root.display());
            Failure::from(error).hint("start one with `quipu serve`")
        })?;
        // An error of the first look needs no screen.
        let mut watch = TopScreen {
            root: desk.root.display().to_string(),
            coloured: output::is_coloured(true),
            seen: look(&api).await?,
            trouble: None,
            chosen: TableState::default().with_selected(0),
        };
        let ended = signal();
        // It also gives the terminal back if this process panics.
        let mut terminal = ratatui::try_init()?;
        let watched = watched(&api, &mut watch, &mut terminal, ended).await;
        ratatui::restore();
        watched
    })
}

async fn watched(
    api: &Api,
    watch: &mut TopScreen,
    terminal: &mut ratatui::DefaultTerminal,
    ended: impl Future<Output = ()>,
) -> Result<Exit, Failure> {
    let mut ended = std::pin::pin!(ended);
    let mut keys = keys(event::read);
    loop {
        let mut looking = std::pin::pin!(async {
            api.clock.sleep(LOOK).await;
            look(api).await
        });
        loop {
            terminal.draw(|frame| view::draw(frame, watch))?;
            tokio::select! {
                seen = &mut looking => {
                    watch.take(seen);
                    break;
                }
                event = keys.recv() => match event.map(|event| watch.press(&event)) {
                    Some(None) => {}
                    Some(Some(exit)) => return Ok(exit),
                    // The terminal is gone.
                    None => return Ok(Exit::Interrupted),
                },
                () = &mut ended => return Ok(Exit::Interrupted),
            }
        }
    }
}

async fn look(api: &Api) -> Result<TopLook, Failure> {
    Ok(TopLook {
        health: api.health().await?,
        cache: api.get("/cache").await?,
    })
}

/// What is typed. Of a terminal that is gone, `read` never returns: so it has a thread, for which no runtime waits.
fn keys(mut read: impl FnMut() -> io::Result<Event> + Send + 'static) -> mpsc::Receiver<Event> {
    let (sender, receiver) = mpsc::channel(KEYS_MAX);
    thread::spawn(move || while read().is_ok_and(|event| sender.blocking_send(event).is_ok()) {});
    receiver
}

impl TopScreen {
    /// A failed look leaves the last one on the screen.
    fn take(&mut self, seen: Result<TopLook, Failure>) {
        match seen {
            Ok(seen) => {
                self.seen = seen;
                self.trouble = None;
            }
            Err(failure) => self.trouble = Some(format!("{:#}", failure.error)),
        }
    }

    /// What a key does; the exit if it ends the command.
    fn press(&mut self, event: &Event) -> Option<Exit> {
        let Event::Key(key) = event else { return None };
        if key.kind == KeyEventKind::Release {
            return None;
        }
        match key.code {
            KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => {
                return Some(Exit::Interrupted);
            }
            // The end of the input; one that came before the screen arrives as NUL, which is Ctrl-Space.
            KeyCode::Char('d' | ' ') if key.modifiers.contains(KeyModifiers::CONTROL) => {
                return Some(Exit::Ok);
            }
            KeyCode::Char('q') | KeyCode::Esc => return Some(Exit::Ok),
            KeyCode::Down | KeyCode::Char('j') => self.chosen.select_next(),
            KeyCode::Up | KeyCode::Char('k') => self.chosen.select_previous(),
            KeyCode::Home => self.chosen.select_first(),
            KeyCode::End => self.chosen.select_last(),
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests;
