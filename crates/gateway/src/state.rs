//! State shared by all requests.
//!
//! Owns: the gateway's handle. Never: a request.

use std::sync::Arc;

use axum::Router;
use background::Offline;
use memory::Engine;
use memory::library::Knowledge;
use model::Zone;
use ports::{Clock, Ids};
use proxy::conversation::Endings;
use proxy::{Direct, Proxy};
use tokio_util::sync::CancellationToken;

use crate::budget::Budget;
use crate::deletions::Deletions;
use crate::failure::Failure;
use crate::metrics::Metrics;
use crate::settings::GatewaySettings;

/// Number of files of the maximum size that can arrive at once.
const UPLOADS_AT_ONCE: usize = 4;

/// The gateway: cheap to clone, one for each engine.
#[derive(Debug, Clone)]
pub struct Gateway {
    pub(crate) engine: Engine,
    pub(crate) settings: Arc<GatewaySettings>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<dyn Ids>,
    pub(crate) metrics: Arc<Metrics>,
    /// Writes, which continue after their client disconnects.
    pub(crate) writes: Endings,
    pub(crate) deletions: Deletions,
    /// Room in memory for the bodies of requests.
    pub(crate) bodies: Budget,
    /// Room on the disk for arriving files.
    pub(crate) uploads: Budget,
    pub(crate) proxy: Option<Proxy>,
    /// Conversations of programs that call their model themselves.
    pub(crate) direct: Option<Direct>,
    pub(crate) offline: Option<Offline>,
    pub(crate) knowledge: Option<Knowledge>,
    /// The agents' door.
    pub(crate) agents: Option<Router>,
    /// The page for browsers.
    pub(crate) page: Option<Router>,
}

/// Signals to a request that the server stops.
#[derive(Debug, Clone)]
pub(crate) struct Stopping(pub(crate) CancellationToken);

impl Gateway {
    /// A gateway of an engine.
    pub fn new(engine: Engine, settings: GatewaySettings, clock: Arc<dyn Clock>, ids: Arc<dyn Ids>) -> Self {
        Self {
            bodies: Budget::of(settings.body_bytes_max).shared_with(&engine),
            engine,
            uploads: Budget::of(settings.form_bytes_max().saturating_mul(UPLOADS_AT_ONCE)),
            settings: Arc::new(settings),
            clock,
            ids,
            metrics: Arc::default(),
            writes: Endings::default(),
            deletions: Deletions::default(),
            proxy: None,
            direct: None,
            offline: None,
            knowledge: None,
            agents: None,
            page: None,
        }
    }
}

/// An optional part of a gateway.
macro_rules! parts {
    ($($(#[$doc:meta])* $with:ident($part:ident: $kind:ty);)+) => {
        impl Gateway {
            $($(#[$doc])*
            #[must_use]
            pub fn $with(mut self, $part: $kind) -> Self {
                self.$part = Some($part);
                self
            })+
        }
    };
}

parts! {
    /// Adds model servers at `/v1`.
    with_proxy(proxy: Proxy);
    /// Adds conversations of programs that call their model themselves.
    with_direct(direct: Direct);
    /// Adds background runs.
    with_offline(offline: Offline);
    /// Adds libraries of documents.
    with_knowledge(knowledge: Knowledge);
    /// Adds a door for agents at `/mcp`. Its requests have the extension [`Asker`](crate::Asker).
    with_agents(agents: Router);
    /// Adds a page at `/` and below `/page/`. Its requests have the extension [`Visitor`](crate::Visitor).
    with_page(page: Router);
}

impl Gateway {
    /// Runs a write to its end, even if the client disconnects.
    pub(crate) async fn see_through<T: Send + 'static>(
        &self,
        write: impl Future<Output = Result<T, Failure>> + Send + 'static,
    ) -> Result<T, Failure> {
        let outcome = self.writes.spawn(write).await;
        outcome
            .ok()
            .flatten()
            .unwrap_or_else(|| Err(Failure::internal("a write panicked or was cancelled".to_owned())))
    }

    /// The display zone.
    pub(crate) fn zone(&self) -> &Zone {
        &self.engine.settings().zone
    }

    /// A new id of 32 hexadecimal digits.
    pub(crate) fn fresh_id(&self) -> String {
        format!("{:016x}{:016x}", self.ids.next(), self.ids.next())
    }
}
