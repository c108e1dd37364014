//! `quipu serve`: the HTTP API until a signal ends it.

use std::convert::Infallible;
use std::io::IsTerminal;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use anyhow::Context;
use gateway::{Auth, Client, GatewaySettings, Secret, ServeError};
use ports::NoRoom;
use proxy::Proxy;
use serde_json::json;

use super::import::Uploads;
use super::{Desk, runtime};
use crate::api::opened;
use crate::args::ServeArgs;
use crate::config::{Config, load};
use crate::contexts;
use crate::environment;
use crate::error::{Exit, Failure, Hinted as _};
use crate::output::{self, say};
use crate::serving::Notice;
use crate::tokens::{self, Follower};
use crate::upstreams;
use crate::world::World;

pub(super) fn serve(desk: &Desk, args: &ServeArgs) -> Result<Exit, Failure> {
    let config = &desk.loaded.config;
    let listen = args.listen.as_deref().unwrap_or(&config.server.listen);
    let wrong = |_| Failure::usage(format!("`{listen}` is not an address to listen on"));
    let address: SocketAddr = listen.parse().map_err(wrong).hint("as in `127.0.0.1:4777`")?;
    let key = tokens::fresh()?;
    let settings = settings(&desk.root, config, &key)?;
    runtime()?.block_on(async {
        let world = opened(desk).await?.map_err(|address| served_already(&desk.root, address))?;
        let proxy = upstreams::proxy(&world, config, args.upstream.as_deref());
        let bound = Duration::from_secs(u64::from(config.server.shutdown_seconds));
        let (ended_at, heard) = (OnceLock::new(), signal());
        let ended = async {
            heard.await;
            ended_at.get_or_init(|| world.clock.elapsed());
            if desk.watched && std::io::stderr().is_terminal() {
                output::aside("stopping: all that was acknowledged is stored; the rest of the work goes on at the next start");
            }
        };
        let served = match &proxy {
            Ok(proxy) => {
                let upstream = args.upstream.as_deref();
                until_signal(desk, &world, proxy.clone(), upstream, (settings, &key), (address, ended)).await
            },
            Err(_) => Ok(()),
        };
        let end = ended_at.get().copied().unwrap_or(world.clock.elapsed()) + bound;
        let left = || end.saturating_sub(world.clock.elapsed());
        if let Ok(Some(proxy)) = &proxy {
            proxy.shutdown(left() / 2).await;
        }
        world.shutdown_within(left()).await;
        proxy.and(served).map(|()| Exit::Ok)
    })
}

/// The failure of starting a second server: the root has one already.
fn served_already(root: &Path, address: SocketAddr) -> Failure {
    let failure = Failure::in_use(format!("{} is served already: http://{address}", root.display()));
    failure.hint("use that server, or stop it first")
}

async fn until_signal(
    desk: &Desk,
    world: &World,
    proxy: Option<Proxy>,
    upstream: Option<&str>,
    (settings, key): (GatewaySettings, &str),
    (address, ended): (SocketAddr, impl Future<Output = ()> + Send),
) -> Result<(), Failure> {
    let mut gateway = world.gateway(settings);
    if let Some(proxy) = proxy {
        gateway = gateway.with_proxy(proxy);
    }
    let user = || contexts::owner(&desk.loaded.config, &desk.root);
    let now = super::mcp::now(world.clock.clone());
    let door = mcp::routes(Client::here(&gateway), user(), now);
    let uploads = Uploads::of(&desk.root, world.clock.clone(), world.zone.clone())
        .with_context(|| format!("cannot write into `{}`", desk.root.display()))?;
    let page = page::routes(Client::here(&gateway), user(), Arc::new(uploads));
    let gateway = gateway.with_agents(door).with_page(page);
    let mut late = LateStart::default();
    let listener = gateway.bind(address).await?;
    let bound = listener.local_addr()?;
    late.go_on(desk, world, (bound, key)).await?;
    let address = format!("http://{bound}");
    desk.tell(&json!({"listening": address, "root": desk.root}), || {
        say!("serving {} on {address}", desk.root.display())?;
        told(desk, upstream, bound)
    })?;
    tokio::select! {
        served = gateway.serve(listener, ended) => Ok(served?),
        never = follow(desk, world) => match never {},
        never = late.finish(desk, world, (bound, key)) => match never {},
    }
}

/// Prints the next steps: the page, the model servers, and the default user of requests.
fn told(desk: &Desk, upstream: Option<&str>, bound: SocketAddr) -> Result<(), Failure> {
    let config = &desk.loaded.config;
    let configured = config.proxy.upstreams.iter().map(|keys| &*keys.base_url);
    let servers: Vec<&str> = upstream.map_or_else(|| configured.collect(), |one| vec![one]);
    say!("  page          http://{bound}  (open it in a browser)")?;
    if servers.is_empty() {
        say!("  model server  none: --upstream URL gives chat clients memory")?;
    } else {
        let servers = servers.join(", ");
        say!("  model server  {servers}  (clients: http://{bound}/v1)")?;
    }
    match contexts::owner(config, &desk.root) {
        Some(user) => say!("  memory of     {user}, if a request names nobody"),
        None => say!("  memory of     the user that a token or request names"),
    }
}

