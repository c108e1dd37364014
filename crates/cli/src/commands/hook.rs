//! `quipu hook`: reads one event of an agent's client, and prints memory for its model.
//!
//! Owns: the meaning of each event, the ids that keep an event from being stored twice, and the rule that no failure reaches the
//! agent. Never: the choice of memories (`memory/context`), or the author of each part of a prompt (`transcript::spoken`).

mod given;

use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use gateway::wire::{AddRequest, CONTEXT_TOKENS, ContextData, ContextRequest, KNOWN_IDS_MAX, MessageItem};
use model::{Role, SessionId};
use ports::Clock;
use prefix::Digest;
use proxy::conversation::Party;
use serde_json::{Value, json};
use transcript::spoken;

use self::given::Given;
use super::Desk;
use super::memory::{flush, ids};
use crate::api::Api;
use crate::args::{AgentArgs, OwnerArgs};
use crate::clock::SystemClock;
use crate::environment;
use crate::error::{Exit, Failure};
use crate::output::say;
use crate::root::{self, HOOK_LOG};

/// A longer event is not read: a message may have at most a quarter of its size.
const EVENT_BYTES_MAX: u64 = 16 << 20;
/// Maximum tokens of the text at the start of a session.
const OPENING_TOKENS: u32 = 500;
/// Sender of the model's messages.
const ASSISTANT: &str = "assistant";
const LOG_BYTES_MAX: u64 = 256 << 10;

/// An event: a JSON object with fields that differ from client to client.
#[derive(Debug)]
pub(super) struct Event(Value);

/// The task of an event.
#[derive(Debug, PartialEq)]
enum Deed<'a> {
    /// Print memory for the start of a session.
    Open,
    /// Print memory for a prompt, and store the prompt.
    Recall(&'a str),
    /// Store an answer.
    Keep(&'a str),
    /// End the segment of the messages so far, because the client is about to compact them.
    Shorten,
    /// End the segment at the end of a session.
    End,
    Nothing,
}

impl Event {
    pub(super) fn parse(text: &str) -> Result<Self, Failure> {
        let wrong = |error| Failure::usage(format!("standard input is not an event of a hook: {error}"));
        let event = Self(gateway::wire::json::parse(text).map_err(wrong)?);
        if event.name().is_empty() || event.text("session_id").is_empty() {
            let lacks = "the event on standard input lacks `hook_event_name` or `session_id`";
            return Err(Failure::usage(lacks));
        }
        Ok(event)
    }

    /// The text of a field; empty if the field is not text.
    fn text(&self, field: &str) -> &str {
        self.0[field].as_str().unwrap_or_default()
    }

    fn name(&self) -> &str {
        self.text("hook_event_name")
    }

    /// Ids that are equal for the events of one turn and for a repeated event: Claude Code's and Codex's id, Gemini's time.
    fn turn(&self) -> [&str; 3] {
        ["prompt_id", "turn_id", "timestamp"].map(|field| self.text(field))
    }

    /// The user, in the project of the folder that the agent works in.
    pub(super) fn whose(&self, args: &AgentArgs) -> OwnerArgs {
        OwnerArgs {
            user: Some(args.user.clone()),
            agent: None,
            scope: args.scope.at(Path::new(self.text("cwd"))),
        }
    }

    fn deed(&self) -> Deed<'_> {
        // No person wrote the prompts of a subagent.
        if !self.text("agent_id").is_empty() {
            return Deed::Nothing;
        }
        match self.name() {
            // A resumed or forked session still has the text of its start.
            "SessionStart" if !matches!(self.text("source"), "resume" | "fork") => Deed::Open,
            "UserPromptSubmit" | "BeforeAgent" => Deed::Recall(self.text("prompt")),
            "Stop" => Deed::Keep(self.text("last_assistant_message")),
            "AfterAgent" => Deed::Keep(self.text("prompt_response")),
            // Gemini CLI announces an automatic compression at every turn.
            "PreCompress" if self.text("trigger") == "auto" => Deed::Nothing,
            "PreCompact" | "PreCompress" => Deed::Shorten,
            "SessionEnd" => Deed::End,
            _ => Deed::Nothing,
        }
    }
}

/// Reads an event from standard input and handles it.
pub(super) fn hook(desk: Desk, args: &AgentArgs) -> Result<Exit, Failure> {
    let mut text = String::new();
    std::io::stdin()
        .lock()
        .take(EVENT_BYTES_MAX)
        .read_to_string(&mut text)?;
    let event = Event::parse(&text)?;
    if event.deed() == Deed::Nothing {
        return Ok(Exit::Ok);
    }
    let whose = &event.whose(args);
    if let Some(server) = Api::beside(&desk)? {
        // One thread starts sooner than several, and there is little to wait for.
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        return runtime.block_on(Hook::new(&server, &desk.root, whose).answer(&event));
    }
    // A person waits at every turn: other work is done at the end of the session.
    let asks_only = !matches!(event.deed(), Deed::Shorten | Deed::End);
    let desk = Desk { asks_only, ..desk };
    if matches!(event.deed(), Deed::Open | Deed::Recall(_)) {
        // The answer's tokens are counted at the end, with a table that takes as long to load as the search takes.
        std::thread::spawn(|| context::tokens::Meter::estimate().text("a word"));
    }
    desk.starting(async |api| Hook::new(api, &desk.root, whose).answer(&event).await)
}

