//! Authentication and permissions.
//!
//! Owns: bearer tokens, the borders between tenants and between users, protection against foreign web pages. Never:
//! the requests themselves, or the role of a route ([`access`](crate::access)).

use std::net::IpAddr;
use std::time::Duration;

use axum::http::header::{AUTHORIZATION, HOST, HeaderMap, HeaderName, ORIGIN};
use axum::http::request::Parts;
use axum::http::{HeaderValue, Uri};
use memory::Add;
use model::{Name, Owner, OwnerKind, Role, Scope, SessionKey};
use tower_http::cors::{AllowHeaders, AllowMethods, AllowOrigin, CorsLayer, ExposeHeaders};

use crate::access::{AccessTable, LIVE};
use crate::dialect::is_open;
use crate::failure::Failure;
use crate::settings::{Auth, TokenRole};
use crate::wire::ErrorCode;
use crate::wire::forget::IdsParts;

/// Header in which some clients, such as the Anthropic SDKs, send a token instead of `Authorization`.
const API_KEY: HeaderName = HeaderName::from_static("x-api-key");
/// Prefix of the headers that only this server reads.
pub(crate) const OURS: &str = "x-quipu-";
/// Headers that can contain a token.
pub(crate) const CARRIERS: [HeaderName; 2] = [AUTHORIZATION, API_KEY];

/// Headers of an answer that a web page can read.
const EXPOSED: [HeaderName; 6] = [
    HeaderName::from_static("x-request-id"),
    HeaderName::from_static("x-quipu-request-id"),
    HeaderName::from_static("x-quipu-conversation"),
    HeaderName::from_static("x-quipu-injected"),
    HeaderName::from_static("x-quipu-context-warning"),
    HeaderName::from_static("retry-after"),
];
/// How long a browser may cache the answer to a preflight request.
const PREFLIGHT_HOLDS: Duration = Duration::from_hours(1);

/// The caller of a request.
#[derive(Debug, Clone, Default)]
pub(crate) struct Caller {
    /// The tenant of a request that names none.
    pub(crate) home: Scope,
    /// The caller has access to this tenant only.
    bound: bool,
    /// The caller has access to this user's memory only.
    user: Option<Name>,
    /// The user of a request that names none, if the caller has access to every user.
    usual: Option<Name>,
    role: TokenRole,
    /// The caller has access to messages of the user outside of the tenant.
    person: bool,
    /// The header that contained the token.
    carrier: Option<HeaderName>,
}

impl Caller {
    /// Checks that the caller has at least this role.
    pub(crate) fn needs(&self, role: TokenRole) -> Result<(), Failure> {
        if self.may(role) {
            return Ok(());
        }
        let (have, need) = (self.role.as_str(), role.as_str());
        Err(forbidden(&format!(
            "this token has the role `{have}`, and this request needs `{need}`"
        )))
    }

    /// Whether the caller has at least this role.
    pub(crate) fn may(&self, role: TokenRole) -> bool {
        self.role >= role
    }

    /// Checks that a request has access to a tenant.
    pub(crate) fn enter(&self, scope: &Scope) -> Result<(), Failure> {
        if self.bound && *scope != self.home {
            return Err(Failure::new(
                ErrorCode::Forbidden,
                "this token has no access to that `app_id` and `project_id`",
            ));
        }
        Ok(())
    }

    /// The user of a request that names this user or none; another user is refused.
    pub(crate) fn as_user(&self, named: Option<Name>) -> Result<Option<Name>, Failure> {
        match (&self.user, named) {
            (Some(user), Some(named)) if *user != named => Err(not_theirs(user)),
            (Some(user), _) => Ok(Some(user.clone())),
            (None, named) => Ok(named.or_else(|| self.usual.clone())),
        }
    }

    /// The only user whose memory the caller may see.
    pub(crate) fn only_user(&self) -> Option<&Name> {
        self.user.as_ref()
    }

    /// Checks that a request has access to an owner's memory.
    pub(crate) fn enter_owner(&self, owner: &Owner) -> Result<(), Failure> {
        match &self.user {
            Some(user) if owner.kind != OwnerKind::User || owner.id != *user => Err(not_theirs(user)),
            _ => Ok(()),
        }
    }

    /// Checks that a request has access to an owner's memory in a tenant.
    pub(crate) fn enter_memory(&self, scope: &Scope, owner: &Owner) -> Result<(), Failure> {
        self.enter(scope).and_then(|()| self.enter_owner(owner))
    }

