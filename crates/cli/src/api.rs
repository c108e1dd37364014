//! The memory API of a root, in this process or in the server that holds the root.
//!
//! Owns: the choice between the two, and the exit code and hint for each refusal. Never: a use case; every command asks the API.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use gateway::wire::{ErrorCode, HealthData};
use gateway::{ApiError, AskError, Client, Form, GatewaySettings};
use model::{Zone, percent_encoded};
use ports::Clock;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::clock::SystemClock;
use crate::commands::Desk;
use crate::error::{Exit, Failure};
use crate::output::harmless;
use crate::serving;
use crate::world::{World, zone};

/// Maximum wait for another command to release the root, or for a starting server to listen.
const WAIT: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(50);

/// The API of one root.
#[derive(Debug)]
pub(crate) struct Api {
    /// Client of the API.
    pub(crate) client: Client,
    /// None if a server holds the root.
    world: Option<World>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) zone: Zone,
}

impl Api {
    /// Opens the root, or connects to the server that holds it.
    pub(crate) async fn open(desk: &Desk) -> Result<Self, Failure> {
        match opened(desk).await? {
            Ok(world) => Ok(Self::here(world)),
            Err(address) => Self::there(desk, address),
        }
    }

    /// The API of the server that holds the root, if one runs; never opens the root itself.
    pub(crate) fn beside(desk: &Desk) -> Result<Option<Self>, Failure> {
        let address = serving::running(&desk.root);
        address.map(|address| Self::there(desk, address)).transpose()
    }

    /// The API of the server that holds the root; a failure without one.
    pub(crate) fn of_server(desk: &Desk) -> Result<Self, Failure> {
        let none = || Failure::in_use("no server runs on this root");
        Self::beside(desk)?.ok_or_else(|| none().hint("start one with `quipu serve --upstream URL`"))
    }

    fn there(desk: &Desk, address: SocketAddr) -> Result<Self, Failure> {
        let client = Client::there(address, serving::key(&desk.root));
        let zone = zone(&desk.loaded.config)?;
        Ok(Self::of(client, Arc::new(SystemClock::new()), zone))
    }

    /// The API with the access of this client.
    pub(crate) fn of(client: Client, clock: Arc<dyn Clock>, zone: Zone) -> Self {
        Self {
            client,
            world: None,
            clock,
            zone,
        }
    }

    /// The API of a world that this process opened.
    pub(crate) fn here(world: World) -> Self {
        let settings = GatewaySettings {
            body_bytes_max: usize::MAX,
            upload_bytes_max: usize::MAX,
            ..GatewaySettings::default()
        };
        let client = Client::here(&world.gateway(settings));
        let api = Self::of(client, world.clock.clone(), world.zone.clone());
        Self {
            world: Some(world),
            ..api
        }
    }

    /// Whether this process opened the root.
    pub(crate) fn is_here(&self) -> bool {
        self.world.is_some()
    }

    /// Asks a route below `/api/v2` with GET.
    pub(crate) async fn get<T: DeserializeOwned>(&self, route: &str) -> Result<T, Failure> {
        Ok(self.client.get_data(route).await?)
    }

    /// Asks a route below `/api/v2` with POST.
    pub(crate) async fn post<T: DeserializeOwned>(
        &self,
        route: &str,
        body: &impl Serialize,
    ) -> Result<T, Failure> {
        Ok(self.client.post_data(route, body).await?)
    }

    /// Starts background runs for the life of this process; a server runs them anyway.
    pub(crate) async fn run_background(&self) -> Result<(), Failure> {
        if let Some(world) = &self.world {
            world.start_runs().await?;
        }
        Ok(())
    }

    /// Asks a route below `/api/v2` with DELETE; `None` if nothing was there to delete.
    pub(crate) async fn delete<T: DeserializeOwned>(&self, route: &str) -> Result<Option<T>, Failure> {
        Ok(self.client.delete_data(route).await?)
    }

    /// Sends a form to a route below `/api/v2`.
    pub(crate) async fn upload<T: DeserializeOwned>(&self, route: &str, form: Form) -> Result<T, Failure> {
        let reply = self.client.upload(&format!("/api/v2{route}"), form).await?;
        Ok(reply.data()?)
    }