/// Handles events with the memory of one user and project.
pub(super) struct Hook<'a> {
    api: &'a Api,
    root: &'a Path,
    whose: Party,
}

impl<'a> Hook<'a> {
    pub(super) fn new(api: &'a Api, root: &'a Path, whose: &OwnerArgs) -> Self {
        let whose = Party {
            scope: whose.scope.scope(),
            owner: whose.owner(),
            conversation: None,
            family: None,
        };
        Self { api, root, whose }
    }

    /// Handles an event, and prints the answer to it.
    pub(super) async fn answer(&self, event: &Event) -> Result<Exit, Failure> {
        match event.deed() {
            Deed::Open => {
                self.given(event).forget(self.api.clock.now());
                self.tell(event, None, OPENING_TOKENS).await?;
            }
            Deed::Recall(prompt) => {
                let words = spoken::own_text(prompt);
                if !words.trim().is_empty() {
                    let telling = self.tell(event, Some(&words), CONTEXT_TOKENS);
                    let (told, kept) = tokio::join!(telling, self.keep(event, Role::User, &words));
                    told.and(kept)?;
                }
            }
            Deed::Keep(answer) if !answer.trim().is_empty() => {
                self.keep(event, Role::Assistant, answer).await?;
            }
            Deed::Shorten => {
                self.given(event).forget(self.api.clock.now());
                self.digest(event, false).await?;
            }
            // A server extracts after this call; without one, the call waits for the extraction, because this process ends.
            Deed::End => self.digest(event, self.api.is_here()).await?,
            Deed::Keep(_) | Deed::Nothing => {}
        }
        Ok(Exit::Ok)
    }

    /// Prints memory for a prompt or for the start of a session, if there is any.
    async fn tell(&self, event: &Event, query: Option<&str>, max_tokens: u32) -> Result<(), Failure> {
        let (app_id, project_id) = ids(&self.whose.scope);
        let request = ContextRequest {
            user_id: self.user(),
            app_id,
            project_id,
            query: query.map(str::to_owned),
            session_id: Some(self.session(event)),
            known_ids: self.given(event).ids(KNOWN_IDS_MAX),
            include_person: true,
            max_tokens,
        };
        let told: ContextData = self.api.post("/memory/context", &request).await?;
        if told.context.is_empty() {
            return Ok(());
        }
        let output = json!({"hookEventName": event.name(), "additionalContext": told.context});
        say!("{}", json!({"hookSpecificOutput": output}))?;
        Ok(self.given(event).add(&told.memory_ids)?)
    }

    /// Stores a message; a second message of the same turn with the same text changes nothing.
    async fn keep(&self, event: &Event, role: Role, text: &str) -> Result<(), Failure> {
        let (app_id, project_id) = ids(&self.whose.scope);
        let is_users = role == Role::User;
        let id = Digest::of(json!([is_users, event.turn(), text]).to_string().as_bytes());
        let user = is_users.then(|| self.user());
        let sender = user.unwrap_or_else(|| ASSISTANT.to_owned());
        let now = self.api.clock.now().millis();
        let message = MessageItem {
            message_id: Some(format!("hook-{id}")),
            ..MessageItem::text(sender, role.into(), now, text.to_owned())
        };
        let add = AddRequest {
            app_id,
            project_id,
            // A server extracts later; without one, the end of the session does.
            defer_extraction: self.api.is_here(),
            ..AddRequest::new(self.session(event), vec![message])
        };
        self.api.post::<Value>("/memory/add", &add).await?;
        Ok(())
    }

    /// Ends the segment in the session's buffer.
    async fn digest(&self, event: &Event, wait: bool) -> Result<(), Failure> {
        flush(self.api, &self.whose.scope, &self.session(event), wait).await?;
        Ok(())
    }

    fn given(&self, event: &Event) -> Given {
        Given::to(self.root, &self.session(event))
    }

    fn user(&self) -> String {
        self.whose.owner.id.as_str().to_owned()
    }

    /// The id of the client's session, the same as the proxy's.
    fn session(&self, event: &Event) -> String {
        let session = self.whose.session(&SessionId::new(event.text("session_id")));
        session.as_str().to_owned()
    }
}

/// The exit code of a failed hook: the agent continues without memory. The reason goes to standard error and to the root's log.
pub(crate) fn excused(root: Option<PathBuf>, failure: &Failure) -> Exit {
    let root = root.or_else(environment::default_root);
    // Most clients do not show standard error.
    if let Some(root) = root.filter(|root| root::check(root).is_ok()) {
        let file = root.join(HOOK_LOG);
        let is_full = file.metadata().is_ok_and(|about| about.len() > LOG_BYTES_MAX);
        let mut options = File::options();
        let options = options
            .create(true)
            .write(true)
            .append(!is_full)
            .truncate(is_full);
        if let Ok(mut log) = options.open(file) {
            writeln!(log, "{} {:#}", SystemClock::new().now(), failure.error).ok();
        }
    }
    Exit::Ok
}

#[cfg(test)]
mod tests;
