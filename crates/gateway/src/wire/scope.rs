//! Tenant and owner of a request: application and project, user or agent, session.
//!
//! Owns: their defaults and reserved names. Never: permissions (the gateway's guard checks them).

use model::{Name, Owner, Scope, SessionId, SessionKey};

use crate::wire::Invalid;

/// The tenant of a request; omitted parts come from `home`.
pub fn scope(app_id: Option<&str>, project_id: Option<&str>, home: &Scope) -> Result<Scope, Invalid> {
    let part = |path: &str, given: Option<&str>, reserved: &str, home: &Name| match given {
        None => Ok(home.clone()),
        Some(text) if text == reserved => Err(Invalid::at(
            path,
            format!("`{reserved}` is reserved: choose another name"),
        )),
        Some(text) => name(path, text),
    };
    Ok(Scope::new(
        part("app_id", app_id, "default_app", &home.app)?,
        part("project_id", project_id, "default_project", &home.project)?,
    ))
}

/// The owner of a request, which must name exactly one of the two.
pub fn owner(user_id: Option<&str>, agent_id: Option<&str>) -> Result<Owner, Invalid> {
    match (user_id, agent_id) {
        (Some(user), None) => name("user_id", user).map(Owner::user),
        (None, Some(agent)) => name("agent_id", agent).map(Owner::agent),
        _ => Err(Invalid::at(
            "user_id",
            "give exactly one of `user_id` and `agent_id`",
        )),
    }
}

/// The owner of a request, if it names one.
pub(crate) fn maybe_owner(user_id: Option<&str>, agent_id: Option<&str>) -> Result<Option<Owner>, Invalid> {
    match (user_id, agent_id) {
        (None, None) => Ok(None),
        (user, agent) => owner(user, agent).map(Some),
    }
}

/// The user of a request, if it names one.
pub(crate) fn maybe_user(user_id: Option<&str>) -> Result<Option<Name>, Invalid> {
    user_id.map(|id| name("user_id", id)).transpose()
}

/// The session of a request.
pub fn session(session_id: &str, scope: Scope) -> Result<SessionKey, Invalid> {
    let session = SessionId::parse(session_id).map_err(|error| Invalid::at("session_id", error))?;
    Ok(SessionKey { scope, session })
}

pub(crate) fn name(path: &str, text: &str) -> Result<Name, Invalid> {
    Name::parse(text).map_err(|error| Invalid::at(path, error))
}
