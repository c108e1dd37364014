//! mem0's names of owners.
//!
//! Owns: which owner and which session here have the memories of a user, an agent or a run there. Never: a request.

use model::{Name, Owner, OwnerKind, Scope};

use crate::failure::Failure;
use crate::frame::Visit;
use crate::wire::Invalid;
use crate::wire::scope::name;

/// Before the name of an agent whose memories belong to no user: they must not become those of a user of that name.
const AGENT: &str = "agent+";
/// After the owner: the session of messages that name no run.
const NO_RUN: &str = "/mem0";

/// The owner of the memories of an agent that belong to no user.
pub(super) fn agents_own(agent: &Name) -> Result<Owner, Invalid> {
    name("agent_id", &format!("{AGENT}{agent}")).map(Owner::user)
}

/// The agent whose memories an owner has, if these belong to no user.
pub(super) fn agent_of(owner: &Owner) -> Option<&str> {
    owner.id.as_str().strip_prefix(AGENT)
}

/// The session of messages that name no run.
pub(super) fn no_run(owner: &Owner) -> String {
    format!("{}{NO_RUN}", owner.id)
}

/// A refusal with mem0's name of a session.
pub(super) fn in_its_words(mut refused: Failure) -> Failure {
    if let Some(rest) = refused.message.strip_prefix("session_id:") {
        refused.message = format!("run_id:{rest}");
    }
    refused
}

/// mem0's `app_id` chooses nothing here: the token says which tenant a request concerns.
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

/// All users of a tenant whose memories a caller can see, agents with memories of their own among them.
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
