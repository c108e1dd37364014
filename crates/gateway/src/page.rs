//! The mount of the page that a person opens in a browser.
//!
//! Owns: the extension of its requests. Never: HTML, or a visitor's permissions; the page calls the API with the
//! visitor's token.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use axum::routing::head;
use model::{Name, Scope};
use ports::Clock;

use crate::deletions::Deletions;
use crate::dialect::{PAGE, PAGE_BELOW};
use crate::frame::Visit;
use crate::state::{Gateway, Stopping};
use crate::system;

/// The visitor of the page: an extension of each of its requests.
#[derive(Debug, Clone)]
pub struct Visitor {
    /// The only user that the token opens; none if it opens several.
    pub user: Option<Name>,
    /// The default user of the token, for requests that name none.
    pub usual: Option<Name>,
    /// The tenant of a request that names none.
    pub home: Scope,
    /// The token opens every tenant.
    pub sees_all: bool,
    /// The server requires tokens.
    pub needs_token: bool,
    deletions: Deletions,
    clock: Arc<dyn Clock>,
    stop: Option<Stopping>,
}

impl Visitor {
    /// The number of deletions that a tenant has requested since the server's start.
    pub fn deletions(&self, scope: &Scope) -> usize {
        self.deletions.of(scope)
    }

    /// Waits between two parts of an endless answer; false when the server stops.
    pub async fn wait(&self, pause: Duration) -> bool {
        let stops = async {
            match &self.stop {
                Some(Stopping(stop)) => stop.cancelled().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = stops => false,
            () = self.clock.sleep(pause) => true,
        }
    }
}

/// The page's routes, with the visitor as an extension of each request.
pub(crate) fn routes(gateway: &Gateway, page: &Router) -> Router<Gateway> {
    let page = page.clone().layer(from_fn_with_state(gateway.clone(), attach));
    Router::new()
        // Some clients first check whether a server answers.
        .route(PAGE, head(system::health_live).get_service(page.clone()))
        .route_service(&format!("{PAGE_BELOW}{{*path}}"), page)
}

async fn attach(State(gateway): State<Gateway>, visit: Visit, mut request: Request, next: Next) -> Response {
    let visitor = Visitor {
        user: visit.caller.only_user().cloned(),
        usual: visit.caller.as_user(None).ok().flatten(),
        home: visit.caller.home.clone(),
        sees_all: visit.caller.sees_all(),
        deletions: gateway.deletions.clone(),
        needs_token: gateway.settings.auth.current_tokens().is_some(),
        clock: gateway.clock.clone(),
        stop: request.extensions().get::<Stopping>().cloned(),
    };
    request.extensions_mut().insert(visitor);
    next.run(request).await
}