    /// Checks that a request has access to single memories. An id does not distinguish a user from an agent of the
    /// same name, so a user's token always means the user.
    pub(crate) fn enter_ids(&self, parts: &mut IdsParts) -> Result<(), Failure> {
        self.enter(&parts.scope)?;
        let Some(user) = &self.user else {
            return Ok(());
        };
        if let Some(owner) = &parts.owner {
            self.enter_owner(owner)?;
        }
        if parts.ids.iter().any(|id| id.owner != *user) {
            return Err(not_theirs(user));
        }
        parts.owner = Some(Owner::user(user.clone()));
        Ok(())
    }

    /// Checks that a request may add these messages. A user's token adds messages of that user, under no other name,
    /// to the user's own sessions only: messages of others would enter the memory of everybody in the session.
    pub(crate) fn enter_add(&self, add: &Add) -> Result<(), Failure> {
        self.enter(&add.session.scope)?;
        let Some(user) = &self.user else {
            return Ok(());
        };
        let mut logged = add.messages.iter().filter_map(|new| new.log_of.as_ref());
        if logged.any(|of| of != user) {
            return Err(not_theirs(user));
        }
        let mut messages = add.messages.iter().map(|new| &new.message);
        let are_own = messages.all(|message| message.role == Role::User && message.sender == *user);
        if !is_own(user, &add.session) || !are_own {
            return Err(forbidden(&format!(
                "this token adds messages with the role `user` and the sender `{user}` to sessions named `{user}/…` only"
            )));
        }
        let messages = add.messages.iter();
        let mut names = messages.filter_map(|new| new.message.sender_name.as_deref());
        match names.find(|name| *name != user.as_str()) {
            Some(name) => Err(forbidden(&format!(
                "this token speaks as `{user}` and not as `{name}`: leave the speaker's name out"
            ))),
            None => Ok(()),
        }
    }

    /// Checks that a request may flush a session: a user's token may flush the user's own sessions.
    pub(crate) fn enter_flush(&self, session: &SessionKey) -> Result<(), Failure> {
        self.enter(&session.scope)?;
        match &self.user {
            Some(user) if !is_own(user, session) => Err(forbidden(&format!(
                "this token flushes sessions named `{user}/…` only"
            ))),
            _ => Ok(()),
        }
    }

    /// Checks that a request has access to data that several users share.
    pub(crate) fn enter_everybodys(&self) -> Result<(), Failure> {
        self.user.as_ref().map_or(Ok(()), |user| Err(not_theirs(user)))
    }

    /// Whether the caller has sent a token.
    pub(crate) fn has_token(&self) -> bool {
        self.carrier.is_some()
    }

    /// Whether a header contains the token, so that no other server may get it.
    pub(crate) fn keeps(&self, header: &str) -> bool {
        self.carrier.as_ref().is_some_and(|carrier| carrier == header)
    }

    /// Whether the caller may see messages of a user outside of the project, and facts about the user that hold
    /// everywhere.
    pub(crate) fn sees_person(&self) -> bool {
        !self.bound || self.person
    }

    /// Whether the caller may see data beyond a single tenant.
    pub(crate) fn sees_all(&self) -> bool {
        !self.bound
    }

    /// Checks that a request has access to data of every tenant.
    pub(crate) fn enter_all(&self) -> Result<(), Failure> {
        if self.bound {
            return Err(forbidden(
                "this request concerns every tenant: use a token without `app` and `project`",
            ));
        }
        Ok(())
    }
}

/// Refuses a request that names its token or its user in two headers of the same name: programs differ in the one
/// that counts.
pub(crate) fn once(headers: &HeaderMap, user_headers: &[String]) -> Result<(), Failure> {
    let identifies = |name: &HeaderName| {
        *name == HOST
            || CARRIERS.contains(name)
            || name.as_str().starts_with(OURS)
            || user_headers.iter().any(|trusted| name == trusted.as_str())
    };
    let is_twice = |name: &&HeaderName| identifies(name) && headers.get_all(*name).iter().count() > 1;
    match headers.keys().find(is_twice) {
        Some(name) => Err(Failure::new(
            ErrorCode::BadRequest,
            format!("the header `{name}` is there twice: send it once"),
        )),
        None => Ok(()),
    }
}

