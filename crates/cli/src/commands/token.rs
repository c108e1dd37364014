//! `quipu token`: creates, lists and revokes tokens, with a running server or without.
//!
//! Owns: what is printed. Never: how tokens are kept (`tokens`).

use std::io::Write;

use ports::Clock;
use serde_json::json;

use super::Desk;
use crate::args::{TokenArgs, TokenCommand, TokenCreateArgs};
use crate::clock::SystemClock;
use crate::error::{Exit, Failure};
use crate::output::{self, say};
use crate::tokens::{self, IssuedToken, Purpose};
use crate::world::zone;

pub(super) fn token(desk: &Desk, args: &TokenArgs) -> Result<Exit, Failure> {
    if !matches!(args.what, TokenCommand::Create(_)) {
        desk.check_root()?;
    }
    match &args.what {
        TokenCommand::Create(args) => create(desk, args),
        TokenCommand::List => list(desk),
        TokenCommand::Revoke(args) => revoke(desk, &args.id),
    }
}

fn create(desk: &Desk, args: &TokenCreateArgs) -> Result<Exit, Failure> {
    let is_first = desk.loaded.config.server.tokens.is_empty() && tokens::issued(&desk.root)?.is_empty();
    let purpose = Purpose {
        role: Some(args.role),
        app: args.app.as_deref(),
        project: args.project.as_deref(),
        user: args.user.as_deref(),
        person: args.person,
    };
    let created = zone(&desk.loaded.config)?.render(SystemClock::new().now());
    let (secret, token) = tokens::issue(&desk.root, purpose, created)?;
    if desk.json {
        let mut object = shown(&token);
        object["token"] = secret.into();
        output::json(&object)?;
    } else {
        // Alone, for `TOKEN=$(quipu token create …)`.
        say!("{secret}")?;
    }
    if is_first && desk.watched {
        // Nobody needs this line to use the token.
        writeln!(
            std::io::stderr(),
            "this is the first token: from now on, every request to the server needs one"
        )
        .ok();
    }
    Ok(Exit::Ok)
}

fn list(desk: &Desk) -> Result<Exit, Failure> {
    let tokens = tokens::issued(&desk.root)?;
    let configured = desk.loaded.config.server.tokens.len();
    let told = json!({"tokens": tokens.iter().map(shown).collect::<Vec<_>>(), "configured": configured});
    desk.tell(&told, || {
        for token in &tokens {
            let role = token.role.as_str();
            say!(
                "{}  {role:<5}  {}  created {}",
                token.id,
                opens(token),
                token.created
            )?;
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

/// What a token opens, in words.
fn opens(token: &IssuedToken) -> String {
    let user = token.user.as_deref().unwrap_or("every user");
    let beyond = if token.person {
        ", and what holds for the person"
    } else {
        ""
    };
    match (&token.app, &token.project) {
        (Some(app), Some(project)) => format!("{user} in {app}/{project}{beyond}"),
        _ => format!("{user}{beyond}"),
    }
}

fn shown(token: &IssuedToken) -> serde_json::Value {
    json!({
        "id": token.id, "role": token.role, "user": token.user, "app": token.app, "project": token.project,
        "person": token.person, "created": token.created,
    })
}
