//! `quipu token`: creates, lists and revokes tokens, with or without a running server.
//!
//! Owns: the output. Never: the storage of tokens (`tokens`).

use ports::Clock;
use serde_json::json;

use super::Desk;
use crate::args::TokenCommand;
use crate::clock::SystemClock;
use crate::config::TokenPurpose;
use crate::error::{Exit, Failure};
use crate::output::{self, say};
use crate::tokens::{self, IssuedToken};
use crate::world::zone;

pub(super) fn token(desk: &Desk, command: &TokenCommand) -> Result<Exit, Failure> {
    if !matches!(command, TokenCommand::Create(_)) {
        desk.check_root()?;
    }
    match command {
        TokenCommand::Create(purpose) => create(desk, purpose),
        TokenCommand::List => list(desk),
        TokenCommand::Revoke { id } => revoke(desk, id),
    }
}

fn create(desk: &Desk, purpose: &TokenPurpose) -> Result<Exit, Failure> {
    let is_first = desk.loaded.config.server.tokens.is_empty() && tokens::issued(&desk.root)?.is_empty();
    let created = zone(&desk.loaded.config)?.render(SystemClock::new().now());
    let (secret, token) = tokens::issue(&desk.root, purpose, created)?;
    if is_first && desk.watched {
        output::aside("this is the first token: from now on, every request to the server needs one");
    }
    let mut object = shown(&token);
    object["token"] = secret.as_str().into();
    // The secret alone on its line, for `TOKEN=$(quipu token create …)`.
    desk.tell(&object, || say!("{secret}"))
}

fn list(desk: &Desk) -> Result<Exit, Failure> {
    let tokens = tokens::issued(&desk.root)?;
    let configured = desk.loaded.config.server.tokens.len();
    let told = json!({"tokens": tokens.iter().map(shown).collect::<Vec<_>>(), "configured": configured});
    desk.tell(&told, || {
        for token in &tokens {
            let role = gateway::TokenRole::from(token.purpose.role.unwrap_or_default()).as_str();
            let (id, opens, created) = (&token.id, opens(token), &token.created);
            say!("{id}  {role:<5}  {opens}  created {created}")?;
        }
        if tokens.is_empty() {
            say!("no tokens: create one with `quipu token create`")?;
        }
        if configured > 0 {
            say!("and {configured} in {}", desk.loaded.file.display())?;
        }
        Ok(())
    })
}

fn revoke(desk: &Desk, id: &str) -> Result<Exit, Failure> {
    let Some(token) = tokens::revoke(&desk.root, id)? else {
        let none = Failure::missing(format!("there is no token `{id}`"));
        return Err(none.hint("list them with `quipu token list`"));
    };
    desk.tell(&json!({"revoked": shown(&token)}), || {
        say!("revoked {}: {}", token.id, opens(&token))
    })
}

/// Describes the access that a token gives.
fn opens(token: &IssuedToken) -> String {
    let purpose = &token.purpose;
    let user = purpose.user.as_deref().unwrap_or("every user");
    let beyond = if purpose.person {
        ", and what holds for the person"
    } else {
        ""
    };
    match (&purpose.app, &purpose.project) {
        (Some(app), Some(project)) => format!("{user} in {app}/{project}{beyond}"),
        _ => format!("{user}{beyond}"),
    }
}

fn shown(token: &IssuedToken) -> serde_json::Value {
    let purpose = &token.purpose;
    json!({
        "id": token.id, "role": purpose.role, "user": purpose.user, "app": purpose.app, "project": purpose.project,
        "person": purpose.person,
        "created": token.created,
    })
}