/// Identifies the caller.
pub(crate) fn identify(
    auth: &Auth,
    access: AccessTable,
    uri: &Uri,
    headers: &HeaderMap,
) -> Result<Caller, Failure> {
    if uri.path() == LIVE {
        return Ok(Caller::default());
    }
    let Some(tokens) = auth.current_tokens() else {
        return from_this_machine(uri, headers).map(|()| Caller::default());
    };
    if is_open(uri.path()) {
        return Ok(Caller::default());
    }
    let key = || Some((API_KEY, text(headers, &API_KEY)?.trim()));
    let given: Vec<(HeaderName, &str)> = bearer(headers)
        .map(|token| (AUTHORIZATION, token))
        .into_iter()
        .chain(key())
        .collect();
    if given.is_empty() {
        return Err(unauthorized(
            "give a token: `Authorization: Bearer …` or `x-api-key: …`",
        ));
    }
    // Compares with every token, so that the duration does not reveal the position of the right one.
    let mut known = None;
    for token in &tokens {
        for (carrier, secret) in &given {
            if token.secret.is(secret) {
                known = Some((token, carrier));
            }
        }
    }
    let (token, carrier) = known.ok_or_else(|| unauthorized("unknown token"))?;
    let (user, usual) = match token.role {
        TokenRole::Admin => (None, token.user.clone()),
        TokenRole::Read | TokenRole::Write => (token.user.clone(), None),
    };
    let caller = Caller {
        home: token.scope.clone().unwrap_or_default(),
        // A user belongs to one tenant.
        bound: token.scope.is_some() || user.is_some(),
        user,
        usual,
        role: token.role,
        person: token.person,
        carrier: Some(carrier.clone()),
    };
    match &caller.user {
        Some(user) if !access.is_for_users(uri.path()) => Err(not_theirs(user)),
        _ => Ok(caller),
    }
}

/// Whether a session is a user's own: `USER/…`.
fn is_own(user: &Name, session: &SessionKey) -> bool {
    let rest = session.session.as_str().strip_prefix(user.as_str());
    rest.is_some_and(|rest| rest.starts_with('/'))
}

fn not_theirs(user: &Name) -> Failure {
    forbidden(&format!("this token has access to the memory of `{user}` only"))
}

fn unauthorized(message: &str) -> Failure {
    Failure::new(ErrorCode::Unauthorized, message)
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    // mem0's clients write `Token`.
    let is_token = ["bearer", "token"]
        .iter()
        .any(|word| scheme.eq_ignore_ascii_case(word));
    is_token.then(|| token.trim())
}

/// Refuses requests of foreign web pages. Such a page can make a browser on this machine call us, under a host name
/// of its own that resolves to this machine; the request then names the page in `Host` or `Origin`.
fn from_this_machine(uri: &Uri, headers: &HeaderMap) -> Result<(), Failure> {
    let host = text(headers, &HOST).or_else(|| uri.authority().map(axum::http::uri::Authority::as_str));
    if !host.is_some_and(|host| is_loopback(without_port(host))) {
        return Err(forbidden(
            "without a token, only this machine has access: use `localhost` or configure a token",
        ));
    }
    match headers.get(ORIGIN).map(HeaderValue::to_str) {
        None => Ok(()),
        Some(Ok(origin)) if is_loopback_origin(origin) => Ok(()),
        Some(_) => Err(forbidden(
            "without a token, web pages of other sites have no access: configure a token",
        )),
    }
}

/// The web pages that a browser allows to call us: without tokens the pages of this machine, with tokens any page,
/// since it must know a token.
pub(crate) fn pages(auth: &Auth) -> CorsLayer {
    let auth = auth.clone();
    let origins = move |origin: &HeaderValue, _: &Parts| {
        auth.current_tokens().is_some() || origin.to_str().is_ok_and(is_loopback_origin)
    };
    CorsLayer::new()
        .allow_origin(AllowOrigin::predicate(origins))
        .allow_methods(AllowMethods::mirror_request())
        .allow_headers(AllowHeaders::mirror_request())
        .expose_headers(ExposeHeaders::list(EXPOSED))
        .max_age(PREFLIGHT_HOLDS)
}

fn forbidden(message: &str) -> Failure {
    Failure::new(ErrorCode::Forbidden, message)
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

fn is_loopback_origin(origin: &str) -> bool {
    ["http://", "https://"]
        .iter()
        .find_map(|scheme| origin.strip_prefix(scheme))
        .is_some_and(|host| is_loopback(without_port(host)))
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        // The colons of a bare IPv6 address separate no port.
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) && !name.ends_with(':') => name,
        _ => host,
    }
}

fn is_loopback(host: &str) -> bool {
    if host.eq_ignore_ascii_case("localhost") {
        return true;
    }
    let address = host
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
        .unwrap_or(host);
    address
        .parse::<IpAddr>()
        .is_ok_and(|address| address.to_canonical().is_loopback())
}

#[cfg(test)]
mod tests;