/// The parts of the start that a full or read-only disk prevents; they are finished when the disk accepts writes.
#[derive(Debug, Default)]
struct LateStart {
    runs: bool,
    /// While it exists, commands next to this process ask the server; it lasts until the last request is answered.
    notice: Option<Notice>,
    is_told: bool,
}

impl LateStart {
    /// Starts background runs, and publishes the address.
    async fn go_on(
        &mut self,
        desk: &Desk,
        world: &World,
        (address, key): (SocketAddr, &str),
    ) -> Result<(), Failure> {
        if !self.runs {
            match world.start_runs().await {
                Ok(()) => self.runs = true,
                Err(error) if NoRoom::of(&error).is_some() => self.wait("background runs wait", &error),
                Err(error) => return Err(error.into()),
            }
        }
        if self.notice.is_none() {
            match Notice::put(&desk.root, address, key) {
                Ok(notice) => self.notice = Some(notice),
                Err(error) if NoRoom::of_io(&error).is_some() => {
                    self.wait("commands cannot find this server", &error);
                }
                Err(error) => {
                    let root = desk.root.display();
                    return Err(Failure::from(error).context(format!("cannot write into `{root}`")));
                }
            }
        }
        Ok(())
    }

    fn wait(&mut self, what: &str, error: &(dyn std::error::Error + 'static)) {
        if !std::mem::replace(&mut self.is_told, true) {
            tracing::warn!(error, "the disk takes no writes: {what} until it does");
        }
    }

    async fn finish(&mut self, desk: &Desk, world: &World, listening: (SocketAddr, &str)) -> Infallible {
        loop {
            world.clock.sleep(LATE_LOOK).await;
            if let Err(Failure { error, .. }) = self.go_on(desk, world, listening).await {
                tracing::warn!(%error, "cannot finish the start; retrying");
            }
        }
    }
}

/// Interval between attempts to finish the start.
const LATE_LOOK: Duration = Duration::from_secs(2);

/// Interval between checks of the configuration.
const CONFIGURATION_LOOK: Duration = Duration::from_secs(5);

/// Applies the configuration of background runs whenever its file changes.
async fn follow(desk: &Desk, world: &World) -> Infallible {
    let file = desk.loaded.file.as_path();
    let mut seen = tokens::state(file);
    loop {
        world.clock.sleep(CONFIGURATION_LOOK).await;
        let now = tokens::state(file);
        if std::mem::replace(&mut seen, now) == now {
            continue;
        }
        let loaded = load(&desk.root, environment::variables());
        if let Err(Failure { error, .. }) = loaded.and_then(|loaded| world.configure(&loaded.config)) {
            tracing::warn!(%error, "cannot load the new configuration; keeping the old one");
        }
    }
}

/// Completes on SIGINT or SIGTERM. It listens from the call on, so that no earlier signal ends the process.
pub(super) fn signal() -> impl Future<Output = ()> {
    use tokio::signal::unix::{SignalKind, signal};
    let heard = |kind| signal(kind).expect("a process may handle its signals");
    let (mut interrupted, mut terminated) = (heard(SignalKind::interrupt()), heard(SignalKind::terminate()));
    async move {
        tokio::select! {
            _ = interrupted.recv() => {}
            _ = terminated.recv() => {}
        }
    }
}

fn settings(root: &Path, config: &Config, key: &str) -> Result<GatewaySettings, Failure> {
    let headers = config.proxy.user_headers.iter();
    Ok(GatewaySettings {
        auth: Auth {
            tokens: tokens::configured(config)?,
            issued: Some(Arc::new(Follower::new(root)?)),
            own_key: Some(Secret::new(key)),
        },
        body_bytes_max: config.server.body_mebibytes_max << 20,
        upload_bytes_max: config.knowledge.upload_mebibytes_max << 20,
        upload_folder: Some(root.to_owned()),
        // The other half is for work after the last request.
        shutdown: Duration::from_secs(u64::from(config.server.shutdown_seconds)) / 2,
        user_headers: headers.map(|name| name.to_ascii_lowercase()).collect(),
        ..GatewaySettings::default()
    })
}

impl From<ServeError> for Failure {
    fn from(error: ServeError) -> Self {
        let hint = match &error {
            ServeError::OpenToTheNetwork(_) => {
                Some("create a token with `quipu token create`, or listen on a loopback address")
            }
            ServeError::Bind { .. } => Some("another program may use that port: choose one with --listen"),
            ServeError::NoAddress(_) => None,
        };
        Self::input(error).hinted(hint)
    }
}

#[cfg(test)]
mod tests;
