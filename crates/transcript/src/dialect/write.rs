//! Items as the messages of a dialect.
//!
//! Owns: the items that keep their bytes, joining messages, a picture in another dialect. Never: the forms (`canon`).

use super::{Dialect, Family, canon, edit};
use crate::json::{self, Object, Value, quoted, spliced};
use crate::{Block, Item, Role};

/// The JSON text of each message, for items that were read in this dialect or made without a text.
///
/// An unedited item keeps its bytes. In Anthropic's dialects, results of one turn that Quipu made, moved or edited are
/// in one user's message. A system item that was not a message in the source ([`system`]) is left out.
pub fn write(dialect: Dialect, items: &[Item]) -> Vec<String> {
    let family = dialect.family();
    let mut messages = Vec::new();
    let mut at = 0;
    while at < items.len() {
        let turn = if family == Family::Anthropic {
            results_from(items, at)
        } else {
            0
        };
        if turn > 1 {
            messages.extend(joined(&items[at..at + turn]));
            at += turn;
        } else {
            messages.extend(written(&items[at], family));
            at += 1;
        }
    }
    messages
}

/// The JSON text of the request's `system` or `instructions`: all system items that are no messages in this dialect. An
/// unchanged single one keeps its bytes; several become a list of blocks, or one text if the dialect has no blocks
/// there.
pub fn system(dialect: Dialect, items: &[Item]) -> Option<String> {
    let family = dialect.family();
    let apart: Vec<&Item> = items.iter().filter(|item| is_apart(item, family)).collect();
    match apart.as_slice() {
        [] => None,
        [
            Item {
                raw: Some(raw),
                edited: false,
                ..
            },
        ] => Some(raw.to_string()),
        apart if family == Family::Anthropic => {
            let elements: Vec<String> = apart.iter().flat_map(|item| system_elements(item)).collect();
            Some(format!("[{}]", elements.join(",")))
        }
        apart => Some(quoted(
            &apart
                .iter()
                .map(|item| item.prose())
                .collect::<Vec<_>>()
                .join("\n\n"),
        )),
    }
}

/// Whether a system item is outside of the messages in the dialect's requests.
fn is_apart(item: &Item, family: Family) -> bool {
    let is_message = item
        .raw
        .as_ref()
        .map_or(family != Family::Anthropic, |raw| is_message(raw));
    item.role == Role::System && !is_message
}

fn is_message(raw: &str) -> bool {
    Value::of(raw).object().has("role")
}

fn written(item: &Item, family: Family) -> Vec<String> {
    if is_apart(item, family) {
        return Vec::new();
    }
    match &item.raw {
        Some(raw) if !item.edited => vec![raw.to_string()],
        Some(raw) => {
            edit::edited(raw, item, family).map_or_else(|| canon::messages(item, family), |text| vec![text])
        }
        None => canon::messages(item, family),
    }
}

fn system_elements(item: &Item) -> Vec<String> {
    match &item.raw {
        Some(raw) if !item.edited && Value::of(raw).is_array() => Value::of(raw).element_texts().collect(),
        _ => item
            .blocks
            .iter()
            .filter_map(|block| canon::element(block, Family::Anthropic, Role::System))
            .collect(),
    }
}

/// Number of items from here with results of one turn, if any of them has no original bytes. The last can also have
/// other content.
fn results_from(items: &[Item], at: usize) -> usize {
    let brings = |item: &&Item| item.role != Role::Assistant && item.outcomes().next().is_some();
    let mut length = 0;
    for item in items[at..].iter().take_while(brings) {
        length += 1;
        if item.asks() {
            break;
        }
    }
    let kept = |item: &Item| item.raw.is_some() && !item.edited;
    if items[at..at + length].iter().all(kept) {
        0
    } else {
        length
    }
}

/// Results of one turn as one message: inserted into the first original text, or in a new one.
fn joined(items: &[Item]) -> Option<String> {
    let messages: Vec<String> = items
        .iter()
        .flat_map(|item| written(item, Family::Anthropic))
        .collect();
    let mut elements = Vec::new();
    for message in &messages {
        let content = Value::of(message).object().get("content")?;
        match content.string() {
            Some(text) => elements.push(canon::element(&Block::Text(text), Family::Anthropic, Role::User)?),
            None => elements.extend(content.element_texts()),
        }
    }
    let frame = items.iter().position(|item| item.raw.is_some()).unwrap_or(0);
    let frame = messages.get(frame)?;
    let place = Value::of(frame).object().get("content")?.span();
    Some(spliced(frame, vec![(place, format!("[{}]", elements.join(",")))]))
}

/// The JSON text of a picture in another dialect; none if the dialects share it, or if it is no picture. A picture is a
/// URL in each dialect; a `data:` URL contains the picture itself.
pub fn picture(raw: &str, from: Dialect, to: Dialect) -> Option<String> {
    let picture = json::parsed(raw).filter(|_| from.family() != to.family())?;
    let url = url_of(&picture.object())?;
    Some(match to.family() {
        Family::Chat => format!(
            "{{\"type\":\"image_url\",\"image_url\":{{\"url\":{}}}}}",
            quoted(&url)
        ),
        Family::Responses => format!("{{\"type\":\"input_image\",\"image_url\":{}}}", quoted(&url)),
        Family::Anthropic => {
            let source = match url
                .strip_prefix("data:")
                .and_then(|data| data.split_once(";base64,"))
            {
                Some((kind, data)) => {
                    format!(
                        "{{\"type\":\"base64\",\"media_type\":{},\"data\":{}}}",
                        quoted(kind),
                        quoted(data)
                    )
                }
                None => format!("{{\"type\":\"url\",\"url\":{}}}", quoted(&url)),
            };
            format!("{{\"type\":\"image\",\"source\":{source}}}")
        }
    })
}

fn url_of(picture: &Object<'_>) -> Option<String> {
    if let Some(url) = picture.get("image_url") {
        return url.string().or_else(|| url.object().string("url"));
    }
    let source = picture.get("source")?.object();
    let data = || {
        let (kind, data) = (source.string("media_type")?, source.string("data")?);
        Some(format!("data:{kind};base64,{data}"))
    };
    source.string("url").or_else(data)
}
