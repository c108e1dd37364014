//! Connections: accepting, limiting and ending them.
//!
//! Owns: every task that serves a connection; none outlives [`Gateway::serve`]. Never: the meaning of a request.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::settings::Auth;
use crate::state::{Gateway, Stopping};

/// Maximum number of connections; further ones wait until one ends.
const CONNECTIONS_MAX: usize = 1_024;
/// Maximum time until a request begins and its head is complete; then the connection is closed.
const HEAD_ARRIVAL: Duration = Duration::from_mins(1);
/// Pause after the system could not accept a connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(200);

/// Why the server did not start or ended early.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Anyone on the network could read every memory.
    #[error("other machines can reach `{0}`, and no token is configured")]
    OpenToTheNetwork(SocketAddr),
    #[error("cannot listen on `{address}`")]
    Bind {
        address: SocketAddr,
        #[source]
        source: io::Error,
    },
    #[error("the listener has no address")]
    NoAddress(#[source] io::Error),
}

impl Gateway {
    /// Listens on an address; refuses an address that other machines can reach, unless tokens are configured.
    pub async fn bind(&self, address: SocketAddr) -> Result<TcpListener, ServeError> {
        check_exposure(&self.settings.auth, address)?;
        TcpListener::bind(address)
            .await
            .map_err(|source| ServeError::Bind { address, source })
    }

    /// Serves until `shutdown` is ready. Then it lets running requests finish within the configured time, aborts the
    /// others, also writes of clients that are gone, and returns. The engine keeps running; its owner stops it
    /// afterwards.
    pub async fn serve(
        &self,
        listener: TcpListener,
        shutdown: impl Future<Output = ()> + Send,
    ) -> Result<(), ServeError> {
        let address = listener.local_addr().map_err(ServeError::NoAddress)?;
        check_exposure(&self.settings.auth, address)?;
        let router = self.router();
        let stop = CancellationToken::new();
        let mut connections = JoinSet::new();
        tokio::select! {
            () = shutdown => {}
            () = self.accept(&listener, &router, &stop, &mut connections) => {}
        }
        drop(listener);
        stop.cancel();
        let bound = self.settings.shutdown;
        let end = self.clock.elapsed() + bound;
        tokio::select! {
            () = async { while connections.join_next().await.is_some() {} } => {}
            () = self.clock.sleep(bound) => {
                tracing::warn!(connections = connections.len(), "shutdown timeout; open connections closed");
                connections.shutdown().await;
            }
        }
        self.writes
            .finish(&*self.clock, end.saturating_sub(self.clock.elapsed()))
            .await;
        Ok(())
    }

    async fn accept(
        &self,
        listener: &TcpListener,
        router: &Router,
        stop: &CancellationToken,
        connections: &mut JoinSet<()>,
    ) {
        loop {
            while connections.try_join_next().is_some() {}
            if connections.len() >= CONNECTIONS_MAX {
                connections.join_next().await;
            }
            match listener.accept().await {
                Ok((stream, _)) => {
                    connections.spawn(connection(stream, router.clone(), stop.clone()));
                }
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection");
                    self.clock.sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    }
}

fn check_exposure(auth: &Auth, address: SocketAddr) -> Result<(), ServeError> {
    if auth.current_tokens().is_none() && !address.ip().to_canonical().is_loopback() {
        return Err(ServeError::OpenToTheNetwork(address));
    }
    Ok(())
}

async fn connection(stream: TcpStream, router: Router, stop: CancellationToken) {
    // Without it, an answer may wait for the acknowledgement of the previous one.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "cannot set TCP_NODELAY on a connection");
    }
    let stopping = Stopping(stop.clone());
    let service = tower::service_fn(move |mut request: hyper::Request<hyper::body::Incoming>| {
        request.extensions_mut().insert(stopping.clone());
        tower::Service::call(&mut router.clone(), request)
    });
    let mut serving = std::pin::pin!(
        http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD_ARRIVAL)
            .serve_connection(TokioIo::new(stream), TowerToHyperService::new(service))
    );
    let ended = tokio::select! {
        ended = serving.as_mut() => ended,
        () = stop.cancelled() => {
            serving.as_mut().graceful_shutdown();
            serving.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection failed");
    }
}
