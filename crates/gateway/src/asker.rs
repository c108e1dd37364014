//! Tenant and user of a request with headers that name them.
//!
//! Owns: reading these headers. Never: a body.

use axum::http::HeaderMap;
use model::{AppId, Name, ProjectId, Scope};

use crate::failure::Failure;
use crate::frame::Visit;
use crate::wire::Invalid;

/// Tenant and user of a request, from its token and its headers; an extension of the request.
#[derive(Debug, Clone)]
pub struct Asker {
    pub scope: Scope,
    /// None if neither the token nor a header names one.
    pub user: Option<Name>,
}

/// Reads tenant and user of a request.
pub(crate) fn asker(visit: &Visit, headers: &HeaderMap) -> Result<Asker, Failure> {
    let scope = scope(headers, &visit.caller.home)?;
    visit.caller.enter(&scope)?;
    let named = user(headers, &visit.gateway.settings.user_headers);
    let user = visit.caller.as_user(named)?;
    Ok(Asker { scope, user })
}

fn scope(headers: &HeaderMap, home: &Scope) -> Result<Scope, Failure> {
    let app: Option<AppId> = name_in(headers, "x-quipu-app")?;
    let project: Option<ProjectId> = name_in(headers, "x-quipu-project")?;
    Ok(Scope::new(
        app.unwrap_or_else(|| home.app.clone()),
        project.unwrap_or_else(|| home.project.clone()),
    ))
}

/// The user in a header; `trusted` lists headers of clients that the operator trusts.
fn user(headers: &HeaderMap, trusted: &[String]) -> Option<Name> {
    let named = |name: &str| proxy::name_of(&lossy(headers, name)?);
    named("x-quipu-user").or_else(|| trusted.iter().find_map(|name| named(name)))
}

/// A header's text, with replacements for invalid UTF-8; none if it is empty.
pub(crate) fn lossy(headers: &HeaderMap, name: &str) -> Option<String> {
    let text = String::from_utf8_lossy(headers.get(name)?.as_bytes());
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// A header's text as a name.
pub(crate) fn name_in(headers: &HeaderMap, name: &'static str) -> Result<Option<Name>, Failure> {
    let name_of = |value| Name::parse(value).map_err(|error| invalid(name, &error));
    text(headers, name)?.map(name_of).transpose()
}

pub(crate) fn invalid(name: &str, error: &model::InvalidId) -> Failure {
    Invalid::request(format!("{name}: {error}")).into()
}

/// A header's text. An unreadable header is refused: ignoring a switch could store a text that the client wants
/// unstored.
pub(crate) fn text<'a>(headers: &'a HeaderMap, name: &str) -> Result<Option<&'a str>, Failure> {
    let Some(value) = headers.get(name) else {
        return Ok(None);
    };
    let text = value
        .to_str()
        .map_err(|_| Invalid::request(format!("{name}: write plain letters")))?;
    Ok(Some(text.trim()))
}
