//! Whether a backend is on the user's own machine or network.
//!
//! Owns: judging an address. Never: resolving a name, probing. A configured kind wins, then a positive probe, then a
//! known host, then the address itself; a name alone never counts as local.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::Kind;

/// Location of a host, by its address alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Locality {
    /// A loopback, private, link-local or carrier-grade address, or a name that means this machine.
    Local,
    /// A name that could be of this network (`nas.local`, `ollama`): only a probe can decide.
    Probe,
    /// Everything else.
    Hosted,
}

/// The kind of a backend. `probed` is the answer of a positive probe. Without a configured kind and a probe, a name
/// that needs a probe counts as hosted, so that an unknown server gets no extra field.
pub fn decide(configured: Option<Kind>, probed: Option<Kind>, base_url: &str) -> Kind {
    let by_address = || match locality(base_url) {
        Locality::Local => Kind::UnknownLocal,
        Locality::Probe | Locality::Hosted => Kind::UnknownHosted,
    };
    configured
        .or(probed)
        .or_else(|| kind_of_host(base_url))
        .unwrap_or_else(by_address)
}

const HOSTS: [(&str, Kind); 9] = [
    ("api.openai.com", Kind::OpenAi),
    ("anthropic.com", Kind::Anthropic),
    ("googleapis.com", Kind::Gemini),
    ("deepseek.com", Kind::DeepSeek),
    ("mistral.ai", Kind::Mistral),
    ("x.ai", Kind::XAi),
    ("fireworks.ai", Kind::Fireworks),
    ("openrouter.ai", Kind::OpenRouter),
    ("cerebras.ai", Kind::Cerebras),
];

/// The kind that has this host: the name itself, or a subdomain of it.
fn kind_of_host(base_url: &str) -> Option<Kind> {
    let host = host(base_url);
    let is_of = |domain: &str| {
        host.strip_suffix(domain)
            .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    };
    HOSTS
        .iter()
        .find(|(domain, _)| is_of(domain))
        .map(|(_, kind)| *kind)
}

const THIS_MACHINE: [&str; 4] = [
    "localhost",
    "host.docker.internal",
    "gateway.docker.internal",
    "host.containers.internal",
];

/// Location by the address alone.
pub fn locality(base_url: &str) -> Locality {
    let host = host(base_url);
    let of_network = [".local", ".lan", ".home.arpa", ".internal", ".localdomain"];
    if let Ok(address) = host.parse::<IpAddr>() {
        return if is_local(address) {
            Locality::Local
        } else {
            Locality::Hosted
        };
    }
    if THIS_MACHINE.contains(&host.as_str()) || host.ends_with(".localhost") {
        Locality::Local
    } else if !host.is_empty() && (!host.contains('.') || of_network.iter().any(|end| host.ends_with(end))) {
        Locality::Probe
    } else {
        Locality::Hosted
    }
}

fn is_local(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_local_v4(address),
        IpAddr::V6(address) => is_local_v6(address),
    }
}

fn is_local_v4(address: Ipv4Addr) -> bool {
    let [first, second, ..] = address.octets();
    let carrier_grade = first == 100 && (64..128).contains(&second);
    address.is_loopback()
        || address.is_private()
        || address.is_link_local()
        || address.is_unspecified()
        || carrier_grade
}

fn is_local_v6(address: Ipv6Addr) -> bool {
    address.is_loopback()
        || address.is_unspecified()
        || address.is_unique_local()
        || address.is_unicast_link_local()
        || address.to_ipv4_mapped().is_some_and(is_local_v4)
}

/// The host of a URL in lower case, without scheme, user, port, path, brackets, zone and final dot. Empty if there is
/// none.
fn host(url: &str) -> String {
    let rest = url.trim().split_once("://").map_or(url.trim(), |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let host = match host.strip_prefix('[') {
        Some(bracketed) => bracketed.split(']').next().unwrap_or_default(),
        None if host.matches(':').count() > 1 => host,
        None => host.split(':').next().unwrap_or_default(),
    };
    let host = host.split('%').next().unwrap_or_default();
    host.trim_end_matches('.').to_ascii_lowercase()
}
