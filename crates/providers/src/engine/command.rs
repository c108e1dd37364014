//! An engine that is a program: one process for all conversations, one JSON object for each line.
//!
//! Owns: when and how often the program is started, and the time of a call. Never: the pipes (`process`).

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use ports::Clock;
use ports::context_engine::EngineFault;
use serde_json::{Map, Value, json};
use tokio::sync::Mutex as AsyncMutex;

use super::process::Process;
use super::protocol::{EngineAnswer, Hook, HookCall, error, failed};
use super::{EngineSettings, TIMEOUT_MAX};

/// Minimum time between two starts: so a program that ends at once costs little.
const START_GAP: Duration = Duration::from_secs(5);

/// The program and its process.
pub(super) struct Program {
    engine: String,
    argv: Vec<String>,
    config: Value,
    timeout: Duration,
    clock: Arc<dyn Clock>,
    /// The newest process, or why there is none.
    process: Mutex<Result<Arc<Process>, String>>,
    /// Time of the newest start, by `Clock::elapsed`.
    started: AsyncMutex<Option<Duration>>,
}

/// Without the arguments and `config`, which may hold a key.
impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Program")
            .field("program", &self.argv.first())
            .finish_non_exhaustive()
    }
}

impl Program {
    /// The program with this path or name, and its arguments.
    pub(super) fn new(
        settings: &EngineSettings,
        argv: Vec<String>,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, EngineFault> {
        if argv.first().is_none_or(String::is_empty) {
            return Err(failed(format!(
                "the engine `{}` has an empty `command`; write it as in `[\"python3\", \"engine.py\"]`",
                settings.id
            )));
        }
        Ok(Self {
            engine: settings.id.clone(),
            argv,
            config: settings.config.clone(),
            timeout: settings.timeout.min(TIMEOUT_MAX),
            clock,
            process: Mutex::new(Err("it was not started".to_owned())),
            started: AsyncMutex::default(),
        })
    }

    /// The running process; starts one if there is none.
    async fn process(&self) -> Result<Arc<Process>, EngineFault> {
        if let Ok(process) = self.running() {
            return Ok(process);
        }
        let mut started = self.started.lock().await;
        let why = match self.running() {
            Ok(process) => return Ok(process),
            Err(why) => why,
        };
        let now = self.clock.elapsed();
        let wait = started.map_or(Duration::ZERO, |last| (last + START_GAP).saturating_sub(now));
        if !wait.is_zero() {
            let seconds = wait.as_secs_f64().ceil();
            return Err(failed(format!("{why}; Quipu can start it again in {seconds} s")));
        }
        *started = Some(now);
        let (engine, argv) = (self.engine.clone(), self.argv.clone());
        let start = tokio::task::spawn_blocking(move || Process::start(&engine, &argv));
        let process = start
            .await
            .unwrap_or_else(|error| Err(format!("it could not be started: {error}")));
        let process = process.map(Arc::new);
        self.process.lock().clone_from(&process);
        process.map_err(failed)
    }

    /// The running process, or why there is none.
    fn running(&self) -> Result<Arc<Process>, String> {
        let process = self.process.lock().clone()?;
        match process.over() {
            Some(why) => Err(why),
            None => Ok(process),
        }
    }

    async fn answer(&self, call: &HookCall<'_>) -> Result<Map<String, Value>, EngineFault> {
        let process = self.process().await?;
        let conversation = &call.turn.conversation;
        if call.hook != Hook::Bootstrap && !process.has_booted(conversation) {
            // A restarted process has no state of a conversation that the earlier one served.
            let bootstrap = HookCall {
                hook: Hook::Bootstrap,
                turn: call.turn,
                messages: &[],
                members: json!({ "config": self.config }),
            };
            EngineAnswer::read(process.exchange(&bootstrap).await?)?;
            process.note_booted(conversation);
        }
        let answer = process.exchange(call).await?;
        if call.hook == Hook::Bootstrap && error(&answer).is_none() {
            process.note_booted(conversation);
        }
        Ok(answer)
    }

    /// The answer with the call's id.
    pub(super) async fn exchange(&self, call: HookCall<'_>) -> Result<Map<String, Value>, EngineFault> {
        tokio::select! {
            answer = self.answer(&call) => answer,
            () = self.clock.sleep(self.timeout) => {
                if let Ok(process) = self.running() {
                    process.note_silence(self.clock.elapsed());
                }
                Err(EngineFault::TimedOut(self.timeout.as_millis()))
            }
        }
    }
}
