//! `quipu mcp`: memory for an agent that starts this program, on standard input and output.
//!
//! Owns: the times at which the root is open. Never: the protocol (`mcp`).
//!
//! An agent keeps this process for hours and calls a tool now and then. So the root is open only during calls: between calls,
//! other agents, commands and a server can open it, and each call asks the server if one runs by then.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use gateway::{AskError, ClientReply};
use mcp::{ApiRequest, Door, DoorOwner, Now, Unanswered};
use ports::Clock;
use tokio::sync::{Notify, RwLock, RwLockReadGuard};

use super::serve::signal;
use super::{Desk, runtime};
use crate::api::Api;
use crate::args::AgentArgs;
use crate::clock::SystemClock;
use crate::error::{Exit, Failure};

/// The root stays open this long after a call, so that simultaneous calls open it once. Other processes wait longer than that for
/// it.
const LINGER: Duration = Duration::from_millis(100);

pub(super) fn mcp(desk: Desk, args: &AgentArgs) -> Result<Exit, Failure> {
    let scope = args.scope.at(&std::env::current_dir()?);
    let whose = DoorOwner {
        user: Some(args.user.to_string()),
        app: scope.app.to_string(),
        project: scope.project.to_string(),
    };
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    let runtime = runtime()?;
    let ended = runtime.block_on(async {
        let root = Root::new(desk, clock.clone());
        let door = Door::new(root.clone(), whose, now(clock));
        let ended = tokio::select! {
            served = mcp::serve(door) => served.map(|()| Exit::Ok),
            () = signal() => Ok(Exit::Interrupted),
            never = root.rest() => match never {},
        };
        root.close().await;
        ended.map_err(|error| anyhow::Error::from(error).into())
    });
    // A read of standard input may still wait.
    runtime.shutdown_background();
    ended
}

/// The machine's time, for the MCP door.
pub(super) fn now(clock: Arc<dyn Clock>) -> Now {
    Arc::new(move || clock.now())
}

/// The API of a root that opens for a request, and closes after a while without one.
#[derive(Debug, Clone)]
struct Root(Arc<RootParts>);

#[derive(Debug)]
struct RootParts {
    desk: Desk,
    clock: Arc<dyn Clock>,
    open: RwLock<Option<Api>>,
    used: Notify,
}

impl mcp::MemoryApi for Root {
    async fn ask(&self, request: ApiRequest) -> Result<ClientReply, Unanswered> {
        let mut reply = self.ask_once(&request).await?;
        if let Err(AskError::Unreachable { .. }) = reply {
            // The server has stopped since the last request.
            self.close().await;
            reply = self.ask_once(&request).await?;
        }
        reply.map_err(|error| told(&error.into()))
    }
}

impl Root {
    fn new(desk: Desk, clock: Arc<dyn Clock>) -> Self {
        Self(Arc::new(RootParts {
            desk,
            clock,
            open: RwLock::new(None),
            used: Notify::new(),
        }))
    }

    async fn ask_once(&self, request: &ApiRequest) -> Result<Result<ClientReply, AskError>, Unanswered> {
        let api = self.opened().await.map_err(|failure| told(&failure))?;
        self.0.used.notify_one();
        Ok(request.through(&api.client).await)
    }

    async fn opened(&self) -> Result<RwLockReadGuard<'_, Api>, Failure> {
        let open = self.0.open.read().await;
        if let Ok(api) = RwLockReadGuard::try_map(open, Option::as_ref) {
            return Ok(api);
        }
        let mut open = self.0.open.write().await;
        if open.is_none() {
            *open = Some(Api::open(&self.0.desk).await?);
        }
        Ok(RwLockReadGuard::map(open.downgrade(), |open| {
            open.as_ref().expect("it was opened")
        }))
    }

    async fn close(&self) {
        if let Some(api) = self.0.open.write().await.take() {
            api.close().await;
        }
    }

    /// Closes the root whenever it is unused.
    async fn rest(&self) -> Infallible {
        loop {
            self.0.used.notified().await;
            loop {
                tokio::select! {
                    () = self.0.used.notified() => {}
                    () = self.0.clock.sleep(LINGER) => break,
                }
            }
            self.close().await;
        }
    }
}

fn told(failure: &Failure) -> Unanswered {
    Unanswered(failure.words("; "))
}

#[cfg(test)]
mod tests;
