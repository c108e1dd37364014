//! Calls that a client makes outside of a conversation: titles, tags, follow-up questions, summaries.
//!
//! Owns: distinguishing them from a person's requests, by structure. A side call is one turn without tools and with a bounded
//! answer that quotes a conversation; or the client says so in a field. In doubt a request is a person's: wrong memories can
//! be deleted later. Never: their handling (`turn`).

use serde::Deserialize;
use serde::de::IgnoredAny;
use transcript::{Role, dialect};

use crate::body::{Body, LENGTHS};
use crate::input::Input;
use crate::proxy::{Proxy, Request, Speech};
use crate::refusal::Refusal;

/// If the conversation's usual answer length is unknown, only an answer up to this length counts as bounded.
const LENGTH_TOKENS_MAX: usize = 1_000;
/// A message that repeats another word for word is a side call only if its answer is no longer than this.
const REPEATED_TOKENS_MAX: usize = 100;
/// Maximum number of brackets in a text at which a list of messages is searched for.
const LISTS_TRIED_MAX: usize = 16;
/// The two speakers of a conversation, as APIs and libraries write them.
const SPEAKERS: [&[&str]; 2] = [&["user", "human"], &["assistant", "ai", "model"]];

impl Proxy {
    /// Whether a request is the client's own, or asks nothing at all.
    pub(crate) async fn is_side(
        &self,
        request: &Request,
        body: &Body<'_>,
        input: &Input<'_>,
        speech: Speech,
    ) -> Result<bool, Refusal> {
        if says_so(body, input) {
            return Ok(true);
        }
        let party = self.party(request, body)?;
        let (length, has_form) = (length(body), has_form(body));
        let Some((user, all)) = lone(body, input, speech).filter(|_| length.is_some() || has_form) else {
            return Ok(false);
        };
        let Some((frame, repeats)) = self.store().quoted(&party, &user, &all).await else {
            let is_short = length.is_some_and(|length| length <= LENGTH_TOKENS_MAX);
            return Ok((is_short || has_form) && !body.is_true("stream") && is_transcript(&all));
        };
        let frame: serde_json::Value = serde_json::from_str(&frame).unwrap_or_default();
        let usual = frame["body"].as_str().and_then(|usual| Body::read(usual).ok());
        if repeats && usual.is_none() {
            // A first turn without an answer is sent again.
            return Ok(false);
        }
        let bound = match &usual {
            Some(usual) => self::length(usual).map_or(usize::MAX, |usual| usual.saturating_sub(1)),
            None => LENGTH_TOKENS_MAX,
        };
        let bound = if repeats {
            bound.min(REPEATED_TOKENS_MAX)
        } else {
            bound
        };
        let is_bounded = length.is_some_and(|length| length <= bound);
        Ok(is_bounded || has_form && !usual.as_ref().is_some_and(self::has_form))
    }
}

/// Whether the request's own fields mark it as the client's own, or it asks nothing at all.
fn says_so(body: &Body<'_>, input: &Input<'_>) -> bool {
    let task = || {
        let metadata: serde_json::Value = serde_json::from_str(body.get("metadata")?).ok()?;
        let task = metadata["task"].as_str()?;
        Some(task.ends_with("_generation") || ["function_calling", "context_compaction"].contains(&task))
    };
    input.messages.is_empty() || length(body) == Some(1) || task().unwrap_or_default()
}

/// The texts of a request of one turn without tools: the user's text, and the same with the system text.
pub(crate) fn lone(body: &Body<'_>, input: &Input<'_>, speech: Speech) -> Option<(String, String)> {
    let has_tools = body.list("tools").is_ok_and(|tools| !tools.is_empty());
    if has_tools || input.held_id().is_some() {
        return None;
    }
    let mut user = String::new();
    let mut all = body.get(speech.system_field()).map(unquoted).unwrap_or_default();
    for message in &input.messages {
        let item = dialect::read_message(speech.dialect(), message).ok()?;
        let text = match item.role {
            Role::User => &mut user,
            Role::System => &mut all,
            Role::Assistant | Role::Tool => return None,
        };
        text.push('\n');
        text.push_str(&item.prose());
    }
    all.push_str(&user);
    Some((user, all))
}

/// The text of a system field: a string, or a list of blocks.
fn unquoted(field: &str) -> String {
    match serde_json::from_str(field).unwrap_or_default() {
        serde_json::Value::String(text) => text,
        blocks => {
            let blocks = blocks.as_array().into_iter().flatten();
            let texts = blocks.filter_map(|block| block["text"].as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
    }
}

/// The maximum length of the answer, in tokens.
fn length(body: &Body<'_>) -> Option<usize> {
    LENGTHS.iter().find_map(|name| body.get(name)?.parse().ok())
}

/// Whether the request demands an answer in JSON.
fn has_form(body: &Body<'_>) -> bool {
    let forms = ["response_format", "output_format", "output_config", "text"];
    let kind = |name: &&str| {
        let field: serde_json::Value = serde_json::from_str(body.get(name)?).ok()?;
        let kind = field["type"]
            .as_str()
            .or_else(|| field["format"]["type"].as_str());
        kind.filter(|kind| kind.starts_with("json")).map(|_| ())
    };
    forms.iter().find_map(kind).is_some()
}

/// Whether a text contains a conversation: a list of messages in JSON, or lines that begin with the user's and the
/// model's role.
fn is_transcript(text: &str) -> bool {
    is_list(text)
        || SPEAKERS
            .iter()
            .all(|names| text.lines().any(|line| begins(line, names)))
}

fn is_list(text: &str) -> bool {
    #[derive(Deserialize)]
    struct Turn {
        role: String,
        #[serde(rename = "content")]
        _content: IgnoredAny,
    }
    let list = |(at, _): (usize, &str)| {
        let mut values = serde_json::Deserializer::from_str(&text[at..]).into_iter::<Vec<Turn>>();
        values
            .next()?
            .ok()
            .filter(|turns| turns.iter().any(|turn| SPEAKERS[1].contains(&&*turn.role)))
    };
    text.match_indices('[')
        .take(LISTS_TRIED_MAX)
        .find_map(list)
        .is_some()
}

/// Whether a line begins with one of these speakers: `User: …`, `**Assistant:** …`, `<user>`, `### Assistant`.
fn begins(line: &str, names: &[&str]) -> bool {
    let is_mark = |letter: char| letter.is_ascii_punctuation();
    let bare = line.trim_start_matches(|letter: char| is_mark(letter) || letter == ' ');
    let name_len = bare
        .find(|letter: char| !letter.is_ascii_alphabetic())
        .unwrap_or(bare.len());
    let (name, rest) = bare.split_at(name_len);
    let is_head = match rest.chars().next() {
        None => line.trim_start().starts_with('#'),
        Some(next) => matches!(next, ':' | '>' | ']' | '*'),
    };
    is_head && names.contains(&name.to_ascii_lowercase().as_str())
}

#[cfg(test)]
mod tests;
