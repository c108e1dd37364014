//! mem0's names of owners.
//!
//! Owns: mapping a user, an agent or a run of mem0 to an owner and a session. Never: a request.

use model::{Name, Owner, OwnerKind, Scope};

use crate::failure::Failure;
use crate::frame::Visit;
use crate::wire::Invalid;
use crate::wire::scope::name;

/// Prefix for agents with memories of no user: they must not become memories of a user with the agent's name.
const AGENT: &str = "agent+";
/// Suffix after the owner's name: the session of messages without a run.
const NO_RUN: &str = "/mem0";

/// The owner of an agent's memories that belong to no user.
pub(super) fn agents_own(agent: &Name) -> Result<Owner, Invalid> {
    name("agent_id", &format!("{AGENT}{agent}")).map(Owner::user)
}

/// The agent behind such an owner; none for a user.
pub(super) fn agent_of(owner: &Owner) -> Option<&str> {
    owner.id.as_str().strip_prefix(AGENT)
}

/// The session of messages without a run.
pub(super) fn no_run(owner: &Owner) -> String {
    format!("{}{NO_RUN}", owner.id)
}

/// Replaces the memory API's name of a session in a refusal by mem0's.
pub(super) fn in_its_words(mut refused: Failure) -> Failure {
    if let Some(rest) = refused.message.strip_prefix("session_id:") {
        refused.message = format!("run_id:{rest}");
    }
    refused
}

/// Refuses another `app_id`: the token decides the tenant.
pub(super) fn refuse_app(app_id: Option<&str>, home: &Scope) -> Result<(), Invalid> {
    match app_id {
        Some(app) if app != "*" && app != home.app.as_str() => Err(Invalid::at(
            "app_id",
            format!(
                "this token works in the app `{}`: leave `app_id` out, or use a token of that app",
                home.app
            ),
        )),
        _ => Ok(()),
    }
}

/// All users in a tenant that the caller can see, including agents with memories of their own.
pub(super) async fn everyone(visit: &Visit) -> Result<Vec<Owner>, Failure> {
    if let Some(user) = visit.caller.as_user(None)? {
        return Ok(vec![Owner::user(user)]);
    }
    let owners = visit.gateway.engine.owners().await?.into_iter();
    Ok(owners
        .filter(|(of, owner)| *of == visit.caller.home && owner.kind == OwnerKind::User)
        .map(|(_, owner)| owner)
        .collect())
}
