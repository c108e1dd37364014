//! The model servers behind `/v1`, from the configuration.
//!
//! Owns: the step from configuration to a proxy. Never: handling a request.

use std::sync::Arc;

use ports::{Clock, Upstream};
use prefix::backend::Kind;
use providers::{ApiKey, HttpUpstream};
use proxy::{Proxy, ProxyParts, Route};

use crate::config::{Config, Upstream as Keys};
use crate::error::Failure;
use crate::world::{World, secret};

/// The proxy, if there is a model server: the server of the command line, else those of the configuration.
pub(crate) fn proxy(
    world: &World,
    config: &Config,
    upstream: Option<&str>,
) -> Result<Option<Proxy>, Failure> {
    let named = upstream.map(|base_url| Keys {
        base_url: base_url.to_owned(),
        ..Keys::default()
    });
    let keys: Vec<Keys> = named.map_or_else(|| config.proxy.upstreams.clone(), |keys| vec![keys]);
    if keys.is_empty() {
        return Ok(None);
    }
    let routes = keys
        .iter()
        .map(|keys| route(keys, &world.clock))
        .collect::<Result<_, _>>()?;
    let servers = ProxyParts {
        routes,
        passthrough: passthrough(config),
        gates: world.gates.clone(),
    };
    Ok(Some(Proxy::start(world.direct.parts(), servers)))
}

/// The route to one model server, which was not probed yet.
pub(crate) fn route(keys: &Keys, clock: &Arc<dyn Clock>) -> Result<Route, Failure> {
    let kinds = || Kind::ALL.map(Kind::as_str).join(", ");
    let kind = match keys.kind.as_str() {
        "" => None,
        name => Some(Kind::parse(name).ok_or_else(|| {
            Failure::usage(format!("proxy.upstreams: there is no kind `{name}`"))
                .hint(format!("there are {}", kinds()))
        })?),
    };
    let base_url = under_v1(&keys.base_url);
    let name = Some(&keys.name)
        .filter(|name| !name.is_empty())
        .unwrap_or(&base_url);
    let key = secret("proxy.upstreams.api_key", &keys.api_key)?.map(ApiKey::new);
    let upstream = HttpUpstream::new(name, &base_url, key, kind, Arc::clone(clock))
        .map_err(|error| Failure::usage(format!("the upstream `{base_url}`: {error}")))?;
    let upstream: Arc<dyn Upstream> = Arc::new(upstream);
    let header = keys.session_header.to_ascii_lowercase();
    if header.contains(|c: char| !c.is_ascii_alphanumeric() && c != '-') {
        return Err(Failure::usage(format!(
            "proxy.upstreams: session_header: `{header}` is no name of a header"
        )));
    }
    let given = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    Ok(Route {
        upstream,
        kind,
        models: keys.models.clone(),
        model: given(&keys.model),
        window_tokens: Some(keys.context_tokens).filter(|tokens| *tokens > 0),
        session_header: given(&header),
        cache_retention: given(&keys.cache_retention),
        session_id: keys.session_id,
    })
}

/// The paths behind `/v1/` that every token can use, written with or without `/v1/`.
fn passthrough(config: &Config) -> Vec<String> {
    let paths = config.proxy.passthrough.iter();
    let paths = paths.map(|path| path.trim().trim_matches('/'));
    let bare = paths.map(|path| path.strip_prefix("v1/").unwrap_or(path));
    bare.filter(|path| !path.is_empty()).map(str::to_owned).collect()
}

/// Adds `/v1` to an address without a path, because nearly all servers have their routes there.
pub(crate) fn under_v1(base_url: &str) -> String {
    let bare = base_url.trim().trim_end_matches('/');
    let has_path = bare.split_once("://").is_some_and(|(_, rest)| rest.contains('/'));
    if has_path {
        bare.to_owned()
    } else {
        format!("{bare}/v1")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::SystemClock;

    #[test]
    fn the_window_of_a_server_comes_from_the_configuration() {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
        for (line, window) in [("", None), ("context_tokens = 8192", Some(8_192))] {
            let text = format!("[[proxy.upstreams]]\nbase_url = \"http://127.0.0.1:8080\"\n{line}");
            let config: Config = toml::from_str(&text).expect("it is understood");
            let route = route(&config.proxy.upstreams[0], &clock).expect("a route");
            assert_eq!(route.window_tokens, window);
        }
    }

    #[test]
    fn the_session_header_must_be_a_valid_header_name() {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
        let route = |header: &str| {
            let keys = Keys {
                base_url: "http://127.0.0.1:8080".to_owned(),
                session_header: header.to_owned(),
                ..Keys::default()
            };
            route(&keys, &clock)
        };
        let named = route("X-Session-Id").expect("a route").session_header;
        assert_eq!(named.as_deref(), Some("x-session-id"));
        assert_eq!(route("").expect("a route").session_header, None);
        assert!(route("x session").is_err());
    }

    #[test]
    fn a_passthrough_path_may_begin_with_v1_or_not() {
        let text = "[proxy]\npassthrough = [\"files\", \"/v1/batches/\", \"\", \"/\"]";
        let config: Config = toml::from_str(text).expect("it is understood");
        assert_eq!(passthrough(&config), ["files", "batches"]);
    }

    #[test]
    fn an_address_without_a_path_gets_v1() {
        assert_eq!(under_v1("http://127.0.0.1:8080"), "http://127.0.0.1:8080/v1");
        assert_eq!(under_v1("http://127.0.0.1:8080/"), "http://127.0.0.1:8080/v1");
        assert_eq!(under_v1("https://api.x.com/v1/"), "https://api.x.com/v1");
        assert_eq!(
            under_v1("https://api.x.com/openai/v3"),
            "https://api.x.com/openai/v3"
        );
    }
}