    /// The health of the system.
    pub(crate) async fn health(&self) -> Result<HealthData, Failure> {
        Ok(self.client.get("/health").await?.bare()?)
    }

    /// Closes the world, if this process opened it.
    pub(crate) async fn close(self) {
        if let Some(world) = self.world {
            world.shutdown().await;
        }
    }
}

/// The root, opened by this process, or the address of the server that holds it. Waits while a command or an agent holds the
/// root.
pub(crate) async fn opened(desk: &Desk) -> Result<Result<World, SocketAddr>, Failure> {
    let clock = SystemClock::new();
    loop {
        match World::open(&desk.root, &desk.loaded.config, desk.open_index, desk.asks_only).await {
            Err(in_use) if in_use.exit == Exit::InUse => match serving::find(&desk.root) {
                Some(address) => return Ok(Err(address)),
                None if clock.elapsed() >= WAIT => return Err(in_use),
                None => clock.sleep(LOOK).await,
            },
            opened => return opened.map(Ok),
        }
    }
}

impl From<ApiError> for Failure {
    fn from(error: ApiError) -> Self {
        let (status, code, message, detail) = match error {
            ApiError::Unanswered(error) => return error.into(),
            unreadable @ ApiError::Unreadable(_) => return anyhow::Error::from(unreadable).into(),
            ApiError::Refused {
                status,
                code,
                message,
                detail,
            } => (status, code, message, detail),
        };
        let (exit, hint) = match (code, status) {
            (None, 500..) => (
                Exit::Failed,
                Some("the server or its model server may be starting: try again"),
            ),
            (Some(ErrorCode::NotFound), _) => (Exit::NotFound, None),
            (Some(_), 400 | 413 | 415 | 422) => (Exit::Usage, None),
            (Some(ErrorCode::Unauthorized), _) => (
                Exit::Failed,
                Some(
                    "the server started again meanwhile, or you may not read its key in the root: try again as the user who runs it",
                ),
            ),
            _ => (Exit::Failed, None),
        };
        // The message about a disk is complete; SQLite's own text says less.
        let is_disk = matches!(code, Some(ErrorCode::DiskFull | ErrorCode::DiskReadOnly));
        let detail = detail.filter(|_| !is_disk);
        let error = anyhow::anyhow!(detail.unwrap_or_else(|| harmless(&message)));
        Self::of(exit, error).hinted(hint)
    }
}

impl From<AskError> for Failure {
    fn from(error: AskError) -> Self {
        let hint = match &error {
            AskError::Unreachable { .. } => {
                "a server uses this root and may be starting or stopping: try again, or stop it"
            }
            AskError::HungUp { .. } | AskError::BrokenOff(_) => {
                "the request may have succeeded: check, or retry"
            }
        };
        Self::of(Exit::InUse, error).hint(hint)
    }
}

/// A path with its query, every value encoded.
#[derive(Debug)]
pub(crate) struct Path(String);

impl Path {
    /// A route followed by an id.
    pub(crate) fn new(route: &str, id: &str) -> Self {
        Self(format!("{route}{}", percent_encoded(id)))
    }

    /// Appends a route after the id.
    pub(crate) fn then(mut self, route: &str) -> Self {
        self.0.push_str(route);
        self
    }

    /// Adds a value to the query, if there is one.
    pub(crate) fn with_any(self, key: &str, value: Option<impl fmt::Display>) -> Self {
        match value {
            Some(value) => self.with(key, value),
            None => self,
        }
    }

    /// Adds a value to the query.
    pub(crate) fn with(mut self, key: &str, value: impl fmt::Display) -> Self {
        let sign = if self.0.contains('?') { '&' } else { '?' };
        let value = percent_encoded(&value.to_string());
        self.0.extend([format!("{sign}{key}={value}")]);
        self
    }

    /// Adds the tenant to the query.
    pub(crate) fn within(self, app: impl fmt::Display, project: impl fmt::Display) -> Self {
        self.with("app_id", app).with("project_id", project)
    }

    pub(crate) fn text(&self) -> &str {
        &self.0
    }
}

/// The body of a request without content.
pub(crate) const NOTHING: Value = Value::Null;

#[cfg(test)]
mod tests;
