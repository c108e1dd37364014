//! The head of a request: the client's system text, with ours after it, and the client's tools.
//!
//! Owns: the order inside the head. Never: deciding when it changes.

use transcript::json;

use super::{Request, SystemPlace, Wanted};
use crate::canon;
use crate::digest::Feed;
use crate::shadow::Head;
use crate::splice;

/// The head that this request would have in an epoch of its own.
pub(super) fn build(request: &Request<'_>, leading: &[&str], wanted: &Wanted) -> Head {
    let mut system = Feed::new("system");
    if let SystemPlace::Field(Some(field)) = request.system {
        system.field(b'f', &canon::value_digest(field).0);
    }
    for message in leading {
        system.field(b'm', &canon::read(message).digest.0);
    }
    let mut tools = Feed::new("tools");
    for tool in request.tools {
        tools.field(b't', &canon::value_digest(tool).0);
    }
    Head {
        model: request.model.to_owned(),
        system: system_field(request, &wanted.head.text),
        tools: request.tools.iter().map(|tool| (*tool).to_owned()).collect(),
        messages: messages(request, leading, &wanted.head.text),
        own: wanted.head.clone(),
        client_system: system.digest().to_string(),
        client_tools: tools.digest().to_string(),
    }
}

/// The dialect's system field with our text at its end.
pub(super) fn system_field(request: &Request<'_>, own: &str) -> Option<String> {
    let SystemPlace::Field(field) = request.system else {
        return None;
    };
    let field = field.filter(|field| field.trim() != "null");
    match field {
        field if own.is_empty() => field.map(str::to_owned),
        None => Some(json::quoted(own)),
        Some(field) => {
            let splice = splice::into_content(field, &format!("\n\n{own}"));
            Some(splice.map_or_else(|| field.to_owned(), |splice| splice.apply(field)))
        }
    }
}

/// The leading system messages with our text at the end of the last. Some templates reject more than one system
/// message, so ours is a separate one only if the client sends none.
pub(super) fn messages(request: &Request<'_>, leading: &[&str], own: &str) -> Vec<String> {
    let mut messages: Vec<String> = leading.iter().map(|message| (*message).to_owned()).collect();
    if own.is_empty() || request.system != SystemPlace::Messages {
        return messages;
    }
    let splice = messages
        .last()
        .and_then(|last| splice::into_message(last, &format!("\n\n{own}")));
    match (splice, messages.last_mut()) {
        (Some(splice), Some(last)) => *last = splice.apply(last),
        _ => messages.push(format!(r#"{{"role":"system","content":{}}}"#, json::quoted(own))),
    }
    messages
}
