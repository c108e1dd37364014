//! A user's command that runs before and after compactions.
//!
//! Owns: the process: JSON on its standard input, its time limit, the size limit of its answer. Never: failing a compaction.

use std::io;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use ports::Clock;
use proxy::conversation::contexts::{Compaction, Listener};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::Command;

/// Time limit of the command; after it, the command is killed.
const TIME_MAX: Duration = Duration::from_secs(5);
/// Maximum bytes of the answer.
const ANSWER_BYTES_MAX: u64 = 4_000;

/// The command.
#[derive(Debug)]
pub(crate) struct CompactionCommand {
    command: Vec<String>,
    clock: Arc<dyn Clock>,
}

impl CompactionCommand {
    /// None for an empty command.
    pub(crate) fn new(command: &[String], clock: Arc<dyn Clock>) -> Option<Self> {
        (!command.is_empty()).then(|| Self {
            command: command.to_vec(),
            clock,
        })
    }

    /// The standard output of the command; `None` if it failed.
    async fn run(&self, event: &str, compaction: &Compaction) -> Option<String> {
        let it = compaction;
        let told = json!({
            "event": event, "conversation": it.conversation.session.as_str(),
            "app_id": it.conversation.scope.app.as_str(), "project_id": it.conversation.scope.project.as_str(),
            "reason": it.reason, "tokens_before": it.tokens_before, "messages_before": it.messages_before,
            "tokens_after": it.tokens_after, "messages_after": it.messages_after,
        });
        let (program, arguments) = self.command.split_first()?;
        let started = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn();
        let failed = |error: &io::Error| tracing::warn!(%error, program, "cannot start context.on_compact");
        let mut child = started.inspect_err(failed).ok()?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let talk = async {
            // The command may ignore its input.
            input?.write_all(format!("{told}\n").as_bytes()).await.ok();
            let mut answer = Vec::new();
            output?
                .take(ANSWER_BYTES_MAX)
                .read_to_end(&mut answer)
                .await
                .ok()?;
            // The limit may cut the answer inside a character.
            let answer = String::from_utf8_lossy(&answer);
            Some(answer.trim_end_matches('\u{fffd}').to_owned())
        };
        tokio::select! {
            answer = talk => answer,
            () = self.clock.sleep(TIME_MAX) => {
                tracing::warn!(command = self.command[0], "context.on_compact ran longer than {} s; stopped", TIME_MAX.as_secs());
                None
            }
        }
    }
}

#[async_trait]
impl Listener for CompactionCommand {
    async fn before(&self, compaction: &Compaction) -> Option<String> {
        self.run("pre_compact", compaction).await
    }

    async fn after(&self, compaction: &Compaction) {
        self.run("post_compact", compaction).await;
    }
}

#[cfg(test)]
mod tests {
    use model::{Scope, SessionId, SessionKey};
    use testkit::clock::ManualClock;

    use super::*;

    fn compaction() -> Compaction {
        Compaction {
            conversation: SessionKey::new(Scope::default(), SessionId::new("me/a")),
            reason: "manual",
            tokens_before: 10,
            messages_before: 2,
            tokens_after: None,
            messages_after: None,
        }
    }

    fn command(script: &str) -> CompactionCommand {
        let command = ["sh", "-c", script].map(str::to_owned);
        CompactionCommand::new(&command, Arc::new(ManualClock::default())).expect("a command")
    }

    #[tokio::test]
    async fn the_answer_of_a_command_is_kept_and_a_failure_has_none() {
        let told = command("cat").before(&compaction()).await.expect("an answer");
        let told: serde_json::Value = serde_json::from_str(&told).expect("JSON");
        assert_eq!(told["event"], "pre_compact");
        assert_eq!(told["conversation"], "me/a");
        assert_eq!(command("exit 3").before(&compaction()).await.as_deref(), Some(""));
        let absent =
            CompactionCommand::new(&["/no/such/command".to_owned()], Arc::new(ManualClock::default()));
        assert_eq!(absent.expect("a command").before(&compaction()).await, None);
        assert!(CompactionCommand::new(&[], Arc::new(ManualClock::default())).is_none());
    }

    #[tokio::test]
    async fn a_command_that_hangs_is_killed() {
        let clock = Arc::new(ManualClock::default());
        let command = ["sh", "-c", "exec sleep 600"].map(str::to_owned);
        let command = CompactionCommand::new(&command, clock.clone()).expect("a command");
        let compaction = compaction();
        let (answer, ()) = tokio::join!(command.before(&compaction), async {
            clock.sleeping(1).await;
            clock.advance(TIME_MAX);
        });
        assert_eq!(answer, None);
    }
}
